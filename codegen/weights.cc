#include "codegen/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "codegen/c_text.h"

namespace arenac {
namespace {

constexpr int64_t kReadableBytes = 64 << 10;
constexpr int64_t kLiteralBytes = 4 << 20;
constexpr int64_t kBlobAlign = 64;

// Elements where the layout, which is dense, puts them.
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

std::string readable_array(const Weight& weight, const Tensor& tensor, const std::string& name) {
  const int64_t count = static_cast<int64_t>(weight.bytes.size()) / size_of(tensor.type);
  std::string text = fmt::format("\n/* {} {} */\n{}_CONST {} {}_{}[{}] = {{", c_comment(tensor.name),
                                 to_string(tensor.shape), upper_case(name), info(tensor.type).c_name, name,
                                 weight.name, count);
  std::string line;
  for (int64_t k = 0; k < count; ++k) {
    const auto* at = reinterpret_cast<const std::byte*>(weight.bytes.data()) + k * size_of(tensor.type);
    const std::string literal = c_literal(tensor.type, load(tensor.type, at)) + (k + 1 < count ? "," : "");
    if (line.size() + literal.size() > 98 || line.empty()) text += line + "\n ", line.clear();
    line += " " + literal;
  }
  return text + line + "\n};\n";
}

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

// Defines NAME_BIG_ENDIAN where the machine is.
std::string byte_order(const std::string& upper) {
  return fmt::format(
      "#if (defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) || defined(__BIG_ENDIAN__) || "
      "\\\n    defined(__ARMEB__) || (defined(__IAR_SYSTEMS_ICC__) && !__LITTLE_ENDIAN__)\n"
      "#define {}_BIG_ENDIAN\n#endif\n",
      upper);
}

bool has_byte_order(Type type) { return size_of(type) > 1 && type != Type::kString; }

std::string in_other_order(std::string bytes, int size) {
  for (auto at = bytes.begin(); at != bytes.end(); at += size) std::reverse(at, at + size);
  return bytes;
}

// The blob as strings in the machine's byte order.
std::string blob_text(const Weights& weights, const Schedule& schedule, const std::string& upper) {
  std::string text;
  for (size_t k = 0; k < weights.all.size(); ++k) {
    const Weight& weight = weights.all[k];
    const Type type = schedule.graph->tensors[weight.tensor].type;
    const int64_t end = k + 1 < weights.all.size() ? weights.all[k + 1].offset : weights.total;
    const auto padded = [&](std::string bytes) {
      bytes.resize(end - weight.offset);
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

std::string blob_of(const Weights& weights) {
  std::string blob(weights.total, '\0');
  for (const Weight& weight : weights.all) blob.replace(weight.offset, weight.bytes.size(), weight.bytes);
  return blob;
}

std::string blob_type(const Weights& weights, const std::string& name) {
  return fmt::format("union {}_weights_blob {{ unsigned char bytes[{}]; int64_t whole; double real; }}", name,
                     weights.total + 1);
}

}  // namespace

std::string text_type(const Graph& graph) {
  const bool has_text = std::any_of(graph.tensors.begin(), graph.tensors.end(),
                                    [](const Tensor& t) { return t.type == Type::kString; });
  if (!has_text) return "";
  return fmt::format(
      "#ifndef ARENAC_STRING_SIZE\n#define ARENAC_STRING_SIZE {0}\n"
      "/* Text of less than {0} bytes, ended by a zero. */\n"
      "typedef struct arenac_string {{ char text[{0}]; }} arenac_string;\n#endif\n",
      kStringBytes);
}

Weights collect_weights(const Schedule& schedule, const EmitOptions& options) {
  Weights weights;
  std::map<std::pair<Type, std::string>, int> known;
  for (TensorId id : constants_read(schedule)) {
    const Tensor& tensor = schedule.graph->tensors[id];
    std::string bytes = laid_out(tensor, schedule.layouts[id]);
    const auto [at, fresh] =
        known.emplace(std::pair(tensor.type, bytes), static_cast<int>(weights.all.size()));
    weights.of_tensor[id] = at->second;
    if (!fresh) continue;
    const std::string name = fmt::format("w_{}", weights.all.size());
    const int64_t size = static_cast<int64_t>(bytes.size());
    weights.all.push_back({name, id, std::move(bytes), weights.total});
    weights.total += (size + kBlobAlign - 1) / kBlobAlign * kBlobAlign;
  }
  weights.form = options.weights;
  if (weights.form == WeightsForm::kAuto)
    weights.form = weights.total > kLiteralBytes ? WeightsForm::kIncbin : WeightsForm::kC;
  int64_t bytes = 0;
  for (const Weight& weight : weights.all) bytes += static_cast<int64_t>(weight.bytes.size());
  weights.readable = weights.form == WeightsForm::kC && bytes <= kReadableBytes;
  return weights;
}

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

std::string token_of(const Weights& weights, const std::string& source) {
  uint32_t hash = 2166136261u;  // FNV-1a
  const auto add = [&](const std::string& bytes) {
    for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619u;
  };
  add(source);
  if (weights.form != WeightsForm::kPointer)
    for (const Weight& weight : weights.all) add(weight.bytes);
  return fmt::format("{:08x}", hash);
}

std::string weight_check(const Weights& weights, const std::string& name) {
  const std::string upper = upper_case(name);
  return fmt::format(
      "static int {0}_suits(const unsigned char *weights)\n{{\n"
      "  const unsigned char *const token = weights + {2};\n"
      "  return token[0] == ({1}_WEIGHTS_TOKEN & 255u) && token[1] == ({1}_WEIGHTS_TOKEN >> 8 & 255u) &&\n"
      "         token[2] == ({1}_WEIGHTS_TOKEN >> 16 & 255u) && token[3] == {1}_WEIGHTS_TOKEN >> 24;\n}}\n",
      name, upper, weights.total);
}

std::string weight_declarations(const Weights& weights, const Schedule& schedule, const std::string& name,
                                const std::string& token) {
  if (weights.all.empty() || weights.form == WeightsForm::kPointer) return "";
  const std::string upper = upper_case(name);
  std::string text = fmt::format(
      "\n/* The constants, for {1}.c and {1}_weights.c. {0}_CONST stands before each of them: define it to "
      "place "
      "them,\n   -D'{0}_CONST=const __attribute__((section(\".qspi\")))'. */\n"
      "#if defined({0}_INTERNAL) && !defined({0}_CONSTANTS_H)\n#define {0}_CONSTANTS_H\n"
      "#if !defined({0}_CONST) && defined(__GNUC__)\n#define {0}_CONST const __attribute__((aligned({2})))\n"
      "#elif !defined({0}_CONST)\n#define {0}_CONST const\n#endif\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n",
      upper, name, kConstantAlign);
  if (weights.form != WeightsForm::kBin) {
    const std::string first = weights.readable ? weights.all[0].name : "weights";
    text +=
        fmt::format("#define {0}_{1} {0}_{1}_{2} /* constants that are not those of {0}.c do not link */\n",
                    name, first, token);
  }
  if (!weights.readable && weights.form == WeightsForm::kC)
    text += fmt::format("{};\nextern {}_CONST union {}_weights_blob {}_weights;\n", blob_type(weights, name),
                        upper, name, name);
  else if (!weights.readable)
    text += fmt::format("extern const unsigned char {}_weights[{}];\n", name, weights.total);
  else
    for (const Weight& weight : weights.all) {
      const Type type = schedule.graph->tensors[weight.tensor].type;
      text += fmt::format("extern {}_CONST {} {}_{}[{}]; /* {} */\n", upper, info(type).c_name, name,
                          weight.name, weight.bytes.size() / size_of(type),
                          c_comment(schedule.graph->tensors[weight.tensor].name));
    }
  return text + "#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

std::string weight_pointer(const Weights& weights, TensorId tensor, const Schedule& schedule,
                           const std::string& name) {
  const Weight& weight = weights.all[weights.of_tensor.at(tensor)];
  if (weights.readable) return fmt::format("{}_{}", name, weight.name);
  if (weights.form == WeightsForm::kPointer)
    return fmt::format("(const {} *)(const void *)(weights + {})",
                       info(schedule.graph->tensors[tensor].type).c_name, weight.offset);
  const char* member = weights.form == WeightsForm::kC ? ".bytes" : "";
  return fmt::format("(const {} *)(const void *)({}_weights{} + {})",
                     info(schedule.graph->tensors[tensor].type).c_name, name, member, weight.offset);
}

std::vector<File> weight_files(const Weights& weights, const Schedule& schedule, const std::string& name,
                               const std::string& token) {
  std::vector<File> files;
  if (weights.form == WeightsForm::kC) {
    std::string text = fmt::format(
        "/* Constants of {0}, written by arenac. */\n#define {1}_INTERNAL\n#include \"{0}.h\"\n\n"
        "#include <math.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n",
        name, upper_case(name));
    if (weights.all.empty()) {
      text += fmt::format("\ntypedef int {}_has_no_weights;\n", name);
    } else if (weights.readable) {
      for (const Weight& weight : weights.all)
        text += readable_array(weight, schedule.graph->tensors[weight.tensor], name);
    } else {
      text += fmt::format(
          "\n#ifdef __GNUC__\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#endif\n{3}"
          "/* The bytes as they lie in memory. */\n{2}_CONST union {0}_weights_blob {0}_weights = "
          "{{\n{1}}};\n",
          name, blob_text(weights, schedule, upper_case(name)), upper_case(name),
          byte_order(upper_case(name)));
    }
    text += "\n#ifdef __cplusplus\n}\n#endif\n";
    files.push_back({name + "_weights.c", std::move(text)});
    return files;
  }
  if (weights.form == WeightsForm::kIncbin)
    files.push_back(
        {name + "_weights.S",
         fmt::format(
             "/* Constants of {0}: the bytes of {0}_weights.bin, which must lie in a folder given by -I. */\n"
             "    .section .rodata.{0}_weights, \"a\"\n    .globl {0}_weights_{2}\n    .balign {1}\n"
             "{0}_weights_{2}:\n    .incbin \"{0}_weights.bin\"\n"
             "#ifdef __ELF__\n    .size {0}_weights_{2}, . - {0}_weights_{2}\n#endif\n"
             "#if defined(__linux__) && defined(__ELF__)\n    .section .note.GNU-stack, \"\"\n#endif\n",
             name, kBlobAlign, token)});
  files.push_back({name + "_weights.bin", blob_of(weights)});
  if (weights.form == WeightsForm::kPointer)
    for (int byte = 3; byte >= 0; --byte)
      files.back().bytes +=
          static_cast<char>(std::stoi(token.substr(static_cast<size_t>(byte) * 2, 2), nullptr, 16));
  return files;
}

}  // namespace arenac
