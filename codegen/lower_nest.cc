#include "codegen/lower_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>

#include "codegen/instructions.h"
#include "frontend/error.h"
#include "frontend/interpret.h"
#include "frontend/partial_sums.h"

namespace arenac {
namespace {

// Whether bounds on the tile axis hold: for all pixels of a tile, for some or none, or that is known when it
// runs.
enum class Holds : uint8_t { kAll, kSome, kMoving };

// The accumulators at work: all lanes of some pixels of a tile, at a level of parts of sums (0: the whole).
struct Sums {
  int lanes;
  Interval pixels;
  int level;
  std::vector<int> registers;  // per pixel
};

using Bounds = std::vector<Bound>;
using Exchange = std::vector<std::pair<Expr, Expr>>;  // one formula by another

Expr replaced(const Expr& body, const Exchange& exchange) {
  return substitute(body, [&](const Expr& e) {
    for (const auto& [from, to] : exchange)
      if (same(e, from)) return to;
    return Expr();
  });
}

Expr both(const Expr& a, const Expr& b) { return a.empty() ? b : a && b; }

// That bounds hold; empty: always.
Expr condition(const Bounds& bounds) {
  Expr all;
  for (const Bound& bound : bounds)
    all = both(both(all, integer(bound.begin) <= bound.index), bound.index < integer(bound.end));
  return all;
}

bool has(const Expr& e, Op op) {
  return any_of(e, [&](const Expr& x) { return x->op == op; });
}
// What can be worked out ahead of a sum.
bool reads_apart(const Expr& e) { return has(e, Op::kRead) && !has(e, Op::kAcc); }

// Numbers of slots in the reads: affine modulo a constant.
std::vector<Expr> slots_in(const Expr& body) {
  std::vector<Expr> all;
  any_of(body, [&](const Expr& e) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const Expr& x) { return same(x, e); });
    if (e->op == Op::kMod && e->type == Type::kInt64 && e->args[1]->op == Op::kConst && !known &&
        affine_form(e->args[0]))
      all.push_back(e);
    return false;
  });
  return all;
}

// The index of the axis that moves the place in a ring least; what is outside of it moves by rows. Their
// count: none does.
size_t moves_least(const Expr& body, const std::vector<int>& axes) {
  size_t first = axes.size();
  int64_t least = INT64_MAX;
  for (const Expr& slot : slots_in(body))
    for (size_t k = 0; k < axes.size(); ++k) {
      const int64_t by = affine_form(slot->args[0])->coefficient(axes[k]);
      if (by > 0 && by < least) least = by, first = k;
    }
  return first;
}

// The index behind the last of the axes that a bound names, if that is not the end: to decide anew for every
// term costs more than it saves. Then the index of the first of them.
size_t behind_named(const std::vector<int>& axes, const Bounds& bounds) {
  const auto named = [&](int a) {
    return std::any_of(bounds.begin(), bounds.end(),
                       [&](const Bound& bound) { return names_axis(bound.index, a); });
  };
  const auto behind = std::find_if(axes.rbegin(), axes.rend(), named).base();
  const auto at = behind != axes.end() ? behind : std::find_if(axes.begin(), axes.end(), named);
  return static_cast<size_t>(at - axes.begin());
}

// The plan's, where the layouts are as it expects.
ByteProducts bytes_at_once(const FlatNest& nest, const LoopPlan& plan) {
  const auto as_it_is = [](const Expr&) { return false; };
  const bool along = plan.bytes == ByteProducts::kAlongSum;
  const int a = along ? innermost_reduced(nest, plan.order) : plan.vector_axis;
  const bool fits = plan.bytes == ByteProducts::kAlongSumOfPixels
                        ? walks_bytes_of_pixels(nest, plan, as_it_is)
                        : walks_bytes(nest, a, as_it_is);
  return fits ? plan.bytes : ByteProducts::kOne;
}

class NestLowering {
 public:
  NestLowering(const FlatNest& nest, const LoopPlan& plan, const KernelOperands& operands)
      : nest_(nest),
        plan_(plan),
        write_type_(operands.write_type),
        aliasing_(operands.aliasing),
        type_(nest.body->type),
        bytes_(bytes_at_once(nest, plan)) {
    for (const Axis& a : nest.axes) kernel_.axes.push_back({0, a.extent});
    ranges_ = kernel_.axes;
    ranges_.resize(kInts, {0, 1});
    ranges_[kLane] = {0, plan.lanes};
    kernel_.widens = widens(nest);
    find_trips();
    find_parts();
  }

  Kernel run() {
    kernel_.body = body_of([&] {
      if (nest_.combine != Combine::kNone && !nest_.accumulate)
        reduction();
      else
        pointwise();
    });
    return std::move(kernel_);
  }

 private:
  // ---- statements, put where the one that is being made stands

