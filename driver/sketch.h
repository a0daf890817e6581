// What a sketch must know of a model to run it: how its C calls inputs and outputs, and where they lie.
//
//   kws   inputs {float x[KWS_INPUT_X_COUNT], in.image = x}    arguments "&in, &out"
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "driver/compile.h"

namespace arenac {

struct SketchTensor {
  std::string type, member, name;  // of its elements; of its struct; the sketch's own
  std::string macro, function;     // KWS_INPUT_IMAGE, kws_input_image
  bool placed;                     // whether it lies in the arena, where the function says
};

struct SketchModel {
  std::string name, upper;
  // Whether made-up inputs are enough: no rows that come one by one or go, constants behind a pointer or
  // text.
  bool runs;
  bool resets = false;                                     // it has a state
  std::vector<std::pair<std::string, std::string>> pools;  // members of the workspace; KWS_static_POOL
  std::vector<SketchTensor> inputs, outputs;
  std::string arguments;  // of kws_invoke
};

SketchModel sketch_of(const Compilation& compilation, const CompileOptions& options);

}  // namespace arenac
