// From several models to one memory:
//
//   plan each alone        its schedule, within what others leave
//   Joint                  problems of models that take turns, side by side on one time
//   plan                   offsets for all; blocks of models that run at the same time move as one
//   kernels                of all, each distinct one once
//   write_up               map and files of each; then the map and the files of all
#include "driver/together.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "codegen/c_text.h"
#include "codegen/kernel_library.h"
#include "driver/choose.h"
#include "frontend/error.h"
#include "frontend/nearest.h"
#include "planner/bounds.h"
#include "planner/groups.h"
#include "planner/planners.h"

namespace arenac {
namespace {

using PoolBytes = std::vector<int64_t>;  // per pool

int64_t steps_of(const Compilation& c) { return static_cast<int64_t>(c.schedule.steps.size()); }

PoolBytes sizes_of(const Plan& plan) {
  PoolBytes sizes;
  for (const PoolUse& pool : plan.pools) sizes.push_back(pool.size);
  return sizes;
}

// Models that lie where the problem says by being parts of it, and those whose place is a buffer's.
struct Block {
  std::vector<size_t> models;
  std::vector<std::pair<size_t, int>> buffers;  // a pool and the buffer that has its place there
};

// One problem of several models, each one's steps behind those of the one before.
//
//   time      0 ... 11 | 12 ... 30 | 31
//             model a    model b     a block of models that run at the same time, planned already
//   kept      ------------------------------      states: no other model's step may touch them
struct Joint {
  Problem problem = {};
  std::vector<std::pair<size_t, int>> models = {};  // and the first of its buffers
  std::vector<Block> blocks = {};
  std::vector<int> kept = {};  // buffers that live from call to call
  int64_t end = 0;             // of the logical time so far
};

// The pools are those of every model, aligned as the most demanding needs.
void add_pools(Joint& joint, const Compilation& c) {
  std::vector<Pool>& pools = joint.problem.pools;
  if (pools.empty()) pools = c.lifetimes.problem.pools;
  for (size_t k = 0; k < pools.size(); ++k)
    pools[k].align = std::max(pools[k].align, c.lifetimes.problem.pools[k].align);
}

// A model whose buffers lie between those of others.
void add_buffers(Joint& joint, const Compilation& c, size_t model) {
  Problem& all = joint.problem;
  const Problem& problem = c.lifetimes.problem;
  const int first = static_cast<int>(all.buffers.size());
  joint.models.emplace_back(model, first);
  add_pools(joint, c);
  for (Buffer buffer : problem.buffers) {
    buffer.begin += joint.end, buffer.end += joint.end;
    for (Gap& gap : buffer.gaps) gap.begin += joint.end, gap.end += joint.end;
    all.buffers.push_back(std::move(buffer));
  }
  for (const State& state : c.lifetimes.states)
    if (const int b = c.lifetimes.buffer_of[state.input]; b >= 0) joint.kept.push_back(first + b);
  for (const Overlap& o : problem.overlaps)
    all.overlaps.push_back({o.above + first, o.below + first, o.distance});
  for (std::vector<int> group : problem.same_offset) {
    for (int& b : group) b += first;
    all.same_offset.push_back(std::move(group));
  }
  // A model without steps has a time all the same, for its inputs and outputs.
  joint.end += std::max<int64_t>(steps_of(c), 1);
}

// Models that are planned already, and keep their places to each other, at the time that begins.
void add_block(Joint& joint, const std::vector<Compilation>& models, std::vector<size_t> members,
               const PoolBytes& sizes) {
  Block block = {std::move(members), {}};
  for (const size_t model : block.models) add_pools(joint, models[model]);
  // States in a block keep all of it: where in the block they lie, the problem does not see.
  const bool keeps = std::ranges::any_of(
      block.models, [&](size_t model) { return !models[model].lifetimes.states.empty(); });
  for (size_t k = 0; k < sizes.size(); ++k) {
    if (sizes[k] == 0) continue;
    const int id = static_cast<int>(joint.problem.buffers.size());
    joint.problem.buffers.push_back({.name = models[block.models[0]].name,
                                     .size = sizes[k],
                                     .begin = joint.end,
                                     .end = joint.end + 1,
                                     .pools = {static_cast<int>(k)}});
    if (keeps) joint.kept.push_back(id);
    block.buffers.emplace_back(k, id);
  }
  joint.blocks.push_back(std::move(block));
}

// Of a model in a block: its places in the pool, as they are to each other, from where the block has come to
// lie.
void move_up(Compilation& c, size_t pool, int64_t bytes) {
  std::vector<Placement> placements = c.plan.placements;
  for (Placement& placement : placements)
    if (static_cast<size_t>(placement.pool) == pool) placement.offset += bytes;
  c.plan = make_plan(c.lifetimes.problem, placements);
}

// By the model's own name of it; the message names the nearest.
TensorId tensor_named(const std::string& name, const std::vector<std::string>& names,
                      const std::vector<TensorId>& ids, const char* kind, const std::string& model) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end())
    throw UserError(
        fmt::format("--connect: '{}' is no {} of {}{}", name, kind, model, did_you_mean_or_all(name, names)),
        Exit::kUsage);
  return ids[static_cast<size_t>(at - names.begin())];
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

// The two lie at one offset, which nothing else takes in between. Nothing where the problem is not of both.
void connect(Joint& joint, const std::vector<Compilation>& models, const Connection& by) {
  // Models in blocks are not found: those run at the same time as others, and have no output that another
  // could wait for.
  const auto part = [&](const std::string& name) {
    return std::ranges::find_if(joint.models,
                                [&](const auto& row) { return models[row.first].name == name; });
  };
  const auto from = part(by.from), to = part(by.to);
  if (from == joint.models.end() || to == joint.models.end()) return;
  const Compilation &a = models[from->first], &b = models[to->first];
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
  const int first = from->second + above, second = to->second + below;
  Problem& all = joint.problem;
  // The output lives on until its reader begins, so that no model between the two is given its bytes.
  all.buffers[first].end = std::max(all.buffers[first].end, all.buffers[second].begin);
  std::set<int> group = {first, second};
  std::erase_if(all.same_offset, [&](const std::vector<int>& other) {
    if (!std::ranges::any_of(other, [&](int member) { return group.contains(member); })) return false;
    group.insert(other.begin(), other.end());
    return true;
  });
  all.same_offset.emplace_back(group.begin(), group.end());
}

// An output is there to be read once its model has run: only models of which one comes after the other can be
// connected.
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
  Planning(const std::vector<CompileOptions>& options, const Together& together)
      : options_(options), together_(together), models_(options.size()) {}

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
  // A model's schedule is the one that it has alone within what others leave.
  const Compilation& planned_alone(size_t model, const PoolBytes& used) {
    return models_[model] = planned(within_the_rest(options_[model], used));
  }