  template <typename Body>
  Stmts body_of(const Body& body) {
    Stmts made;
    std::swap(made, here_);
    body();
    std::swap(made, here_);
    return made;
  }
  template <typename S>
  void put(S statement) {
    here_.push_back({std::move(statement)});
  }
  template <typename Body>
  void loop(int a, Expr begin, Expr end, int64_t step, const Body& body) {
    put(For{a, std::move(begin), std::move(end), step, Sweep::kUp, body_of(body)});
  }
  // Over an axis of the output, in the direction of the plan.
  template <typename Body>
  void swept(int a, Interval range, int64_t step, const Body& body) {
    put(For{a, integer(range.begin), integer(range.end), step, plan_.sweep, body_of(body)});
  }
  template <typename Body>
  void lanes_of(int lanes, const Body& body, Lanes::Of of = Lanes::Of::kSums) {
    Stmts made = body_of(body);
    if (lanes > 1)
      put(Lanes{lanes, std::move(made), of});
    else
      std::move(made.begin(), made.end(), std::back_inserter(here_));
  }
  // An empty condition always holds.
  template <typename Body>
  void when(const Expr& condition, const Body& body) {
    if (condition.empty()) return body();
    put(When{condition, body_of(body), {}});
  }

  Expr new_int(std::string name, Interval range) {
    kernel_.ints.push_back({std::move(name), range});
    ranges_.push_back(range);
    return axis(kInts + static_cast<int>(kernel_.ints.size()) - 1);
  }
  Expr new_int(std::string name, const Expr& value) {
    return new_int(std::move(name), interval(value, ranges_, {}));
  }
  Expr let(std::string name, const Expr& value) {
    const Expr number = new_int(std::move(name), value);
    put(Let{number->index, value});
    return number;
  }
  int new_register(std::string name, Type type, int lanes, Register::Holds holds = Register::Holds::kValues) {
    kernel_.registers.push_back({std::move(name), type, lanes, holds});
    return static_cast<int>(kernel_.registers.size()) - 1;
  }

  // ---- the nest

  void find_trips() {
    const auto look = [&](const Expr& root) {
      if (root.empty()) return;
      any_of(root, [&](const Expr& e) {
        if (e->op == Op::kAxis && e->index < 0) trips_[-1 - e->index] = e->extent;
        return false;
      });
    };
    look(nest_.store), look(nest_.body), look(nest_.finish);
    for (const Bound& bound : nest_.where) look(bound.index);
  }

  void find_parts() {
    if (nest_.accumulate || !sums_in_parts(nest_.combine, type_)) return;
    std::vector<int> axes;
    std::vector<int64_t> extents;
    for (int a : plan_.order)
      if (nest_.axes[a].reduced) axes.push_back(a), extents.push_back(nest_.axes[a].extent);
    const auto widths = widths_of_parts(extents);
    for (size_t k = 0; k < axes.size(); ++k) widths_[axes[k]] = widths[k];
  }

  Expr index_of(const Affine& form) const {
    Expr sum = integer(form.constant);
    for (const auto& [a, factor] : form.terms)
      sum = (a < 0 ? iteration(-1 - a, trips_.at(-1 - a)) : axis(a)) * integer(factor) + sum;
    return sum;
  }

  bool down() const { return plan_.sweep == Sweep::kDown; }

  // Where an axis comes among the loops; behind all of them: nowhere.
  std::ptrdiff_t depth_of(int a) const {
    return std::find(plan_.order.begin(), plan_.order.end(), a) - plan_.order.begin();
  }

  template <typename Body>
  void nested(std::span<const int> axes, const Body& body) {
    if (axes.empty()) return body();
    swept(axes[0], {0, nest_.axes[axes[0]].extent}, 1, [&] { nested(axes.subspan(1), body); });
  }

  // No reduction (or one in place onto what stands): loops and a store.
  void pointwise() {
    std::vector<int> axes;
    for (int a : plan_.order)
      if (nest_.axes[a].extent != 1) axes.push_back(a);
    nested(axes, [&] {
      when(condition(nest_.where), [&] {
        const Expr target = element(kResult, write_type_, nest_.store);
        if (nest_.accumulate)
          put(Set{target, make(op_of(nest_.combine), {cast(type_, target), nest_.body})});
        else
          put(Set{target, finished(nest_.finish, nest_.body)});
      });
    });
  }

  // ---- reductions: outer loops | vector blocks | tiles | accumulators over the reduced axes

  void reduction() {
    std::vector<int> axes;
    for (int a : plan_.order) {
      const bool outer = !nest_.axes[a].reduced && a != plan_.vector_axis && a != plan_.tile_axis;
      if (outer && nest_.axes[a].extent != 1) axes.push_back(a);
    }
    nested(axes, [&] {
      if (plan_.vector_axis < 0) {
        tiles([&](int tile, Holds holds) { block(1, tile, holds); });
      } else if (plan_.tile_axis == plan_.vector_axis) {
        wide_blocks();
      } else if (depth_of(plan_.tile_axis) < depth_of(plan_.vector_axis)) {
        tiles([&](int tile, Holds holds) { vectors([&](int lanes) { block(lanes, tile, holds); }); });
      } else {
        vectors([&](int lanes) { tiles([&](int tile, Holds holds) { block(lanes, tile, holds); }); });
      }
    });
  }

  template <typename Body>
  void vectors(const Body& body) {
    stepped(plan_.vector_axis, {0, nest_.axes[plan_.vector_axis].extent}, plan_.lanes, body);
  }

