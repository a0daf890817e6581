// Element types of a byte and less: what their codes mean, how numbers round to them, their packed form in
// ONNX tensors, and Cast, QuantizeLinear and DequantizeLinear of them, interpreted and in emitted C.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <cmath>
#include <cstring>

#include "driver/files.h"
#include "frontend/import.h"
#include "frontend/interpret.h"
#include "frontend/onnx_tensor.h"
#include "tests/emitted.h"

namespace arenac::small_types_test {
namespace {

constexpr Type kSmallFloats[] = {Type::kFloat8E4M3FN, Type::kFloat8E4M3FNUZ, Type::kFloat8E5M2,
                                 Type::kFloat8E5M2FNUZ, Type::kFloat4E2M1};
constexpr Type kSmallIntegers[] = {Type::kInt4, Type::kUint4, Type::kInt2, Type::kUint2};

// sign * 2^(e - bias) * 1.f, or 2^(1 - bias) * 0.f: as the formats' papers have it.
double meaning(int code, int exponent_bits, int mantissa_bits, int bias) {
  const int f = code & ((1 << mantissa_bits) - 1), e = code >> mantissa_bits & ((1 << exponent_bits) - 1);
  const double fraction = f / std::exp2(mantissa_bits);
  const double size = e ? (1 + fraction) * std::exp2(e - bias) : fraction * std::exp2(1 - bias);
  return code >> (mantissa_bits + exponent_bits) & 1 ? -size : size;
}

double value_of(Type type, int code) {
  const auto byte = static_cast<std::byte>(code);
  return load(type, &byte).f;
}

int code_of(Type type, double value) {
  std::byte byte;
  store(type, &byte, {.f = value});
  return std::to_integer<int>(byte);
}

TEST(SmallFloats, MeanWhatTheirFormatsSay) {
  for (int code = 0; code < 256; ++code) {
    const int low = code & 0x7f;
    const double fn = value_of(Type::kFloat8E4M3FN, code), e5m2 = value_of(Type::kFloat8E5M2, code);
    if (low == 0x7f) {
      EXPECT_TRUE(std::isnan(fn));
    } else {
      EXPECT_EQ(fn, meaning(code, 4, 3, 7)) << code;
    }
    if (low > 0x7c) {
      EXPECT_TRUE(std::isnan(e5m2));
    } else {
      EXPECT_EQ(e5m2, low == 0x7c ? (code & 0x80 ? -INFINITY : INFINITY) : meaning(code, 5, 2, 15)) << code;
    }
    for (const auto& [type, e, m, bias] :
         {std::tuple(Type::kFloat8E4M3FNUZ, 4, 3, 8), std::tuple(Type::kFloat8E5M2FNUZ, 5, 2, 16)}) {
      if (code == 0x80) {
        EXPECT_TRUE(std::isnan(value_of(type, code)));
      } else {
        EXPECT_EQ(value_of(type, code), meaning(code, e, m, bias)) << code;
      }
    }
    if (code < 16) {
      EXPECT_EQ(value_of(Type::kFloat4E2M1, code), meaning(code, 2, 1, 1));
    }
    if (code < 255) {
      EXPECT_EQ(value_of(Type::kFloat8E8M0, code), std::exp2(code - 127));
    }
  }
  EXPECT_TRUE(std::isnan(value_of(Type::kFloat8E8M0, 255)));
}

// Every code, every midpoint between neighbours and what lies just beside it.
TEST(SmallFloats, RoundToNearestEven) {
  for (const Type type : kSmallFloats) {
    const SmallFloat& format = *small_float(type);
    for (int code = 0; code <= format.largest; ++code) {
      const double v = value_of(type, code), next = code < format.largest ? value_of(type, code + 1) : v;
      EXPECT_EQ(code_of(type, v), code) << info(type).name;
      if (code > 0) {
        EXPECT_EQ(code_of(type, -v), code | format.sign) << info(type).name;
      }
      if (code == format.largest) continue;
      const float middle = static_cast<float>((v + next) / 2);
      EXPECT_EQ(code_of(type, middle), code % 2 ? code + 1 : code) << info(type).name << " " << middle;
      EXPECT_EQ(code_of(type, std::nextafter(middle, 0.0f)), code) << info(type).name << " " << middle;
      EXPECT_EQ(code_of(type, std::nextafter(middle, INFINITY)), code + 1)
          << info(type).name << " " << middle;
    }
    EXPECT_EQ(code_of(type, 1e30), format.beyond);
    EXPECT_EQ(code_of(type, INFINITY), format.beyond);
    EXPECT_EQ(code_of(type, NAN), format.nan);
    EXPECT_EQ(code_of(type, -1e-30), format.unsigned_zero ? 0 : format.sign);
  }
}

TEST(SmallTypes, ArePackedInTensors) {
  onnx::TensorProto proto;
  proto.set_data_type(22);
  proto.add_dims(3);
  proto.set_raw_data("\x8f\x07");  // nibbles -1, -8, 7
  const Value four = tensor_value(proto, "", "x");
  EXPECT_EQ(std::vector<int64_t>({load(four, 0).i, load(four, 1).i, load(four, 2).i}),
            std::vector<int64_t>({-1, -8, 7}));
  proto.clear_raw_data();
  proto.add_int32_data(0x8f), proto.add_int32_data(7);
  EXPECT_EQ(tensor_value(proto, "", "x").bytes, four.bytes);
  proto.set_data_type(25);
  EXPECT_THROW(tensor_value(proto, "", "x"), UserError);  // four elements a byte: one byte too many
  proto.clear_int32_data();
  proto.set_raw_data("\x1b");
  const Value two = tensor_value(proto, "", "x");
  EXPECT_EQ(std::vector<int64_t>({load(two, 0).i, load(two, 1).i, load(two, 2).i}),
            std::vector<int64_t>({3, 2, 1}));
  for (const Value& value : {four, two}) {
    const std::string path = testing::TempDir() + "small_types_test.pb";
    write_text(path, held_file({"x"}, {{value}}));
    EXPECT_EQ(read_tensor_file(path).bytes, value.bytes);
  }
}

// A model of the text, its inputs of these types.
Graph typed(const std::string& text, const std::vector<Type>& inputs) {
  onnx::ModelProto model;
  onnx::OnnxParser(text.c_str()).Parse(model);
  for (size_t k = 0; k < inputs.size(); ++k)
    model.mutable_graph()
        ->mutable_input(static_cast<int>(k))
        ->mutable_type()
        ->mutable_tensor_type()
        ->set_elem_type(info(inputs[k]).onnx);
  for (onnx::ValueInfoProto& output : *model.mutable_graph()->mutable_output())
    output.mutable_type()->mutable_tensor_type()->clear_elem_type();
  return import_bytes(model.SerializeAsString(), "text");
}

Value all_codes(Type type) {
  const int bits = info(type).bits ? info(type).bits : 8;
  Value value(type, {256});
  for (int k = 0; k < 256; ++k) {
    const auto code = static_cast<std::byte>(k & ((1 << bits) - 1));
    if (is_float(type))
      value.bytes[k] = code;
    else
      store(value, k, {.i = k});
  }
  return value;
}

// Numbers near every code's, out of range, and none.
Value awkward(Type type) {
  Value value(Type::kFloat32, {256});
  for (int k = 0; k < 256; ++k) {
    const double v = is_float(type) && type != Type::kFloat8E8M0 ? value_of(type, k) : (k - 128) / 8.0;
    store(value, k, {.f = k % 3 ? v * (1 + (k % 3 - 1.5) / 40) : v});
  }
  const double last[] = {1e30, -1e30, INFINITY, -INFINITY, NAN, 0.0, -0.0, 1e-30};
  for (int k = 0; k < 8; ++k) store(value, k * 31, {.f = last[k]});
  return value;
}

// The interpreter's result; that the emitted C gives the same bytes.
Value run(const std::string& text, const std::vector<Value>& inputs) {
  std::vector<Type> types;
  for (const Value& input : inputs) types.push_back(input.type);
  const Graph graph = typed(text, types);
  const Value expected = *interpret(graph, inputs)[graph.outputs[0]];
  std::vector<Emitted> batch;
  batch.push_back({compile_graph(graph, "m", {}), inputs});
  run_emitted(batch, compilers()[0]);
  EXPECT_EQ(batch[0].fault, "");
  if (!batch[0].fault.empty()) return expected;
  const Value& got = batch[0].outputs[0];
  EXPECT_EQ(got.type, expected.type);
  for (int64_t k = 0; k < got.count(); ++k) {
    const Scalar a = load(got, k), b = load(expected, k);
    if (is_float(got.type) ? !(a.f == b.f || (std::isnan(a.f) && std::isnan(b.f))) : a.i != b.i)
      ADD_FAILURE() << text << " element " << k;
  }
  return expected;
}

std::string cast_model(Type to, const std::string& more = "") {
  return fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 24]> g (float[256] x) => (float y) {{ y = Cast<to = {}{}>(x) }}",
      info(to).onnx, more);
}

