// Every operator of the table meets operands it was not made for: whatever their number, types and shapes,
// it lowers to a valid graph or refuses with a UserError that names the node.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/lower.h"
#include "tests/seeds.h"

namespace arenac {
namespace {

constexpr const char* kTypes[] = {"float", "float", "float", "double", "float16", "int8",
                                  "uint8", "int32", "int64", "uint64", "bool",    "string"};
constexpr const char* kShapes[] = {"",     "1",       "3",       "0",       "2, 3",       "3, 3",      "3, 1",
                                   "2, 0", "2, 3, 3", "1, 3, 4", "4, 1, 1", "1, 2, 5, 5", "2, 2, 3, 3"};
constexpr const char* kAttributes[] = {"axis = 0",
                                       "axis = 1",
                                       "axis = -1",
                                       "axis = 7",
                                       "axes = [0]",
                                       "axes = [1, -1]",
                                       "axes = [5]",
                                       "keepdims = 0",
                                       "to = 1",
                                       "to = 7",
                                       "to = 8",
                                       "seed = 1.0",
                                       "delimiter = \"a\"",
                                       "maxsplit = 2",
                                       "stopwords = [\"a\", \"b\"]",
                                       "case_change_action = \"UPPER\"",
                                       "keys_strings = [\"a\"], values_floats = [1.0]",
                                       "cats_strings = [\"a\"]",
                                       "perm = [1, 0]",
                                       "kernel_shape = [3]",
                                       "size = 3",
                                       "kernel_shape = [2, 2]",
                                       "num_groups = 2",
                                       "p = 1",
                                       "p = 0",
                                       "block_size = 2",
                                       "block_size = -1",
                                       "strides = [2, 2]",
                                       "fmod = 1",
                                       "direction = \"LEFT\"",
                                       "border = [0, 1, 1, 0]",
                                       "group = 2",
                                       "hidden_size = 3",
                                       "equation = \"ij,jk->ik\"",
                                       "alpha = 0.5",
                                       "output_dtype = 3"};

template <typename T, size_t N>
T any(const T (&from)[N], std::mt19937& random) {
  return from[random() % N];
}

// A model of one node. About half of the operands are constants of a few small numbers.
std::string model(const OperatorRow& row, std::mt19937& random) {
  const int opset = row.domain[0] == 0 ? row.since + static_cast<int>(random() % 12) : 17;
  std::string inputs, initializers, operands, attributes;
  // Operands of one type and shape reach further into an operator than arbitrary ones.
  const char *common_type = any(kTypes, random), *common_shape = any(kShapes, random);
  const int count = static_cast<int>(random() % 7);
  for (int k = 0; k < count; ++k) {
    const char* type = random() % 2 ? common_type : any(kTypes, random);
    const char* shape = random() % 2 ? common_shape : any(kShapes, random);
    const std::string declaration =
        fmt::format("{}{}{} x{}", type, *shape ? "[" : "", *shape ? fmt::format("{}]", shape) : "", k);
    operands += fmt::format("{}{}", k ? ", " : "", random() % 12 ? fmt::format("x{}", k) : "");
    if (random() % 3 == 0 && std::string(type) != "float16" && std::string(type) != "bool" &&
        std::string(type) != "string")
      initializers += fmt::format("{}int64[3] x{} = {{{}, {}, {}}}", initializers.empty() ? "" : ", ", k,
                                  random() % 4, random() % 4, static_cast<int>(random() % 5) - 2);
    else
      inputs += (inputs.empty() ? "" : ", ") + declaration;
  }
  for (int k = static_cast<int>(random() % 4); k-- > 0;) {
    const std::string attribute = any(kAttributes, random);
    if (attributes.find(attribute.substr(0, attribute.find(' '))) != std::string::npos) continue;
    attributes += (attributes.empty() ? "" : ", ") + attribute;
  }
  return fmt::format(R"(<ir_version: 8, opset_import: ["" : {}, "{}" : 1]> g ({}) => (y) {} {{
      y = {}{}{} {} ({}) }})",
                     std::max(opset, 7), *row.domain ? row.domain : "unused", inputs,
                     initializers.empty() ? "" : "<" + initializers + ">", row.domain, *row.domain ? "." : "",
                     row.name, attributes.empty() ? "" : "<" + attributes + ">", operands);
}

TEST(Operands, AreRefusedOrLowered) {
  std::mt19937 random(1);
  int lowered = 0, refused = 0;
  for (const OperatorRow& row : operators()) {
    for (unsigned trial = 0; trial < seeds(150); ++trial) {
      const std::string text = model(row, random);
      try {
        import_text(text);
        ++lowered;
      } catch (const UserError& error) {
        ++refused;
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what() << "\n" << text;
        break;
      }
    }
  }
  if (all_seeds()) {
    EXPECT_GT(lowered, 1000);
    EXPECT_GT(refused, 1000);
  }
  RecordProperty("lowered", lowered);
}

}  // namespace
}  // namespace arenac