  // Without pixels to share the weights, several vector blocks side by side keep the arithmetic units busy.
  void wide_blocks() {
    const int v = plan_.vector_axis, width = plan_.lanes * plan_.tile;
    stepped(v, {0, nest_.axes[v].extent}, width, [&](int elements) {
      if (elements % plan_.lanes == 0) return block(plan_.lanes, elements / plan_.lanes, Holds::kSome);
      block(elements, 1, Holds::kSome);
    });
  }

  // Covers `range` of axis a in steps of `width`. What is left at the end is covered by a last whole step
  // that computes some elements twice, where that changes nothing; else by a narrower one.
  template <typename Body>
  void stepped(int a, Interval range, int width, const Body& body) {
    const int64_t count = range.end - range.begin, rest = count % width;
    if (count <= 0) return;
    if (count <= width) return at(a, range.begin, [&] { body(static_cast<int>(count)); });
    const bool again =
        std::all_of(aliasing_.begin(), aliasing_.end(), [](Aliasing s) { return s == Aliasing::kApart; });
    if (rest > 0 && again) {
      const Expr block = new_int(fmt::format("b{}", a), range);
      return loop(block->index, integer(range.begin), integer(range.end), width, [&] {
        put(Let{a, min(block, integer(range.end - width))});
        body(width);
      });
    }
    const auto last = [&] {
      if (rest > 0) at(a, range.end - rest, [&] { body(static_cast<int>(rest)); });
    };
    if (down()) last();
    swept(a, {range.begin, range.end - rest}, width, [&] { body(width); });
    if (!down()) last();
  }

  // A block in which axis a has one value.
  template <typename Body>
  void at(int a, int64_t value, const Body& body) {
    put(Braces{body_of([&] {
      put(Let{a, integer(value)});
      body();
    })});
  }

  // Covers the tile axis: body(tile, holds).
  template <typename Body>
  void tiles(const Body& body) {
    const int p = plan_.tile_axis;
    if (p < 0) return body(1, Holds::kSome);
    const Interval all = {0, nest_.axes[p].extent};
    if (varies(p)) return stepped(p, all, plan_.tile, [&](int tile) { body(tile, Holds::kMoving); });
    const Interval inside = interior(p);
    const Interval before = {0, inside.begin}, after = {inside.end, nest_.axes[p].extent};
    const auto border = [&](Interval range) {
      if (range.begin < range.end) swept(p, range, 1, [&] { body(1, Holds::kSome); });
    };
    border(down() ? after : before);
    stepped(p, inside, plan_.tile, [&](int tile) { body(tile, Holds::kAll); });
    border(down() ? before : after);
  }

  // Whether it depends on other outer axes or on the number of a slab where along axis p its bounds hold.
  bool varies(int p) const {
    bool any = false;
    for (const Bound& bound : nest_.where) {
      if (!names_axis(bound.index, p)) continue;
      const auto form = affine_form(bound.index);
      if (!form || form->coefficient(p) <= 0) return false;
      for (const auto& [a, factor] : form->terms) any |= a < 0 || (a != p && !nest_.axes[a].reduced);
    }
    return any;
  }

  // What a form adds at the ends of the given axes' ranges: at the least and at the most.
  std::pair<int64_t, int64_t> spread(const Affine& form, const std::function<bool(int)>& over) const {
    int64_t low = 0, high = 0;
    for (const auto& [a, factor] : form.terms) {
      if (!over(a)) continue;
      const int64_t far = factor * (nest_.axes[a].extent - 1);
      low += std::min<int64_t>(far, 0), high += std::max<int64_t>(far, 0);
    }
    return {low, high};
  }

  // That bounds hold for all of the tile from where it begins and for all values of the `inner` axes.
  Expr tile_fits(const Bounds& bounds, int tile, const std::vector<int>& inner) const {
    Expr all;
    for (const Bound& bound : bounds) {
      const Affine form = *affine_form(bound.index);
      const auto is_inner = [&](int a) { return std::find(inner.begin(), inner.end(), a) != inner.end(); };
      const auto [low, high] = spread(form, is_inner);
      Affine start = form;
      std::erase_if(start.terms, [&](const auto& term) { return is_inner(term.first); });
      const Affine far = start + Affine{high + form.coefficient(plan_.tile_axis) * (tile - 1), {}};
      all = both(both(all, integer(bound.begin) <= index_of(start + Affine{low, {}})),
                 index_of(far) < integer(bound.end));
    }
    return all;
  }

  // Where along axis p every bound that depends on p holds for all values of the reduced axes. Bounds that
  // also depend on other outer axes leave nothing.
  Interval interior(int p) const {
    Interval inside = {0, nest_.axes[p].extent};
    for (const Bound& bound : nest_.where) {
      if (!names_axis(bound.index, p)) continue;
      const auto form = affine_form(bound.index);
      if (!form || form->coefficient(p) <= 0) return {0, 0};
      for (const auto& [a, factor] : form->terms)
        if (a != p && (a < 0 || !nest_.axes[a].reduced)) return {0, 0};
      const auto [low, high] = spread(*form, [&](int a) { return a != p; });
      inside.begin =
          std::max(inside.begin, ceil_div(bound.begin - form->constant - low, form->coefficient(p)));
      inside.end =
          std::min(inside.end, floor_div(bound.end - 1 - form->constant - high, form->coefficient(p)) + 1);
    }
    return inside.begin < inside.end ? inside : Interval{0, 0};
  }

