// The memory map for a terminal:
//
//     kws.onnx   arena 22,528 B ...
//
//      22.0K |aaaabbbb  ++        each letter is a row of the table below,
//            |aaaabbbbcccc        '+' a smaller buffer, '.' a cell less than half in use
//          0 +------------
//             ▂▂▂▂████▄▄▄▄        bytes in use
//                 ^ peak: step 4, conv2 (Conv)
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

#include "codegen/report_words.h"
#include "codegen/reports.h"

namespace arenac {
namespace {

constexpr int kMargin = 10;  // left of the picture: addresses
constexpr int kIndent = 9;   // of what the words of the header describe
constexpr int kRows = 20;
constexpr size_t kAllUpTo = 40;  // buffers that the tables list one by one; above, only the largest
constexpr size_t kLargest = 20;
constexpr size_t kAtPeak = 30;
constexpr int kWithTypes = 110;  // columns from which on there is room for types and shapes
constexpr size_t kMaxIo = 8;
constexpr size_t kMaxGroups = 20;
constexpr size_t kAllStepsUpTo = 16, kLongestSteps = 12;  // in the table of steps
constexpr std::string_view kKeys = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
static_assert(kAllUpTo <= kKeys.size() && kLargest + kAtPeak <= kKeys.size());

// What the sections about one pool share: which buffers are listed, and by which letter the picture and the
// tables name them.
struct PoolView {
  const MemoryMap& map;
  const MapPool& pool;
  int columns;  // of a line
  Peak peak;
  std::vector<size_t> buffers;            // of the pool, indices into map.buffers
  std::vector<size_t> at_peak, others;    // those of them that the tables list, largest first
  std::unordered_map<size_t, char> keys;  // of the listed
  int64_t begin = 0, end = 1;             // of all lives
};

// Few buffers are all listed; of many the largest at the peak and the largest of the others, as many as there
// are letters. Of a map without steps, times are those of the buffers.
PoolView view_of(const MemoryMap& map, const MapPool& pool, int columns) {
  PoolView view{.map = map,
                .pool = pool,
                .columns = columns,
                .peak = peak_of(map, pool.name),
                .buffers = {},
                .at_peak = {},
                .others = {},
                .keys = {}};
  for (size_t i = 0; i < map.buffers.size(); ++i) {
    if (map.buffers[i].pool != pool.name) continue;
    view.buffers.push_back(i);
    if (std::find(view.peak.buffers.begin(), view.peak.buffers.end(), i) == view.peak.buffers.end())
      view.others.push_back(i);
  }
  view.at_peak = view.peak.buffers;
  std::stable_sort(view.others.begin(), view.others.end(),
                   [&](size_t a, size_t b) { return map.buffers[a].size > map.buffers[b].size; });
  if (view.buffers.size() > kAllUpTo) {
    view.at_peak.resize(std::min(view.at_peak.size(), kAtPeak));
    view.others.resize(std::min(view.others.size(), kLargest));
  }
  for (const auto* listed : {&view.at_peak, &view.others})
    for (size_t i : *listed) view.keys.emplace(i, kKeys[view.keys.size()]);
  if (map.steps.empty() && !view.buffers.empty()) view.begin = view.end = map.buffers[view.buffers[0]].begin;
  view.end = std::max(view.begin + 1, static_cast<int64_t>(map.steps.size()));
  for (size_t i : view.buffers) {
    view.begin = std::min(view.begin, map.buffers[i].begin);
    view.end = std::max({view.end, map.buffers[i].begin + 1, map.buffers[i].end});
  }
  return view;
}

// Maps a range of times or addresses onto cells: `scale` cells a unit.
struct Axis {
  int64_t begin;
  double scale;
  int cells;

