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

}  // namespace arenac
