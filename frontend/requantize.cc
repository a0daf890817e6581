#include "frontend/requantize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "frontend/facts.h"
#include "frontend/integer_sums.h"
#include "frontend/merge.h"

namespace arenac {
namespace {

// The pattern is that of quantisation to integers (Jacob et al., "Quantization and Training of Neural
// Networks for Efficient Integer-Arithmetic-Only Inference", CVPR 2018, section 2): real = scale * (code -
// zero point), so that a layer between quantised tensors is
//
//   code_y = clamp(round(scale_x * scale_w / scale_y * sum + bias / scale_y) + zero_y)
//
// with one constant factor a channel. Formulas are brought to that shape by reading them as linear functions
// of integers, whatever the order in which the model scales, shifts, adds and clamps.
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
constexpr int64_t kLongestTable = 4096;  // of scales that name several axes
constexpr double kFine = 0x1p-17;        // steps
constexpr int kFinest = 40;              // places of a fixed-point sum

// integer * scale, in int32 and float32; the scale, which is fixed (known at compile time, axes of the nest
// apart), may be empty: 1.
struct Term {
  Expr integer, scale;
};

// The sum of terms and of a fixed shift, which may be empty; held within [low, high] in the end. Of what is
// bounded only positive literals are factors, and it is no summand: the bounds must come last.
struct Linear {
  std::vector<Term> terms;
  Expr shift;
  double low = -kInfinity, high = kInfinity;

  bool is_bounded() const { return low != -kInfinity || high != kInfinity; }
};

bool is_literal(const Expr& e) {
  return e->op == Op::kConst && is_float(e->type) && std::isfinite(e->value.f);
}

// Through apply: as the graph's own arithmetic rounds.
// An infinite bound stays one: infinity * scale.
double rounded(Op op, double a, double b) { return apply(op, Type::kFloat32, {.f = a}, {.f = b}).f; }

// x * by or x / by, for a fixed `by`; summand by summand, as (a + b) * s = a * s + b * s but for rounding.
void scale_by(Linear& x, Op op, const Expr& by) {
  for (Term& term : x.terms)
    term.scale = make(op, {term.scale.empty() ? constant(Type::kFloat32, 1) : term.scale, by});
  if (!x.shift.empty()) x.shift = make(op, {x.shift, by});
  if (x.is_bounded()) x.low = rounded(op, x.low, by->value.f), x.high = rounded(op, x.high, by->value.f);
}

// x + y or x - y.
std::optional<Linear> added(Linear x, Op op, const Linear& y) {
  if (x.is_bounded() || y.is_bounded()) return std::nullopt;
  for (Term term : y.terms) {
    if (op == Op::kSub) term.scale = term.scale.empty() ? constant(Type::kFloat32, -1) : -term.scale;
    x.terms.push_back(term);
  }
  if (x.shift.empty())
    x.shift = y.shift.empty() || op == Op::kAdd ? y.shift : -y.shift;
  else if (!y.shift.empty())
    x.shift = make(op, {x.shift, y.shift});
  return x;
}

// integer = base + offset.
struct Offset {
  Expr base;
  int64_t offset;
};

// Literals at the end of an integer sum, collected:  (acc - 3) + 10  ->  {acc, 7}
Offset split(const Expr& e) {
  if ((e->op == Op::kAdd || e->op == Op::kSub) && e->args[1]->op == Op::kConst) {
    const Offset inner = split(e->args[0]);
    const int64_t by = e->args[1]->value.i;
    return {inner.base, inner.offset + (e->op == Op::kAdd ? by : -by)};
  }
  return {e, 0};
}

Expr int32_constant(double value) { return constant(Type::kInt32, value); }

// The inverse of split; adding 0 is base itself.
Expr with_offset(const Expr& base, int64_t offset) {
  return offset < 0 ? base - int32_constant(static_cast<double>(-offset))
                    : base + int32_constant(static_cast<double>(offset));
}

// To an integer type, from an int32 that may have been one of it.
Expr narrowed(Type type, const Expr& e) {
  return e->op == Op::kCast && e->args[0]->type == type ? e->args[0] : cast(type, e);
}

// What is rounded, and what becomes of it: clamped(round(steps) + zero).
struct Quantising {
  Expr steps;
  double zero = 0, low, high;
};

// What a QuantizeLinear and the operators after it come to, outermost first:
//
//   int8( min(max( round(steps) + 3, -128), 127) )     ->   {steps, zero 3, low -128, high 127}
//
// The clamps may be missing, as the cast saturates, and be tighter, as those of a fused Relu are. A zero
// point is a whole number of at most 2^16.
std::optional<Quantising> quantising(const Expr& e) {
  if (e->op != Op::kCast || !is_integer(e->type) || size_of(e->type) > 2 || e->type == Type::kBool ||
      e->args[0]->type != Type::kFloat32)
    return std::nullopt;
  Quantising all;
  all.low = static_cast<double>(convert(e->type, Type::kFloat64, {.f = -kInfinity}).i);
  all.high = static_cast<double>(convert(e->type, Type::kFloat64, {.f = kInfinity}).i);
  Expr x = e->args[0];
  for (; (x->op == Op::kMin || x->op == Op::kMax) && is_literal(x->args[1]); x = x->args[0]) {
    const double bound = std::clamp(x->args[1]->value.f, all.low, all.high);
    (x->op == Op::kMin ? all.high : all.low) = bound;
  }
  if (x->op == Op::kAdd && is_literal(x->args[1])) all.zero = x->args[1]->value.f, x = x->args[0];
  if (x->op != Op::kRound || std::rint(all.zero) != all.zero || std::abs(all.zero) > 65536)
    return std::nullopt;
  all.steps = x->args[0];
  return all;
}

// The numbers of fixed expressions along the axes that any of them names.
struct Table {
  std::vector<int> axes;  // of the nest
  Shape shape;
};

// Rewrites one nest after the other. Constants that it makes (scales, shifts, tables) become operands of the
// node; reads that are no longer used are dropped when all of its nests are done.
class Requantizer {
 public:
  explicit Requantizer(Graph graph) : graph_(std::move(graph)) {}