  // ---- sums

  static int register_of(const Sums& sums, int64_t pixel) {
    return sums.registers[static_cast<size_t>(pixel - sums.pixels.begin)];
  }
  Expr sum_at(const Sums& sums, int64_t pixel) const {
    return register_at(kernel_, register_of(sums, pixel));
  }

  // Accumulators for the pixels, at their neutral elements.
  Sums new_sums(int lanes, Interval pixels, int level) {
    Sums sums{lanes, pixels, level, {}};
    for (int64_t j = pixels.begin; j < pixels.end; ++j) {
      const std::string name = level == 0 ? fmt::format("acc{}", j) : fmt::format("part{}_{}", level, j);
      sums.registers.push_back(new_register(name, type_, lanes));
    }
    put(Declare{sums.registers, constant(type_, neutral(nest_.combine, type_))});
    return sums;
  }

  // A part of the sums: accumulators of its own, which its end adds to those outside.
  template <typename Content>
  void part(const Sums& outside, const Content& content) {
    const Sums inside = new_sums(outside.lanes, outside.pixels, outside.level + 1);
    content(inside);
    for (int64_t j = inside.pixels.begin; j < inside.pixels.end; ++j)
      lanes_of(inside.lanes, [&] { put(Set{sum_at(outside, j), sum_at(outside, j) + sum_at(inside, j)}); });
  }

  // `lanes` x `tile` accumulators.
  void block(int lanes, int tile, Holds holds) {
    const Sums all = new_sums(lanes, {0, tile}, 0);
    if (tile == 1 && holds == Holds::kMoving) holds = Holds::kSome;
    Bounds open, moving;
    for (const Bound& bound : nest_.where) {
      const bool tiled = plan_.tile_axis >= 0 && names_axis(bound.index, plan_.tile_axis);
      if (!tiled || holds == Holds::kSome)
        open.push_back(bound);
      else if (holds == Holds::kMoving)
        moving.push_back(bound);
    }
    reduce(all, tile, open, moving);
    finish(all, tile);
  }

  // The loops over the reduced axes. Behind the last that moves pixels beyond bounds they come twice: for
  // when no pixel is beyond any or goes around a ring, and for when each has to be looked at. Places in rings
  // are found outside of the axis that moves them least.
  void reduce(const Sums& all, int tile, const Bounds& open, const Bounds& moving) {
    std::vector<int> axes;
    for (int a : plan_.order)
      if (nest_.axes[a].reduced && nest_.axes[a].extent != 1) axes.push_back(a);
    const Expr body = with_places(axes);
    const size_t least = moves_least(body, axes);
    size_t last = moving.empty() ? least : behind_named(axes, moving);
    if (is_along_sum(bytes_)) last = std::min(last, axes.size() - 1);
    const size_t first = std::min(least, last);
    const std::span<const int> loops(axes);
    const std::vector<int> moved(axes.begin() + static_cast<std::ptrdiff_t>(first), axes.end());
    const std::vector<int> inner(axes.begin() + static_cast<std::ptrdiff_t>(last), axes.end());
    reduced_loops(loops.first(first), open, all, [&](const Bounds& around, const Sums& sums) {
      Expr whole = tile_fits(moving, tile, inner);
      const Expr unwound = sums.lanes > 1 ? within_rings(body, moved, tile, whole) : body;
      reduced_loops(loops.subspan(first, last - first), around, sums,
                    [&](const Bounds& left, const Sums& within) {
                      const auto straight = [&] { terms(inner, left, within, unwound); };
                      if (whole.empty()) return straight();
                      put(When{whole, body_of(straight),
                               body_of([&] { one_by_one(within, inner, left, moving, body); })});
                    });
    });
    placed_.clear();
  }

