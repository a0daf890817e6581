// The two words for failure:
//
//   throw UserError("net.onnx: node 'conv1' (Conv): weight shape [8,3,3] needs rank 4");   the model or the
//   call is at fault ARENAC_CHECK(offset % align == 0, "misaligned plan"); arenac is at fault
//
// The driver turns the first into its exit status and the second into "a fault of arenac itself" with
// status 70.
#pragma once

#include <stdexcept>
#include <string>

namespace arenac {

// Exit statuses of the command line; scripts rely on the numbers.
enum class Exit {
  kDone = 0,
  kModel = 1,
  kUsage = 2,
  kDoesNotFit = 3,
  kDifference = 4,
  kNotFound = 5,
  kInternal = 70
};

// Something the user can mend. The message names the file, the node, the shapes, and what to do.
struct UserError : std::runtime_error {
  explicit UserError(const std::string& message, Exit status = Exit::kModel)
      : std::runtime_error(message), status(status) {}
  Exit status;
};

// A broken invariant of ours.
struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void internal_error(const char* file, int line, const std::string& message);

}  // namespace arenac

#define ARENAC_CHECK(condition, message) \
  ((condition) ? void() : ::arenac::internal_error(__FILE__, __LINE__, message))
