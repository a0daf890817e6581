// Text: read and written as numbers, split, joined, compared, and moved about like any element.
#include "frontend/text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <random>
#include <span>

#include "driver/compare.h"
#include "frontend/import.h"
#include "frontend/interpret.h"
#include "tests/emitted.h"
#include "tests/values.h"

namespace arenac {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Graph graph_of(const std::string& text) {
  return import_text(R"(<ir_version: 8, opset_import: ["" : 20, "ai.onnx.ml" : 3]> g )" + text);
}

// The outputs as the interpreter gives them; the emitted C of both schedulers gives the same.
std::vector<Value> expect_the_same(const Graph& graph, const std::vector<Value>& inputs,
                                   std::span<const CompilerRow> by = {compilers().data(), 1}) {
  const std::vector<Value> want = model_outputs(graph, interpret_outputs(graph, inputs));
  std::vector<Emitted> batch;
  for (const char* scheduler : {"layerwise", "fused"})
    for (const Code code : {Code::kFast, Code::kSmall})
      batch.push_back(
          {compile_graph(graph, fmt::format("t{}", batch.size()), {.scheduler = scheduler, .code = code}),
           inputs});
  for (const CompilerRow& compiler : by) {
    run_emitted(batch, compiler);
    for (const Emitted& emitted : batch) {
      EXPECT_EQ(emitted.fault, "") << compiler.name;
      if (!emitted.fault.empty()) return want;
      const auto got = model_outputs(graph, emitted.outputs);
      for (size_t k = 0; k < want.size(); ++k)
        EXPECT_EQ(difference(got[k], want[k], {0, 0}), std::nullopt) << compiler.name << ", output " << k;
    }
  }
  return want;
}

std::vector<Value> run(const std::string& text, const std::vector<Value>& inputs) {
  return expect_the_same(graph_of(text), inputs);
}

// Interpreted only: where many values matter, not where they lie.
std::vector<Value> interpreted(const std::string& text, const Value& input) {
  const Graph graph = graph_of(text);
  return model_outputs(graph, interpret_outputs(graph, {input}));
}

std::string cast_text(const char* from, const char* to, int to_type, int64_t count) {
  return fmt::format("({}[{}] x) => ({}[{}] y) {{ y = Cast<to = {}>(x) }}", from, count, to, count, to_type);
}

TEST(Text, IsMovedLikeAnyElement) {
  const Value x = texts({2, 3}, {"a", "b", "c", "d", "e", "f"}), z = texts({3}, {"x", "y", "z"});
  Value c(Type::kBool, {});
  store(c, 0, {.i = 1});
  const auto all = run(R"((string[2, 3] x, string[3] z, bool c, int64[2] i) =>
      (string[2, 2] g, string[3, 2] t, string[3] w, string[5] p, string[2] l, string[5] d, string[3, 3] s) {
    g = Gather<axis = 1>(x, i)
    t = Transpose(x)
    k = Constant<value_strings = ["-"]>()
    w = Where(c, k, z)
    h = Gather(z, i)
    p = Concat<axis = 0>(h, z)
    l = If(c) <then_branch = a () => (string[2] s) { s = Identity(h) },
               else_branch = o () => (string[2] s) { two = Constant<value_ints = [2]>()  s = Tile(k, two) }>
    pads = Constant<value_ints = [1, 1]>()
    d = Pad(z, pads)
    at = Constant<value_ints = [1, 0, 0]>()
    row = Constant<value_ints = [1, 3]>()
    at2 = Reshape(at, row)
    xx = Concat<axis = 0>(x, x2)
    z1 = Constant<value_ints = [0]>()
    x2 = Unsqueeze(z, z1)
    s = ScatterElements<axis = 0>(xx, at2, x2)
  })",
                       {x, z, c, integers({2}, {2, 0})});
  EXPECT_THAT(texts_of(all.at(0)), ElementsAre("c", "a", "f", "d"));
  EXPECT_THAT(texts_of(all.at(1)), ElementsAre("a", "d", "b", "e", "c", "f"));
  EXPECT_THAT(texts_of(all.at(2)), ElementsAre("-", "-", "-"));
  EXPECT_THAT(texts_of(all.at(3)), ElementsAre("z", "x", "x", "y", "z"));
  EXPECT_THAT(texts_of(all.at(4)), ElementsAre("z", "x"));
  EXPECT_THAT(texts_of(all.at(5)), ElementsAre("", "x", "y", "z", ""));
  EXPECT_THAT(texts_of(all.at(6)), ElementsAre("a", "y", "z", "x", "e", "f", "x", "y", "z"));
}

