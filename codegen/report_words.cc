#include "codegen/report_words.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace arenac {
namespace {

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

bool is_harmless(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
  const bool turns =
      c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return !control && !turns && c != 0xfffe && c != 0xffff;  // the last two are no characters of XML
}

int columns_of(char32_t c) { return c >= 0x1100 && !(c >= 0x2000 && c < 0x2e80) && c != 0xfffd ? 2 : 1; }

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

std::string fitted(std::string_view printable_text, int columns) {
  const int width = columns_of(printable_text);
  if (width <= columns) return std::string(printable_text) + std::string(columns - width, ' ');
  const std::vector<CodePoint> points = code_points(printable_text);
  std::string head, tail;
  size_t first = 0, last = points.size();  // points [first, last) are cut out
  int left = columns - 1;                  // one for the ellipsis
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

std::string grouped(int64_t number) {
  std::string digits = fmt::format("{}", number);
  for (int at = static_cast<int>(digits.size()) - 3; at > (number < 0); at -= 3) digits.insert(at, ",");
  return digits;
}

std::string short_bytes(int64_t bytes) { return scaled(bytes, 1024); }
std::string short_count(int64_t count) { return scaled(count, 1000); }

std::string bytes_words(int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  return fmt::format("{} bytes ({})", grouped(bytes), short_bytes(bytes));
}

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(static_cast<int64_t>(count)), noun, count == 1 ? "" : "s");
}

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

std::string group_name(std::optional<size_t> group) {
  return group ? fmt::format("g{}", *group + 1) : std::string();
}

std::string step_title(const MemoryMap& map, int64_t time) {
  if (time < 0 || time >= static_cast<int64_t>(map.steps.size())) return {};
  const MapStep& step = map.steps[time];
  return printable(fmt::format("{} ({})", step.node, step.op));
}

}  // namespace arenac