  double at(int64_t value) const { return static_cast<double>(value - begin) * scale; }
  int cell(int64_t value) const { return std::clamp(static_cast<int>(at(value)), 0, cells - 1); }
};

// Few times take several whole columns each, so that steps have equal widths; of many, several share a
// column.
Axis time_axis(const PoolView& view) {
  const int64_t span = view.end - view.begin;
  const int columns = view.columns - kMargin;
  if (span > columns) return {view.begin, static_cast<double>(columns) / static_cast<double>(span), columns};
  const auto each = std::min<int64_t>(columns / span, 8);
  return {view.begin, static_cast<double>(each), static_cast<int>(span * each)};
}

// Length of [begin, end) inside cell [cell, cell + 1).
double inside(double begin, double end, int cell) {
  return std::max(0.0, std::min(end, cell + 1.0) - std::max(begin, static_cast<double>(cell)));
}

// What a letter of the picture stands for: a rectangle of times and addresses, and the buffer with most of
// it.
struct Cell {
  double used = 0;  // share of its area
  double most = 0;  // of one buffer
  char key = '+';
};

// Rows from address 0 upwards. A buffer visits the cells that it touches, with the area that it has of each.
std::vector<std::vector<Cell>> paint(const PoolView& view, const Axis& time, const Axis& address) {
  std::vector<std::vector<Cell>> cells(address.cells, std::vector<Cell>(time.cells));
  for (size_t i : view.buffers) {
    const MapBuffer& b = view.map.buffers[i];
    if (b.begin >= b.end || b.size <= 0) continue;
    const double left = time.at(b.begin), right = time.at(b.end);
    const double low = address.at(b.offset), high = address.at(b.offset + b.size);
    const auto key = view.keys.find(i);
    for (int y = address.cell(b.offset); y < address.cells && y < high; ++y) {
      for (int x = time.cell(b.begin); x < time.cells && x < right; ++x) {
        const double area = inside(left, right, x) * inside(low, high, y);
        Cell& cell = cells[y][x];
        cell.used += area;
        if (area <= cell.most) continue;
        cell.most = area;
        cell.key = key == view.keys.end() ? '+' : key->second;
      }
    }
  }
  return cells;
}

// Bytes in use: the highest of each column.
std::string live_line(const PoolView& view, const Axis& time, int64_t top) {
  constexpr std::array<std::string_view, 9> kBars = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const LiveBytes live = live_bytes(view.map, view.pool.name);
  std::vector<int64_t> highest(time.cells, 0);
  for (size_t i = 0; i + 1 < live.time.size(); ++i) {
    const double right = time.at(live.time[i + 1]);
    for (int x = time.cell(live.time[i]); x < time.cells && x < right; ++x) {
      highest[x] = std::max(highest[x], live.bytes[i]);
    }
  }
  std::string line;
  for (int64_t bytes : highest) {
    const double share = static_cast<double>(bytes) / static_cast<double>(top);
    line += kBars[std::clamp(static_cast<int>(std::ceil(share * 8)), 0, 8)];
  }
  return line;
}

std::string rule(const Axis& time) { return std::string(time.cells, '-'); }

// The first time and the last at the ends of the axis.
std::string time_labels(const Axis& time, int64_t end) {
  const std::string last = fmt::format("{}", end);
  const int gap = std::max(1, time.cells - 1 - static_cast<int>(last.size()));
  return fmt::format("{}{:{}}{}", time.begin, "", gap, last);
}

// "[g1---][g2-]" over the groups' steps, where there is room; of groups in one cell, the first.
std::string group_line(const MemoryMap& map, const Axis& time) {
  std::string line(time.cells, ' ');
  int free = 0;
  for (size_t g = 0; g < map.groups.size(); ++g) {
    const int begin = std::max(free, time.cell(map.groups[g].begin));
    const int width = time.cell(map.groups[g].end - 1) + static_cast<int>(std::max(1.0, time.scale)) - begin;
    if (width < 2 || begin + width > time.cells) continue;
    const std::string name = group_name(g);
    std::string bracket(width, '-');
    if (width >= static_cast<int>(name.size()) + 2) bracket.replace(1, name.size(), name);
    bracket.front() = '[', bracket.back() = ']';
    line.replace(begin, width, bracket);
    free = begin + width;
  }
  return line.erase(line.find_last_not_of(' ') + 1);
}

// A caret under the peak's column and the words on the side where there is room, or below it.
std::string peak_line(const PoolView& view, const Axis& time) {
  const int column = kMargin + time.cell(view.peak.time);
  const std::string title = step_title(view.map, view.peak.time);
  const std::string words =
      fmt::format("peak at step {}{}{}", view.peak.time, title.empty() ? "" : ": ", title);
  const int width = columns_of(words);
  if (column + 2 + width <= view.columns) return fmt::format("{:{}}^ {}\n", "", column, words);
  if (width < column) return fmt::format("{:{}}{} ^\n", "", column - 1 - width, words);
  const int left = std::max(kMargin, std::min(column, view.columns - width));
  return fmt::format("{:{}}^\n{:{}}{}\n", "", column, "", left, words);
}

// From the top row down; four of the rows have the address of their upper edge. Blanks at the ends of lines
// go.
std::string picture(const PoolView& view) {
  int64_t top = view.pool.size;
  for (size_t i : view.buffers) top = std::max(top, view.map.buffers[i].offset + view.map.buffers[i].size);
  if (top == 0) return {};
  const Axis time = time_axis(view);
  const Axis address{0, kRows / static_cast<double>(top), kRows};
  const auto cells = paint(view, time, address);
  std::string text;
  for (int y = kRows - 1; y >= 0; --y) {
    const bool labelled =
        y == kRows - 1 || y == kRows * 3 / 4 - 1 || y == kRows / 2 - 1 || y == kRows / 4 - 1;
    const auto upper_edge = static_cast<int64_t>(static_cast<double>(top) * (y + 1) / kRows);
    std::string row;
    for (const Cell& cell : cells[y]) row += cell.used >= 0.5 ? cell.key : cell.used > 0 ? '.' : ' ';
    row.erase(row.find_last_not_of(' ') + 1);
    text += fmt::format("{:>{}} |{}\n", labelled ? short_bytes(upper_edge) : "", kMargin - 2, row);
  }
  text += fmt::format("{:>{}} +{}\n", 0, kMargin - 2, rule(time));
  text += fmt::format("{:>{}}  {}\n", "in use", kMargin - 2, live_line(view, time, top));
  if (!view.map.groups.empty())
    text += fmt::format("{:>{}}  {}\n", "groups", kMargin - 2, group_line(view.map, time));
  text += fmt::format("{:>{}}  {}\n", "step", kMargin - 2, time_labels(time, view.end));
  return text + peak_line(view, time);
}

// "b: conv, conv_view", the name as the table shows it.
std::string names_of(const MapBuffer& buffer, const std::string& name) {
  const std::string tensors = fmt::format("{}", fmt::join(buffer.tensors, ", "));
  return buffer.name == tensors || tensors.empty() ? name : name + ": " + printable(tensors);
}

// Key, offset, size, life, rows, operator, type; the names take what is left of the line.
constexpr size_t kFields = 7;
constexpr std::array<char, kFields> kAlign = {'<', '>', '>', '<', '<', '<', '<'};
using Row = std::array<std::string, kFields + 1>;

std::string shortened(const std::string& printable_text, int columns) {
  return fitted(printable_text, std::min(columns, columns_of(printable_text)));
}

Row table_row(const PoolView& view, size_t index, const std::string& name) {
  const MapBuffer& b = view.map.buffers[index];
  return {std::string(1, view.keys.at(index)),
          grouped(b.offset),
          grouped(b.size),
          fmt::format("[{}, {})", b.begin, b.end),
          b.rows ? fmt::format("{}/{}", b.rows->kept, b.rows->total) : "",
          shortened(printable(source_of(view.map, b)), 18),
          view.columns >= kWithTypes ? shortened(type_words(b), 30) : "",
          names_of(b, name)};
}

// Columns as wide as their widest entry; those that are empty in all rows are not there.
std::string table(const PoolView& view, const std::vector<size_t>& buffers) {
  std::vector<Row> rows = {{" ", "offset", "size", "life", "rows", "from", "type", "name: tensors"}};
  if (view.columns < kWithTypes) rows[0][6].clear();
  std::vector<std::string> names;
  for (size_t i : buffers) names.push_back(printable(view.map.buffers[i].name));
  names = told_apart(std::move(names));
  for (size_t k = 0; k < buffers.size(); ++k) rows.push_back(table_row(view, buffers[k], names[k]));
  std::array<int, kFields> widths = {};
  for (const Row& row : rows) {
    for (size_t f = 0; f < kFields; ++f) widths[f] = std::max(widths[f], columns_of(row[f]));
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t f = 0; f < kFields; ++f) {
      if (widths[f] == 0) continue;
      const std::string padding(widths[f] - columns_of(row[f]), ' ');
      line += "  " + (kAlign[f] == '>' ? padding + row[f] : row[f] + padding);
    }
    const int room = std::max(12, view.columns - 2 - columns_of(line));
    text += line + "  " + shortened(row[kFields], room) + "\n";
  }
  return text;
}

int64_t sum_of_sizes(const PoolView& view, const std::vector<size_t>& buffers) {
  int64_t sum = 0;
  for (size_t i : buffers) sum += view.map.buffers[i].size;
  return sum;
}

// A table of the first of `all`, and what the rest comes to.
std::string section(const PoolView& view, const std::string& title, const std::vector<size_t>& listed,
                    size_t count, int64_t bytes) {
  if (count == 0) return {};
  std::string text = "\n" + title + "\n" + table(view, listed);
  if (count > listed.size())
    text += fmt::format("  +  and {} smaller ones, {} in all\n",
                        grouped(static_cast<int64_t>(count - listed.size())),
                        short_bytes(bytes - sum_of_sizes(view, listed)));
  return text;
}

// First what makes the pool as large as it is, then the rest.
std::string buffer_sections(const PoolView& view) {
  const std::vector<size_t>& peak = view.peak.buffers;
  const size_t count = view.buffers.size() - peak.size();
  const int64_t at_peak = sum_of_sizes(view, peak), all = sum_of_sizes(view, view.buffers);
  return section(view,
                 fmt::format("At the peak, step {}: {} bytes in {}", view.peak.time, grouped(view.peak.bytes),
                             counted(peak.size(), "buffer")),
                 view.at_peak, peak.size(), at_peak) +
         section(view, fmt::format("{}, largest first", counted(count, "other buffer")), view.others, count,
                 all - at_peak);
}

// A pool without buffers has its line and nothing else.
std::string pool_section(const MemoryMap& map, const MapPool& pool, int columns) {
  const PoolView view = view_of(map, pool, columns);
  std::string text =
      fmt::format("Pool {}: {} bytes{}, align {}, {}; {}\n", printable(pool.name), grouped(pool.size),
                  pool.capacity ? fmt::format(" of {}", grouped(*pool.capacity)) : "", pool.align,
                  counted(view.buffers.size(), "buffer"), placement_words(pool.size, pool.lower_bound));
  if (view.buffers.empty()) return text;
  return text + "\n" + picture(view) + buffer_sections(view);
}

// At most kMaxIo: a model may have hundreds.
std::string io_lines(const MemoryMap& map) {
  std::string text;
  for (size_t i = 0; i < std::min(map.io.size(), kMaxIo); ++i) {
    const MapIo& io = map.io[i];
    text += fmt::format("{:<9}{} {}[{}], {} bytes at the caller's pointer\n", name_of(io.kind),
                        printable(io.name), printable(io.type), fmt::join(io.shape, ","), grouped(io.size));
  }
  if (map.io.size() > kMaxIo)
    text += fmt::format("{:9}and {} more inputs and outputs\n", "", map.io.size() - kMaxIo);
  return text;
}

// "order    49,152 bytes live in whole layers, 61,440 in the file's order; no order has less (proved)"
//
// Where groups did better with the file's order:
//
//   "order    61,440 bytes live in whole layers, as in the file's order
//             49,152 in the best order found; no order has less (proved)"
std::string order_line(const MemoryMap& map) {
  if (!map.order) return {};
  const MapOrder& order = *map.order;
  std::string line = fmt::format("order    {} bytes live in whole layers, ", grouped(order.peak));
  line += order.file_peak == order.peak ? "as in the file's order"
                                        : fmt::format("{} in the file's order", grouped(order.file_peak));
  if (0 < order.found_peak && order.found_peak < order.peak)
    line += fmt::format("\n{:9}{} in the best order found", "", grouped(order.found_peak));
  const std::string known = order_words(order);
  return line + (known.empty() ? "" : "; " + known) + "\n";
}

// "cycles   8.9M on cortex-m4, estimated"
std::string cycles_line(const MemoryMap& map) {
  if (map.totals.cycles == 0) return {};
  return fmt::format("cycles   about {} on {}, estimated\n", short_count(map.totals.cycles), map.target);
}

std::string stack_line(const MemoryMap& map) {
  if (map.totals.stack == 0) return {};
  return fmt::format("stack    at most {}\n", bytes_words(map.totals.stack));
}

std::string search_line(const MemoryMap& map) {
  return map.cut_off ? "search   cut off by --time: given more, there may be a smaller arena\n" : "";
}

std::string tool_line(const MemoryMap& map) {
  return map.tool.empty() ? "" : fmt::format("made by  {}\n", tool_words(map));
}

// The steps of each group, by its first and its last.
std::string group_section(const MemoryMap& map, int columns) {
  std::string text;
  for (size_t g = 0; g < std::min(map.groups.size(), kMaxGroups); ++g) {
    const auto& [begin, end] = map.groups[g];
    const std::string steps = fmt::format("  {:<4} steps [{}, {})  ", group_name(g), begin, end);
    const int room = std::max(12, (columns - columns_of(steps) - 4) / 2);
    text += fmt::format("{}{} to {}\n", steps, shortened(step_title(map, begin), room),
                        shortened(step_title(map, end - 1), room));
  }
  if (map.groups.size() > kMaxGroups) text += fmt::format("  and {} more\n", map.groups.size() - kMaxGroups);
  return text.empty() ? text : "\nGroups, whose steps run a few rows at a time\n" + text;
}

// Where the time goes:
//
//   Steps by estimated cycles on cortex-m4
//     step  cycles  share   MACs  node
//       2     2.5M    29%   512K  block1_pointwise (QLinearConv)
std::string step_section(const MemoryMap& map, int columns) {
  if (map.totals.cycles == 0) return {};
  std::vector<size_t> steps(map.steps.size());
  std::iota(steps.begin(), steps.end(), 0);
  std::stable_sort(steps.begin(), steps.end(),
                   [&](size_t a, size_t b) { return map.steps[a].cycles > map.steps[b].cycles; });
  std::string text = fmt::format("\nSteps by estimated cycles on {}\n  {:>5}{:>8}{:>7}{:>8}  node\n",
                                 map.target, "step", "cycles", "share", "MACs");
  const size_t listed = steps.size() <= kAllStepsUpTo ? steps.size() : kLongestSteps;
  for (size_t k = 0; k < listed; ++k) {
    const MapStep& step = map.steps[steps[k]];
    const double share = 100.0 * static_cast<double>(step.cycles) / static_cast<double>(map.totals.cycles);
    text += fmt::format("  {:>5}{:>8}{:>6.1f}%{:>8}  {}\n", step.time, short_count(step.cycles), share,
                        short_count(step.macs), shortened(step_title(map, step.time), columns - 30));
  }
  if (listed < steps.size())
    text += fmt::format("  and {} more\n", grouped(static_cast<int64_t>(steps.size() - listed)));
  return text;
}

// "; 432 in itcm, 9,216 in qspi" where constants lie in several memories; "; 432 in dtcm copied from flash,
// 9,648 in flash" where these 432 lie in both.
std::string constant_pools_words(const MemoryMap& map) {
  std::map<std::string, int64_t> bytes;
  std::map<std::string, std::string> sources;
  for (const MapConstant& constant : map.constants) {
    bytes[constant.pool] += constant.size;
    if (constant.copied_from.empty()) continue;
    bytes[constant.copied_from] += constant.size;
    sources[constant.pool] = " copied from " + printable(constant.copied_from);
  }
  if (bytes.size() < 2) return "";
  std::vector<std::string> words;
  for (const auto& [pool, size] : bytes)
    words.push_back(fmt::format("{} in {}{}", grouped(size), printable(pool), sources[pool]));
  return fmt::format("; {}", fmt::join(words, ", "));
}

// The facts of the whole map, a line each; lines of what is not known are left out.
std::string header(const MemoryMap& map) {
  const MapTotals& totals = map.totals;
  std::string arena = bytes_words(totals.arena);
  if (totals.layerwise_arena > totals.arena && totals.arena > 0) {
    arena += fmt::format(", {:.1f} times less than the arena of whole layers ({})",
                         static_cast<double>(totals.layerwise_arena) / static_cast<double>(totals.arena),
                         grouped(totals.layerwise_arena));
  }
  return fmt::format(
             "{}\nsha256   {}\narena    {}\nweights  {} in {}{}\nwork     {} multiply-accumulates{} in {}\n",
             printable(map.model), printable(map.sha256), arena, bytes_words(totals.weights),
             counted(map.constants.size(), "constant"), constant_pools_words(map), short_count(totals.macs),
             totals.macs_again > 0 ? fmt::format(", {} of them again,", short_count(totals.macs_again)) : "",
             counted(map.steps.size(), "step")) +
         cycles_line(map) + stack_line(map) + order_line(map) + search_line(map) + tool_line(map) +
         io_lines(map);
}

// The last word on width, for names and numbers beyond all expectation.
std::string laid_out(const std::string& text, int columns) {
  constexpr int kMostLines = 6;  // of a name
  std::string result;
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    result +=
        wrapped(shortened(text.substr(begin, end - begin), kMostLines * columns), columns, kIndent) + "\n";
  return result;
}

}  // namespace

// From the whole to the parts; what a section has not to say is left out. ASCII is made at the end, of the
// same text.
std::string text_report(const MemoryMap& map, const TextStyle& style) {
  const int columns = std::clamp(style.columns, kLeastColumns, kMostColumns);
  std::string text = header(map);
  for (const MapPool& pool : map.pools) text += "\n" + pool_section(map, pool, columns);
  text += group_section(map, columns) + step_section(map, columns);
  if (!map.frontier.empty()) text += "\n" + frontier_text(map);
  text = laid_out(text, columns);
  return style.charset == Charset::kAscii ? in_ascii(text) : text;
}

std::string text_report(const MemoryMap& map) { return text_report(map, {}); }

}  // namespace arenac