TEST(Text, IsComparedForEquality) {
  const auto y = run("(string[3] a, string[2, 1] b) => (bool[2, 3] y) { y = Equal(a, b) }",
                     {texts({3}, {"cat", "", "cats"}), texts({2, 1}, {"cat", ""})});
  std::vector<int64_t> got;
  for (int64_t k = 0; k < y.at(0).count(); ++k) got.push_back(load(y[0], k).i);
  EXPECT_THAT(got, ElementsAre(1, 0, 0, 0, 1, 0));
}

TEST(Text, SpellsNumbers) {
  const std::vector<std::string> spelt = {"3.14",        "-1e-5", "1E8",    "+INF",  "-Infinity",
                                          "NaN",         "0.1",   "",       "12x",   ".5",
                                          "information", "1e",    "1e-400", "1e400", std::string(63, '1')};
  const auto y = run(cast_text("string", "float", 1, 15), {texts({15}, spelt)});
  const std::vector<double> want = {3.14F, -1e-5F, 1e8F, INFINITY, -INFINITY, NAN,      0.1F,    NAN,
                                    NAN,   0.5F,   NAN,  NAN,      0,         INFINITY, INFINITY};
  for (int64_t k = 0; k < 15; ++k) {
    const double got = load(y.at(0), k).f;
    EXPECT_TRUE(got == want[k] || (std::isnan(got) && std::isnan(want[k]))) << spelt[k] << " is " << got;
  }
}

TEST(Text, SpellsIntegers) {
  const auto numbers = [](const char* type, int number, const std::vector<std::string>& spelt) {
    const auto count = std::ssize(spelt);
    const auto y = run(cast_text("string", type, number, count), {texts({count}, spelt)});
    std::vector<int64_t> got;
    for (int64_t k = 0; k < count; ++k) got.push_back(load(y.at(0), k).i);
    return got;
  };
  EXPECT_THAT(numbers("int64", 7,
                      {"-9223372036854775808", "9223372036854775807", "+7", "-2.9", "12x", "9.2e18",
                       "9007199254740993.0", "123e-1", "1e19", "-1e30", "0e99"}),
              ElementsAre(INT64_MIN, INT64_MAX, 7, -2, 0, 9200000000000000000, 9007199254740993, 12,
                          INT64_MAX, INT64_MIN, 0));
  EXPECT_THAT(numbers("uint64", 13, {"18446744073709551615", "1.8e19", "1e20", "-1"}),
              ElementsAre(-1, static_cast<int64_t>(18000000000000000000u), -1, 0));
  EXPECT_THAT(numbers("int8", 3, {"-128", "127"}), ElementsAre(-128, 127));
}

// Without the zero that ends it the text ends where its room does.
TEST(Text, NeedsNoZero) {
  Value x(Type::kString, {2});
  std::fill(x.bytes.begin(), x.bytes.begin() + kStringBytes, std::byte{'1'});
  const Graph graph = graph_of(cast_text("string", "double", 11, 2));
  std::vector<Emitted> batch;
  batch.push_back({compile_graph(graph, "t", {}), {x}});
  for (const CompilerRow& compiler : compilers()) {
    if (std::string_view(compiler.name).find("sanitized") == std::string_view::npos) continue;
    run_emitted(batch, compiler);
    ASSERT_EQ(batch[0].fault, "");
    EXPECT_GT(load(batch[0].outputs.at(0), 0).f, 1e63);
    EXPECT_TRUE(std::isnan(load(batch[0].outputs.at(0), 1).f));
  }
}

// Oracle: the standard library. Exact where the numbers that are worked with are.
TEST(Text, SpellsDoubles) {
  std::mt19937 random(1);
  std::vector<std::string> spelt;
  for (int k = 0; k < 5000; ++k)
    spelt.push_back(
        fmt::format("{}{}e{}", random() % 2 ? "-" : "", random(), static_cast<int>(random() % 45) - 22));
  const Value y = interpreted(cast_text("string", "double", 11, 5000), texts({5000}, spelt)).at(0);
  for (int64_t k = 0; k < 5000; ++k)
    EXPECT_EQ(load(y, k).f, std::strtod(spelt[k].c_str(), nullptr)) << spelt[k];
}

