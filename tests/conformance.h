// ONNX's backend test cases, and the run over all of them that every conformance test shares.
//
//   int main(int argc, char** argv) { return run_conformance(argc, argv, try_all_by_interpreting); }
//
//   interpret_conformance_test --only softmax      one operator's cases, with the reason of every failure
//   interpret_conformance_test --update            rewrite the list of known failures
//
// A run fails when a case fails that tests/known_failures.txt does not list, and when a listed case passes.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "frontend/import.h"
#include "frontend/type.h"

namespace arenac {

struct Case {
  std::string id;  // "node/test_abs", "shared/test_swiglu_float16"
  std::filesystem::path folder;

  std::filesystem::path model() const { return folder / "model.onnx"; }
};

struct DataSet {
  std::vector<Value> inputs, outputs;
};

enum class Outcome { kPass, kRefused, kWrong, kCrash };

struct Result {
  Outcome outcome;
  std::string reason;  // one line; empty for kPass
};

// The test_data_set_K folders of a case, K ascending.
std::vector<std::filesystem::path> data_sets(const std::filesystem::path& folder);

// input_0.pb, input_1.pb, ... and output_0.pb, ... of one folder.
DataSet read_data_set(const std::filesystem::path& folder);

// The options that bind each input of the model to the shape of its value.
ImportOptions bound_to(const std::filesystem::path& model, const std::vector<Value>& inputs);

// What comparing every output with the expected one says.
Result compare_outputs(const std::vector<std::string>& names, const std::vector<Value>& got,
                       const std::vector<Value>& want);

// Runs `attempt` in a child process, so that a crash or an endless loop becomes a result. A UserError counts
// as refused, an InternalError as a crash.
Result in_child(const std::function<Result()>& attempt);

using TryAll = std::function<std::vector<Result>(const std::vector<Case>&)>;

// The whole test program; returns its exit status.
int run_conformance(int argc, char** argv, const TryAll& try_all);

}  // namespace arenac
