#include "codegen/c_ramp.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace arenac {
namespace {

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

struct Line {
  int64_t num, den, add;
  int64_t at(int64_t t) const { return (num * t + add) / den; }  // as C divides
};

// The line that is `values` where they are between their extremes, and beyond those where they are extreme.
std::optional<Line> line_through(const std::vector<int64_t>& values, int64_t num, int64_t den) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  int64_t low = INT64_MIN / 4, high = INT64_MAX / 4;  // of add
  for (int64_t t = 0; t < static_cast<int64_t>(values.size()); ++t) {
    const int64_t v = values[t];
    if (v > *least) low = std::max(low, den * v - num * t);
    if (v < *most) high = std::min(high, den * (v + 1) - 1 - num * t);
  }
  if (low > high) return std::nullopt;
  const Line line{num, den, std::clamp<int64_t>(0, low, high)};
  for (int64_t t = 0; t < static_cast<int64_t>(values.size()); ++t)
    if (std::clamp(line.at(t), *least, *most) != values[t]) return std::nullopt;
  return line;
}

std::string text_of(const Line& line, const std::string& index) {
  std::string sum = line.num == 1 ? index : fmt::format("{} * {}", line.num, index);
  if (line.add != 0) sum += fmt::format(" {} {}", line.add < 0 ? '-' : '+', std::abs(line.add));
  if (line.den == 1) return sum;
  if (line.num == 1 && line.add == 0) return fmt::format("{} / {}", sum, line.den);
  return fmt::format("({}) / {}", sum, line.den);
}

}  // namespace

CRamp c_ramp(const std::vector<int64_t>& values, const std::string& index, const std::string& table) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*least == *most) return {"", fmt::format("{}", *least)};
  const auto last = static_cast<int64_t>(values.size()) - 1;
  const int64_t slope = floor_div(*most - *least + last - 1, last);
  for (int64_t den = 1; den <= 8; ++den)
    for (int64_t num = 1; num <= std::max<int64_t>(8, slope); ++num) {
      const auto line = line_through(values, num, den);
      if (!line) continue;
      std::string text = text_of(*line, index);
      const std::string raw = text;
      if (line->at(last) > *most) text = fmt::format("{} < {} ? {} : {}", raw, *most, raw, *most);
      if (line->at(0) < *least && *least >= 0)
        text = fmt::format("{} < {} ? {} : {}", raw, *least, *least, text);
      return {"", text};
    }
  return {fmt::format("static const int {}[{}] = {{{}}};", table, values.size(), fmt::join(values, ", ")),
          fmt::format("{}[{}]", table, index)};
}

}  // namespace arenac
