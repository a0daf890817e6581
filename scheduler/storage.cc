#include "scheduler/storage.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "frontend/error.h"
#include "scheduler/liveness.h"
#include "scheduler/products.h"
#include "scheduler/windowed.h"

namespace arenac {
namespace {

constexpr int64_t kMostConcats = 64;  // whose parts are tried in place one by one, in a pass over all steps
constexpr int64_t kMostViews = 8;     // that are tried as copies: each does everything anew
constexpr int64_t kMostVisits = 2'000'000;  // of steps in the passes for concats

int64_t count_of(const Tensor& t) { return element_count(t.shape); }

void flatten(const Block& block, std::vector<Step>& steps);

// The flat steps of a node; control flow as markers.
void flatten(const Node& node, std::vector<Step>& steps) {
  if (const If* branch = std::get_if<If>(&node.body)) {
    const int begin = static_cast<int>(steps.size());
    steps.push_back({StepKind::kIf, &node});
    flatten(branch->then_block, steps);
    const int middle = static_cast<int>(steps.size());
    steps.push_back({StepKind::kElse, &node});
    flatten(branch->else_block, steps);
    steps[begin].partner = middle;
    steps[middle].partner = static_cast<int>(steps.size());
    steps.push_back({StepKind::kEndIf, &node, begin});
  } else if (const Loop* loop = std::get_if<Loop>(&node.body)) {
    const int begin = static_cast<int>(steps.size());
    steps.push_back({StepKind::kLoop, &node});
    flatten(loop->body, steps);
    steps[begin].partner = static_cast<int>(steps.size());
    steps.push_back({StepKind::kEndLoop, &node, begin});
  } else {
    steps.push_back({StepKind::kRun, &node});
  }
}

void flatten(const Block& block, std::vector<Step>& steps) {
  for (const Node& node : block) flatten(node, steps);
}

// The step with most live bytes, external storage apart.
struct Peak {
  int64_t bytes = 0;
  std::vector<TensorId> live;  // storages, ascending
};

// Rows one after the other, of which one is there.
Layout layout_by_rows(TensorId id, const Shape& shape, int dimension) {
  Shape row = shape;
  row[static_cast<size_t>(dimension)] = 1;
  Layout layout{id, 0, row_major_strides(row)};
  layout.strides[static_cast<size_t>(dimension)] = element_count(row);
  layout.ring = {element_count(row), 1};
  return layout;
}

class Assignment {
 public:
  // `copied` are nodes that stay copies although their results could be views.
  Assignment(const Graph& graph, const std::vector<int>& order, const std::vector<const Node*>& copied,
             const StorageChoice& choice)
      : graph_(graph), copied_(copied), choice_(choice) {
    for (int node : order) flatten(graph.block[node], steps_);
    layouts_.resize(graph.tensors.size());
    for (TensorId id = 0; id < static_cast<TensorId>(layouts_.size()); ++id)
      layouts_[id] = {id, 0, row_major_strides(graph.tensors[id].shape)};
    for (const auto& [id, dimension] : graph.by_rows)
      layouts_[id] = layout_by_rows(id, graph.tensors[id].shape, dimension);
    readers_.resize(layouts_.size()), views_of_.resize(layouts_.size()), viewed_by_.resize(layouts_.size());
    for (const Step& step : steps_)
      for (TensorId id : step.node->reads) readers_[id].push_back(step.node);
    classify();
    forwards();
    occupied_ = occupancies(graph_, steps_, layouts_);
  }

  Storage storage() const { return {steps_, layouts_, peak().bytes, limits_hit_}; }

  // Views of less than all of a storage that is live at the peak.
  std::vector<const Node*> partial_views() const {
    const Peak most = peak();
    std::vector<const Node*> all;
    for (const Node* node : views_) {
      const TensorId out = node->writes[0], root = layouts_[out].root;
      const bool live = std::binary_search(most.live.begin(), most.live.end(), root);
      if (live && count_of(graph_.tensors[out]) < count_of(graph_.tensors[root])) all.push_back(node);
    }
    return all;
  }

  void share_storage(Deadline deadline) {
    const auto viewed = layouts_;
    std::vector<int> concats;
    for (int s = 0; s < static_cast<int>(steps_.size()); ++s)
      if (const Nests* nests = nests_of(s); nests && nests->size() > 1) concats.push_back(s);

    const auto attempt = [&](const std::vector<bool>& merged) {
      layouts_ = viewed;
      backwards(merged);
      return peak().bytes;
    };
    std::vector<bool> merged(steps_.size());
    int64_t best = attempt(merged);
    std::vector<bool> all = merged;
    for (int s : concats) all[s] = true;
    if (attempt(all) <= best) return;
    const size_t tried = trials(kMostConcats);
    if (concats.size() > tried)
      limits_hit_.insert({"parts of concats in place", static_cast<int64_t>(tried), "concat"});
    for (size_t k = 0; k < std::min(concats.size(), tried) && !has_passed(deadline); ++k) {
      merged[concats[k]] = true;
      const int64_t with = attempt(merged);
      if (with <= best)
        best = with;
      else
        merged[concats[k]] = false;
    }
    attempt(merged);
  }

