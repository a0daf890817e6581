// Random models for property tests, as ONNX text: small directed graphs that provoke sharing of memory.
//
//   const Graph graph = import_text(random_graph(seed));
//   interpret(graph, random_inputs(graph, seed, Numbers::kWhole))
//
// Values stay small whole numbers wherever the operators allow it, so that sums are exact in every order and
// a wrong byte is a wrong number.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "frontend/graph.h"
#include "tests/seeds.h"

namespace arenac {

// 3 to 25 operators: views, element-wise operators with shared and dying operands, reversals, concats (of one
// tensor twice, nested, of parts that are used elsewhere), convolutions, reductions, If and Loop whose bodies
// read outer values, several outputs, some of them inputs or read inside the graph.
std::string random_graph(unsigned seed);

// One value per graph input. kWhole: whole numbers in [-9, 9]; kAny: floats in [-4, 4], integers in [-100,
// 100], those of 8 bits anything; bool 0 or 1; what the type cannot hold wraps or saturates.
enum class Numbers { kWhole, kAny };
std::vector<Value> random_inputs(const Graph& graph, unsigned seed, Numbers numbers);

}  // namespace arenac