  Graph run() {
    visit_nests(graph_.block, [&](Node& node, Nests&) { rewrite(node); });
    return std::move(graph_);
  }

 private:
  void rewrite(Node& node) {
    Nests nests = std::get<Nests>(node.body);
    operands_ = {node.reads};
    bool changed = false;
    for (Nest& nest : nests) {
      nest_ = &nest;
      changed |= select_integers(nest);
      for (Expr* e : {&nest.body, &nest.finish}) {
        if (e->empty()) continue;
        const Expr in_integers = rewritten(*e);
        changed |= &*in_integers != &**e;
        *e = in_integers;
      }
      // a finish that hands on the reduced value is an empty one (graph.h)
      if (!nest.finish.empty() && nest.finish->op == Op::kAcc) nest.finish = Expr();
    }
    nest_ = nullptr;
    if (!changed) return;
    node.reads = std::move(operands_.ids);
    node.body = std::move(nests);
    node = with_used_operands(std::move(node));
  }

  // The greatest of (x - zero) * scale is that of x, whose type is often narrower: a MaxPool between
  // dequantised tensors compares int8 and dequantises one number a window. Needs a positive scale, the same
  // everywhere: else the order would not be that of x.
  //
  //   max(k) (float)(x[k] - 5) * 0.5     ->     (float)(max(k) x[k] - 5) * 0.5
  bool select_integers(Nest& nest) const {
    if ((nest.combine != Combine::kMax && nest.combine != Combine::kMin) || nest.accumulate) return false;
    const auto x = linear(nest.body);
    if (!x || x->terms.size() != 1 || !x->shift.empty() || x->is_bounded()) return false;
    const Expr scale = x->terms[0].scale.empty() ? constant(Type::kFloat32, 1) : x->terms[0].scale;
    if (!is_literal(scale) || scale->value.f <= 0) return false;
    const auto [base, offset] = split(x->terms[0].integer);
    const Expr least = base->op == Op::kCast ? base->args[0] : base;
    if (!is_integer(least->type) || size_of(least->type) > 4) return false;
    const Expr value =
        cast(Type::kFloat32, with_offset(cast(Type::kInt32, accumulator(least->type)), offset)) * scale;
    nest.finish = finished(nest.finish, value);
    nest.body = least;
    return true;
  }

