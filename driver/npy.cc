#include "driver/npy.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <regex>

#include "frontend/error.h"

namespace arenac {
namespace {

struct Descriptor {
  std::string_view numpy;
  Type type;
};

// Little-endian, as nearly all machines write them; bytes have no order ('|').
constexpr Descriptor kDescriptors[] = {
    {"<f4", Type::kFloat32}, {"<f8", Type::kFloat64}, {"<f2", Type::kFloat16}, {"|i1", Type::kInt8},
    {"<i2", Type::kInt16},   {"<i4", Type::kInt32},   {"<i8", Type::kInt64},   {"|u1", Type::kUint8},
    {"<u2", Type::kUint16},  {"<u4", Type::kUint32},  {"<u8", Type::kUint64},  {"|b1", Type::kBool}};

[[noreturn]] void fail(const std::string& origin, const std::string& problem) {
  throw UserError(fmt::format("{}: {}", origin, problem));
}

// Complex numbers, structs and big-endian elements have no type here.
Type type_of(const std::string& descriptor, const std::string& origin) {
  for (const Descriptor& row : kDescriptors)
    if (row.numpy == descriptor) return row.type;
  fail(origin,
       "its element type is not supported: save as little-endian floats, integers, bool or bytes (S63)");
}

// Of the bytes of each text: "|S5".
int64_t width_of_text(const std::string& descriptor, const std::string& origin) {
  static const std::regex pattern(R"(\|S([1-9][0-9]?))");
  std::smatch match;
  if (!std::regex_match(descriptor, match, pattern) || std::stoi(match[1]) >= kStringBytes)
    fail(origin, fmt::format("its texts have no width of 1 to {} bytes", kStringBytes - 1));
  return std::stoi(match[1]);
}

// Twelve digits at most, so that no extent leaves 64 bits; element_count() judges the product.
Shape shape_of(const std::string& tuple, const std::string& origin) {
  Shape shape;
  const std::regex number("[0-9]+");
  for (std::sregex_iterator it(tuple.begin(), tuple.end(), number), end; it != end; ++it) {
    if (it->length() > 12) fail(origin, "its shape is too large");
    shape.push_back(std::stoll(it->str()));
  }
  return shape;
}

struct Header {
  size_t begin, size;
};

// Magic, version, then the header's length: 2 bytes in format 1, 4 later.
Header find_header(std::string_view bytes, const std::string& origin) {
  if (bytes.size() < 12 || !bytes.starts_with("\x93NUMPY")) fail(origin, "not an .npy file");
  const auto at = [&](size_t k) { return static_cast<size_t>(static_cast<unsigned char>(bytes[k])); };
  const size_t major = at(6);
  if (major < 1 || major > 3) fail(origin, fmt::format("unknown .npy format {}", major));
  const size_t begin = major == 1 ? 10 : 12;
  const size_t size = at(8) | at(9) << 8 | (major == 1 ? 0 : at(10) << 16 | at(11) << 24);
  if (size > bytes.size() - begin || size > 65536) fail(origin, "truncated");
  return {begin, size};
}

}  // namespace

// By the text that numpy writes and not by a parser of Python: keys in its order, up to a length. Nothing in
// the file is trusted further than its size says.
Value npy_value(std::string_view bytes, const std::string& origin) {
  const Header place = find_header(bytes, origin);
  const std::string header(bytes.substr(place.begin, place.size));
  static const std::regex pattern(
      R"(\{'descr': '([^']{1,8})', 'fortran_order': (False|True), 'shape': \(([0-9, ]{0,200})\), \}\s*)");
  std::smatch match;
  if (!std::regex_match(header, match, pattern)) fail(origin, "its .npy header cannot be read");
  const std::string descriptor = match[1];
  const bool is_text = descriptor.starts_with("|S");
  const Type type = is_text ? Type::kString : type_of(descriptor, origin);
  const int64_t width = is_text ? width_of_text(descriptor, origin) : size_of(type);
  Shape shape = shape_of(match[3], origin);
  if (match[2] == "True" && shape.size() > 1)
    fail(origin, "it is in Fortran order: save numpy.ascontiguousarray(x)");
  const std::string_view data = bytes.substr(place.begin + place.size);
  const int64_t needed = element_count(shape) * width;
  if (static_cast<int64_t>(data.size()) != needed)
    fail(origin,
         fmt::format("shape {} needs {} bytes, the file holds {}", to_string(shape), needed, data.size()));
  Value value(type, std::move(shape));
  if (is_text) {
    for (int64_t k = 0; k < value.count(); ++k) {
      const std::string_view room = data.substr(static_cast<size_t>(k * width), static_cast<size_t>(width));
      store(value, k, string_scalar(room.substr(0, room.find('\0'))));
    }
    return value;
  }
  if (!data.empty()) std::memcpy(value.bytes.data(), data.data(), data.size());
  if (type == Type::kBool)
    for (std::byte& b : value.bytes) b = std::byte{b != std::byte{0}};
  return value;
}

}  // namespace arenac
