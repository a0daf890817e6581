#include "codegen/lower_results.h"

#include <fmt/format.h>

namespace arenac {
namespace {

class ResultLowering {
 public:
  ResultLowering(const ScheduledNest& nest, StmtBuilder& at, Type write_type)
      : on_(nest), at_(at), write_type_(write_type) {}

  // One loop over the lanes for all pixels: gcc takes loops of one statement apart before it vectorises, and
  // then fails at selections and conversions. What changes the width at the end has a loop of its own.
  void finish(const Sums& sums) {
    const int lanes = sums.lanes;
    const Expr value = on_.nest.finish.empty() ? accumulator(on_.type) : on_.nest.finish;
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
