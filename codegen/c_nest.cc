#include "codegen/c_nest.h"

#include <algorithm>
#include <set>

#include "codegen/c_text.h"
#include "frontend/error.h"
#include "frontend/partial_sums.h"

namespace arenac {
namespace {

constexpr int kLane = 1000;        // the axis of the innermost lane loop
constexpr int kPlace = 1 + kLane;  // and from there on the places in rings

// Whether bounds on the tile axis hold: for all pixels of a tile, for some or none, or that is known when it
// runs.
enum class Holds : uint8_t { kAll, kSome, kMoving };

// Of what accumulators are at work: all lanes of some pixels of a tile.
struct Sums {
  int lanes;
  Interval pixels;
};

class NestWriter {
 public:
  NestWriter(const FlatNest& nest, const LoopPlan& plan, const std::vector<Type>& read_types, Type write_type,
             const std::vector<Aliasing>& aliasing, const std::string& prefix, Helpers& helpers)
      : nest_(nest),
        plan_(plan),
        read_types_(read_types),
        write_type_(write_type),
        aliasing_(aliasing),
        prefix_(prefix),
        helpers_(helpers),
        type_(nest.body->type) {
    for (const Axis& a : nest.axes) ranges_.push_back({0, a.extent});
    find_parts();
  }

  CKernel run() {
    find_parameters();
    c_.put("{");
    c_.indent();
    const bool reduces = nest_.combine != Combine::kNone && !nest_.accumulate;
    if (reduces)
      reduction();
    else
      pointwise();
    c_.close();
    kernel_.signature = fmt::format("({})\n{}", parameters(), c_.text());
    return std::move(kernel_);
  }

 private:
  void find_parts() {
    if (nest_.accumulate || !sums_in_parts(nest_.combine, type_)) return;
    std::vector<int> axes;
    std::vector<int64_t> extents;
    for (int a : plan_.order)
      if (nest_.axes[a].reduced) axes.push_back(a), extents.push_back(nest_.axes[a].extent);
    const auto widths = widths_of_parts(extents);
    for (size_t k = 0; k < axes.size(); ++k) widths_[axes[k]] = widths[k];
  }

  void find_parameters() {
    std::set<int> reads, symbols;
    const auto look = [&](const Expr& root) {
      if (root.empty()) return;
      any_of(root, [&](const Expr& e) {
        if (e->op == Op::kRead) reads.insert(e->index);
        if (e->op == Op::kAxis && e->index < 0)
          symbols.insert(-1 - e->index), trips_[-1 - e->index] = e->extent;
        return false;
      });
    };
    look(nest_.store), look(nest_.body), look(nest_.finish);
    for (const Bound& bound : nest_.where) look(bound.index);
    for (int operand : reads) {
      if (aliasing_[operand] == Aliasing::kInPlace) continue;
      pointer_[operand] = fmt::format("x{}", kernel_.reads.size());
      kernel_.reads.push_back(operand);
    }
    kernel_.symbols.assign(symbols.begin(), symbols.end());
  }

  std::string parameters() const {
    const bool mixed = std::find(aliasing_.begin(), aliasing_.end(), Aliasing::kMixed) != aliasing_.end();
    const auto only = [&](bool apart) { return apart ? upper_case(prefix_) + "_RESTRICT " : ""; };
    std::string list;
    for (int operand : kernel_.reads)
      list += fmt::format("const {} *{}{}, ", info(read_types_[operand]).c_name,
                          only(aliasing_[operand] == Aliasing::kApart), pointer_.at(operand));
    list += fmt::format("{} *{}y", info(write_type_).c_name, only(!mixed));
    for (int symbol : kernel_.symbols) list += fmt::format(", int t{}", symbol);
    return list;
  }

  CNames names_of(std::string accumulator, std::function<const std::string*(const Expr&)> known = {}) const {
    CNames all;
    all.axis = [](int a) {
      if (a >= kPlace) return fmt::format("p{}", a - kPlace);
      return a == kLane ? std::string("l") : a < 0 ? fmt::format("t{}", -1 - a) : fmt::format("i{}", a);
    };
    all.operand = [this](int operand) {
      const auto at = pointer_.find(operand);
      return at == pointer_.end() ? std::string("y") : at->second;
    };
    all.accumulator = std::move(accumulator);
    all.ranges = ranges_;
    all.ranges.resize(kPlace + places_, {0, 0});
    all.ranges[kLane] = {0, plan_.lanes};
    all.known = std::move(known);
    return all;
  }
  CExpr printer(std::string accumulator = "",
                std::function<const std::string*(const Expr&)> known = {}) const {
    return CExpr(prefix_, helpers_, names_of(std::move(accumulator), std::move(known)));
  }

  bool down() const { return plan_.sweep == Sweep::kDown; }

