#include "frontend/ops.h"

#include <fmt/format.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <cstring>

#include "frontend/nearest.h"

namespace arenac {

std::vector<OperatorRow> operators() {
  static const std::vector<OperatorRow> all = [] {
    const std::span<const OperatorRow> families[] = {
        attention_operators(),   bounded_operators(), control_operators(),   conv_operators(),
        elementwise_operators(), gather_operators(),  label_operators(),     list_operators(),
        loss_operators(),        matmul_operators(),  microsoft_operators(), ml_operators(),
        movement_operators(),    norm_operators(),    packed_operators(),    pad_operators(),
        grouped_operators(),     heads_operators(),   pool_operators(),      qlinear_operators(),
        quantize_operators(),    random_operators(),  recurrent_operators(), reduce_operators(),
        resize_operators(),      sample_operators(),  sequence_operators(),  shape_operators(),
        signal_operators(),      svm_operators(),     text_operators(),      training_operators(),
        tree_operators(),
    };
    std::vector<OperatorRow> rows;
    for (const auto family : families) rows.insert(rows.end(), family.begin(), family.end());
    std::stable_sort(rows.begin(), rows.end(), [](const OperatorRow& a, const OperatorRow& b) {
      const int domain = std::strcmp(a.domain, b.domain);
      return domain != 0 ? domain < 0 : std::strcmp(a.name, b.name) < 0;
    });
    return rows;
  }();
  return all;
}

namespace {

struct TypeGroup {
  const char* name;
  std::vector<Type> types;
};

// Whether the standard lets the operand of that formal type hold such elements: "tensor(float)", or a type
// variable.
bool allows(const onnx::OpSchema& schema, const std::string& formal, Type type) {
  const std::string name = type == Type::kFloat32   ? "float"
                           : type == Type::kFloat64 ? "double"
                                                    : info(type).name;
  const std::string wanted = "tensor(" + name + ")";
  if (formal.find(wanted) != std::string::npos) return true;
  for (const auto& variable : schema.typeConstraintParams())
    if (variable.type_param_str == formal)
      for (const std::string& allowed : variable.allowed_type_strs)
        if (allowed.find(wanted) != std::string::npos) return true;
  return false;
}

}  // namespace

std::string element_types(const OperatorRow& row) {
  if (row.types) return row.types;
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(row.name, row.domain);
  if (!schema) return "floats";
  const auto& formals = schema->inputs().empty() ? schema->outputs() : schema->inputs();
  const std::string formal = formals.front().GetTypeStr();
  static const TypeGroup kGroups[] = {
      {"floats", {Type::kFloat16, Type::kBFloat16, Type::kFloat32, Type::kFloat64}},
      {"integers",
       {Type::kInt8, Type::kInt16, Type::kInt32, Type::kInt64, Type::kUint8, Type::kUint16, Type::kUint32,
        Type::kUint64}},
      {"bool", {Type::kBool}},
      {"string", {Type::kString}}};
  std::vector<std::string> words;
  for (const TypeGroup& group : kGroups) {
    std::vector<std::string> names;
    for (const Type type : group.types)
      if (allows(*schema, formal, type)) names.emplace_back(info(type).name);
    if (names.size() == group.types.size()) names = {group.name};
    words.insert(words.end(), names.begin(), names.end());
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

bool takes_strings(const OperatorRow& row, size_t k) {
  if (row.types) return std::string_view(row.types).find("string") != std::string_view::npos;
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(row.name, row.domain);
  if (!schema || schema->inputs().empty()) return false;
  const size_t formal = std::min(k, schema->inputs().size() - 1);  // the last may be repeated
  return allows(*schema, schema->inputs()[formal].GetTypeStr(), Type::kString);
}

const OperatorRow* find_operator(const std::string& domain, const std::string& name, int opset) {
  static const std::vector<OperatorRow> all = operators();
  for (const OperatorRow& row : all)
    if (domain == row.domain && name == row.name && opset >= row.since && opset < row.until) return &row;
  return nullptr;
}

std::string nearest_operator(const std::string& domain, const std::string& name) {
  static const std::vector<OperatorRow> all = operators();
  std::vector<std::string> domains, names;
  for (const OperatorRow& row : all) {
    if (domains.empty() || domains.back() != row.domain) domains.emplace_back(row.domain);
    if (row.domain == domain) names.emplace_back(row.name);
  }
  const bool is_domain = std::find(domains.begin(), domains.end(), domain) != domains.end();
  const std::string meant = is_domain ? domain : nearest_word(domain, domains);
  const auto qualified = [](const std::string& d, const std::string& n) {
    return d.empty() ? n : d + "." + n;
  };
  const std::string near = nearest_word(name, names);
  if (near == name) return "";  // of other opsets
  if (!near.empty()) return qualified(domain, near);
  for (const OperatorRow& row : all)
    if (name == row.name && (is_domain || meant == row.domain)) return qualified(row.domain, row.name);
  return "";
}

}  // namespace arenac
