#include "codegen/report_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace arenac {
namespace {

// A letter of UTF-8 and its bytes, for all that counts or cuts: a cut between bytes would be no letter.
struct CodePoint {
  char32_t value;
  std::string_view bytes;
};

// `text` is valid UTF-8.
std::vector<CodePoint> code_points(std::string_view text) {
  std::vector<CodePoint> points;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    char32_t value = length == 1 ? lead : lead & (0x7f >> length);
    for (size_t k = 1; k < length; ++k) value = value << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3f);
    points.push_back({value, text.substr(i, length)});
    i += length;
  }
  return points;
}

// Controls steer terminals, marks of direction show text in another order than it has (CVE-2021-42574), and
// line separators end a line.
bool is_harmless(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
  const bool turns =
      c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return !control && !turns && c != 0xfffe && c != 0xffff;  // the last two are no characters of XML
}

// East Asian letters from Hangul on and emoji take two columns; punctuation, arrows, bars and braille (0x2000
// to 0x2e7f) one. A rule of thumb in place of Unicode's table.
int columns_of(char32_t c) { return c >= 0x1100 && !(c >= 0x2000 && c < 0x2e80) && c != 0xfffd ? 2 : 1; }

// One decimal always, so that columns of numbers line up.
std::string scaled(int64_t number, double base) {
  constexpr std::string_view kSuffixes = "KMGTPE";
  if (static_cast<double>(number) < base) return fmt::format("{}", number);
  double value = static_cast<double>(number);
  size_t power = 0;
  while (value >= base && power < kSuffixes.size()) value /= base, ++power;
  return fmt::format("{:.1f}{}", value, kSuffixes[power - 1]);
}

}  // namespace

std::string printable(std::string_view name) {
  using nlohmann::json;  // its writer knows UTF-8: what it writes is valid
  const std::string quoted = json(name).dump(-1, ' ', false, json::error_handler_t::replace);
  const std::string valid = json::parse(quoted).get<std::string>();
  std::string text;
  for (const CodePoint& point : code_points(valid)) text += is_harmless(point.value) ? point.bytes : "\uFFFD";
  return text;
}

int columns_of(std::string_view printable_text) {
  int columns = 0;
  for (const CodePoint& point : code_points(printable_text)) columns += columns_of(point.value);
  return columns;
}

// Greedily, a letter at a time. A word that is wider than a line is cut where the line ends.
std::string wrapped(std::string_view printable_text, int columns, int indent) {
  std::string text, line;
  int width = 0;          // of the line
  size_t last_blank = 0;  // of the line, behind the indentation; 0: none
  for (const CodePoint& point : code_points(printable_text)) {
    if (width + columns_of(point.value) > columns) {
      const size_t cut = last_blank > 0 ? last_blank : line.size();
      text += line.substr(0, cut) + "\n";
      line = std::string(indent, ' ') + line.substr(std::min(line.size(), cut + (last_blank > 0)));
      width = columns_of(line);
      last_blank = 0;
    }
    if (point.value == ' ' && line.size() > static_cast<size_t>(indent)) last_blank = line.size();
    line += point.bytes;
    width += columns_of(point.value);
  }
  return text + line;
}

// For terminals whose locale is not UTF-8. A letter stays a letter, so that columns stay where they are (but
// for wide ones).
std::string in_ascii(std::string_view printable_text) {
  constexpr char32_t kFirstBar = 0x2581, kEllipsis = 0x2026;
  constexpr std::string_view kBars = ".:-=+*%#";
  std::string text;
  for (const CodePoint& point : code_points(printable_text)) {
    const char32_t c = point.value;
    if (c < 0x80)
      text += point.bytes;
    else if (c >= kFirstBar && c < kFirstBar + kBars.size())
      text += kBars[c - kFirstBar];
    else
      text += c == kEllipsis ? '~' : '?';
  }
  return text;
}

// The front half and the back half of the columns, an ellipsis between: names of one model begin alike and
// end alike. Where a wide letter does not fit the last column a blank stands for it.
//
//   fitted("model/encoder/layer_3/attention", 16)      "model/e…ttention"
std::string fitted(std::string_view printable_text, int columns) {
  const int width = columns_of(printable_text);
  if (width <= columns) return std::string(printable_text) + std::string(columns - width, ' ');
  const std::vector<CodePoint> points = code_points(printable_text);
  std::string head, tail;
  size_t first = 0, last = points.size();  // points [first, last) are cut out
  int left = columns - 1;                  // one for the ellipsis
  // The head takes what leaves half of the columns for the tail.
  while (first < last && columns_of(points[first].value) <= left - columns / 2) {
    left -= columns_of(points[first].value);
    head += points[first++].bytes;
  }
  while (first < last && columns_of(points[last - 1].value) <= left) {
    left -= columns_of(points[--last].value);
    tail.insert(0, points[last].bytes);
  }
  return head + "…" + tail + std::string(left, ' ');
}

// Always commas, whatever the locale: reports are compared byte by byte.
std::string grouped(int64_t number) {
  std::string digits = fmt::format("{}", number);
  for (int at = static_cast<int>(digits.size()) - 3; at > (number < 0); at -= 3) digits.insert(at, ",");
  return digits;
}