  // A loop over an axis of the output, one value at a time.
  void open_loop(int a, Interval range) {
    if (down())
      c_.open("for (int i{0} = {2}; i{0} >= {1}; --i{0})", a, range.begin, range.end - 1);
    else
      c_.open("for (int i{0} = {1}; i{0} < {2}; ++i{0})", a, range.begin, range.end);
  }
  void open_loop(int a) { open_loop(a, {0, nest_.axes[a].extent}); }

  // That bounds hold.
  std::string condition(const std::vector<const Bound*>& bounds) const {
    std::string all;
    for (const Bound* bound : bounds) {
      const std::string index = printer().index(bound->index);
      all += fmt::format("{}{} <= {} && {} < {}", all.empty() ? "" : " && ", bound->begin, index, index,
                         bound->end);
    }
    return all;
  }

  // No reduction (or one in place onto what stands): loops and a store.
  void pointwise() {
    int depth = 0;
    for (int a : plan_.order)
      if (nest_.axes[a].extent != 1) open_loop(a), ++depth;
    std::vector<const Bound*> bounds;
    for (const Bound& bound : nest_.where) bounds.push_back(&bound);
    if (!bounds.empty()) c_.open("if ({})", condition(bounds)), ++depth;
    const CExpr p = printer();
    const std::string element = fmt::format("y[{}]", p.index(nest_.store));
    if (nest_.accumulate) {
      const Type storage = write_type_ == compute_type(write_type_) ? type_ : write_type_;
      const std::string before = storage == type_ ? element : printer().stored(type_, storage, element);
      c_.line("{} = {};", element,
              p.stored(write_type_, type_, p.combined(nest_.combine, type_, before, p.value(nest_.body))));
    } else {
      Expr value = nest_.body;
      if (!nest_.finish.empty()) {
        const Expr body = nest_.body;
        value = substitute(nest_.finish, [&](const Expr& e) { return e->op == Op::kAcc ? body : Expr(); });
      }
      c_.line("{} = {};", element, p.stored(write_type_, value->type, p.value(value)));
    }
    while (depth-- > 0) c_.close();
  }

  // ---- reductions: outer loops | vector blocks | tiles | accumulators over the reduced axes

  void reduction() {
    int depth = 0;
    for (int a : plan_.order) {
      const bool outer = !nest_.axes[a].reduced && a != plan_.vector_axis && a != plan_.tile_axis;
      if (outer && nest_.axes[a].extent != 1) open_loop(a), ++depth;
    }
    if (plan_.vector_axis < 0) {
      tiles([&](int tile, Holds holds) { block(1, tile, holds); });
    } else if (plan_.tile_axis == plan_.vector_axis) {
      wide_blocks();
    } else if (depth_of(plan_.tile_axis) < depth_of(plan_.vector_axis)) {
      tiles([&](int tile, Holds holds) { vectors([&](int lanes) { block(lanes, tile, holds); }); });
    } else {
      vectors([&](int lanes) { tiles([&](int tile, Holds holds) { block(lanes, tile, holds); }); });
    }
    while (depth-- > 0) c_.close();
  }

  // Where an axis comes among the loops; behind all of them: nowhere.
  std::ptrdiff_t depth_of(int a) const {
    return std::find(plan_.order.begin(), plan_.order.end(), a) - plan_.order.begin();
  }

  template <typename Body>
  void vectors(const Body& body) {
    stepped(plan_.vector_axis, {0, nest_.axes[plan_.vector_axis].extent}, plan_.lanes, body);
  }