TEST(Text, OfNumbersIsAsNumpyWritesIt) {
  const std::vector<double> x = {0.1, 100000, 1e-5, 0.0001, 1e16, 123456789, -0.0, 1.5, INFINITY, -NAN};
  EXPECT_THAT(
      texts_of(run(cast_text("float", "string", 8, 10), {floats({10}, x)}).at(0)),
      ElementsAre("0.1", "100000.0", "1e-05", "0.0001", "1e+16", "123456790.0", "-0.0", "1.5", "inf", "nan"));
  EXPECT_THAT(texts_of(run(cast_text("int64", "string", 8, 3), {integers({3}, {INT64_MIN, 0, 12})}).at(0)),
              ElementsAre("-9223372036854775808", "0", "12"));
  Value bits(Type::kBool, {2});
  store(bits, 1, {.i = 1});
  EXPECT_THAT(texts_of(run(cast_text("bool", "string", 8, 2), {bits}).at(0)), ElementsAre("False", "True"));
}

// Oracle: the standard library's shortest digits that are read back as the same number.
TEST(Text, OfFloatsIsTheShortestThatReadsBack) {
  constexpr int64_t kCount = 20'000;
  std::mt19937 random(1);
  Value x(Type::kFloat32, {kCount});
  for (int64_t k = 0; k < kCount; ++k) {
    // Any bits; powers of two and of ten beside them, and the smallest numbers.
    float f;
    const auto bits = static_cast<uint32_t>(k % 4   ? random()
                                            : k % 8 ? random() & 0x7f800000u
                                                    : random() & 0xffffu);
    std::memcpy(&f, &bits, sizeof f);
    if (k % 100 == 2) f = std::ldexp(1.0F, static_cast<int>(k / 100 % 200) - 149);
    if (k % 100 == 1) f = std::pow(10.0F, static_cast<float>(k / 100 % 77 - 38));
    store(x, k, {.f = std::isnan(f) ? 1 : f});
  }
  const Value y = interpreted(cast_text("float", "string", 8, kCount), x).at(0);
  const Value back = interpreted(cast_text("string", "float", 1, kCount), y).at(0);
  for (int64_t k = 0; k < kCount; ++k) {
    const auto f = static_cast<float>(load(x, k).f);
    EXPECT_EQ(load(back, k).f, f) << text_of(load(y, k));
    char buffer[64];
    const auto digits = [](std::string_view text) {
      std::string all;
      for (const char c : text.substr(0, text.find('e')))
        if (c >= '0' && c <= '9' && (c != '0' || !all.empty())) all += c;
      return all.substr(0, all.find_last_not_of('0') + 1);
    };
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, f, std::chars_format::scientific).ptr;
    EXPECT_EQ(digits(text_of(load(y, k))), digits({buffer, static_cast<size_t>(end - buffer)})) << f;
  }
}

// Every half, each read back.
TEST(Text, OfEveryHalfReadsBack) {
  Value x(Type::kFloat16, {0x7c00});
  for (int64_t k = 0; k < x.count(); ++k) store(x, k, {.f = half_to_float(static_cast<uint16_t>(k))});
  const Value y = interpreted(cast_text("float16", "string", 8, 0x7c00), x).at(0);
  const Value back = interpreted(cast_text("string", "float16", 10, 0x7c00), y).at(0);
  EXPECT_EQ(back.bytes, x.bytes);
}

TEST(Text, IsJoined) {
  const auto y = run("(string[2] a, string[2, 1] b) => (string[2, 2] y) { y = StringConcat(a, b) }",
                     {texts({2}, {"ab", std::string(60, 'x')}), texts({2, 1}, {".com", ""})});
  EXPECT_THAT(texts_of(y.at(0)),
              ElementsAre("ab.com", std::string(60, 'x') + ".co", "ab", std::string(60, 'x')));
}

// The oracle: pieces cut off one at a time.
std::vector<std::string> pieces_of(std::string_view text, const std::string& delimiter, int64_t splits) {
  std::vector<std::string> pieces;
  const bool blanks = delimiter.empty();
  const auto trim = [&] {
    while (blanks && !text.empty() && text[0] == ' ') text.remove_prefix(1);
  };
  for (trim(); splits != 0; --splits) {
    const size_t end = text.find(blanks ? " " : delimiter);
    if (end == std::string_view::npos) break;
    pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(end + (blanks ? 1 : delimiter.size()));
    trim();
  }
  if (!blanks || !text.empty()) pieces.emplace_back(text);
  return pieces;
}

