// Standard output as a result that may be lost: a full disk, a closed descriptor, a reader that went away.
//
//   open_standard_streams();             // first of all
//   fmt::print(...);                     // throws std::system_error when it fails
//   finish_standard_output();            // what was buffered may fail, too
#pragma once

#include <system_error>

namespace arenac {

// Gives closed standard streams a descriptor, so that no other file becomes one of them: what is printed to a
// closed standard output fails, messages to a closed standard error are dropped. Writing to a pipe that
// nobody reads becomes an error instead of the program's end.
void open_standard_streams();

// Flushes it. UserError with Exit::kUsage when standard output could not be written. When its reader has
// gone, ends the program by SIGPIPE, silently, as is the custom.
void finish_standard_output();

// The same for an error that was thrown; another than standard output's is a UserError of what it says.
[[noreturn]] void fail(const std::system_error& error);

}  // namespace arenac
