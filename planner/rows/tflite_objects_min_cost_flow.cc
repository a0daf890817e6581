// Minimum-cost flow for shared objects: Lee et al., "On-Device Neural Net Inference with Mobile GPUs" (2019,
// arXiv 1907.01989), TensorFlow Lite's GPU delegate. Each buffer takes its memory from a buffer whose life is
// over, at the cost of the bytes by which it is larger, or anew, at the cost of its size; each gives it to
// one at most. The cheapest way is a flow:
//
//                +--> given by a --> free a --> ... free c --> taken by d --+       free: one chain per
//   source --1-->|                 (of one size, by end of life)            |--1--> sink   size, without
//                +-----------------------------(cost d.size)-> taken by d --+       costs and capacities
//
// The chains stand for an edge from each buffer to each later one, n edges per size instead of per buffer.
// Equally cheap ways are many, and differ in what the objects come to, for the cost forgets that an object
// stays as large as it once was: on minimalloc's problems figures differ from the published ones by up to 2
// %.
//
// The flow takes up to n shortest paths, so large problems are refused.
#include <fmt/format.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/successive_shortest_path_nonnegative_weights.hpp>
#include <map>

#include "frontend/error.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"
#include "planner/rows/shared_objects.h"

namespace arenac {
namespace {

// Buffers times edges: some seconds.
constexpr double kMostSteps = 3e8;

// Costs are doubles, for the library adds up distances to what cannot be reached; they are exact up to here.
constexpr int64_t kMostBytes = int64_t{1} << 53;

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using EdgeProperties =
    boost::property<boost::edge_capacity_t, int64_t,
                    boost::property<boost::edge_residual_capacity_t, int64_t,
                                    boost::property<boost::edge_reverse_t, Traits::edge_descriptor,
                                                    boost::property<boost::edge_weight_t, double>>>>;
using Graph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, EdgeProperties>;
using Vertex = Traits::vertex_descriptor;
using Edge = Traits::edge_descriptor;

class Network {
 public:
  // Vertices: source, sink, per buffer what it gives and what it takes; free ones are added.
  explicit Network(size_t buffers) : graph_(2 + 2 * buffers) {}
  static constexpr Vertex kSource = 0, kSink = 1;
  static Vertex given_by(int id) { return 2 + 2 * Vertex(id); }
  static Vertex taken_by(int id) { return 3 + 2 * Vertex(id); }
  Vertex add_vertex() { return boost::add_vertex(graph_); }

  Edge connect(Vertex from, Vertex to, int64_t capacity, double cost) {
    const Edge edge = boost::add_edge(from, to, graph_).first, back = boost::add_edge(to, from, graph_).first;
    put(boost::edge_capacity, graph_, edge, capacity);
    put(boost::edge_capacity, graph_, back, 0);
    put(boost::edge_weight, graph_, edge, cost);
    put(boost::edge_weight, graph_, back, -cost);
    put(boost::edge_reverse, graph_, edge, back);
    put(boost::edge_reverse, graph_, back, edge);
    return edge;
  }

  void solve() { boost::successive_shortest_path_nonnegative_weights(graph_, kSource, kSink); }
  bool is_used(Edge edge) const {
    return get(boost::edge_residual_capacity, graph_, edge) < get(boost::edge_capacity, graph_, edge);
  }

 private:
  Graph graph_;
};

// An edge over which a buffer may take memory of this size.
struct Offer {
  int64_t size;
  Edge edge;
};

void refuse_if_large(const Problem& problem) {
  std::map<int64_t, int> sizes;
  int64_t bytes = 0;
  for (const Buffer& b : problem.buffers) {
    ++sizes[b.size];
    bytes += b.size;
  }
  const double buffers = double(problem.buffers.size());
  if (buffers * buffers * double(sizes.size()) > kMostSteps || bytes > kMostBytes)
    throw UserError(
        fmt::format("planner 'tflite_objects_min_cost_flow' refuses {} buffers of {} sizes, {} bytes "
                    "in total: it would take minutes, or more than 2^53 bytes; '{}' does not",
                    problem.buffers.size(), sizes.size(), bytes, kDefaultPlanner));
}

}  // namespace

Plan tflite_objects_min_cost_flow(const Problem& problem, const Search&) {
  refuse_if_large(problem);
  const size_t n = problem.buffers.size();
  const std::vector<Event> all = events(without_sharing(problem), all_buffers(problem));
  Network network(n);
  std::vector<std::vector<Offer>> offers(n);  // per buffer, that is taken by it
  std::map<int64_t, Vertex> free;             // per size: the last of the chain
  for (const Event& event : all) {
    const int64_t size = problem.buffers[event.id].size;
    if (event.begins) {
      network.connect(Network::kSource, Network::taken_by(event.id), 1, double(size));
      network.connect(Network::taken_by(event.id), Network::kSink, 1, 0);
      for (const auto& [freed, vertex] : free) {
        const Edge edge = network.connect(vertex, Network::taken_by(event.id), 1,
                                          double(std::max<int64_t>(size - freed, 0)));
        offers[event.id].push_back({freed, edge});
      }
    } else {
      const Vertex vertex = network.add_vertex();
      network.connect(Network::kSource, Network::given_by(event.id), 1, 0);
      network.connect(Network::given_by(event.id), vertex, 1, 0);
      if (const auto last = free.find(size); last != free.end())
        network.connect(last->second, vertex, int64_t(n), 0);
      free[size] = vertex;
    }
  }
  network.solve();

  SharedObjects objects{std::vector<int>(n, -1), {}};
  std::map<int64_t, std::vector<int>> freed;  // objects per size of the buffer that used it last
  for (const Event& event : all) {
    const int64_t size = problem.buffers[event.id].size;
    int& object = objects.object_of[event.id];
    if (!event.begins) {
      freed[size].push_back(object);
      continue;
    }
    for (const Offer& offer : offers[event.id])
      if (network.is_used(offer.edge)) {
        object = freed[offer.size].back();
        freed[offer.size].pop_back();
      }
    if (object < 0) {
      object = int(objects.sizes.size());
      objects.sizes.push_back(0);
    }
    objects.sizes[object] = std::max(objects.sizes[object], size);
  }
  return side_by_side(problem, objects);
}

}  // namespace arenac
