// The command line as a value.
//
//   Options options = parse_options(argc, argv);    // {command: kCompile, file: "kws.onnx", output: "gen",
//   ...}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/compare.h"
#include "driver/compile.h"
#include "driver/plan.h"
#include "driver/together.h"

namespace arenac {

enum class Command { kCompile, kExport, kMap, kExplain, kRun, kPlan, kVerify, kList, kPrint };

// A report to write: --html map.html. The file "-" is standard output.
struct ReportRequest {
  std::string report;  // a row of kReports
  std::string file;
};

struct Options {
  Command command = Command::kPrint;
  std::string text;                // kPrint: help or version, for standard output
  std::vector<std::string> files;  // MODEL.onnx, MAP.json or, of verify, PROBLEM.csv
  CompileOptions compile;
  std::vector<CompileOptions>
      models;              // compile, export and map: of several models, each; empty: there is one
  Together together = {};  // of these

  std::string output = ".";            // compile, export: folder of the files; empty: none are written
  std::string depfile;                 // compile; empty: none
  std::string ecosystem;               // export: a row of kEcosystems
  std::vector<ReportRequest> reports;  // map; empty: the text report on standard output
  std::string inputs, outputs, keep;   // run: folders; empty: none, of inputs made-up ones
  Tolerance tolerance;                 // run
  int repeat = 0;                      // run; 0: no timing
  std::string board;                   // run: "qemu-m4"; empty: this machine
  std::string runner;                  // run: a command that runs the program elsewhere; empty: none
  bool profile = false;                // run
  PlanOptions plan;                    // plan, and verify of two files
  std::string table;                   // list
  enum class Format { kText, kJson } format = Format::kText;  // list
};

// Throws UserError with Exit::kUsage for a wrong command line.
Options parse_options(int argc, const char* const* argv);

}  // namespace arenac
