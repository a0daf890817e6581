// One planning problem of several models, each one's steps behind those of the one before.
//
//     time 0        3        7
//          |  a     |   b    |      buffers of a, then of b, on one logical time
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "driver/together.h"

namespace arenac {

using PoolBytes = std::vector<int64_t>;  // per pool

// Models that lie where the problem says by being parts of it, and those whose place is a buffer's.
struct PlannedModels {
  std::vector<size_t> models;
  std::vector<std::pair<size_t, int>> buffers;  // a pool and the buffer that has its place there
};

struct Joint {
  Problem problem = {};
  std::vector<std::pair<size_t, int>> models = {};  // and the first of its buffers
  std::vector<PlannedModels> blocks = {};
  std::vector<int> kept = {};  // buffers that live from call to call
  int64_t end = 0;             // of the logical time so far
};

// A model whose buffers lie between those of others.
void add_buffers(Joint& joint, const Compilation& c, size_t model);

// Models that are planned already, and keep their places to each other, at the time that begins.
void add_block(Joint& joint, const std::vector<Compilation>& models, std::vector<size_t> members,
               const PoolBytes& sizes);

// What models keep from call to call lives all the time.
void keep_states(Joint& joint);

// The two lie at one offset, which nothing else takes in between. Nothing where the problem is not of both.
// UserError for tensors that there are not, that differ, or that are not in the arena.
void connect(Joint& joint, const std::vector<Compilation>& models, const Connection& by);

}  // namespace arenac
