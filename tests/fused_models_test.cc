// Real models in groups that run row by row give the same bytes as layer by layer. ARENAC_MODEL_BYTES:
// of other sizes than the smallest, as 30000-60000; those by the schedulers that change most.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "driver/compile.h"
#include "driver/run.h"
#include "tests/conformance.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;

// Sizes of models, half-open.
struct Sizes {
  uintmax_t begin, end;
};
Sizes sizes() {
  const char* text = std::getenv("ARENAC_MODEL_BYTES");
  if (!text) return {0, 30'000};
  char* rest = nullptr;
  const uintmax_t begin = std::strtoull(text, &rest, 10);
  if (*rest != '-') throw std::runtime_error("ARENAC_MODEL_BYTES is not as 30000-60000");
  return {begin, std::strtoull(rest + 1, nullptr, 10)};
}

Compilation compiled(const Case& model, const DataSet& data, const char* scheduler) {
  CompileOptions options;
  options.model = model.model().string();
  options.import = data.import;
  options.verbosity = Verbosity::kQuiet;
  options.scheduler = scheduler;
  return compile(options);
}

int64_t arena_of(const Compilation& c) {
  int64_t bytes = 0;
  for (const PoolUse& pool : c.plan.pools) bytes += pool.size;
  return bytes;
}

TEST(FusedModels, GiveTheSameBytes) {
  const auto [begin, end] = sizes();
  std::vector<const char*> schedulers = {"smallest", "strips"};
  if (begin == 0) schedulers.insert(schedulers.end(), {"fused", "rows", "windows"});
  setenv("CFLAGS", "-O0", 0);  // the order of the work is compared, not what a compiler makes of it
  int tried = 0;
  for (const Case& model : model_suite().cases) {
    if (const uintmax_t size = fs::file_size(model.model()); size < begin || size >= end) continue;
    SCOPED_TRACE(model.id);
    ++tried;
    const DataSet data = read_data_set(data_sets(model.folder).at(0));
    const Compilation plain = compiled(model, data, "file-order");
    const RunResult want = build_and_run(plain, data.inputs, {});
    for (const char* scheduler : schedulers) {
      const Compilation c = compiled(model, data, scheduler);
      const RunResult got = build_and_run(c, data.inputs, {});
      fmt::print("{}: {} {} bytes of {}, {} groups\n", model.id, scheduler, arena_of(c), arena_of(plain),
                 c.schedule.groups.size());
      ASSERT_EQ(got.outputs.size(), want.outputs.size());
      for (size_t k = 0; k < want.outputs.size(); ++k)
        EXPECT_TRUE(got.outputs[k].bytes == want.outputs[k].bytes)
            << scheduler << ": " << plain.graph->output_names[k];
    }
  }
  if (tried == 0) GTEST_SKIP() << "no models of " << begin << " to " << end << " bytes in ../shared/models";
}

}  // namespace
}  // namespace arenac
