#include "frontend/narrow_constants.h"

#include <algorithm>
#include <optional>
#include <set>

#include "frontend/facts.h"
#include "frontend/merge.h"

namespace arenac {
namespace {

constexpr int64_t kLastCache = 32;     // times the second level of a processor that has one
constexpr int64_t kFewestBytes = 256;  // saved: fewer are not worth what each read computes

bool is_plain_index(const Expr& e) { return e->op == Op::kAxis || e->op == Op::kConst; }

// The same with integers of less than 32 bits converted to floats in two steps, which compilers vectorise.
Expr in_two_steps(const Expr& e) {
  return substitute(e, [](const Expr& x) -> Expr {
    const bool at_once = x->op == Op::kCast && is_float(x->type) && is_integer(x->args[0]->type) &&
                         size_of(x->args[0]->type) < size_of(Type::kInt32);
    return at_once ? cast(x->type, cast(Type::kInt32, in_two_steps(x->args[0]))) : Expr();
  });
}

// Whether no element costs more than a few operations that every processor has.
bool is_cheap(const Expr& e) {
  if (e->op == Op::kRead) return true;  // indices are the loops' business
  const bool itself = e->op == Op::kConst || e->op == Op::kCast || e->op == Op::kAdd || e->op == Op::kSub ||
                      e->op == Op::kMul;
  return itself && std::all_of(e->args.begin(), e->args.end(), is_cheap);
}

bool reads_odd_float(const Expr& e) {
  return any_of(e, [](const Expr& x) {
    const bool converts = x->op == Op::kCast && x->args[0]->op == Op::kRead;
    return converts && is_float(x->args[0]->type) && x->args[0]->type != Type::kBFloat16 &&
           size_of(x->args[0]->type) < size_of(Type::kFloat32);
  });
}

class ConstantNarrower {
 public:
  ConstantNarrower(Graph graph, ConstantWidths widths) : graph_(std::move(graph)), widths_(widths) {}

  Graph run() {
    find_reads();
    forms_.resize(graph_.tensors.size());
    if (takes_all() || widths_.cache == 0 || streamed_bytes() > kLastCache * widths_.cache)
      for (size_t id = 0; id < forms_.size(); ++id)
        if (may_be_narrow(static_cast<TensorId>(id))) forms_[id] = narrow_form(static_cast<TensorId>(id));
    visit_nests(graph_.block, [&](Node& node, Nests&) { rewrite(node); });
    return std::move(graph_);
  }

 private:
  bool takes_all() const { return widths_.width == ConstantWidth::kNarrow; }

  void find_reads() {
    reads_.resize(graph_.tensors.size());
    for (const Node& top : graph_.block)
      visit_nodes(top, [&](const Node& node) {
        const Nests* nests = std::get_if<Nests>(&node.body);
        for (TensorId id : tensors_read(node)) reads_[id].by_others |= !nests;
        if (nests)
          for (const Nest& nest : *nests) note_reads(nest, node);
      });
    for (TensorId id : graph_.outputs) reads_[id].by_others = true;
  }

  void note_reads(const Nest& nest, const Node& node) {
    Shape extents;
    for (const Axis& a : nest.axes) extents.push_back(a.extent);
    const int64_t points = element_count(extents);
    visit_reads(nest, [&](const Expr& e) {
      Reads& reads = reads_[node.reads[e->index]];
      reads.most_points = std::max(reads.most_points, points);
    });
  }

  // Whether it may be read as something narrower, should that be worth it.
  bool may_be_narrow(TensorId id) const {
    const Tensor& wide = graph_.tensors[id];
    const auto& [most_points, by_others] = reads_[id];
    if (!wide.constant || !wide.folded_from || most_points == 0 || by_others) return false;
    const Expr& element = std::get<Nests>(wide.folded_from->body).front().body;
    const bool is_taken_once = most_points <= element_count(wide.shape);
    return is_cheap(element) &&
           (takes_all() || (!reads_odd_float(element) && (widths_.cache == 0 || is_taken_once)));
  }

  int64_t streamed_bytes() const {
    int64_t bytes = 0;
    for (size_t id = 0; id < reads_.size(); ++id)
      if (may_be_narrow(static_cast<TensorId>(id))) bytes += bytes_of(graph_.tensors[id]);
    return bytes;
  }

