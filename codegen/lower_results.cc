#include "codegen/lower_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/instructions.h"
#include "frontend/float_functions.h"

namespace arenac {
namespace {

// A sum as a quantised result: min(max(requantize(sum + bias, scale) + zero, low), high), of bytes.
struct Quantised {
  Expr bias, scale;
  int64_t zero, low, high;
};

bool is_number(const Expr& e) { return e->op == Op::kConst; }

bool has_sum(const Expr& formula) {
  return any_of(formula, [](const Expr& e) { return e->op == Op::kAcc; });
}

// Takes op(x, number) off e, if it is that.
int64_t without_number(Op op, Expr& e, int64_t otherwise) {
  if (e->op != op || !is_number(e->args[1])) return otherwise;
  const int64_t number = e->args[1]->value.i;
  e = Expr(e->args[0]);
  return number;
}

// Recognised by structure, from the outside in; a missing clamp is that of the type, a missing zero 0. Limits
// and zero within 9 bits: the instruction adds the zero after the clamp to limits less it (instructions.cc).
std::optional<Quantised> quantised(const Expr& finish, Type stored) {
  if (finish.empty() || finish->op != Op::kCast || finish->type != stored || size_of(stored) != 1 ||
      !is_integer(stored) || finish->args[0]->type != Type::kInt32)
    return std::nullopt;
  const bool is_signed = stored == Type::kInt8;
  Expr e = finish->args[0];
  Quantised q;
  q.high = without_number(Op::kMin, e, is_signed ? 127 : 255);
  q.low = without_number(Op::kMax, e, is_signed ? -128 : 0);
  q.zero = without_number(Op::kAdd, e, 0);
  q.zero -= without_number(Op::kSub, e, 0);
  if (e->op != Op::kRequantize) return std::nullopt;
  q.scale = e->args[1];
  const Expr& sum = e->args[0];
  q.bias = sum->op == Op::kAdd ? sum->args[1] : constant(Type::kInt32, Scalar{.i = 0});
  const bool is_sum = sum->op == Op::kAcc || (sum->op == Op::kAdd && sum->args[0]->op == Op::kAcc);
  const bool fits = std::abs(q.zero) <= 255 && q.low >= -255 && q.high <= 255 && q.low <= q.high;
  return is_sum && fits && !has_sum(q.bias) && !has_sum(q.scale) ? std::optional(q) : std::nullopt;
}

// Whether it is made of functions of many operations that the C has itself.
bool calls(const Expr& value) {
  return any_of(value,
                [](const Expr& e) { return e->type == Type::kFloat32 && float_function(e->op) != nullptr; });
}

// Of a formula of the accumulator the part that every use of it goes through, without functions: of
// (acc + b) / (1 + exp(-(acc + b))) it is acc + b.
Expr shared_part(const Expr& value) {
  Expr part = value;
  any_of(value, [&](const Expr& e) {
    if (e->op == Op::kAcc) part = e;
    return e->op == Op::kAcc;
  });
  for (;;) {
    Expr around;  // the operation that all uses of the part are in
    bool one = true;
    any_of(value, [&](const Expr& e) {
      if (std::ranges::none_of(e->args, [&](const Expr& arg) { return same(arg, part); })) return false;
      one &= around.empty() || same(e, around);
      around = e;
      return false;
    });
    const bool simple = !around.empty() && !calls(around) &&
                        (around->op == Op::kAdd || around->op == Op::kSub || around->op == Op::kMul);
    if (!one || !simple) return part;
    part = around;
  }
}

// The code of 8 bits that the formula takes as the index of a table, and the accumulator for nothing else;
// empty: there is none. Such are activations of quantised networks: Sigmoid of an int8 is a table of 256
// entries.
Expr looked_up(const Expr& value) {
  Expr code;
  any_of(value, [&](const Expr& e) {
    if (e->op != Op::kRead || !has_sum(e)) return false;
    return any_of(e->args[0], [&](const Expr& x) {
      if (size_of(x->type) == 1 && has_sum(x)) code = x;
      return !code.empty();
    });
  });
  if (code.empty()) return code;
  const Expr rest =
      substitute(value, [&](const Expr& e) { return same(e, code) ? constant(e->type, 0) : Expr(); });
  return has_sum(rest) ? Expr() : code;
}

// In which order the results of a block are computed and stored. No order changes a bit: each element is the
// finish of its own sum.
class ResultLowering {
 public:
  ResultLowering(const ScheduledNest& nest, StmtBuilder& at, Type write_type)
      : on_(nest), at_(at), write_type_(write_type) {}

