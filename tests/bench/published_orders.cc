#include "tests/bench/published_orders.h"

#include <algorithm>
#include <random>
#include <utility>

namespace arenac {
namespace {

// A feature map in one or several tensors, each written by one operator.
struct Feature {
  std::vector<int> tensors;
  int64_t size = 0, channels = 0;  // size x size pixels
};

// One layer of a branch: a convolution to so many channels (0: a pooling, which keeps them).
struct Layer {
  int64_t channels;
  int64_t kernel = 1, stride = 1;
  enum class Pad { kSame, kValid } pad = Pad::kSame;
};
using Branch = std::vector<Layer>;
constexpr Layer::Pad kValid = Layer::Pad::kValid;

class Network {
 public:
  explicit Network(Concat concat) : concat_(concat) {}

  Feature input(int64_t size, int64_t channels) {
    problem.tensors.push_back({});
    return {{static_cast<int>(problem.tensors.size()) - 1}, size, channels};
  }

  // An operator that reads all of the features into a new one.
  Feature run(const std::vector<Feature>& from, int64_t size, int64_t channels) {
    const int op = static_cast<int>(add_vertex(problem.operators));
    for (const Feature& feature : from)
      for (int t : feature.tensors) {
        std::vector<int>& readers = problem.tensors[t].readers;
        if (readers.empty() || readers.back() != op) readers.push_back(op);
        for (int writer : problem.tensors[t].writers)
          if (!edge(writer, op, problem.operators).second) add_edge(writer, op, problem.operators);
      }
    problem.tensors.push_back({size * size * channels * 4, {op}, {}});
    return {{static_cast<int>(problem.tensors.size()) - 1}, size, channels};
  }

  // As run(), in the place of one of the features where that dies.
  Feature run_in_place(const std::vector<Feature>& from, int64_t size, int64_t channels) {
    const Feature out = run(from, size, channels);
    const int64_t bytes = problem.tensors[out.tensors[0]].bytes;
    for (const Feature& feature : from)
      if (feature.tensors.size() == 1 && problem.tensors[feature.tensors[0]].bytes == bytes)
        problem.operators[num_vertices(problem.operators) - 1].in_place.push_back(
            {feature.tensors[0], bytes});
    return out;
  }

  Feature layer(const Feature& x, const Layer& l) {
    const int64_t extent = l.pad == kValid ? x.size - l.kernel + 1 : x.size;
    return run({x}, (extent + l.stride - 1) / l.stride, l.channels ? l.channels : x.channels);
  }
  Feature branch(Feature x, const Branch& layers) {
    for (const Layer& l : layers) x = layer(x, l);
    return x;
  }
  Feature elementwise(const Feature& x) { return run_in_place({x}, x.size, x.channels); }
  Feature add(const Feature& a, const Feature& b) { return run_in_place({a, b}, a.size, a.channels); }
  Feature sum(const std::vector<Feature>& terms) {
    return terms.size() == 1 ? terms[0] : run_in_place(terms, terms[0].size, terms[0].channels);
  }
  Feature concat(const std::vector<Feature>& parts) {
    Feature whole{{}, parts[0].size, 0};
    for (const Feature& part : parts) {
      whole.tensors.insert(whole.tensors.end(), part.tensors.begin(), part.tensors.end());
      whole.channels += part.channels;
    }
    return concat_ == Concat::kParts ? whole : run(parts, whole.size, whole.channels);
  }
  Feature module(const Feature& x, const std::vector<Branch>& branches) {
    std::vector<Feature> parts;
    for (const Branch& layers : branches) parts.push_back(branch(x, layers));
    return concat(parts);
  }
  // Global pooling and the classifier, whose results are the caller's.
  OrderProblem classified(const Feature& x) {
    const Feature logits = run({run({x}, 1, x.channels)}, 1, 1000);
    problem.tensors[logits.tensors[0]].bytes = 0;
    return std::move(problem);
  }

  OrderProblem problem;