  // Without pixels to share the weights, several vector blocks side by side keep the arithmetic units busy.
  void wide_blocks() {
    const int v = plan_.vector_axis, width = plan_.lanes * plan_.tile;
    const int64_t extent = nest_.axes[v].extent;
    stepped(v, {0, extent}, width, [&](int elements) {
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
      c_.open("for (int b{0} = {1}; b{0} < {2}; b{0} += {3})", a, range.begin, range.end, width);
      c_.line("const int i{0} = b{0} < {1} ? b{0} : {1};", a, range.end - width);
      body(width);
      c_.close();
      return;
    }
    const auto last = [&] {
      if (rest > 0) at(a, range.end - rest, [&] { body(static_cast<int>(rest)); });
    };
    if (down()) {
      last();
      c_.open("for (int i{0} = {2}; i{0} >= {1}; i{0} -= {3})", a, range.begin, range.end - rest - width,
              width);
    } else {
      c_.open("for (int i{0} = {1}; i{0} < {2}; i{0} += {3})", a, range.begin, range.end - rest, width);
    }
    body(width);
    c_.close();
    if (!down()) last();
  }

  // A block in which axis a has one value.
  template <typename Body>
  void at(int a, int64_t value, const Body& body) {
    c_.put("{");
    c_.indent();
    c_.line("const int i{} = {};", a, value);
    body();
    c_.close();
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
    border(p, down() ? after : before, body);
    stepped(p, inside, plan_.tile, [&](int tile) { body(tile, Holds::kAll); });
    border(p, down() ? before : after, body);
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

  // That bounds hold for all of the tile from where it begins and for all values of the `inner` axes.
  std::string tile_fits(const std::vector<const Bound*>& bounds, int tile,
                        const std::vector<int>& inner) const {
    std::string all;
    for (const Bound* bound : bounds) {
      const Affine form = *affine_form(bound->index);
      Affine low = form, high;
      const auto within = [&](const auto& term) {
        return std::find(inner.begin(), inner.end(), term.first) != inner.end();
      };
      std::erase_if(low.terms, within);
      high = low + Affine{form.coefficient(plan_.tile_axis) * (tile - 1), {}};
      for (const auto& term : form.terms) {
        if (!within(term)) continue;
        const auto [a, factor] = term;
        const int64_t far = factor * (nest_.axes[a].extent - 1);
        low.constant += std::min<int64_t>(far, 0), high.constant += std::max<int64_t>(far, 0);
      }
      all += fmt::format("{}{} >= {} && {} < {}", all.empty() ? "" : " && ", index_of(low), bound->begin,
                         index_of(high), bound->end);
    }
    return all;
  }

  template <typename Body>
  void border(int p, Interval range, const Body& body) {
    if (range.begin >= range.end) return;
    open_loop(p, range);
    body(1, Holds::kSome);
    c_.close();
  }

  // Where along axis p every bound that depends on p holds for all values of the reduced axes. Bounds that
  // also depend on other outer axes leave nothing.
  Interval interior(int p) const {
    Interval inside = {0, nest_.axes[p].extent};
    for (const Bound& bound : nest_.where) {
      if (!names_axis(bound.index, p)) continue;
      const auto form = affine_form(bound.index);
      if (!form || form->coefficient(p) <= 0) return {0, 0};
      int64_t low = form->constant, high = form->constant;
      for (const auto& [a, factor] : form->terms) {
        if (a == p) continue;
        if (a < 0 || !nest_.axes[a].reduced) return {0, 0};
        const int64_t far = factor * (nest_.axes[a].extent - 1);
        low += std::min<int64_t>(far, 0), high += std::max<int64_t>(far, 0);
      }
      inside.begin = std::max(inside.begin, ceil_div(bound.begin - low, form->coefficient(p)));
      inside.end = std::min(inside.end, floor_div(bound.end - 1 - high, form->coefficient(p)) + 1);
    }
    return inside.begin < inside.end ? inside : Interval{0, 0};
  }

  // The accumulator of pixel j: of the whole, or of the part of a sum that is written at `level_`.
  std::string accumulator_name(int64_t j) const {
    return level_ == 0 ? fmt::format("a{}", j) : fmt::format("a{}_{}", level_, j);
  }

  // Those of the pixels, at their neutral elements.
  void accumulators(const Sums& sums) {
    std::string names, init;
    for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j) {
      const std::string a = accumulator_name(j);
      const bool first = j == sums.pixels.begin, lanes = sums.lanes > 1;
      names += fmt::format("{}{}{}", first ? "" : ", ", a, lanes ? fmt::format("[{}]", sums.lanes) : "");
      init += fmt::format("{}{}{} = {};", first ? "" : " ", a, lanes ? "[l]" : "",
                          printer().neutral(nest_.combine, type_));
    }
    c_.line("{} {};", c_value_type(type_), names);
    lane_loop(sums.lanes, init);
  }

  // A part of the sums: accumulators of its own, which its end adds to those outside.
  void open_part(const Sums& sums) {
    ++level_;
    accumulators(sums);
  }
  void close_part(const Sums& sums) {
    const char* l = sums.lanes > 1 ? "[l]" : "";
    for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j) {
      const std::string part = accumulator_name(j);
      --level_;
      lane_loop(sums.lanes, fmt::format("{0}{2} += {1}{2};", accumulator_name(j), part, l));
      ++level_;
    }
    --level_;
  }

  // `lanes` x `tile` accumulators.
  void block(int lanes, int tile, Holds holds) {
    accumulators({lanes, {0, tile}});

    if (tile == 1 && holds == Holds::kMoving) holds = Holds::kSome;
    std::vector<const Bound*> open, moving;
    for (const Bound& bound : nest_.where) {
      const bool tiled = plan_.tile_axis >= 0 && names_axis(bound.index, plan_.tile_axis);
      if (!tiled || holds == Holds::kSome)
        open.push_back(&bound);
      else if (holds == Holds::kMoving)
        moving.push_back(&bound);
    }
    sums(lanes, tile, open, moving);
    finish(lanes, tile);
  }

