#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <string>

#include "frontend/error.h"
#include "planner/arenac_plan.h"
#include "planner/certificate.h"
#include "planner/planners.h"
#include "planner/verify.h"

namespace arenac {
namespace {

void require(bool fine, const char* what) {
  if (!fine) throw UserError(what, Exit::kUsage);
}

Buffer buffer_from(const arenac_buffer& from, size_t pool_count) {
  require(from.pools || from.pool_count == 0, "arenac_plan: a buffer's pools are null");
  require(from.gaps || from.gap_count == 0, "arenac_plan: a buffer's gaps are null");
  Buffer b{"", from.size, from.align ? from.align : 1, from.begin, from.end, {}};
  b.pools.assign(from.pools, from.pools + from.pool_count);
  for (size_t pool = 0; !from.pools && pool < pool_count; ++pool) b.pools.push_back(int(pool));
  for (size_t k = 0; k < from.gap_count; ++k)
    b.gaps.push_back({from.gaps[k].begin, from.gaps[k].end, from.gaps[k].low, from.gaps[k].high});
  if (from.fixed_offset) b.fixed_offset = *from.fixed_offset;
  return b;
}

Problem problem_from(const arenac_problem& from) {
  constexpr size_t kMost = std::numeric_limits<int32_t>::max();
  require(from.buffers || from.buffer_count == 0, "arenac_plan: the buffers are null");
  require(from.pools || from.pool_count == 0, "arenac_plan: the pools are null");
  require(from.overlaps || from.overlap_count == 0, "arenac_plan: the overlaps are null");
  require(from.buffer_count <= kMost && from.pool_count <= kMost,
          "arenac_plan: more than 2^31 - 1 buffers or pools");
  Problem problem;
  for (size_t k = 0; k < from.pool_count; ++k) {
    const arenac_pool& pool = from.pools[k];
    problem.pools.push_back({std::to_string(k), {}, pool.align ? pool.align : 1});
    if (pool.capacity) problem.pools.back().capacity = pool.capacity;
  }
  if (problem.pools.empty()) problem.pools.push_back({"arena"});

  std::map<int32_t, std::vector<int>> groups;
  for (size_t id = 0; id < from.buffer_count; ++id) {
    problem.buffers.push_back(buffer_from(from.buffers[id], problem.pools.size()));
    problem.buffers.back().name = std::to_string(id);
    if (from.buffers[id].group) groups[from.buffers[id].group].push_back(int(id));
  }
  for (auto& [key, group] : groups) problem.same_offset.push_back(std::move(group));
  for (size_t k = 0; k < from.overlap_count; ++k)
    problem.overlaps.push_back({from.overlaps[k].above, from.overlaps[k].below, from.overlaps[k].distance});
  return problem;
}

// Per buffer and pool, as arenac_plan_options has them.
void set_costs(Problem& problem, const int64_t* pool_costs) {
  const size_t pools = problem.pools.size();
  for (size_t id = 0; pool_costs && id < problem.buffers.size(); ++id)
    for (const int pool : problem.buffers[id].pools) {
      const bool is_known = pool >= 0 && static_cast<size_t>(pool) < pools;  // else check() says so
      problem.buffers[id].costs.push_back(is_known ? pool_costs[id * pools + static_cast<size_t>(pool)] : 0);
    }
}

// The caller's options in this version's form.
arenac_plan_options options_from(const arenac_plan_options* from) {
  constexpr size_t kFirst = offsetof(arenac_plan_options, user) + sizeof from->user;
  arenac_plan_options all = {};
  if (!from) return all;
  const size_t size = from->struct_size ? from->struct_size : kFirst;
  require(size >= kFirst, "arenac_plan: options.struct_size is not sizeof(arenac_plan_options)");
  std::memcpy(&all, from, std::min(size, sizeof all));
  return all;
}

Search search_from(const arenac_plan_options& from, size_t buffer_count) {
  Search search;
  for (size_t id = 0; from.warm_start && id < buffer_count; ++id) {
    const auto& [pool, offset] = from.warm_start[id];
    search.warm_start.push_back(pool < 0 ? std::nullopt : std::optional(Placement{pool, offset}));
  }
  if (from.seconds > 0) search.seconds = from.seconds;
  search.stop = Stop::kAtDeadline;
  if (from.effort > 0) search.effort = from.effort;
  if (from.seed) search.seed = from.seed;
  if (from.threads > 0) search.threads = from.threads;
  if (from.any_fit) search.goal = Goal::kFits;
  if (from.report)
    search.report = [from](const PlanProgress& now) {
      from.report(from.user, now.makespan, now.lower_bound);
    };
  if (from.is_cancelled)
    search.is_cancelled = [from, is_over = false]() mutable {
      return is_over = is_over || from.is_cancelled(from.user) != 0;
    };
  return search;
}

void say(const char* text, char* message, size_t size) {
  if (!message || size == 0) return;
  const size_t length = std::min(std::strlen(text), size - 1);
  std::memcpy(message, text, length);
  message[length] = '\0';
}

void give(const Plan& plan, arenac_placement* placements, arenac_pool_use* uses, arenac_plan_cost* cost) {
  for (size_t id = 0; id < plan.placements.size(); ++id)
    placements[id] = {plan.placements[id].pool, plan.placements[id].offset};
  for (size_t pool = 0; pool < plan.pools.size(); ++pool)
    uses[pool] = {plan.pools[pool].size, plan.pools[pool].lower_bound};
  if (cost) *cost = {plan.cost, plan.cost_bound};
}

// Runs what an entry does; what it throws becomes a status and a message.
template <typename Entry>
int answered(const Entry& entry, char* message, size_t message_size) {
  try {
    return entry();
  } catch (const UserError& error) {
    say(error.what(), message, message_size);
    return static_cast<int>(error.status);
  } catch (const std::bad_alloc&) {
    say("out of memory", message, message_size);
  } catch (const std::exception& error) {
    say(error.what(), message, message_size);
  }
  return ARENAC_FAULT;
}

}  // namespace
}  // namespace arenac