  // In the memory of the result; or, where the pixels of a lane lie side by side there and lanes do not, in
  // rows of pixels, a row a lane, which are then copied. Lanes are often a power of two apart, and stores of
  // a pixel after the other then meet each other in few sets of the cache.
  //
  //   acc0[l], acc1[l], ...    rows[12 * l + j]    y[1024 * l + j]
  void store(Sums sums) {
    if (sums.lanes > 1)  // none of those beyond the axis
      sums.lanes = static_cast<int>(std::min<int64_t>(sums.lanes, on_.extent(on_.plan.vector_axis)));
    if (!stores_across(sums)) return finish(sums);
    const auto count = static_cast<int64_t>(sums.registers.size());
    place_ = new_place("rows", write_type_, sums, {1, count});
    finish(sums);
    const Expr lane = at_.new_int("lane", Interval{0, sums.lanes}),
               k = at_.new_int("pixel", Interval{0, count});
    const auto of_lane = [&](const Expr& e) { return same(e, axis(kLane)) ? lane : Expr(); };
    const Expr from = substitute(target(k, sums.lanes), of_lane);
    place_ = {};
    const Expr to = substitute(target(k, sums.lanes), of_lane);
    at_.loop(lane->index, integer(0), integer(sums.lanes), 1, [&] {
      at_.loop(k->index, integer(0), integer(count), 1, [&] { at_.put(Set{to, from}); });
    });
  }

 private:
  // Where results go: to elements of a register, so far apart; or (-1) to the memory of the result.
  struct Paces {
    int64_t pixel = 0, lane = 0;
  };
  struct Place {
    int reg = -1;
    Paces paces = {};
  };

  // A register of elements for all lanes of all pixels, in the memory of the function.
  Place new_place(const char* name, Type type, const Sums& sums, Paces paces) {
    const int all = sums.lanes * static_cast<int>(sums.registers.size());
    const int reg = at_.new_register(name, type, all, Register::Holds::kElements);
    at_.put(Declare{{reg}, {}});
    return {reg, paces};
  }

  // Of pixel j of the tile, at the lane that runs.
  Expr target(const Expr& j, int lanes) const {
    if (place_.reg < 0) return element(kResult, write_type_, on_.at_point(on_.nest.store, j, lanes));
    const auto& [pixel, lane] = place_.paces;
    return at_.at(place_.reg, axis(kLane) * integer(lane) + j * integer(pixel));
  }

  static constexpr size_t kRow = 4;  // pixels of a lane that are worth a copy

  // Whether a row of pixels is contiguous in memory and lanes are not: channels-first results, as models have
  // at their outputs.
  bool stores_across(const Sums& sums) const {
    const LoopPlan& plan = on_.plan;
    return plan.registers == Registers::kVector && sums.lanes > 1 && sums.registers.size() >= kRow &&
           plan.tile_axis != plan.vector_axis && coefficient_along(on_.nest.store, plan.tile_axis) == 1 &&
           std::abs(coefficient_along(on_.nest.store, plan.vector_axis).value_or(0)) > 1;
  }

  // By tables, where the formula looks the value up; else as it is.
  void finish(const Sums& sums) {
    const Expr value = on_.nest.finish.empty() ? accumulator(on_.type) : on_.nest.finish;
    const bool vectors = on_.plan.registers == Registers::kVector || on_.has_byte_vectors();
    const Expr code = vectors && sums.lanes > 1 ? looked_up(value) : Expr();
    if (code.empty())
      compute(value, write_type_, sums);
    else
      look_up(value, code, sums);
  }

