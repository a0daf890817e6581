// Operators on text, and on documents as sequences of words (text or numbers).
#include <fmt/format.h>

#include <algorithm>

#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

constexpr int64_t kLargestPool = 1 << 24, kLongestGram = 64;

// The n-grams of one length, and the output column that counts each.
struct Grams {
  int64_t length;
  Value words;  // [columns.size(), length]
  std::vector<int64_t> columns;
};

// The words of all n-grams.
Value pool_of(const Lowering& node, Type type) {
  const bool is_text = type == Type::kString;
  const Attribute& given = node.attribute(is_text ? "pool_strings" : "pool_int64s");
  Value pool = is_text ? node.listed(given.strings) : node.listed(given.ints);
  node.require(pool.count() <= kLargestPool, "the pool is too large");
  return pool;
}

// What the attributes pool_int64s (or pool_strings), ngram_counts and ngram_indexes say together.
std::vector<Grams> parse_pool(const Lowering& node, const Value& pool) {
  const auto begins = node.attribute("ngram_counts").ints, columns = node.attribute("ngram_indexes").ints;
  for (const int64_t column : columns)
    node.require(column >= 0 && column < kLargestPool, fmt::format("'ngram_indexes' has {}", column));
  std::vector<Grams> all;
  size_t used = 0;
  for (size_t k = 0; k < begins.size(); ++k) {
    const int64_t length = static_cast<int64_t>(k) + 1, begin = begins[k],
                  end = k + 1 < begins.size() ? begins[k + 1] : pool.count();
    node.require(begin >= 0 && begin <= end && end <= pool.count() && (end - begin) % length == 0,
                 fmt::format("'ngram_counts' does not divide the pool into {}-grams", length));
    const auto count = static_cast<size_t>((end - begin) / length);
    node.require(count == 0 || length <= kLongestGram, fmt::format("{}-grams are too long", length));
    node.require(used + count <= columns.size(), "'ngram_indexes' has too few numbers");
    const auto first = columns.begin() + static_cast<std::ptrdiff_t>(used);
    Value words = node.table(pool.type, {static_cast<int64_t>(count), length});
    for (int64_t w = begin; w < end; ++w) store(words, w - begin, load(pool, w));
    all.push_back({length, std::move(words), {first, first + static_cast<std::ptrdiff_t>(count)}});
    used += count;
  }
  node.require(used == columns.size(), "'ngram_indexes' has too many numbers");
  return all;
}

// How often each n-gram occurs, its words `skip` + 1 apart: [rows, columns]. A word alone has no distance.
TensorId counts(Lowering& node, TensorId x, const std::vector<Grams>& pool, int64_t columns) {
  const bool vector = node.rank(x) == 1;
  const int64_t words = node.shape(x).back(), skips = node.attribute("max_skip_count").i,
                least = node.attribute("min_gram_length").i, most = node.attribute("max_gram_length").i;
  node.require(skips >= 0 && skips <= kLargestPool,
               fmt::format("'max_skip_count' = {} makes no sense", skips));
  Formula f(node);
  const int64_t rows = vector ? 1 : node.shape(x)[0];
  f.axes({rows, columns});
  f.body(constant(Type::kFloat32, 0));
  for (const Grams& grams : pool) {
    if (grams.length < least || grams.length > most || grams.columns.empty()) continue;
    const int64_t distances = grams.length == 1 ? 1 : std::min(skips + 1, std::max<int64_t>(words, 1));
    const TensorId column = node.constant_ints(grams.columns), gram = node.constant(grams.words);
    f.next_nest();
    const Expr r = f.axis(rows), g = f.axis(static_cast<int64_t>(grams.columns.size()));
    const Expr s = f.axis(distances), p = f.axis(words);
    Expr found = constant(Type::kBool, 1);
    for (int64_t k = 0; k < grams.length; ++k) {
      const Expr at = p + (s + 1) * integer(k);
      if (k > 0) f.where(at, 0, words);
      const Expr word = f.read(x, vector ? std::vector{at} : std::vector{r, at});
      const Expr same_word = cast(grams.words.type, word) == f.read(gram, {g, integer(k)});
      found = k == 0 ? same_word : found && same_word;
    }
    f.store({r, max(min(f.read(column, {g}), static_cast<double>(columns - 1)), 0)});
    f.accumulate(Combine::kSum, cast(Type::kFloat32, found));
  }
  return f.emit(Type::kFloat32, {rows, columns});
}

// Each n-gram's weight at its column; one without the attribute.
TensorId column_weights(Lowering& node, const std::vector<Grams>& pool, int64_t columns) {
  const auto weights = node.floats_attr("weights");
  Value table = node.table(Type::kFloat32, {columns});
  size_t k = 0;
  for (const Grams& grams : pool)
    for (const int64_t column : grams.columns) {
      node.require(weights.empty() || k < weights.size(), "'weights' has too few numbers");
      store(table, column, {.f = weights.empty() ? 1 : weights[k]});
      ++k;
    }
  return node.constant(std::move(table));
}

void tf_idf_vectorizer(Lowering& node) {
  const TensorId x = node.in(0);
  node.require((node.rank(x) == 1 || node.rank(x) == 2) && !is_float(node.type(x)),
               "the words should be one or more rows of integers or text");
  const std::string mode = node.attribute("mode").s;
  node.require(mode == "TF" || mode == "IDF" || mode == "TFIDF", fmt::format("unknown mode '{}'", mode));
  const std::vector<Grams> pool = parse_pool(node, pool_of(node, node.type(x)));
  int64_t columns = 0;
  for (const Grams& grams : pool)
    for (const int64_t column : grams.columns) columns = std::max(columns, column + 1);
  const TensorId table = counts(node, x, pool, columns), weights = column_weights(node, pool, columns);
  const auto formula = [&](const Expr& count, const Expr& weight) {
    if (mode == "TF") return count;
    return mode == "TFIDF" ? count * weight : select(count > 0, weight, constant(count->type, 0));
  };
  const TensorId y = pointwise(node, Type::kFloat32, formula, table, weights);
  node.out(0, node.rank(x) == 2 ? y : node.apply("Reshape", {y, node.constant_ints({columns})}));
}

