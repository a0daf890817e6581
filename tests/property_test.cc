// Properties of the whole way on random models. Seeds are fixed; ARENAC_SEEDS multiplies their number.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <ostream>

#include "driver/compare.h"
#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/interpret.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"
#include "tests/shadow.h"

namespace arenac {
namespace {

unsigned seeds(unsigned few) {
  const char* factor = std::getenv("ARENAC_SEEDS");
  return factor ? few * static_cast<unsigned>(std::atoi(factor)) : few;
}

// Every combination of the inputs' and outputs' place and the target.
Way way_of(unsigned seed) { return {seed % 2 ? Io::kArena : Io::kExternal, seed / 2 % targets().size()}; }

TEST(RandomGraphs, KeepTheirTensorsInTheArena) {
  unsigned faults = 0;
  for (unsigned seed = 0; seed < seeds(300) && faults < 5; ++seed) {
    const std::string text = random_graph(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    try {
      const Compilation c = compile_graph(import_text(text), "m", way_of(seed));
      const std::vector<Value> inputs = random_inputs(*c.graph, seed);
      std::mt19937 random(seed);
      const std::string fault = shadow_fault(c, inputs, random);
      EXPECT_EQ(fault, "") << dump(*c.graph) << dump(c.schedule);
      faults += !fault.empty();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
      ++faults;
    }
  }
}

// Compiles, runs and compares `batch` with what the interpreter says.
void expect_interpreted(std::vector<Emitted>& batch, const std::vector<std::string>& texts,
                        const CompilerRow& compiler) {
  run_emitted(batch, compiler);
  int faults = 0;
  for (size_t k = 0; k < batch.size() && faults < 3; ++k) {
    const Emitted& e = batch[k];
    const Graph& graph = *e.compilation.graph;
    SCOPED_TRACE(fmt::format("{}, {}:\n{}", compiler.name, e.compilation.name, texts[k]));
    EXPECT_EQ(e.fault, "");
    if (!e.fault.empty()) return;
    const auto values = interpret(graph, e.inputs);
    for (size_t j = 0; j < graph.outputs.size(); ++j) {
      const auto wrong = difference(e.outputs[j], *values[graph.outputs[j]], {1e-4, 1e-5});
      EXPECT_FALSE(wrong) << graph.output_names[j] << ": " << *wrong;
      faults += wrong.has_value();
    }
  }
}

class EmittedC : public testing::TestWithParam<CompilerRow> {};
INSTANTIATE_TEST_SUITE_P(By, EmittedC, testing::ValuesIn(compilers()), [](const auto& row) {
  std::string name;
  for (const char* c = row.param.name; *c; ++c)
    if (std::isalnum(static_cast<unsigned char>(*c))) name += *c;
  return name;
});

TEST_P(EmittedC, OfRandomGraphs) {
  const unsigned first = 1000 * static_cast<unsigned>(std::string(GetParam().name).size());
  constexpr unsigned kBatch = 20;
  for (unsigned begin = 0; begin < seeds(kBatch); begin += kBatch) {
    std::vector<Emitted> batch;
    std::vector<std::string> texts;
    for (unsigned seed = first + begin; seed < first + begin + kBatch; ++seed) {
      texts.push_back(random_graph(seed));
      Emitted& e = batch.emplace_back(
          Emitted{compile_graph(import_text(texts.back()), fmt::format("g{}", seed), way_of(seed))});
      e.inputs = random_inputs(*e.compilation.graph, seed);
    }
    expect_interpreted(batch, texts, GetParam());
  }
}

}  // namespace
}  // namespace arenac