  // The loops over the reduced axes. Behind the last that moves pixels beyond bounds they come twice: for
  // when no pixel is beyond any or goes around a ring, and for when each has to be looked at. Places in rings
  // are found outside of the axis that moves them least.
  void sums(int lanes, int tile, std::vector<const Bound*> open, const std::vector<const Bound*>& moving) {
    std::vector<int> axes;
    for (int a : plan_.order)
      if (nest_.axes[a].reduced && nest_.axes[a].extent != 1) axes.push_back(a);
    const Expr body = with_places(axes);
    const size_t least = moves_least(body, axes), last = moving.empty() ? least : behind_named(axes, moving);
    const auto first = axes.begin() + static_cast<std::ptrdiff_t>(std::min(least, last));
    const auto twice = axes.begin() + static_cast<std::ptrdiff_t>(last);
    const std::vector<int> inner(twice, axes.end());
    const Sums all = {lanes, {0, tile}};
    std::for_each(axes.begin(), first, [&](int a) { reduced_loop(a, open, all); });
    std::string whole = tile_fits(moving, tile, inner);
    const Expr unwound = lanes > 1 ? within_rings(body, {first, axes.end()}, tile, whole) : body;
    std::for_each(first, twice, [&](int a) { reduced_loop(a, open, all); });
    if (!whole.empty()) c_.open("if ({})", whole);
    reduced_loops(inner, open, all, unwound);
    if (!whole.empty()) {
      c_.close(" else {");
      c_.indent();
      one_by_one(lanes, tile, inner, open, moving, body);
      c_.close();
    }
    std::for_each(std::reverse_iterator(twice), axes.rend(), [&](int a) { close_loop(a, all); });
    places_ = 0;
    placed_.clear();
  }

  // The loops over the `inner` axes for each pixel by itself, where bounds move some of them.
  void one_by_one(int lanes, int tile, const std::vector<int>& inner, const std::vector<const Bound*>& open,
                  const std::vector<const Bound*>& moving, const Expr& body) {
    if (moving.empty()) return reduced_loops(inner, open, {lanes, {0, tile}}, body);
    for (int j = 0; j < tile; ++j) {
      std::vector<Bound> here;
      for (const Bound* bound : moving)
        here.push_back({at_point(bound->index, j, 1), bound->begin, bound->end});
      std::vector<const Bound*> outside, within = open;
      for (const Bound& bound : here) {
        const auto named = [&](int a) { return names_axis(bound.index, a); };
        (std::any_of(inner.begin(), inner.end(), named) ? within : outside).push_back(&bound);
      }
      c_.put(outside.empty() ? "{" : fmt::format("if ({}) {{", condition(outside)));
      c_.indent();
      reduced_loops(inner, within, {lanes, {j, j + 1}}, body);
      c_.close();
    }
  }

  // The index behind the last of the axes that a bound names, if that is not the end: to decide anew for
  // every term costs more than it saves. Then the index of the first of them.
  static size_t behind_named(const std::vector<int>& axes, const std::vector<const Bound*>& bounds) {
    const auto named = [&](int a) {
      return std::any_of(bounds.begin(), bounds.end(),
                         [&](const Bound* bound) { return names_axis(bound->index, a); });
    };
    const auto behind = std::find_if(axes.rbegin(), axes.rend(), named).base();
    const auto at = behind != axes.end() ? behind : std::find_if(axes.begin(), axes.end(), named);
    return static_cast<size_t>(at - axes.begin());
  }

  // The index of the axis that moves the place in a ring least; what is outside of it moves by rows. Their
  // count: none does.
  static size_t moves_least(const Expr& body, const std::vector<int>& axes) {
    size_t first = axes.size();
    int64_t least = INT64_MAX;
    for (const Expr& slot : slots_in(body))
      for (size_t k = 0; k < axes.size(); ++k) {
        const int64_t by = affine_form(slot->args[0])->coefficient(axes[k]);
        if (by > 0 && by < least) least = by, first = k;
      }
    return first;
  }