  Peak peak() const;

  // Of `most` passes over all steps, as many as take little time.
  size_t trials(int64_t most) const {
    return static_cast<size_t>(std::clamp<int64_t>(
        kMostVisits / std::max<int64_t>(1, static_cast<int64_t>(steps_.size())), 1, most));
  }

  // Before share_storage().
  Sharing sharing() const {
    Sharing result;
    for (const Layout& layout : layouts_) result.roots.push_back(layout.root);
    result.views = views_;
    int depth = 0;
    for (const Step& step : steps_) {
      depth += (step.kind == StepKind::kIf || step.kind == StepKind::kLoop) -
               (step.kind == StepKind::kEndIf || step.kind == StepKind::kEndLoop);
      const Nests* nests = std::get_if<Nests>(&step.node->body);
      if (depth > 0 || !nests || step.node->is_copy || count_of(graph_.tensors[step.node->writes[0]]) == 0)
        continue;
      for (size_t k = 0; k < nests->size(); ++k)
        for (int operand : operands_of((*nests)[k])) {
          const TensorId x = step.node->reads[operand];
          const auto place = place_for(*step.node, (*nests)[k], x, static_cast<int>(k));
          if (!place || !moved(x, *place)) continue;
          using enum Sharing::Move::Kind;
          result.moves.push_back(
              {step.node, layouts_[x].root, place->root, nests->size() > 1 ? kPart : kInPlace});
        }
    }
    return result;
  }

 private:
  const Nests* nests_of(int s) const {
    return steps_[s].kind == StepKind::kRun ? std::get_if<Nests>(&steps_[s].node->body) : nullptr;
  }

  // Which tensors must keep storage of their own, dense and row-major.
  void classify() {
    const size_t n = graph_.tensors.size();
    assigned_.resize(n), is_output_.resize(n), is_input_.resize(n), row_major_.resize(n);
    for (TensorId id : graph_.outputs) is_output_[id] = row_major_[id] = true;
    for (TensorId id : graph_.inputs) is_input_[id] = row_major_[id] = true;
    std::vector<int> writers(n);
    for (const Step& step : steps_) {
      if (step.kind != StepKind::kRun) continue;
      for (TensorId id : step.node->writes)
        if (++writers[id] > 1) assigned_[id] = row_major_[id] = true;
      if (std::holds_alternative<Call>(step.node->body)) {
        for (TensorId id : step.node->reads) row_major_[id] = true;
        for (TensorId id : step.node->writes) row_major_[id] = true;
      }
      if (writes_by_iteration(*step.node)) assigned_[step.node->writes[0]] = true;
    }
  }

  void forwards() {
    std::vector<Step> kept;
    for (const Step& step : steps_) {
      if (step.kind == StepKind::kRun && make_view(*step.node)) continue;
      if (step.kind == StepKind::kRun)
        for (TensorId id : step.node->writes)
          if (!row_major_[id]) layouts_[id].strides = preferred_strides(*step.node, id);
      kept.push_back(step);
    }
    // Partners are found anew: steps have moved.
    std::vector<int> open;
    for (int s = 0; s < static_cast<int>(kept.size()); ++s) {
      switch (kept[s].kind) {
        case StepKind::kRun:
          break;
        case StepKind::kIf:
        case StepKind::kLoop:
          open.push_back(s);
          break;
        case StepKind::kElse:
          kept[open.back()].partner = s;
          open.push_back(s);
          break;
        case StepKind::kEndIf:
          kept[open.back()].partner = s;
          open.pop_back();
          kept[s].partner = open.back();
          open.pop_back();
          break;
        case StepKind::kEndLoop:
          kept[open.back()].partner = s;
          kept[s].partner = open.back();
          open.pop_back();
          break;
      }
    }
    steps_ = std::move(kept);
  }

  // The layout of the write as a view of the operand, if its elements have affine addresses there.
  std::optional<Layout> view_layout(const Node& node) const {
    const Expr* from = copied_element(node);
    return from ? view_layout(node, *from, layouts_[node.reads[(*from)->index]]) : std::nullopt;
  }

  // What the only nest of a node copies; null otherwise.
  const Expr* copied_element(const Node& node) const {
    const Nests* nests = std::get_if<Nests>(&node.body);
    return nests && nests->size() == 1 ? copied_read(nests->front(), node, graph_) : nullptr;
  }

