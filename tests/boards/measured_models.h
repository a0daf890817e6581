// What is measured on boards: single layers, and networks of the model table.
//
//   conv3x3     16 -> 32   image 16x16     depthwise3x3     64   image 16x16     dense   640 -> 128
//   conv1x1     64 -> 64   image 16x16     conv3x3_odd   3 -> 10   image 16x16
#pragma once

#include <span>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "models/onnx_builder.h"

namespace arenac {

struct MeasuredModel {
  const char* name;  // "conv3x3_int8"
  onnx::ModelProto (*make)();
  // Instructions per multiply-accumulate of CMSIS-NN at the same shapes, built and run on a Cortex-M4 at -Os
  // and -O2 (channels last at the caller, too); 0: not known.
  double cmsis_nn_os = 0, cmsis_nn_o2 = 0;
};

std::span<const MeasuredModel> measured_layers();
std::span<const MeasuredModel> measured_networks();

// The compilation that boards.h measures.
Compilation compile_for_board(const onnx::ModelProto& model, const std::string& target, Optimize optimize);

}  // namespace arenac
