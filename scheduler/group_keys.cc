#include "scheduler/group_keys.h"

#include <algorithm>
#include <unordered_map>

#include "frontend/nest_hash.h"
#include "scheduler/hash_of.h"

namespace arenac {
namespace {

using arenac::hash_of;

size_t hash_of(const Rows& rows) { return hash_of(rows.size, rows.count); }

size_t hash_of(const RowAccess& access) { return hash_of(hash_of(access.rows), hash_of(access.elements)); }

// Numbers in the order of the first question.
class Places {
 public:
  // The place of a tensor, and whether it is new.
  std::pair<size_t, bool> of(TensorId id) {
    const auto [at, is_new] = places_.try_emplace(id, tensors.size());
    if (is_new) tensors.push_back(id);
    return {at->second, is_new};
  }
  std::optional<size_t> known(TensorId id) const {
    const auto at = places_.find(id);
    return at == places_.end() ? std::nullopt : std::optional(at->second);
  }

  std::vector<TensorId> tensors;

 private:
  std::unordered_map<TensorId, size_t> places_;
};

}  // namespace

GroupKeys::GroupKeys(const Schedule& whole, const StepFacts& facts, const std::vector<int64_t>& bytes)
    : layouts_(whole.layouts), facts_(facts) {
  const auto& [graph, steps, layouts] = std::tie(*whole.graph, whole.steps, whole.layouts);
  NestHash nests;
  const auto links_of = [](const std::vector<Pull>& pulls) {
    std::vector<Link> links;
    for (const Pull& pull : pulls) links.push_back({pull.producer, hash_of(pull.upto)});
    return links;
  };
  for (int s = 0; s < static_cast<int>(steps.size()); ++s) {
    const Slabs& slabs = facts.steps[s].slabs;
    size_t& seed = steps_.emplace_back(0);
    pulls_.push_back(links_of(facts.steps[s].pulls));
    waits_.push_back(links_of(facts.steps[s].waits));
    if (slabs.count == 0) continue;
    const Node& node = *steps[s].node;
    seed = hash_of(nests.of(std::get<Nests>(node.body)), slabs.count, static_cast<bool>(facts.one_by_one[s]),
                   fed_to(node, graph) >= 0, hash_of(slabs.write));
    for (const auto& [axis, width, begin] : slabs.nests)
      boost::hash_combine(seed, hash_of(axis, width, begin));
    for (const RowAccess& read : slabs.reads) boost::hash_combine(seed, hash_of(read));
    for (const ColumnAxes& columns : slabs.columns) boost::hash_combine(seed, columns.axes);
  }
  for (size_t id = 0; id < layouts.size(); ++id) {
    const Tensor& t = graph.tensors[id];
    tensors_.push_back(hash_of(static_cast<int>(t.type), t.shape, layouts[id].offset, layouts[id].strides));
    if (layouts[id].root == static_cast<TensorId>(id))
      boost::hash_combine(tensors_.back(),
                          hash_of(hash_of(facts.rows[id]), hash_of(facts.columns[id]), bytes[id],
                                  facts.bytes[id], static_cast<bool>(facts.callers[id])));
  }
}

GroupKeys::Key GroupKeys::of(int begin, int end) const {
  Places places;
  const int count = static_cast<int>(steps_.size());
  // Steps of the group by their places in it, those before and after it by that alone; the end of all apart.
  const auto when = [&](int64_t s) { return s < begin ? -1 : s <= end ? s - begin : s < count ? -2 : -3; };
  size_t seed = static_cast<size_t>(end - begin);
  const auto touch = [&](TensorId tensor) {
    const TensorId source = facts_.source[tensor], root = layouts_[tensor].root;
    for (const TensorId id : {tensor, source, root}) {
      const auto [place, is_new] = places.of(id);
      boost::hash_combine(seed, place);
      if (!is_new) continue;
      const auto reader = facts_.last_reader[id];
      boost::hash_combine(seed,
                          hash_of(tensors_[id], when(facts_.writer[id]), reader == count ? -3 : when(reader),
                                  when(facts_.live[id].begin), when(facts_.live[id].end)));
    }
  };
  const auto combine = [&](const std::vector<Link>& links) {
    size_t count = 0;
    for (const auto& [producer, upto] : links)
      if (producer >= begin) boost::hash_combine(seed, hash_of(producer - begin, upto)), ++count;
    boost::hash_combine(seed, count);
  };
  for (int s = begin; s < end; ++s) {
    boost::hash_combine(seed, steps_[s]);
    combine(pulls_[s]);
    combine(waits_[s]);
    for (const RowAccess& read : facts_.steps[s].slabs.reads) touch(read.tensor);
    touch(facts_.steps[s].slabs.write.tensor);
  }
  for (const TensorId id : std::vector<TensorId>(places.tensors)) {
    std::vector<size_t> earlier;
    for (const TensorId other : facts_.overwritten[id])
      if (const auto place = places.known(other)) earlier.push_back(*place);
    std::ranges::sort(earlier);
    boost::hash_combine(seed, earlier);
  }
  return {seed, std::move(places.tensors)};
}

}  // namespace arenac
