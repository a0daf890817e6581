// The networks, calibrated; each is written once and exported as float or int8 by the table in
// model_table.cc. README.md names the papers.
//
//   const Network net = ds_cnn();      layers with weights and ranges, ready for float_model() and its kin
#pragma once

#include <onnx/onnx_pb.h>

#include "models/network.h"

namespace arenac::models {

Network tiny_cnn();
Network ds_cnn();
Network mobilenet_v1_025_96();
Network mobilenet_v2_035_144();
Network mobilenet_v2_100_224();
Network resnet18();
Network fsrcnn();
Network resnet8();
Network autoencoder();
Network squeezenet_tiny();

onnx::ModelProto lstm_model();
onnx::ModelProto gru_model();

}  // namespace arenac::models
