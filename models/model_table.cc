#include "models/model_table.h"

#include "models/export.h"
#include "models/topologies.h"

namespace arenac::models {
namespace {

// clang-format off
// NAME is the float model, NAME_qdq that of quantise and dequantise nodes, NAME_qop that of QLinear operators
// (export.h). Those without these rows are there for their topology.
constexpr ModelRow kModels[] = {
    {"tiny_cnn", "two convolutions, the committed example", [] { return float_model("tiny_cnn", tiny_cnn()); }},
    {"ds_cnn", "keyword spotting", [] { return float_model("ds_cnn", ds_cnn()); }},
    {"ds_cnn_qdq", "keyword spotting, int8 QDQ", [] { return qdq_model("ds_cnn_qdq", ds_cnn(), ActivationType::kInt8); }},
    {"ds_cnn_qop", "keyword spotting, int8 QOperator", [] { return qop_model("ds_cnn_qop", ds_cnn()); }},
    {"mobilenet_v1_025_96", "visual wake words", [] { return float_model("mobilenet_v1_025_96", mobilenet_v1_025_96()); }},
    {"mobilenet_v1_025_96_qdq", "visual wake words, uint8 QDQ", [] { return qdq_model("mobilenet_v1_025_96_qdq", mobilenet_v1_025_96(), ActivationType::kUint8); }},
    {"mobilenet_v1_025_96_qop", "visual wake words, int8 QOperator", [] { return qop_model("mobilenet_v1_025_96_qop", mobilenet_v1_025_96()); }},
    {"resnet8", "image classification", [] { return float_model("resnet8", resnet8()); }},
    {"resnet8_qdq", "image classification, int8 QDQ", [] { return qdq_model("resnet8_qdq", resnet8(), ActivationType::kInt8); }},
    {"resnet8_qop", "image classification, int8 QOperator", [] { return qop_model("resnet8_qop", resnet8()); }},
    {"autoencoder", "anomaly detection", [] { return float_model("autoencoder", autoencoder()); }},
    {"squeezenet_tiny", "fire modules with Concat", [] { return float_model("squeezenet_tiny", squeezenet_tiny()); }},
    {"mobilenet_v2_035_144", "inverted residuals", [] { return float_model("mobilenet_v2_035_144", mobilenet_v2_035_144()); }},
    {"mobilenet_v2_035_144_qdq", "inverted residuals, int8 QDQ", [] { return qdq_model("mobilenet_v2_035_144_qdq", mobilenet_v2_035_144(), ActivationType::kInt8); }},
    {"mobilenet_v2_035_144_qop", "inverted residuals, int8 QOperator", [] { return qop_model("mobilenet_v2_035_144_qop", mobilenet_v2_035_144()); }},
    {"mobilenet_v2_100_224", "ImageNet classification", [] { return float_model("mobilenet_v2_100_224", mobilenet_v2_100_224()); }},
    {"mobilenet_v2_100_224_qdq", "ImageNet classification, int8 QDQ", [] { return qdq_model("mobilenet_v2_100_224_qdq", mobilenet_v2_100_224(), ActivationType::kInt8); }},
    {"mobilenet_v2_100_224_qop", "ImageNet classification, int8 QOperator", [] { return qop_model("mobilenet_v2_100_224_qop", mobilenet_v2_100_224()); }},
    {"resnet18", "ImageNet classification", [] { return float_model("resnet18", resnet18()); }},
    {"resnet18_qdq", "ImageNet classification, int8 QDQ", [] { return qdq_model("resnet18_qdq", resnet18(), ActivationType::kInt8); }},
    {"resnet18_qop", "ImageNet classification, int8 QOperator", [] { return qop_model("resnet18_qop", resnet18()); }},
    {"fsrcnn", "super resolution by four", [] { return float_model("fsrcnn", fsrcnn()); }},
    {"fsrcnn_qdq", "super resolution by four, int8 QDQ", [] { return qdq_model("fsrcnn_qdq", fsrcnn(), ActivationType::kInt8); }},
    {"fsrcnn_qop", "super resolution by four, int8 QOperator", [] { return qop_model("fsrcnn_qop", fsrcnn()); }},
    {"lstm", "recurrent keyword spotting", lstm_model},
    {"gru", "recurrent keyword spotting, both directions", gru_model},
};
// clang-format on

}  // namespace

std::span<const ModelRow> model_table() { return kModels; }

}  // namespace arenac::models