  // Numbers of slots in the reads: affine modulo a constant.
  static std::vector<Expr> slots_in(const Expr& body) {
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

  static Expr replaced(const Expr& body, const std::vector<std::pair<Expr, Expr>>& found) {
    return substitute(body, [&](const Expr& e) {
      for (const auto& [slot, there] : found)
        if (same(e, slot)) return there;
      return Expr();
    });
  }

  // The body with names for the slots that are the same for all of a block and for all of the last of `axes`.
  // Each is found in the loop over the last axis that moves it.
  Expr with_places(const std::vector<int>& axes) {
    std::vector<std::pair<Expr, Expr>> found;
    for (const Expr& slot : slots_in(nest_.body)) {
      const Affine number = *affine_form(slot->args[0]);
      const auto moves = [&](int a) { return a >= 0 && number.coefficient(a) != 0; };
      int moved_by = -1;
      for (int a : axes)
        if (moves(a)) moved_by = a;
      if (moves(plan_.tile_axis) || moves(plan_.vector_axis) || axes.empty() || moved_by == axes.back())
        continue;
      found.emplace_back(slot, axis(kPlace + places_));
      const std::string line = fmt::format("const int p{} = {};", places_++, printer().index(slot));
      if (moved_by < 0)
        c_.put(line);
      else
        placed_.emplace(moved_by, line);
    }
    return replaced(nest_.body, found);
  }

  // The body with the indices into rings as they are when the `inner` axes and the pixels of a tile do not go
  // around them; that they do not is added to `whole`.
  Expr within_rings(const Expr& body, const std::vector<int>& inner, int tile, std::string& whole) {
    std::vector<std::pair<Expr, Expr>> found;
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
      const int place = places_;
      ++places_;
      const Affine first{0, {{kPlace + place, 1}}}, pixel{0, {{p, step}}};
      const std::string less = step > 0 ? " - " + index_of(pixel) : "";
      c_.line("const int p{} = {}{};", place, printer().index(sum_of(start) % integer(slots)), less);
      whole += fmt::format("{}{} < {}", whole.empty() ? "" : " && ",
                           index_of(step > 0 ? pixel + first : first), slots - far);
      found.emplace_back(slot, sum_of(step > 0 ? pixel + rest + first : rest + first));
    }
    return replaced(body, found);
  }

  void reduced_loops(const std::vector<int>& axes, std::vector<const Bound*> bounds, const Sums& sums,
                     const Expr& term) {
    for (int a : axes) reduced_loop(a, bounds, sums);
    if (!bounds.empty()) c_.open("if ({})", condition(bounds));
    accumulate(sums.lanes, sums.pixels, term);
    if (!bounds.empty()) c_.close();
    std::for_each(axes.rbegin(), axes.rend(), [&](int a) { close_loop(a, sums); });
  }

  // The head of a loop over the lanes that gcc leaves whole until it has vectorised it. Else it unrolls loops
  // of up to 200 of its insns first, of fewer than 6 pixels, say, and then computes lane by lane. Vectorised,
  // the loop has at most half as many iterations, and those it may unroll: only then are sums in registers.
  // Where values are widened before, 128-bit vectors of these lie in memory in parts that a sum cannot load
  // at once.
  std::string lanes_of(int lanes) {
    std::string head = fmt::format("for (int l = 0; l < {}; ++l)", lanes);
    if (lanes < 4) return head;
    const std::string name = upper_case(prefix_) + (widens(nest_) ? "_UNROLL_WIDENED" : "_UNROLL");
    helpers_[name] = fmt::format(
        "#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE_SIZE__) && {1}\n"
        "#define {0}_(x) _Pragma(#x)\n#define {0}(n) {0}_(GCC unroll n)\n#else\n#define {0}(n)\n#endif\n",
        name, widens(nest_) ? "defined(__AVX2__)" : "\\\n    (defined(__SSE2__) || defined(__ARM_NEON))");
    return fmt::format("{}({}) {}", name, lanes / 2, head);
  }

  void lane_loop(int lanes, const std::string& statement) {
    if (lanes > 1)
      c_.line("{} {{ {} }}", lanes_of(lanes), statement);
    else
      c_.put(statement);
  }

  // The loop over reduced axis a, narrowed by the bounds of which it is the innermost reduced axis; those are
  // taken out of `bounds`. Where the sums have parts along the axis, there are loops over these around it.
  void reduced_loop(int a, std::vector<const Bound*>& bounds, const Sums& sums) {
    std::string low = "0", high = fmt::format("{}", nest_.axes[a].extent);
    int n = 0;
    for (auto at = bounds.begin(); at != bounds.end();) {
      const auto form = affine_form((*at)->index);
      if (!form || !narrows(*form, a)) {
        ++at;
        continue;
      }
      const int64_t c = form->coefficient(a);
      Affine rest = *form;
      std::erase_if(rest.terms, [&](const auto& term) { return term.first == a; });
      const auto [from, to] = narrowed(rest, c, (*at)->begin, (*at)->end, low, high,
                                       fmt::format("{}{}", a, n++ ? fmt::format("_{}", n) : ""));
      low = from, high = to;
      at = bounds.erase(at);
    }
    const auto [from, to] = part_loops(a, low, high, sums);
    c_.open("for (int i{0} = {1}; i{0} < {2}; ++i{0})", a, from, to);
    const auto [first, last] = placed_.equal_range(a);
    for (auto at = first; at != last; ++at) c_.put(at->second);
    if (is_part(a)) open_part(sums);
  }

  void close_loop(int a, const Sums& sums) {
    if (is_part(a)) close_part(sums);
    c_.close();
    for (int64_t width : widths_[a]) {
      if (width == 1) continue;
      close_part(sums);
      c_.close();
    }
  }

  // Whether each value of the axis makes a part.
  bool is_part(int a) { return !widths_[a].empty() && widths_[a].back() == 1; }

