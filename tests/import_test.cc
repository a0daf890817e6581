#include "frontend/import.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/error.h"
#include "frontend/interpret.h"
#include "tests/values.h"

namespace arenac {
namespace {

std::vector<double> elements(const Value& value) {
  std::vector<double> all;
  for (int64_t k = 0; k < value.count(); ++k)
    all.push_back(convert(Type::kFloat64, value.type, load(value, k)).f);
  return all;
}

TEST(Import, GemmReluRuns) {
  const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 13]>
      g (float[2, 2] x) => (float[2, 2] y)
      <float[2, 2] w = {1, 2, 3, 4}, float[2] b = {-1, 1}>
      { h = Gemm<transB = 1>(x, w, b)  y = Relu(h) })");
  const auto values = interpret(graph, {floats({2, 2}, {1, 0, -1, 2})});
  EXPECT_THAT(elements(*values[graph.outputs[0]]), testing::ElementsAre(0, 4, 2, 6));
}

TEST(Import, FoldsWhatIsConstant) {
  const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 13]>
      g (float[6] x) => (float[2, 3] y)
      <int64[2] s = {1, 3}, int64[2] t = {1, 0}>
      { u = Add(s, t)  y = Reshape(x, u) })");
  EXPECT_EQ(graph.block.size(), 1u) << dump(graph);
}

TEST(Import, NamesEveryUnsupportedNode) {
  const std::string text = R"(<ir_version: 8, opset_import: ["" : 13]>
      g (float[2] x) => (float[2] y) { a = NoSuchOp(x)  b = Frobnicate(x)  y = Add(a, b) })";
  try {
    import_text(text);
    FAIL() << "imported";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("NoSuchOp"));
    EXPECT_THAT(error.what(), testing::HasSubstr("Frobnicate"));
  }
}

// Where runtimes read the standard in another way.
TEST(Warnings, SayWhereRuntimesDiffer) {
  const auto warnings = [](const std::string& text) {
    return import_text("<ir_version: 8, opset_import: [\"\" : 17]> " + text).warnings.size();
  };
  const auto resize = [&](const char* mode, const char* scale) {
    return warnings(
        fmt::format("g (float[1, 1, 5, 4] x) => (float[1, 1, a, b] y) <float[4] s = {{1, 1, {}, 1}}> "
                    "{{ y = Resize<mode = \"linear\", coordinate_transformation_mode = \"{}\">(x, , s) }}",
                    scale, mode));
  };
  EXPECT_EQ(resize("align_corners", "0.5"), 1);
  EXPECT_EQ(resize("align_corners", "2"), 0);
  EXPECT_EQ(resize("half_pixel", "0.5"), 0);
  const auto sample = [&](const char* mode, const char* padding) {
    return warnings(
        fmt::format("g (float[1, 1, 5, 4] x, float[1, 2, 2, 2] at) => (float[1, 1, 2, 2] y) "
                    "{{ y = GridSample<mode = \"{}\", padding_mode = \"{}\">(x, at) }}",
                    mode, padding));
  };
  EXPECT_EQ(sample("bicubic", "border"), 1);
  EXPECT_EQ(sample("bicubic", "zeros"), 0);
  EXPECT_EQ(sample("bilinear", "border"), 0);
}

}  // namespace
}  // namespace arenac
