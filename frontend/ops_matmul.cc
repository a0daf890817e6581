// Matrix products and tensor contractions.
//
//   MatMul     y[b...,m,n] = sum(k) a[b...,m,k] * b[b...,k,n]
//   Einsum     one axis a letter; letters that the output lacks are summed over
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/activation.h"
#include "frontend/ops.h"

namespace arenac {
namespace {

// y[m,n] = alpha * sum(k) a[m,k] * b[k,n] + beta * c[m,n], either matrix transposed on request.
// com.microsoft.FusedGemm applies an activation.
void gemm(Lowering& node) {
  const TensorId a = node.in(0), b = node.in(1);
  node.require(node.type(a) == node.type(b), "the operands' types differ");
  node.require(node.rank(a) == 2 && node.rank(b) == 2, "Gemm multiplies matrices");
  const int64_t ta = node.int_attr("transA", 0) != 0, tb = node.int_attr("transB", 0) != 0;
  const int64_t rows = node.shape(a)[ta], inner = node.shape(a)[1 - ta], columns = node.shape(b)[1 - tb];
  node.require(node.shape(b)[tb] == inner, "the inner extents differ");
  Formula f(node);
  const Expr m = f.axis(rows), n = f.axis(columns), k = f.reduced(inner);
  f.sum((ta ? f.read(a, {k, m}) : f.read(a, {m, k})) * (tb ? f.read(b, {n, k}) : f.read(b, {k, n})));
  Expr y = f.acc();
  const float alpha = node.float_attr("alpha", 1), beta = node.float_attr("beta", 1);
  if (alpha != 1) y = y * alpha;
  if (node.has_input(2) && beta != 0) {
    const TensorId c = node.in(2);
    node.require(node.type(c) == node.type(a) &&
                     broadcast_shape(node, {{rows, columns}, node.shape(c)}) == Shape{rows, columns},
                 "the addend does not fit the output");
    const Expr addend = f.broadcast(c, {m, n});
    y = y + (beta == 1 ? addend : addend * beta);
  }
  if (node.has("activation"))
    y = activation(node, node.attribute("activation").s, node.float_attr("activation_alpha", 0.01f),
                   node.float_attr("activation_beta", 0))(y);
  if (y->op != Op::kAcc) f.finish(y);
  node.out(0, f.emit(node.type(a)));
}

// com.microsoft.FusedMatMul transposes the last two dimensions, has the batch behind the first, and scales by
// alpha.
void matmul(Lowering& node) {
  const TensorId a = node.in(0), b = node.in(1);
  Shape sa = node.shape(a), sb = node.shape(b);
  node.require(node.type(a) == node.type(b), "the operands' types differ");
  node.require(!sa.empty() && !sb.empty(), "a scalar is no matrix");
  const bool batch_behind_a = node.int_attr("transBatchA", 0) && sa.size() > 2;
  const bool batch_behind_b = node.int_attr("transBatchB", 0) && sb.size() > 2;
  if (batch_behind_a) std::rotate(sa.begin(), sa.begin() + 1, sa.end() - 1);
  if (batch_behind_b) std::rotate(sb.begin(), sb.begin() + 1, sb.end() - 1);
  const bool row = sa.size() == 1, column = sb.size() == 1;  // vectors
  const bool ta = node.int_attr("transA", 0) && !row, tb = node.int_attr("transB", 0) && !column;
  if (row) sa.insert(sa.begin(), 1);
  if (column) sb.push_back(1);
  if (ta) std::swap(sa.end()[-1], sa.end()[-2]);
  if (tb) std::swap(sb.end()[-1], sb.end()[-2]);
  node.require(sa.back() == sb.end()[-2], "the inner extents differ");
  const Shape batch_a(sa.begin(), sa.end() - 2), batch_b(sb.begin(), sb.end() - 2);

  Formula f(node);
  const std::vector<Expr> batch = f.axes(broadcast_shape(node, {batch_a, batch_b}));
  const auto batch_indices = [&](const Shape& own) {
    std::vector<Expr> indices;
    for (size_t d = 0; d < own.size(); ++d)
      indices.push_back(own[d] == 1 ? integer(0) : batch[batch.size() - own.size() + d]);
    return indices;
  };
  std::vector<Expr> ia = batch_indices(batch_a), ib = batch_indices(batch_b);
  const Expr m = row ? integer(0) : f.axis(sa.end()[-2]), n = column ? integer(0) : f.axis(sb.back());
  const Expr k = f.reduced(sa.back());
  if (!row) ia.push_back(m);
  ia.push_back(k);
  ib.push_back(k);
  if (!column) ib.push_back(n);
  if (ta) std::swap(ia.end()[-1], ia.end()[-2]);
  if (tb) std::swap(ib.end()[-1], ib.end()[-2]);
  if (batch_behind_a) std::rotate(ia.begin(), ia.end() - 2, ia.end() - 1);
  if (batch_behind_b) std::rotate(ib.begin(), ib.end() - 2, ib.end() - 1);
  f.sum(f.read(a, ia) * f.read(b, ib));
  if (const float alpha = node.float_attr("alpha", 1); alpha != 1) f.finish(f.acc() * alpha);
  node.out(0, f.emit(node.type(a)));
}

// Einsum. Labels are letters; the dimensions of an ellipsis are the labels 0, 1, ... counted from the right,
// so that they broadcast.
using Labels = std::vector<int>;

Labels parse_term(const Lowering& node, const std::string& term, int ellipsis_rank) {
  Labels labels;
  bool seen = false;
  for (size_t k = 0; k < term.size(); ++k) {
    if (term[k] == ' ') continue;
    if (std::isalpha(static_cast<unsigned char>(term[k]))) {
      labels.push_back(term[k]);
      continue;
    }
    node.require(term.compare(k, 3, "...") == 0 && !seen,
                 fmt::format("the term '{}' of the equation is malformed", term));
    for (int d = ellipsis_rank; d-- > 0;) labels.push_back(d);
    seen = true;
    k += 2;
  }
  return labels;
}

int count_letters(const std::string& term) {
  return static_cast<int>(std::count_if(term.begin(), term.end(),
                                        [](char c) { return std::isalpha(static_cast<unsigned char>(c)); }));
}

struct Operand {
  TensorId id;
  Labels labels;
};

// The product of the operands, summed over every label that `out` lacks.
TensorId contract(Lowering& node, const std::vector<Operand>& operands, const Labels& out, Type type) {
  std::map<int, int64_t> extents;
  for (const Operand& o : operands) {
    node.require(node.rank(o.id) == static_cast<int>(o.labels.size()),
                 fmt::format("a term of the equation does not fit an operand of rank {}", node.rank(o.id)));
    for (size_t d = 0; d < o.labels.size(); ++d) {
      int64_t& extent = extents.emplace(o.labels[d], 1).first->second;
      const int64_t here = node.shape(o.id)[d];
      node.require(extent == 1 || here == 1 || here == extent, "extents of one letter differ");
      if (extent == 1) extent = here;
    }
  }
  Formula f(node);
  std::map<int, Expr> axes;
  for (int label : out) {
    node.require(extents.contains(label) && !axes.contains(label), "the output term is malformed");
    axes[label] = f.axis(extents[label]);
  }
  bool reduces = false;
  for (const auto& [label, extent] : extents)
    if (!axes.contains(label)) {
      axes[label] = f.reduced(extent);
      reduces = true;
    }
  Expr product;
  for (const Operand& o : operands) {
    std::vector<Expr> indices;
    for (size_t d = 0; d < o.labels.size(); ++d)
      indices.push_back(node.shape(o.id)[d] == 1 ? integer(0) : axes[o.labels[d]]);
    const Expr value = f.read(o.id, indices);
    product = product.empty() ? value : product * value;
  }
  if (reduces)
    f.sum(product);
  else
    f.body(product);
  return f.emit(type);
}

// Operands are contracted pair by pair, from the left; a label is summed as soon as nothing later needs it.
void einsum(Lowering& node) {
  std::string equation = node.attribute("equation").s;
  std::erase(equation, ' ');
  const size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  std::vector<std::string> terms(1);
  for (char c : left) {
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  }
  node.require(static_cast<int>(terms.size()) == node.input_count(),
               fmt::format("equation '{}' does not fit {} operands", equation, node.input_count()));
  std::vector<Operand> operands;
  int ellipsis_rank = 0;
  for (size_t k = 0; k < terms.size(); ++k) {
    const TensorId id = node.in(static_cast<int>(k));
    node.require(node.type(id) == node.type(node.in(0)), "the operands' types differ");
    const int rest = std::max(node.rank(id) - count_letters(terms[k]), 0);
    operands.push_back({id, parse_term(node, terms[k], rest)});
    if (terms[k].find('.') != std::string::npos) ellipsis_rank = std::max(ellipsis_rank, rest);
  }
  Labels out;
  if (arrow != std::string::npos) {
    out = parse_term(node, equation.substr(arrow + 2), ellipsis_rank);
  } else {  // the ellipsis, then every letter that occurs once, in alphabetical order
    std::map<int, int> occurrences;
    for (const Operand& o : operands)
      for (int label : o.labels)
        if (label >= 'A') ++occurrences[label];
    for (int d = ellipsis_rank; d-- > 0;) out.push_back(d);
    for (const auto& [label, count] : occurrences)
      if (count == 1) out.push_back(label);
  }
  const Type type = node.type(operands[0].id);
  while (operands.size() > 2) {
    Labels kept;
    for (size_t k = 0; k < 2; ++k)
      for (int label : operands[k].labels) {
        bool needed = std::find(out.begin(), out.end(), label) != out.end();
        for (size_t later = 2; later < operands.size(); ++later)
          needed |= std::count(operands[later].labels.begin(), operands[later].labels.end(), label) > 0;
        if (needed && std::find(kept.begin(), kept.end(), label) == kept.end()) kept.push_back(label);
      }
    const TensorId pair = contract(node, {operands[0], operands[1]}, kept, compute_type(type));
    operands.erase(operands.begin());
    operands[0] = {pair, kept};
  }
  node.out(0, contract(node, operands, out, type));
}

}  // namespace

std::span<const OperatorRow> matmul_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "Einsum", 12, einsum},
      {"", "Gemm", 1, gemm},
      {"", "MatMul", 1, matmul},
      {"com.microsoft", "FusedGemm", 1, gemm},
      {"com.microsoft", "FusedMatMul", 1, matmul},
      {"com.microsoft", "TransposeMatMul", 1, matmul},
  };
  return kRows;
}

}  // namespace arenac
