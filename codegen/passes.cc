#include "codegen/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "codegen/instructions.h"

namespace arenac {
namespace {

// A walk that writes each Lanes out, lane by lane, with new registers name_0, name_1, ... in place of the
// array's elements. Lanes of instructions that store all of them at once remain: what these read of scalars
// is gathered into the array before them.
class LanesToScalars {
 public:
  explicit LanesToScalars(Kernel kernel) : kernel_(std::move(kernel)) {}

  Kernel run() {
    kernel_.body = changed(kernel_.body);
    return std::move(kernel_);
  }

 private:
  // Statements outside of Lanes may name single lanes as well (a product of each of kBytes lanes does): at a
  // constant lane, which becomes its scalar.
  Stmts changed(const Stmts& body) {
    Stmts made;
    std::set<int> gathered;
    for (const Stmt& s : body) {
      // An array is gathered once for statements side by side: `gathered` is of this body.
      if (const Lanes* lanes = std::get_if<Lanes>(&s.is); lanes && stores_all_lanes(*lanes)) {
        for (int number : registers_of(s))
          if (gathered.insert(number).second) gather(number, made);
        made.push_back(s);
      } else if (lanes) {
        for (int l = 0; l < lanes->count; ++l)
          for (const Stmt& each : lanes->body) made.push_back(in_lane(each, l));
      } else if (const Declare* declare = std::get_if<Declare>(&s.is)) {
        Declare scalars{{}, declare->initial};
        for (int number : declare->registers)
          if (is_array(number))
            scalars.registers.push_back(number);
          else
            for (int l = 0; l < kernel_.registers[static_cast<size_t>(number)].lanes; ++l)
              scalars.registers.push_back(scalar(number, l));
        made.push_back({std::move(scalars)});
      } else {
        made.push_back(with_bodies(s, [&](const Stmts& inner) { return changed(inner); }));
        if (Set* set = std::get_if<Set>(&made.back().is))
          set->target = at_fixed_lanes(set->target), set->value = at_fixed_lanes(set->value);
      }
    }
    return made;
  }

  // Whether they are instructions that store what they make of all lanes.
  static bool stores_all_lanes(const Lanes& lanes) {
    return std::all_of(lanes.body.begin(), lanes.body.end(), [](const Stmt& s) {
      const Set* set = std::get_if<Set>(&s.is);
      return set && set->value->op == Op::kInstruction &&
             instructions()[static_cast<size_t>(set->value->index)].lane_operands > 0;
    });
  }

  // Elements of several lanes: instructions store them as a whole and a table is asked for one of them.
  bool is_array(int number) const {
    const Register& is = kernel_.registers[static_cast<size_t>(number)];
    return is.holds == Register::Holds::kElements && is.lanes > 1;
  }

  // Whether the formula reads a lane of a register that becomes a scalar per lane.
  bool reads_lane(const Expr& e) const {
    return e->op == Op::kRead && e->index >= kRegisters && !e->args.empty() &&
           !is_array(e->index - kRegisters);
  }

  // Those that become scalars, of which a statement's formulas read a lane.
  std::set<int> registers_of(const Stmt& s) const {
    std::set<int> all;
    visit_statements({s}, [&](const Stmt& inner) {
      visit_formulas(inner, [&](const Expr& root) {
        any_of(root, [&](const Expr& e) {
          if (reads_lane(e)) all.insert(e->index - kRegisters);
          return false;
        });
      });
    });
    return all;
  }

  // The register with what its scalars are.
  void gather(int number, Stmts& made) {
    made.push_back({Declare{{number}, {}}});
    for (int l = 0; l < kernel_.registers[static_cast<size_t>(number)].lanes; ++l)
      made.push_back(
          {Set{register_at(kernel_, number, integer(l)), register_at(kernel_, scalar(number, l))}});
  }

  // Registers outside of loops over lanes: at certain ones.
  Expr at_fixed_lanes(const Expr& e) {
    return substitute(e, [&](const Expr& x) {
      return reads_lane(x)
                 ? register_at(kernel_, scalar(x->index - kRegisters, static_cast<int>(x->args[0]->value.i)))
                 : Expr();
    });
  }

