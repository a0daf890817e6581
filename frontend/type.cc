#include "frontend/type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <mutex>
#include <set>

#include "frontend/error.h"

namespace arenac {
namespace {

// In the order of the enum, which info() counts on. Types of fewer bits than a byte take a byte an element in
// memory and in C; only the file packs them. 16-bit and 8-bit floats are integers to C, which has no such
// types everywhere.
constexpr TypeInfo kInfos[] = {
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
    {Type::kFloat8E4M3FN, "float8e4m3fn", "uint8_t", 1, true, true, 17},
    {Type::kFloat8E4M3FNUZ, "float8e4m3fnuz", "uint8_t", 1, true, true, 18},
    {Type::kFloat8E5M2, "float8e5m2", "uint8_t", 1, true, true, 19},
    {Type::kFloat8E5M2FNUZ, "float8e5m2fnuz", "uint8_t", 1, true, true, 20},
    {Type::kFloat8E8M0, "float8e8m0", "uint8_t", 1, true, true, 24},
    {Type::kFloat4E2M1, "float4e2m1", "uint8_t", 1, true, true, 23, 4},
    {Type::kInt4, "int4", "int8_t", 1, false, true, 22, 4},
    {Type::kUint4, "uint4", "uint8_t", 1, false, false, 21, 4},
    {Type::kInt2, "int2", "int8_t", 1, false, true, 26, 2},
    {Type::kUint2, "uint2", "uint8_t", 1, false, false, 25, 2},
    {Type::kString, "string", "arenac_string", kStringBytes, false, false, 8},
};
static_assert(std::size(kInfos) == kTypes);

// By memcpy, as bytes of a Value may lie at any address and be of any type.
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

// The index is the type's number.
const TypeInfo& info(Type type) { return kInfos[static_cast<int>(type)]; }

Type compute_type(Type storage) {
  const TypeInfo& t = info(storage);
  if (t.is_float) return t.size < 4 ? Type::kFloat32 : storage;
  if (t.bits == 0) return storage;
  return t.is_signed ? Type::kInt8 : Type::kUint8;
}

// Each is a loop in the C, and C99 (5.2.4.1) promises 127 nested blocks.
constexpr size_t kMostDimensions = 64;

// Divides before it multiplies, so that no product overflows. An extent of 0 makes the tensor empty, but the
// others have to be possible all the same: [0, 2^50] is refused, as strides of it would be nonsense.
int64_t element_count(const Shape& shape) {
  if (shape.size() > kMostDimensions)
    throw ShapeError(fmt::format("a shape of {} dimensions has more than {}", shape.size(), kMostDimensions));
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

// as the map and the messages write it
std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

//   [2,3,4]  ->  {12, 4, 1}        of a scalar: {}
std::vector<int64_t> row_major_strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

// All bytes are zero: 0, false or the empty text. ShapeError where no tensor may have the shape.
Value::Value(Type type, Shape shape)
    : type(type), shape(std::move(shape)), bytes(element_count(this->shape) * size_of(type)) {}

// Rank 1. memcpy of no bytes must not be given the null pointer that an empty vector may have.
Value vector_value(const std::vector<int64_t>& elements) {
  Value value(Type::kInt64, {static_cast<int64_t>(elements.size())});
  if (!elements.empty()) std::memcpy(value.bytes.data(), elements.data(), value.bytes.size());
  return value;
}

Value vector_value(const std::vector<float>& elements) {
  Value value(Type::kFloat32, {static_cast<int64_t>(elements.size())});
  if (!elements.empty()) std::memcpy(value.bytes.data(), elements.data(), value.bytes.size());
  return value;
}

Value vector_value(const std::vector<std::string>& elements) {
  Value value(Type::kString, {static_cast<int64_t>(elements.size())});
  for (size_t k = 0; k < elements.size(); ++k)
    store(value, static_cast<int64_t>(k), string_scalar(elements[k]));
  return value;
}

// Text is interned: a Scalar holds the address of the one copy of its text, so that comparing, storing in a
// formula and hashing are those of an integer. A set's elements keep their addresses when it grows.
// Compilations may run in several threads, so one at a time adds to it.
Scalar string_scalar(std::string_view text) {
  if (text.size() >= kStringBytes)
    throw TypeError(fmt::format("text of {} bytes is too long: {} fit", text.size(), kStringBytes - 1));
  if (text.find('\0') != std::string_view::npos) throw TypeError("a zero in text is not supported");
  if (text.empty()) return {.i = 0};
  static std::mutex one_at_a_time;
  static std::set<std::string, std::less<>> known;
  const std::lock_guard lock(one_at_a_time);
  auto at = known.find(text);
  if (at == known.end()) at = known.emplace(text).first;
  return {.i = static_cast<int64_t>(reinterpret_cast<intptr_t>(&*at))};
}

// Valid until the program ends.
std::string_view text_of(Scalar scalar) {
  if (scalar.i == 0) return "";
  return *reinterpret_cast<const std::string*>(static_cast<intptr_t>(scalar.i));
}

// Small integers have been extended to a byte by their sign when they were stored.
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
    case Type::kFloat8E4M3FN:
    case Type::kFloat8E4M3FNUZ:
    case Type::kFloat8E5M2:
    case Type::kFloat8E5M2FNUZ:
    case Type::kFloat4E2M1:
      return {.f = small_to_float(*small_float(type), get<uint8_t>(at))};
    case Type::kFloat8E8M0:
      return {.f = e8m0_to_float(get<uint8_t>(at))};
    case Type::kInt4:
    case Type::kInt2:
      return {.i = get<int8_t>(at)};
    case Type::kUint4:
    case Type::kUint2:
      return {.i = get<uint8_t>(at)};
    case Type::kString: {
      // up to the first zero; the last byte is one in any case
      const std::string_view room(reinterpret_cast<const char*>(at), kStringBytes - 1);
      return string_scalar(room.substr(0, room.find('\0')));
    }
  }
  internal_error(__FILE__, __LINE__, "load of an unknown type");
}

// Rounds as it stores: floats to nearest even, integers keep their lowest bits, of a bool what is not 0 is 1.
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
    case Type::kFloat8E4M3FN:
    case Type::kFloat8E4M3FNUZ:
    case Type::kFloat8E5M2:
    case Type::kFloat8E5M2FNUZ:
    case Type::kFloat4E2M1:
      return put(at, float_to_small(*small_float(type), static_cast<float>(value.f)));
    case Type::kFloat8E8M0:
      return put(at, float_to_e8m0(static_cast<float>(value.f)));
    case Type::kInt4:
    case Type::kUint4:
    case Type::kInt2:
    case Type::kUint2: {
      // int4 9 = 0b1001: below 16, not below 8, so it is 9 - 16 = -7
      const int64_t count = int64_t{1} << info(type).bits, low = value.i & (count - 1);
      return put(at, static_cast<uint8_t>(info(type).is_signed && low >= count / 2 ? low - count : low));
    }
    case Type::kString: {
      const std::string_view text = text_of(value);
      std::memset(at, 0, kStringBytes);
      std::memcpy(at, text.data(), text.size());
      return;
    }
  }
}