  // From the leaves up, so that a quantised result within another formula is an integer by the time that is
  // looked at. A formula that names its number twice (x * sigmoid(x)) has no linear form; else arithmetic
  // comes before a table, which takes 256 bytes and a read.
  Expr rewritten(const Expr& e) {
    if (e->args.empty()) return e;
    std::vector<Expr> args;
    bool changed = false;
    for (const Expr& arg : e->args) {
      args.push_back(rewritten(arg));
      changed |= &*args.back() != &*arg;
    }
    const Expr now = changed ? with_arguments(e, std::move(args)) : e;
    const Number number = number_of(now);
    if (number.uses > 1) return tabled(now, number.code);
    if (Expr other = quantised(now); !other.empty()) return other;
    if (Expr other = shifted(now); !other.empty()) return other;
    return number.uses == 1 ? tabled(now, number.code) : now;
  }

  bool is_fixed(const Expr& e) const { return arenac::is_fixed(e, operands_, graph_); }

  // Fixed, and to be worked out: not many numbers that the model holds in one or two bytes each, which stay.
  bool is_shift(const Expr& e) const {
    constexpr int64_t kMany = 16;
    return is_fixed(e) && !any_of(e, [&](const Expr& x) {
             if (x->op != Op::kRead) return false;
             const Tensor& t = graph_.tensors[operands_.ids[x->index]];
             return is_integer(t.type) && size_of(t.type) <= 2 && element_count(t.shape) > kMany;
           });
  }

  // e as a linear function of integers. Integers above 32 bits and uint32 are none, as sums are kept in
  // int32. Of a product of two terms, such as that of two dequantised activations, the scale is the product
  // of both.
  std::optional<Linear> linear(const Expr& e) const {
    if (e->type != Type::kFloat32) return std::nullopt;
    if (is_shift(e)) return Linear{{}, e};
    switch (e->op) {
      case Op::kCast: {
        const Expr& x = e->args[0];
        if (!is_integer(x->type) || size_of(x->type) > 4 || x->type == Type::kUint32) return std::nullopt;
        return Linear{{{cast(Type::kInt32, x), {}}}, {}};
      }
      case Op::kNeg: {
        auto x = linear(e->args[0]);
        if (!x || x->is_bounded()) return std::nullopt;
        scale_by(*x, Op::kMul, constant(Type::kFloat32, -1));
        return x;
      }
      case Op::kAdd:
      case Op::kSub: {
        auto x = linear(e->args[0]);
        const auto y = linear(e->args[1]);
        return x && y ? added(std::move(*x), e->op, *y) : std::nullopt;
      }
      case Op::kMul:
      case Op::kDiv:
        return product(e);
      case Op::kMin:
      case Op::kMax: {
        const size_t side = is_literal(e->args[0]) ? 1 : 0;
        auto x = linear(e->args[side]);
        if (!x || !is_literal(e->args[1 - side])) return std::nullopt;
        const double bound = e->args[1 - side]->value.f;
        const auto hold = [&](double v) {
          return e->op == Op::kMin ? std::min(v, bound) : std::max(v, bound);
        };
        x->low = hold(x->low), x->high = hold(x->high);
        return x;
      }
      default:
        return std::nullopt;
    }
  }

  // linear * fixed, fixed * linear, linear / fixed, or term * term whose integers' product fits an int32.
  std::optional<Linear> product(const Expr& e) const {
    const bool left = is_shift(e->args[0]);
    if (left || is_shift(e->args[1])) {
      if (left && e->op == Op::kDiv) return std::nullopt;
      auto x = linear(e->args[left]);
      const Expr& by = e->args[!left];
      if (!x || (x->is_bounded() && !(is_literal(by) && by->value.f > 0))) return std::nullopt;
      scale_by(*x, e->op, by);
      return x;
    }
    if (e->op == Op::kDiv) return std::nullopt;
    const auto x = linear(e->args[0]), y = linear(e->args[1]);
    const auto is_term = [](const std::optional<Linear>& l) {
      return l && l->terms.size() == 1 && l->shift.empty() && !l->is_bounded();
    };
    if (!is_term(x) || !is_term(y)) return std::nullopt;
    const Term &a = x->terms[0], &b = y->terms[0];
    if (most(a.integer) * most(b.integer) > kMost) return std::nullopt;
    const Expr scale = a.scale.empty() ? b.scale : b.scale.empty() ? a.scale : a.scale * b.scale;
    return Linear{{{a.integer * b.integer, scale}}, {}};
  }