  // One statement at lane l: the lane's number is a constant, registers are its own. What the lanes define in
  // their loop is one register in the statement and one a lane here, for each keeps another value; so its
  // reads in later statements of the loop are exchanged, too.
  Stmt in_lane(const Stmt& s, int l) {
    Stmt one = with_formulas({s}, [&](const Expr& e) {
      return substitute(e, [&](const Expr& x) {
        if (x->op == Op::kAxis && x->index == kLane) return integer(l);
        const int number = x->index - kRegisters;
        const bool lane = reads_lane(x) || (x->op == Op::kRead && number >= 0 && defined_.contains(number));
        return lane ? register_at(kernel_, scalar(number, l)) : Expr();
      });
    })[0];
    if (Define* define = std::get_if<Define>(&one.is)) {
      defined_.insert(define->reg);
      define->reg = scalar(define->reg, l);
    }
    return one;
  }

  // The register of a lane; of one lane the register itself, unless each lane defines it anew.
  int scalar(int number, int l) {
    const Register is = kernel_.registers[static_cast<size_t>(number)];
    if (is.lanes == 1 && !defined_.contains(number)) return number;
    const auto [at, fresh] =
        scalars_.emplace(std::pair(number, l), static_cast<int>(kernel_.registers.size()));
    if (fresh) kernel_.registers.push_back({fmt::format("{}_{}", is.name, l), is.type, 1, is.holds, {}});
    return at->second;
  }

