// How the nests of a model read the tensors of a stream, moment after moment.
//
//   y[t] = sum(k) x[2 * t + k - 2] * w[k]      x: from 2 moments before to none behind moment 2 * t of the
//   call
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/facts.h"

namespace arenac {

// Time in a tensor of the stream.
struct Time {
  int dimension;
  int64_t stretch, call;  // moments of the model's stretch of time, and of a call

  bool operator==(const Time&) const = default;
  // Whether the two have as many moments.
  bool keeps_step_with(const Time& other) const { return stretch == other.stretch && call == other.call; }
};

using Times = std::map<TensorId, Time>;  // of the tensors of a stream

// How a nest reads a tensor of the stream: at moment step * t + offset + k, where t is the axis of the result
// that steps furthest, and k what the others and the reduced ones add.
struct TimeRead {
  TensorId tensor;
  Time time;
  Affine moment;
  int axis = -1;  // t; -1: none
  int64_t step = 1;
  int64_t earliest = 0, latest = 0;  // of offset + k, both included

  bool has_past() const { return earliest < 0; }
};

// Why calls cannot go on from each other at a node: what follows its name in a message.
struct StreamFault {
  std::string reason;
};
inline constexpr const char* kOrderOfItsOwn =
    "works through its operands in an order of its own; give its state by --state";
inline constexpr const char* kNumberOfMoment =
    "depends on the number of a moment, or on an operand that lacks its --stream";
inline constexpr const char* kOtherLengths = "reads operands of different lengths";

// Reads of tensors of the stream; all with the same axis and step. Throws StreamFault.
std::vector<TimeRead> time_reads(const Nest& nest, const Node& node, const Times& times);

// Whether the axis of time is used for anything but the moment at which the stream is read and written.
bool names_time(const Nest& nest, const Node& node, int axis, const Times& times);

// The nest with `number`, an int64, in place of the number t of a moment in what it computes of that alone
// and what is the same from the last moment of the model's stretch of time on.
//
//   sum(k) x[t + k - 2] / min(t + 1, 3)     with t + earlier:     sum(k) x[t + k - 2] / min(t + earlier + 1,
//   3)
Nest with_number_of_moment(const Nest& nest, int axis, const Time& time, const Expr& number);

}  // namespace arenac
