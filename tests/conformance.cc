#include "tests/conformance.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <map>

#include "driver/compare.h"
#include "driver/files.h"
#include "driver/run.h"
#include "frontend/error.h"
#include "frontend/lower.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = ARENAC_ROOT;
constexpr unsigned kEndless = 900;  // seconds, more than an attempt takes on a busy machine

// The folders inside `folder` that hold a model, as "prefix/name".
void add_cases(Suite& suite, const std::string& prefix, const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    fmt::print("SKIPPED: the cases of '{}': {} is absent\n", prefix, folder.lexically_normal().string());
    return;
  }
  for (const auto& entry : fs::directory_iterator(folder))
    if (fs::exists(entry.path() / "model.onnx"))
      suite.cases.push_back({prefix + "/" + entry.path().filename().string(), entry.path()});
  std::sort(suite.cases.begin(), suite.cases.end(), [](const Case& a, const Case& b) { return a.id < b.id; });
  for (size_t k = 0; k < suite.cases.size(); ++k) suite.cases[k].index = k;
}

// What the files PREFIX_0.pb, PREFIX_1.pb, ... hold.
std::vector<Held> read_all(const fs::path& folder, const std::string& prefix,
                           const std::vector<Declaration>& declared) {
  std::vector<Held> all;
  for (const Declaration& declaration : declared) {
    const fs::path file = folder / fmt::format("{}_{}.pb", prefix, all.size());
    if (!fs::exists(file)) break;
    all.push_back(read_held_file(file.string(), declaration));
  }
  return all;
}

// The input's value has another shape than the model declares in full.
bool contradicts(const Declaration& input, const Held& held) {
  const auto& extents = input.extents;
  return !input.is_sequence && held.present &&
         std::find(extents.begin(), extents.end(), -1) == extents.end() && !extents.empty() &&
         held.parts.at(0).shape != extents;
}

bool is_read(const Block& block, TensorId id) {
  return std::any_of(block.begin(), block.end(), [&](const Node& node) {
    const auto inside = [&](const Block* inner) { return is_read(*inner, id); };
    return std::ranges::count(tensors_read(node), id) > 0 || std::ranges::any_of(blocks_of(node), inside);
  });
}

// The beginning of the line that says most: a C compiler's first error, else the first.
std::string one_line(const std::string& text, size_t most) {
  const size_t error = text.find("error: ");
  const size_t begin = error == std::string::npos ? 0 : error;
  return text.substr(begin, std::min(text.find('\n', begin) - begin, most));
}

const char* word(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "pass";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kWrong:
      return "WRONG";
    case Outcome::kCrash:
      return "CRASH";
  }
  return "";
}

std::string describe(const Result& result) {
  return fmt::format("{}: {}", word(result.outcome), one_line(result.reason, 200));
}

// A line is "case: reason"; '#' begins a comment.
std::map<std::string, std::string> read_known_failures(const fs::path& path) {
  std::map<std::string, std::string> known;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (const size_t colon = line.find(": "); !line.starts_with('#') && colon != std::string::npos)
      known[line.substr(0, colon)] = line.substr(colon + 2);
  return known;
}

using Results = std::map<std::string, Result>;

// Cases that were not run keep their lines, and so does a reason given by hand ("not comparable").
void update_known_failures(const fs::path& path, const Results& results) {
  std::map<std::string, std::string> known = read_known_failures(path);
  for (const auto& [id, result] : results) {
    if (result.outcome == Outcome::kPass)
      known.erase(id);
    else if (!known[id].starts_with("not comparable"))
      known[id] = describe(result);
  }
  std::ofstream file(path);
  file << "# Conformance cases that do not pass, each with its reason; written by a conformance test's "
          "--update.\n"
          "# A reason given by hand begins with \"not comparable\" and is kept.\n";
  for (const auto& [id, reason] : known) file << id << ": " << reason << '\n';
}

