// What single words of the command line say, as values. Each throws UserError with Exit::kUsage for a word
// that says nothing, or something else than another word before it.
//
//   integer_of("12")                           -> 12
//   bytes_of_size("64K")                       -> 65536
//   split("a,,b", ',')                         -> {"a", "", "b"}
//   split_binding("a=b=3", "--dim", "NAME=N")  -> {"a=b", "3"}
//   pool_of("name=sram,size=256K")             -> {{"sram", 262144}, ""}
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/import.h"
#include "planner/problem.h"

namespace arenac {

[[noreturn]] void wrong_usage(const std::string& problem);

std::optional<int64_t> integer_of(const std::string& text);

// "65536", "0x10000", "64K", "64 KiB", "1M", ..., in powers of 1024; nothing for what is no size or beyond
// 2^63 - 1.
std::optional<int64_t> bytes_of_size(const std::string& text);

std::vector<std::string> split(const std::string& text, char separator);

// "NAME=rest" at the last '=', since names of the model may hold any character. `form` is what the option
// takes.
std::pair<std::string, std::string> split_binding(const std::string& text, const std::string& option,
                                                  const char* form);

// The words of all --dim, --shape and --value. A name may come again only with what it had.
struct BindingWords {
  std::vector<std::string> dims, shapes, values;
};
void bind_inputs(const BindingWords& words, ImportOptions& import);

// When constants are copied there: copy=start, copy=group.
enum class Copied { kNever, kAtStart, kByGroup };

struct PoolWords {
  Pool pool;
  std::string section;
  std::string kind = "arena";  // one of kPoolKinds
  Copied copied = Copied::kNever;
  std::optional<int64_t> wait = {};  // cycles
};
PoolWords pool_of(const std::string& text);

}  // namespace arenac
