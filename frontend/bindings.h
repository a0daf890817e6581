// Extents for the symbolic dimensions of a model's inputs that nobody gave.
//
//   ids, mask: int64[batch, sequence]    batch becomes 1, with a note; sequence has to be given:
//
//   net.onnx: input 'ids': dimension 1 is symbolic: bind it with --dim sequence=N
//   net.onnx: this binds all:
//     arenac compile net.onnx --dim batch=1 --dim sequence=128
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontend/import.h"

namespace arenac {

struct Bindings {
  ImportOptions options;           // those given, and what follows from them
  std::vector<std::string> notes;  // what was bound without being asked for, and how to bind it otherwise
};

// A symbolic dimension that another input's given shape binds is bound everywhere. A leading one becomes 1
// where its name says that it is the batch or says nothing, or where no other dimension is open.
Bindings with_batch_bound(const std::vector<Declaration>& inputs, ImportOptions options);

// What the dimensions that are still open ask for, each name once.
std::vector<std::string> open_dimensions(const std::vector<Declaration>& inputs,
                                         const ImportOptions& options);

// The command line `command` with options added that bind every dimension which `given` leaves open, the
// batch among them: likely extents, of which `works` is asked for at most `trials` combinations. Quoted for a
// shell.
std::string command_that_binds(const std::string& command, const std::vector<Declaration>& inputs,
                               const ImportOptions& given, int trials,
                               const std::function<bool(const ImportOptions&)>& works);

// A word as a shell reads it.
std::string shell_quoted(const std::string& word);

}  // namespace arenac
