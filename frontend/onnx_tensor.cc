#include "frontend/onnx_tensor.h"

#include <fmt/format.h>
#include <onnx/onnx-data_pb.h>
#include <onnx/onnx_pb.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/importer.h"

namespace arenac {
namespace {

// The file that external data names, which must lie in the model's own folder, links followed: a model from
// elsewhere must not read /etc/passwd into the weights of a program.
std::filesystem::path external_path(const std::string& location, const std::string& directory,
                                    const std::string& who) {
  namespace fs = std::filesystem;
  const fs::path relative(location);
  std::error_code ignored;
  const fs::path folder = fs::weakly_canonical(directory.empty() ? "." : directory, ignored);
  const fs::path file = fs::weakly_canonical(folder / relative, ignored);
  // the folder is a prefix of the file's path, component by component
  const bool inside =
      std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
  if (location.empty() || relative.is_absolute() || !inside)
    throw UserError(
        fmt::format("{}: external data '{}' lies outside the model's folder", who, printable(location)));
  if (!fs::is_regular_file(file, ignored))
    throw UserError(
        fmt::format("{}: external data file '{}' is missing beside the model", who, printable(location)));
  return file;
}

// Decimal digits and nothing else.
// from_chars is of no locale and reports what does not fit; a sign or spaces are none of the number.
int64_t parse_count(const std::string& text, const std::string& key, const std::string& who) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && text[0] != '-') return value;
  throw UserError(fmt::format("{}: '{}' is no {} of external data: a number of bytes is needed", who,
                              printable(text), key));
}

// [offset, offset + length) of the file, checked.
struct ExternalData {
  std::filesystem::path path;
  int64_t offset, length;  // bytes, inside the file
};

// Keys of the standard: location, offset (0 if absent) and length (the rest of the file if absent), as text.
// Other keys (checksum) are passed over. The range is checked by subtraction, as offset + length may
// overflow.
ExternalData locate_external(const onnx::TensorProto& proto, const std::string& directory,
                             const std::string& who) {
  std::string location;
  int64_t offset = 0, length = -1;
  for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = parse_count(entry.value(), "offset", who);
    if (entry.key() == "length") length = parse_count(entry.value(), "length", who);
  }
  const std::filesystem::path path = external_path(location, directory, who);
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path));
  if (length < 0) length = size - offset;
  if (offset > size || length > size - offset)
    throw UserError(fmt::format("{}: external data [{}, {}+{}) reaches past the end of '{}' ({} bytes)", who,
                                offset, offset, length, printable(location), size));
  return {path, offset, length};
}

// `bytes` has room for all of it.
void read_external(const ExternalData& data, std::vector<std::byte>& bytes, const std::string& who) {
  std::ifstream file(data.path, std::ios::binary);
  file.seekg(data.offset);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), data.length))
    throw UserError(fmt::format("{}: '{}' cannot be read", who, printable(data.path.filename().string())));
}

// Typed data: each field serves several element types, one element an entry.
template <typename Field, typename Convert>
void fill(Value& value, const Field& field, const std::string& who, const Convert& convert_element) {
  if (field.size() != value.count())
    throw UserError(fmt::format("{}: shape {} needs {} elements, the data hold {}", who,
                                to_string(value.shape), value.count(), field.size()));
  for (int64_t k = 0; k < value.count(); ++k) store(value, k, convert_element(field[static_cast<int>(k)]));
}