  // The loops over parts of several values of axis a, and the range of the values in [low, high) of one.
  std::pair<std::string, std::string> part_loops(int a, const std::string& low, const std::string& high,
                                                 const Sums& sums) {
    const int64_t extent = nest_.axes[a].extent;
    std::string from = "0", to = fmt::format("{}", extent);
    const bool all = low == from && high == to;
    for (size_t k = 0; k < widths_[a].size() && widths_[a][k] > 1; ++k) {
      const int64_t width = widths_[a][k];
      const std::string id = k > 0 ? fmt::format("{}_{}", a, k) : fmt::format("{}", a);
      c_.open("for (int b{0} = {1}; b{0} < {2}; b{0} += {3})", id, from, to, width);
      from = "b" + id;
      if (extent % width == 0) {
        to = fmt::format("{} + {}", from, width);
      } else {
        c_.line("const int e{0} = {1} - b{0} < {2} ? {1} : b{0} + {2};", id, to, width);
        to = "e" + id;
      }
      open_part(sums);
    }
    if (from == "0") return {low, high};
    if (all) return {from, to};
    c_.line("const int from{0} = {1} > {2} ? {1} : {2};", a, low, from);
    c_.line("const int to{0} = {1} < {2} ? {1} : {2};", a, high, to);
    return {fmt::format("from{}", a), fmt::format("to{}", a)};
  }

  // Whether a read's address falls as axis a rises, as in a transposed convolution.
  bool walks_backwards(int a) const {
    return any_of(nest_.body, [&](const Expr& e) {
      if (e->op != Op::kRead) return false;
      const auto factor = coefficient_along(e->args[0], a);
      return factor && *factor < 0;
    });
  }

  // A statement that does nothing. gcc does not vectorise the loop that it is in, only the loops within: over
  // the lanes. Without it gcc 12.2 unrolls those at -O3 and vectorises the loop around them with the sums of
  // all lanes and pixels at once; then it adds to the wrong ones (depthwise int8 with -mavx2) or, in
  //
  //   for (int j = 0; j < 3; ++j)
  //     for (int i = 0; i < 4; ++i) a += x[i] * w[19 * j + 3 - i];
  //
  // goes on from the sum that was last in the source although it walks w upwards (right with
  // -fno-tree-loop-vectorize, and in clang).
  std::string barrier() {
    const std::string name = upper_case(prefix_) + "_BARRIER";
    helpers_[name] = fmt::format(
        "#if defined(__GNUC__) && !defined(__clang__)\n#define {0} __asm__ "
        "__volatile__(\"\")\n#else\n#define "
        "{0} (void)0\n#endif\n",
        name);
    return name;
  }

  bool narrows(const Affine& form, int a) const {
    if (form.coefficient(a) == 0) return false;
    // Reduced axes further in are not known yet.
    const auto position = [&](int x) { return std::find(plan_.order.begin(), plan_.order.end(), x); };
    for (const auto& [x, factor] : form.terms)
      if (x >= 0 && x != a && nest_.axes[x].reduced && position(x) > position(a)) return false;
    return true;
  }

  // begin <= rest + c*i < end as declared limits of i, which so far runs over [low, high).
  std::pair<std::string, std::string> narrowed(const Affine& rest, int64_t c, int64_t begin, int64_t end,
                                               const std::string& low, const std::string& high,
                                               const std::string& id) {
    // Distances to the near and the far bound, counted so that i moves away from `near`.
    const Affine near = c > 0 ? rest * -1 + Affine{begin, {}} : rest + Affine{1 - end, {}};
    const Affine far = c > 0 ? rest * -1 + Affine{end, {}} : rest + Affine{1 - begin, {}};
    const int64_t step = std::abs(c);
    const auto divided = [&](const std::string& x) {
      return step == 1 ? x : fmt::format("({} + {}) / {}", x, step - 1, step);
    };
    c_.line("const int n{} = {}, f{} = {};", id, index_of(near), id, index_of(far));
    // n > 0 first: C's division of a negative number rounds the other way.
    const std::string more = step == 1 || low == "0"
                                 ? fmt::format("n{} > {}", id, low)
                                 : fmt::format("n{} > 0 && {} > {}", id, divided("n" + id), low);
    c_.line("const int low{0} = {1} ? {2} : {3};", id, more, divided("n" + id), low);
    c_.line("const int high{0} = f{0} <= 0 ? 0 : {1} < {2} ? {1} : {2};", id, divided("f" + id), high);
    return {"low" + id, "high" + id};
  }

  Expr sum_of(const Affine& form) const {
    Expr sum = integer(form.constant);
    for (const auto& [a, factor] : form.terms)
      sum = (a < 0 ? iteration(-1 - a, trips_.at(-1 - a)) : axis(a)) * integer(factor) + sum;
    return sum;
  }
  std::string index_of(const Affine& form) const { return printer().index(sum_of(form)); }

