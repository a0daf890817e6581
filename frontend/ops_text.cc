// Documents as sequences of numbered words.
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
  std::vector<int64_t> words;  // [columns.size(), length]
  std::vector<int64_t> columns;
};

// What the attributes pool_int64s, ngram_counts and ngram_indexes say together.
std::vector<Grams> parse_pool(const Lowering& node) {
  node.require(!node.has("pool_strings"), "words that are strings are not supported");
  const auto pool = node.attribute("pool_int64s").ints, begins = node.attribute("ngram_counts").ints,
             columns = node.attribute("ngram_indexes").ints;
  node.require(static_cast<int64_t>(pool.size()) <= kLargestPool, "the pool is too large");
  for (const int64_t column : columns)
    node.require(column >= 0 && column < kLargestPool, fmt::format("'ngram_indexes' has {}", column));
  std::vector<Grams> all;
  size_t used = 0;
  for (size_t k = 0; k < begins.size(); ++k) {
    const int64_t length = static_cast<int64_t>(k) + 1, begin = begins[k],
                  end = k + 1 < begins.size() ? begins[k + 1] : static_cast<int64_t>(pool.size());
    node.require(
        begin >= 0 && begin <= end && end <= static_cast<int64_t>(pool.size()) && (end - begin) % length == 0,
        fmt::format("'ngram_counts' does not divide the pool into {}-grams", length));
    const auto count = static_cast<size_t>((end - begin) / length);
    node.require(count == 0 || length <= kLongestGram, fmt::format("{}-grams are too long", length));
    node.require(used + count <= columns.size(), "'ngram_indexes' has too few numbers");
    const auto first = columns.begin() + static_cast<std::ptrdiff_t>(used);
    all.push_back({length, {pool.begin() + begin, pool.begin() + end}, {first, first + count}});
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
    Value table(Type::kInt64, {static_cast<int64_t>(grams.columns.size()), grams.length});
    for (int64_t k = 0; k < table.count(); ++k) store(table, k, {.i = grams.words[k]});
    const int64_t distances = grams.length == 1 ? 1 : std::min(skips + 1, std::max<int64_t>(words, 1));
    const TensorId column = node.constant_ints(grams.columns), gram = node.constant(std::move(table));
    f.next_nest();
    const Expr r = f.axis(rows), g = f.axis(static_cast<int64_t>(grams.columns.size()));
    const Expr s = f.axis(distances), p = f.axis(words);
    Expr found = constant(Type::kBool, 1);
    for (int64_t k = 0; k < grams.length; ++k) {
      const Expr at = p + (s + 1) * integer(k);
      if (k > 0) f.where(at, 0, words);
      const Expr word = f.read(x, vector ? std::vector{at} : std::vector{r, at});
      found = k == 0 ? cast(Type::kInt64, word) == f.read(gram, {g, integer(0)})
                     : found && cast(Type::kInt64, word) == f.read(gram, {g, integer(k)});
    }
    f.store({r, max(min(f.read(column, {g}), static_cast<double>(columns - 1)), 0)});
    f.accumulate(Combine::kSum, cast(Type::kFloat32, found));
  }
  return f.emit(Type::kFloat32, {rows, columns});
}

// Each n-gram's weight at its column; one without the attribute.
TensorId column_weights(Lowering& node, const std::vector<Grams>& pool, int64_t columns) {
  const auto weights = node.has("weights") ? node.attribute("weights").floats : std::vector<float>{};
  Value table(Type::kFloat32, {columns});
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
               "the words should be one or more rows of integers");
  const std::string mode = node.attribute("mode").s;
  node.require(mode == "TF" || mode == "IDF" || mode == "TFIDF", fmt::format("unknown mode '{}'", mode));
  const std::vector<Grams> pool = parse_pool(node);
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

}  // namespace

std::span<const OperatorRow> text_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "TfIdfVectorizer", 9, tf_idf_vectorizer},
  };
  return kRows;
}

}  // namespace arenac
