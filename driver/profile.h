// What each step of a run took, measured.
//
//   Instructions of a run on qemu-m4: 2,991,540
//     step    instructions  share     cycles  node
//      0-3       2,431,902  81.3%  2,398,112  conv1 to pool1 (4 steps row by row)
//        4          18,440   0.6%     19,100  pool2 (GlobalAveragePool)
#pragma once

#include <string>
#include <vector>

#include "codegen/memory_map.h"

namespace arenac {

// `spent` is RunResult's; `unit` "instructions" or "nanoseconds"; cycles are those of the cost model. Steps
// that took nothing are left out.
std::string profile_text(const MemoryMap& map, const std::vector<double>& spent, const std::string& unit,
                         const std::string& where);

}  // namespace arenac