  // The same of a node that copies this element of an operand that lies so.
  static std::optional<Layout> view_layout(const Node& node, const Expr& element, const Layout& operand) {
    const Nest& nest = std::get<Nests>(node.body).front();
    const auto address = address_of(operand, element->args, nest);
    if (!address) return std::nullopt;
    Layout view{operand.root, address->constant, std::vector<int64_t>(nest.store.size(), 0)};
    std::vector<bool> stored(nest.axes.size());
    for (size_t d = 0; d < nest.store.size(); ++d) {
      const Expr& index = nest.store[d];
      if (index->op == Op::kAxis && index->index >= 0 && !stored[index->index]) {
        view.strides[d] = address->coefficient(index->index);
        stored[index->index] = true;
      } else if (!is_constant(index, 0)) {
        return std::nullopt;
      }
    }
    for (const auto& [a, factor] : address->terms)
      if (a < 0 || !stored[a]) return std::nullopt;  // depends on an iteration
    return view;
  }

  // As far as its result alone tells.
  bool may_be_view(const Node& node) const {
    if (node.is_copy || node.writes.size() != 1 ||
        std::find(copied_.begin(), copied_.end(), &node) != copied_.end())
      return false;
    const TensorId out = node.writes[0];
    return !is_output_[out] && !assigned_[out] && count_of(graph_.tensors[out]) > 0;
  }

  bool make_view(const Node& node) {
    if (!may_be_view(node)) return false;
    const TensorId out = node.writes[0];
    const auto view = view_layout(node);
    if (!view || assigned_[view->root] || graph_.tensors[view->root].constant) return false;
    if (choice_.factors == Factors::kInLanes && !is_fed(graph_, view->root) &&
        lie_apart({out, *view, only_reader(out)}))
      return false;  // a copy, in lanes
    if (row_major_[out] &&
        !equivalent(view->strides, row_major_strides(graph_.tensors[out].shape), graph_.tensors[out].shape))
      return false;
    layouts_[out] = *view;
    const Expr& from = *copied_read(std::get<Nests>(node.body).front(), node, graph_);
    views_of_[node.reads[from->index]].push_back(static_cast<int>(views_.size()));
    viewed_by_[out] = &node;
    views_.push_back(&node);
    return true;
  }

  static bool equivalent(const std::vector<int64_t>& a, const std::vector<int64_t>& b, const Shape& shape) {
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] > 1 && a[d] != b[d]) return false;
    return true;
  }

  static std::vector<int64_t> dense_strides(const Shape& shape, const std::vector<int>& order) {
    std::vector<int64_t> strides(shape.size(), 1);
    int64_t next = 1;
    for (size_t k = order.size(); k-- > 0;) {
      strides[order[k]] = next;
      next *= shape[order[k]];
    }
    return strides;
  }

