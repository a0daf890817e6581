// Arenas of published networks with groups of rows, nothing computed twice: at most what was calculated for
// them (scheduling notes of the project; TinyTS and MCUNetV2 publish 13,824, 13,568, 9,920 and 172,000 bytes
// for four).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "frontend/import.h"
#include "frontend/inline.h"
#include "frontend/integer_sums.h"
#include "models/model_table.h"
#include "models/onnx_builder.h"
#include "planner/lifetime.h"
#include "planner/planners.h"

namespace arenac {
namespace {

struct Figure {
  const char* model;
  int64_t quantised, real;  // bytes: int8 operators, float32
};
void PrintTo(const Figure& figure, std::ostream* out) { *out << figure.model; }

class FusedArena : public ::testing::TestWithParam<Figure> {};

INSTANTIATE_TEST_SUITE_P(Of, FusedArena,
                         ::testing::Values(Figure{"mobilenet_v1_025_96", 12900, 51600},
                                           Figure{"resnet8", 12500, 50000}, Figure{"ds_cnn", 4400, 17600},
                                           Figure{"mobilenet_v2_035_144", 25100, 100400},
                                           Figure{"mobilenet_v2_100_224", 121400, 485600},
                                           Figure{"fsrcnn", 369000, 1476000},
                                           Figure{"resnet18", 195500, 782000}),
                         [](const auto& info) { return std::string(info.param.model); });

int64_t arena_of(const std::string& model) {
  const auto row = std::find_if(models::model_table().begin(), models::model_table().end(),
                                [&](const models::ModelRow& r) { return r.name == model; });
  const Graph graph = with_integer_sums(
      with_inlined_elements(import_bytes(models::serialize(row->make()), std::string(row->name))));
  const auto fused = std::find_if(schedulers().begin(), schedulers().end(),
                                  [](const SchedulerRow& r) { return std::string(r.name) == "fused"; });
  return plan(lifetimes(fused->schedule(graph, targets().front(), kNoDeadline), Io::kExternal, 16).problem)
      .pools[0]
      .size;
}

TEST_P(FusedArena, IsAsSmallAsCalculated) {
  EXPECT_LE(arena_of(std::string(GetParam().model) + "_qop"), GetParam().quantised);
  EXPECT_LE(arena_of(GetParam().model), GetParam().real);
}

}  // namespace
}  // namespace arenac