// What is surprising of a result, given the reason on the list; "" for a case that is not listed.
std::string surprise(const Result& result, const std::string& listed) {
  if (result.outcome == Outcome::kPass)
    return listed.empty() ? "" : "passes, but is listed as a known failure";
  const bool as_listed =  // "not comparable" comes with other values than the data's
      listed.starts_with(word(result.outcome)) ||
      (listed.starts_with("not comparable") && result.outcome == Outcome::kWrong);
  if (as_listed) return "";
  return listed.empty() ? describe(result) : describe(result) + "; listed as " + listed;
}

// The number of surprises: failures that are not listed, listed cases that pass, or that fail otherwise.
int report(const fs::path& path, const Results& results) {
  const std::map<std::string, std::string> known = read_known_failures(path);
  int surprises = 0;
  std::map<std::string, std::map<Outcome, int>> counts;
  for (const auto& [id, result] : results) {
    ++counts[id.substr(0, id.find('/'))][result.outcome];
    ++counts["total"][result.outcome];
    const std::string said = surprise(result, known.contains(id) ? known.at(id) : "");
    if (said.empty()) continue;
    ++surprises;
    fmt::print("{}: {}\n", id, said);
  }
  fmt::print("\n{:<20}{:>8}{:>8}{:>8}{:>8}\n", "", "pass", "refused", "WRONG", "CRASH");
  for (auto& [suite, count] : counts)
    fmt::print("{:<20}{:>8}{:>8}{:>8}{:>8}\n", suite, count[Outcome::kPass], count[Outcome::kRefused],
               count[Outcome::kWrong], count[Outcome::kCrash]);
  return surprises;
}

std::string text_of(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(descriptor, buffer, sizeof buffer)) > 0;) text.append(buffer, n);
  return text;
}

Result guarded(const std::function<Result()>& attempt) {
  try {
    return attempt();
  } catch (const UserError& error) {
    return {Outcome::kRefused, error.what()};
  } catch (const std::exception& error) {
    return {Outcome::kCrash, error.what()};
  }
}

}  // namespace

const std::vector<std::string> kSanitizers = {"-fsanitize=address,undefined",
                                              "-fno-sanitize=null,object-size,pointer-overflow",
                                              "-fno-sanitize-recover=all"};

Suite onnx_suite() {
  Suite suite{{}, kRoot / "tests" / "known_failures.txt"};
  const fs::path debian = "/usr/share/libonnx-testdata/data";
  for (const char* name : {"node", "simple", "pytorch-converted", "pytorch-operator"})
    add_cases(suite, name, debian / name);
  add_cases(suite, "shared", kRoot / ".." / "shared" / "onnx" / "cases");
  return suite;
}

Suite model_suite() {
  Suite suite{{}, kRoot / "tests" / "models_known_failures.txt"};
  add_cases(suite, "models", kRoot / ".." / "shared" / "models");
  return suite;
}

std::vector<fs::path> data_sets(const fs::path& folder) {
  std::vector<fs::path> sets;
  for (int k = 0; fs::is_directory(folder / fmt::format("test_data_set_{}", k)); ++k)
    sets.push_back(folder / fmt::format("test_data_set_{}", k));
  return sets;
}

DataSet read_data_set(const fs::path& folder) {
  const std::string model = (folder.parent_path() / "model.onnx").string();
  const std::vector<Declaration> declared = declared_inputs(model);
  const std::vector<Held> inputs = read_all(folder, "input", declared);
  DataSet data = {parts_of(inputs), parts_of(read_all(folder, "output", declared_outputs(model))), {}};
  for (size_t k = 0; k < inputs.size(); ++k)
    if (!contradicts(declared[k], inputs[k]))
      data.import = with_bound_input(data.import, declared[k], inputs[k]);
  return data;
}

