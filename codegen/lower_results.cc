#include "codegen/lower_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/instructions.h"

namespace arenac {
namespace {

// A sum as a quantised result: min(max(requantize(sum + bias, scale) + zero, low), high), of bytes.
struct Quantised {
  Expr bias, scale;
  int64_t zero, low, high;
};

bool is_number(const Expr& e) { return e->op == Op::kConst; }

// Takes op(x, number) off e, if it is that.
int64_t without_number(Op op, Expr& e, int64_t otherwise) {
  if (e->op != op || !is_number(e->args[1])) return otherwise;
  const int64_t number = e->args[1]->value.i;
  e = Expr(e->args[0]);
  return number;
}

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
  const auto has_sum = [](const Expr& x) {
    return any_of(x, [](const Expr& y) { return y->op == Op::kAcc; });
  };
  const bool is_sum = sum->op == Op::kAcc || (sum->op == Op::kAdd && sum->args[0]->op == Op::kAcc);
  const bool fits = std::abs(q.zero) <= 255 && q.low >= -255 && q.high <= 255 && q.low <= q.high;
  return is_sum && fits && !has_sum(q.bias) && !has_sum(q.scale) ? std::optional(q) : std::nullopt;
}

// Whether it is made of functions of many operations that the C has itself.
bool calls(const Expr& value) {
  return any_of(value, [](const Expr& e) {
    return e->type == Type::kFloat32 && (e->op == Op::kExp || e->op == Op::kErf || e->op == Op::kTanh);
  });
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

class ResultLowering {
 public:
  ResultLowering(const ScheduledNest& nest, StmtBuilder& at, Type write_type)
      : on_(nest), at_(at), write_type_(write_type) {}

  // One loop over the lanes for all pixels: gcc takes loops of one statement apart before it vectorises, and
  // then fails at selections and conversions. What changes the width at the end has a loop of its own.
  void finish(const Sums& sums) {
    const int lanes = sums.lanes;
    if (lanes >= kBytes && on_.has_byte_vectors())
      if (const auto q = quantised(on_.nest.finish, write_type_)) return quantise(sums, *q);
    const Expr value = on_.nest.finish.empty() ? accumulator(on_.type) : on_.nest.finish;
    if (lanes > 1 && sums.registers.size() > 1 && on_.plan.registers == Registers::kVector &&
        value->type == write_type_ && calls(value))
      return finish_in_loop(value, sums);
    const bool selects = any_of(value, [](const Expr& e) {
      return e->op == Op::kCast || e->op == Op::kMin || e->op == Op::kMax || e->op == Op::kSelect;
    });
    const bool to_halves = write_type_ == Type::kFloat16 && value->type == Type::kFloat32;
    if (lanes == 1 || (!selects && !to_halves)) {
      for (Stmt& store : stores(value, sums)) at_.lanes(lanes, [&] { at_.put_all({std::move(store)}); });
      return;
    }
    const bool narrows = value->op == Op::kCast && size_of(value->type) != size_of(value->args[0]->type);
    const Expr& wide = narrows ? value->args[0] : value;
    const bool apart = wide->op != Op::kAcc && (narrows || to_halves);
    const Sums last = apart ? widely(wide, sums) : sums;
    Stmts statements = stores(apart ? cast(value->type, accumulator(wide->type)) : value, last);
    const Stmts copies =
        sums.registers.size() > 1 && on_.stores_around() ? through_blocks(statements, lanes) : Stmts{};
    at_.lanes(lanes, [&] { at_.put_all(std::move(statements)); });
    for (const Stmt& copy : copies) at_.lanes(lanes, [&] { at_.put_all({copy}); });
  }

 private:
  // The results of all lanes of a pixel at once.
  void quantise(const Sums& sums, const Quantised& q) {
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
            element(kResult, write_type_, on_.at_point(on_.nest.store, j, sums.lanes)),
            instruction(write_type_ == Type::kInt8 ? "requantized_s8" : "requantized_u8",
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
    const auto count = static_cast<int64_t>(sums.registers.size());
    const Expr lane = axis(kLane), lanes = integer(sums.lanes);
    const int all = at_.new_register("sums", part->type, static_cast<int>(count) * sums.lanes);
    at_.put(Declare{{all}, {}});
    for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j)
      at_.lanes(sums.lanes, [&] {
        at_.put(Set{at_.at(all, integer(j - sums.pixels.begin) * lanes + lane),
                    finished(on_.at_point(part, j, sums.lanes), at_.at(sums.reg(j)))});
      });
    const Expr k = at_.new_int("pixel", Interval{0, count}), j = k + integer(sums.pixels.begin);
    at_.loop(k->index, integer(0), integer(count), 1, [&] {
      at_.lanes(sums.lanes, [&] {
        at_.put(Set{element(kResult, write_type_, on_.at_point(on_.nest.store, j, sums.lanes)),
                    finished(on_.at_point(rest, j, sums.lanes), at_.at(all, k * lanes + lane))});
      });
    });
  }

  // Sets the elements of each pixel of the tile to `value` of the registers.
  Stmts stores(const Expr& value, const Sums& of) const {
    Stmts all;
    for (int64_t j = of.pixels.begin; j < of.pixels.end; ++j)
      all.push_back({Set{element(kResult, write_type_, on_.at_point(on_.nest.store, j, of.lanes)),
                         finished(on_.at_point(value, j, of.lanes), at_.at(of.reg(j)))}});
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
};

}  // namespace

void store_results(const ScheduledNest& nest, StmtBuilder& at, const Sums& sums, Type write_type) {
  ResultLowering(nest, at, write_type).finish(sums);
}

}  // namespace arenac
