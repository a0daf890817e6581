// The README's table of operators is what `arenac list operators` says; `./dev coverage` writes it anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "driver/files.h"
#include "driver/list.h"

namespace arenac {
namespace {

const std::string kReadme = ARENAC_ROOT "/README.md";
const std::string kBegin = "<!-- operators: begin -->\n", kEnd = "<!-- operators: end -->";

size_t column(const Listing& list, const std::string& name) {
  for (size_t k = 0; k < list.columns.size(); ++k)
    if (list.columns[k] == name) return k;
  ADD_FAILURE() << "no column " << name;
  return 0;
}

std::string coverage_table() {
  const Listing list = listing("operators");
  const size_t domain = column(list, "domain"), name = column(list, "name"), tier = column(list, "tier");
  std::map<std::string, std::map<std::string, std::set<std::string>>> names;
  for (const auto& row : list.rows) names[row[domain]][row[tier]].insert(row[name]);
  std::string text = "| domain | | operators |\n|---|---|---|\n";
  for (const auto& [d, tiers] : names)
    for (const auto& [t, all] : tiers)
      text += fmt::format("| {} | {} {} | {} |\n", d, all.size(), t, fmt::join(all, " "));
  return text;
}

TEST(Coverage, TheReadmeListsTheOperators) {
  const std::string readme = read_file(kReadme);
  const size_t begin = readme.find(kBegin), end = readme.find(kEnd);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos && begin < end);
  const size_t first = begin + kBegin.size();
  const std::string table = coverage_table();
  if (std::getenv("ARENAC_UPDATE"))
    write_text(kReadme, readme.substr(0, first) + table + readme.substr(end));
  else
    EXPECT_EQ(readme.substr(first, end - first), table) << "run ./dev coverage";
}

// Every operator names types that there are.
TEST(Coverage, EveryOperatorHasTypes) {
  const Listing list = listing("operators");
  for (const auto& row : list.rows) EXPECT_NE(row[column(list, "types")], "") << row[column(list, "name")];
}

}  // namespace
}  // namespace arenac
