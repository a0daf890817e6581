// How long a test of random models goes on.
//
//   for (unsigned seed = 0; seed < seeds(30); ++seed) ...
#pragma once

#include <cmath>
#include <cstdlib>

namespace arenac {

inline double seeds_factor() {
  const char* factor = std::getenv("ARENAC_SEEDS");
  return factor ? std::atof(factor) : 1;
}

// A few seeds, or $ARENAC_SEEDS (which may be a fraction) times as many.
inline unsigned seeds(unsigned few) { return static_cast<unsigned>(std::ceil(few * seeds_factor())); }

// Whether there are enough for what only some of them show.
inline bool all_seeds() { return seeds_factor() >= 1; }

}  // namespace arenac