// onnx.proto: float_data, double_data, int64_data and string_data serve the type of their name; uint64_data
// serves uint32, too; int32_data serves all other types of up to 32 bits, 16-bit and 8-bit floats as their
// bits.
void fill_typed(Value& value, const onnx::TensorProto& proto, const std::string& who) {
  // uint64 as its bit pattern in an int64 (Scalar)
  const auto as_float = [](auto x) { return Scalar{.f = static_cast<double>(x)}; };
  const auto as_int = [](auto x) { return Scalar{.i = static_cast<int64_t>(x)}; };
  switch (value.type) {
    case Type::kFloat32:
      return fill(value, proto.float_data(), who, as_float);
    case Type::kFloat64:
      return fill(value, proto.double_data(), who, as_float);
    case Type::kFloat16:
      return fill(value, proto.int32_data(), who,
                  [](int32_t x) { return Scalar{.f = half_to_float(static_cast<uint16_t>(x))}; });
    case Type::kBFloat16:
      return fill(value, proto.int32_data(), who,
                  [](int32_t x) { return Scalar{.f = bfloat_to_float(static_cast<uint16_t>(x))}; });
    case Type::kFloat8E4M3FN:
    case Type::kFloat8E4M3FNUZ:
    case Type::kFloat8E5M2:
    case Type::kFloat8E5M2FNUZ:
    case Type::kFloat8E8M0:
      return fill(value, proto.int32_data(), who, [&](int32_t x) {
        const auto code = static_cast<std::byte>(x);
        return load(value.type, &code);
      });
    case Type::kInt64:
      return fill(value, proto.int64_data(), who, as_int);
    case Type::kString:
      return fill(value, proto.string_data(), who, [&](const std::string& text) {
        try {
          return string_scalar(text);
        } catch (const TypeError& error) {
          throw UserError(fmt::format("{}: {}", who, error.what()));
        }
      });
    case Type::kUint32:
    case Type::kUint64:
      return fill(value, proto.uint64_data(), who, as_int);
    default:
      return fill(value, proto.int32_data(), who, as_int);
  }
}

// Elements of less than a byte, the first of each byte lowest, to and from one a byte:
//
//   int4 [3]  1, -2, 3      bytes 0xe1 0x03      ->      0x01 0xfe 0x03
//
// Integers are extended by their sign; floats keep their code. What is left of the last byte is 0.
Value unpacked(Type type, const Shape& shape, const std::vector<std::byte>& packed) {
  const int bits = info(type).bits, in_byte = 8 / bits;
  Value value(type, shape);
  for (int64_t k = 0; k < value.count(); ++k) {
    const int code = std::to_integer<int>(packed[k / in_byte]) >> (k % in_byte * bits) & ((1 << bits) - 1);
    if (is_float(type))
      value.bytes[k] = static_cast<std::byte>(code);
    else
      store(value, k, {.i = code});
  }
  return value;
}

std::vector<std::byte> packed(const Value& value) {
  const int bits = info(value.type).bits, in_byte = 8 / bits;
  std::vector<std::byte> bytes((value.bytes.size() + in_byte - 1) / in_byte);
  for (size_t k = 0; k < value.bytes.size(); ++k) {
    const int code = std::to_integer<int>(value.bytes[k]) & ((1 << bits) - 1);
    bytes[k / in_byte] |= static_cast<std::byte>(code << (k % in_byte * bits));
  }
  return bytes;
}

// What the elements take in a TensorProto's raw or external data. UserError for a shape that no tensor may
// have.
int64_t byte_count(Type type, const Shape& shape, const std::string& who) {
  try {
    const int bits = info(type).bits;
    return bits ? (element_count(shape) * bits + 7) / 8 : element_count(shape) * size_of(type);
  } catch (const ShapeError& error) {
    throw UserError(fmt::format("{}: {}", who, error.what()));
  }
}

}  // namespace

// Types that this library's onnx.proto does not name yet are numbers all the same.
Type type_of_onnx(int data_type, const std::string& who) {
  for (int k = 0; k < kTypes; ++k)
    if (info(static_cast<Type>(k)).onnx == data_type) return static_cast<Type>(k);
  const bool named = onnx::TensorProto::DataType_IsValid(data_type);
  throw UserError(fmt::format(
      "{}: element type {} is not supported", who,
      named ? onnx::TensorProto::DataType_Name(static_cast<onnx::TensorProto::DataType>(data_type))
            : std::to_string(data_type)));
}