  // The loops over the `inner` axes for each pixel by itself, where bounds move some of them.
  void one_by_one(const Sums& sums, const std::vector<int>& inner, const Bounds& open, const Bounds& moving,
                  const Expr& body) {
    if (moving.empty()) return terms(inner, open, sums, body);
    for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j) {
      Bounds outside, within = open;
      for (const Bound& bound : moving) {
        const Bound here = {at_point(bound.index, j, 1), bound.begin, bound.end};
        const auto named = [&](int a) { return names_axis(here.index, a); };
        (std::any_of(inner.begin(), inner.end(), named) ? within : outside).push_back(here);
      }
      const Sums one = {sums.lanes, {j, j + 1}, sums.level, {register_of(sums, j)}};
      const auto content = [&] { terms(inner, within, one, body); };
      if (outside.empty())
        put(Braces{body_of(content)});
      else
        when(condition(outside), content);
    }
  }

  void terms(const std::vector<int>& axes, const Bounds& bounds, const Sums& sums, const Expr& term) {
    const bool along = is_along_sum(bytes_) &&
                       std::none_of(bounds.begin(), bounds.end(),
                                    [&](const Bound& bound) { return names_axis(bound.index, axes.back()); });
    const std::span<const int> loops(axes);
    reduced_loops(along ? loops.first(axes.size() - 1) : loops, bounds, sums,
                  [&](const Bounds& left, const Sums& within) {
                    when(condition(left), [&] {
                      if (along && bytes_ == ByteProducts::kAlongSumOfPixels)
                        add_along_of_pixels(axes.back(), within, term);
                      else if (along)
                        add_along(axes.back(), within, term);
                      else if (bytes_ == ByteProducts::kAcrossLanes && within.lanes == kBytes)
                        add_across(within, term);
                      else
                        accumulate(within, with_term(term));
                    });
                  });
  }

  // What one term makes of the accumulator.
  Expr with_term(const Expr& term) const { return make(op_of(nest_.combine), {accumulator(type_), term}); }

  // Half of the kBytes elements from the factor's on.
  static Expr half_of(const char* half, const ByteFactor& factor) {
    return instruction(fmt::format("{}_{}", half, factor.read->type == Type::kInt8 ? "s8" : "u8"),
                       {factor.read, constant(Type::kInt32, Scalar{.i = factor.zero})});
  }

  // The terms along axis a: those of whole blocks of kBytes by `add`, what is left one by one.
  template <typename Add>
  void blocks_along(int a, const Sums& sums, const Expr& term, const Add& add) {
    const int64_t extent = nest_.axes[a].extent, whole = extent - extent % kBytes;
    loop(a, integer(0), integer(whole), kBytes, add);
    if (whole < extent)
      loop(a, integer(whole), integer(extent), 1, [&] { accumulate(sums, with_term(term)); });
  }

  void add_along(int a, const Sums& sums, const Expr& term) {
    const auto factors = *byte_factors(term);
    Expr sum = accumulator(type_);
    for (const char* half : {"even", "odd"})
      sum = instruction("add_products", {half_of(half, factors[0]), half_of(half, factors[1]), sum});
    blocks_along(a, sums, term, [&] { accumulate(sums, sum); });
  }

  Expr defined(const std::string& name, const Expr& value) {
    const int reg = new_register(name, value->type, 1);
    put(Define{reg, value});
    return register_at(kernel_, reg);
  }

  // The same of kBytes pixels: of two rows of one factor, which lies side by side along the pixels, their
  // halves make a pair for each pixel.
  void add_along_of_pixels(int a, const Sums& sums, const Expr& term) {
    if (sums.pixels.end - sums.pixels.begin != kBytes)
      return loop(a, integer(0), integer(nest_.axes[a].extent), 1,
                  [&] { accumulate(sums, with_term(term)); });
    const auto factors = *byte_factors(term);
    const bool first = names_axis(factors[0].read, plan_.tile_axis);
    const ByteFactor &pixels = factors[first ? 0 : 1], &lanes = factors[first ? 1 : 0];
    const auto row_half = [&](const char* half, int row) {
      const Expr read = substitute(pixels.read, [&](const Expr& e) {
        return e->op == Op::kAxis && e->index == a ? e + integer(row) : Expr();
      });
      return defined(fmt::format("{}{}", half, row), half_of(half, {read, pixels.zero}));
    };
    blocks_along(a, sums, term, [&] {
      for (const int row : {0, 1}) {
        Expr weights;
        lanes_of(sums.lanes, [&] {
          const ByteFactor at_lane = {at_point(lanes.read, 0, sums.lanes), lanes.zero};
          weights = defined(fmt::format("w{}", row), half_of(row ? "odd" : "even", at_lane));
        });
        for (const int j : {0, 1}) {
          const char* half = j ? "odd" : "even";
          put(Barrier{Barrier::Against::kEarlyLoads});
          const Expr here = row_half(half, row), next = row_half(half, row + 2);
          const auto add = [&](int pixel, const char* join) {
            const Expr pair = defined(fmt::format("pixel{}_{}", pixel, row), instruction(join, {here, next}));
            const Expr sum = sum_at(sums, sums.pixels.begin + pixel);
            lanes_of(sums.lanes, [&] { put(Set{sum, instruction("add_products", {pair, weights, sum})}); });
          };
          add(j, "join_low");
          add(j + 2, "join_high");
        }
      }
    });
  }

  // A term of each of kBytes lanes: even lanes from one half, odd ones from the other.
  void add_across(const Sums& sums, const Expr& term) {
    Exchange halves;
    const auto once = [&](const Expr& half) {
      for (const auto& [known, there] : halves)
        if (same(known, half)) return there;
      halves.emplace_back(half, defined(fmt::format("v{}", halves.size()), half));
      return halves.back().second;
    };
    for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j) {
      const auto factors = *byte_factors(at_point(term, j, 1));
      for (int l = 0; l < kBytes; ++l) {
        const char* half = l % 2 ? "odd" : "even";
        const Expr sum = register_at(kernel_, register_of(sums, j), l);
        put(Set{sum, instruction(l < 2 ? "add_low_product" : "add_high_product",
                                 {once(half_of(half, factors[0])), once(half_of(half, factors[1])), sum})});
      }
    }
  }

  using Content = std::function<void(const Bounds&, const Sums&)>;

  // The loops over reduced axes, each narrowed by the bounds of which it is the innermost reduced axis;
  // content(bounds that are left, sums). Where the sums have parts along an axis, there are loops over these
  // around it.
  void reduced_loops(std::span<const int> axes, Bounds bounds, const Sums& sums, const Content& content) {
    if (axes.empty()) return content(bounds, sums);
    const int a = axes[0];
    Expr low = integer(0), high = integer(nest_.axes[a].extent);
    int n = 0;
    std::erase_if(bounds, [&](const Bound& bound) {
      const auto form = affine_form(bound.index);
      if (!form || !narrows(*form, a)) return false;
      narrow(bound, a, fmt::format("{}{}", a, n > 0 ? fmt::format("_{}", n) : ""), low, high);
      ++n;
      return true;
    });
    parts_of(a, 0, {integer(0), integer(nest_.axes[a].extent)}, {low, high}, sums,
             [&](const Bounds&, const Sums& within) {
               const auto [from, to] = placed_.equal_range(a);
               for (auto at = from; at != to; ++at) put(at->second);
               const auto inside = [&](const Sums& s) { reduced_loops(axes.subspan(1), bounds, s, content); };
               if (!widths_[a].empty() && widths_[a].back() == 1)  // each value of the axis makes a part
                 part(within, inside);
               else
                 inside(within);
             });
  }

  struct Limits {
    Expr low, high;
  };

  // The loops over the parts from number k on of several values of axis a, which lie in `whole`, and in the
  // innermost over the values in `wanted`.
  void parts_of(int a, size_t k, const Limits& whole, const Limits& wanted, const Sums& sums,
                const Content& content) {
    const int64_t extent = nest_.axes[a].extent;
    const std::vector<int64_t>& widths = widths_[a];
    if (k == widths.size() || widths[k] == 1) {
      const Limits all = {integer(0), integer(extent)};
      Limits limits = k == 0 ? wanted : whole;
      if (k > 0 && !(same(wanted.low, all.low) && same(wanted.high, all.high)))
        limits = {let(fmt::format("from{}", a), max(wanted.low, whole.low)),
                  let(fmt::format("to{}", a), min(wanted.high, whole.high))};
      return loop(a, limits.low, limits.high, 1, [&] { content({}, sums); });
    }
    const int64_t width = widths[k];
    const std::string id = k > 0 ? fmt::format("{}_{}", a, k) : fmt::format("{}", a);
    const Expr begin = new_int("b" + id, {0, extent});
    loop(begin->index, whole.low, whole.high, width, [&] {
      Expr end = begin + integer(width);
      if (extent % width != 0)
        end = let("e" + id, select(whole.high - begin < integer(width), whole.high, end));
      part(sums, [&](const Sums& within) { parts_of(a, k + 1, {begin, end}, wanted, within, content); });
    });
  }

  bool narrows(const Affine& form, int a) const {
    if (form.coefficient(a) == 0) return false;
    // Reduced axes further in are not known yet.
    for (const auto& [x, factor] : form.terms)
      if (x >= 0 && x != a && nest_.axes[x].reduced && depth_of(x) > depth_of(a)) return false;
    return true;
  }

  // begin <= rest + c*i < end as limits of i, which so far runs over [low, high), where low >= 0.
  void narrow(const Bound& bound, int a, const std::string& id, Expr& low, Expr& high) {
    const Affine form = *affine_form(bound.index);
    const int64_t c = form.coefficient(a);
    Affine rest = form;
    std::erase_if(rest.terms, [&](const auto& term) { return term.first == a; });
    // Distances to the near and the far bound, counted so that i moves away from `near`.
    const Affine near = c > 0 ? rest * -1 + Affine{bound.begin, {}} : rest + Affine{1 - bound.end, {}};
    const Affine far = c > 0 ? rest * -1 + Affine{bound.end, {}} : rest + Affine{1 - bound.begin, {}};
    // The division rounds up, but towards zero where that is negative, and then the other limit holds.
    const int64_t step = std::abs(c);
    const auto divided = [&](const Affine& x) { return (index_of(x) + integer(step - 1)) / integer(step); };
    low = let("low" + id, max(let("n" + id, divided(near)), low));
    high = let("high" + id, min(let("f" + id, divided(far)), high));
  }

  // ---- rings

  // The body with names for the slots that are the same for all of a block and for all of the last of `axes`.
  // Each is found in the loop over the last axis that moves it.
  Expr with_places(const std::vector<int>& axes) {
    Exchange found;
    int places = 0;
    for (const Expr& slot : slots_in(nest_.body)) {
      const Affine number = *affine_form(slot->args[0]);
      const auto moves = [&](int a) { return a >= 0 && number.coefficient(a) != 0; };
      int moved_by = -1;
      for (int a : axes)
        if (moves(a)) moved_by = a;
      if (moves(plan_.tile_axis) || moves(plan_.vector_axis) || axes.empty() || moved_by == axes.back())
        continue;
      const Expr place = new_int(fmt::format("p{}", places++), slot);
      found.emplace_back(slot, place);
      if (moved_by < 0)
        put(Let{place->index, slot});
      else
        placed_.emplace(moved_by, Let{place->index, slot});
    }
    places_ = places;
    return replaced(nest_.body, found);
  }

  // The body with the indices into rings as they are when the `inner` axes and the pixels of a tile do not go
  // around them; that they do not is added to `whole`.
  Expr within_rings(const Expr& body, const std::vector<int>& inner, int tile, Expr& whole) {
    Exchange found;
    int places = places_;
    for (const Expr& slot : slots_in(body)) {
      const int64_t slots = slot->args[1]->value.i;
      Affine start = *affine_form(slot->args[0]), rest;
      int64_t far = 0;
      bool moves = false, rises = true;
      for (int a : inner) {
        const int64_t by = start.coefficient(a);
        std::erase_if(start.terms, [&](const auto& term) { return term.first == a; });
        if (by == 0) continue;
        rest = rest + Affine{0, {{a, by}}};
        far += by * (nest_.axes[a].extent - 1);
        moves = true, rises &= by > 0;
      }
      const int p = plan_.tile_axis == plan_.vector_axis ? -1 : plan_.tile_axis;
      const int64_t step = p < 0 ? 0 : start.coefficient(p);
      far += step * (tile - 1);
      if (!moves || !rises || step < 0 || far >= slots || start.coefficient(plan_.vector_axis) != 0) continue;
      const Expr pixel = step > 0 ? axis(p) * integer(step) : integer(0);
      const Expr place = let(fmt::format("p{}", places++), index_of(start) % integer(slots) - pixel);
      whole = both(whole, pixel + place < integer(slots - far));
      found.emplace_back(slot, index_of(rest) + pixel + place);
    }
    return replaced(body, found);
  }

  // ---- terms

  // Whether a read's address falls as a reduced axis rises, as in a transposed convolution.
  bool walks_backwards() const {
    return any_of(nest_.body, [&](const Expr& e) {
      if (e->op != Op::kRead) return false;
      return std::any_of(plan_.order.begin(), plan_.order.end(), [&](int a) {
        return nest_.axes[a].reduced && coefficient_along(e->args[0], a).value_or(0) < 0;
      });
    });
  }

  // The expression for pixel j of the tile and lane l of the block.
  Expr at_point(const Expr& e, int64_t j, int lanes) const {
    return substitute(e, [&](const Expr& x) -> Expr {
      if (x->op != Op::kAxis) return {};
      if (x->index != plan_.tile_axis && x->index != plan_.vector_axis) return {};
      const int step = plan_.tile_axis != plan_.vector_axis ? 1 : plan_.lanes;
      const Expr pixel = x->index == plan_.tile_axis ? x + integer(j * step) : x;
      return x->index == plan_.vector_axis && lanes > 1 ? pixel + axis(kLane) : pixel;
    });
  }

  // One point of the reduced axes, as what it makes of the accumulator: what does not depend on the lane is
  // computed once before the lane loop, what does not depend on the pixel once in it.
  //
  // gcc does not vectorise the loop that a barrier is in, only the loops within: over the lanes. Without it
  // gcc 12.2 unrolls those at -O3 and vectorises the loop around them with the sums of all lanes and pixels
  // at once; then it adds to the wrong ones (depthwise int8 with -mavx2) or, in
  //
  //   for (int j = 0; j < 3; ++j)
  //     for (int i = 0; i < 4; ++i) a += x[i] * w[19 * j + 3 - i];
  //
  // goes on from the sum that was last in the source although it walks w upwards (right with
  // -fno-tree-loop-vectorize, and in clang).
  void accumulate(const Sums& sums, const Expr& sum_and_term) {
    const int lanes = sums.lanes;
    const int64_t tile = sums.pixels.end - sums.pixels.begin;
    if (lanes > 1 || tile > 1 || walks_backwards()) put(Barrier{Barrier::Against::kVectors});
    std::vector<Expr> bodies;
    for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j)
      bodies.push_back(at_point(sum_and_term, j, lanes));
    Exchange ahead;
    const Stmts in_lane = lifted(bodies, lanes, ahead);
    lanes_of(lanes, [&] {
      here_ = in_lane;
      for (int64_t j = 0; j < tile; ++j) {
        const Expr sum = sum_at(sums, sums.pixels.begin + j);
        put(Set{sum, finished(replaced(bodies[static_cast<size_t>(j)], ahead), sum)});
      }
    });
  }

  // Computes ahead what pixels and lanes share; `ahead` says by which registers, the result for each lane.
  Stmts lifted(const std::vector<Expr>& bodies, int lanes, Exchange& ahead) {
    Stmts in_lane;
    const bool conditional = has(nest_.body, Op::kSelect);
    if (conditional || (lanes == 1 && bodies.size() == 1)) return in_lane;
    const auto once = [&](const Expr& e, Stmts& where) {
      const int reg = new_register(fmt::format("v{}", ahead.size()), e->type, 1);
      where.push_back({Define{reg, replaced(e, ahead)}});
      ahead.emplace_back(e, register_at(kernel_, reg));
    };
    const auto each_lane = [&](const Expr& e) {
      const int reg = new_register(fmt::format("v{}", ahead.size()), e->type, lanes);
      put(Declare{{reg}, {}});
      lanes_of(
          lanes,
          [&] {
            put(Set{register_at(kernel_, reg), replaced(e, ahead)});
          },
          Lanes::Of::kOperands);
      ahead.emplace_back(e, register_at(kernel_, reg));
    };
    // Maximal sub-expressions that are wanted.
    using Wanted = std::function<bool(const Expr&)>;
    const std::function<void(const Expr&, const Wanted&, const std::function<void(const Expr&)>&)> scan =
        [&](const Expr& e, const Wanted& wanted, const std::function<void(const Expr&)>& lift) {
          const auto is = [&](const auto& done) { return same(done.first, e); };
          if (std::any_of(ahead.begin(), ahead.end(), is)) return;
          if (wanted(e)) return lift(e);
          if (e->op == Op::kSelect) return;  // its branches may not be evaluated early
          if (e->op == Op::kRead) return;
          for (const Expr& arg : e->args) scan(arg, wanted, lift);
        };
    if (lanes > 1) {
      const auto no_lane = [&](const Expr& e) { return reads_apart(e) && !names_axis(e, kLane); };
      for (const Expr& body : bodies) scan(body, no_lane, [&](const Expr& e) { once(e, here_); });
      // Compilers vectorise the arithmetic only where all elements are of one size.
      for (const Expr& body : bodies) scan(body, widens_read, each_lane);
    }
    if (bodies.size() > 1) {
      const auto in_all = [&](const Expr& e) {
        return reads_apart(e) && any_of(bodies[1], [&](const Expr& x) { return same(x, e); });
      };
      scan(bodies[0], in_all, [&](const Expr& e) { once(e, lanes > 1 ? in_lane : here_); });
    }
    return in_lane;
  }

  // ---- results

  // Sets the elements of each pixel of the tile to `value` of the registers.
  Stmts stores(const Expr& value, const Sums& of) const {
    Stmts all;
    for (int64_t j = of.pixels.begin; j < of.pixels.end; ++j)
      all.push_back({Set{element(kResult, write_type_, at_point(nest_.store, j, of.lanes)),
                         finished(at_point(value, j, of.lanes), sum_at(of, j))}});
    return all;
  }

  // One loop over the lanes for all pixels: gcc takes loops of one statement apart before it vectorises, and
  // then fails at selections and conversions. What changes the width at the end has a loop of its own.
  void finish(const Sums& sums, int tile) {
    const int lanes = sums.lanes;
    const Expr value = nest_.finish.empty() ? accumulator(type_) : nest_.finish;
    const bool selects = any_of(value, [](const Expr& e) {
      return e->op == Op::kCast || e->op == Op::kMin || e->op == Op::kMax || e->op == Op::kSelect;
    });
    if (lanes == 1 || !selects) {
      for (Stmt& store : stores(value, sums)) lanes_of(lanes, [&] { here_.push_back(std::move(store)); });
      return;
    }
    const bool narrows = value->op == Op::kCast && size_of(value->type) != size_of(value->args[0]->type);
    const Sums last = narrows ? widely(value->args[0], sums) : sums;
    Stmts statements = stores(narrows ? cast(value->type, accumulator(value->args[0]->type)) : value, last);
    const Stmts copies = tile > 1 && goes_around() ? through_blocks(statements, lanes) : Stmts{};
    lanes_of(lanes, [&] { here_ = std::move(statements); });
    for (const Stmt& copy : copies) lanes_of(lanes, [&] { here_.push_back(copy); });
  }

  // Registers with what `value` of the sums is for each pixel.
  Sums widely(const Expr& value, const Sums& sums) {
    Sums wide = {sums.lanes, sums.pixels, 0, {}};
    for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j)
      wide.registers.push_back(new_register(fmt::format("r{}", j), value->type, sums.lanes));
    put(Declare{wide.registers, {}});
    lanes_of(sums.lanes, [&] {
      for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j)
        put(Set{sum_at(wide, j), finished(at_point(value, j, sums.lanes), sum_at(sums, j))});
    });
    return wide;
  }

  // Whether pixels of a tile lie anywhere in a ring.
  bool goes_around() const {
    return any_of(nest_.store,
                  [&](const Expr& e) { return e->op == Op::kMod && names_axis(e, plan_.tile_axis); });
  }

  // Lets stores go to a block of lanes each; what then copies these. gcc does not know that places in a ring
  // are apart, and a loop with stores to more than a few such it does not vectorise.
  Stmts through_blocks(Stmts& stores, int lanes) {
    Stmts copies;
    Declare blocks;
    for (Stmt& store : stores) {
      Set& set = std::get<Set>(store.is);
      blocks.registers.push_back(new_register(fmt::format("z{}", blocks.registers.size()), write_type_, lanes,
                                              Register::Holds::kElements));
      const Expr block = register_at(kernel_, blocks.registers.back());
      copies.push_back({Set{set.target, block}});
      set.target = block;
    }
    put(std::move(blocks));
    return copies;
  }

  const FlatNest& nest_;
  const LoopPlan& plan_;
  Type write_type_;
  const std::vector<Aliasing>& aliasing_;
  Type type_;  // of the body
  Kernel kernel_;
  std::vector<Interval> ranges_;  // of all axes
  Stmts here_;
  std::map<int, std::vector<int64_t>> widths_;  // per reduced axis: of parts of the sums
  std::map<int, int64_t> trips_;                // per symbol of an iteration
  std::multimap<int, Let> placed_;              // per reduced axis, places in rings that its loop begins with
  ByteProducts bytes_;
  int places_ = 0;  // that have a name outside of the loops
};

}  // namespace

Kernel lower_nest(const FlatNest& nest, const LoopPlan& plan, const KernelOperands& operands) {
  return NestLowering(nest, plan, operands).run();
}

}  // namespace arenac