TEST(SmallTypes, AreCastInEmittedCAsInterpreted) {
  for (const Type type : kSmallFloats) {
    const Value wide = run(cast_model(Type::kFloat32), {all_codes(type)});
    for (int k = 0; k < 256; ++k) {
      const double v = load(all_codes(type), k).f, w = load(wide, k).f;
      EXPECT_TRUE(v == w || (std::isnan(v) && std::isnan(w))) << info(type).name << " " << k;
    }
    const Value x = awkward(type), held = run(cast_model(type), {x}),
                free = run(cast_model(type, ", saturate = 0"), {x});
    for (int k = 0; k < 256; ++k) {
      const double v = load(x, k).f;
      EXPECT_EQ(std::to_integer<int>(free.bytes[k]), code_of(type, v)) << info(type).name << " " << v;
      EXPECT_EQ(std::to_integer<int>(held.bytes[k]),
                code_of(type, std::isnan(v) ? v : std::min(std::max(v, -largest(type)), largest(type))))
          << info(type).name << " " << v;
    }
  }
}

TEST(SmallTypes, IntegersKeepTheirLowBits) {
  for (const Type type : kSmallIntegers) {
    const int count = 1 << info(type).bits;
    Value x(Type::kFloat32, {256});
    for (int k = 0; k < 256; ++k) store(x, k, {.f = (k - 128) / 4.0});
    const Value y = run(cast_model(type), {x});
    for (int k = 0; k < 256; ++k) {
      const int whole = static_cast<int>((k - 128) / 4.0), low = ((whole % count) + count) % count;
      EXPECT_EQ(load(y, k).i, info(type).is_signed && low >= count / 2 ? low - count : low)
          << info(type).name;
    }
    const Value back = run(cast_model(Type::kInt32), {y});
    for (int k = 0; k < 256; ++k) EXPECT_EQ(load(back, k).i, load(y, k).i);
  }
}