std::vector<Value> fed(const Graph& graph, std::vector<Value> inputs) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Tensor& tensor = graph.tensors[graph.inputs[k]];
    inputs[k] = reinterpret_bfloat(std::move(inputs[k]), tensor.type);
    if (inputs[k].type == tensor.type && inputs[k].shape == tensor.shape) continue;
    if (is_read(graph.block, graph.inputs[k]))
      throw UserError(fmt::format("the data give input '{}' as {}, the model declares {}",
                                  graph.input_names[k], to_string(inputs[k].shape), to_string(tensor.shape)));
    inputs[k] = Value(tensor.type, tensor.shape);
    std::fill(inputs[k].bytes.begin(), inputs[k].bytes.end(), std::byte{0xA5});
  }
  return inputs;
}

Result compare_outputs(const Graph& graph, std::vector<Value> got, const std::vector<Value>& want) {
  got = model_outputs(graph, std::move(got));
  if (got.size() != want.size())
    return {Outcome::kWrong, fmt::format("{} outputs, expected {}", got.size(), want.size())};
  for (size_t k = 0; k < got.size(); ++k)
    if (const auto text = difference(got[k], reinterpret_bfloat(want[k], got[k].type), {}))
      return {Outcome::kWrong, fmt::format("output '{}': {}", graph.output_names[k], *text)};
  return {Outcome::kPass, ""};
}

Result in_child(const std::function<Result()>& attempt) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    alarm(kEndless);
    const Result result = guarded(attempt);
    const std::string text = std::to_string(static_cast<int>(result.outcome)) + one_line(result.reason, 2000);
    _exit(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  const std::string text = text_of(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    return {Outcome::kCrash, WTERMSIG(status) == SIGALRM ? fmt::format("not done after {} s", kEndless)
                                                         : fmt::format("signal {}", WTERMSIG(status))};
  if (text.empty()) return {Outcome::kCrash, fmt::format("exit status {}", WEXITSTATUS(status))};
  return {static_cast<Outcome>(text[0] - '0'), text.substr(1)};
}

int run_cases(int argc, char** argv, Suite suite, const TryAll& try_all) {
  CLI::App app("Runs test cases; see tests/conformance.h.");
  std::string only;
  std::vector<std::string> without;
  bool update = false, list = false;
  app.add_option("--only", only, "only cases whose id contains this");
  app.add_option("--without", without, "no cases whose id contains one of these");
  app.add_flag("--update", update, "rewrite the list of known failures");
  app.add_flag("--list", list, "print the outcome of every case");
  CLI11_PARSE(app, argc, argv);

  const auto names = [](const std::string& part) {
    return [&](const Case& c) { return c.id.find(part) != std::string::npos; };
  };
  std::erase_if(suite.cases, std::not_fn(names(only)));
  for (const std::string& part : without) std::erase_if(suite.cases, names(part));
  if (suite.cases.empty()) {
    fmt::print("{}: Skipped\nno case to run: install libonnx-testdata, or mend --only\n", argv[0]);
    return 77;
  }
  takes_strings(*find_operator("", "Add", 13), 0);  // ONNX's schemas are registered once, not in every child
  std::vector<Result> outcomes = try_all(suite.cases);
  for (size_t k = 0; k < suite.cases.size(); ++k)
    if (data_sets(suite.cases[k].folder).empty())
      outcomes.at(k) = {Outcome::kCrash, "there are no data sets"};
  Results results;
  for (size_t k = 0; k < suite.cases.size(); ++k) results[suite.cases[k].id] = outcomes.at(k);
  if (list || !only.empty())
    for (const auto& [id, result] : results) fmt::print("{}: {}\n", id, describe(result));
  if (update) update_known_failures(suite.known_failures, results);
  const int surprises = report(suite.known_failures, results);
  if (surprises)
    fmt::print("\n{} cases differ from {}\n", surprises, suite.known_failures.filename().string());
  return surprises ? 1 : 0;
}

}  // namespace arenac
