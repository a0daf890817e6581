#include "codegen/c_formula.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace arenac {
namespace {

// The axis that an index of the output is, apart from a constant, or whose blocks it is in, with that of the
// place in these; -1: none or others.
int stored_axis(const Expr& index) {
  const auto form = affine_form(index);
  if (!form || form->terms.empty() || form->terms.size() > 2) return -1;
  return std::ranges::max(form->terms, {}, [](const auto& term) { return term.second; }).first;
}

// Reduced axis -> axis of the output, of the windows that the nest slides: they are added in an index of one
// of an image's spatial dimensions, those behind the first two.
// Images are [n, c, y, x]: an index there with one axis of the output and one reduced axis is a window, y +
// ky - 1.
std::map<int, int> windows_of(const Nest& nest) {
  std::map<int, int> windows;
  visit_reads(nest, [&](const Expr& read) {
    for (size_t d = 2; d < read->args.size(); ++d) {
      const auto form = affine_form(read->args[d]);
      if (!form || form->terms.size() != 2) continue;
      const int a = form->terms[0].first, b = form->terms[1].first;
      if (a < 0 || nest.axes[a].reduced == nest.axes[b].reduced) continue;
      windows.emplace(nest.axes[a].reduced ? a : b, nest.axes[a].reduced ? b : a);
    }
  });
  return windows;
}

// Gives every axis a name of its own.
class AxisNames {
 public:
  explicit AxisNames(const Nest& nest) : nest_(nest), names_(nest.axes.size()) {}

  std::vector<std::string> run() {
    const std::map<int, int> windows = windows_of(nest_);
    std::set<int> spatial;
    for (const auto& [reduced, slid] : windows) spatial.insert(slid);
    if (!spatial.empty() && spatial.size() <= 3) {
      name_stored(spatial);
      for (const auto& [reduced, slid] : windows) name(reduced, "k" + names_[slid]);
      // Of a convolution: what is reduced and no window is channels.
      name_rest(true, {"c", "d", "e"});
    }
    name_rest(false, {"i", "j", "p", "q", "r", "s", "u", "v"});
    name_rest(true, {"k", "c", "d", "e", "f", "g", "h"});
    for (size_t a = 0; a < names_.size(); ++a)  // more than there are letters
      for (std::string more = "a"; names_[a].empty(); more += 'a') name(static_cast<int>(a), more);
    return names_;
  }

 private:
  // The first name that an axis is offered and nobody has stays.
  void name(int a, const std::string& name) {
    if (names_[a].empty() && taken_.insert(name).second) names_[a] = name;
  }

  // Of the output's axes, from the last spatial one on: x, y, z; of the others n, m.
  void name_stored(const std::set<int>& spatial) {
    std::vector<std::string> images = {"x", "y", "z"}, others = {"n", "m"};
    size_t image = 0, other = 0;
    for (auto index = nest_.store.rbegin(); index != nest_.store.rend(); ++index)
      if (const int a = stored_axis(*index); spatial.contains(a)) name(a, images[image++]);
    for (const Expr& index : nest_.store) {
      const int a = stored_axis(index);
      if (spatial.contains(a) || other == others.size()) continue;
      if (a >= 0) name(a, others[other]);
      ++other;
    }
  }

  // Those of a kind that have none yet, axes of one value last: these stand in no formula.
  void name_rest(bool reduced, const std::vector<std::string>& letters) {
    for (const bool one : {false, true})
      for (int a = 0; a < static_cast<int>(names_.size()); ++a)
        if (nest_.axes[a].reduced == reduced && (nest_.axes[a].extent == 1) == one)
          for (const std::string& letter : letters) name(a, letter);
  }

  const Nest& nest_;
  std::vector<std::string> names_;
  std::set<std::string> taken_;
};

// Conversions that may change a number.
// Others are not shown: a reader of the formula wants the mathematics, and a widened factor is the same
// number.
bool narrows(const Expr& cast) {
  const Type from = cast->args[0]->type, to = cast->type;
  if (is_float(to)) return false;
  return !is_integer(from) || to == Type::kBool || size_of(to) < size_of(from);
}

// The comment in the words of the model's own indices: it reads the nest as imported and not as flattened, so
// that a reader can hold it against the ONNX operator. Where several nests share a kernel it is that of the
// first.
class KernelComment {
 public:
  KernelComment(const Schedule& schedule, size_t step, size_t k, const std::vector<std::string>& operands)
      : node_(*schedule.steps[step].node),
        nest_(std::get<Nests>(node_.body)[k]),
        stage_(stage_of(schedule, step)),
        k_(k),
        names_(axis_names(nest_)) {
    // Iterations of loops around the nest are t0, t1, as the C calls them.
    notation_.axis = [this](int a) { return a < 0 ? fmt::format("t{}", -1 - a) : names_[a]; };
    notation_.operand = [&operands](int operand) { return operands[operand]; };
    notation_.shows_cast = narrows;
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> all = formula();
    for (const std::string& more : {extents(), place()})
      if (!more.empty()) all.push_back(more);
    return all;
  }

