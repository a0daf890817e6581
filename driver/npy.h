// NumPy's .npy files, formats 1.0 to 3.0, little-endian and in C order.
#pragma once

#include <string>
#include <string_view>

#include "frontend/type.h"

namespace arenac {

// Throws UserError naming `origin` for anything else: big-endian or Fortran order, complex or structured
// types, a header that does not fit the data.
Value npy_value(std::string_view bytes, const std::string& origin);

}  // namespace arenac