// A tensor's elements are in one of three places: raw_data (bytes, little-endian and dense, as Values are on
// the machines that arenac runs on), a typed field, or a file. All sizes are checked before memory is taken,
// so a small file cannot ask for a large one.
Value tensor_value(const onnx::TensorProto& proto, const std::string& directory, const std::string& who) {
  // `dims` and data need not agree in a hostile file: each branch compares them
  const Type type = type_of_onnx(proto.data_type(), who);
  Shape shape(proto.dims().begin(), proto.dims().end());
  const int64_t bytes = byte_count(type, shape, who);
  const bool external = proto.data_location() == onnx::TensorProto::EXTERNAL;
  const bool is_text = type == Type::kString;
  if (is_text && (external || proto.has_raw_data()))
    throw UserError(fmt::format("{}: text must lie in the field string_data", who));
  if (!external && !proto.has_raw_data()) {
    // The typed fields hold at least a byte an element, or eight bits: a shape larger than the whole message
    // is a lie.
    if (bytes > static_cast<int64_t>(proto.ByteSizeLong()) * size_of(type))
      throw UserError(fmt::format("{}: shape {} is larger than its data", who, to_string(shape)));
    Value value(info(type).bits ? Type::kUint8 : type, info(type).bits ? Shape{bytes} : shape);
    fill_typed(value, proto, who);
    return info(type).bits ? unpacked(type, shape, value.bytes) : value;
  }
  const ExternalData data = external ? locate_external(proto, directory, who) : ExternalData{};
  const int64_t held = external ? data.length : static_cast<int64_t>(proto.raw_data().size());
  if (held != bytes)
    throw UserError(fmt::format("{}: shape {} of {} needs {} bytes, the data hold {}", who, to_string(shape),
                                info(type).name, bytes, held));
  std::vector<std::byte> raw(static_cast<size_t>(bytes));
  if (external)
    read_external(data, raw, who);
  else if (held > 0)
    std::memcpy(raw.data(), proto.raw_data().data(), proto.raw_data().size());
  if (info(type).bits) return unpacked(type, shape, raw);
  // any byte but 0 is true; C compares them as numbers
  if (type == Type::kBool)
    for (std::byte& b : raw) b = std::byte{b != std::byte{0}};
  // without filling it with zeros first
  Value value(type, Shape{0});
  value.shape = std::move(shape);
  value.bytes = std::move(raw);
  return value;
}

namespace {

// The places of a sparse tensor's elements in the dense one: given as such, or as an index each.
//
//   shape [3,4], indices [2] {1, 6}  or  [2,2] {{0,1}, {1,2}}      ->      1, 6
//
// UserError for an index outside. Elements need not be sorted here, though the standard demands it.
std::vector<int64_t> sparse_places(const Value& indices, const Shape& shape, int64_t count,
                                   const std::string& who) {
  const auto rank = static_cast<int64_t>(shape.size());
  const bool linear = indices.shape == Shape{count};
  if (indices.type != Type::kInt64 || (!linear && indices.shape != Shape{count, rank}))
    throw UserError(fmt::format("{}: the indices of a sparse tensor of {} elements are {} {}", who, count,
                                info(indices.type).name, to_string(indices.shape)));
  const Shape extents = linear ? Shape{element_count(shape)} : shape;
  std::vector<int64_t> places(static_cast<size_t>(count));
  int64_t k = 0;
  for (int64_t& place : places)
    for (int64_t extent : extents) {
      const int64_t index = load(indices, k++).i;
      if (index < 0 || index >= extent)
        throw UserError(
            fmt::format("{}: index {} of a sparse tensor lies outside {}", who, index, to_string(shape)));
      place = place * extent + index;
    }
  return places;
}

}  // namespace

// All other elements are zeros; of a place that is given twice, the last one counts.
Value sparse_value(const onnx::SparseTensorProto& proto, const std::string& directory, const std::string& who,
                   int64_t most) {
  const Value values = tensor_value(proto.values(), directory, who);
  const Value indices = tensor_value(proto.indices(), directory, who);
  const Shape shape(proto.dims().begin(), proto.dims().end());
  if (values.shape.size() != 1)
    throw UserError(
        fmt::format("{}: the elements of a sparse tensor are {}, no vector", who, to_string(values.shape)));
  if (byte_count(values.type, shape, who) > most)
    throw UserError(fmt::format("{}: a sparse tensor {} {} is too large to be made dense", who,
                                info(values.type).name, to_string(shape)));
  // zeros
  Value dense(values.type, shape);
  const std::vector<int64_t> places = sparse_places(indices, shape, values.count(), who);
  for (size_t k = 0; k < places.size(); ++k) store(dense, places[k], load(values, static_cast<int64_t>(k)));
  return dense;
}

