// Matrix products.
#include <fmt/format.h>

#include "frontend/ops.h"

namespace arenac {
namespace {

// y[m,n] = alpha * sum(k) a[m,k] * b[k,n] + beta * c[m,n], either matrix transposed on request.
void gemm(Lowering& node) {
  const TensorId a = node.in(0), b = node.in(1);
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
    const Expr c = f.broadcast(node.in(2), {m, n});
    y = y + (beta == 1 ? c : c * beta);
  }
  f.finish(y);
  node.out(0, f.emit(node.type(a)));
}

constexpr OperatorRow kRows[] = {
    {"", "Gemm", 7, gemm},
};

}  // namespace

std::span<const OperatorRow> matmul_operators() { return kRows; }

}  // namespace arenac