  // The expression for pixel j of the tile and lane l of the block.
  Expr at_point(const Expr& e, int j, int lanes) const {
    return substitute(e, [&](const Expr& x) -> Expr {
      if (x->op != Op::kAxis) return {};
      if (x->index != plan_.tile_axis && x->index != plan_.vector_axis) return {};
      const int step = plan_.tile_axis != plan_.vector_axis ? 1 : plan_.lanes;
      const Expr pixel = x->index == plan_.tile_axis ? x + integer(int64_t{j} * step) : x;
      return x->index == plan_.vector_axis && lanes > 1 ? pixel + axis(kLane) : pixel;
    });
  }

  // One point of the reduced axes: what does not depend on the lane is computed once before the lane loop,
  // what does not depend on the pixel once in it.
  void accumulate(int lanes, Interval pixels, const Expr& term) {
    const int64_t tile = pixels.end - pixels.begin;
    const bool backwards = std::any_of(plan_.order.begin(), plan_.order.end(),
                                       [&](int a) { return nest_.axes[a].reduced && walks_backwards(a); });
    if (lanes > 1 || tile > 1 || backwards) c_.line("{};", barrier());
    std::vector<Expr> bodies;
    for (int64_t j = pixels.begin; j < pixels.end; ++j)
      bodies.push_back(at_point(term, static_cast<int>(j), lanes));
    std::vector<Expr> lifted;
    std::vector<std::string> lifted_names;
    std::string in_lane;

    const auto known = [&](const Expr& e) -> const std::string* {
      for (size_t k = 0; k < lifted.size(); ++k)
        if (same(lifted[k], e)) return &lifted_names[k];
      return nullptr;
    };
    const auto has_read = [](const Expr& e) {
      return any_of(e, [](const Expr& x) { return x->op == Op::kRead; });
    };
    // How a value is computed ahead: before the lane loop, in it, or in a lane loop of its own.
    const auto lift = [&](const Expr& e, const char* letter) {
      const std::string name = fmt::format("{}{}", letter, lifted.size());
      const std::string value = printer("", known).value(e);
      const char* t = c_value_type(e->type);
      if (*letter == 's') c_.line("const {} {} = {};", t, name, value);
      if (*letter == 'w') in_lane += fmt::format("const {} {} = {}; ", t, name, value);
      if (*letter == 'v') {
        c_.line("{} {}[{}];", t, name, lanes);
        c_.line("for (int l = 0; l < {}; ++l) {{ {}[l] = {}; }}", lanes, name, value);
      }
      lifted.push_back(e);
      lifted_names.push_back(*letter == 'v' ? name + "[l]" : name);
    };
    // Maximal sub-expressions: those free of the lane, those that change width (compilers vectorise the
    // arithmetic only where all elements are of one size), those free of the pixel.
    const std::function<void(const Expr&, const std::function<bool(const Expr&)>&, const char*)> scan =
        [&](const Expr& e, const std::function<bool(const Expr&)>& wanted, const char* letter) {
          if (known(e)) return;
          if (wanted(e)) return lift(e, letter);
          if (e->op == Op::kSelect) return;  // its branches may not be evaluated early
          if (e->op == Op::kRead) return;
          for (const Expr& arg : e->args) scan(arg, wanted, letter);
        };
    const bool conditional = any_of(nest_.body, [](const Expr& e) { return e->op == Op::kSelect; });
    if (!conditional && (lanes > 1 || tile > 1)) {
      const auto no_lane = [&](const Expr& e) { return has_read(e) && !names_axis(e, kLane); };
      if (lanes > 1)
        for (const Expr& body : bodies) scan(body, no_lane, "s");
      if (lanes > 1)
        for (const Expr& body : bodies) scan(body, widens_read, "v");
      if (tile > 1) {
        const Expr& other = bodies[1];
        const auto in_all = [&](const Expr& e) {
          return has_read(e) && any_of(other, [&](const Expr& x) { return same(x, e); });
        };
        scan(bodies[0], in_all, lanes > 1 ? "w" : "s");
      }
    }
    std::string statement = in_lane;
    for (int64_t j = 0; j < tile; ++j) {
      const std::string a = accumulator_name(pixels.begin + j) + (lanes > 1 ? "[l]" : "");
      const std::string value = printer("", known).value(bodies[j]);
      const bool plain_sum = nest_.combine == Combine::kSum && is_float(type_);
      statement += plain_sum
                       ? fmt::format("{} += {}; ", a, value)
                       : fmt::format("{} = {}; ", a, printer().combined(nest_.combine, type_, a, value));
    }
    if (statement.size() > 100 && lanes > 1) {
      c_.open("{}", lanes_of(lanes));
      for (size_t from = 0; from < statement.size();) {
        const size_t to = statement.find("; ", from);
        c_.put(statement.substr(from, to + 1 - from));
        from = to + 2;
      }
      c_.close();
    } else {
      statement.pop_back();
      lane_loop(lanes, statement);
    }
  }