// By the row-major number of the element, which is not checked.
Scalar load(const Value& value, int64_t element) {
  return load(value.type, value.bytes.data() + element * size_of(value.type));
}

void store(Value& value, int64_t element, Scalar scalar) {
  store(value.type, value.bytes.data() + element * size_of(value.type), scalar);
}

// What a type holds is by definition what comes back from its memory.
Scalar round_to(Type type, Scalar value) {
  if (type == Type::kString) return value;
  std::byte room[8];
  store(type, room, value);
  return load(type, room);
}

// The fields: bits of mantissa, bias, sign bit, code of the largest number, code for what is beyond, NaN, and
// whether zero has no sign (Micikevicius et al., "FP8 Formats for Deep Learning", 2022; FNUZ: Noune et al.,
// 2022; E2M1: OCP Microscaling Formats, 2023). FN: no infinity; UZ: unsigned zero, whose negative is the NaN.
//
//   E4M3FN   s eeee mmm      0x7e = 1.75 * 2^8 = 448         0x7f NaN, also of what is larger
//   E5M2     s eeeee mm      0x7b = 1.75 * 2^15 = 57344      0x7c infinity, 0x7d to 0x7f NaN
//   E2M1     s ee m          0x7 = 1.5 * 2^2 = 6             larger ones are 6; NaN is -0
const SmallFloat* small_float(Type type) {
  static constexpr SmallFloat kE4M3FN = {3, 7, 0x80, 0x7e, 0x7f, 0x7f, false},
                              kE4M3FNUZ = {3, 8, 0x80, 0x7f, 0x80, 0x80, true},
                              kE5M2 = {2, 15, 0x80, 0x7b, 0x7c, 0x7e, false},
                              kE5M2FNUZ = {2, 16, 0x80, 0x7f, 0x80, 0x80, true},
                              kE2M1 = {1, 1, 0x08, 0x07, 0x07, 0x08, false};
  switch (type) {
    case Type::kFloat8E4M3FN:
      return &kE4M3FN;
    case Type::kFloat8E4M3FNUZ:
      return &kE4M3FNUZ;
    case Type::kFloat8E5M2:
      return &kE5M2;
    case Type::kFloat8E5M2FNUZ:
      return &kE5M2FNUZ;
    case Type::kFloat4E2M1:
      return &kE2M1;
    default:
      return nullptr;
  }
}

