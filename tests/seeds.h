// How long a test of random models goes on.
//
//   for (unsigned seed = 0; seed < seeds(30); ++seed) ...
#pragma once

#include <cmath>
#include <cstdlib>

namespace arenac {

// A few seeds, or $ARENAC_SEEDS (which may be a fraction) times as many.
inline unsigned seeds(unsigned few) {
  const char* factor = std::getenv("ARENAC_SEEDS");
  return factor ? static_cast<unsigned>(std::ceil(few * std::atof(factor))) : few;
}

}  // namespace arenac