  // The statements that store `value` for each pixel of the tile, where `letter` 0, 1, ... is the
  // accumulator.
  std::vector<std::string> stores(const Expr& value, int lanes, int tile, char letter) const {
    std::vector<std::string> all;
    for (int j = 0; j < tile; ++j) {
      const CExpr p = printer(fmt::format("{}{}{}", letter, j, lanes > 1 ? "[l]" : ""));
      all.push_back(fmt::format("y[{}] = {};", p.index(at_point(nest_.store, j, lanes)),
                                p.stored(write_type_, value->type, p.value(at_point(value, j, lanes)))));
    }
    return all;
  }

  // One loop over the lanes for all pixels: gcc takes loops of one statement apart before it vectorises, and
  // then fails at selections and conversions. What changes the width at the end has a loop of its own.
  void finish(int lanes, int tile) {
    const Expr value = nest_.finish.empty() ? accumulator(type_) : nest_.finish;
    const bool selects = any_of(value, [](const Expr& e) {
      return e->op == Op::kCast || e->op == Op::kMin || e->op == Op::kMax || e->op == Op::kSelect;
    });
    if (lanes == 1 || !selects) {
      for (const std::string& statement : stores(value, lanes, tile, 'a')) lane_loop(lanes, statement);
      return;
    }
    const bool narrows = value->op == Op::kCast && size_of(value->type) != size_of(value->args[0]->type);
    if (narrows) {
      const Expr& wide = value->args[0];
      std::string names;
      for (int j = 0; j < tile; ++j) names += fmt::format("{}r{}[{}]", j ? ", " : "", j, lanes);
      c_.line("{} {};", c_value_type(wide->type), names);
      c_.open("{}", lanes_of(lanes));
      for (int j = 0; j < tile; ++j)
        c_.line("r{}[l] = {};", j, printer(fmt::format("a{}[l]", j)).value(at_point(wide, j, lanes)));
      c_.close();
    }
    const Expr last = narrows ? cast(value->type, accumulator(value->args[0]->type)) : value;
    std::vector<std::string> statements = stores(last, lanes, tile, narrows ? 'r' : 'a');
    std::vector<std::string> copies;
    if (tile > 1 && goes_around()) copies = through_blocks(statements, lanes);
    c_.open("{}", lanes_of(lanes));
    for (const std::string& statement : statements) c_.put(statement);
    c_.close();
    for (const std::string& copy : copies) lane_loop(lanes, copy);
  }

  // Whether pixels of a tile lie anywhere in a ring.
  bool goes_around() const {
    return any_of(nest_.store,
                  [&](const Expr& e) { return e->op == Op::kMod && names_axis(e, plan_.tile_axis); });
  }

  // Lets stores "y[index] = value;" go to a block of lanes each; what then copies these. gcc does not know
  // that places in a ring are apart, and a loop with stores to more than a few such it does not vectorise.
  std::vector<std::string> through_blocks(std::vector<std::string>& stores, int lanes) {
    std::vector<std::string> copies;
    std::string names;
    for (size_t j = 0; j < stores.size(); ++j) {
      const size_t end = stores[j].find(" = ");
      const std::string block = fmt::format("z{}", j);
      names += fmt::format("{}{}[{}]", j ? ", " : "", block, lanes);
      copies.push_back(fmt::format("{} = {}[l];", stores[j].substr(0, end), block));
      stores[j] = block + "[l]" + stores[j].substr(end);
    }
    c_.line("{} {};", info(write_type_).c_name, names);
    return copies;
  }

  const FlatNest& nest_;
  const LoopPlan& plan_;
  const std::vector<Type>& read_types_;
  Type write_type_;
  const std::vector<Aliasing>& aliasing_;
  std::string prefix_;
  Helpers& helpers_;
  Type type_;  // of the body
  std::vector<Interval> ranges_;
  std::map<int, std::vector<int64_t>> widths_;  // per reduced axis: of parts of the sums
  int level_ = 0;                               // of parts that are open
  std::map<int, int64_t> trips_;                // per symbol of an iteration
  std::map<int, std::string> pointer_;          // parameter name per operand
  int places_ = 0;                              // in rings, that have a name
  std::multimap<int, std::string> placed_;      // per reduced axis, those that its loop begins with
  CKernel kernel_;
  CText c_;
};

}  // namespace

CKernel c_kernel(const FlatNest& nest, const LoopPlan& plan, const std::vector<Type>& read_types,
                 Type write_type, const std::vector<Aliasing>& aliasing, const std::string& prefix,
                 Helpers& helpers) {
  return NestWriter(nest, plan, read_types, write_type, aliasing, prefix, helpers).run();
}

}  // namespace arenac
