// A run in parts, begun and resumed, gives the bits of one that is whole.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontend/import.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"
#include "tests/random_layers.h"
#include "tests/seeds.h"
#include "tests/values.h"

namespace arenac {
namespace {

TEST(Parts, GiveTheSameBits) {
  constexpr unsigned kBatch = 8;
  constexpr const char* kSchedulers[] = {"layerwise", "fused", "rows", "smallest"};
  constexpr int64_t kCycles[] = {1, 10, 100, 1 << 30};
  size_t parts = 0, groups = 0;
  const unsigned count = seeds(32);
  for (unsigned begin = 0; begin < count && !HasFailure(); begin += kBatch) {
    std::vector<Emitted> batch;
    std::vector<std::string> texts;
    for (unsigned seed = begin; seed < std::min(begin + kBatch, count); ++seed) {
      const std::string text = seed % 3 == 2 ? random_graph(seed) : random_layers(seed);
      SCOPED_TRACE(text);
      Way whole = {.io = seed % 5 == 4 ? Io::kArena : Io::kExternal, .scheduler = kSchedulers[seed % 4]};
      if (seed % 7 == 6) whole.weights = WeightsForm::kPointer;
      if (seed % 4 == 1) whole.pools = {{"fast", 128}, {"slow"}};
      Way in_parts = whole;
      in_parts.step_cycles = kCycles[seed / 4 % 4];
      texts.push_back(text);
      for (const Way& way : {whole, in_parts}) {
        batch.push_back(Emitted{compile_graph(import_text(text), fmt::format("m{}", batch.size()), way)});
        batch.back().inputs = random_inputs(import_text(text), seed, Numbers::kWhole);
      }
      const std::string& header = file_named(batch.back().compilation, batch.back().compilation.name + ".h");
      parts += static_cast<size_t>(std::stoi(header.substr(header.find("_PARTS ") + 7)));
      groups += batch.back().compilation.schedule.groups.size();
    }
    run_emitted(batch, compilers()[begin / kBatch % compilers().size()]);
    for (size_t k = 0; k < batch.size(); k += 2) {
      SCOPED_TRACE(texts[k / 2]);
      ASSERT_EQ(batch[k].fault, "");
      ASSERT_EQ(batch[k + 1].fault, "");
      for (size_t o = 0; o < batch[k].outputs.size(); ++o)
        ASSERT_EQ(batch[k].outputs[o].bytes, batch[k + 1].outputs[o].bytes) << o;
    }
  }
  EXPECT_GT(parts, 3 * count);
  EXPECT_GT(groups, count / 4);
}

}  // namespace
}  // namespace arenac
