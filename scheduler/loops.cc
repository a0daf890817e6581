#include "scheduler/loops.h"

#include <algorithm>
#include <numeric>

#include "frontend/error.h"
#include "scheduler/byte_lanes.h"

namespace arenac {
namespace {

// The address as if every row of a ring were in memory: (t + 2) % 3 moves as t + 2 does.
Expr unwound(const Expr& index) {
  return substitute(index, [](const Expr& e) { return e->op == Op::kMod ? e->args[0] : Expr(); });
}

// Lanes of sums of what was widened: gcc keeps those of more than one 256-bit vector in memory.
constexpr int kWidenedLanes = 8;

// The widest block, a power of two, that spends at most a third more lanes than there are elements, one of
// more than 8 (which takes a processor longer) a quarter more: 12 elements are two blocks of 8, 24 three.
int lanes_for(int64_t extent, int most) {
  for (int lanes = most; lanes >= 4; lanes /= 2) {
    const int64_t part = lanes > 8 ? 4 : 3;
    if (lanes <= extent && ceil_div(extent, lanes) * lanes * part <= extent * (part + 1)) return lanes;
  }
  return static_cast<int>(std::min<int64_t>(extent, most));
}

// Of the widths up to `most` that of the least work: the last tile computes some pixels twice, and every tile
// reads the weights, which counts as a pixel. Of 49 pixels and at most 8: tiles of 7 are 7 * (7 + 1) = 56, of
// 8 7 * 9 = 63.
int tile_for(int64_t extent, int most) {
  const auto work = [&](int64_t tile) { return (extent + tile - 1) / tile * (tile + 1); };
  int64_t best = std::min<int64_t>(extent, most);
  for (int64_t tile = best - 1; 2 * tile > most; --tile)
    if (work(tile) < work(best)) best = tile;
  return static_cast<int>(best);
}

// Among the axes along which some operand stays in place, rather one that moves along the vector axis, the
// innermost of those that fill a tile; else the longest; -1: none.
int tile_axis(const FlatNest& nest, int vector_axis, int tile) {
  const auto reads = reads_of(nest.body);
  int best = -1;
  const auto stays = [&](const Expr* read, int a) { return coefficient_along((*read)->args[0], a) == 0; };
  const auto some_stays = [&](int a) {
    return std::ranges::any_of(reads, [&](const Expr* read) { return stays(read, a); });
  };
  const auto lanes_stay = [&](int a) {
    return std::ranges::any_of(reads,
                               [&](const Expr* read) { return stays(read, a) && !stays(read, vector_axis); });
  };
  const auto fills = [&](int a) {
    return vector_axis < 0 || lanes_stay(a) ? std::min<int64_t>(nest.axes[a].extent, tile) : 1;
  };
  const auto stride = [&](int a) { return std::abs(coefficient_along(nest.store, a).value_or(INT64_MAX)); };
  for (int a = 0; a < static_cast<int>(nest.axes.size()); ++a) {
    if (nest.axes[a].reduced || a == vector_axis || nest.axes[a].extent < 2 || !some_stays(a)) continue;
    if (best < 0 || fills(a) > fills(best) || (fills(a) == fills(best) && stride(a) < stride(best))) best = a;
  }
  return best;
}

// Kept axes: the rest, then the vector blocks, then the tiles; reduced axes last, in the order that they
// have.
void order_kept(const FlatNest& nest, LoopPlan& plan) {
  std::stable_sort(plan.order.begin(), plan.order.end(), [&](int a, int b) {
    const auto rank = [&](int x) {
      return nest.axes[x].reduced ? 3 : x == plan.tile_axis ? 2 : x == plan.vector_axis ? 1 : 0;
    };
    return rank(a) < rank(b);
  });
}

// The plan of sums of bytes of pixels (ByteProducts), or of nothing where the nest is not such.
std::optional<LoopPlan> of_pixels(const FlatNest& nest, LoopPlan plan, const Target& target,
                                  const std::function<bool(const Expr&)>& constant) {
  if (target.byte_lanes == 0 || !byte_factors(nest.body)) return std::nullopt;
  const int axes = static_cast<int>(nest.axes.size());
  plan.bytes = ByteProducts::kAlongSumOfPixels;
  plan.lanes = target.byte_lanes, plan.tile = kBytes;
  const std::vector<int> order = plan.order;
  for (int a = 0; a < axes; ++a) {
    if (!nest.axes[a].reduced || nest.axes[a].extent < kBytes) continue;
    plan.order = order;
    std::erase(plan.order, a);
    plan.order.push_back(a);
    for (int v = 0; v < axes; ++v)
      for (int p = 0; p < axes; ++p) {
        if (nest.axes[v].reduced || nest.axes[p].reduced || nest.axes[v].extent < plan.lanes) continue;
        plan.vector_axis = v, plan.tile_axis = p;
        if (!walks_bytes_of_pixels(nest, plan, constant)) continue;
        order_kept(nest, plan);
        return plan;
      }
  }
  return std::nullopt;
}

// The order in which the longest of the reduced axes that fills vectors is innermost; else empty.
std::vector<int> order_of_vectors(const FlatNest& nest, std::vector<int> order,
                                  const std::function<bool(const Expr&)>& constant) {
  int longest = -1;
  for (int a = 0; a < static_cast<int>(nest.axes.size()); ++a)
    if (nest.axes[a].reduced && walks_bytes_in_vectors(nest, a, constant) &&
        (longest < 0 || nest.axes[a].extent > nest.axes[longest].extent))
      longest = a;
  if (longest < 0) return {};
  std::erase(order, longest);
  order.push_back(longest);
  return order;
}

// Of sums of floats that no vector takes: additions wait for each other, those of several sums do not.
constexpr int kSumsAtOnce = 8;

// Whether its sums are along rows: of all that it reads, elements that lie side by side.
bool sums_rows(const FlatNest& nest, const std::vector<int>& order) {
  const int inner = innermost_reduced(nest, order);
  if (inner < 0 || !nest.where.empty()) return false;
  const auto reads = reads_of(nest.body);
  return std::ranges::all_of(
      reads, [&](const Expr* read) { return coefficient_along((*read)->args[0], inner) == 1; });
}

// Else the tile axis, where sums and their terms are many; -1: none.
int axis_of_many_sums(const FlatNest& nest) {
  constexpr int64_t kManyTerms = 64, kMany = 2 * kSumsAtOnce;
  const int a = terms_of(nest) < kManyTerms ? -1 : tile_axis(nest, -1, kSumsAtOnce);
  return a >= 0 && nest.axes[a].extent >= kMany ? a : -1;
}

// The innermost of the kept axes in that order; -1: none.
int innermost_kept(const FlatNest& nest, const std::vector<int>& order) {
  for (auto at = order.rbegin(); at != order.rend(); ++at)
    if (!nest.axes[*at].reduced && nest.axes[*at].extent > 1) return *at;
  return -1;
}

// Whether vectors find the least or greatest of what lies side by side along the innermost reduced axis.
bool compares_lanes(const FlatNest& nest, int inner, const Target& target) {
  const bool is_extremum = nest.combine == Combine::kMin || nest.combine == Combine::kMax;
  if (target.registers != Registers::kVector || !is_extremum || nest.accumulate || !nest.where.empty() ||
      inner < 0 || nest.axes[inner].extent < 2 * target.lanes)
    return false;
  const auto reads = reads_of(nest.body);
  return std::ranges::all_of(reads, [&](const Expr* read) {
    const auto pace = coefficient_along((*read)->args[0], inner);
    return pace == 0 || pace == 1;
  });
}

// Whether a constant in blocks of lanes (weight_blocks.h) has another block for each value of the axis.
bool chooses_block(const FlatNest& nest, const Expr& read, int a, int lanes) {
  if (!names_axis(read, a)) return false;
  for (int b = 0; b < static_cast<int>(nest.axes.size()); ++b)
    if (b != a && !nest.axes[b].reduced && nest.axes[b].extent == lanes &&
        coefficient_along(read->args[0], b) == 1)
      return true;
  return false;
}

// What is known of what a nest reads.
struct OperandFacts {
  std::function<bool(const Expr&)> constant;
  std::vector<int64_t> rooms;  // rooms_of
};

// Per axis how many elements of the body's operands there are along it: as many as it has, or where only
// constants move along it, as these have (weight_blocks.h). A convolution to 10 channels whose weights are
// laid out for 16 has room for 16 lanes, of which 6 are computed and not stored.
std::vector<int64_t> rooms_of(const FlatNest& flat, const Nest& nest, const Node& node, const Graph& graph) {
  std::vector<int64_t> rooms;
  for (size_t a = 0; a < flat.axes.size(); ++a) {
    const int64_t extent = flat.axes[a].extent;
    int64_t room = flat.walks[a].size() == 1 ? INT64_MAX : extent;
    any_of(nest.body, [&](const Expr& e) {
      if (room <= extent || e->op != Op::kRead || !names_axis(e, flat.walks[a].front())) return false;
      const Tensor& tensor = graph.tensors[node.reads[e->index]];
      const auto d = dimension_along(e->args, flat.walks[a].front());
      room = tensor.constant && d ? std::min(room, tensor.shape[*d]) : extent;
      return false;
    });
    rooms.push_back(room == INT64_MAX ? extent : std::max(room, extent));
  }
  return rooms;
}

// Pixels of blocks of half as many lanes. Where 16 vectors hold no more than 5 pixels' sums of two each, 7:
// of as many sums of one the pixels' own elements take the other half, and with another pixel gcc keeps a sum
// in memory.
int narrow_tile(const FlatNest& flat, const Target& target, int most_pixels) {
  constexpr int kFew = 5, kHalf = 7;
  const bool few = target.registers == Registers::kVector && is_float(flat.body->type) && most_pixels <= kFew;
  return few ? kHalf : 2 * most_pixels;
}

// The vector axis, the tile axis and their widths, as plan.bytes wants them.
LoopPlan with_blocks(const FlatNest& flat, LoopPlan plan, const Target& target,
                     const OperandFacts& operands) {
  const auto& constant = operands.constant;
  const bool along = is_along_sum(plan.bytes), of_lanes = is_along_sum_of_lanes(plan.bytes);
  const int most_lanes = along ? target.byte_lanes : target.lanes;
  const int most_pixels = along                       ? target.byte_tile
                          : is_float(flat.body->type) ? target.float_tile
                                                      : target.tile;

  // The vector axis: every streamed read has stride 0 or 1 along it, no bound depends on it, and the result
  // likes it.
  int64_t best = 0;
  for (int a = 0; a < static_cast<int>(flat.axes.size()); ++a) {
    const Axis& axis = flat.axes[a];
    if (axis.reduced || axis.extent < 2) continue;
    bool serves = true;
    for (const Bound& bound : flat.where) serves &= !names_axis(bound.index, a);
    for (const Expr* read : reads_of(flat.body)) {
      const auto stride = coefficient_along((*read)->args[0], a);
      serves &= stride && (constant(*read) || *stride == 0 || *stride == 1);
      if (constant(*read) && chooses_block(flat, *read, a, most_lanes)) serves = false;
    }
    const auto out = coefficient_along(flat.store, a);
    if (!serves || !out) continue;
    const int64_t score = std::min<int64_t>(axis.extent, 4 * most_lanes) * (*out == 1 ? 4 : 1);
    if (score > best) best = score, plan.vector_axis = a;
  }
  if (plan.vector_axis >= 0) {
    const int lanes =
        widens(flat, plan.vector_axis) && !along ? std::min(most_lanes, kWidenedLanes) : most_lanes;
    const int64_t extent = flat.axes[plan.vector_axis].extent,
                  room = operands.rooms[static_cast<size_t>(plan.vector_axis)];
    const bool fills = is_float(flat.body->type) && extent < room && room <= lanes;
    plan.lanes = of_lanes ? byte_lanes_for(extent, room, target)
                 : fills  ? static_cast<int>(room)
                          : lanes_for(extent, lanes);
    const bool scalars = target.byte_lanes > 0 && plan.registers == Registers::kScalar;
    if (scalars && plan.lanes == kBytes && walks_bytes(flat, plan.vector_axis, constant))
      plan.bytes = ByteProducts::kAcrossLanes,
      plan.registers =
          target.along_sum == ByteProducts::kAlongSumOfVectors ? Registers::kVector : plan.registers;
    // Narrow blocks leave room for more of them. Scalars of which each is multiplied once per pixel gain
    // little by several of these: it is much code for a load.
    const std::vector<const Expr*> reads = reads_of(flat.body);
    const bool apart = plan.registers == Registers::kScalar &&
                       std::all_of(reads.begin(), reads.end(), [&](const Expr* read) {
                         return coefficient_along((*read)->args[0], plan.vector_axis).value_or(1) != 0;
                       });
    const bool narrow = of_lanes ? byte_vectors(lanes, target) >= 2 * byte_vectors(plan.lanes, target)
                                 : lanes >= 2 * plan.lanes;
    const int tile = apart ? 1 : narrow ? narrow_tile(flat, target, most_pixels) : most_pixels;
    plan.tile_axis = tile_axis(flat, plan.vector_axis, tile);
    const int64_t blocks = extent / plan.lanes;
    const bool is_apart =
        blocks > 1 && std::ranges::any_of(reads, [&](const Expr* read) {
          return constant(*read) && chooses_block(flat, *read, plan.tile_axis, static_cast<int>(extent));
        });
    if (is_apart) plan.tile_axis = -1;  // what lies side by side comes first
    if (plan.tile_axis >= 0) {
      plan.tile = tile_for(flat.axes[plan.tile_axis].extent, tile);
    } else if (blocks > 1) {
      plan.tile_axis = plan.vector_axis;
      const bool many = !along && plan.registers == Registers::kVector;
      plan.tile = static_cast<int>(std::min<int64_t>(blocks, many ? 4 : most_pixels));
    }
  }
  // Without a vector axis scalars can still share what stays in place, and sums of floats wait for each
  // other.
  if (plan.vector_axis < 0 && plan.registers == Registers::kScalar) {
    plan.tile_axis = tile_axis(flat, -1, target.lanes);
    if (plan.tile_axis >= 0) plan.tile = tile_for(flat.axes[plan.tile_axis].extent, target.lanes);
  }
  if (plan.vector_axis < 0 && plan.registers == Registers::kVector && is_float(flat.body->type)) {
    plan.tile_axis = sums_rows(flat, plan.order) ? innermost_kept(flat, plan.order) : axis_of_many_sums(flat);
    if (plan.tile_axis >= 0) plan.tile = tile_for(flat.axes[plan.tile_axis].extent, kSumsAtOnce);
  }
  order_kept(flat, plan);
  return plan;
}

// The strides by which sums of floats order their terms where those of the operand in memory do not say:
// where its rows come one by one, as all are in the caller's tensor; where it lies by columns, by rows all
// the same.
std::optional<std::vector<int64_t>> strides_of_terms(TensorId id, const Graph& graph, const Layout& layout) {
  const Shape& shape = graph.tensors[id].shape;
  if (is_fed(graph, id)) return row_major_strides(shape);
  if (!lies_by_columns(layout)) return std::nullopt;
  std::vector<int64_t> strides = layout.strides;
  strides[2] = std::abs(strides[3]) * shape[3];
  return strides;
}

// How far a read moves along an axis of the flat nest in a tensor of those strides: of its outermost joined
// axis.
int64_t pace_of(const Nest& nest, const FlatNest& flat, int operand, const std::vector<int64_t>& strides,
                int a) {
  if (flat.walks[static_cast<size_t>(a)].empty()) return 0;
  const int axis = flat.walks[static_cast<size_t>(a)].front();
  int64_t pace = 0;
  visit_reads(nest, [&](const Expr& read) {
    if (read->index != operand || pace != 0) return;
    for (size_t d = 0; d < strides.size(); ++d)
      pace += strides[d] * coefficient_along(read->args[d], axis).value_or(0);
  });
  return std::abs(pace);
}

// The plan in which a constant that the cache does not hold is read once: the loops that choose its blocks
// are outside of those that it stays in place for, where reading the rest for each block is less.
LoopPlan with_weights_outside(const FlatNest& flat, LoopPlan plan, const Node& node, const Graph& graph,
                              const Target& target) {
  if (plan.vector_axis < 0) return plan;
  const Expr* weights = nullptr;
  int64_t others = 0;  // bytes
  for (const Expr* read : reads_of(flat.body)) {
    const Tensor& tensor = graph.tensors[node.reads[(*read)->index]];
    if (tensor.constant && names_axis(*read, plan.vector_axis))
      weights = read;
    else
      others += bytes_of(tensor);
  }
  if (!weights) return plan;
  const auto behind = std::ranges::find_if(plan.order, [&](int a) {
    return flat.axes[a].reduced || a == plan.vector_axis || a == plan.tile_axis;
  });
  const auto chooses = [&](int a) { return names_axis(*weights, a); };
  int64_t blocks = 1, times = 1;
  for (auto a = plan.order.begin(); a != behind; ++a) (chooses(*a) ? blocks : times) *= flat.axes[*a].extent;
  const int64_t bytes = bytes_of(graph.tensors[node.reads[(*weights)->index]]);
  if (bytes > target.costs.cache && bytes * (times - 1) > others * (blocks - 1))
    std::stable_partition(plan.order.begin(), behind, chooses);
  return plan;
}

// A nest, its node and where all lies.
struct Place {
  const Nest& nest;
  const Node& node;
  const Graph& graph;
  const std::vector<Layout>& layouts;
};

// The loops, in whatever order costs least but for what caches hold.
LoopPlan walk_of(const FlatNest& flat, const Place& place, const Target& target) {
  const auto& [nest, node, graph, layouts] = place;
  LoopPlan plan;
  plan.registers = target.registers;
  if (target.registers == Registers::kScalar && target.costs.divide > target.costs.call)
    plan.division = Division::kCall;
  plan.order.resize(flat.axes.size());
  std::iota(plan.order.begin(), plan.order.end(), 0);
  const auto reads = reads_of(flat.body);
  const auto constant = [&](const Expr& read) {
    return graph.tensors[node.reads[read->index]].constant != nullptr;
  };

  // Outputs in the order of the result's memory; reduced axes in the order of the largest streamed operand's.
  const Expr* streamed = nullptr;
  int64_t largest = -1;
  for (const Expr* read : reads) {
    const int64_t size = element_count(graph.tensors[node.reads[(*read)->index]].shape);
    if (!constant(*read) && size > largest) streamed = read, largest = size;
  }
  std::optional<std::vector<int64_t>> of_terms;
  if (streamed && is_float(flat.body->type))
    of_terms =
        strides_of_terms(node.reads[(*streamed)->index], graph, layouts[node.reads[(*streamed)->index]]);
  const auto key = [&](int a) {
    if (of_terms && flat.axes[a].reduced) return pace_of(nest, flat, (*streamed)->index, *of_terms, a);
    const Expr& index =
        (flat.axes[a].reduced || flat.accumulate) && streamed ? (*streamed)->args[0] : flat.store;
    return std::abs(coefficient_along(unwound(index), a).value_or(0));
  };
  std::stable_sort(plan.order.begin(), plan.order.end(), [&](int a, int b) {
    if (flat.axes[a].reduced != flat.axes[b].reduced) return flat.axes[b].reduced;
    return key(a) > key(b);
  });
  if (!has_sums(flat)) return plan;
  const int inner = innermost_reduced(flat, plan.order);
  if (compares_lanes(flat, inner, target)) {
    plan.vector_axis = inner, plan.lanes = target.lanes;
    return plan;
  }
  const OperandFacts operands = {constant, rooms_of(flat, nest, node, graph)};
  if (target.byte_lanes > 0 && target.registers == Registers::kVector) {
    LoopPlan of_lanes = plan;
    of_lanes.bytes = target.along_sum;
    of_lanes = with_blocks(flat, std::move(of_lanes), target, operands);
    return of_lanes.tile > 1 && walks_bytes_of_lanes(flat, of_lanes, constant)
               ? of_lanes
               : with_blocks(flat, std::move(plan), target, operands);
  }
  if (target.byte_lanes > 0 && walks_bytes(flat, inner, constant)) {
    LoopPlan along = plan;
    along.bytes = target.along_sum;
    along = with_blocks(flat, std::move(along), target, operands);
    // Bounds on the sum hold for all of it in the interior of the tile axis.
    const bool has_interior = std::all_of(flat.where.begin(), flat.where.end(), [&](const Bound& bound) {
      return !names_axis(bound.index, inner) ||
             (along.tile_axis >= 0 && names_axis(bound.index, along.tile_axis));
    });
    if (has_interior) return along;
  }
  if (target.along_sum == ByteProducts::kAlongSumOfVectors) {
    LoopPlan vectors = plan;
    vectors.bytes = target.along_sum;
    vectors.order = order_of_vectors(flat, plan.order, constant);
    if (!vectors.order.empty()) return with_blocks(flat, std::move(vectors), target, operands);
  }
  if (const auto pixels = of_pixels(flat, plan, target, constant)) return *pixels;
  return with_blocks(flat, std::move(plan), target, operands);
}

}  // namespace

// Blocks first, which say what is read how often; then, for targets with caches, which loop is outside.
LoopPlan plan_loops(const Nest& nest, const Node& node, const Graph& graph,
                    const std::vector<Layout>& layouts, const Target& target) {
  const FlatNest flat = flat_nest(nest, node, layouts);
  LoopPlan plan = walk_of(flat, {nest, node, graph, layouts}, target);
  return target.costs.cache == 0 ? plan : with_weights_outside(flat, std::move(plan), node, graph, target);
}

}  // namespace arenac