  Kernel kernel_;
  std::map<std::pair<int, int>, int> scalars_;
  std::set<int> defined_;  // registers that lanes define
};

bool is_constant(const Expr& e) { return e->op == Op::kConst; }

// The single value of a loop's axis, or empty.
// Only of limits that are constants: others may leave no turn at all.
Expr single_value(const For& loop) {
  if (!is_constant(loop.begin) || !is_constant(loop.end)) return {};
  const int64_t begin = loop.begin->value.i, end = loop.end->value.i;
  return begin < end && end - begin <= loop.step ? loop.begin : Expr();
}

// Whether C's block around them keeps names apart; one around others can go.
bool names_anything(const Stmts& body) {
  return std::any_of(body.begin(), body.end(), [](const Stmt& s) {
    return std::holds_alternative<Let>(s.is) || std::holds_alternative<Declare>(s.is) ||
           std::holds_alternative<Define>(s.is);
  });
}

// A loop of one turn becomes a block with its axis as an int; a constant int goes into all that follows it in
// its body. What follows is folded after that, because it may hold loops and ints that have become constant.
//
//   for i in [0, 1): y[i + k] = 0     ->     { const int i = 0; y[i + k] = 0 }     ->     y[k] = 0
Stmts folded(Stmts body) {
  Stmts made;
  for (size_t k = 0; k < body.size(); ++k) {
    Stmt& s = body[k];
    if (const For* loop = std::get_if<For>(&s.is))
      if (const Expr value = single_value(*loop); !value.empty()) {
        Stmts once = {{Let{loop->axis, value}}};
        once.insert(once.end(), loop->body.begin(), loop->body.end());
        s = {Braces{std::move(once)}};
      }
    if (const Let* let = std::get_if<Let>(&s.is); let && is_constant(let->value)) {
      const int a = let->axis;
      const Expr value = let->value;
      // Nothing before a Let in its body can name the int, so the rest of the body is all there is to change.
      const Stmts rest(std::make_move_iterator(body.begin() + static_cast<std::ptrdiff_t>(k) + 1),
                       std::make_move_iterator(body.end()));
      Stmts more = folded(with_formulas(rest, [&](const Expr& e) {
        return substitute(
            e, [&](const Expr& x) { return x->op == Op::kAxis && x->index == a ? value : Expr(); });
      }));
      std::move(more.begin(), more.end(), std::back_inserter(made));
      break;
    }
    Stmt inner = with_bodies(s, [](const Stmts& b) { return folded(b); });
    // A block that names nothing any more is no block.
    Braces* braces = std::get_if<Braces>(&inner.is);
    if (braces && !names_anything(braces->body))
      std::move(braces->body.begin(), braces->body.end(), std::back_inserter(made));
    else
      made.push_back(std::move(inner));
  }
  if (made.size() == 1)
    if (Braces* braces = std::get_if<Braces>(&made[0].is)) return Stmts(std::move(braces->body));
  return made;
}

// Number of the scalar register that it sets, or -1.
// Arrays have an index and are no such.
int scalar_set_by(const Stmt& s) {
  const Set* set = std::get_if<Set>(&s.is);
  return set && set->target->args.empty() ? set->target->index - kRegisters : -1;
}

// A register qualifies in the body that declares it, without a value, if the only statement that sets it is
// in the same body: then nothing reads it before, and no loop sets it again. It becomes a const where it is
// set, and lives from there on alone.
//
//   declare r; for: { r = .. }      stays: the statement is in another body
//   for: { declare r; r = .. }      for: { define r = .. }
Stmts defined(const Stmts& body, const std::map<int, int>& times_set) {
  std::set<int> here;  // declared in this body and set once, also in it
  for (const Stmt& s : body)
    if (const int number = scalar_set_by(s); number >= 0 && times_set.at(number) == 1) here.insert(number);
  std::set<int> declared;
  Stmts made;
  for (const Stmt& s : body) {
    if (const Declare* all = std::get_if<Declare>(&s.is); all && all->initial.empty()) {
      Declare rest;
      for (int number : all->registers)
        if (here.contains(number))
          declared.insert(number);
        else
          rest.registers.push_back(number);
      if (!rest.registers.empty()) made.push_back({std::move(rest)});
    } else if (const int number = scalar_set_by(s); declared.contains(number)) {
      made.push_back({Define{number, std::get<Set>(s.is).value}});
    } else {
      made.push_back(with_bodies(s, [&](const Stmts& inner) { return defined(inner, times_set); }));
    }
  }
  return made;
}

// The x of min(max(x, low), high) of ints, where it is that; else empty.
// In this order of min and max, which quantised layers are lowered to; other ways to say it stay as they are.
Expr held_within(const Expr& e, int64_t low, int64_t high) {
  if (e->op != Op::kMin || e->type != Type::kInt32 || e->args[0]->op != Op::kMax) return {};
  const Expr &most = e->args[1], &least = e->args[0]->args[1];
  const bool both = is_constant(most) && is_constant(least) && most->value.i == high && least->value.i == low;
  return both ? e->args[0]->args[0] : Expr();
}

// From the outside in: what a clamp holds may have clamps of its own.
Expr saturated(const Expr& e) {
  return substitute(e, [](const Expr& x) {
    if (const Expr inner = held_within(x, -128, 127); !inner.empty())
      return instruction("saturate_s8", {saturated(inner)});
    if (const Expr inner = held_within(x, 0, 255); !inner.empty())
      return instruction("saturate_u8", {saturated(inner)});
    return Expr();
  });
}

}  // namespace

Kernel saturate_bytes(Kernel kernel) {
  kernel.body = with_formulas(kernel.body, [](const Expr& e) { return e.empty() ? e : saturated(e); });
  return kernel;
}

// Sets are counted over the whole kernel: one in an inner loop counts, too.
Kernel define_where_set(Kernel kernel) {
  std::map<int, int> times_set;
  visit_statements(kernel.body, [&](const Stmt& s) {
    if (const int number = scalar_set_by(s); number >= 0) ++times_set[number];
  });
  kernel.body = defined(kernel.body, times_set);
  return kernel;
}

Kernel scalar_lanes(Kernel kernel) { return LanesToScalars(std::move(kernel)).run(); }

Kernel fold_constants(Kernel kernel) {
  kernel.body = folded(std::move(kernel.body));
  return kernel;
}

}  // namespace arenac
