// `arenac list TABLE`: the tables that arenac is made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace arenac {

// What --pool kind=NAME may say.
struct PoolKind {
  std::string_view name, description;
};
inline constexpr PoolKind kPoolKinds[] = {
    {"arena", "one contiguous memory; static for kws_invoke, the caller's for kws_run"},
    {"constants",
     "arrays in a section of the linker; those that a run reads most often lie in the first; "
     "NAME_load copies those of a pool with copy=start from flash"},
};

struct Listing {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

// operators, schedulers, planners, ecosystems, pools, kernels, reports, rewrites or targets.
Listing listing(const std::string& table);

std::string to_text(const Listing& listing);
std::string to_json(const Listing& listing);  // an array of objects, one a row

}  // namespace arenac
