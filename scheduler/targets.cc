#include <string>

#include "scheduler/schedule.h"

namespace arenac {
namespace {

constexpr int64_t kNear = 512 << 10;  // of a second-level cache, as most processors with vectors have one

// Costs that differ from others in what `change` sets.
template <typename Change>
constexpr Costs like(Costs costs, const Change& change) {
  change(costs);
  return costs;
}

// Those of Cortex-M are what fits the instructions that QEMU counts (instructions_test); those of vectors
// what fits times of whole layers and of rows with AVX2 (rows_bench), those of 64 bytes with AVX-512, where
// what caches do is told apart from what operations take.
constexpr Costs kVectors = {.unit = 0.2,
                            .load = 1,
                            .store = 1,
                            .add = 1,
                            .multiply = 3,
                            .choose = 1,
                            .divide = 20,
                            .float_load = 2.5,
                            .float_add = 1,
                            .float_multiply = 1,
                            .float_choose = 1,
                            .float_divide = 8,
                            .float_latency = 10,
                            .convert = 1,
                            .requantize = 80,
                            .function = 20,
                            .loop = 0.5,
                            .call = 6,
                            .registers = 16,
                            .vector_bytes = 32,
                            .cache = kNear};
constexpr Costs kVectors16 = like(kVectors, [](Costs& c) { c.vector_bytes = 16; });
// Of x86-64 with AVX-512: 0.2 cycles a unit, an operation of floats each half, a sum's next addition 3.2
// cycles after the last.
constexpr Costs kVectors64 = {.unit = 0.2,
                              .load = 3.5,
                              .store = 0.75,
                              .add = 1,
                              .multiply = 3,
                              .choose = 0.75,
                              .divide = 18,
                              .float_load = 0.5,
                              .float_add = 2.5,
                              .float_multiply = 2.5,
                              .float_choose = 5,
                              .float_divide = 6.5,
                              .float_latency = 16,
                              .in_flight = 512,
                              .fetch = 4,
                              .far_fetch = 30,
                              .convert = 0.5,
                              .requantize = 30,
                              .function = 20,
                              .loop = 1.5,
                              .call = 30,
                              .registers = 16,
                              .vector_bytes = 64,
                              .near_bytes = 32 << 10,
                              .cache = kNear};
constexpr Costs kThumb2Float = {.unit = 1,
                                .load = 1,
                                .store = 1,
                                .add = 1,
                                .multiply = 1,
                                .choose = 2,
                                .divide = 2,
                                .float_load = 1,
                                .float_add = 1,
                                .float_multiply = 1,
                                .float_choose = 4,
                                .float_divide = 1,
                                .float_latency = 0,
                                .convert = 2,
                                .requantize = 5,
                                .function = 60,
                                .loop = 3,
                                .call = 20,
                                .registers = 12,
                                .vector_bytes = 4};
constexpr Costs kHelium = like(kThumb2Float, [](Costs& c) { c.vector_bytes = 16; });
constexpr Costs kRiscvFloat = like(kThumb2Float, [](Costs& c) {
  c.choose = 3;
  c.float_choose = 2;
  c.requantize = 14;
  c.registers = 26;
});

// Floats are functions of the compiler's library; requantisation, which is by integers, takes so long.
constexpr Costs with_soft_floats(Costs costs, double requantize) {
  costs.float_add = 100;
  costs.float_multiply = 85;
  costs.float_choose = 40;
  costs.float_divide = 200;
  costs.convert = 60;
  costs.function = 1500;
  costs.requantize = requantize;
  return costs;
}
constexpr Costs kThumb2 = with_soft_floats(kThumb2Float, 18);
constexpr Costs kRiscv = with_soft_floats(kRiscvFloat, 22);
// Quotients are functions, too, and few instructions take registers beyond the eighth.
constexpr Costs kThumb1 = like(kThumb2, [](Costs& c) {
  c.choose = 3;
  c.divide = 60;
  c.requantize = 60;
  c.registers = 6;
});

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
