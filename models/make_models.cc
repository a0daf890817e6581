// make_models DIR [NAME...]: writes DIR/NAME.onnx for the named rows of the model table, or for all.
//
//   make_models build/models ds_cnn ds_cnn_qdq      two files, a line about each
//
// Files are the same bytes on every machine (calibrate.h), so that figures of tests and benchmarks can be
// compared.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "models/model_table.h"
#include "models/onnx_builder.h"

using namespace arenac::models;

int main(int argc, char** argv) {
  CLI::App app("Writes arenac's own models: well-known topologies with seeded weights.");
  std::string dir;
  std::vector<std::string> names, known;
  for (const ModelRow& row : model_table()) known.push_back(row.name);
  app.add_option("DIR", dir, "folder to write to, made if absent")->required();
  app.add_option("NAME", names, "models to write (default: all)")->check(CLI::IsMember(known));
  // Unknown names end here, with those there are.
  CLI11_PARSE(app, argc, argv);

  try {
    std::filesystem::create_directories(dir);
    for (const ModelRow& row : model_table()) {
      if (!names.empty() && std::find(names.begin(), names.end(), row.name) == names.end()) continue;
      const auto file = std::filesystem::path(dir) / fmt::format("{}.onnx", row.name);
      write_model(row.make(), file);
      fmt::print("{:<24} {:>8} bytes  {}\n", row.name, std::filesystem::file_size(file), row.what);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_models: {}\n", error.what());
    return 1;
  }
  return 0;
}
