#include "codegen/c_ramp.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "frontend/facts.h"

namespace arenac {
namespace {

// A line, and its quotients: 2 * t + 1, (t + 3) / 2. That is how far a producer has to have run before slab t
// of a stage with a window and a stride.
struct Line {
  int64_t num, den, add;
  int64_t at(int64_t t) const { return (num * t + add) / den; }  // as C divides
};

// Values of an index from `first` on.
struct Tail {
  const std::vector<int64_t>& values;
  int64_t first;
  int64_t last = static_cast<int64_t>(values.size()) - 1;
  int64_t least = *std::min_element(values.begin() + first, values.end());
  int64_t most = *std::max_element(values.begin() + first, values.end());
};

// The line that is the values where they are between their extremes, and beyond those where they are extreme.
//
//   at(t) >= v  where v > least   num * t + add >= den * v           a lower limit of add
//   at(t) <= v  where v < most    num * t + add < den * (v + 1)      an upper limit of add
//
// At an extreme one of the two is not asked for: the clamp does it. Any add between the limits is right, and
// the one nearest to 0 is shortest. The limits are those of a division that rounds down, C's rounds towards
// zero: so the result is tried.
std::optional<Line> line_through(const Tail& tail, int64_t num, int64_t den) {
  int64_t low = INT64_MIN / 4, high = INT64_MAX / 4;  // of add
  for (int64_t t = tail.first; t <= tail.last; ++t) {
    const int64_t v = tail.values[t];
    if (v > tail.least) low = std::max(low, den * v - num * t);
    if (v < tail.most) high = std::min(high, den * (v + 1) - 1 - num * t);
  }
  if (low > high) return std::nullopt;
  const Line line{num, den, std::clamp<int64_t>(0, low, high)};
  for (int64_t t = tail.first; t <= tail.last; ++t)
    if (std::clamp(line.at(t), tail.least, tail.most) != tail.values[t]) return std::nullopt;
  return line;
}

// Of the operators +, * and / on ints alone; it can stand on either side of a comparison.
std::string text_of(const Line& line, const std::string& index) {
  std::string sum = line.num == 1 ? index : fmt::format("{} * {}", line.num, index);
  if (line.add != 0) sum += fmt::format(" {} {}", line.add < 0 ? '-' : '+', std::abs(line.add));
  if (line.den == 1) return sum;
  if (line.num == 1 && line.add == 0) return fmt::format("{} / {}", sum, line.den);
  return fmt::format("({}) / {}", sum, line.den);
}

// clamp((num * t + add) / den, least, most) with the first small num and den that give the values. The clamp
// on a side is left out where the line does not go beyond it (lines rise: its ends say so), and below where
// the least is negative, as what it stands for then is "none". num goes up to the table's mean slope (or 8),
// den to 8: steeper or flatter ones are tables.
std::optional<std::string> clamped_line(const Tail& tail, const std::string& index) {
  if (tail.least == tail.most) return fmt::format("{}", tail.least);
  const int64_t steps = tail.last - tail.first, slope = floor_div(tail.most - tail.least + steps - 1, steps);
  for (int64_t den = 1; den <= 8; ++den)
    for (int64_t num = 1; num <= std::max<int64_t>(8, slope); ++num) {
      const auto line = line_through(tail, num, den);
      if (!line) continue;
      std::string text = text_of(*line, index);
      const std::string raw = text;
      if (line->at(tail.last) > tail.most)
        text = fmt::format("{} < {} ? {} : {}", raw, tail.most, raw, tail.most);
      if (line->at(tail.first) < tail.least && tail.least >= 0)
        text = fmt::format("{} < {} ? {} : {}", raw, tail.least, tail.least, text);
      return text;
    }
  return std::nullopt;
}

}  // namespace

// Pulls begin with a run-in: the first slab of a stage takes what a window needs, each one after it a stride
// more. So all values but the first are a line more often than all are.
CRamp c_ramp(const std::vector<int64_t>& values, const std::string& index, const std::string& table) {
  const Tail all{values, 0};
  if (const auto text = clamped_line(all, index)) return {"", *text, all.least < all.most};
  if (const auto text = clamped_line({values, 1}, index))
    return {"", fmt::format("{} == 0 ? {} : {}", index, values[0], *text), true};
  return {fmt::format("static const int {}[{}] = {{{}}};", table, values.size(), fmt::join(values, ", ")),
          fmt::format("{}[{}]", table, index), true};
}

}  // namespace arenac
