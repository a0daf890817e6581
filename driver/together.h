// Several models that share the static memory of one program.
//
//   exclusive, sequential: one runs at a time          concurrent: any may run while another does
//
//        ^  +--------+                                      ^        +------+
//        |  |   a    |  +------+                            |        |  b   |
//        |  |        |  |  b   |                            |  +-----+------+
//        |  |        |  |      |                            |  |   a    |
//        +--+--------+--+------+--> time                    +--+--------+--+----> time
//
// Kinds may be within kinds: turns.h.
//
// The models keep the schedules that they have alone. Of those that take turns one planning problem has the
// buffers of all, on one logical time: what a model keeps from call to call lives through the others' steps,
// and a connected output until the input is read. What runs at the same time is planned by itself, and is one
// buffer of that problem, as long as all that may run meanwhile; always, where it keeps something.
#pragma once

#include <string>
#include <vector>

#include "driver/compile.h"
#include "driver/turns.h"

namespace arenac {

// An output that is the input of a later model, in the same bytes: "a.scores=b.features".
struct Connection {
  std::string from, output, to, input;  // C names of models, and the models' own names
};

struct Together {
  Turns turns = {};
  std::string name = {};  // the C prefix of the memory
  std::string file = {};  // where the turns are from, if any
  std::vector<Connection> connections = {};
};

struct CompiledTogether {
  std::vector<Compilation> models;
  MemoryMap map;            // of all
  std::vector<File> files;  // of all
};

// Names of models are distinct. Throws UserError as compile() does, and for connections that cannot be.
CompiledTogether compile_together(std::vector<CompileOptions> models, const Together& together);

}  // namespace arenac