TEST(Text, IsSplit) {
  std::mt19937 random(1);
  for (const std::string delimiter : {"", ",", ", ", "--"})
    for (const int64_t splits : {-1, 0, 1, 3}) {
      constexpr int64_t kCount = 40;
      std::vector<std::string> x;
      for (int64_t k = 0; k < kCount; ++k) {
        x.emplace_back();
        const size_t length = k == 0 ? 0 : k == 1 ? 63 : random() % 20;
        while (x.back().size() < length) x.back() += " ,-ab"[random() % 5];
      }
      const std::string text = fmt::format(
          "(string[{0}] x) => (string y, int64[{0}] n) {{ y, n = StringSplit<delimiter = \"{1}\"{2}>(x) }}",
          kCount, delimiter, splits < 0 ? "" : fmt::format(", maxsplit = {}", splits));
      const Value input = texts({kCount}, x);
      const auto all = splits == 1 ? run(text, {input}) : interpreted(text, input);
      const auto y = texts_of(all.at(0));
      const auto width = static_cast<size_t>(all[0].shape[1]);
      size_t widest = 0;
      for (size_t k = 0; k < x.size(); ++k) {
        auto want = pieces_of(x[k], delimiter, splits);
        EXPECT_EQ(load(all.at(1), static_cast<int64_t>(k)).i, static_cast<int64_t>(want.size())) << x[k];
        widest = std::max(widest, want.size());
        want.resize(width);
        const std::vector<std::string> got(y.begin() + static_cast<std::ptrdiff_t>(k * width),
                                           y.begin() + static_cast<std::ptrdiff_t>((k + 1) * width));
        EXPECT_EQ(got, want) << "'" << x[k] << "' at '" << delimiter << "', at most " << splits;
      }
      EXPECT_EQ(width, widest);
    }
}

TEST(Text, LosesStopWords) {
  const auto y = [](const std::string& attributes, const std::string& shape, const Value& x) {
    return run(
        fmt::format("(string[{}] x) => (string y) {{ y = StringNormalizer<{}>(x) }}", shape, attributes),
        {x});
  };
  const Value week = texts({4}, {"Monday", "tuesday", "", "MONDAY"});
  EXPECT_THAT(texts_of(y(R"(stopwords = ["monday"], case_change_action = "UPPER")", "4", week).at(0)),
              ElementsAre("TUESDAY", ""));
  EXPECT_THAT(texts_of(y(R"(stopwords = ["Monday"], is_case_sensitive = 1)", "4", week).at(0)),
              ElementsAre("tuesday", "", "MONDAY"));
  const Value none = y(R"(stopwords = ["a"])", "1, 2", texts({1, 2}, {"A", "a"})).at(0);
  EXPECT_EQ(none.shape, (Shape{1, 1}));
  EXPECT_THAT(texts_of(none), ElementsAre(""));
  for (const char* shape : {"0", "1, 0"}) {
    const Shape extents = shape[1] ? Shape{1, 0} : Shape{0};
    EXPECT_THAT(texts_of(y(R"(case_change_action = "UPPER")", shape, texts(extents, {})).at(0)),
                ElementsAre(""));
  }
}

TEST(Text, IsALabel) {
  const std::string sides = R"(keys_strings = ["b", "a"], values_int64s = [5, 6], default_int64 = 9)";
  const auto y = run("(string[3] x) => (int64[3] y) { y = ai.onnx.ml.LabelEncoder<" + sides + ">(x) }",
                     {texts({3}, {"a", "c", "b"})});
  EXPECT_EQ(y.at(0).bytes, integers({3}, {6, 9, 5}).bytes);
  const std::string back = R"(keys_int64s = [5, 6], values_strings = ["b", "a"])";
  EXPECT_THAT(texts_of(run("(int64[2] x) => (string[2] y) { y = ai.onnx.ml.LabelEncoder<" + back + ">(x) }",
                           {integers({2}, {6, 7})})
                           .at(0)),
              ElementsAre("a", "_Unused"));
  EXPECT_THAT(texts_of(run(R"((int64[3] x) => (string[3] y) {
      y = ai.onnx.ml.CategoryMapper<cats_strings = ["cat", "dog"], cats_int64s = [3, 4], default_string = "?">(x) })",
                           {integers({3}, {4, 3, 0})})
                           .at(0)),
              ElementsAre("dog", "cat", "?"));
  EXPECT_EQ(
      run(R"((string[2] x) => (float[2, 2] y) { y = ai.onnx.ml.OneHotEncoder<cats_strings = ["n", "y"]>(x) })",
          {texts({2}, {"y", "z"})})
          .at(0)
          .bytes,
      floats({2, 2}, {0, 1, 0, 0}).bytes);
}