int arenac_plan(const arenac_problem* problem, const arenac_plan_options* options,
                arenac_placement* placements, arenac_pool_use* uses, char* message, size_t message_size) {
  using namespace arenac;
  const auto entry = [&] {
    require(problem && uses && (placements || problem->buffer_count == 0), "arenac_plan: a pointer is null");
    const arenac_plan_options chosen = options_from(options);
    Problem own = problem_from(*problem);
    set_costs(own, chosen.pool_costs);
    try {
      give(plan(own, chosen.planner ? chosen.planner : kDefaultPlanner,
                search_from(chosen, problem->buffer_count)),
           placements, uses, chosen.cost);
    } catch (const PassesCapacity& passes) {
      if (passes.status == Exit::kNotFound) give(passes.best, placements, uses, chosen.cost);
      throw;
    }
    return ARENAC_DONE;
  };
  return answered(entry, message, message_size);
}

int arenac_plan_bound(const arenac_problem* problem, int64_t* bound, char* message, size_t message_size) {
  using namespace arenac;
  const auto entry = [&] {
    require(problem && bound, "arenac_plan_bound: a pointer is null");
    require(problem->pool_count <= 1, "arenac_plan_bound: a bound is of one pool");
    const Problem own = problem_from(*problem);
    check(own);
    *bound = least_makespan(own);
    return ARENAC_DONE;
  };
  return answered(entry, message, message_size);
}

int arenac_plan_verify(const arenac_problem* problem, const arenac_placement* placements, char* message,
                       size_t message_size) {
  using namespace arenac;
  const auto entry = [&] {
    require(problem && (placements || problem->buffer_count == 0), "arenac_plan_verify: a pointer is null");
    const Problem own = problem_from(*problem);
    check(own);
    std::vector<Placement> claimed;
    for (size_t id = 0; id < problem->buffer_count; ++id)
      claimed.push_back({placements[id].pool, placements[id].offset});
    const auto fault = verify(own, claimed_plan(own, std::move(claimed)));
    if (!fault) return ARENAC_DONE;
    say(fault->c_str(), message, message_size);
    return ARENAC_WRONG;
  };
  return answered(entry, message, message_size);
}

int arenac_plan_certify(const arenac_problem* problem, const arenac_placement* placements,
                        arenac_certificate* certificate, char* message, size_t message_size) {
  using namespace arenac;
  const auto entry = [&] {
    require(problem && certificate && certificate->buffers, "arenac_plan_certify: a pointer is null");
    require(placements || problem->pool_count <= 1, "arenac_plan_certify: several pools need placements");
    const Problem own = problem_from(*problem);
    check(own);
    std::vector<int> members;
    for (size_t id = 0; id < own.buffers.size(); ++id)
      if (!placements || placements[id].pool == certificate->pool) members.push_back(static_cast<int>(id));
    require(certificate->pool >= 0 && certificate->pool < static_cast<int32_t>(own.pools.size()),
            "arenac_plan_certify: there is no such pool");
    const auto found = certify(own, certificate->pool, members, certificate->bound, {kCertificateWork});
    if (!found) throw UserError("no certificate was found", Exit::kNotFound);
    std::ranges::copy(found->buffers, certificate->buffers);
    certificate->buffer_count = found->buffers.size();
    certificate->has_time = found->time.has_value();
    certificate->time = found->time.value_or(0);
    return ARENAC_DONE;
  };
  return answered(entry, message, message_size);
}

int arenac_plan_check_certificate(const arenac_problem* problem, const arenac_certificate* certificate,
                                  char* message, size_t message_size) {
  using namespace arenac;
  const auto entry = [&] {
    require(problem && certificate && (certificate->buffers || certificate->buffer_count == 0),
            "arenac_plan_check_certificate: a pointer is null");
    const Problem own = problem_from(*problem);
    check(own);
    Certificate claimed = {certificate->pool, certificate->bound, {}, {}};
    claimed.buffers.assign(certificate->buffers, certificate->buffers + certificate->buffer_count);
    if (certificate->has_time) claimed.time = certificate->time;
    const auto fault = check_certificate(own, claimed);
    if (!fault) return ARENAC_DONE;
    say(fault->c_str(), message, message_size);
    return ARENAC_WRONG;
  };
  return answered(entry, message, message_size);
}
