#include "tests/ways.h"

#include <fstream>
#include <iterator>
#include <sstream>

#include "driver/options.h"
#include "frontend/error.h"

namespace arenac {
namespace {

CompileWay way_of_line(const std::string& line) {
  std::istringstream text("arenac compile model.onnx --quiet " + line);
  const std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  return {line, parse_options(static_cast<int>(arguments.size()), arguments.data()).compile};
}

}  // namespace

const std::vector<CompileWay>& compile_ways() {
  static const std::vector<CompileWay> all = [] {
    std::vector<CompileWay> ways;
    std::ifstream file(ARENAC_WAYS);
    for (std::string line; std::getline(file, line);)
      if (!line.empty() && line[0] != '#') ways.push_back(way_of_line(line));
    ARENAC_CHECK(!ways.empty(), "tests/ways.txt has lines");
    return ways;
  }();
  return all;
}

const CompileWay& way_of_case(size_t k) { return compile_ways()[k % compile_ways().size()]; }

}  // namespace arenac
