#include "scheduler/pack_constants.h"

#include <algorithm>
#include <numeric>

namespace arenac {

std::optional<WalkedRows> walked_rows(const FlatNest& nest, const LoopPlan& plan, const Expr& read) {
  const int a = innermost_reduced(nest, plan.order), v = plan.vector_axis;
  const auto form = affine_form(read->args[0]);
  if (!form || form->coefficient(v) != 1) return std::nullopt;
  WalkedRows walked{{form->coefficient(a), nest.axes[a].extent}, {}};
  const int64_t row = walked.rows.row, block = row * walked.rows.rows;
  if (row <= 0) return std::nullopt;
  int64_t last = walked.column.constant = form->constant % block;
  for (const auto& [x, factor] : form->terms) {
    if (x == a || factor % block == 0) continue;
    if (x < 0 || factor < 0) return std::nullopt;
    walked.column.terms.emplace_back(x, factor);
    last += factor * (nest.axes[x].extent - 1);
  }
  return walked.column.constant >= 0 && last < row ? std::optional(walked) : std::nullopt;
}

namespace {

// The factor of the lanes of a nest that walks_bytes_of_lanes.
const Expr* lanes_factor(const FlatNest& nest, const LoopPlan& plan) {
  if (!is_along_sum_of_lanes(plan.bytes)) return nullptr;
  if (!walks_bytes_of_lanes(nest, plan, [](const Expr&) { return false; })) return nullptr;
  for (const Expr* read : reads_of(nest.body))
    if (names_axis(*read, plan.vector_axis)) return read;
  return nullptr;
}

}  // namespace

void pack_words(const std::vector<PlannedNest>& nests, const Graph& graph, const std::vector<bool>& called,
                std::vector<Layout>& layouts) {
  std::vector<bool> may(graph.tensors.size());  // have words
  for (const auto& [nest, node, plan] : nests)
    if (is_along_sum_of_lanes(plan->bytes))
      for (const TensorId id : node->reads) may[id] = graph.tensors[id].constant != nullptr;
  std::vector<std::optional<Words>> words(graph.tensors.size());
  for (size_t id = 0; id < words.size(); ++id)
    if (called[id]) words[id] = Words{};
  const auto agree = [&](TensorId id, const Words& wanted) {
    if (!words[id]) words[id] = wanted;
    if (*words[id] != wanted) words[id] = Words{};
  };
  for (const auto& [nest, node, plan] : nests) {
    if (std::ranges::none_of(node->reads, [&](TensorId id) { return may[id]; })) continue;
    const FlatNest flat = flat_nest(*nest, *node, layouts);
    const Expr* factor = lanes_factor(flat, *plan);
    std::vector<const Expr*> reads;
    for (const Expr* e : {&flat.body, &flat.finish, &flat.store})
      for (const Expr* read : reads_of(*e)) reads.push_back(read);
    for (const Bound& bound : flat.where)
      for (const Expr* read : reads_of(bound.index)) reads.push_back(read);
    for (const Expr* read : reads) {
      const TensorId id = node->reads[(*read)->index];
      if (!graph.tensors[id].constant) continue;
      const auto walked = read == factor ? walked_rows(flat, *plan, *read) : std::nullopt;
      const int64_t count = element_count(graph.tensors[id].shape);
      const bool whole = walked && count % (walked->rows.row * walked->rows.rows) == 0;
      agree(id, whole ? walked->rows : Words{});
    }
  }
  for (size_t id = 0; id < words.size(); ++id) layouts[id].words = words[id].value_or(Words{});
}

std::vector<TensorId> pack_constants(const Nests& nests, const Node& node, const std::vector<LoopPlan>& plans,
                                     const Graph& graph, std::vector<bool>& packed,
                                     std::vector<Layout>& layouts) {
  std::vector<TensorId> moved;
  for (size_t k = 0; k < nests.size(); ++k) {
    const LoopPlan& plan = plans[k];
    std::vector<int> depth(std::max(nests[k].axes.size(), plan.order.size()));
    for (size_t p = 0; p < plan.order.size(); ++p) depth[plan.order[p]] = static_cast<int>(p);
    if (plan.vector_axis >= 0 && (!is_along_sum(plan.bytes) || is_along_sum_of_lanes(plan.bytes)))
      depth[plan.vector_axis] = static_cast<int>(plan.order.size());
    auto reads = reads_of(nests[k].body);
    for (const Expr* read : reads_of(nests[k].finish)) reads.push_back(read);
    for (const Expr* read : reads) {
      const TensorId id = node.reads[(*read)->index];
      const Tensor& tensor = graph.tensors[id];
      if (!tensor.constant || packed[id]) continue;
      packed[id] = true;
      const size_t rank = tensor.shape.size();
      std::vector<int> order(rank), key(rank, -1);
      std::iota(order.begin(), order.end(), 0);
      bool plain = true;
      for (size_t d = 0; d < rank; ++d) {
        const auto form = affine_form((*read)->args[d]);
        plain &= form.has_value();
        if (form)
          for (const auto& [a, factor] : form->terms)
            if (a >= 0) key[d] = std::max(key[d], depth[a]);
      }
      if (!plain) continue;
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key[a] < key[b]; });
      const std::vector<int64_t> before = layouts[id].strides;
      int64_t next = 1;
      for (size_t p = rank; p-- > 0; next *= tensor.shape[order[p]]) layouts[id].strides[order[p]] = next;
      if (layouts[id].strides != before) moved.push_back(id);
    }
  }
  return moved;
}

}  // namespace arenac
