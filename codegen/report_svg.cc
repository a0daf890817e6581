// A still picture for documents: one panel a pool, address over time, coloured by operator; names show on
// hover. It follows the reader's light or dark mode and needs no script.
//
//       model                                  arena, buffers, work
//       [] conv  [] pool                                                kHeader
//       pool: size; proof                                               kTitle
//   64K |-----------|                                                   kPlotHeight
//       |           |
//     0 +-----------+                                                   a kPanel for each pool
//       0   step    g1                                                  kAxis
//       hatched: ...                               made by              kFooter
//
// All numbers are printed with fixed decimals, so that a map gives the same bytes everywhere.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "codegen/report_words.h"
#include "codegen/reports.h"

namespace arenac {
namespace {

constexpr double kPageWidth = 1000, kLeft = 64, kRight = 16;  // pixels
constexpr double kPlotWidth = kPageWidth - kLeft - kRight;
constexpr double kHeader = 66, kTitle = 44, kPlotHeight = 320, kAxis = 46;
constexpr double kFooter = 24;
constexpr double kPanel = kTitle + kPlotHeight + kAxis;
constexpr size_t kColours = 10;  // classes c0 to c9; operators beyond share "other"

constexpr std::string_view kStyle = R"(<style>
text { font: 12px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: #1d2126; }
.page { fill: #ffffff; } .plot { fill: #f6f6f4; } .soft { fill: #5b636d; } .strong { font-weight: 600; }
.big { font-size: 17px; font-weight: 600; } .grid { stroke: #e2e3e1; }
.peak { stroke: #c8322b; } text.peak { stroke: none; fill: #c8322b; font-weight: 600; }
.group { stroke: #0b63ce; fill: none; stroke-width: 1.5; } text.group { stroke: none; fill: #0b63ce; }
.bound { stroke: #6a45e8; stroke-dasharray: 5 4; } text.bound { stroke: none; fill: #6a45e8; }
.b { stroke: #ffffff; stroke-width: .7; } .b:hover { stroke: #1d2126; }
.shared { fill: url(#hatch); pointer-events: none; } .hatch { stroke: #ffffff; stroke-width: 1.5; stroke-opacity: .55; }
.band { fill: #0b63ce; fill-opacity: .06; }
.name { font-size: 11px; fill: #ffffff; pointer-events: none; }
.c0 { fill: #3f76b0; } .c1 { fill: #aa6227; } .c2 { fill: #438250; } .c3 { fill: #b94f61; } .c4 { fill: #7e67b3; }
.c5 { fill: #2a817f; } .c6 { fill: #8c7213; } .c7 { fill: #966547; } .c8 { fill: #aa5a85; } .c9 { fill: #667d38; }
.other { fill: #6f757c; }
@media (prefers-color-scheme: dark) {
text { fill: #e6e9ec; } .page { fill: #14171a; } .plot { fill: #1b1f23; } .soft { fill: #9aa4ae; }
.grid { stroke: #2d3338; } .b { stroke: #14171a; } .b:hover { stroke: #e6e9ec; } .name { fill: #ffffff; }
.peak { stroke: #ff7b72; } text.peak { fill: #ff7b72; } .bound { stroke: #b39bff; } text.bound { fill: #b39bff; }
.group { stroke: #6cb0ff; } text.group { fill: #6cb0ff; }
}
</style>
)";

// Operators by number of buffers: the most frequent ones have colours of their own.
struct Legend {
  std::vector<std::string> ops;

  // By rank, so that the most frequent operators of any model have the same colours.
  std::string colour(const std::string& op) const {
    const size_t rank = std::find(ops.begin(), ops.end(), op) - ops.begin();
    return rank < kColours ? fmt::format("c{}", rank) : "other";
  }
};

// By count and then by name, for a hash table has no order of its own.
Legend legend_of(const MemoryMap& map) {
  std::unordered_map<std::string, size_t> counts;
  for (const MapBuffer& buffer : map.buffers) ++counts[source_of(map, buffer)];
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const auto& [op, count] : counts) ranked.push_back({count, op});
  std::sort(ranked.begin(), ranked.end(),
            [](auto& a, auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  Legend legend;
  for (const auto& [count, op] : ranked) {
    if (legend.ops.size() < kColours) legend.ops.push_back(op);
  }
  return legend;
}

// Where a time and an address of one pool are on the page: y grows downwards, addresses upwards.
struct Panel {
  const MemoryMap& map;
  const MapPool& pool;
  double y;  // of the plot's upper edge
  int64_t begin = 0, end = 1, top = 1;

  double x_of(int64_t time) const {
    return kLeft + kPlotWidth * static_cast<double>(time - begin) / static_cast<double>(end - begin);
  }
  double y_of(int64_t address) const {
    return y + kPlotHeight * (1.0 - static_cast<double>(address) / static_cast<double>(top));
  }
};

// Takes maps that no verifier has seen: lives and offsets beyond the steps and the pool's size make the panel
// wider, and no extent is 0.
Panel panel_of(const MemoryMap& map, const MapPool& pool, double y) {
  Panel panel{.map = map, .pool = pool, .y = y};
  panel.end = std::max<int64_t>(1, static_cast<int64_t>(map.steps.size()));
  panel.top = std::max<int64_t>(1, pool.size);
  for (const MapBuffer& b : map.buffers) {
    if (b.pool != pool.name) continue;
    panel.end = std::max(panel.end, b.end);
    panel.top = std::max(panel.top, b.offset + b.size);
  }
  panel.begin = map.steps.empty() ? panel.end - 1 : 0;
  for (const MapBuffer& b : map.buffers) {
    if (b.pool == pool.name) panel.begin = std::min(panel.begin, b.begin);
  }
  return panel;
}

std::string label(double x, double y, std::string_view attributes, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, text);
}

std::string line(double x0, double y0, double x1, double y1, std::string_view css) {
  return fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" class=\"{}\"/>\n", x0, y0, x1, y1, css);
}

// "\nread by conv2 (Conv)\nand 3 more"
std::string readers_words(const MemoryMap& map, const MapBuffer& b) {
  constexpr size_t kMost = 4;
  std::string words;
  for (size_t k = 0; k < std::min(kMost, b.readers.size()); ++k)
    words += (k == 0 ? "\nread by " : "\n") + escaped(step_title(map, b.readers[k]));
  return b.readers.size() <= kMost ? words : fmt::format("{}\nand {} more", words, b.readers.size() - kMost);
}

// What shows on hover: a line for each fact that the map has.
std::string buffer_title(const MemoryMap& map, const MapBuffer& b) {
  std::string title = fmt::format("{}\n{}\noffset {}, steps [{}, {})", escaped(b.name), bytes_words(b.size),
                                  grouped(b.offset), b.begin, b.end);
  if (const std::string type = type_words(b); !type.empty()) title += "\n" + escaped(type);
  if (b.writer) title += "\nfrom " + escaped(step_title(map, *b.writer));
  title += readers_words(map, b);
  if (b.rows) title += fmt::format("\n{} of {} rows", b.rows->kept, b.rows->total);
  if (const auto group = group_at(map, b.begin)) title += "\nin " + group_name(group);
  for (const std::string& tensor : b.tensors) {
    if (tensor != b.name) title += "\n" + escaped(tensor);
  }
  return title;
}

// As much of the name as fits; paths of modules lose their front first. Empty where hardly a letter does.
std::string fitting_name(const MapBuffer& b, int letters) {
  const std::string name = printable(b.name);
  if (columns_of(name) <= letters) return name;
  std::string shorter = without_ending(name);
  for (size_t slash = 0; columns_of(shorter) > letters && (slash = shorter.find('/')) != std::string::npos;)
    shorter.erase(0, slash + 1);
  if (shorter.empty() || letters < std::min(4, columns_of(shorter))) return {};
  return fitted(shorter, std::min(letters, columns_of(shorter)));
}

// A rectangle with a title, which browsers show on hover; the name in it where there is room for a line of
// it.
std::string buffer_shape(const Panel& panel, const Legend& legend, const MapBuffer& b) {
  const double x = panel.x_of(b.begin), y = panel.y_of(b.offset + b.size);
  const double width = panel.x_of(b.end) - x, height = panel.y_of(b.offset) - y;
  std::string shape = fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" class=\"b "
      "{}\"><title>{}</title></rect>\n",
      x, y, std::max(width, 0.0), std::max(height, 0.0), legend.colour(source_of(panel.map, b)),
      buffer_title(panel.map, b));
  const int letters = static_cast<int>((width - 8) / 6.3);  // an average letter is narrower
  const std::string shown = fitting_name(b, letters);
  if (height < 14 || shown.empty()) return shape;
  return shape + label(x + 4, y + height / 2 + 4, "class=\"name\"", escaped(shown));
}

// At most eight lines of addresses, at multiples of a power of two; times at 1, 2 or 5 times a power of ten,
// eleven at most.
//
//   64K |----------      pool of 80K: a line each 16K
//   48K |----------
std::string axes(const Panel& panel) {
  std::string svg =
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"plot\"/>\n",
                  kLeft, panel.y, kPlotWidth, kPlotHeight);
  int64_t apart = 1;  // a power of two, for labels that are exact and short
  while (panel.top / apart >= 8) apart *= 2;
  for (int64_t address = 0; address <= panel.top; address += apart) {
    const double y = panel.y_of(address);
    svg += line(kLeft, y, kPageWidth - kRight, y, "grid");
    svg += label(kLeft - 6, y + 4, "class=\"soft\" text-anchor=\"end\"", exact_bytes(address));
  }
  int64_t step = 1;
  for (int64_t span = panel.end - panel.begin; span / step > 10; step *= 10) {
    if (span / (step * 2) <= 10) {
      step *= 2;
      break;
    }
    if (span / (step * 5) <= 10) {
      step *= 5;
      break;
    }
  }
  for (int64_t time = panel.begin; time < panel.end; time += step) {
    svg += label(panel.x_of(time), panel.y + kPlotHeight + 16, "class=\"soft\"", fmt::format("{}", time));
  }
  return svg + label(kLeft - 6, panel.y + kPlotHeight + 16, "class=\"soft\" text-anchor=\"end\"", "step");
}

// Where an overlap lets two live buffers of the pool share bytes: hatched, over both rectangles, of which the
// smaller one hides the larger.
std::string shared_bytes(const Panel& panel) {
  std::unordered_map<int64_t, const MapBuffer*> by_id;
  for (const MapBuffer& b : panel.map.buffers)
    if (b.pool == panel.pool.name) by_id.emplace(b.id, &b);
  std::string svg;
  for (const MapOverlap& o : panel.map.overlaps) {
    const auto a = by_id.find(o.above), b = by_id.find(o.below);
    if (a == by_id.end() || b == by_id.end()) continue;
    const MapBuffer &p = *a->second, &q = *b->second;
    const double x0 = panel.x_of(std::max(p.begin, q.begin)), x1 = panel.x_of(std::min(p.end, q.end));
    const double top = panel.y_of(std::min(p.offset + p.size, q.offset + q.size));
    const double bottom = panel.y_of(std::max(p.offset, q.offset));
    if (x0 < x1 && top < bottom)
      svg += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" class=\"shared\"/>\n", x0, top,
          x1 - x0, bottom - top);
  }
  return svg;
}

// A band behind each group's buffers.
std::string group_bands(const Panel& panel) {
  std::string svg;
  for (const auto& [begin, end] : panel.map.groups)
    if (panel.begin <= begin && begin < end && end <= panel.end)
      svg +=
          fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"band\"/>\n",
                      panel.x_of(begin), panel.y, panel.x_of(end) - panel.x_of(begin), kPlotHeight);
  return svg;
}

// A bracket below each group's steps.
std::string group_marks(const Panel& panel) {
  std::string svg;
  for (size_t g = 0; g < panel.map.groups.size(); ++g) {
    const auto& [begin, end] = panel.map.groups[g];
    if (begin < panel.begin || end > panel.end || begin >= end) continue;
    const double x0 = panel.x_of(begin) + 1, x1 = panel.x_of(end) - 1, y = panel.y + kPlotHeight;
    svg += fmt::format("<path d=\"M{0:.1f} {2:.1f}V{3:.1f}H{1:.1f}V{2:.1f}\" class=\"group\"/>\n", x0, x1,
                       y + 20, y + 24);
    if (x1 - x0 >= 16)
      svg += label((x0 + x1) / 2, y + 35, "class=\"group\" text-anchor=\"middle\"", group_name(g));
  }
  return svg;
}

// The fullest step, and what no plan can go below where the plan is not there.
std::string marks(const Panel& panel) {
  std::string svg;
  const Peak peak = peak_of(panel.map, panel.pool.name);
  if (peak.buffers.empty()) return svg;
  const double x = (panel.x_of(peak.time) + panel.x_of(peak.time + 1)) / 2;
  svg += line(x, panel.y - 6, x, panel.y + kPlotHeight + 4, "peak");
  const std::string step = step_title(panel.map, peak.time);
  const std::string words = fitted(fmt::format("peak {} bytes at step {}{}{}", grouped(peak.bytes), peak.time,
                                               step.empty() ? "" : ": ", step),
                                   80);
  const std::string_view anchor = x < kPageWidth / 3 ? "start" : x > kPageWidth * 2 / 3 ? "end" : "middle";
  svg += label(x, panel.y - 10, fmt::format("class=\"peak\" text-anchor=\"{}\"", anchor),
               escaped(words.substr(0, words.find_last_not_of(' ') + 1)));
  if (panel.pool.optimal() || panel.pool.lower_bound > panel.top) return svg;
  const double y = panel.y_of(panel.pool.lower_bound);
  svg += line(kLeft, y, kPageWidth - kRight, y, "bound");
  return svg + label(kPageWidth - kRight - 4, y - 4, "class=\"bound\" text-anchor=\"end\"",
                     fmt::format("lower bound {}", grouped(panel.pool.lower_bound)));
}

// Large buffers first, so that small ones lie over them where they share bytes.
std::string pool_panel(const MemoryMap& map, const MapPool& pool, const Legend& legend, double y) {
  const Panel panel = panel_of(map, pool, y + kTitle);
  std::string svg = label(kLeft, y + 14, "class=\"strong\"",
                          fmt::format("{}: {}{}; {}", escaped(pool.name), bytes_words(pool.size),
                                      pool.capacity ? fmt::format(" of {}", grouped(*pool.capacity)) : "",
                                      placement_words(pool.size, pool.lower_bound))) +
                    axes(panel) + group_bands(panel);
  std::vector<const MapBuffer*> buffers;
  for (const MapBuffer& b : map.buffers) {
    if (b.pool == pool.name) buffers.push_back(&b);
  }
  std::stable_sort(buffers.begin(), buffers.end(), [](auto* a, auto* b) { return a->size > b->size; });
  for (const MapBuffer* b : buffers) svg += buffer_shape(panel, legend, *b);
  return svg + shared_bytes(panel) + group_marks(panel) + marks(panel);
}

// As many operators as fit the line; what is left has no place to be explained.
std::string legend_line(const Legend& legend) {
  std::string svg;
  double x = kLeft;
  for (const std::string& op : legend.ops) {
    const std::string name = printable(op);
    const std::string shown = fitted(name, std::min(18, columns_of(name)));
    const double width = 22 + 6.6 * columns_of(shown);
    if (x + width > kPageWidth - kRight) break;
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"43\" width=\"10\" height=\"10\" rx=\"2\" class=\"{}\"/>\n", x,
                       legend.colour(op));
    svg += label(x + 14, 52, "class=\"soft\"", escaped(shown));
    x += width;
  }
  return svg;
}

// What the drawing means beyond its colours; below all panels.
std::string marks_line(const MemoryMap& map, double y) {
  std::string words;
  if (!map.overlaps.empty()) words += "hatched: bytes that two buffers share";
  if (!map.groups.empty())
    words += fmt::format("{}bands and brackets: groups, whose steps run in turns, a few rows at a time",
                         words.empty() ? "" : "; ");
  return words.empty() ? words : label(kLeft, y, "class=\"soft\"", words);
}

}  // namespace

// Panels are stacked, so that the picture is as high as there are pools.
std::string svg_report(const MemoryMap& map) {
  const Legend legend = legend_of(map);
  const double panels = kHeader + kPanel * static_cast<double>(map.pools.size()), height = panels + kFooter;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\">\n<title>{2}</title>\n",
      kPageWidth, height, escaped(map.model));
  svg += kStyle;
  svg +=
      "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path d=\"M0 6L6 "
      "0\" "
      "class=\"hatch\"/></pattern></defs>\n";
  svg += fmt::format("<rect width=\"{:.0f}\" height=\"{:.0f}\" class=\"page\"/>\n", kPageWidth, height);
  const std::string model = printable(map.model);
  svg += label(kLeft, 26, "class=\"big\"", escaped(fitted(model, std::min(50, columns_of(model)))));
  svg += label(kPageWidth - kRight, 26, "class=\"soft\" text-anchor=\"end\"",
               fmt::format("arena {}, {}, {} multiply-accumulates", bytes_words(map.totals.arena),
                           counted(map.buffers.size(), "buffer"), short_count(map.totals.macs)));
  svg += legend_line(legend);
  for (size_t i = 0; i < map.pools.size(); ++i) {
    svg += pool_panel(map, map.pools[i], legend, kHeader + kPanel * static_cast<double>(i));
  }
  if (const std::string tool = tool_words(map); !tool.empty())
    svg += label(kPageWidth - kRight, panels + 12, "class=\"soft\" text-anchor=\"end\"",
                 escaped(fitted(tool, std::min(48, columns_of(tool)))));
  return svg + marks_line(map, panels + 12) + "</svg>\n";
}

}  // namespace arenac
