// The ways in which tests compile models: target, code, what to prefer, inputs' and outputs' place, weights,
// pools. Tests that walk many cases take them in turn, and name the way in what they say of a failure.
//
//   const CompileWay& way = way_of_case(k);      way.words: "--target cortex-m --code small"
//   CompileOptions options = way.options;
#pragma once

#include <string>
#include <vector>

#include "driver/compile.h"

namespace arenac {

struct CompileWay {
  std::string words;  // the line of tests/ways.txt: options of the command line
  CompileOptions options;
};

const std::vector<CompileWay>& compile_ways();  // the first: the default
const CompileWay& way_of_case(size_t k);        // each in turn

}  // namespace arenac