  std::vector<int64_t> preferred_strides(const Node& node, TensorId out) const {
    const Shape& shape = graph_.tensors[out].shape;
    std::vector<int> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests || nests->empty()) return dense_strides(shape, order);
    // Sums of floats walk the elements as they would the caller's whole tensor (loops.cc), in the same order.
    if (const TensorId fed = fed_to(node, graph_); fed >= 0 && is_float(graph_.tensors[fed].type))
      return layouts_[fed].strides;
    size_t windowed = first_windowed_dimension(nests->front(), shape.size());
    if (windowed == shape.size() && follows_input(node)) windowed = wanted_by_readers(out);
    if (windowed == 2 && choice_.windowed == Windowed::kPlanes && readers_[out].size() == 1 &&
        smaller_in_planes(out, node, *readers_[out][0], graph_))
      return dense_strides(shape, order);
    if (windowed < shape.size()) return channels_last(shape, windowed);
    if (const auto like = strides_like_operand(node, *nests, shape, order))
      return strides_for_products(out, *like);
    windowed = wanted_by_readers(out);
    if (windowed < shape.size()) return channels_last(shape, windowed);
    return strides_for_products(out, dense_strides(shape, order));
  }

  // Batch, the trailing windowed dimensions by rows or by columns, channels.
  std::vector<int64_t> channels_last(const Shape& shape, size_t windowed) const {
    std::vector<int> order = {0};
    for (size_t d = windowed; d < shape.size(); ++d) order.push_back(static_cast<int>(d));
    if (choice_.windowed == Windowed::kColumns) std::reverse(order.begin() + 1, order.end());
    for (size_t d = 1; d < windowed; ++d) order.push_back(static_cast<int>(d));
    return dense_strides(shape, order);
  }

  // Null where there are none or several.
  const Node* only_reader(TensorId id) const { return readers_[id].size() == 1 ? readers_[id][0] : nullptr; }

  // A tensor at that layout, or through the views of it that there can be, as its only reader sees it.
  struct Seen {
    TensorId id;
    Layout layout;
    const Node* reader;
  };
  Seen seen_by_reader(TensorId id, const Layout& layout) const {
    Seen seen{id, layout, only_reader(id)};
    while (seen.reader && may_be_view(*seen.reader)) {
      const Expr* from = copied_element(*seen.reader);
      if (!from || seen.reader->reads[(*from)->index] != seen.id) return seen;
      const auto view = view_layout(*seen.reader, *from, seen.layout);
      if (!view) return seen;
      const TensorId out = seen.reader->writes[0];
      seen = {out, *view, only_reader(out)};
    }
    return seen;
  }
  bool lie_apart(const Seen& seen) const {
    return seen.reader && lanes_lie_apart(*seen.reader, seen.id, seen.layout, graph_);
  }

  // The strides given, or where a product wants it (products.h) those in which another dimension is
  // innermost.
  std::vector<int64_t> strides_for_products(TensorId out, const std::vector<int64_t>& given) const {
    const auto lie_apart_in = [&](const std::vector<int64_t>& strides) {
      return lie_apart(seen_by_reader(out, {out, 0, strides}));
    };
    if (choice_.factors == Factors::kAsWritten || !lie_apart_in(given)) return given;
    const Shape& shape = graph_.tensors[out].shape;
    for (size_t d = shape.size(); d-- > 0;) {
      std::vector<int> order(shape.size());
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return given[a] > given[b]; });
      std::erase(order, static_cast<int>(d));
      order.push_back(static_cast<int>(d));
      std::vector<int64_t> strides = dense_strides(shape, order);
      if (!lie_apart_in(strides)) return strides;
    }
    return given;
  }

  // Whether its order of dimensions is not ours to choose.
  bool is_callers(TensorId id) const {
    return is_input_[layouts_[id].root] || is_fed(graph_, layouts_[id].root);
  }

  // Whether all that the node reads of its result's size is the caller's.
  bool follows_input(const Node& node) const {
    bool input = false, other = false;
    for (TensorId id : node.reads) {
      if (graph_.tensors[id].constant ||
          count_of(graph_.tensors[id]) < count_of(graph_.tensors[node.writes[0]]))
        continue;
      (is_callers(id) ? input : other) = true;
    }
    return input && !other;
  }

  // The first windowed dimension of a tensor in the eyes of a node that slides windows over it; its rank
  // without one.
  size_t wanted_by_readers(TensorId id) const {
    const size_t rank = graph_.tensors[id].shape.size();
    for (const Node* reader : readers_[id]) {
      const Nests* nests = std::get_if<Nests>(&reader->body);
      if (!nests || nests->empty() || graph_.tensors[reader->writes[0]].shape.size() != rank) continue;
      if (const size_t first = first_windowed_dimension(nests->front(), rank); first < rank) return first;
    }
    return rank;
  }

  // How far an access moves in memory with an axis of its nest: 0 where it stays. Along an index that is not
  // linear, the stride of its dimension.
  int64_t pace(const Layout& layout, const std::vector<Expr>& indices, const Nest& nest, int a) const {
    if (const auto address = address_of(layout, indices, nest)) return std::abs(address->coefficient(a));
    int64_t least = 0;
    for (size_t d = 0; d < indices.size(); ++d) {
      const int64_t factor = std::abs(coefficient_along(indices[d], a).value_or(1));
      const int64_t stride = std::abs(layout.strides[d]) * factor;
      if (stride > 0 && (least == 0 || stride < least)) least = stride;
    }
    return least;
  }

  // How far an operand moves in memory along each dimension of the write; 0 where it stays.
  std::vector<int64_t> paces_of(const Node& node, const Nest& nest, const Expr& read, size_t rank) const {
    std::vector<int64_t> paces(rank);
    for (int a = 0; a < static_cast<int>(nest.axes.size()); ++a) {
      const int d = nest.axes[a].reduced ? -1 : dimension_of(nest, a);
      if (d >= 0) paces[d] = std::max(paces[d], pace(layouts_[node.reads[read->index]], read->args, nest, a));
    }
    return paces;
  }

  // Dimensions ordered as the largest operand that every axis of the output indexes has them, rather one
  // whose order was chosen than a caller's; nothing where no operand has an order for all of them.
  std::optional<std::vector<int64_t>> strides_like_operand(const Node& node, const Nests& nests,
                                                           const Shape& shape, std::vector<int> order) const {
    std::vector<int64_t> best;
    std::pair<int64_t, bool> largest = {0, true};
    for_each_read(nests, [&](const Nest& nest, const Expr& e) {
      const TensorId id = node.reads[e->index];
      const std::pair size = {count_of(graph_.tensors[id]), !is_callers(id)};
      if (graph_.tensors[id].constant || size <= largest) return;
      std::vector<int64_t> paces = paces_of(node, nest, e, shape.size());
      for (size_t d = 0; d < shape.size(); ++d)
        if (shape[d] > 1 && paces[d] == 0) return;
      largest = size;
      best = std::move(paces);
    });
    if (best.empty() && nests.size() == 1 && choice_.products == Products::kRows)
      best = paces_of_rows(node, nests.front(), shape);
    if (best.empty()) return std::nullopt;
    std::vector<int> moving;  // dimensions of one element lie anywhere
    std::ranges::copy_if(order, std::back_inserter(moving), [&](int d) { return shape[d] > 1; });
    std::ranges::stable_sort(moving, std::greater{}, [&](int d) { return best[d]; });
    auto next = moving.begin();
    for (int& d : order)
      if (shape[d] > 1) d = *next++;
    return dense_strides(shape, order);
  }

  template <typename F>
  static void for_each_read(const Nests& nests, const F& f) {
    for (const Nest& nest : nests)
      any_of(nest.body, [&](const Expr& e) {
        if (e->op == Op::kRead) f(nest, e);
        return false;
      });
  }

  // Of a product of two operands that both go on with the outer dimensions of the result: the paces of the
  // one that has all but the last. Where the caller chose its order, what it alone has comes first.
  //
  //   scores[head, token, other] = sum(i) q[head, token, i] * k[head, other, i]     token, head, other
  std::vector<int64_t> paces_of_rows(const Node& node, const Nest& nest, const Shape& shape) const {
    size_t last = shape.size();
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] > 1) last = d;
    std::vector<int64_t> best;
    bool callers_order = false;
    std::vector<bool> shared(shape.size());
    for_each_read({nest}, [&](const Nest&, const Expr& e) {
      const TensorId id = node.reads[e->index];
      if (graph_.tensors[id].constant) return;
      std::vector<int64_t> paces = paces_of(node, nest, e, shape.size());
      const bool has_last = last < shape.size() && paces[last] > 0;
      for (size_t d = 0; d < shape.size(); ++d) {
        if (has_last && paces[d] > 0) shared[d] = true;
        if (!has_last && d != last && shape[d] > 1 && paces[d] == 0) return;
      }
      if (has_last) return;
      best = std::move(paces);
      callers_order = is_input_[layouts_[id].root];
    });
    if (callers_order)
      for (size_t d = 0; d < shape.size(); ++d) best[d] = d == last ? 0 : shared[d] ? 1 : 2;
    return best;
  }

  // ---- backwards: sharing

  // Where nests of concats placed a tensor: tensors in different parts of one concat never touch.
  using Path = std::vector<std::pair<int, int>>;  // (step, nest), ascending

  void backwards(const std::vector<bool>& merged_concats) {
    group_.assign(graph_.tensors.size(), {});
    path_.assign(graph_.tensors.size(), {});
    moved_.assign(graph_.tensors.size(), false);
    for (size_t id = 0; id < layouts_.size(); ++id) group_[id] = {{first_use(id), static_cast<TensorId>(id)}};
    for (int s = static_cast<int>(steps_.size()); s-- > 0;) {
      const Nests* nests = nests_of(s);
      if (!nests || steps_[s].node->is_copy || count_of(graph_.tensors[steps_[s].node->writes[0]]) == 0)
        continue;
      const Node& node = *steps_[s].node;
      if (nests->size() == 1) {
        share(node, nests->front(), s, 0);
      } else if (merged_concats[s]) {
        for (size_t k = 0; k < nests->size(); ++k) share(node, (*nests)[k], s, static_cast<int>(k));
      }
    }
  }

  // What several nests of a node write and read.
  struct Part {
    std::vector<Interval> box;     // of the write, per dimension
    std::vector<int> reads;        // operands, ascending
    std::map<int, bool> unharmed;  // per operand, once asked
  };

  std::vector<Part>& parts_of(const Node& node) const {
    auto& parts = parts_[&node];
    if (!parts.empty()) return parts;
    for (const Nest& nest : std::get<Nests>(node.body)) {
      Part& part = parts.emplace_back(Part{{}, operands_of(nest), {}});
      const auto axes = axis_intervals(nest);
      for (const Expr& index : nest.store) part.box.push_back(interval(index, axes, {}));
    }
    return parts;
  }

  // Whether an operand may lie where nest k writes without harm from or to the node's other nests: they write
  // elsewhere, or (k being the first) later and without reading it; later ones only read it where k stores it
  // as it is.
  bool unharmed(const Node& node, size_t k, int operand) const {
    const Nests& nests = std::get<Nests>(node.body);
    if (nests.size() == 1) return true;
    std::vector<Part>& parts = parts_of(node);
    const auto known = parts[k].unharmed.find(operand);
    if (known != parts[k].unharmed.end()) return known->second;
    const bool stays = copied_read(nests[k], node, graph_) != nullptr;
    const auto& b = parts[k].box;
    const auto harms = [&](const Part& other) {
      const auto& a = other.box;
      bool disjoint = false;
      for (size_t d = 0; d < a.size(); ++d) disjoint |= a[d].end <= b[d].begin || b[d].end <= a[d].begin;
      const bool read = std::binary_search(other.reads.begin(), other.reads.end(), operand);
      return (!disjoint && (k != 0 || read)) || (&other > &parts[k] && read && !stays);
    };
    const bool harmed = std::any_of(parts.begin(), parts.end(),
                                    [&](const Part& other) { return &other != &parts[k] && harms(other); });
    return parts[k].unharmed[operand] = !harmed;
  }

  // Moves one operand of the nest into the storage of its result, if any can.
  void share(const Node& node, const Nest& nest, int s, int k) {
    std::vector<TensorId> operands;
    for (int operand : operands_of(nest)) operands.push_back(node.reads[operand]);
    if (choice_.moves == Moves::kUnshared)
      std::stable_sort(operands.begin(), operands.end(),
                       [&](TensorId a, TensorId b) { return readers_[a].size() < readers_[b].size(); });
    const bool is_part = std::get<Nests>(node.body).size() > 1;
    for (TensorId x : operands) {
      if (choice_.moves == Moves::kUnshared && is_part && readers_[x].size() > 1) continue;
      const auto target = place_for(node, nest, x, k);
      if (target && move(x, *target, node.writes[0], s, k)) return;
    }
  }

  // Ascending, without those of bounds.
  static std::vector<int> operands_of(const Nest& nest) {
    std::set<int> read;
    const auto look = [&](const Expr& e) {
      if (e->op == Op::kRead) read.insert(e->index);
      return false;
    };
    any_of(nest.body, look);
    if (!nest.finish.empty()) any_of(nest.finish, look);
    return {read.begin(), read.end()};
  }

  // The layout in which an operand may lie where nest k writes, if it dies there.
  std::optional<Layout> place_for(const Node& node, const Nest& nest, TensorId x, int k) const {
    // Another operand in the same storage may be read at another place.
    const auto meets = [&](TensorId other) { return other != x && layouts_[other].root == layouts_[x].root; };
    if (std::any_of(node.reads.begin(), node.reads.end(), meets)) return std::nullopt;
    const auto operand = std::find(node.reads.begin(), node.reads.end(), x) - node.reads.begin();
    if (!unharmed(node, static_cast<size_t>(k), static_cast<int>(operand))) return std::nullopt;
    return same_place(node, nest, x, node.writes[0]);
  }

  // The layout that x must have so that the nest reads each of its elements only where it writes: null if
  // there is none.
  std::optional<Layout> same_place(const Node& node, const Nest& nest, TensorId x, TensorId out) const {
    const Tensor &from = graph_.tensors[x], &to = graph_.tensors[out];
    if (size_of(from.type) != size_of(to.type) || !may_meet(from.type, to.type) || nest.accumulate)
      return std::nullopt;
    const int operand =
        static_cast<int>(std::find(node.reads.begin(), node.reads.end(), x) - node.reads.begin());
    const Expr* only = nullptr;
    bool alike = true;
    const auto look = [&](const Expr& e) {
      if (e->op != Op::kRead || e->index != operand) return false;
      if (only)
        for (size_t d = 0; d < e->args.size(); ++d) alike &= same(e->args[d], (*only)->args[d]);
      else
        only = &e;
      return false;
    };
    if (any_of(nest.body, look), nest.combine != Combine::kNone && only) return std::nullopt;
    if (!nest.finish.empty()) any_of(nest.finish, look);
    if (!only || !alike) return std::nullopt;

    // The write's address in terms of the read's indices: each must be a plain axis, and together all of x.
    const auto address = address_of(layouts_[out], nest.store, nest);
    if (!address) return std::nullopt;
    Layout wanted{layouts_[out].root, address->constant, std::vector<int64_t>(from.shape.size(), 0)};
    std::vector<bool> used(nest.axes.size());
    bool plain = true;
    for (size_t d = 0; d < from.shape.size(); ++d) {
      const Expr& index = (*only)->args[d];
      if (is_constant(index, 0) && from.shape[d] == 1) continue;
      plain &= index->op == Op::kAxis && index->index >= 0 && !used[index->index] &&
               nest.axes[index->index].extent == from.shape[d] && !nest.axes[index->index].reduced;
      if (!plain) break;
      used[index->index] = true;
      wanted.strides[d] = address->coefficient(index->index);
    }
    if (!plain) return reshaped_place(node, nest, *only, x, out);
    // Axes of the output that do not index x would read one element for several writes.
    for (size_t a = 0; a < nest.axes.size(); ++a)
      if (!used[a] && !nest.axes[a].reduced && nest.axes[a].extent > 1) return std::nullopt;
    for (const auto& [a, factor] : address->terms)
      if (a < 0) return std::nullopt;
    return wanted;
  }

  // x whole and dense, copied under another shape: to the caller in whatever order that is, else to dense
  // storage in the order in which x lies.
  std::optional<Layout> reshaped_place(const Node& node, const Nest& nest, const Expr& read, TensorId x,
                                       TensorId out) const {
    if (!copied_read(nest, node, graph_) || count_of(graph_.tensors[x]) != count_of(graph_.tensors[out]))
      return std::nullopt;
    if (is_output_[layouts_[out].root] && std::get<Nests>(node.body).size() == 1)
      if (auto layout = layout_behind(node, read, layouts_[out])) return layout;
    const auto from = address_of(layouts_[x], read->args, nest),
               to = address_of(layouts_[out], nest.store, nest);
    if (!from || !to) return std::nullopt;
    for (size_t a = 0; a < nest.axes.size(); ++a)
      if (nest.axes[a].extent > 1 &&
          from->coefficient(static_cast<int>(a)) != to->coefficient(static_cast<int>(a)))
        return std::nullopt;
    return Layout{layouts_[out].root, to->constant - from->constant + layouts_[x].offset,
                  layouts_[x].strides};
  }

  // Gives x (and the storage that it is all of) the layout `wanted` in the storage of `out`, written at step
  // s by nest k; false, and nothing changed, where that storage is occupied or x cannot move.
  bool move(TensorId x, const Layout& wanted, TensorId out, int s, int k) {
    const TensorId root = layouts_[x].root;
    if (moved_[root] || group_[root].size() != 1) return false;
    const std::optional<Layout> layout = moved(x, wanted);
    if (!layout) return false;
    Path path = path_[out];
    if (std::get<Nests>(steps_[s].node->body).size() > 1) path.insert(path.begin(), {s, k});
    for (const auto& [begin, other] : group_[wanted.root]) {
      if (!occupied_[root].empty() && begin >= occupied_[root].back().end) break;
      if (apart(path, path_[other])) continue;
      if (collide(occupied_[root], occupied_[other], other == out ? 2 * s : -1)) return false;
    }
    std::vector<std::pair<TensorId, Layout>> before = {{root, layouts_[root]}};
    layouts_[root] = *layout;
    if (!renew_views(root, before)) {
      for (auto& [id, layout] : before) layouts_[id] = std::move(layout);
      return false;
    }
    group_[wanted.root].insert({first_use(root), root});
    path_[root] = std::move(path);
    moved_[root] = true;
    return true;
  }

  int64_t first_use(size_t id) const {
    return occupied_[id].empty() ? INT64_MAX : occupied_[id].front().begin;
  }

  // The layout of the storage that x is all of, through whatever views, in which x itself lies as wanted;
  // nothing where it may not lie elsewhere. Views change the order of dimensions for what goes to the caller
  // alone: what windows slide over in the arena keeps the order that they want.
  std::optional<Layout> moved(TensorId x, const Layout& wanted) const {
    const TensorId root = layouts_[x].root;
    if (is_input_[root] || is_output_[root] || assigned_[root] || graph_.tensors[root].constant ||
        root == wanted.root || count_of(graph_.tensors[root]) != count_of(graph_.tensors[x]))
      return std::nullopt;
    if (equivalent(wanted.strides, layouts_[x].strides, graph_.tensors[x].shape))
      return Layout{wanted.root, wanted.offset - layouts_[x].offset, layouts_[root].strides};
    if (row_major_[root] || (x != root && !is_output_[wanted.root])) return std::nullopt;
    std::optional<Layout> layout = wanted;
    for (TensorId id = x; id != root && layout;) {
      const Expr* from = copied_element(*viewed_by_[id]);
      layout = layout_behind(*viewed_by_[id], *from, *layout);
      id = viewed_by_[id]->reads[(*from)->index];
    }
    return layout;
  }

  // How the operand of a view must lie for the view to lie as wanted; null where it cannot.
  //
  //   out[c, p] = in[c, p / 40, p % 40]      wanted [2000, 1]: in lies as [2000, 40, 1]
  std::optional<Layout> layout_behind(const Node& view, const Expr& element, const Layout& wanted) const {
    const Nest& nest = std::get<Nests>(view.body).front();
    std::vector<int64_t> paces(nest.axes.size());  // how far the view moves along each axis
    for (size_t d = 0; d < nest.store.size(); ++d)
      if (nest.store[d]->op == Op::kAxis && nest.store[d]->index >= 0)  // not the number of an iteration
        paces[nest.store[d]->index] = wanted.strides[d];
    const Shape& shape = graph_.tensors[view.reads[element->index]].shape;
    Layout layout{wanted.root, wanted.offset, std::vector<int64_t>(shape.size())};
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] > 1) layout.strides[d] = pace_of_one(element->args[d], paces);
    const auto seen = view_layout(view, element, layout);
    if (!seen || seen->offset != wanted.offset ||
        !equivalent(seen->strides, wanted.strides, graph_.tensors[view.writes[0]].shape))
      return std::nullopt;
    return layout;
  }

  // How far one step of an index moves: of a quotient so many of the axis, of a sum one of its fastest term.
  static int64_t pace_of_one(const Expr& index, const std::vector<int64_t>& paces) {
    if (index->op == Op::kMod) return pace_of_one(index->args[0], paces);
    if (index->op == Op::kDiv && index->args[1]->op == Op::kConst)
      return index->args[1]->value.i * pace_of_one(index->args[0], paces);
    for (int a = 0; a < static_cast<int>(paces.size()); ++a)
      if (coefficient_along(index, a) == 1) return paces[a];
    return 0;
  }

  static bool apart(const Path& a, const Path& b) {
    for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
      if (i->first == j->first && i->second != j->second) return true;
      (i->first < j->first ? i : j)++;
    }
    return false;
  }

  // Views of a tensor that moved follow it. `before` keeps the layouts that change.
  bool renew_views(TensorId moved, std::vector<std::pair<TensorId, Layout>>& before) {
    std::set<int> follow(views_of_[moved].begin(), views_of_[moved].end());  // a view comes before its views
    for (; !follow.empty(); follow.erase(follow.begin())) {
      const Node& node = *views_[*follow.begin()];
      const TensorId out = node.writes[0];
      const auto view = view_layout(node);
      if (!view) return false;
      if (row_major_[out] &&
          !equivalent(view->strides, row_major_strides(graph_.tensors[out].shape), graph_.tensors[out].shape))
        return false;
      before.push_back({out, std::exchange(layouts_[out], *view)});
      follow.insert(views_of_[out].begin(), views_of_[out].end());
    }
    return true;
  }

  const Graph& graph_;
  const std::vector<const Node*> copied_;
  const StorageChoice choice_;
  std::vector<Step> steps_;
  std::vector<Layout> layouts_;
  std::vector<const Node*> views_;
  std::vector<std::vector<int>> views_of_;         // per tensor: which of these read it
  std::vector<const Node*> viewed_by_;             // per tensor: which of these writes it; else null
  std::vector<Occupancy> occupied_;                // per tensor, before sharing
  std::vector<std::vector<const Node*>> readers_;  // per tensor, in the order of the steps
  std::vector<bool> assigned_, is_output_, is_input_, row_major_;
  // Per storage: the tensors in it, views apart, by their first uses.
  std::vector<std::set<std::pair<int64_t, TensorId>>> group_;
  std::vector<Path> path_;
  std::vector<bool> moved_;
  LimitsHit limits_hit_;
  mutable std::map<const Node*, std::vector<Part>> parts_;  // of nodes of several nests, once asked
};

