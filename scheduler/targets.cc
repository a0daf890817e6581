#include <string>

#include "scheduler/schedule.h"

namespace arenac {
namespace {

constexpr int64_t kNear = 512 << 10;  // of a second-level cache, as most processors with vectors have one

// Those of Cortex-M are what fits the instructions that QEMU counts (instructions_test); those of vectors
// what fits times of whole layers and of rows with AVX2 (rows_bench), those of 64 bytes with AVX-512: of
// which processors begin one operation a cycle, and where a remainder by a constant, a product of integers,
// weighs little beside them.
// clang-format off
//                                   integers                            floats                                con-  requan-  func-
//                             unit  load  store  add  mul  choose  div  load  add  mul  choose  div  latency  vert  tise     tion      loop  call  registers  vector  cache
constexpr Costs kVectors     = {0.2,  1,    1,     1,   3,   1,      20,  2.5,  1,   1,   1,      8,   10,      1,    80,      20,       0.5,  6,    16,        32,     kNear};
constexpr Costs kVectors16   = {0.2,  1,    1,     1,   3,   1,      20,  2.5,  1,   1,   1,      8,   10,      1,    80,      20,       0.5,  6,    16,        16,     kNear};
constexpr Costs kVectors64   = {0.2,  1,    1,     1,   3,   1,      5,   2.5,  5,   5,   1,      8,   10,      1,    80,      20,       0.5,  6,    16,        64,     kNear};
constexpr Costs kThumb1      = {1,    1,    1,     1,   1,   3,      60,  1,    100, 85,  40,     200, 0,       60,   60,      1500,     3,    20,   6,         4,      0};
constexpr Costs kThumb2      = {1,    1,    1,     1,   1,   2,      2,   1,    100, 85,  40,     200, 0,       60,   18,      1500,     3,    20,   12,        4,      0};
constexpr Costs kThumb2Float = {1,    1,    1,     1,   1,   2,      2,   1,    1,   1,   4,      1,   0,       2,    5,       60,       3,    20,   12,        4,      0};
constexpr Costs kHelium      = {1,    1,    1,     1,   1,   2,      2,   1,    1,   1,   4,      1,   0,       2,    5,       60,       3,    20,   12,        16,     0};
constexpr Costs kRiscv       = {1,    1,    1,     1,   1,   3,      2,   1,    100, 85,  40,     200, 0,       60,   22,      1500,     3,    20,   26,        4,      0};
constexpr Costs kRiscvFloat  = {1,    1,    1,     1,   1,   3,      2,   1,    1,   1,   2,      1,   0,       2,    14,      60,       3,    20,   26,        4,      0};
// clang-format on

}  // namespace

bool runs_here(const Target& target) {
  const std::string features = target.features;
#if defined(__x86_64__) && defined(__GNUC__)
  if (features.find("avx512") != std::string::npos)
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  if (features.find("avx2") != std::string::npos)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return features.empty() || __builtin_cpu_supports("sse4.2");
#else
  return features.empty();
#endif
}

namespace {

// And the last row that has features of the processor that runs this, or the first of all.
std::vector<Target> with_native(std::vector<Target> rows) {
  Target native = rows.front();
  for (const Target& row : rows)
    if (row.features[0] != '\0' && runs_here(row)) native = row;
  native.name = "native",
  native.description = "the processor that arenac runs on: as its row of x86-64, or portable";
  rows.push_back(native);
  return rows;
}

}  // namespace

const std::vector<Target>& targets() {
  static const std::vector<Target> all = with_native({
      {"portable", "any C99 compiler; shaped for 256-bit vectors", 16, 6, 5, 16, Registers::kVector, 0, 0,
       kVectors},
      {"cortex-m", "Arm Cortex-M with DSP instructions, in C that runs on all", 4, 2, 4, 8,
       Registers::kScalar, 2, 2, kThumb2Float},
      {"cortex-m0", "Arm Cortex-M0, M0+, M23: no vectors, 8 registers", 2, 1, 1, 8, Registers::kScalar, 0, 0,
       kThumb1},
      {"cortex-m3", "Arm Cortex-M3: no vectors, few registers", 4, 2, 2, 8, Registers::kScalar, 0, 0,
       kThumb2},
      {"cortex-m4", "Arm Cortex-M4: DSP instructions", 4, 2, 4, 8, Registers::kScalar, 2, 2, kThumb2Float},
      {"cortex-m7", "Arm Cortex-M7: DSP instructions", 4, 2, 4, 8, Registers::kScalar, 2, 2, kThumb2Float},
      {"cortex-m33", "Arm Cortex-M33: DSP instructions", 4, 2, 4, 8, Registers::kScalar, 2, 2, kThumb2Float},
      {"cortex-m55", "Arm Cortex-M55 with Helium", 4, 2, 4, 8, Registers::kScalar, 4, 1, kHelium, "",
       ByteProducts::kAlongSumOfVectors},
      {"rv32imc", "32-bit RISC-V without floating point", 4, 3, 3, 8, Registers::kScalar, 0, 0, kRiscv},
      {"rv32imafc", "32-bit RISC-V", 4, 3, 3, 8, Registers::kScalar, 0, 0, kRiscvFloat},
      {"aarch64", "64-bit Arm with Neon", 8, 6, 6, 16, Registers::kVector, 16, 4, kVectors16, "",
       ByteProducts::kAlongSumOfSignedLanes},
      {"aarch64-dotprod", "64-bit Arm with Neon and its sdot (Armv8.2: -march=armv8.2-a+dotprod)", 8, 6, 6,
       16, Registers::kVector, 16, 4, kVectors16, "", ByteProducts::kAlongSumOfSignedLanes},
      {"x86-64-v2", "x86-64 with SSE4.2", 8, 4, 4, 16, Registers::kVector, 0, 0, kVectors16, "sse4.2"},
      {"x86-64-v3", "x86-64 with AVX2 and FMA", 16, 6, 5, 32, Registers::kVector, 16, 4, kVectors,
       "avx2,fma,f16c", ByteProducts::kAlongSumOfLanes},
      {"x86-64-v4", "x86-64 with AVX-512", 32, 12, 12, 64, Registers::kVector, 32, 12, kVectors64,
       "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl", ByteProducts::kAlongSumOfLanes},
  });
  return all;
}

}  // namespace arenac
