#include "codegen/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "codegen/c_text.h"
#include "codegen/constant_pools.h"
#include "planner/packing.h"

namespace arenac {
namespace {

// Numbers are for reading and take a compiler long; strings are taken up to where its memory and time become
// a nuisance. A blob's constants begin at lines of caches.
constexpr int64_t kReadableBytes = 64 << 10;
constexpr int64_t kLiteralBytes = 4 << 20;
constexpr int64_t kBlobAlign = 64;

// Elements where the layout, which is dense, puts them: kernels walk weights along memory, block of channels
// by block, so transposing and packing happen here, once. `at` is the address of the element that is next in
// row-major order, kept up to date by strides as an odometer turns.
//
//   [m, k] row-major           w00 w01 w02 | w10 w11 w12
//   strides 1, 2               w00 w10 | w01 w11 | w02 w12        channels side by side, as lanes read them
std::string laid_out(const Tensor& tensor, const Layout& layout) {
  const Value& value = *tensor.constant;
  const int size = size_of(tensor.type);
  std::string bytes(value.bytes.size(), '\0');
  std::vector<int64_t> index(tensor.shape.size());
  int64_t at = 0;
  for (int64_t k = 0; k < value.count(); ++k) {
    std::memcpy(bytes.data() + layout.words.place(at) * size, value.bytes.data() + k * size, size);
    for (size_t d = index.size(); d-- > 0;) {
      at += layout.strides[d];
      if (++index[d] < tensor.shape[d]) break;
      at -= layout.strides[d] * index[d];
      index[d] = 0;
    }
  }
  return bytes;
}

// What steps read: operands of nests that are not elided, and of C kernels.
// What loops are counted and ended by is read by control flow.
std::set<TensorId> constants_read(const Schedule& schedule) {
  std::set<TensorId> used;
  const auto use = [&](TensorId id) {
    const Tensor& tensor = schedule.graph->tensors[id];
    if (tensor.constant && tensor.constant->count() > 0) used.insert(id);
  };
  for (const Step& step : schedule.steps) {
    if (step.kind == StepKind::kRun || step.kind == StepKind::kIf)
      for (TensorId id : step.node->reads) use(id);
    if (step.kind != StepKind::kLoop) continue;
    const Loop& loop = std::get<Loop>(step.node->body);
    if (loop.count) use(*loop.count);
    if (loop.condition) use(*loop.condition);
  }
  return used;
}

// One literal after the other in lines of up to 100 letters, in the layout's order and not the model's.
std::string readable_array(const Weight& weight, const Blob& blob, const Tensor& tensor,
                           const std::string& name) {
  const int64_t count = static_cast<int64_t>(weight.bytes.size()) / size_of(tensor.type);
  std::string text =
      fmt::format("\n/* {} {} */\n{}_{} {} {}_{}[{}] = {{", c_comment(tensor.name), to_string(tensor.shape),
                  upper_case(name), blob.macro, info(tensor.type).c_name, name, weight.name, count);
  std::string line;
  for (int64_t k = 0; k < count; ++k) {
    const auto* at = reinterpret_cast<const std::byte*>(weight.bytes.data()) + k * size_of(tensor.type);
    const std::string literal = c_literal(tensor.type, load(tensor.type, at)) + (k + 1 < count ? "," : "");
    if (line.size() + literal.size() > 98 || line.empty()) text += line + "\n ", line.clear();
    line += " " + literal;
  }
  return text + line + "\n};\n";
}

// Adjacent strings are one in C, after their escapes are read: a row's last escape cannot go on in the next.
std::string octal(const std::string& blob) {
  std::string text;
  constexpr size_t kRow = 64;
  for (size_t from = 0; from < blob.size(); from += kRow) {
    text += "  \"";
    const size_t to = std::min(blob.size(), from + kRow);
    for (size_t k = from; k < to; ++k) {
      const auto byte = static_cast<unsigned char>(blob[k]);
      // The short form is safe unless a digit follows.
      const bool digit_next = k + 1 < to && blob[k + 1] >= '0' && blob[k + 1] <= '7';
      const bool plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\' && byte != '?';
      if (plain)
        text += static_cast<char>(byte);
      else
        text += digit_next ? fmt::format("\\{:03o}", byte) : fmt::format("\\{:o}", byte);
    }
    text += "\"\n";
  }
  return text;
}

// Defines NAME_BIG_ENDIAN where the machine is, as far as compilers say so.
std::string byte_order(const std::string& upper) {
  return fmt::format(
      "#if (defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) || defined(__BIG_ENDIAN__) || "
      "\\\n    defined(__ARMEB__) || (defined(__IAR_SYSTEMS_ICC__) && !__LITTLE_ENDIAN__)\n"
      "#define {}_BIG_ENDIAN\n#endif\n",
      upper);
}

// Text is bytes, and elements of one byte have no order.
bool has_byte_order(Type type) { return size_of(type) > 1 && type != Type::kString; }

// Each element turned around by itself.
std::string in_other_order(std::string bytes, int size) {
  for (auto at = bytes.begin(); at != bytes.end(); at += size) std::reverse(at, at + size);
  return bytes;
}

// A blob as strings in the machine's byte order: where that matters both are in the file, and the
// preprocessor takes one.
//
//   #ifdef KWS_BIG_ENDIAN
//     "\77\200\0\0"            1.0f, its highest byte first
//   #else
//     "\0\0\200\77"
//   #endif
std::string blob_text(const Weights& weights, size_t blob, const Schedule& schedule,
                      const std::string& upper) {
  std::string text;
  for (const Weight& weight : weights.all) {
    if (weight.blob != blob) continue;
    const Type type = schedule.graph->tensors[weight.tensor].type;
    const auto padded = [&](std::string bytes) {
      bytes.resize(weights.room_for(weight));
      return octal(bytes);
    };
    const std::string swapped =
        has_byte_order(type) ? in_other_order(weight.bytes, size_of(type)) : weight.bytes;
    text += swapped == weight.bytes ? padded(weight.bytes)
                                    : fmt::format("#ifdef {}_BIG_ENDIAN\n{}#else\n{}#endif\n", upper,
                                                  padded(swapped), padded(weight.bytes));
  }
  return text;
}

// All blobs, one after the other, as the .bin has them; what is between constants is zeros.
std::string binary(const Weights& weights) {
  std::string bytes(weights.total(), '\0');
  for (const Weight& weight : weights.all)
    bytes.replace(weights.blobs[weight.blob].begin + weight.offset, weight.bytes.size(), weight.bytes);
  return bytes;
}

// A byte more than the blob has, for the zero that ends a string in C++; a union, for alignment.
std::string blob_type(const Blob& blob, const std::string& name) {
  return fmt::format("union {}_{}_blob {{ unsigned char bytes[{}]; int64_t whole; double real; }}", name,
                     blob.name, blob.total + 1);
}

// What stands before the arrays of a memory that --pool names, if the build does not say it.
// The build may define it first, and then says all: alignment and section are its own.
std::string place_macro(const Blob& blob, const std::string& upper) {
  const std::string section =
      blob.section.empty() ? "" : fmt::format(", section({})", c_string(blob.section));
  return fmt::format(
      "#if !defined({0}_{1}) && defined(__GNUC__)\n#define {0}_{1} const __attribute__((aligned({2}){3}))\n"
      "#elif !defined({0}_{1})\n#define {0}_{1} const\n#endif\n",
      upper, blob.macro, blob.align, section);
}

}  // namespace

bool holds_text(const Graph& graph) {
  return std::ranges::any_of(graph.tensors, [](const Tensor& t) { return t.type == Type::kString; });
}

// Behind a guard, because several models of one program bring it.
std::string text_type() {
  return fmt::format(
      "#ifndef ARENAC_STRING_SIZE\n#define ARENAC_STRING_SIZE {0}\n"
      "/* Text of less than {0} bytes, ended by a zero. */\n"
      "typedef struct arenac_string {{ char text[{0}]; }} arenac_string;\n#endif\n",
      kStringBytes);
}

// Arrays of C are aligned by their type and their pool; in a blob the next constant begins at a multiple of
// 64.
int64_t Weights::room_for(const Weight& weight) const {
  const int64_t align = blobs[weight.blob].align;
  return round_up(static_cast<int64_t>(weight.bytes.size()), readable ? align : std::max(align, kBlobAlign));
}

// Memories that nothing lies in are not declared.
std::vector<size_t> Weights::used_blobs() const {
  std::vector<size_t> used;
  for (size_t k = 0; k < blobs.size(); ++k)
    if (blobs[k].total > 0) used.push_back(k);
  return used;
}

// Deterministic: tensors come in the order of their numbers. Constants of one type and the same bytes are
// one, the first's; so two layers that share weights, or many equal zero points, take flash once. Different
// types stay apart, for arrays have a type.
//
//   read by steps   t3 float [0.5 1]   t7 float [0.5 1]   t9 int8 [1 2]
//   all             w_0 = t3                              w_1 = t9
//   of_tensor       t3: 0              t7: 0              t9: 1
Weights collect_weights(const Schedule& schedule, const EmitOptions& options) {
  Weights weights;
  std::map<std::pair<Type, std::string>, int> known;
  int64_t total = 0;
  // A name of each that is new: w_0, w_1, ... in the order of the tensors' numbers.
  for (TensorId id : constants_read(schedule)) {
    const Tensor& tensor = schedule.graph->tensors[id];
    std::string bytes = laid_out(tensor, schedule.layouts[id]);
    const auto [at, fresh] =
        known.emplace(std::pair(tensor.type, bytes), static_cast<int>(weights.all.size()));
    weights.of_tensor[id] = at->second;
    if (!fresh) continue;
    const std::string name = fmt::format("w_{}", weights.all.size());
    const int64_t size = static_cast<int64_t>(bytes.size());
    weights.all.push_back({name, id, std::move(bytes)});
    total += size;
  }
  weights.form = options.weights;
  if (weights.form == WeightsForm::kAuto)
    weights.form = total > kLiteralBytes ? WeightsForm::kIncbin : WeightsForm::kC;
  weights.readable = weights.form == WeightsForm::kC && total <= kReadableBytes;
  place_constants(weights, schedule, options.constants);
  return weights;
}

// Only what is loaded as it lies has an order to be wrong in.
std::string weight_guard(const Weights& weights, const Schedule& schedule, const std::string& name) {
  const bool matters = std::any_of(weights.all.begin(), weights.all.end(), [&](const Weight& weight) {
    return has_byte_order(schedule.graph->tensors[weight.tensor].type);
  });
  if (weights.form == WeightsForm::kC || !matters) return "";
  return byte_order(upper_case(name)) +
         fmt::format(
             "#ifdef {}_BIG_ENDIAN\n#error \"{}_weights.bin is little-endian: arenac compile --weights c "
             "writes what is right for both\"\n#endif\n",
             upper_case(name), name);
}

// Behind a pointer sets of constants can be exchanged: there the token is of the source alone, which has
// their names, types and places in it.
std::string token_of(const Weights& weights, const std::string& source) {
  std::vector<std::string_view> bytes;
  if (weights.form != WeightsForm::kPointer)
    for (const Weight& weight : weights.all) bytes.push_back(weight.bytes);
  return digits_of(source, bytes);
}

// Byte by byte: the .bin is little-endian on any machine, and where it lies may be anything.
//
//   kws_weights.bin   | constants, total() bytes | t0 t1 t2 t3 |      KWS_WEIGHTS_TOKEN, lowest byte first
std::string weight_check(const Weights& weights, const std::string& name) {
  const std::string upper = upper_case(name);
  return fmt::format(
      "static int {0}_suits(const unsigned char *weights)\n{{\n"
      "  const unsigned char *const token = weights + {2};\n"
      "  return token[0] == ({1}_WEIGHTS_TOKEN & 255u) && token[1] == ({1}_WEIGHTS_TOKEN >> 8 & 255u) &&\n"
      "         token[2] == ({1}_WEIGHTS_TOKEN >> 16 & 255u) && token[3] == {1}_WEIGHTS_TOKEN >> 24;\n}}\n",
      name, upper, weights.total());
}

// One array of numbers has the token in its name, or each blob: that is enough, for the linker refuses all of
// a file or none of it.
std::string weight_declarations(const Weights& weights, const Schedule& schedule, const std::string& name,
                                const std::string& token) {
  if (weights.all.empty() || weights.form == WeightsForm::kPointer) return "";
  const std::string upper = upper_case(name);
  const std::vector<size_t> used = weights.used_blobs();
  std::string text = fmt::format(
      "\n/* The constants, for {1}.c and {1}_weights.c. {0}_{2} stands before each{3}: define it to place "
      "them,\n"
      "   -D'{0}_{2}=const __attribute__((section(\".qspi\")))'. */\n"
      "#if defined({0}_INTERNAL) && !defined({0}_CONSTANTS_H)\n#define {0}_CONSTANTS_H\n",
      upper, name, weights.blobs[used[0]].macro, used.size() > 1 ? " of the first memory" : "");
  for (size_t k : used) text += place_macro(weights.blobs[k], upper);
  text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  // A macro renames the symbol wherever the two files say it.
  const auto needs_token = [&](const std::string& symbol) {
    text +=
        fmt::format("#define {0}_{1} {0}_{1}_{2} /* constants that are not those of {0}.c do not link */\n",
                    name, symbol, token);
  };
  if (weights.readable) {
    needs_token(weights.all[0].name);
    for (const Weight& weight : weights.all) {
      const Type type = schedule.graph->tensors[weight.tensor].type;
      text += fmt::format("extern {}_{} {} {}_{}[{}]; /* {} */\n", upper, weights.blobs[weight.blob].macro,
                          info(type).c_name, name, weight.name, weight.bytes.size() / size_of(type),
                          c_comment(schedule.graph->tensors[weight.tensor].name));
    }
  }
  for (size_t k : weights.readable ? std::vector<size_t>{} : used) {
    const Blob& blob = weights.blobs[k];
    if (weights.form != WeightsForm::kBin) needs_token(blob.name);
    text += weights.form == WeightsForm::kC
                ? fmt::format("{0};\nextern {1}_{2} union {3}_{4}_blob {3}_{4};\n", blob_type(blob, name),
                              upper, blob.macro, name, blob.name)
                : fmt::format("extern const unsigned char {}_{}[{}];\n", name, blob.name, blob.total);
  }
  return text + "#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

// Arrays by name where they are arrays and read where they lie; else the blob's first byte, or that of its
// copy in RAM, and an offset.
std::string weight_pointer(const Weights& weights, TensorId tensor, const Schedule& schedule,
                           const std::string& name) {
  const Weight& weight = weights.all[weights.of_tensor.at(tensor)];
  const std::string& copy = weights.blobs[weight.blob].copy;
  if (weights.readable && copy.empty()) return fmt::format("{}_{}", name, weight.name);
  const char* type = info(schedule.graph->tensors[tensor].type).c_name;
  const std::string bytes =
      copy.empty() ? blob_pointer(weights, weight.blob, name) : fmt::format("{}_pool_{}.bytes", name, copy);
  if (weight.offset == 0) return fmt::format("(const {} *)(const void *){}", type, bytes);
  return fmt::format("(const {} *)(const void *)({} + {})", type, bytes, weight.offset);
}

// The member of the union in C, the symbol itself in assembler, the argument where the caller says it.
std::string blob_pointer(const Weights& weights, size_t blob, const std::string& name) {
  if (weights.form == WeightsForm::kPointer) return "weights";
  return fmt::format("{}_{}{}", name, weights.blobs[blob].name,
                     weights.form == WeightsForm::kC ? ".bytes" : "");
}

namespace {

// A file without constants has a type, because a translation unit of C may not be empty.
std::string weights_in_c(const Weights& weights, const Schedule& schedule, const std::string& name) {
  const std::string upper = upper_case(name);
  std::string text = fmt::format(
      "/* Constants of {0}, written by arenac. */\n#define {1}_INTERNAL\n#include \"{0}.h\"\n\n"
      "#include <math.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n",
      name, upper);
  if (weights.all.empty()) {
    text += fmt::format("\ntypedef int {}_has_no_weights;\n", name);
  } else if (weights.readable) {
    for (const Weight& weight : weights.all)
      text +=
          readable_array(weight, weights.blobs[weight.blob], schedule.graph->tensors[weight.tensor], name);
  } else {
    text +=
        fmt::format("\n#ifdef __GNUC__\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#endif\n{}",
                    byte_order(upper));
    for (size_t k : weights.used_blobs())
      text += fmt::format(
          "/* The bytes as they lie in memory. */\n{0}_{1} union {2}_{3}_blob {2}_{3} = {{\n{4}}};\n", upper,
          weights.blobs[k].macro, name, weights.blobs[k].name, blob_text(weights, k, schedule, upper));
  }
  return text + "\n#ifdef __cplusplus\n}\n#endif\n";
}

// The whole .bin for each blob, or its part of it. Without the note Linux would make stacks executable.
std::string weights_in_assembler(const Weights& weights, const std::string& name, const std::string& token) {
  std::string text = fmt::format(
      "/* Constants of {0}: the bytes of {0}_weights.bin, which must lie in a folder given by -I. */\n",
      name);
  for (size_t k : weights.used_blobs()) {
    const Blob& blob = weights.blobs[k];
    const std::string symbol = fmt::format("{}_{}_{}", name, blob.name, token);
    text += fmt::format(
        "    .section {0}, \"a\"\n    .globl {1}\n    .balign {2}\n{1}:\n    .incbin \"{3}_weights.bin\"{4}\n"
        "#ifdef __ELF__\n    .size {1}, . - {1}\n#endif\n",
        blob.section.empty() ? fmt::format(".rodata.{}_{}", name, blob.name) : blob.section, symbol,
        std::max(blob.align, kBlobAlign), name,
        weights.blobs.size() > 1 ? fmt::format(", {}, {}", blob.begin, blob.total) : "");
  }
  return text + "#if defined(__linux__) && defined(__ELF__)\n    .section .note.GNU-stack, \"\"\n#endif\n";
}

}  // namespace

// What NAME.c needs beside it; .bin comes with incbin, bin and pointer, the token at its end with a pointer
// alone.
std::vector<File> weight_files(const Weights& weights, const Schedule& schedule, const std::string& name,
                               const std::string& token) {
  if (weights.form == WeightsForm::kC) return {{name + "_weights.c", weights_in_c(weights, schedule, name)}};
  std::vector<File> files;
  if (weights.form == WeightsForm::kIncbin)
    files.push_back({name + "_weights.S", weights_in_assembler(weights, name, token)});
  files.push_back({name + "_weights.bin", binary(weights)});
  if (weights.form == WeightsForm::kPointer)
    for (int byte = 3; byte >= 0; --byte)
      files.back().bytes +=
          static_cast<char>(std::stoi(token.substr(static_cast<size_t>(byte) * 2, 2), nullptr, 16));
  return files;
}

}  // namespace arenac
