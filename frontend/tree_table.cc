#include "frontend/tree_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace arenac {
namespace {

using Key = std::pair<int64_t, int64_t>;  // tree, node

constexpr std::array<const char*, 6> kModes = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                               "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
constexpr uint8_t kMissingIsTrue = 8;

struct Nodes {
  std::vector<int64_t> tree, id, feature, yes, no, missing;
  std::vector<std::string> mode;
  std::vector<float> threshold;
  std::map<Key, int32_t> index;
};

Nodes read_nodes(const Lowering& node) {
  Nodes n{node.ints_attr("nodes_treeids", {}),
          node.ints_attr("nodes_nodeids", {}),
          node.ints_attr("nodes_featureids", {}),
          node.ints_attr("nodes_truenodeids", {}),
          node.ints_attr("nodes_falsenodeids", {}),
          node.ints_attr("nodes_missing_value_tracks_true", {}),
          node.has("nodes_modes") ? node.attribute("nodes_modes").strings : std::vector<std::string>{},
          floats_or_tensor(node, "nodes_values"),
          {}};
  const size_t count = n.tree.size();
  n.missing.resize(n.missing.empty() ? count : n.missing.size());
  for (const size_t size : {n.id.size(), n.feature.size(), n.yes.size(), n.no.size(), n.missing.size(),
                            n.mode.size(), n.threshold.size()})
    node.require(size == count, "the lists nodes_* differ in length");
  node.require(count > 0 && count < (size_t{1} << 30), "there are no nodes, or too many");
  for (size_t k = 0; k < count; ++k)
    node.require(n.index.emplace(Key{n.tree[k], n.id[k]}, static_cast<int32_t>(k)).second,
                 fmt::format("tree {} has two nodes {}", n.tree[k], n.id[k]));
  return n;
}

int32_t child(const Lowering& node, const Nodes& n, size_t k, int64_t id) {
  const auto at = n.index.find({n.tree[k], id});
  node.require(at != n.index.end(), fmt::format("tree {} has no node {}", n.tree[k], id));
  return at->second;
}

// One root a tree, and no way back: Kahn's order reaches every node.
std::vector<int32_t> find_roots(const Lowering& node, const Nodes& n, const TreeTable& table) {
  std::vector<int> parents(n.tree.size());
  for (size_t k = 0; k < parents.size(); ++k)
    if (table.feature[k] >= 0) ++parents[table.yes[k]], ++parents[table.no[k]];
  std::map<int64_t, int32_t> roots;
  std::vector<int32_t> ready;
  for (size_t k = 0; k < parents.size(); ++k) {
    if (parents[k] > 0) continue;
    node.require(roots.emplace(n.tree[k], static_cast<int32_t>(k)).second,
                 fmt::format("tree {} has two roots", n.tree[k]));
    ready.push_back(static_cast<int32_t>(k));
  }
  for (size_t done = 0; done < ready.size(); ++done) {
    const int32_t k = ready[done];
    if (table.feature[k] < 0) continue;
    for (const int32_t next : {table.yes[k], table.no[k]})
      if (--parents[next] == 0) ready.push_back(next);
  }
  node.require(ready.size() == parents.size(), "the nodes of a tree form a cycle");
  std::vector<int32_t> all;
  for (const auto& [tree, root] : roots) all.push_back(root);
  return all;
}

}  // namespace

std::vector<float> floats_or_tensor(const Lowering& node, const std::string& name) {
  if (!node.has(name + "_as_tensor"))
    return node.has(name) ? node.attribute(name).floats : std::vector<float>{};
  const auto& tensor = node.attribute(name + "_as_tensor").tensor;
  node.require(tensor != nullptr, fmt::format("'{}_as_tensor' is no tensor", name));
  std::vector<float> all;
  for (int64_t k = 0; k < tensor->count(); ++k)
    all.push_back(static_cast<float>(convert(Type::kFloat64, tensor->type, load(*tensor, k)).f));
  return all;
}

TreeTable tree_table(const Lowering& node, const std::string& prefix, int64_t targets, int64_t features) {
  const Nodes n = read_nodes(node);
  TreeTable table;
  table.threshold = n.threshold;
  for (size_t k = 0; k < n.tree.size(); ++k) {
    const bool leaf = n.mode[k] == "LEAF";
    const auto mode = std::find(kModes.begin(), kModes.end(), n.mode[k]);
    node.require(leaf || mode != kModes.end(), fmt::format("node mode '{}' is unknown", n.mode[k]));
    node.require(leaf || (n.feature[k] >= 0 && n.feature[k] < features),
                 fmt::format("a node asks for feature {} of {}", n.feature[k], features));
    table.feature.push_back(leaf ? -1 : static_cast<int32_t>(n.feature[k]));
    table.mode.push_back(
        leaf ? 0 : static_cast<uint8_t>((mode - kModes.begin()) | (n.missing[k] ? kMissingIsTrue : 0)));
    table.yes.push_back(leaf ? 0 : child(node, n, k, n.yes[k]));
    table.no.push_back(leaf ? 0 : child(node, n, k, n.no[k]));
  }
  table.roots = find_roots(node, n, table);

  const auto trees = node.ints_attr(prefix + "_treeids", {}), ids = node.ints_attr(prefix + "_nodeids", {}),
             which = node.ints_attr(prefix + "_ids", {});
  const auto weights = floats_or_tensor(node, prefix + "_weights");
  node.require(trees.size() == ids.size() && trees.size() == which.size() && trees.size() == weights.size(),
               fmt::format("the lists {}_* differ in length", prefix));
  std::map<int32_t, std::vector<size_t>> entries;  // of each leaf
  for (size_t k = 0; k < trees.size(); ++k) {
    const auto at = n.index.find({trees[k], ids[k]});
    node.require(at != n.index.end(), fmt::format("tree {} has no node {}", trees[k], ids[k]));
    node.require(which[k] >= 0 && which[k] < targets,
                 fmt::format("a leaf adds to {} {} of {}", prefix, which[k], targets));
    if (table.feature[at->second] < 0) entries[at->second].push_back(k);
  }
  for (const auto& [leaf, list] : entries) {
    table.yes[leaf] = static_cast<int32_t>(table.target.size());
    for (size_t k : list) {
      table.target.push_back(static_cast<int32_t>(which[k]));
      table.weight.push_back(weights[k]);
    }
    table.no[leaf] = static_cast<int32_t>(table.target.size());
  }
  return table;
}

}  // namespace arenac
