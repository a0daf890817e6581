// Memory maps for tests: small ones written out, large ones made up like a network.
#pragma once

#include "codegen/memory_map.h"

namespace arenac {

// Three buffers in 64 bytes; b is written over a, which dies, at a distance of 16 bytes. Valid, peak at
// time 1.
//
//     64        +-----+-----+
//     48  +-----| . b |     |        dots: bytes that a and b share at time 1
//     32  |  a  | . . |  b  |
//     16  |     +-----+-----+-----+
//      0  +-----------+     |  c  |
//         0     1     2     3     4  time
MemoryMap small_map();

// The small map with a group, an order and a frontier.
MemoryMap grouped_map();

// A network of residual blocks with `buffers` activations in pool "arena", placed first-fit, with scratch in
// a second pool "fast", constants, steps of row ranges. Valid and the same on every machine.
MemoryMap network_map(int buffers);

// small_map() with `name` for the model and every pool, buffer, tensor, step, constant and input.
MemoryMap map_named(const std::string& name);

}  // namespace arenac
