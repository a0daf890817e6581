#include "frontend/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/error.h"
#include "frontend/import.h"
#include "planner/planners.h"
#include "scheduler/schedule.h"

namespace arenac {
namespace {

TEST(Nearest, IsOneSlipAway) {
  const std::vector<std::string> known = {"compile", "map", "batch", "sequence", "cortex-m", "avx2", "Relu"};
  const std::pair<const char*, const char*> cases[] = {{"complie", "compile"},
                                                       {"compil", "compile"},
                                                       {"bacth", "batch"},
                                                       {"Batch", "batch"},
                                                       {"seqence", "sequence"},
                                                       {"cortex-m4", "cortex-m"},
                                                       {"cortex-m55-none-eabi", "cortex-m"},
                                                       {"relu", "Relu"},
                                                       {"comp", "compile"},
                                                       {"map", "map"},
                                                       {"mpa", "map"},
                                                       {"frames", ""},
                                                       {"", ""},
                                                       {"x", ""},
                                                       {"zz", ""}};
  for (const auto& [typed, meant] : cases) EXPECT_EQ(nearest_word(typed, known), meant) << typed;
}

TEST(Nearest, OfEquallyNearOnesBeginsAlike) {
  EXPECT_EQ(nearest_word("cortex-m5", {"cortex-m", "cortex-m0", "cortex-m55"}), "cortex-m55");
  EXPECT_EQ(nearest_word("cat", {"bat", "car"}), "car");
}

TEST(Nearest, ListsAllWhereNoneIsNear) {
  EXPECT_EQ(did_you_mean_or_all("bacth", {"batch", "frames"}), "; did you mean batch?");
  EXPECT_EQ(did_you_mean_or_all("x", {"batch", "frames"}), "; there are: batch, frames");
  EXPECT_EQ(did_you_mean_or_all("x", {}), "");
  const std::string many = did_you_mean_or_all("x", std::vector<std::string>(1000, "batch"));
  EXPECT_TRUE(many.ends_with("batch, batch, ...")) << many;
  EXPECT_LT(many.size(), 500u);
}

TEST(Nearest, OfEquallyNearOnesIsTheFirst) {
  EXPECT_EQ(nearest_word("cat", {"car", "can", "dog"}), "car");
  EXPECT_EQ(nearest_word("bat", {"car", "dog", "cat"}), "cat");
  EXPECT_EQ(nearest_word("a", {"b"}), "");
  EXPECT_EQ(nearest_word("word", {}), "");
  EXPECT_EQ(nearest_word("", {"", "a"}), "");
}

TEST(Nearest, TakesWordsOfAnyLength) {
  const std::string huge(1 << 20, 'a');
  EXPECT_EQ(nearest_word(huge, {"aaa", std::string(1 << 20, 'a')}), "aaa");
  EXPECT_EQ(nearest_word("b", {huge}), "");
}

std::string message_of(const std::string& model) {
  try {
    import_text(model);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Nearest, OperatorsAreNamedWithTheirDomain) {
  const auto message = [](const std::string& op) {
    return message_of(R"(<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1, "com.microsft" : 1]>
        g (float[2] x) => (float[2] y) { y = )" +
                      op + "(x) }");
  };
  EXPECT_THAT(message("Rellu"), testing::HasSubstr("did you mean Relu?"));
  EXPECT_THAT(message("com.microsoft.FastGleu"), testing::HasSubstr("did you mean com.microsoft.FastGelu?"));
  EXPECT_THAT(message("com.microsft.FastGelu"), testing::HasSubstr("did you mean com.microsoft.FastGelu?"));
  EXPECT_THAT(message("FastGelu"), testing::HasSubstr("did you mean com.microsoft.FastGelu?"));
  EXPECT_THAT(message("Wonder"), testing::Not(testing::HasSubstr("did you mean")));
}

TEST(Nearest, RowsOfTablesAreNamed) {
  const auto expect = [](const auto& call, const char* hint) {
    try {
      call();
      ADD_FAILURE() << hint;
    } catch (const UserError& error) {
      EXPECT_EQ(error.status, Exit::kUsage);
      EXPECT_THAT(error.what(), testing::HasSubstr(hint));
    }
  };
  expect([] { target_named("cortex-mm"); }, "did you mean cortex-m?");
  expect([] { scheduler_named("layer_wise"); }, "did you mean layerwise?");
  expect([] { plan({}, "portfolo"); }, "did you mean portfolio?");
}

}  // namespace
}  // namespace arenac
