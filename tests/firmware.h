// Tests that build firmware as users do: a folder with a model, what arenac makes of it, and a program around
// it.
//
//   compile_text("...", {"--io", "arena"});
//   expect_runs(kMain, "kws.c kws_weights.c");
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>

#include <string>
#include <vector>

#include "driver/files.h"
#include "driver/process.h"
#include "tests/tool.h"

namespace arenac {

class Firmware : public testing::Test {
 protected:
  void write_model(const std::string& name, const std::string& text) {
    onnx::ModelProto model;
    const auto status = onnx::OnnxParser::Parse(model, text.c_str());
    ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
    write(name, model.SerializeAsString());
  }
  Finished arenac(std::vector<std::string> words) const {
    words.insert(words.begin(), arenac_tool());
    return run_process(words, scratch_.path(), 120);
  }
  // The files of the model, in the folder.
  void compile_text(const std::string& text, std::vector<std::string> options = {}) {
    write_model("kws.onnx", text);
    options.insert(options.begin(), {"compile", "kws.onnx", "--quiet"});
    const Finished done = arenac(options);
    ASSERT_EQ(done.status, 0) << done.output;
  }
  void write(const std::string& name, const std::string& bytes) {
    write_files(scratch_.path(), {{name, bytes}});
  }
  std::string read(const std::string& name) const { return read_file((scratch_.path() / name).string()); }
  Finished shell(const std::string& command) const {
    return run_process({"sh", "-c", command}, scratch_.path(), 120);
  }
  // What the C compiler takes of a model's constants; of an assembler file, the object.
  std::string weights_of(const std::string& name, const std::string& form) const {
    if (form != "incbin") return name + "_weights.c ";
    const Finished assembled = shell(fmt::format("cc -c -I. {}_weights.S", name));
    EXPECT_EQ(assembled.status, 0) << assembled.output;
    return fmt::format("-Wl,{}_weights.o ", name);
  }
  // Builds main.c and the sources, with options beside them, by each of the compilers that there is, and runs
  // it.
  void expect_runs(const std::string& main, const std::string& sources,
                   const std::vector<std::string>& compilers = {"cc -std=c99", "clang -std=c99",
                                                                "cc -x c++"}) const {
    write_files(scratch_.path(), {{"main.c", main}});
    for (const std::string& compiler : compilers) {
      if (shell("command -v " + compiler.substr(0, compiler.find(' '))).status != 0) continue;
      SCOPED_TRACE(compiler);
      const Finished built =
          shell(fmt::format("{} -O1 -Wall -Wextra -pedantic -Wconversion -Werror -fsanitize=undefined "
                            "-fno-sanitize-recover=all -I. main.c {} -lm -o program",
                            compiler, sources));
      ASSERT_EQ(built.status, 0) << built.output;
      const Finished done = shell("./program");
      EXPECT_EQ(done.status, 0) << done.output;
    }
  }

  TemporaryFolder scratch_;
};

// A program of two models, of an input x and an output y each: `plain` has written y[0], and the rest of main
// runs `kws` on the same x.
inline std::string beside_plain(const std::string& rest) {
  return R"(
#include <kws.h>
#include <plain.h>
#include <string.h>
int main(void)
{
    static float x[KWS_INPUT_X_COUNT];
    static float y[3][KWS_OUTPUT_Y_COUNT];
    kws_workspace w;
    kws_inputs in;
    kws_outputs out;
    plain_inputs plain_in;
    plain_outputs plain_out;
    size_t k;
    for (k = 0; k < KWS_INPUT_X_COUNT; ++k) x[k] = (float)(k * 7 % 11) - 5.0f;
    plain_in.x = x, plain_out.y = y[0];
    if (plain_invoke(&plain_in, &plain_out) != PLAIN_OK) return 1;
)" + rest +
         "}\n";
}

}  // namespace arenac
