#include "frontend/stream_reads.h"

#include <algorithm>

namespace arenac {
namespace {

TimeRead read_at(const Expr& index, const Nest& nest, TensorId id, const Time& time) {
  const auto form = affine_form(index);
  if (!form) throw StreamFault{"does not read moment after moment"};
  TimeRead read{id, time, *form};
  read.earliest = read.latest = form->constant;
  for (const auto& [a, factor] : form->terms) {
    if (a < 0) throw StreamFault{"reads in a loop; give its state by --state"};
    if (!nest.axes[a].reduced && (read.axis < 0 || factor > read.step)) read.axis = a, read.step = factor;
  }
  for (const auto& [a, factor] : form->terms) {
    if (a == read.axis) continue;
    if (!nest.axes[a].reduced && std::abs(factor) >= read.step)
      throw StreamFault{"does not read moment after moment"};
    const int64_t far = factor * (nest.axes[a].extent - 1);
    read.earliest += std::min<int64_t>(far, 0), read.latest += std::max<int64_t>(far, 0);
  }
  if (read.axis >= 0 && read.step < 1) throw StreamFault{"does not read moment after moment"};
  return read;
}

// Whether an expression of the number of a moment alone has one value from the last moment of the stretch on.
bool settles(const Expr& e, const Nest& nest, int axis, const Time& time) {
  constexpr int64_t kNever = int64_t{1} << 40;  // moments
  if (!is_integer(e->type) || !names_axis(e, axis)) return false;
  const bool is_of_moments = !any_of(e, [&](const Expr& part) {
    return part->op == Op::kRead || part->op == Op::kAcc || (part->op == Op::kAxis && part->index != axis);
  });
  if (!is_of_moments) return false;
  std::vector<Interval> axes = axis_intervals(nest);
  axes[axis] = {time.stretch - 1, kNever};
  const ClosedInterval values = closed_interval(e, axes, {});
  return values.low == values.high;
}

}  // namespace

std::vector<TimeRead> time_reads(const Nest& nest, const Node& node, const Times& times) {
  std::vector<TimeRead> all;
  visit_reads(nest, [&](const Expr& e) {
    const TensorId id = node.reads[e->index];
    if (const auto at = times.find(id); at != times.end())
      all.push_back(read_at(e->args[at->second.dimension], nest, id, at->second));
  });
  for (const TimeRead& read : all)
    if (read.axis != all[0].axis || read.step != all[0].step)
      throw StreamFault{"reads its operands at different paces"};
  return all;
}

bool names_time(const Nest& nest, const Node& node, int axis, const Times& times) {
  const auto names = [&](const Expr& root) {
    if (root.empty()) return false;
    const Expr without = substitute(root, [&](const Expr& e) -> Expr {
      const auto at = e->op == Op::kRead ? times.find(node.reads[e->index]) : times.end();
      if (at == times.end()) return {};
      std::vector<Expr> indices = e->args;
      indices[at->second.dimension] = integer(0);
      return read(e->index, e->type, indices);
    });
    return names_axis(without, axis);
  };
  return names(nest.body) || names(nest.finish) ||
         std::count_if(nest.store.begin(), nest.store.end(), names) > 1 ||
         std::any_of(nest.where.begin(), nest.where.end(), [&](const Bound& b) { return names(b.index); });
}

Nest with_number_of_moment(const Nest& nest, int axis, const Time& time, const Expr& number) {
  const auto other = [&](const Expr& e) { return e->op == Op::kAxis && e->index == axis ? number : Expr{}; };
  const auto settled = [&](const Expr& e) {
    return settles(e, nest, axis, time) ? substitute(e, other) : Expr{};
  };
  Nest made = nest;
  if (!made.body.empty()) made.body = substitute(made.body, settled);
  if (!made.finish.empty()) made.finish = substitute(made.finish, settled);
  return made;
}

}  // namespace arenac
