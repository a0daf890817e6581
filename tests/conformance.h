// Test cases in ONNX's backend-test layout, and the run over all of them that every conformance test shares.
//
//   int main(int argc, char** argv) { return run_cases(argc, argv, onnx_suite(), try_all_by_interpreting); }
//
//   interpret_conformance_test --only softmax      one operator's cases, with the reason of every failure
//   interpret_conformance_test --update            rewrite the list of known failures
//
// A run fails when a case fails that the list of known failures lacks, when a listed case passes, and when it
// fails in another way than the list says: a model that was refused must not turn out wrong. A case without
// data fails.
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
  size_t index = 0;  // among all of its suite

  std::filesystem::path model() const { return folder / "model.onnx"; }
};

struct Suite {
  std::vector<Case> cases;               // by folder of cases, then by id
  std::filesystem::path known_failures;  // a text file: "case: reason"
};

// ONNX's backend cases: Debian's package libonnx-testdata, and those newer than it beside the project. Says
// on standard output which of them are absent.
Suite onnx_suite();

// Real models beside the project.
Suite model_suite();

// Options of gcc and clang: the C of a case ends at once where it reads or computes what it must not.
extern const std::vector<std::string> kSanitizers;

struct DataSet {
  std::vector<Value> inputs, outputs;  // of a sequence each element
  ImportOptions import;  // binds each input to its shape, and to its value where that must be known
};

enum class Outcome { kPass, kRefused, kWrong, kCrash };

struct Result {
  Outcome outcome;
  std::string reason;  // one line; empty for kPass
};

// The test_data_set_K folders of a case, K ascending.
std::vector<std::filesystem::path> data_sets(const std::filesystem::path& folder);

// input_0.pb, input_1.pb, ... and output_0.pb, ... of one folder, beside which the model lies.
DataSet read_data_set(const std::filesystem::path& folder);

// The inputs as the compiled model takes them. In place of a value that has another shape than the model
// declares it gets the bytes 0xA5, if no node reads that input: an operator may look at its type only.
std::vector<Value> fed(const Graph& graph, std::vector<Value> inputs);

// What comparing every output of the model with the expected one says.
Result compare_outputs(const Graph& graph, std::vector<Value> got, const std::vector<Value>& want);

// Runs `attempt` in a child process, so that a crash or an endless loop becomes a result. A UserError counts
// as refused, an InternalError as a crash.
Result in_child(const std::function<Result()>& attempt);

using TryAll = std::function<std::vector<Result>(const std::vector<Case>&)>;

// The whole test program. Returns the exit status: 0, 1, or 77 when there is no case to run.
int run_cases(int argc, char** argv, Suite suite, const TryAll& try_all);

}  // namespace arenac
