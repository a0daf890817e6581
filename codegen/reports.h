// What can be made of a memory map: one function a report, one row each.
//
//     for (const Report& report : kReports) fmt::print("{}: {}\n", report.name, report.description);
//     std::string page = find_report("html")->write(map);
//
// A new report is one file report_NAME.cc and one row here; the command line and the tests iterate the table.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "codegen/memory_map.h"

namespace arenac {

enum class Charset { kUtf8, kAscii };

// How wide a line of text may be, and of what letters.
struct TextStyle {
  int columns = 80;
  Charset charset = Charset::kUtf8;
};
constexpr int kLeastColumns = 60, kMostColumns = 200;  // what is beyond is taken for the nearer

// Each is deterministic and takes any map, verified or not; names are shown as harmless text.
std::string text_report(const MemoryMap& map, const TextStyle& style);
std::string text_report(const MemoryMap& map);    // in the default style
std::string frontier_text(const MemoryMap& map);  // map.frontier as a table of ASCII; part of the text report
std::string csv_report(const MemoryMap& map);     // RFC 4180; also a planning problem with its solution
std::string svg_report(const MemoryMap& map);     // SVG 1.1, about 1000 pixels wide
std::string html_report(const MemoryMap& map);    // one page, needs nothing from the network

struct Report {
  std::string_view name;  // also the usual file extension and the command line's word
  std::string_view description;
  std::string (*write)(const MemoryMap& map);
};

inline constexpr std::array kReports = {
    Report{"text", "address over time and the largest buffers, for a terminal", text_report},
    Report{"json", "the memory map's file format, complete", to_json},
    Report{"csv", "one buffer a line, also a planning problem with its solution", csv_report},
    Report{"svg", "a picture for documents, names and sizes on hover", svg_report},
    Report{"html", "an interactive page, self-contained and offline", html_report},
};

// Null if there is none of that name.
const Report* find_report(std::string_view name);

}  // namespace arenac