  // From the bottom of every pool on, `used` bytes of which others have meanwhile. Returns what is taken.
  PoolBytes planned_from_0(const Turns& turns, const PoolBytes& used) {
    if (turns.is_model()) return sizes_of(planned_alone(turns.model, used).plan);
    Joint joint;
    add(joint, turns, used);
    for (const int kept : joint.kept)
      joint.problem.buffers[kept].begin = 0, joint.problem.buffers[kept].end = joint.end;
    for (const Connection& connection : together_.connections) connect(joint, models_, connection);
    erase_partial_overlaps(joint.problem);
    const std::string& planner = options_[0].planner;
    // One plan of all buffers; then each model has its part of it.
    const Plan all = plan(joint.problem, planner.empty() ? kDefaultPlanner : planner);
    for (const auto& [model, first] : joint.models) {
      Compilation& c = models_[model];
      const auto at = all.placements.begin() + first;
      c.plan = make_plan(c.lifetimes.problem,
                         {at, at + static_cast<std::ptrdiff_t>(c.lifetimes.problem.buffers.size())});
    }
    for (const Block& block : joint.blocks)
      for (const auto& [pool, buffer] : block.buffers)
        for (const size_t model : block.models) move_up(models_[model], pool, all.placements[buffer].offset);
    return sizes_of(all);
  }

  // Models that take turns are one problem, at one time after the other; those that run at the same time are
  // planned first, one above the other, and are then one block.
  void add(Joint& joint, const Turns& turns, const PoolBytes& used) {
    if (turns.is_model()) {
      add_buffers(joint, planned_alone(turns.model, used), turns.model);
    } else if (turns.kind != TogetherKind::kConcurrent) {
      for (const Turns& member : turns.members) add(joint, member, used);
    } else {
      // Each member above those before: nothing of one is ever in the others' way.
      PoolBytes taken = used;
      for (const Turns& member : turns.members) {
        const PoolBytes sizes = planned_from_0(member, taken);
        add_block(joint, models_, models_of(member), sizes);
        for (size_t k = 0; k < sizes.size(); ++k) taken[k] += sizes[k];
      }
      ++joint.end;
    }
  }

  const std::vector<CompileOptions>& options_;
  const Together& together_;
  std::vector<Compilation> models_;
};

// One map of the models' maps, one behind the other on the logical time.
MemoryMap joined_map(const std::vector<Compilation>& models, const Together& together) {
  // Bounds, stacks and arenas of whole layers add up where models run at the same time; of turns the most
  // counts.
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

// Plans first, of all models; then files, for which the kernels of all have to be known.
CompiledTogether compile_together(std::vector<CompileOptions> options, const Together& together) {
  std::vector<std::string> names;
  for (CompileOptions& one : options) {
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
