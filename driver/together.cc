#include "driver/together.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "codegen/c_text.h"
#include "codegen/kernel_library.h"
#include "codegen/reports.h"
#include "codegen/weights.h"
#include "driver/choose.h"
#include "driver/joint_problem.h"
#include "frontend/error.h"
#include "frontend/nearest.h"
#include "planner/bounds.h"
#include "planner/groups.h"
#include "planner/planners.h"

namespace arenac {
namespace {

PoolBytes sizes_of(const Plan& plan) {
  PoolBytes sizes;
  for (const PoolUse& pool : plan.pools) sizes.push_back(pool.size);
  return sizes;
}

// Of a model in a block: its places in the pool, as they are to each other, from where the block has come to
// lie.
void move_up(Compilation& c, size_t pool, int64_t bytes) {
  std::vector<Placement> placements = c.plan.placements;
  for (Placement& placement : placements)
    if (static_cast<size_t>(placement.pool) == pool) placement.offset += bytes;
  c.plan = make_plan(c.lifetimes.problem, placements);
}

// An integer that the one writes as 0.5 must not be what the other reads as 0.25.
void warn_of_scales(const std::vector<Compilation>& models, const Connection& by) {
  const Graph& a = *std::ranges::find(models, by.from, &Compilation::name)->graph;
  const Graph& b = *std::ranges::find(models, by.to, &Compilation::name)->graph;
  const auto written = a.quantization.outputs.find(by.output);
  const auto read = b.quantization.inputs.find(by.input);
  if (written == a.quantization.outputs.end() || read == b.quantization.inputs.end()) return;
  const QuantizedAs &from = written->second, &to = read->second;
  if (from.scales == to.scales && from.zero_points == to.zero_points) return;
  fmt::print(
      stderr,
      "warning: --connect: {} writes '{}' by the scale {:.9g} and the zero point {}, {} reads '{}' by {:.9g} "
      "and {}\n",
      by.from, by.output, from.scales[0], from.zero_points[0], by.to, by.input, to.scales[0],
      to.zero_points[0]);
}

void require_in_sequence(const Connection& by, const Turns& turns, const std::vector<std::string>& names) {
  const auto model = [&](const std::string& name) {
    const auto at = std::ranges::find(names, name);
    if (at == names.end())
      throw UserError(
          fmt::format("--connect: '{}' is none of the models{}", name, did_you_mean_or_all(name, names)),
          Exit::kUsage);
    return static_cast<size_t>(at - names.begin());
  };
  const size_t from = model(by.from), to = model(by.to);
  if (in_sequence(turns, to, from))
    throw UserError(fmt::format("--connect: {} runs before {}: name it first", by.from, by.to), Exit::kUsage);
  if (!in_sequence(turns, from, to))
    throw UserError(fmt::format("--connect: {} and {} do not run one after the other: --together sequential",
                                by.from, by.to),
                    Exit::kUsage);
}

[[noreturn]] void does_not_fit(int64_t bytes, const std::string& room) {
  throw UserError(fmt::format("the models together need {} bytes, more than {}", bytes, room),
                  Exit::kDoesNotFit);
}

// Those of the arena: a pool of copies of constants, behind them, is no part of it.
size_t pools_of_arena(const CompileOptions& options) { return std::max<size_t>(options.pools.size(), 1); }

int64_t of_arena(const PoolBytes& bytes, const CompileOptions& options) {
  return std::accumulate(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(pools_of_arena(options)),
                         int64_t{0});
}

// The options of a model that runs while others keep their memory.
CompileOptions within_the_rest(CompileOptions options, const PoolBytes& used) {
  const auto shrink = [](Pool& pool, int64_t by) {
    if (pool.capacity) *pool.capacity = std::max<int64_t>(*pool.capacity - by, 0);
  };
  const int64_t all = of_arena(used, options);
  for (size_t k = 0; k < options.pools.size(); ++k) shrink(options.pools[k], used[k]);
  if (options.constants.group) shrink(options.constants.group->pool, used.back());
  if (options.ram) *options.ram = std::max<int64_t>(*options.ram - all, 0);
  return options;
}

// Compiles the models as far as their plans, in the order of the tree.
class Planning {
 public:
  // The options then have what others leave of the memories of constants.
  Planning(std::vector<CompileOptions>& options, const Together& together)
      : options_(options),
        together_(together),
        models_(options.size()),
        constants_(options[0].constants.pools.size()) {}