TEST(Text, IsAClass) {
  const auto y = run(R"((float[2, 1] x) => (string[2] y, float[2, 2] p) {
      y, p = ai.onnx.ml.LinearClassifier<classlabels_strings = ["no", "yes"], coefficients = [1.0, -1.0],
                                         intercepts = [0.0, 0.0]>(x) })",
                     {floats({2, 1}, {-1, 1})});
  EXPECT_THAT(texts_of(y.at(0)), ElementsAre("yes", "no"));
}

TEST(Text, IsCountedAsWords) {
  const auto y = run(R"((string[4] x) => (float[2] y) {
      y = TfIdfVectorizer<mode = "TF", min_gram_length = 1, max_gram_length = 2, max_skip_count = 0,
                          ngram_counts = [0, 1], ngram_indexes = [0, 1], pool_strings = ["the", "the", "cat"]>(x) })",
                     {texts({4}, {"the", "cat", "the", "dog"})});
  EXPECT_EQ(y.at(0).bytes, floats({2}, {2, 1}).bytes);
}

std::string refusal(const std::string& text) {
  try {
    graph_of(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Text, HasNoArithmetic) {
  EXPECT_THAT(refusal("(string[2] x) => (string[2] y) { y = Add(x, x) }"),
              HasSubstr("input 0 cannot be text"));
  EXPECT_THAT(refusal("(string[2] x, int64[1] s) => (string y) { y = Unique(x) }"), HasSubstr("string"));
  EXPECT_THAT(refusal(cast_text("double", "string", 8, 2)), HasSubstr("cast it to float32 first"));
  EXPECT_THAT(refusal(R"((int64[1] x) => (int64[1] y) {
      y = ai.onnx.ml.LabelEncoder<keys_int64s = [1], values_int64s = [3], default_tensor = string[1] {"a"}>(x) })"),
              HasSubstr("'default_tensor' is not of the values' type"));
  EXPECT_THAT(
      refusal("() => (string y) { s = Constant<value_int = 4>() y = HannWindow<output_datatype = 8>(s) }"),
      HasSubstr("output_datatype 8 is not supported"));
  EXPECT_THAT(refusal(cast_text("string", "bool", 9, 2)), HasSubstr("text does not become bool"));
}

TEST(Text, IsNotTooLong) {
  const std::string longest(63, 'x');
  EXPECT_EQ(refusal("() => (string y) { y = Constant<value_string = \"" + longest + "\">() }"), "accepted");
  EXPECT_THAT(refusal("() => (string y) { y = Constant<value_string = \"x" + longest + "\">() }"),
              HasSubstr("text of 64 bytes is too long: 63 fit"));
}

// Quotes, ends of comments, trigraphs and other alphabets, as constants and in formulas.
TEST(Text, MayHoldAnything) {
  const Value all = texts({5}, {"*/ \"quoted\" \\", "?\?/", "gr\xc3\xbc\xc3\x9f", ");", "12"});
  Graph graph = graph_of(R"((int64[5] i) => (string[5] y) {
      k = Constant<value_strings = ["a", "b", "c", "d", "e"]>()  y = Gather(k, i) })");
  for (Tensor& tensor : graph.tensors)
    if (tensor.constant && tensor.type == Type::kString) tensor.constant = std::make_shared<const Value>(all);
  expect_the_same(graph, {integers({5}, {0, 1, 2, 3, 4})}, compilers());
  const std::string sides =
      R"(keys_int64s = [5, 6], values_strings = ["(0", "a"], default_string = "i); [0")";
  EXPECT_THAT(texts_of(run("(int64[2] x) => (string[2] y) { y = ai.onnx.ml.LabelEncoder<" + sides + ">(x) }",
                           {integers({2}, {5, 7})})
                           .at(0)),
              ElementsAre("(0", "i); [0"));
}

}  // namespace
}  // namespace arenac