  // The largest magnitude of an int32; kMost + 1 where nothing is known. In a finish, the accumulator is what
  // matters, and an interval of its body is none of the sum. So the sum becomes one more axis, of the range
  // that the weights at hand allow (integer_sums.h):
  //
  //   finish acc - 7, |acc| <= 1000      ->     i3 - 7 with i3 in [-1000, 1001)      ->     1007
  int64_t most(const Expr& e) const {
    auto axes = axis_intervals(*nest_);
    const int sum = static_cast<int>(axes.size());
    const bool bounded =
        nest_->combine == Combine::kSum && !nest_->accumulate && is_integer(nest_->body->type);
    const int64_t limit = bounded ? most_of_sums(*nest_, operands_.ids, graph_) : kMost;
    const auto as_axis = [&](const Expr& x) {
      return x->op == Op::kAcc && bounded ? cast(x->type, axis(sum)) : Expr();
    };
    if (limit >= kMost) return bounded ? kMost + 1 : most(e, axes);
    axes.push_back({-limit, limit + 1});
    return most(substitute(e, as_axis), axes);
  }

  int64_t most(const Expr& e, const std::vector<Interval>& axes) const {
    std::vector<const Tensor*> tensors;
    for (TensorId id : operands_.ids) tensors.push_back(&graph_.tensors[id]);
    const ClosedInterval range = closed_interval(e, axes, tensors);
    return std::max(-range.low, range.high);
  }

  // The axes that the scales and the shift name, if their numbers are few. One axis, that of channels, is no
  // matter how long: the model brings as many numbers itself.
  std::optional<Table> table_of(const Linear& x) const {
    std::set<int> axes;
    const auto note = [&](const Expr& e) {
      if (!e.empty())
        any_of(e, [&](const Expr& y) {
          if (y->op == Op::kAxis) axes.insert(y->index);
          return false;
        });
    };
    note(x.shift);
    for (const Term& term : x.terms) note(term.scale);
    Table table;
    for (int a : axes) table.axes.push_back(a), table.shape.push_back(nest_->axes[a].extent);
    if (axes.size() > 1 && element_count(table.shape) > kLongestTable) return std::nullopt;
    return table;
  }

  // The values of a fixed expression at all points of the table, row-major; `absent` everywhere where it is
  // empty. The axes of the nest are renamed to those of the table: i1 alone of a nest is i0 there.
  std::vector<double> numbers(const Table& table, const Expr& e, double absent) const {
    std::vector<double> all(static_cast<size_t>(element_count(table.shape)), absent);
    if (e.empty()) return all;
    const Expr element = substitute(e, [&](const Expr& x) -> Expr {
      if (x->op != Op::kAxis) return {};
      const auto at = std::find(table.axes.begin(), table.axes.end(), x->index);
      return axis(static_cast<int>(at - table.axes.begin()));
    });
    const Value value = fixed_value(table.shape, element, operands_, graph_);
    for (size_t k = 0; k < all.size(); ++k) all[k] = load(value, static_cast<int64_t>(k)).f;
    return all;
  }

  // A constant with these elements, read; a literal where they are one number.
  Expr element(const Table& table, Type type, const std::vector<double>& numbers) {
    const bool one = std::all_of(numbers.begin(), numbers.end(), [&](double v) { return v == numbers[0]; });
    if (one) return constant(type, numbers[0]);
    auto value = std::make_shared<Value>(type, table.shape);
    for (size_t k = 0; k < numbers.size(); ++k)
      store(*value, static_cast<int64_t>(k), constant(type, numbers[k])->value);
    const int operand =
        operand_of({is_float(type) ? "scales" : "shifts", type, table.shape, std::move(value)});
    std::vector<Expr> indices;
    for (int a : table.axes) indices.push_back(axis(a));
    return read(operand, type, std::move(indices));
  }

