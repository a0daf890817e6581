// Element types, shapes and constant values.
//
//   Value v{Type::kFloat32, {2, 3}};      // six zeros, row-major
//   store(v, 4, {.f = 1.5});              // element 4 = 1.5
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/error.h"

namespace arenac {

enum class Type : uint8_t {
  kFloat32,
  kFloat64,
  kFloat16,
  kBFloat16,  // float16 and bfloat16 are storage types: arithmetic is float32
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kBool,
  // Storage types of one element a byte: floats whose arithmetic is float32, integers whose arithmetic is
  // that of 8 bits.
  kFloat8E4M3FN,
  kFloat8E4M3FNUZ,
  kFloat8E5M2,
  kFloat8E5M2FNUZ,
  kFloat8E8M0,
  kFloat4E2M1,
  kInt4,
  kUint4,
  kInt2,
  kUint2,
  kString,  // text of less than kStringBytes bytes, padded with zeros: compared and copied, no arithmetic
};
constexpr int kTypes = static_cast<int>(Type::kString) + 1;
constexpr int kStringBytes = 64;  // of an element, the zero that ends it included

struct TypeInfo {
  Type type;
  const char* name;    // as ONNX spells it
  const char* c_name;  // storage type in C
  int size;            // bytes in memory
  bool is_float, is_signed;
  int onnx;      // TensorProto::DataType
  int bits = 0;  // of an element where that is less than a byte: a TensorProto packs it so, the first lowest
};

const TypeInfo& info(Type type);
inline bool is_float(Type type) { return info(type).is_float; }
inline bool is_integer(Type type) { return !is_float(type) && type != Type::kString; }  // or bool
inline int size_of(Type type) { return info(type).size; }

// The type whose arithmetic serves `storage`: float32 for floats of 16 bits and less, integers of a byte for
// smaller ones, else itself.
Type compute_type(Type storage);

// Whether elements of the type are 16-bit floats, which memory permitting are better kept as float32.
inline bool is_half(Type type) { return is_float(type) && size_of(type) == 2; }

using Shape = std::vector<int64_t>;

// Of a shape that no tensor may have. Who knows what has the shape catches it and names that.
struct ShapeError : UserError {
  using UserError::UserError;
};

// Of an operation that an element type does not have, as arithmetic on text.
struct TypeError : UserError {
  using UserError::UserError;
};

constexpr int64_t kMaxElements = int64_t{1} << 40;

// Number of elements; throws ShapeError when the product exceeds kMaxElements or an extent is negative.
int64_t element_count(const Shape& shape);
std::string to_string(const Shape& shape);  // "[1,3,224,224]", "[]" for a scalar

// Strides, in elements, of a dense row-major tensor.
std::vector<int64_t> row_major_strides(const Shape& shape);

// One element whose type is known from elsewhere: floats in `f` (exactly representable in their type),
// integers and bool in `i` (uint64 as its bit pattern), text in `i` as string_scalar gives it.
union Scalar {
  double f;
  int64_t i;
};

// A dense row-major tensor.
struct Value {
  Value(Type type, Shape shape);
  Type type;
  Shape shape;
  std::vector<std::byte> bytes;

  int64_t count() const { return static_cast<int64_t>(bytes.size()) / size_of(type); }
  bool operator==(const Value&) const = default;  // bit by bit: a NaN is equal to itself, 0 not to -0
};

// Text as a Scalar: equal texts have equal Scalars, and that of the empty text is 0. Every text stays in
// memory until the program ends. TypeError for text that is too long or has a zero in it.
Scalar string_scalar(std::string_view text);
std::string_view text_of(Scalar scalar);

Scalar load(Type type, const std::byte* at);
void store(Type type, std::byte* at, Scalar value);
// Vectors of int64, float32 and text.
Value vector_value(const std::vector<int64_t>& elements);
Value vector_value(const std::vector<float>& elements);
Value vector_value(const std::vector<std::string>& elements);

Scalar load(const Value& value, int64_t element);
void store(Value& value, int64_t element, Scalar scalar);

// Rounds to what `type` can hold: floats to nearest even, integers wrap modulo 2^bits.
Scalar round_to(Type type, Scalar value);

// A float of 8 bits or less: sign, exponent, mantissa. Codes above `largest` are infinity (`beyond`, if that
// is not `nan`) and NaN; where zero has no sign, its negative is NaN.
struct SmallFloat {
  int mantissa, bias;  // bits; what the exponent's code exceeds the exponent by
  uint8_t sign;        // the bit
  uint8_t largest;     // code of the largest number
  uint8_t beyond;      // what larger ones round to
  uint8_t nan;         // what NaN becomes
  bool unsigned_zero;
};
const SmallFloat* small_float(Type type);  // null: none (float8e8m0 has powers of two only)
// The largest finite number of a float type.
double largest(Type type);

float small_to_float(const SmallFloat& format, uint8_t code);
uint8_t float_to_small(const SmallFloat& format, float value);
float e8m0_to_float(uint8_t code);
uint8_t float_to_e8m0(float value);  // to the nearest power of two; of what is not positive, the smallest

float half_to_float(uint16_t bits);
uint16_t float_to_half(float value);
float bfloat_to_float(uint16_t bits);
uint16_t float_to_bfloat(float value);

}  // namespace arenac