// ---- text

// x with its letters as capitals or small ones.
TensorId in_case(Lowering& node, TensorId x, bool capitals) {
  return node.call("text_case", Type::kString, {x}, {element_count(node.shape(x)), kStringBytes, capitals},
                   {{Type::kString, node.shape(x)}})[0];
}

// Which elements of the vector x are none of the words.
TensorId is_none_of(Lowering& node, TensorId x, TensorId words) {
  Formula f(node);
  const Expr i = f.axis(node.shape(x)[0]), w = f.reduced(node.shape(words)[0]);
  f.reduce(Combine::kMin, cast(Type::kInt32, !(f.read(x, {i}) == f.read(words, {w}))));
  f.finish(f.acc() > 0);
  return f.emit(Type::kBool);
}

// The elements without the stop words, an empty text where none is left.
void string_normalizer(Lowering& node) {
  const TensorId x = node.in(0);
  const Shape shape = node.shape(x);
  const std::string action = node.string_attr("case_change_action", "NONE");
  node.require(node.type(x) == Type::kString, "the input should be text");
  node.require(shape.size() == 1 || (shape.size() == 2 && shape[0] == 1), "the input should be [C] or [1,C]");
  node.require(action == "NONE" || action == "LOWER" || action == "UPPER",
               fmt::format("unknown 'case_change_action' {}", action));
  const int64_t count = shape.back(), room = std::max<int64_t>(count, 1);
  Attribute as_it_is;  // 0 is an extent
  as_it_is.i = 1;
  const TensorId row = node.apply("Reshape", {x, node.constant_ints({count})}, {{"allowzero", as_it_is}});
  const bool folds = node.int_attr("is_case_sensitive", 0) == 0;
  TensorId stops = node.constant(
      node.listed(node.has("stopwords") ? node.attribute("stopwords").strings : std::vector<std::string>{}));
  if (folds) stops = in_case(node, stops, false);
  const TensorId kept = is_none_of(node, folds ? in_case(node, row, false) : row, stops);
  const auto found =
      node.call("nonzero", Type::kBool, {kept}, {1, count}, {{Type::kInt64, {1, count}}, {Type::kInt64, {}}});
  Formula f(node);
  const Expr i = f.axis(room), empty = constant(Type::kString, string_scalar(""));
  if (count == 0) {
    f.body(empty);
  } else {
    const Expr from = max(min(f.read(found[0], {integer(0), i}), static_cast<double>(count - 1)), 0);
    f.body(select(i < f.read(found[1], {}), f.read(row, {from}), empty));
  }
  TensorId y = f.emit(Type::kString);
  if (action != "NONE") y = in_case(node, y, action == "UPPER");
  if (shape.size() == 2) y = node.apply("Reshape", {y, node.constant_ints({1, room})});
  const TensorId left = pointwise(
      node, Type::kInt64, [](const Expr& n) { return max(n, 1); }, found[1]);
  put_bounded(node, 0, y, {static_cast<int64_t>(shape.size()) - 1, left});
}

void string_concat(Lowering& node) {
  const TensorId a = node.in(0), b = node.in(1);
  node.require(node.type(a) == Type::kString && node.type(b) == Type::kString, "the inputs should be text");
  const Shape shape = broadcast_shape(node, {node.shape(a), node.shape(b)});
  const auto whole = [&](TensorId x) { return node.apply("Expand", {x, node.constant_ints(shape)}); };
  node.out(0, node.call("text_concat", Type::kString, {whole(a), whole(b)},
                        {element_count(shape), kStringBytes}, {{Type::kString, shape}})[0]);
}

// Into as many pieces as a text can have.
void string_split(Lowering& node) {
  const TensorId x = node.in(0);
  node.require(node.type(x) == Type::kString, "the input should be text");
  const std::string delimiter = node.string_attr("delimiter", "");
  const int64_t letters = kStringBytes - 1, length = static_cast<int64_t>(delimiter.size());
  int64_t pieces = length == 0 ? (letters + 1) / 2 : letters / length + 1;
  const int64_t splits = node.int_attr("maxsplit", -1);
  if (splits >= 0 && splits < pieces) pieces = splits + 1;
  Shape shape = node.shape(x);
  const auto rank = static_cast<int64_t>(shape.size());
  shape.push_back(pieces);
  const auto parts =
      node.call("text_split", Type::kString, {x, node.constant(node.listed(std::vector{delimiter}))},
                {element_count(node.shape(x)), kStringBytes, pieces},
                {{Type::kString, shape}, {Type::kInt64, node.shape(x)}, {Type::kInt64, {}}});
  put_bounded(node, 0, parts[0], {rank, parts[2]});
  node.out(1, parts[1]);
}

}  // namespace

std::span<const OperatorRow> text_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "StringConcat", 20, string_concat, 1000, "kernel", "string"},
      {"", "StringNormalizer", 10, string_normalizer, 1000, "kernel"},
      {"", "StringSplit", 20, string_split, 1000, "kernel", "string"},
      {"", "TfIdfVectorizer", 9, tf_idf_vectorizer},
  };
  return kRows;
}

}  // namespace arenac
