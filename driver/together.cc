#include "driver/together.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "codegen/c_text.h"
#include "driver/choose.h"
#include "frontend/error.h"
#include "frontend/nearest.h"
#include "planner/bounds.h"
#include "planner/planners.h"

namespace arenac {
namespace {

int64_t steps_of(const Compilation& c) { return static_cast<int64_t>(c.schedule.steps.size()); }

// The buffers of all models, each model's steps behind those of the one before.
struct Joint {
  Problem problem;
  std::vector<int> first;  // per model, of its buffers
};

Joint joined_problem(const std::vector<Compilation>& models) {
  Joint joint{{models[0].lifetimes.problem.pools, {}}, {}};
  int64_t total = 0, begin = 0;
  for (const Compilation& c : models) total += std::max<int64_t>(steps_of(c), 1);
  Problem& all = joint.problem;
  for (const Compilation& c : models) {
    const Problem& problem = c.lifetimes.problem;
    const int first = static_cast<int>(all.buffers.size());
    joint.first.push_back(first);
    for (size_t k = 0; k < problem.pools.size(); ++k)
      all.pools[k].align = std::max(all.pools[k].align, problem.pools[k].align);
    for (Buffer buffer : problem.buffers) {
      buffer.begin += begin, buffer.end += begin;
      for (Gap& gap : buffer.gaps) gap.begin += begin, gap.end += begin;
      all.buffers.push_back(std::move(buffer));
    }
    for (const State& state : c.lifetimes.states)
      if (const int b = c.lifetimes.buffer_of[state.input]; b >= 0)
        all.buffers[first + b].begin = 0, all.buffers[first + b].end = total;
    for (const Overlap& o : problem.overlaps)
      all.overlaps.push_back({o.above + first, o.below + first, o.distance});
    for (std::vector<int> group : problem.same_offset) {
      for (int& b : group) b += first;
      all.same_offset.push_back(std::move(group));
    }
    begin += std::max<int64_t>(steps_of(c), 1);
  }
  return joint;
}

size_t model_named(const std::vector<Compilation>& models, const std::string& name) {
  std::vector<std::string> names;
  for (const Compilation& c : models) names.push_back(c.name);
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end())
    throw UserError(
        fmt::format("--connect: '{}' is none of the models{}", name, did_you_mean_or_all(name, names)),
        Exit::kUsage);
  return static_cast<size_t>(at - names.begin());
}

TensorId tensor_named(const std::string& name, const std::vector<std::string>& names,
                      const std::vector<TensorId>& ids, const char* kind, const std::string& model) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end())
    throw UserError(
        fmt::format("--connect: '{}' is no {} of {}{}", name, kind, model, did_you_mean_or_all(name, names)),
        Exit::kUsage);
  return ids[static_cast<size_t>(at - names.begin())];
}

// The two lie at one offset, which nothing else takes in between.
void connect(Joint& joint, const std::vector<Compilation>& models, const Connection& by) {
  const size_t from = model_named(models, by.from), to = model_named(models, by.to);
  if (from >= to)
    throw UserError(fmt::format("--connect: {} runs before {}: name it first", by.from, by.to), Exit::kUsage);
  const Compilation &a = models[from], &b = models[to];
  const TensorId output = tensor_named(by.output, a.graph->output_names, a.graph->outputs, "output", a.name);
  const TensorId input = tensor_named(by.input, b.graph->input_names, b.graph->inputs, "input", b.name);
  const Tensor &written = a.graph->tensors[output], &read = b.graph->tensors[input];
  if (written.type != read.type || written.shape != read.shape)
    throw UserError(fmt::format("--connect: {} '{}' is {} {}, {} '{}' is {} {}", a.name, by.output,
                                info(written.type).name, to_string(written.shape), b.name, by.input,
                                info(read.type).name, to_string(read.shape)));
  const int above = a.lifetimes.buffer_of[output], below = b.lifetimes.buffer_of[input];
  if (above < 0 || below < 0)
    throw UserError(
        fmt::format("--connect: {} '{}' and {} '{}' do not lie in the arena; --io arena puts them there",
                    a.name, by.output, b.name, by.input),
        Exit::kUsage);
  const int first = joint.first[from] + above, second = joint.first[to] + below;
  Problem& all = joint.problem;
  all.buffers[first].end = std::max(all.buffers[first].end, all.buffers[second].begin + 1);
  std::set<int> group = {first, second};
  std::erase_if(all.same_offset, [&](const std::vector<int>& other) {
    if (!std::ranges::any_of(other, [&](int member) { return group.contains(member); })) return false;
    group.insert(other.begin(), other.end());
    return true;
  });
  all.same_offset.emplace_back(group.begin(), group.end());
}