  // First the codes, as vectors; then, in a loop of its own, what tables have for them, which takes one after
  // the other. In one loop the lookups would keep a compiler from making vectors of the codes.
  void look_up(const Expr& value, const Expr& code, const Sums& sums) {
    const Expr entry =
        substitute(value, [&](const Expr& e) { return same(e, code) ? accumulator(code->type) : Expr(); });
    through_memory("codes", code, entry, sums);
  }

  // `part` of the sums of all pixels, and then `rest` of that, its accumulator, in a loop over the pixels.
  //
  //   codes[4 * j + l] = part(acc_j[l]), for all j        for pixel: y[..] = rest(codes[4 * pixel + l])
  void through_memory(const char* name, const Expr& part, const Expr& rest, const Sums& sums) {
    const Place results = place_;
    place_ = new_place(name, part->type, sums, {sums.lanes, 1});
    compute(part, part->type, sums);
    const auto count = static_cast<int64_t>(sums.registers.size());
    const Expr k = at_.new_int("pixel", Interval{0, count}), there = cast(part->type, target(k, sums.lanes));
    place_ = results;
    at_.loop(k->index, integer(0), integer(count), 1, [&] {
      at_.lanes(sums.lanes, [&] {
        at_.put(Set{target(k, sums.lanes), finished(on_.at_point(rest, k, sums.lanes), there)});
      });
    });
  }

  // One loop over the lanes for all pixels: gcc takes loops of one statement apart before it vectorises, and
  // then fails at selections and conversions. What changes the width at the end has a loop of its own.
  void compute(const Expr& value, Type type, const Sums& sums) {
    const int lanes = sums.lanes;
    if (lanes >= kBytes && on_.has_byte_vectors())
      if (const auto q = quantised(value, type)) return quantise(sums, *q, type);
    if (lanes > 1 && sums.registers.size() > 1 && on_.plan.registers == Registers::kVector &&
        value->type == type && calls(value))
      return finish_in_loop(value, sums);
    // What gcc makes vectors of only if it stands in one loop of all pixels, and what it does so anyway.
    const bool selects = any_of(value, [](const Expr& e) {
      return e->op == Op::kCast || e->op == Op::kMin || e->op == Op::kMax || e->op == Op::kSelect;
    });
    const bool to_halves = type == Type::kFloat16 && value->type == Type::kFloat32;
    if (lanes == 1 || (!selects && !to_halves)) {
      for (Stmt& store : stores(value, sums)) at_.lanes(lanes, [&] { at_.put_all({std::move(store)}); });
      return;
    }
    const bool narrows = value->op == Op::kCast && size_of(value->type) != size_of(value->args[0]->type);
    const Expr& wide = narrows ? value->args[0] : value;
    // In two loops: one in the width of the sums, one that only narrows.
    const bool apart = wide->op != Op::kAcc && (narrows || to_halves);
    const Sums last = apart ? widely(wide, sums) : sums;
    Stmts statements = stores(apart ? cast(value->type, accumulator(wide->type)) : value, last);
    const bool around = sums.registers.size() > 1 && place_.reg < 0 && on_.stores_around();
    const Stmts copies = around ? through_blocks(statements, lanes) : Stmts{};
    at_.lanes(lanes, [&] { at_.put_all(std::move(statements)); });
    for (const Stmt& copy : copies) at_.lanes(lanes, [&] { at_.put_all({copy}); });
  }

