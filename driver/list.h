// `arenac list TABLE`: the tables that arenac is made of.
#pragma once

#include <string>
#include <vector>

namespace arenac {

struct Listing {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

// operators, schedulers, planners, pools, kernels or reports.
Listing listing(const std::string& table);

std::string to_text(const Listing& listing);
std::string to_json(const Listing& listing);  // an array of objects, one a row

}  // namespace arenac