Peak Assignment::peak() const {
  std::vector<int64_t> bytes(graph_.tensors.size()), begin(bytes.size(), INT64_MAX), end(bytes.size(), 0);
  for (size_t id = 0; id < bytes.size(); ++id) {
    if (occupied_[id].empty()) continue;
    const TensorId root = layouts_[id].root;
    const int64_t span = layouts_[id].offset + span_of(layouts_[id], graph_.tensors[id].shape);
    bytes[root] = std::max(bytes[root], span * size_of(graph_.tensors[id].type));
    begin[root] = std::min(begin[root], occupied_[id].front().begin / 2);
    end[root] = std::max(end[root], (occupied_[id].back().end + 1) / 2);
  }
  const auto counts = [&](size_t id) { return begin[id] < end[id] && !is_input_[id] && !is_output_[id]; };
  std::vector<int64_t> load(steps_.size() + 2);
  for (size_t id = 0; id < bytes.size(); ++id) {
    if (!counts(id)) continue;
    load[begin[id]] += bytes[id];
    load[end[id]] -= bytes[id];
  }
  std::partial_sum(load.begin(), load.end(), load.begin());
  const auto most = std::max_element(load.begin(), load.end());
  Peak peak{*most, {}};
  for (size_t id = 0; id < bytes.size(); ++id)
    if (counts(id) && begin[id] <= most - load.begin() && most - load.begin() < end[id])
      peak.live.push_back(static_cast<TensorId>(id));
  return peak;
}

