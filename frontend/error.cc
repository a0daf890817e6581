#include "frontend/error.h"

#include <fmt/format.h>

namespace arenac {

void internal_error(const char* file, int line, const std::string& message) {
  throw InternalError(fmt::format("{}:{}: {}", file, line, message));
}

}  // namespace arenac