// External data lie beside that file.
Value read_tensor_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  onnx::TensorProto proto;
  if (!file || !proto.ParseFromIstream(&file))
    throw UserError(fmt::format("{}: no readable TensorProto", path));
  return tensor_value(proto, std::filesystem::path(path).parent_path().string(), path);
}

namespace {

// An empty sequence may name no element type.
Held held_sequence(const onnx::SequenceProto& proto, const std::string& path) {
  if (proto.elem_type() != onnx::SequenceProto::TENSOR && proto.elem_type() != 0)
    throw UserError(fmt::format("{}: a sequence of anything but tensors is not supported", path));
  Held held;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  for (const onnx::TensorProto& tensor : proto.tensor_values())
    held.parts.push_back(tensor_value(tensor, folder, path));
  return held;
}

// Without a value the optional holds nothing.
Held held_optional(const onnx::OptionalProto& proto, const std::string& path) {
  if (proto.has_sequence_value()) return held_sequence(proto.sequence_value(), path);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (proto.has_tensor_value()) return {{tensor_value(proto.tensor_value(), folder, path)}};
  return {{}, false};
}

}  // namespace

// The files do not say of what type they are: the declaration does.
Held read_held_file(const std::string& path, const Declaration& declaration) {
  if (!declaration.is_sequence && !declaration.is_optional) return {{read_tensor_file(path)}};
  std::ifstream file(path, std::ios::binary);
  if (declaration.is_optional) {
    onnx::OptionalProto proto;
    if (file && proto.ParseFromIstream(&file)) return held_optional(proto, path);
    throw UserError(fmt::format("{}: no readable OptionalProto", path));
  }
  onnx::SequenceProto proto;
  if (!file || !proto.ParseFromIstream(&file))
    throw UserError(fmt::format("{}: no readable SequenceProto", path));
  return held_sequence(proto, path);
}

namespace {

// As raw data but for text, which has none.
void fill(onnx::TensorProto& proto, const std::string& name, const Value& value) {
  proto.set_name(name);
  proto.set_data_type(info(value.type).onnx);
  for (int64_t extent : value.shape) proto.add_dims(extent);
  if (value.type == Type::kString) {
    for (int64_t k = 0; k < value.count(); ++k) proto.add_string_data(std::string(text_of(load(value, k))));
  } else {
    const std::vector<std::byte> bytes = info(value.type).bits ? packed(value) : value.bytes;
    proto.set_raw_data(bytes.data(), bytes.size());
  }
}

void fill(onnx::SequenceProto& proto, const std::string& name, const Held& held) {
  proto.set_name(name);
  proto.set_elem_type(onnx::SequenceProto::TENSOR);
  for (const Value& part : held.parts) fill(*proto.add_tensor_values(), "", part);
}

}  // namespace

// The inverse of read_held_file.
std::string held_file(const Declaration& declaration, const Held& held) {
  if (declaration.is_optional) {
    onnx::OptionalProto proto;
    proto.set_name(declaration.name);
    proto.set_elem_type(declaration.is_sequence ? onnx::OptionalProto::SEQUENCE
                                                : onnx::OptionalProto::TENSOR);
    if (held.present && declaration.is_sequence)
      fill(*proto.mutable_sequence_value(), "", held);
    else if (held.present)
      fill(*proto.mutable_tensor_value(), "", held.parts.at(0));
    return proto.SerializeAsString();
  }
  if (declaration.is_sequence) {
    onnx::SequenceProto proto;
    fill(proto, declaration.name, held);
    return proto.SerializeAsString();
  }
  onnx::TensorProto proto;
  fill(proto, declaration.name, held.parts.at(0));
  return proto.SerializeAsString();
}

}  // namespace arenac
