#include "frontend/tree_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace arenac {
namespace {

using Key = std::pair<int64_t, int64_t>;  // tree, node

constexpr std::array<const char*, 6> kModes = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                               "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
constexpr uint8_t kEqual = 4, kMember = 6, kMissingIsTrue = 8;

std::vector<double> numbers_of(const Lowering& node, const std::string& name) {
  const auto& tensor = node.attribute(name).tensor;
  node.require(tensor != nullptr, fmt::format("'{}' is no tensor", name));
  std::vector<double> all;
  for (int64_t k = 0; k < tensor->count(); ++k)
    all.push_back(convert(Type::kFloat64, tensor->type, load(*tensor, k)).f);
  return all;
}

struct Nodes {
  std::vector<int64_t> tree, id, feature, yes, no, missing;
  std::vector<std::string> mode;
  std::vector<double> threshold;
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

// How many nodes lead to each. Fails where one can be reached from itself: Kahn's order reaches every node.
std::vector<int> count_parents(const Lowering& node, const TreeTable& table) {
  std::vector<int> parents(table.feature.size());
  for (size_t k = 0; k < parents.size(); ++k)
    if (table.feature[k] >= 0) ++parents[table.yes[k]], ++parents[table.no[k]];
  std::vector<int> left = parents;
  std::vector<int32_t> ready;
  for (size_t k = 0; k < left.size(); ++k)
    if (left[k] == 0) ready.push_back(static_cast<int32_t>(k));
  for (size_t done = 0; done < ready.size(); ++done) {
    const int32_t k = ready[done];
    if (table.feature[k] < 0) continue;
    for (const int32_t next : {table.yes[k], table.no[k]})
      if (--left[next] == 0) ready.push_back(next);
  }
  node.require(ready.size() == parents.size(), "the nodes of a tree form a cycle");
  return parents;
}

// One root a tree.
std::vector<int32_t> find_roots(const Lowering& node, const Nodes& n, const TreeTable& table) {
  const std::vector<int> parents = count_parents(node, table);
  std::map<int64_t, int32_t> roots;
  for (size_t k = 0; k < parents.size(); ++k)
    if (parents[k] == 0)
      node.require(roots.emplace(n.tree[k], static_cast<int32_t>(k)).second,
                   fmt::format("tree {} has two roots", n.tree[k]));
  std::vector<int32_t> all;
  for (const auto& [tree, root] : roots) all.push_back(root);
  return all;
}

// A node of TreeEnsemble: what it asks, and where the answers lead.
struct Question {
  int32_t feature;
  uint8_t mode;
  double threshold;
  int32_t yes, no;
};

int32_t append(TreeTable& table, const Question& q) {
  table.feature.push_back(q.feature);
  table.mode.push_back(q.mode);
  table.threshold.push_back(q.threshold);
  table.yes.push_back(q.yes);
  table.no.push_back(q.no);
  return static_cast<int32_t>(table.feature.size()) - 1;
}

// The members of each set, in the order of the nodes that ask for them; a NaN ends each.
std::vector<std::vector<double>> member_sets(const Lowering& node) {
  std::vector<std::vector<double>> sets;
  if (!node.has("membership_values")) return sets;
  std::vector<double> members;
  for (const double v : numbers_of(node, "membership_values")) {
    if (!std::isnan(v)) {
      members.push_back(v);
      continue;
    }
    sets.push_back(std::move(members));
    members.clear();
  }
  return sets;
}

// Makes chains of the questions among the first `count` nodes whether a feature is in a set: is it the first
// member? else: is it the second? ... An empty set asks for NaN, which nothing equals.
void ask_for_members(const Lowering& node, TreeTable& table, int64_t count) {
  const auto sets = member_sets(node);
  size_t used = 0;
  for (int64_t k = 0; k < count; ++k) {
    if ((table.mode[k] & 7) != kMember) continue;
    node.require(used < sets.size(), "'membership_values' has too few sets");
    const std::vector<double>& members = sets[used++];
    const auto equal = static_cast<uint8_t>(kEqual | (table.mode[k] & kMissingIsTrue));
    table.mode[k] = equal;
    table.threshold[k] = members.empty() ? std::numeric_limits<double>::quiet_NaN() : members[0];
    for (size_t m = members.size(); m-- > 1;)
      table.no[k] = append(table, {table.feature[k], equal, members[m], table.yes[k], table.no[k]});
  }
}

}  // namespace

std::vector<double> floats_or_tensor(const Lowering& node, const std::string& name) {
  if (node.has(name + "_as_tensor")) return numbers_of(node, name + "_as_tensor");
  if (!node.has(name)) return {};
  const auto& floats = node.attribute(name).floats;
  return {floats.begin(), floats.end()};
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

// Nodes first, then leaves; node k of the attributes is node k here, and questions that test further members
// of a set come last.
TreeTable ensemble_table(const Lowering& node, int64_t targets, int64_t features) {
  const auto ask = [&](const std::string& name) { return node.attribute(name).ints; };
  const auto feature = ask("nodes_featureids"), yes = ask("nodes_truenodeids"),
             yes_leaf = ask("nodes_trueleafs"), no = ask("nodes_falsenodeids"),
             no_leaf = ask("nodes_falseleafs"), roots = ask("tree_roots"), target = ask("leaf_targetids");
  const auto splits = numbers_of(node, "nodes_splits"), modes = numbers_of(node, "nodes_modes"),
             weights = numbers_of(node, "leaf_weights");
  auto missing = node.ints_attr("nodes_missing_value_tracks_true", {});
  const auto count = static_cast<int64_t>(feature.size()), leaves = static_cast<int64_t>(weights.size());
  missing.resize(missing.empty() ? feature.size() : missing.size());
  for (const size_t size :
       {yes.size(), yes_leaf.size(), no.size(), no_leaf.size(), splits.size(), modes.size(), missing.size()})
    node.require(size == feature.size(), "the lists nodes_* differ in length");
  node.require(target.size() == weights.size(), "the lists leaf_* differ in length");
  node.require(count > 0 && count < (1 << 28) && leaves < (1 << 28), "there are no nodes, or too many");
  const auto goal = [&](int64_t id, int64_t is_leaf) {
    node.require(id >= 0 && id < (is_leaf ? leaves : count),
                 fmt::format("there is no {} {}", is_leaf ? "leaf" : "node", id));
    return static_cast<int32_t>(is_leaf ? count + id : id);
  };

  TreeTable table;
  for (int64_t k = 0; k < count; ++k) {
    node.require(feature[k] >= 0 && feature[k] < features,
                 fmt::format("a node asks for feature {} of {}", feature[k], features));
    node.require(modes[k] >= 0 && modes[k] <= kMember, fmt::format("node mode {} is unknown", modes[k]));
    const auto mode = static_cast<uint8_t>(static_cast<int>(modes[k]) | (missing[k] ? kMissingIsTrue : 0));
    append(table, {static_cast<int32_t>(feature[k]), mode, splits[k], goal(yes[k], yes_leaf[k]),
                   goal(no[k], no_leaf[k])});
  }
  for (int64_t k = 0; k < leaves; ++k) {
    node.require(target[k] >= 0 && target[k] < targets,
                 fmt::format("a leaf adds to target {} of {}", target[k], targets));
    append(table, {-1, 0, 0, static_cast<int32_t>(k), static_cast<int32_t>(k) + 1});
    table.target.push_back(static_cast<int32_t>(target[k]));
    table.weight.push_back(weights[k]);
  }
  ask_for_members(node, table, count);
  for (const int64_t root : roots) table.roots.push_back(goal(root, 0));
  count_parents(node, table);
  return table;
}

}  // namespace arenac
