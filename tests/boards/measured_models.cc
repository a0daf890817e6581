#include "tests/boards/measured_models.h"

#include <limits>

#include "driver/files.h"
#include "models/calibrate.h"
#include "models/export.h"
#include "models/topologies.h"

namespace arenac {
namespace {

using namespace models;

Network conv(int64_t from, int64_t to, int64_t window) {
  Network net(11);
  net.conv("conv", net.input({1, from, 16, 16}), to, {.kernel = {window, window}}, Activation::kNone);
  return calibrate(std::move(net));
}

Network conv3x3() { return conv(16, 32, 3); }
Network conv1x1() { return conv(64, 64, 1); }
Network conv3x3_odd() { return conv(3, 10, 3); }

Network depthwise3x3() {
  Network net(12);
  net.depthwise("depthwise", net.input({1, 64, 16, 16}), {.kernel = {3, 3}}, Activation::kNone);
  return calibrate(std::move(net));
}

Network dense() {
  Network net(13);
  net.dense("dense", net.input({1, 640}), 128, Activation::kNone);
  return calibrate(std::move(net));
}

template <Network (*network)()>
onnx::ModelProto int8_of() {
  return qop_model("model", network());
}

template <Network (*network)()>
onnx::ModelProto float_of() {
  return float_model("model", network());
}

constexpr MeasuredModel kLayers[] = {
    {"conv3x3_int8", int8_of<conv3x3>, 3.11, 2.21},
    {"conv1x1_int8", int8_of<conv1x1>, 2.35, 2.07},
    {"depthwise3x3_int8", int8_of<depthwise3x3>, 9.89, 7.96},
    {"dense_int8", int8_of<dense>, 2.95, 1.95},
    {"conv3x3_odd_int8", int8_of<conv3x3_odd>},
    {"conv3x3_float", float_of<conv3x3>},
    {"conv1x1_float", float_of<conv1x1>},
    {"depthwise3x3_float", float_of<depthwise3x3>},
    {"dense_float", float_of<dense>},
    {"conv3x3_odd_float", float_of<conv3x3_odd>},
};

constexpr MeasuredModel kNetworks[] = {
    {"ds_cnn_int8", int8_of<ds_cnn>, 3.41, 2.86},
    {"resnet8_int8", int8_of<resnet8>, 3.40, 2.51},
    {"mobilenet_v1_025_96_int8", int8_of<mobilenet_v1_025_96>, 3.80, 3.21},
    {"mobilenet_v2_035_144_int8", int8_of<mobilenet_v2_035_144>, 4.79, 4.02},
    {"ds_cnn_float", float_of<ds_cnn>},
    {"resnet8_float", float_of<resnet8>},
    {"mobilenet_v1_025_96_float", float_of<mobilenet_v1_025_96>},
    {"mobilenet_v2_035_144_float", float_of<mobilenet_v2_035_144>},
};

}  // namespace

std::span<const MeasuredModel> measured_layers() { return kLayers; }
std::span<const MeasuredModel> measured_networks() { return kNetworks; }

Compilation compile_for_board(const onnx::ModelProto& model, const std::string& target, Optimize optimize) {
  const TemporaryFolder folder;
  write_files(folder.path(), {{"model.onnx", serialize(model)}});
  CompileOptions options;
  options.model = (folder.path() / "model.onnx").string();
  options.name = "model";
  options.target = target;
  options.optimize = optimize;
  options.slowdown = std::numeric_limits<double>::infinity();
  options.weights = WeightsForm::kC;
  options.verbosity = Verbosity::kQuiet;
  return compile(options);
}

}  // namespace arenac