 private:
  Concat concat_;
};

// ---- Cells of two inputs (Zoph et al., "Learning Transferable Architectures", CVPR 2018), as published by
// DARTS (Liu et al., ICLR 2019): node k is the sum of two operations on earlier nodes; 0 is the output of the
// cell before the last, 1 that of the last.

enum class Cell { kSep, kDil, kPool, kSkip, kConv7 };
struct Edge {
  Cell operation;
  int from;
};
struct Genotype {
  std::vector<Edge> normal;
  std::vector<int> normal_concat;
  std::vector<Edge> reduce;
  std::vector<int> reduce_concat;
};
using enum Cell;

const Genotype kNasnetA = {{{kSep, 1},
                            {kSep, 0},
                            {kSep, 0},
                            {kSep, 0},
                            {kPool, 1},
                            {kSkip, 0},
                            {kPool, 0},
                            {kPool, 0},
                            {kSep, 1},
                            {kSkip, 1}},
                           {0, 2, 3, 4, 5, 6},
                           {{kSep, 1},
                            {kSep, 0},
                            {kPool, 1},
                            {kSep, 0},
                            {kPool, 1},
                            {kSep, 0},
                            {kSkip, 3},
                            {kPool, 2},
                            {kSep, 2},
                            {kPool, 1}},
                           {3, 4, 5, 6}};
// Real et al., "Regularized Evolution for Image Classifier Architecture Search" (AAAI 2019).
const Genotype kAmoebaNetA = {{{kPool, 0},
                               {kPool, 1},
                               {kSep, 0},
                               {kSep, 2},
                               {kSep, 0},
                               {kPool, 3},
                               {kSep, 1},
                               {kSkip, 1},
                               {kSkip, 0},
                               {kPool, 1}},
                              {4, 5, 6},
                              {{kPool, 0},
                               {kSep, 1},
                               {kPool, 0},
                               {kSep, 2},
                               {kSep, 0},
                               {kPool, 1},
                               {kPool, 0},
                               {kPool, 1},
                               {kConv7, 0},
                               {kSep, 5}},
                              {3, 4, 6}};
// Liu et al., "Progressive Neural Architecture Search" (ECCV 2018): one cell for both.
const std::vector<Edge> kPnasEdges = {{kSep, 0}, {kPool, 0}, {kSep, 1},  {kPool, 1}, {kSep, 1},
                                      {kSep, 1}, {kSep, 4},  {kPool, 1}, {kSep, 0},  {kSkip, 1}};
const Genotype kPnasNet = {kPnasEdges, {2, 3, 4, 5, 6}, kPnasEdges, {2, 3, 4, 5, 6}};
const Genotype kDartsV1 = {
    {{kSep, 1}, {kSep, 0}, {kSkip, 0}, {kSep, 1}, {kSkip, 0}, {kSep, 1}, {kSep, 0}, {kSkip, 2}},
    {2, 3, 4, 5},
    {{kPool, 0}, {kPool, 1}, {kSkip, 2}, {kPool, 0}, {kPool, 0}, {kSkip, 2}, {kSkip, 2}, {kPool, 0}},
    {2, 3, 4, 5}};
const Genotype kDartsV2 = {
    {{kSep, 0}, {kSep, 1}, {kSep, 0}, {kSep, 1}, {kSep, 1}, {kSkip, 0}, {kSkip, 0}, {kDil, 2}},
    {2, 3, 4, 5},
    {{kPool, 0}, {kPool, 1}, {kSkip, 2}, {kPool, 1}, {kPool, 0}, {kSkip, 2}, {kSkip, 2}, {kPool, 1}},
    {2, 3, 4, 5}};

Feature relu_conv(Network& net, const Feature& x, int64_t channels) {
  return net.layer(net.elementwise(x), {channels});
}

// Half of the pixels by a 1x1 convolution of stride 2 on two grids, half of the channels each.
Feature halved(Network& net, const Feature& x, int64_t channels) {
  const Feature active = net.elementwise(x);
  const Layer half{channels / 2, 1, 2};
  return net.concat({net.layer(active, half), net.layer(active, half)});
}

Feature operation(Network& net, Cell cell, const Feature& x, int64_t channels, int64_t stride) {
  const Layer depthwise{0, 3, stride}, pointwise{channels};
  switch (cell) {
    case kSep: {
      const Feature half = net.branch(net.elementwise(x), {depthwise, pointwise});
      return net.branch(net.elementwise(half), {{0, 3}, pointwise});
    }
    case kDil:
      return net.branch(net.elementwise(x), {depthwise, pointwise});
    case kConv7:
      return net.branch(net.elementwise(x), {{channels, 7, stride}, {channels, 7}});
    case kPool:
      return net.layer(x, depthwise);
    case kSkip:
      return stride == 1 ? x : halved(net, x, channels);
  }
  return x;
}

Feature cell(Network& net, const std::vector<Edge>& edges, const std::vector<int>& concat,
             const Feature& before, const Feature& last, int64_t channels, int64_t stride) {
  const bool shrunk = before.size != last.size;
  std::vector<Feature> nodes = {shrunk ? halved(net, before, channels) : relu_conv(net, before, channels),
                                relu_conv(net, last, channels)};
  for (size_t k = 0; k < edges.size(); k += 2) {
    const auto operand = [&](const Edge& edge) {
      return operation(net, edge.operation, nodes[edge.from], channels, edge.from < 2 ? stride : 1);
    };
    const Feature a = operand(edges[k]);
    nodes.push_back(net.add(a, operand(edges[k + 1])));
  }
  std::vector<Feature> parts;
  for (int node : concat)
    parts.push_back(nodes[node].size == nodes.back().size ? nodes[node] : halved(net, nodes[node], channels));
  return net.concat(parts);
}

OrderProblem cells(const Genotype& genotype, Network net, Feature before, Feature last, int count,
                   int64_t channels) {
  for (int k = 0; k < count; ++k) {
    const bool reduces = k == count / 3 || k == 2 * count / 3;
    if (reduces) channels *= 2;
    Feature next = reduces ? cell(net, genotype.reduce, genotype.reduce_concat, before, last, channels, 2)
                           : cell(net, genotype.normal, genotype.normal_concat, before, last, channels, 1);
    before = std::exchange(last, std::move(next));
  }
  return net.classified(last);
}

OrderProblem cifar(const Genotype& genotype, Concat concat) {
  Network net(concat);
  const Feature stem = net.layer(net.input(32, 3), {3 * 36, 3});
  return cells(genotype, std::move(net), stem, stem, 20, 36);
}

OrderProblem imagenet(const Genotype& genotype, Concat concat) {
  Network net(concat);
  const Feature stem = net.branch(net.input(224, 3), {{24, 3, 2}, {48, 3, 2}});
  const Feature next = net.layer(net.elementwise(stem), {48, 3, 2});
  return cells(genotype, std::move(net), stem, next, 14, 48);
}

// ---- Xie et al., "Exploring Randomly Wired Neural Networks for Image Recognition" (ICCV 2019)

using Edges = std::vector<std::pair<int, int>>;  // from the smaller index

Edges erdos_renyi(int nodes, std::mt19937& random) {
  Edges edges;
  for (int a = 0; a < nodes; ++a)
    for (int b = a + 1; b < nodes; ++b)
      if (random() % 100 < 20) edges.push_back({a, b});
  return edges;
}

Edges barabasi_albert(int nodes, std::mt19937& random) {
  constexpr int kNew = 5;
  Edges edges;
  std::vector<int> ends;  // each node once per edge
  for (int b = kNew; b < nodes; ++b) {
    std::vector<int> chosen;
    while (static_cast<int>(chosen.size()) < kNew) {
      const int a = ends.empty() ? static_cast<int>(chosen.size()) : ends[random() % ends.size()];
      if (std::find(chosen.begin(), chosen.end(), a) == chosen.end()) chosen.push_back(a);
    }
    for (int a : chosen) {
      edges.push_back({a, b});
      ends.insert(ends.end(), {a, b});
    }
  }
  return edges;
}

Edges watts_strogatz(int nodes, std::mt19937& random) {
  constexpr int kNeighbours = 4;
  Edges edges;
  const auto add = [&](int a, int b) {
    const std::pair edge(std::min(a, b), std::max(a, b));
    if (a == b || std::find(edges.begin(), edges.end(), edge) != edges.end()) return false;
    edges.push_back(edge);
    return true;
  };
  for (int step = 1; step <= kNeighbours / 2; ++step)
    for (int a = 0; a < nodes; ++a) {
      bool done = random() % 100 >= 75 && add(a, (a + step) % nodes);
      while (!done) done = add(a, static_cast<int>(random() % static_cast<unsigned>(nodes)));
    }
  return edges;
}

// A node sums its inputs, then applies an activation and a separable convolution.
Feature random_stage(Network& net, const Feature& x, int nodes, const Edges& edges, int64_t channels) {
  std::vector<Feature> features;
  std::vector<bool> used(nodes);
  for (int node = 0; node < nodes; ++node) {
    std::vector<Feature> terms;
    for (const auto& [from, to] : edges)
      if (to == node) {
        terms.push_back(features[from]);
        used[from] = true;
      }
    const int64_t stride = terms.empty() ? 2 : 1;
    const Feature total = net.elementwise(terms.empty() ? x : net.sum(terms));
    features.push_back(net.branch(total, {{0, 3, stride}, {channels}}));
  }
  std::vector<Feature> ends;
  for (int node = 0; node < nodes; ++node)
    if (!used[node]) ends.push_back(features[node]);
  return net.elementwise(net.sum(ends));  // the average
}

OrderProblem randwire(Edges (*wire)(int, std::mt19937&), unsigned seed, Concat concat) {
  std::mt19937 random(seed);
  Network net(concat);
  constexpr int64_t kChannels = 78;
  Feature x = net.branch(net.input(224, 3), {{kChannels / 2, 3, 2}, {kChannels, 3, 2}});
  for (int64_t channels : {kChannels, 2 * kChannels, 4 * kChannels})
    x = random_stage(net, x, 32, wire(32, random), channels);
  return net.classified(x);
}

// ---- Szegedy et al., "Rethinking the Inception Architecture" (CVPR 2016), "Inception-v4" (AAAI 2017)

// Two convolutions on one tensor, of which both results are parts.
Feature forked(Network& net, const Feature& x, const Branch& to, int64_t channels) {
  const Feature tip = net.branch(x, to);
  const Feature wide = net.layer(tip, {channels, 3});
  return net.concat({wide, net.layer(tip, {channels, 3})});
}

OrderProblem inception_v3(Concat concat) {
  Network net(concat);
  Feature x = net.branch(net.input(299, 3), {{32, 3, 2, kValid},
                                             {32, 3, 1, kValid},
                                             {64, 3},
                                             {0, 3, 2, kValid},
                                             {80},
                                             {192, 3, 1, kValid},
                                             {0, 3, 2, kValid}});
  for (int64_t pooled : {32, 64, 64})
    x = net.module(x, {{{64}}, {{48}, {64, 5}}, {{64}, {96, 3}, {96, 3}}, {{0, 3}, {pooled}}});
  x = net.module(x, {{{384, 3, 2, kValid}}, {{64}, {96, 3}, {96, 3, 2, kValid}}, {{0, 3, 2, kValid}}});
  for (int64_t c : {128, 160, 160, 192})
    x = net.module(
        x, {{{192}}, {{c}, {c, 7}, {192, 7}}, {{c}, {c, 7}, {c, 7}, {c, 7}, {192, 7}}, {{0, 3}, {192}}});
  x = net.module(
      x,
      {{{192}, {320, 3, 2, kValid}}, {{192}, {192, 7}, {192, 7}, {192, 3, 2, kValid}}, {{0, 3, 2, kValid}}});
  for (int k = 0; k < 2; ++k) {
    const Feature a = net.layer(x, {320}), b = forked(net, x, {{384}}, 384);
    const Feature c = forked(net, x, {{448}, {384, 3}}, 384);
    x = net.concat({a, b, c, net.branch(x, {{0, 3}, {192}})});
  }
  return net.classified(x);
}

OrderProblem inception_v4(Concat concat) {
  Network net(concat);
  Feature x = net.branch(net.input(299, 3), {{32, 3, 2, kValid}, {32, 3, 1, kValid}, {64, 3}});
  x = net.module(x, {{{0, 3, 2, kValid}}, {{96, 3, 2, kValid}}});
  x = net.module(x, {{{64}, {96, 3, 1, kValid}}, {{64}, {64, 7}, {64, 7}, {96, 3, 1, kValid}}});
  x = net.module(x, {{{192, 3, 2, kValid}}, {{0, 3, 2, kValid}}});
  for (int k = 0; k < 4; ++k)
    x = net.module(x, {{{96}}, {{64}, {96, 3}}, {{64}, {96, 3}, {96, 3}}, {{0, 3}, {96}}});
  x = net.module(x, {{{384, 3, 2, kValid}}, {{192}, {224, 3}, {256, 3, 2, kValid}}, {{0, 3, 2, kValid}}});
  for (int k = 0; k < 7; ++k)
    x = net.module(x, {{{384}},
                       {{192}, {224, 7}, {256, 7}},
                       {{192}, {192, 7}, {224, 7}, {224, 7}, {256, 7}},
                       {{0, 3}, {128}}});
  x = net.module(
      x,
      {{{192}, {192, 3, 2, kValid}}, {{256}, {256, 7}, {320, 7}, {320, 3, 2, kValid}}, {{0, 3, 2, kValid}}});
  for (int k = 0; k < 3; ++k) {
    const Feature a = net.layer(x, {256}), b = forked(net, x, {{384}}, 256);
    const Feature c = forked(net, x, {{384}, {448, 3}, {512, 3}}, 256);
    x = net.concat({a, b, c, net.branch(x, {{0, 3}, {256}})});
  }
  return net.classified(x);
}

// Huang et al., "Densely Connected Convolutional Networks" (CVPR 2017)
OrderProblem densenet_121(Concat concat) {
  Network net(concat);
  Feature x = net.branch(net.input(224, 3), {{64, 7, 2}, {0, 3, 2}});
  const std::vector<int> blocks = {6, 12, 24, 16};
  for (size_t block = 0; block < blocks.size(); ++block) {
    if (block > 0) x = net.branch(net.elementwise(x), {{x.channels / 2}, {0, 2, 2}});
    for (int k = 0; k < blocks[block]; ++k)
      x = net.concat({x, net.branch(net.elementwise(x), {{128}, {32, 3}})});
  }
  return net.classified(net.elementwise(x));
}

}  // namespace

const std::vector<PublishedNetwork>& published_networks() {
  static const std::vector<PublishedNetwork> all = [] {
    std::vector<PublishedNetwork> rows;
    const std::vector<std::pair<std::string, const Genotype*>> genotypes = {{"nasnet_a", &kNasnetA},
                                                                            {"amoebanet_a", &kAmoebaNetA},
                                                                            {"pnasnet_5", &kPnasNet},
                                                                            {"darts_v1", &kDartsV1},
                                                                            {"darts_v2", &kDartsV2}};
    for (const auto& [name, genotype] : genotypes) {
      rows.push_back({name + "_cifar", [g = genotype](Concat concat) { return cifar(*g, concat); }});
      rows.push_back({name + "_imagenet", [g = genotype](Concat concat) { return imagenet(*g, concat); }});
    }
    for (unsigned seed : {1, 2, 3}) {
      const std::string suffix = "_" + std::to_string(seed);
      rows.push_back({"randwire_ws" + suffix, [=](Concat c) { return randwire(watts_strogatz, seed, c); }});
      rows.push_back({"randwire_er" + suffix, [=](Concat c) { return randwire(erdos_renyi, seed, c); }});
      rows.push_back({"randwire_ba" + suffix, [=](Concat c) { return randwire(barabasi_albert, seed, c); }});
    }
    rows.push_back({"inception_v3", inception_v3});
    rows.push_back({"inception_v4", inception_v4});
    rows.push_back({"densenet_121", densenet_121});
    return rows;
  }();
  return all;
}

}  // namespace arenac
