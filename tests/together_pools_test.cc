// Several models in one program: the memories of their constants, and what --dump-after shows of all.
#include <gmock/gmock.h>

#include "codegen/memory_map.h"
#include "tests/firmware.h"

namespace arenac {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Two models of 1,024 bytes of constants each.
class TogetherPools : public Firmware {
 protected:
  void SetUp() override {
    for (const int seed : {3, 5}) {
      std::string numbers;
      for (int k = 0; k < 256; ++k) numbers += fmt::format("{}{}", k > 0 ? "," : "", k * seed % 19 - 9);
      write_model(seed == 3 ? "first.onnx" : "second.onnx",
                  fmt::format(R"(<ir_version: 8, opset_import: ["" : 17]>
                    g (float[1, 4] x) => (float[1, 4] y) <float[4, 64] m = {{{0}}}> {{
                      a = MatMul(x, m)
                      b = Sigmoid(a)
                      n = Transpose(m)
                      y = MatMul(b, n)
                    }})",
                              numbers));
    }
  }
  Finished together(const std::string& options) const {
    return shell(fmt::format("{} compile first.onnx second.onnx --together sequential {} 2>&1", arenac_tool(),
                             options));
  }
};

TEST_F(TogetherPools, HaveConstantsOfAllModelsInTheirMemories) {
  const std::string sram = "--pool name=sram ", rest = " --pool name=rest,kind=constants";
  const Finished fits = together(sram + "--pool name=tcm,kind=constants,size=3K" + rest);
  ASSERT_EQ(fits.status, 0) << fits.output;
  const MemoryMap map = memory_map_from_json(read("together_map.json"));
  std::map<std::string, int64_t> bytes;
  for (const MapConstant& constant : map.constants) bytes[constant.pool] += constant.size;
  EXPECT_GT(bytes["tcm"], 1024);  // of more than one model
  EXPECT_LE(bytes["tcm"], 3072);
  EXPECT_THAT(fits.output,
              HasSubstr(fmt::format("together: {} bytes", bytes["tcm"] == 3072 ? "3,072" : "2,048")));

  const Finished second = together(sram + "--pool name=tcm,kind=constants,size=2560");
  EXPECT_EQ(second.status, 3);
  EXPECT_THAT(second.output, AllOf(HasSubstr("second.onnx: constant"), HasSubstr("finds no room in tcm ("),
                                   HasSubstr("of other models")));
  const Finished first = together(sram + "--pool name=tcm,kind=constants,size=512");
  EXPECT_EQ(first.status, 3);
  EXPECT_THAT(first.output, AllOf(HasSubstr("first.onnx: constant"), Not(HasSubstr("other models"))));
}

TEST_F(TogetherPools, OneDumpHasThePlanOfAll) {
  EXPECT_EQ(together("--dump-after problem > problem.csv").status, 0);
  EXPECT_EQ(together("--dump-after plan > solution.csv").status, 0);
  EXPECT_THAT(shell("ls").output, Not(HasSubstr(".c\n")));  // no file without -o
  EXPECT_THAT(read("solution.csv"), AllOf(HasSubstr("first"), HasSubstr("second")));
  const Finished verified = arenac({"verify", "problem.csv", "solution.csv"});
  EXPECT_EQ(verified.status, 0) << verified.output;
  const Finished map = together("--quiet --dump-after map");
  EXPECT_THAT(map.output, HasSubstr("together: first (first.onnx), second (second.onnx), sequential"));
  EXPECT_THAT(together("--quiet --dump-after schedule").output,
              AllOf(HasSubstr("first:\n"), HasSubstr("second:\n")));
}

}  // namespace
}  // namespace arenac