  // The node that makes the constant of narrower ones, where that saves enough.
  std::optional<Node> narrow_form(TensorId id) {
    const Tensor wide = graph_.tensors[id];
    const size_t known = graph_.tensors.size();
    Node form = *wide.folded_from;
    Operands operands;
    const Expr element = element_of(form, wide.shape, dimensions_of(wide.shape), operands);
    form.reads = std::move(operands.ids);
    Nest nest = copy_nest(element->type, wide.shape);
    nest.body = in_two_steps(in_its_order(element, wide.shape, form));
    form.body = Nests{std::move(nest)};
    form = with_used_operands(std::move(form));
    int64_t saved = bytes_of(wide);
    for (TensorId narrow : form.reads)
      if (is_new(narrow)) saved -= bytes_of(graph_.tensors[narrow]);
    if (saved < kFewestBytes) return graph_.tensors.resize(known), std::nullopt;
    kept_.insert(form.reads.begin(), form.reads.end());
    return form;
  }

  // Whether nothing reads the constant yet.
  bool is_new(TensorId id) const {
    const bool is_read =
        static_cast<size_t>(id) < reads_.size() && (reads_[id].most_points > 0 || reads_[id].by_others);
    return !is_read && !kept_.contains(id);
  }

  static std::vector<Expr> dimensions_of(const Shape& shape) {
    std::vector<Expr> all;
    for (size_t d = 0; d < shape.size(); ++d) all.push_back(axis(static_cast<int>(d)));
    return all;
  }

  // The element with reads of narrow constants that lie as the wide one does: of one that is reshaped, or
  // chosen from, a copy.
  Expr in_its_order(const Expr& element, const Shape& shape, Node& form) {
    return substitute(element, [&](const Expr& x) -> Expr {
      if (x->op != Op::kRead) return {};
      const TensorId from = form.reads[x->index];
      if (element_count(graph_.tensors[from].shape) < element_count(shape) ||
          std::ranges::all_of(x->args, is_plain_index))
        return x;
      auto copy = std::make_shared<const Value>(fixed_value(shape, x, {form.reads}, graph_));
      form.reads.push_back(static_cast<TensorId>(graph_.tensors.size()));
      graph_.tensors.push_back({graph_.tensors[from].name, x->type, shape, std::move(copy)});
      return read(static_cast<int>(form.reads.size()) - 1, x->type, dimensions_of(shape));
    });
  }

  void rewrite(Node& node) {
    const auto is_narrow = [&](TensorId id) { return forms_[id].has_value(); };
    if (std::ranges::none_of(node.reads, is_narrow)) return;
    Operands operands{node.reads};
    const auto narrowed = [&](const auto& self, const Expr& e) -> Expr {
      return substitute(e, [&](const Expr& x) -> Expr {
        if (x->op != Op::kRead) return {};
        const TensorId id = node.reads[x->index];
        std::vector<Expr> indices;
        for (const Expr& index : x->args) indices.push_back(self(self, index));
        if (!forms_[id]) return read(x->index, x->type, std::move(indices));
        return element_of(*forms_[id], graph_.tensors[id].shape, indices, operands);
      });
    };
    for (Nest& nest : std::get<Nests>(node.body))
      visit_expressions(nest, [&](Expr& e) { e = narrowed(narrowed, e); });
    node.reads = std::move(operands.ids);
    node = with_used_operands(std::move(node));
  }

  // Of a tensor: the points of the largest nest that reads it; whether others than nests do.
  struct Reads {
    int64_t most_points = 0;
    bool by_others = false;
  };

  Graph graph_;
  ConstantWidths widths_;
  std::vector<Reads> reads_;
  std::set<TensorId> kept_;                 // narrow constants that are read from now on
  std::vector<std::optional<Node>> forms_;  // per tensor; none: it is read as it is
};

}  // namespace

Graph with_narrow_constants(Graph graph, ConstantWidths widths) {
  if (widths.width == ConstantWidth::kWide) return graph;
  return ConstantNarrower(std::move(graph), widths).run();
}

}  // namespace arenac