TEST(SmallTypes, PowersOfTwoRoundAsAsked) {
  Value x(Type::kFloat32, {256});
  for (int k = 0; k < 256; ++k) store(x, k, {.f = k * 0.0625});
  for (const std::string how : {"up", "down", "nearest"}) {
    const Value y = run(cast_model(Type::kFloat8E8M0, ", round_mode = \"" + how + "\""), {x});
    EXPECT_EQ(std::to_integer<int>(y.bytes[0]), 0);
    for (int k = 1; k < 256; ++k) {
      const double exponent = std::log2(k * 0.0625), below = std::exp2(std::floor(exponent));
      const double expected = how == "up"                 ? std::exp2(std::ceil(exponent))
                              : how == "down"             ? below
                              : k * 0.0625 >= below * 1.5 ? below * 2
                                                          : below;
      EXPECT_EQ(load(y, k).f, expected) << how << " " << k;
    }
  }
}

TEST(SmallTypes, AreQuantisedAndDequantised) {
  Value x(Type::kFloat32, {64}), scale(Type::kFloat32, {});
  store(scale, 0, {.f = 0.5});
  for (int k = 0; k < 64; ++k) store(x, k, {.f = (k - 32) * 0.3});
  const auto model = [](const std::string& body, const std::string& zero) {
    return fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 21]> g (float[64] x, float s{}) => (float y) {{ {} }}", zero,
        body);
  };
  for (const Type type : {Type::kInt4, Type::kUint4, Type::kFloat8E4M3FN, Type::kFloat4E2M1}) {
    Value zero(type, {});
    if (!is_float(type)) store(zero, 0, {.i = 2});
    const Value q = run(model("y = QuantizeLinear(x, s, z)", ", float z"), {x, scale, zero});
    EXPECT_EQ(q.type, type);
    for (int k = 0; k < 64; ++k) {
      const double steps = load(x, k).f / 0.5;
      if (is_float(type)) {
        EXPECT_EQ(load(q, k).f,
                  round_to(type, {.f = std::min(std::max(steps, -largest(type)), largest(type))}).f);
      } else {
        const double low = type == Type::kInt4 ? -8 : 0;
        EXPECT_EQ(load(q, k).i, std::clamp(std::nearbyint(steps) + 2, low, low + 15)) << k;
      }
    }
    const Value back = run(model("y = DequantizeLinear(x, s, z)", ", float z"), {q, scale, zero});
    for (int k = 0; k < 64; ++k)
      EXPECT_EQ(load(back, k).f,
                (convert(Type::kFloat64, type, load(q, k)).f - (is_float(type) ? 0 : 2)) * 0.5);
  }
}

}  // namespace
}  // namespace arenac::small_types_test