[[noreturn]] void does_not_fit(int64_t bytes, const std::string& room) {
  throw UserError(fmt::format("the models together need {} bytes, more than {}", bytes, room),
                  Exit::kDoesNotFit);
}

// One at a time.
void plan_in_turn(std::vector<Compilation>& models, const CompileOptions& options, const Together& together) {
  Joint joint = joined_problem(models);
  for (const Connection& connection : together.connections) connect(joint, models, connection);
  const Plan all = plan(joint.problem, options.planner.empty() ? kDefaultPlanner : options.planner);
  for (size_t k = 0; k < all.pools.size(); ++k)
    if (const auto capacity = joint.problem.pools[k].capacity; capacity && all.pools[k].size > *capacity)
      does_not_fit(all.pools[k].size,
                   fmt::format("the {} of pool '{}'", *capacity, joint.problem.pools[k].name));
  if (options.ram && total_size(all) > *options.ram)
    does_not_fit(total_size(all), fmt::format("--ram {}", *options.ram));
  for (size_t m = 0; m < models.size(); ++m) {
    Compilation& c = models[m];
    const auto first = all.placements.begin() + joint.first[m];
    c.plan = make_plan(c.lifetimes.problem,
                       {first, first + static_cast<std::ptrdiff_t>(c.lifetimes.problem.buffers.size())});
  }
}

// Each above those before; `used` bytes of each pool are taken.
void plan_above(Compilation& c, const CompileOptions& options, std::vector<int64_t>& used) {
  Problem& problem = c.lifetimes.problem;
  for (size_t k = 0; k < problem.pools.size(); ++k) {
    if (k < options.pools.size()) problem.pools[k].capacity = options.pools[k].capacity;
    const int64_t align = problem.pools[k].align;
    used[k] = (used[k] + align - 1) / align * align;
  }
  std::vector<Placement> placements = c.plan.placements;
  for (Placement& placement : placements) placement.offset += used[placement.pool];
  const Plan alone = std::move(c.plan);
  c.plan = make_plan(problem, placements);
  for (size_t k = 0; k < used.size(); ++k) used[k] += alone.pools[k].size;
}

// The options of a model that runs while those before keep their memory.
CompileOptions within_the_rest(CompileOptions options, const std::vector<int64_t>& used) {
  int64_t all = 0;
  for (size_t k = 0; k < used.size(); ++k) {
    all += used[k];
    if (k < options.pools.size() && options.pools[k].capacity)
      *options.pools[k].capacity = std::max<int64_t>(*options.pools[k].capacity - used[k], 0);
  }
  if (options.ram) *options.ram = std::max<int64_t>(*options.ram - all, 0);
  return options;
}

