// Every row of the table of instructions: its portable C computes what its meaning says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/algorithm/string.hpp>
#include <cmath>
#include <random>
#include <sstream>

#include "codegen/c_expr.h"
#include "codegen/instructions.h"
#include "driver/files.h"
#include "driver/process.h"

namespace arenac {
namespace {

constexpr int kSamples = 200;
constexpr int kMostApart = 5;

// Small numbers, the ends and any.
int64_t random_of(const std::string& type, std::mt19937& random) {
  const auto word = static_cast<uint32_t>(random());
  if (type.find("uint8_t") != std::string::npos) return word % 4 ? word >> 8 & 0xff : 255;
  if (type.find("int8_t") != std::string::npos)
    return word % 4 ? static_cast<int8_t>(word >> 8 & 0xff) : -128;
  if (type.find("uint32_t") != std::string::npos) return word;
  return static_cast<int32_t>(word % 3 ? word >> 23 : word) - (word % 3 ? 256 : 0);
}

struct Sample {
  std::string arguments;  // in C
  std::vector<Scalar> operands;
};

// Written so that it has no wider type than int where it is one.
std::string literal(int64_t x) { return x == INT32_MIN ? "(-2147483647 - 1)" : fmt::format("{}", x); }

Sample sample_of(const Instruction& row, const std::vector<std::string>& types, std::mt19937& random) {
  Sample sample;
  const int64_t apart = row.is_apart ? 1 + random() % kMostApart : 1;
  for (size_t k = 0; k < types.size(); ++k) {
    std::string argument;
    if (types[k].find("float") != std::string::npos) {
      const double scale = std::ldexp(1.0 + random() % 1024 / 1024.0, -static_cast<int>(4 + random() % 16));
      sample.operands.push_back({.f = scale});
      sample.arguments += fmt::format("{}{:a}f", k ? ", " : "", scale);
      continue;
    }
    if (reads_elements(row, k)) {
      const int64_t step = k == 0 ? apart : 1;
      for (int64_t n = 0; n < row.elements * step; ++n) {
        const int64_t x = random_of(types[k], random);
        argument += fmt::format("{}{}", n ? ", " : "", x);
        if (n % step == 0) sample.operands.push_back({.i = x});
      }
      argument = fmt::format("({}[]){{{}}}",
                             types[k].find("uint8_t") != std::string::npos ? "const uint8_t" : "const int8_t",
                             argument);
    } else {
      int64_t x = random_of(types[k], random);
      const bool is_zero = types[k].ends_with(" z") || types[k].ends_with(" za") || types[k].ends_with(" zb");
      if (is_zero) x = static_cast<int64_t>(random() % 511) - 255;
      if (types[k].ends_with(" apart")) x = apart;
      if (types[k].ends_with(" zero")) x = static_cast<int64_t>(random() % 256) - 128;
      if (types[k].ends_with(" low")) x = row.result == Type::kInt8 ? -128 : 0;
      if (types[k].ends_with(" high")) x = row.result == Type::kInt8 ? 127 : 255;
      sample.operands.push_back({.i = x});
      argument = literal(x);
    }
    sample.arguments += (k ? ", " : "") + argument;
  }
  return sample;
}

TEST(InstructionRows, ArePortableCOfTheirMeaning) {
  std::mt19937 random(1);
  std::string functions =
      "#include <float.h>\n#include \"rows.h\"\n" + requantize_text("rows", "static inline") + "\n";
  std::string header = "#include <stdint.h>\n";
  std::string calls = "#include <stdio.h>\n#include \"rows.h\"\nint main(void)\n{\n";
  std::vector<std::pair<std::string, int64_t>> expected;
  for (const Instruction& row : instructions()) {
    const std::string head = fmt::format("{} {}({})", info(row.result).c_name, row.name, row.parameters);
    header += head + ";\n";
    functions += fmt::format("{}\n{{\n{}\n}}\n", head,
                             boost::replace_all_copy(std::string(row.portable), "NAME", "rows"));
    std::vector<std::string> types;
    boost::split(types, row.parameters, boost::is_any_of(","));
    for (int n = 0; n < kSamples; ++n) {
      const Sample sample = sample_of(row, types, random);
      calls += fmt::format("  printf(\"%lld\\n\", (long long){}({}));\n", row.name, sample.arguments);
      expected.emplace_back(row.name, row.meaning(sample.operands).i);
    }
  }
  const TemporaryFolder folder;
  write_files(folder.path(),
              {{"rows.c", functions}, {"rows.h", header}, {"main.c", calls + "  return 0;\n}\n"}});
  const Finished built =
      run_process({"sh", "-c",
                   "cc -std=c99 -c main.c && cc -std=c99 -fsanitize=undefined -fno-sanitize-recover=all "
                   "-Wall -Wextra -Wconversion -Werror rows.c main.o -o rows"},
                  folder.path(), 300);
  ASSERT_EQ(built.status, 0) << built.output;
  const Finished done = run_process({"sh", "-c", "./rows >values.txt"}, folder.path(), 60);
  ASSERT_EQ(done.status, 0) << done.output;
  std::istringstream lines(read_file(folder.path() / "values.txt"));
  for (const auto& [name, value] : expected) {
    long long printed = 0;
    ASSERT_TRUE(lines >> printed) << name;
    ASSERT_EQ(printed, value) << name;
  }
}

// Processors that compute with halves still compute floats as such, and need no integers instead.
TEST(InstructionRows, RequantiseInFloatsBesideHalves) {
  const TemporaryFolder folder;
  write_files(folder.path(), {{"rows.c", "#include <float.h>\n#include <stdint.h>\n" +
                                             requantize_text("rows", "static inline")}});
  const auto preprocessed = [&](const std::string& flags) {
    return run_process({"sh", "-c", "cc -std=gnu99 " + flags + " -E rows.c"}, folder.path(), 60).output;
  };
  EXPECT_NE(preprocessed("-DARENAC_SOFT_FLOAT").find("near_tie"), std::string::npos);
  EXPECT_EQ(preprocessed("").find("near_tie"), std::string::npos);
#ifdef __x86_64__
  const std::string text = preprocessed("-mavx512fp16");
  EXPECT_EQ(text.find("near_tie"), std::string::npos) << text;
#endif
}

}  // namespace
}  // namespace arenac