  // One for equal constants, so that what is quantised in two places stays one expression.
  int operand_of(Tensor constant) {
    const auto equal = [&](TensorId id) {
      const Tensor& t = graph_.tensors[id];
      return t.constant && t.type == constant.type && t.shape == constant.shape && t.name == constant.name &&
             t.constant->bytes == constant.constant->bytes;
    };
    const auto known = std::ranges::find_if(operands_.ids, equal);
    if (known != operands_.ids.end()) return static_cast<int>(known - operands_.ids.begin());
    graph_.tensors.push_back(std::move(constant));
    return operands_.of(static_cast<TensorId>(graph_.tensors.size()) - 1);
  }

  static double greatest(const std::vector<double>& numbers) {
    double most = 0;
    for (double v : numbers) most = std::isfinite(v) ? std::max(most, std::abs(v)) : kInfinity;
    return most;
  }

  // The shift in scales, where that is a whole number up to the shift's own rounding: a float32 bias that was
  // made by rounding n * scale is off by 2^-24 of itself, and by that of the scale. The biases of quantising
  // exporters are such, as these store n in int32. None where one element is not whole, or infinite.
  //
  //   shift 0.75, scale 0.25   ->   3                shift 0.8, scale 0.25   ->   none
  static std::optional<std::vector<double>> whole_shifts(const std::vector<double>& shifts,
                                                         const std::vector<double>& scales) {
    std::vector<double> all;
    for (size_t k = 0; k < shifts.size(); ++k) {
      const double exact = shifts[k] == 0 ? 0 : shifts[k] / scales[k], whole = std::rint(exact);
      if (!(std::abs(whole) <= kMost) || std::abs(exact - whole) > 1e-4 + std::abs(whole) * 0x1p-21)
        return std::nullopt;
      all.push_back(whole);
    }
    return all;
  }

  // round(x) in int32, its clamps aside.
  Expr steps_of(const Linear& x) {
    if (x.terms.empty()) return {};
    const auto table = table_of(x);
    if (!table || element_count(table->shape) == 0) return {};
    return x.terms.size() == 1 ? steps_of_one(x, *table) : steps_of_sum(x, *table);
  }

  // integer * scale + shift as requantize((integer + shift / scale) * 2^up, scale * 2^-up). `up` brings the
  // scale below kScaleLimit, which requantize demands; powers of two change no rounding, so long as the int32
  // has room for them. Scales below kLeastScale are set to it: 2^31 * 2^-33 still rounds to 0. Negative
  // scales throughout become positive ones of the negated integer; scales of both signs are none of these.
  //
  //   acc * 0.7 + 2.1         ->   requantize((acc + 3) * 4, 0.175)
  Expr steps_of_one(const Linear& x, const Table& table) {
    Expr integer = x.terms[0].integer;
    std::vector<double> scales = numbers(table, x.terms[0].scale, 1), shifts = numbers(table, x.shift, 0);
    if (std::all_of(scales.begin(), scales.end(), [](double s) { return s <= 0; })) {
      integer = -integer;
      for (double& s : scales) s = -s;
    }
    const double largest = greatest(scales);
    const int64_t range = most(integer);
    if (*std::min_element(scales.begin(), scales.end()) < 0 || largest > 0x1p24 || range > kMost) return {};
    const auto addends = whole_shifts(shifts, scales);
    double reach = 0;  // of the shifts, in scales
    for (size_t k = 0; k < scales.size(); ++k)
      if (shifts[k] != 0) reach = std::max(reach, std::abs(shifts[k] / scales[k]));
    const bool is_integer =
        addends && std::all_of(scales.begin(), scales.end(), [](double s) { return s == 1; });
    if (is_integer)
      return static_cast<double>(range) + reach <= kMost / 2
                 ? integer + element(table, Type::kInt32, *addends)
                 : Expr();

    if (!addends) return steps_of_sum(x, table);
    int up = 0;
    while (std::ldexp(largest, -up) >= kScaleLimit) ++up;
    if (std::ldexp(static_cast<double>(range) + reach, up) + 1 > kMost) return {};
    for (size_t k = 0; k < scales.size(); ++k) {
      shifts[k] = std::ldexp((*addends)[k], up);
      scales[k] = std::max<double>(std::ldexp(scales[k], -up), kLeastScale);
    }
    const Expr sum = integer * int32_constant(std::ldexp(1, up)) + element(table, Type::kInt32, shifts);
    return requantize(sum, element(table, Type::kFloat32, scales));
  }