  std::vector<Compilation> run() {
    std::vector<Pool> pools = options_[0].pools;
    if (const auto& group = options_[0].constants.group) {
      pools.resize(pools_of_arena(options_[0]));
      pools.push_back(group->pool);
    }
    const PoolBytes sizes =
        planned_from_0(together_.turns, PoolBytes(std::max(pools.size(), pools_of_arena(options_[0]))));
    for (size_t k = 0; k < pools.size(); ++k) {
      if (pools[k].capacity && sizes[k] > *pools[k].capacity)
        does_not_fit(sizes[k], fmt::format("the {} of pool '{}'", *pools[k].capacity, pools[k].name));
      for (Compilation& c : models_) c.lifetimes.problem.pools[k].capacity = pools[k].capacity;
    }
    const int64_t all = of_arena(sizes, options_[0]);
    if (const auto ram = options_[0].ram; ram && all > *ram) does_not_fit(all, fmt::format("--ram {}", *ram));
    return std::move(models_);
  }

 private:
  // Constants are there whichever model runs: what one has is no room for the next, in the order of turns.
  const Compilation& planned_alone(size_t model, const PoolBytes& used) {
    CompileOptions& options = options_[model];
    for (size_t k = 0; k < constants_.size(); ++k) {
      ConstantPool& room = options.constants.pools[k];
      room.of_others = constants_[k];
      if (room.pool.capacity) *room.pool.capacity -= constants_[k];
    }
    if (!options.dump_after.empty()) fmt::print("{}:\n", options.name);
    models_[model] = planned(within_the_rest(options, used));
    const Weights weights = collect_weights(models_[model].schedule, emit_options(options, options.name));
    for (size_t k = 0; k < constants_.size(); ++k) constants_[k] += weights.blobs[k].total;
    return models_[model];
  }

  // From the bottom of every pool on, `used` bytes of which others have meanwhile. Returns what is taken.
  PoolBytes planned_from_0(const Turns& turns, const PoolBytes& used) {
    if (turns.is_model()) return sizes_of(planned_alone(turns.model, used).plan);
    Joint joint;
    add(joint, turns, used);
    keep_states(joint);
    for (const Connection& connection : together_.connections) connect(joint, models_, connection);
    erase_partial_overlaps(joint.problem);
    const std::string& planner = options_[0].planner;
    const Plan all = plan(joint.problem, planner.empty() ? kDefaultPlanner : planner);
    for (const auto& [model, first] : joint.models) {
      Compilation& c = models_[model];
      const auto at = all.placements.begin() + first;
      c.plan = make_plan(c.lifetimes.problem,
                         {at, at + static_cast<std::ptrdiff_t>(c.lifetimes.problem.buffers.size())});
    }
    for (const PlannedModels& block : joint.blocks)
      for (const auto& [pool, buffer] : block.buffers)
        for (const size_t model : block.models) move_up(models_[model], pool, all.placements[buffer].offset);
    return sizes_of(all);
  }

  void add(Joint& joint, const Turns& turns, const PoolBytes& used) {
    if (turns.is_model()) {
      add_buffers(joint, planned_alone(turns.model, used), turns.model);
    } else if (turns.kind != TogetherKind::kConcurrent) {
      for (const Turns& member : turns.members) add(joint, member, used);
    } else {
      PoolBytes taken = used;
      for (const Turns& member : turns.members) {
        const PoolBytes sizes = planned_from_0(member, taken);
        add_block(joint, models_, models_of(member), sizes);
        for (size_t k = 0; k < sizes.size(); ++k) taken[k] += sizes[k];
      }
      ++joint.end;
    }
  }

