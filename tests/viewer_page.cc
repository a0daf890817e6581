// Pages for tests/viewer_test.sh to open: viewer_page N|small|grouped|empty|hostile > page.html
#include <cstdlib>
#include <iostream>

#include "codegen/reports.h"
#include "tests/report_maps.h"

namespace arenac {
namespace {

MemoryMap map_for(const std::string& word) {
  if (word == "small") return small_map();
  if (word == "grouped") return grouped_map();
  if (word == "empty") return {};
  if (word == "hostile") {
    return map_named(
        "</script><script>globalThis.pwned = 1</script><img src=x onerror='globalThis.pwned = 1'>\"*/\n\xff");
  }
  return network_map(std::atoi(word.c_str()));
}

}  // namespace
}  // namespace arenac

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::cout << arenac::html_report(arenac::map_for(argv[1]));
}