  // The scales times 2^fine as whole numbers of 32 bits, and so the shift: sums of which the lowest `fine`
  // bits are rounded away, to nearest even. Where fewer of these say the same in sums of 32 bits, so few: of
  // scales that are all 1, none.
  //
  //   a * 0.5 + b * 0.375     ->    fine 40: a * 2^39 + ...  too large for 32 bits
  //                                 fine 31: a * 2^30 + b * 805306368
  //                                 28 zeros at the end of both: fine 3: a * 4 + b * 3, in int32
  //                                 ((sum + odd + 3) >> 3), where odd is bit 3 of the sum
  //
  // Adding half a unit less one, and one more where the result would be odd, is rounding to nearest even. The
  // error: each scale is off by 2^-fine / 2, so the sum by (ranges) * 2^(-fine - 1) steps, which kFine
  // limits.
  Expr steps_of_sum(const Linear& x, const Table& table) {
    std::vector<std::vector<double>> scales;
    std::vector<double> shifts = numbers(table, x.shift, 0);
    double reach = greatest(shifts), ranges = 1, largest = 0;
    for (const Term& term : x.terms) {
      scales.push_back(numbers(table, term.scale, 1));
      const auto range = static_cast<double>(most(term.integer));
      reach += range * greatest(scales.back());
      ranges += range;
      largest = std::max(largest, greatest(scales.back()));
    }
    int fine = kFinest;
    while (fine > 0 && (std::ldexp(largest, fine) > INT32_MAX || std::ldexp(reach + 1, fine) > 0x1p61))
      --fine;
    if (fine == 0 || reach > kMost / 2 || std::ldexp(ranges, -fine - 1) > kFine) return {};
    std::vector<std::vector<double>> whole = scales;
    whole.push_back(shifts);
    each(whole, [&](double v) { return std::rint(std::ldexp(v, fine)); });
    // Of 32 bits or much more: in vectors gcc 12 takes sums that just exceed these for such that do not.
    const int spare = std::min(fine, trailing_zeros(whole));
    const bool is_short = std::ldexp(reach + 1, fine - spare) < 0x1p31;
    const Type type = is_short ? Type::kInt32 : Type::kInt64;
    if (is_short) fine -= spare, each(whole, [&](double v) { return std::ldexp(v, -spare); });
    const auto number = [&](int64_t n) { return constant(type, {.i = n}); };
    Expr sum = number(0);                       // what is read first stays first
    for (size_t k = 0; k < scales.size(); ++k)  // products of 32 bits each are one instruction
      sum = sum + cast(type, x.terms[k].integer) * cast(type, element(table, Type::kInt32, whole[k]));
    sum = sum + element(table, type, whole.back());
    if (fine == 0) return sum;
    const Expr places = number(fine), odd = make(Op::kAnd, {make(Op::kShr, {sum, places}), number(1)});
    return cast(Type::kInt32, make(Op::kShr, {sum + odd + number((int64_t{1} << (fine - 1)) - 1), places}));
  }

  template <typename Change>
  static void each(std::vector<std::vector<double>>& rows, const Change& change) {
    for (std::vector<double>& numbers : rows) std::ranges::transform(numbers, numbers.begin(), change);
  }

  // The binary places that are zeros at the end of all of the whole numbers.
  static int trailing_zeros(const std::vector<std::vector<double>>& rows) {
    uint64_t any = 0;
    for (const std::vector<double>& numbers : rows)
      for (double v : numbers) any |= static_cast<uint64_t>(std::abs(v));
    return std::countr_zero(any);
  }