  std::vector<CompileOptions>& options_;
  const Together& together_;
  std::vector<Compilation> models_;
  PoolBytes constants_;  // per memory of constants, of the models planned so far
};

// The problem of all models as if they ran one after the other, and where they lie.
std::string dump_of_all(const std::vector<Compilation>& models, const Together& together, bool with_plan) {
  Joint joint;
  std::vector<Placement> placements;
  for (size_t m = 0; m < models.size(); ++m) {
    const Compilation& c = models[m];
    const size_t first = joint.problem.buffers.size();
    add_buffers(joint, c, m);
    for (size_t k = first; k < joint.problem.buffers.size(); ++k)
      joint.problem.buffers[k].name = c.name + ":" + joint.problem.buffers[k].name;
    placements.insert(placements.end(), c.plan.placements.begin(), c.plan.placements.end());
  }
  keep_states(joint);
  for (const Connection& connection : together.connections) connect(joint, models, connection);
  return with_plan ? dump(joint.problem, make_plan(joint.problem, placements)) : dump(joint.problem);
}

// Of these stages there is one product of all models; of those before, each model's.
constexpr std::string_view kStagesOfAll[] = {"problem", "plan", "map"};

void print_stage(std::string_view stage, const CompiledTogether& all, const Together& together) {
  if (stage == "map") fmt::print("{}", text_report(all.map));
  if (stage == "problem" || stage == "plan")
    fmt::print("{}", dump_of_all(all.models, together, stage == "plan"));
}

// One map of the models' maps, one behind the other on the logical time.
MemoryMap joined_map(const std::vector<Compilation>& models, const Together& together) {
  const auto joined = [&](const auto& of_map) {
    return arenac::together(together.turns, [&](size_t model) { return of_map(models[model].map); });
  };
  MemoryMap all;
  std::vector<std::string> titles, names;
  for (const Compilation& c : models) {
    names.push_back(c.name);
    const auto named = [&](const std::string& name) { return c.name + ": " + name; };
    const MemoryMap& map = c.map;
    const auto time = static_cast<int64_t>(all.steps.size()), id = static_cast<int64_t>(all.buffers.size());
    titles.push_back(map.model);
    all.sha256 = map.sha256, all.tool = map.tool, all.options = map.options, all.target = map.target;
    all.cut_off |= map.cut_off;
    for (size_t k = 0; k < map.pools.size(); ++k) {
      if (all.pools.size() == k) all.pools.push_back({map.pools[k].name, 0, map.pools[k].capacity});
      all.pools[k].size = std::max(all.pools[k].size, map.pools[k].size);
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
    for (MapConstant constant : map.constants) {
      constant.name = named(constant.name);
      all.constants.push_back(std::move(constant));
    }
    for (MapIo io : map.io) io.name = named(io.name), all.io.push_back(std::move(io));
    all.totals.weights += map.totals.weights, all.totals.macs += map.totals.macs;
    all.totals.cycles += map.totals.cycles, all.totals.macs_again += map.totals.macs_again;
  }
  for (size_t k = 0; k < all.pools.size(); ++k)
    all.pools[k].lower_bound = joined([&](const MemoryMap& map) { return map.pools[k].lower_bound; });
  all.totals.layerwise_arena = joined([](const MemoryMap& map) { return map.totals.layerwise_arena; });
  all.totals.stack = joined([](const MemoryMap& map) { return map.totals.stack; });
  for (MapBuffer& buffer : all.buffers)  // which others' steps do not touch either
    if (buffer.kind == BufferKind::kState)
      buffer.begin = 0, buffer.end = static_cast<int64_t>(all.steps.size());
  for (const MapPool& pool : all.pools) all.totals.arena += pool.size;
  all.model =
      fmt::format("{}: {}, {}", together.name, fmt::join(titles, ", "), to_string(together.turns, names));
  return all;
}

}  // namespace

CompiledTogether compile_together(std::vector<CompileOptions> options, const Together& together) {
  std::vector<std::string> names;
  const std::string stage = options[0].dump_after;
  for (CompileOptions& one : options) {
    if (std::ranges::find(kStagesOfAll, stage) != std::end(kStagesOfAll)) one.dump_after.clear();
    one.memory_of = together.name;
    names.push_back(one.name);
  }
  for (const Connection& connection : together.connections)
    require_in_sequence(connection, together.turns, names);
  CompiledTogether all = {Planning(options, together).run(), {}, {}};
  std::vector<Lowered> lowered;
  std::vector<std::vector<LoweredNest>> steps;
  for (const Compilation& c : all.models) {
    lowered.push_back(lower(c.schedule, c.lifetimes, c.plan));
    steps.insert(steps.end(), lowered.back().steps.begin(), lowered.back().steps.end());
  }
  const EmitOptions emitted = emit_options(options[0], together.name);
  KernelLibrary kernels(together.name, emitted, KernelLibrary::Of::kSeveral, steps);
  for (size_t m = 0; m < all.models.size(); ++m) {
    write_up(all.models[m], options[m], lowered[m], kernels);
    for (File& file : all.models[m].files) all.files.push_back(std::move(file));
  }
  if (options[0].verbosity != Verbosity::kQuiet)
    for (const Connection& connection : together.connections) warn_of_scales(all.models, connection);
  all.map = joined_map(all.models, together);
  if (const auto fault = verify(all.map))
    throw InternalError(fmt::format("the map of all models: {}", *fault));
  print_stage(stage, all, together);

  std::vector<Pool> pools = all.models[0].lifetimes.problem.pools;
  std::vector<int64_t> sizes;
  for (size_t k = 0; k < pools.size(); ++k) {
    pools[k].align = all.map.pools[k].align;
    sizes.push_back(all.map.pools[k].size);
  }
  for (File& file : shared_parts(pools, sizes, emitted, names, kernels)) all.files.push_back(std::move(file));
  all.files.push_back({together.name + "_map.json", to_json(all.map)});
  return all;
}

}  // namespace arenac
