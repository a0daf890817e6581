// Order problems of published networks, rebuilt from their papers' cells: real float32 sizes, no weights.
// Convolutions include what follows them in place (normalisation, activation); the network's input and its
// classifier's are at the caller and free.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scheduler/order.h"

namespace arenac {

// What a concat is: an operator that copies its parts, or no operator, its readers reading the parts.
enum class Concat { kCopied, kParts };

struct PublishedNetwork {
  std::string name;
  std::function<OrderProblem(Concat)> make;
};

const std::vector<PublishedNetwork>& published_networks();

}  // namespace arenac