// One map of the models' maps, one behind the other on the logical time.
MemoryMap joined_map(const std::vector<Compilation>& models, const Together& together) {
  constexpr const char* kWords[] = {"exclusive", "sequential", "concurrent"};
  const bool concurrent = together.kind == TogetherKind::kConcurrent;
  const auto joined = [&](int64_t bytes, int64_t more) {
    return concurrent ? bytes + more : std::max(bytes, more);
  };
  MemoryMap all;
  std::vector<std::string> titles;
  for (const Compilation& c : models) {
    const auto named = [&](const std::string& name) { return c.name + ": " + name; };
    const MemoryMap& map = c.map;
    const auto time = static_cast<int64_t>(all.steps.size()), id = static_cast<int64_t>(all.buffers.size());
    titles.push_back(map.model);
    all.sha256 = map.sha256, all.tool = map.tool, all.options = map.options, all.target = map.target;
    all.cut_off |= map.cut_off;
    for (size_t k = 0; k < map.pools.size(); ++k) {
      if (all.pools.size() == k) all.pools.push_back({map.pools[k].name, 0, map.pools[k].capacity});
      all.pools[k].size = std::max(all.pools[k].size, map.pools[k].size);
      all.pools[k].lower_bound = joined(all.pools[k].lower_bound, map.pools[k].lower_bound);
      all.pools[k].align = std::max(all.pools[k].align, map.pools[k].align);
    }
    for (MapBuffer buffer : map.buffers) {
      buffer.id += id, buffer.begin += time, buffer.end += time;
      buffer.name = named(buffer.name);
      if (buffer.writer) *buffer.writer += time;
      for (int64_t& step : buffer.writers) step += time;
      for (int64_t& step : buffer.readers) step += time;
      all.buffers.push_back(std::move(buffer));
    }
    for (MapStep step : map.steps) {
      step.time += time, step.node = named(step.node);
      all.steps.push_back(std::move(step));
    }
    for (const MapOverlap& o : map.overlaps) all.overlaps.push_back({o.above + id, o.below + id, o.distance});
    for (const MapGroup& group : map.groups) all.groups.push_back({group.begin + time, group.end + time});
    for (MapConstant constant : map.constants)
      all.constants.push_back({named(constant.name), constant.size, constant.pool});
    for (MapIo io : map.io) io.name = named(io.name), all.io.push_back(std::move(io));
    all.totals.weights += map.totals.weights, all.totals.macs += map.totals.macs;
    all.totals.cycles += map.totals.cycles, all.totals.macs_again += map.totals.macs_again;
    all.totals.layerwise_arena = joined(all.totals.layerwise_arena, map.totals.layerwise_arena);
    all.totals.stack = joined(all.totals.stack, map.totals.stack);  // of calls that interrupt each other, all
  }
  for (MapBuffer& buffer : all.buffers)  // which others' steps do not touch either
    if (buffer.kind == BufferKind::kState)
      buffer.begin = 0, buffer.end = static_cast<int64_t>(all.steps.size());
  for (const MapPool& pool : all.pools) all.totals.arena += pool.size;
  all.model = fmt::format("{}: {}, {}", together.name, fmt::join(titles, ", "),
                          kWords[static_cast<size_t>(together.kind)]);
  return all;
}

}  // namespace

CompiledTogether compile_together(std::vector<CompileOptions> options, const Together& together) {
  CompiledTogether all;
  std::vector<int64_t> used(std::max<size_t>(options[0].pools.size(), 1));
  for (CompileOptions& one : options) {
    one.memory_of = together.name;
    const bool concurrent = together.kind == TogetherKind::kConcurrent;
    all.models.push_back(planned(concurrent ? within_the_rest(one, used) : one));
    if (concurrent) plan_above(all.models.back(), one, used);
  }
  if (together.kind != TogetherKind::kConcurrent) plan_in_turn(all.models, options[0], together);
  for (size_t m = 0; m < all.models.size(); ++m) {
    write_up(all.models[m], options[m]);
    for (File& file : all.models[m].files) all.files.push_back(std::move(file));
  }
  all.map = joined_map(all.models, together);
  if (const auto fault = verify(all.map))
    throw InternalError(fmt::format("the map of all models: {}", *fault));

  std::vector<std::string> names;
  for (const Compilation& c : all.models) names.push_back(c.name);
  std::vector<Pool> pools = all.models[0].lifetimes.problem.pools;
  std::vector<int64_t> sizes;
  for (size_t k = 0; k < pools.size(); ++k) {
    pools[k].align = all.map.pools[k].align;
    sizes.push_back(all.map.pools[k].size);
  }
  for (File& file : shared_memory(together.name, pools, sizes, options[0].sections, names))
    all.files.push_back(std::move(file));
  all.files.push_back({together.name + "_map.json", to_json(all.map)});
  return all;
}

}  // namespace arenac
