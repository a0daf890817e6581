#include "frontend/type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstring>

#include "frontend/error.h"

namespace arenac {
namespace {

constexpr TypeInfo kTypes[] = {
    {Type::kFloat32, "float32", "float", 4, true, true, 1},
    {Type::kFloat64, "float64", "double", 8, true, true, 11},
    {Type::kFloat16, "float16", "uint16_t", 2, true, true, 10},
    {Type::kBFloat16, "bfloat16", "uint16_t", 2, true, true, 16},
    {Type::kInt8, "int8", "int8_t", 1, false, true, 3},
    {Type::kInt16, "int16", "int16_t", 2, false, true, 5},
    {Type::kInt32, "int32", "int32_t", 4, false, true, 6},
    {Type::kInt64, "int64", "int64_t", 8, false, true, 7},
    {Type::kUint8, "uint8", "uint8_t", 1, false, false, 2},
    {Type::kUint16, "uint16", "uint16_t", 2, false, false, 4},
    {Type::kUint32, "uint32", "uint32_t", 4, false, false, 12},
    {Type::kUint64, "uint64", "uint64_t", 8, false, false, 13},
    {Type::kBool, "bool", "uint8_t", 1, false, false, 9},
};
constexpr int64_t kMaxElements = int64_t{1} << 40;

template <typename T>
T get(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace

const TypeInfo& info(Type type) { return kTypes[static_cast<int>(type)]; }

Type compute_type(Type storage) {
  return storage == Type::kFloat16 || storage == Type::kBFloat16 ? Type::kFloat32 : storage;
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0) throw ShapeError(fmt::format("shape {} has a negative extent", to_string(shape)));
    empty |= extent == 0;
    if (extent > 0 && count > kMaxElements / extent)
      throw ShapeError(fmt::format("shape {} has more than 2^40 elements", to_string(shape)));
    count *= extent > 0 ? extent : 1;
  }
  return empty ? 0 : count;
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

std::vector<int64_t> row_major_strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

Value::Value(Type type, Shape shape)
    : type(type), shape(std::move(shape)), bytes(element_count(this->shape) * size_of(type)) {}

Scalar load(Type type, const std::byte* at) {
  switch (type) {
    case Type::kFloat32:
      return {.f = get<float>(at)};
    case Type::kFloat64:
      return {.f = get<double>(at)};
    case Type::kFloat16:
      return {.f = half_to_float(get<uint16_t>(at))};
    case Type::kBFloat16:
      return {.f = bfloat_to_float(get<uint16_t>(at))};
    case Type::kInt8:
      return {.i = get<int8_t>(at)};
    case Type::kInt16:
      return {.i = get<int16_t>(at)};
    case Type::kInt32:
      return {.i = get<int32_t>(at)};
    case Type::kInt64:
      return {.i = get<int64_t>(at)};
    case Type::kUint8:
      return {.i = get<uint8_t>(at)};
    case Type::kUint16:
      return {.i = get<uint16_t>(at)};
    case Type::kUint32:
      return {.i = get<uint32_t>(at)};
    case Type::kUint64:
      return {.i = static_cast<int64_t>(get<uint64_t>(at))};
    case Type::kBool:
      return {.i = get<uint8_t>(at) != 0};
  }
  internal_error(__FILE__, __LINE__, "load of an unknown type");
}

void store(Type type, std::byte* at, Scalar value) {
  switch (type) {
    case Type::kFloat32:
      return put(at, static_cast<float>(value.f));
    case Type::kFloat64:
      return put(at, value.f);
    case Type::kFloat16:
      return put(at, float_to_half(static_cast<float>(value.f)));
    case Type::kBFloat16:
      return put(at, float_to_bfloat(static_cast<float>(value.f)));
    case Type::kInt8:
    case Type::kUint8:
      return put(at, static_cast<uint8_t>(value.i));
    case Type::kInt16:
    case Type::kUint16:
      return put(at, static_cast<uint16_t>(value.i));
    case Type::kInt32:
    case Type::kUint32:
      return put(at, static_cast<uint32_t>(value.i));
    case Type::kInt64:
    case Type::kUint64:
      return put(at, value.i);
    case Type::kBool:
      return put(at, static_cast<uint8_t>(value.i != 0));
  }
}

Scalar load(const Value& value, int64_t element) {
  return load(value.type, value.bytes.data() + element * size_of(value.type));
}

void store(Value& value, int64_t element, Scalar scalar) {
  store(value.type, value.bytes.data() + element * size_of(value.type), scalar);
}

Scalar round_to(Type type, Scalar value) {
  std::byte room[8];
  store(type, room, value);
  return load(type, room);
}

float half_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude >= 0x0400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(subnormal));
}

uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t half;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;  // a quiet NaN
  } else if (magnitude >= 0x47800000u) {
    half = 0x7c00u;  // 2^16 and above
  } else if (magnitude < 0x38800000u) {
    // Below the smallest normal half: adding 0.5 aligns the mantissa and rounds to nearest even.
    half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    half = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  }
  return static_cast<uint16_t>(sign | half);
}

float bfloat_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t float_to_bfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace arenac