  // A quantised result in integers; empty where it has no such form. The zero point joins the literal offset,
  // so that acc's own is not added apart; bounds are rounded as the value is, moved by the zero point, and
  // left out where the value's range lies within.
  Expr quantised(const Expr& e) {
    const auto q = quantising(e);
    if (!q) return {};
    const auto x = linear(q->steps);
    if (!x) return {};
    const Expr steps = steps_of(*x);
    if (steps.empty()) return {};
    const auto held = [&](double bound) { return std::clamp(std::rint(bound) + q->zero, q->low, q->high); };
    const auto low = static_cast<int64_t>(held(x->low)), high = static_cast<int64_t>(held(x->high));
    const auto [base, offset] = split(steps);
    Expr value = with_offset(base, offset + static_cast<int64_t>(q->zero));
    const ClosedInterval range = closed_interval(value, axis_intervals(*nest_), {});
    if (range.low < low) value = max(value, static_cast<double>(low));
    if (range.high > high) value = min(value, static_cast<double>(high));
    return narrowed(e->type, value);
  }

  // An expression of 8 bits, and how often a formula names it; empty: none.
  struct Number {
    Expr code;
    int uses = 0;
  };

  // The only number of a quantised result of 8 bits, where it is of 8 bits itself.
  Number number_of(const Expr& e) const {
    Number number;
    const bool is_one = quantising(e) && size_of(e->type) == 1 && depends_on_one(e->args[0], number);
    return is_one ? number : Number{};
  }

  // The formula of that number as a table.
  // An entry a code, from the lowest:  int8 -128 -> table[0], ..., 127 -> table[255]. What the float formula
  // gives is worked out by folding, bit by bit the same.
  Expr tabled(const Expr& e, const Expr& number) {
    const int64_t lowest = number->type == Type::kInt8 ? -128 : 0;
    const Expr code = cast(number->type, axis(0) + integer(lowest));
    const Expr entry = substitute(e, [&](const Expr& x) { return same(x, number) ? code : Expr(); });
    auto table = std::make_shared<const Value>(fixed_value({256}, entry, operands_, graph_));
    const int operand = operand_of({"table", e->type, {256}, std::move(table)});
    return read(operand, e->type, {cast(Type::kInt64, number) - integer(lowest)});
  }

  // Whether all that is not fixed, and the same everywhere, is within `number`: the first that is found, but
  // for entries of tables, which depend on their index.
  bool depends_on_one(const Expr& e, Number& number) const {
    const bool varies = any_of(e, [](const Expr& x) { return x->op == Op::kAxis || x->op == Op::kAcc; });
    if (!varies && is_fixed(e)) return true;
    const bool is_entry = e->op == Op::kRead && graph_.tensors[operands_.ids[e->index]].constant;
    if (!is_entry && (e->type == Type::kInt8 || e->type == Type::kUint8)) {
      if (number.code.empty()) number.code = e;
      ++number.uses;
      return same(e, number.code);
    }
    return !e->args.empty() && (is_entry || e->op != Op::kRead) &&
           std::all_of(e->args.begin(), e->args.end(),
                       [&](const Expr& arg) { return depends_on_one(arg, number); });
  }

  // integer * scale + shift as (integer + shift / scale) * scale, where the result stays float: of a * b + c
  // a compiler may make one fused operation that rounds once, and another machine may not.
  Expr shifted(const Expr& e) {
    if (e->op != Op::kAdd && e->op != Op::kSub) return {};
    const auto x = linear(e);
    if (!x || x->terms.size() != 1 || x->shift.empty() || x->terms[0].scale.empty()) return {};
    const auto table = table_of(*x);
    if (!table || element_count(table->shape) == 0) return {};
    const auto& [integer, scale] = x->terms[0];
    const auto addends = whole_shifts(numbers(*table, x->shift, 0), numbers(*table, scale, 1));
    if (!addends || static_cast<double>(most(integer)) + greatest(*addends) > kMost) return {};
    return cast(Type::kFloat32, integer + element(*table, Type::kInt32, *addends)) * scale;
  }

  Graph graph_;
  Operands operands_;           // of the node at hand
  const Nest* nest_ = nullptr;  // at hand
};

}  // namespace

Graph with_requantization(Graph graph) { return Requantizer(std::move(graph)).run(); }

}  // namespace arenac
