#include "frontend/stream_loops.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "frontend/loop_moments.h"

namespace arenac {
namespace {

void require_in_turn(const Expr& index, const Loop& loop) {
  const auto backwards = direction_of(index, loop);
  if (!backwards) throw StreamFault{"does not read moment after moment"};
  if (*backwards) throw StreamFault{"begins with the last moment"};
}

// The time that the loop walks: that of all tensors of the stream that its nests read, each at the moment of
// the iteration.
Time time_of(const Loop& loop, const Times& times) {
  std::optional<Time> walked;
  for (const Node& node : loop.body)
    for (const TensorId id : node.reads) {
      const auto at = times.find(id);
      if (at == times.end()) continue;
      const Time& time = at->second;
      if (walked && !walked->keeps_step_with(time)) throw StreamFault{kOtherLengths};
      walked = time;
    }
  if (!walked || walked->stretch != loop.trips) throw StreamFault{kOrderOfItsOwn};
  return *walked;
}

// Checks a nest of the loop; `times` then has what it writes by moments, too.
void follow_nest(const Nest& nest, const Node& node, const Loop& loop, const Time& time, Times& times) {
  const int t = -1 - loop.symbol;
  visit_reads(nest, [&](const Expr& e) {
    const auto at = times.find(node.reads[e->index]);
    if (at != times.end()) require_in_turn(e->args[at->second.dimension], loop);
  });
  if (names_time(nest, node, t, times)) throw StreamFault{kNumberOfMoment};
  for (size_t d = 0; d < nest.store.size(); ++d) {
    if (!names_axis(nest.store[d], t)) continue;
    require_in_turn(nest.store[d], loop);
    times[node.writes[0]] = {static_cast<int>(d), time.stretch, time.call};
  }
}

// The byte that all of a tensor consists of before the loop; nothing where an input of the model says what it
// is.
std::optional<uint8_t> first_byte(TensorId id, const Block& block, const Graph& graph) {
  const StreamFault computed = {"begins with what is computed; give its state by --state"};
  if (std::ranges::count(graph.inputs, id) > 0) return std::nullopt;
  std::vector<std::byte> bytes;
  if (const auto& constant = graph.tensors[id].constant) {
    bytes = constant->bytes;
  } else {
    const auto writer = std::ranges::find(block, std::vector{id}, &Node::writes);
    const Nests* nests = writer == block.end() ? nullptr : std::get_if<Nests>(&writer->body);
    if (!nests || nests->size() != 1) throw computed;
    const Expr& value = nests->front().body;
    if (const Expr* element = copied_read(nests->front(), *writer, graph))
      return first_byte(writer->reads[(*element)->index], block, graph);
    if (value->op != Op::kConst) throw computed;
    bytes.resize(static_cast<size_t>(size_of(value->type)));
    store(value->type, bytes.data(), value->value);
  }
  if (bytes.empty() || std::ranges::adjacent_find(bytes, std::not_equal_to{}) != bytes.end()) throw computed;
  return static_cast<uint8_t>(bytes.front());
}

}  // namespace

LoopOverTime follow_loop(Node& node, const Block& block, const Graph& graph, const Times& times) {
  Loop& loop = std::get<Loop>(node.body);
  if (!static_loop(node)) throw StreamFault{kOrderOfItsOwn};
  const Time time = time_of(loop, times);
  LoopOverTime followed{times, {}};
  std::set<TensorId> written;
  for (const Node& inner : loop.body) {
    const Nests* nests = std::get_if<Nests>(&inner.body);
    if (!nests) throw StreamFault{kOrderOfItsOwn};
    for (const Nest& nest : *nests) follow_nest(nest, inner, loop, time, followed.times);
    written.insert(inner.writes.begin(), inner.writes.end());
  }
  for (const Node& outer : block)
    for (const TensorId id : outer.writes)
      if (written.contains(id))
        if (const auto byte = first_byte(id, block, graph)) followed.carried.push_back({id, *byte});
  loop.trips = time.call;
  number_iterations(loop, loop.symbol);
  return followed;
}

}  // namespace arenac