  // The results of all lanes of a pixel at once.
  void quantise(const Sums& sums, const Quantised& q, Type type) {
    Exchange known;  // what stands in registers
    const auto of_lanes = [&](const Expr& e) {
      if (e->op == Op::kRead && e->index < kResult && coefficient_along(e->args[0], kLane) == 1) return e;
      for (const auto& [there, reg] : known)
        if (same(there, e)) return reg;
      const int reg = at_.new_register(fmt::format("q{}", known.size()), e->type, sums.lanes);
      at_.put(Declare{{reg}, {}});
      at_.lanes(
          sums.lanes,
          [&] {
            at_.put(Set{at_.at(reg), e});
          },
          Lanes::Of::kOperands);
      known.emplace_back(e, at_.at(reg));
      return at_.at(reg);
    };
    const auto number = [](int64_t x) { return constant(Type::kInt32, Scalar{.i = x}); };
    for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j) {
      const Expr bias = of_lanes(on_.at_point(q.bias, j, sums.lanes)),
                 scale = of_lanes(on_.at_point(q.scale, j, sums.lanes));
      at_.lanes(sums.lanes, [&] {
        at_.put(Set{
            target(integer(j), sums.lanes),
            instruction(type == Type::kInt8 ? "requantized_s8" : "requantized_u8",
                        {at_.at(sums.reg(j)), bias, scale, number(q.zero), number(q.low), number(q.high)})});
      });
    }
  }

  // Through memory, a loop over the pixels: functions stand in the C once, where a compiler makes vectors of
  // them. For each of a dozen pixels gcc would call them, lane by lane. What goes there is more than a copy,
  // which gcc would take for memcpy() and keep the sums in memory for it: what there is to be done before the
  // functions, or the sums with the other sign.
  void finish_in_loop(const Expr& value, const Sums& sums) {
    const Expr shared = shared_part(value);
    const bool is_bare = shared->op == Op::kAcc;
    const Expr part = is_bare ? -shared : shared, there = accumulator(part->type);
    const Expr rest = substitute(value, [&](const Expr& e) {
      return !same(e, shared) ? Expr() : is_bare ? -there : there;
    });
    through_memory("sums", part, rest, sums);
  }

  // Sets the elements of each pixel of the tile to `value` of the registers.
  Stmts stores(const Expr& value, const Sums& of) const {
    Stmts all;
    for (int64_t j = of.pixels.begin; j < of.pixels.end; ++j)
      all.push_back(
          {Set{target(integer(j), of.lanes), finished(on_.at_point(value, j, of.lanes), at_.at(of.reg(j)))}});
    return all;
  }

  // Registers with what `value` of the sums is for each pixel.
  Sums widely(const Expr& value, const Sums& sums) {
    Sums wide = {sums.lanes, sums.pixels, 0, {}};
    for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j)
      wide.registers.push_back(at_.new_register(fmt::format("r{}", j), value->type, sums.lanes));
    at_.put(Declare{wide.registers, {}});
    at_.lanes(sums.lanes, [&] {
      for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j)
        at_.put(Set{at_.at(wide.reg(j)), finished(on_.at_point(value, j, sums.lanes), at_.at(sums.reg(j)))});
    });
    return wide;
  }

  // Lets stores go to a block of lanes each; what then copies these. gcc does not know that places in a ring
  // are apart, and a loop with stores to more than a few such it does not vectorise.
  Stmts through_blocks(Stmts& stores, int lanes) {
    Stmts copies;
    Declare blocks;
    for (Stmt& store : stores) {
      Set& set = std::get<Set>(store.is);
      blocks.registers.push_back(at_.new_register(fmt::format("z{}", blocks.registers.size()), write_type_,
                                                  lanes, Register::Holds::kElements));
      const Expr block = at_.at(blocks.registers.back());
      copies.push_back({Set{set.target, block}});
      set.target = block;
    }
    at_.put(std::move(blocks));
    return copies;
  }

  const ScheduledNest& on_;
  StmtBuilder& at_;
  Type write_type_;
  Place place_ = {};
};

}  // namespace

void store_results(const ScheduledNest& nest, StmtBuilder& at, const Sums& sums, Type write_type) {
  ResultLowering(nest, at, write_type).store(sums);
}

}  // namespace arenac