// Half: 2^16 - 2^5. bfloat16: float32's largest without the lowest 16 bits.
double largest(Type type) {
  if (const SmallFloat* format = small_float(type)) return small_to_float(*format, format->largest);
  switch (type) {
    case Type::kFloat8E8M0:
      return 0x1p127;
    case Type::kFloat16:
      return 65504;
    case Type::kBFloat16:
      return bfloat_to_float(0x7f7f);
    case Type::kFloat64:
      return std::numeric_limits<double>::max();
    default:
      return std::numeric_limits<float>::max();
  }
}

// A normal number's bits, moved to a float32's places, have an exponent that is too low by the difference of
// the biases. Below, the mantissa counts units of the smallest number:
//
//   E4M3FN 0x38 = 0 0111 000      0111 is 7, 7 - 7 = 0:  1.0          0x01 = 2^(1 - 7 - 3) = 2^-9
float small_to_float(const SmallFloat& format, uint8_t code) {
  const uint32_t magnitude = code & (format.sign - 1u);
  const bool negative = (code & format.sign) != 0;
  float value;
  if (format.unsigned_zero && code == format.nan) return std::numeric_limits<float>::quiet_NaN();
  if (magnitude > format.largest)
    value = magnitude == format.beyond && format.beyond != format.nan
                ? std::numeric_limits<float>::infinity()
                : std::numeric_limits<float>::quiet_NaN();
  else if (magnitude >> format.mantissa)
    value = std::bit_cast<float>((magnitude << (23 - format.mantissa)) +
                                 (static_cast<uint32_t>(127 - format.bias) << 23));
  else
    value = std::ldexp(static_cast<float>(magnitude), 1 - format.bias - format.mantissa);
  return negative ? -value : value;
}

// To nearest even, twice by letting integers or floats carry:
//
//   normal:     to the bits just under half of the last place is added, or half where the last place is odd;
//               a carry out of the mantissa is one more in the exponent, as it should be
//   subnormal:  a power of two is added whose last place is the format's smallest number; the mantissa of the
//               sum is the code
uint8_t float_to_small(const SmallFloat& format, float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & 0x7fffffffu;
  const auto sign = static_cast<uint32_t>(bits >> 31 ? format.sign : 0);
  // an exponent of all ones and a mantissa: NaN
  if (magnitude > 0x7f800000u) return static_cast<uint8_t>(format.nan | sign);
  const int shift = 23 - format.mantissa;
  uint32_t code;
  if (magnitude < static_cast<uint32_t>(128 - format.bias) << 23) {
    // Below the smallest normal number: adding a power of two aligns the mantissa and rounds to nearest even.
    const float aligned = std::ldexp(1.0f, 24 - format.bias - format.mantissa);
    code =
        std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + aligned) - std::bit_cast<uint32_t>(aligned);
  } else {
    code = (magnitude - (static_cast<uint32_t>(127 - format.bias) << 23) + (1u << (shift - 1)) - 1 +
            (magnitude >> shift & 1u)) >>
           shift;
  }
  if (code > format.largest) code = format.beyond;
  if (format.unsigned_zero && code == 0) return 0;
  return static_cast<uint8_t>(code | sign);
}

// An exponent and nothing else, of bias 127: 2^(code - 127). The lowest, 2^-127, is subnormal in float32.
// 0xff is NaN.
float e8m0_to_float(uint8_t code) {
  if (code == 0xff) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>(code == 0 ? 0x00400000u : static_cast<uint32_t>(code) << 23);
}

// Adding half of the exponent's last place rounds up from 1.5 * 2^k on. The largest is 2^127.
uint8_t float_to_e8m0(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0xff;
  if (bits >> 31 || bits < 0x00600000u) return 0;  // nearer to 2^-127 than to 2^-126
  return static_cast<uint8_t>(std::min((bits + 0x00400000u) >> 23, 0xfeu));
}

// 1 sign, 5 exponent (bias 15), 10 mantissa (IEEE 754 binary16). Exponents are moved by 127 - 15 = 112, which
// is 0x38000000 in a float32's place; a subnormal half, mantissa * 2^-24, is a normal float.
float half_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude >= 0x0400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(subnormal));
}

// From 2^16 on it is infinity; what rounds up to 2^16, from 65520 on, gets there by its carry.
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

// bfloat16 is the upper half of a float32.
float bfloat_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// NaN apart: rounding could carry it to infinity, and cutting could leave a mantissa of 0, which is infinity,
// too.
uint16_t float_to_bfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace arenac