std::string short_bytes(int64_t bytes) { return scaled(bytes, 1024); }
// Eighths of a unit have at most three decimals: labels of an axis that steps by powers of two are exact.
std::string exact_bytes(int64_t bytes) {
  constexpr std::string_view kSuffixes = "PTGMK";
  for (size_t i = 0; i < kSuffixes.size(); ++i) {
    const int64_t unit = int64_t{1} << 10 * (kSuffixes.size() - i);
    if (bytes >= unit && bytes % (unit / 8) == 0)
      return fmt::format("{}{}", static_cast<double>(bytes) / static_cast<double>(unit), kSuffixes[i]);
  }
  return grouped(bytes);
}

std::string short_count(int64_t count) { return scaled(count, 1000); }

std::string bytes_words(int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  return fmt::format("{} bytes ({})", grouped(bytes), short_bytes(bytes));
}

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(static_cast<int64_t>(count)), noun, count == 1 ? "" : "s");
}

std::string placement_words(int64_t size, int64_t lower_bound, size_t pools) {
  const std::string_view placed = pools > 1 ? "these lifetimes in these pools" : "these lifetimes";
  if (size == lower_bound) return fmt::format("no placement of {} is smaller (proved)", placed);
  return fmt::format("every placement of {} takes at least {} byte{}", placed, grouped(lower_bound),
                     lower_bound == 1 ? "" : "s");
}

// Of all pools together: proven only where each is.
std::string placement_words(const std::vector<MapPool>& pools) {
  int64_t size = 0, lower_bound = 0;
  for (const MapPool& pool : pools) {
    size += pool.size;
    lower_bound += pool.lower_bound;
  }
  return placement_words(size, lower_bound, pools.size());
}

// A bound of 0 says that none is known.
std::string order_words(const MapOrder& order) {
  if (order.proven) return "no order has less (proved)";
  return order.lower_bound > 0 ? fmt::format("at least {} in any", grouped(order.lower_bound)) : "";
}

// The five characters of XML; in attributes, too.
std::string escaped(std::string_view name) {
  std::string text;
  for (char c : printable(name)) {
    switch (c) {
      case '&':
        text += "&amp;";
        break;
      case '<':
        text += "&lt;";
        break;
      case '>':
        text += "&gt;";
        break;
      case '"':
        text += "&quot;";
        break;
      case '\'':
        text += "&#39;";
        break;
      default:
        text += c;
    }
  }
  return text;
}

// States and inputs have been there before any step, whoever writes them afterwards.
std::string source_of(const MemoryMap& map, const MapBuffer& buffer) {
  const bool known = buffer.writer && *buffer.writer < static_cast<int64_t>(map.steps.size());
  const bool outside = buffer.kind == BufferKind::kInput || buffer.kind == BufferKind::kState;
  return known && !outside ? map.steps[*buffer.writer].op : std::string(name_of(buffer.kind));
}

std::string type_words(const MapBuffer& buffer) {
  return buffer.type.empty() ? ""
                             : printable(fmt::format("{}[{}]", buffer.type, fmt::join(buffer.shape, ",")));
}

// Only where digits follow "_output_": a tensor may be called so by a person.
std::string without_ending(std::string name) {
  constexpr std::string_view kEnding = "_output_";
  const size_t end = name.find_last_not_of("0123456789") + 1;
  if (kEnding.size() < end && end < name.size() && name.substr(0, end).ends_with(kEnding))
    name.resize(end - kEnding.size());
  return name;
}

// Up to the last '/' of the part that all share, so that no word is cut. Endings stay where two names would
// become one without them.
std::vector<std::string> told_apart(std::vector<std::string> printable_names) {
  std::vector<std::string>& names = printable_names;
  if (names.empty()) return names;
  size_t common = names[0].size();
  for (const std::string& name : names)
    common =
        std::mismatch(name.begin(), name.begin() + std::min(common, name.size()), names[0].begin()).first -
        name.begin();
  const size_t slash = names[0].substr(0, common).rfind('/');
  const size_t path = names.size() < 2 || slash == std::string::npos ? 0 : slash + 1;
  std::vector<std::string> stripped;
  for (const std::string& name : names) stripped.push_back(without_ending(name));
  const auto distinct = [](const auto& list) {
    return std::set<std::string>(list.begin(), list.end()).size();
  };
  if (distinct(stripped) == distinct(names)) names = std::move(stripped);
  for (std::string& name : names)
    if (0 < path && path < name.size()) name.replace(0, path, "…");
  return names;
}

std::string tool_words(const MemoryMap& map) {
  return printable(map.options.empty() ? map.tool : fmt::format("{}, {}", map.tool, map.options));
}

std::string group_name(std::optional<size_t> group) {
  return group ? fmt::format("g{}", *group + 1) : std::string();
}

// As a node is called in all reports: its name, and the operator in parentheses.
std::string step_title(const MemoryMap& map, int64_t time) {
  if (time < 0 || time >= static_cast<int64_t>(map.steps.size())) return {};
  const MapStep& step = map.steps[time];
  return printable(fmt::format("{} ({})", step.node, step.op));
}

}  // namespace arenac