struct Attempt {
  Storage storage;
  std::vector<const Node*> partial_views;
};

Attempt attempt(const Graph& graph, const std::vector<int>& order, const std::vector<const Node*>& copied,
                const StorageChoice& choice, Deadline deadline) {
  Assignment assignment(graph, order, copied, choice);
  assignment.share_storage(deadline);
  return {assignment.storage(), assignment.partial_views()};
}

std::vector<int> order_of_file(const Graph& graph) {
  std::vector<int> order(graph.block.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

bool may_meet(Type a, Type b) {
  return size_of(a) == 1 || size_of(b) == 1 || std::string_view(info(a).c_name) == info(b).c_name;
}

Storage assign_storage(const Graph& graph, const std::vector<int>& order, const StorageChoice& choice,
                       Deadline deadline) {
  std::vector<const Node*> copied;
  Attempt best = attempt(graph, order, copied, choice, deadline);
  size_t next = 0;
  for (int tried = 0; next < best.partial_views.size() && !has_passed(deadline); ++tried) {
    if (tried == kMostViews) {
      best.storage.limits_hit.insert({"copies instead of views", kMostViews, "view"});
      break;
    }
    copied.push_back(best.partial_views[next++]);
    Attempt with = attempt(graph, order, copied, choice, deadline);
    if (with.storage.peak < best.storage.peak) {
      best = std::move(with);
      next = 0;
    } else {
      copied.pop_back();
    }
  }
  return std::move(best.storage);
}

Storage assign_storage(const Graph& graph, Deadline deadline) {
  return assign_storage(graph, order_of_file(graph), {}, deadline);
}

int64_t layerwise_peak(const Graph& graph) { return assign_storage(graph).peak; }

Sharing possible_sharing(const Graph& graph) {
  return Assignment(graph, order_of_file(graph), {}, {}).sharing();
}

}  // namespace arenac