 private:
  // Axes of one value are 0.
  std::string text(const Expr& e) const {
    return to_string(substitute(e,
                                [&](const Expr& x) {
                                  const bool one =
                                      x->op == Op::kAxis && x->index >= 0 && nest_.axes[x->index].extent == 1;
                                  return one ? integer(0) : Expr();
                                }),
                     notation_);
  }

  // "out[...] = finish of acc", and "acc = ..." where the two are apart; then where terms count.
  std::vector<std::string> formula() const {
    std::vector<std::string> indices;
    for (const Expr& index : nest_.store) indices.push_back(text(index));
    const std::string target = fmt::format("out[{}]", fmt::join(indices, ", "));
    std::vector<std::string> lines = {fmt::format("{} ({}):", node_.origin, node_.op)};
    lines.push_back(fmt::format("{} = {}", target, nest_.finish.empty() ? combined() : text(nest_.finish)));
    if (!nest_.finish.empty()) lines.push_back("acc = " + combined());
    if (!nest_.where.empty()) lines.push_back(bounds());
    return lines;
  }

  // "sum(c, ky, kx) x[...] * w[...]": the reduction and its term; without one the term alone. A term that is
  // itself a sum is put in parentheses, for else its end would not be seen.
  std::string combined() const {
    if (nest_.combine == Combine::kNone) return text(nest_.body);
    constexpr const char* kWords[] = {"", "sum", "product", "minimum", "maximum"};
    std::vector<std::string> over;
    for (size_t a = 0; a < names_.size(); ++a)
      if (nest_.axes[a].reduced && nest_.axes[a].extent != 1) over.push_back(names_[a]);
    const bool bare = nest_.body->op == Op::kRead || nest_.body->op == Op::kMul;
    const std::string body = text(nest_.body);
    return fmt::format("{}{}({}) {}", nest_.accumulate ? "what is there and " : "",
                       kWords[static_cast<size_t>(nest_.combine)], fmt::join(over, ", "),
                       bare ? body : "(" + body + ")");
  }

  // Points beyond these add nothing: the padding of a convolution.
  std::string bounds() const {
    std::vector<std::string> all;
    for (const Bound& bound : nest_.where)
      all.push_back(fmt::format("{} <= {} < {}", bound.begin, text(bound.index), bound.end));
    return fmt::format("where {}", fmt::join(all, ", "));
  }

  // "m < 16, y < 8, c < 8": those of the output before the reduced ones, as in the formula.
  std::string extents() const {
    std::vector<std::string> all;
    for (const bool reduced : {false, true})
      for (size_t a = 0; a < names_.size(); ++a)
        if (nest_.axes[a].reduced == reduced && nest_.axes[a].extent != 1)
          all.push_back(fmt::format("{} < {}", names_[a], nest_.axes[a].extent));
    return fmt::format("{}", fmt::join(all, ", "));
  }

  // What of it runs in one call, in the iterations t0 (slab) and t1 (chunk) around it: the nest's store is
  // exchanged for its axes, which the stage then cuts as it does the nest; an axis that comes out changed is
  // cut.
  std::string place() const {
    if (!stage_) return "";
    Nest whole = nest_;
    whole.store.clear();
    for (size_t a = 0; a < names_.size(); ++a) whole.store.push_back(axis(static_cast<int>(a)));
    const Nest part = nest_in_stage(whole, *stage_, k_);
    Notation within = notation_;
    within.axis = [&](int a) { return a < 0 ? notation_.axis(a) : "d" + names_[a]; };
    std::vector<std::string> cuts, widths;
    for (size_t a = 0; a < names_.size(); ++a) {
      if (same(part.store[a], whole.store[a]) || nest_.axes[a].extent == 1) continue;
      cuts.push_back(fmt::format("{} = {}", names_[a], to_string(part.store[a], within)));
      if (part.axes[a].extent != 1)
        widths.push_back(fmt::format(", d{} < {}", names_[a], part.axes[a].extent));
    }
    return cuts.empty() ? "" : fmt::format("one call: {}{}", fmt::join(cuts, ", "), fmt::join(widths, ""));
  }

  const Node& node_;
  const Nest& nest_;
  // Null where the step runs as a whole layer.
  const Stage* stage_;
  size_t k_;
  std::vector<std::string> names_;
  Notation notation_;
};

}  // namespace

std::vector<std::string> axis_names(const Nest& nest) { return AxisNames(nest).run(); }

// An axis that is cut is called "dx", for it counts within a chunk.
std::vector<std::string> loop_names(const Nest& whole, const Nest& part, const FlatNest& flat) {
  const std::vector<std::string> of = axis_names(whole);
  const auto name_of = [&](int a) {
    return (part.axes[a].extent == whole.axes[a].extent ? "" : "d") + of[a];
  };
  std::vector<std::string> names;
  for (const std::vector<int>& walk : flat.walks) {
    std::string& name = names.emplace_back();
    for (const int a : walk) {
      const int divided = flat.divided[a];
      name += divided >= 0 ? name_of(divided) + "_rest" : name_of(a);
    }
  }
  return names;
}

std::vector<std::string> kernel_comment(const Schedule& schedule, size_t step, size_t k,
                                        const std::vector<std::string>& operands) {
  return KernelComment(schedule, step, k, operands).lines();
}

}  // namespace arenac
