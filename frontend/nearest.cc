#include "frontend/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace arenac {
namespace {

constexpr size_t kLongest = 200;  // letters of a word that somebody typed
constexpr size_t kMostListed = 50;

std::string lower_case(std::string_view word) {
  std::string text(word);
  for (char& c : text)
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// The optimal string alignment distance, row by row of its table.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

// How many letters both begin with.
size_t same_beginning(const std::string& a, const std::string& b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

// The greatest distance at which two words are near.
size_t reach(const std::string& a, const std::string& b) {
  const size_t longer = std::max(a.size(), b.size()), shorter = std::min(a.size(), b.size());
  const bool begins = shorter >= 3 && (a.starts_with(b) || b.starts_with(a));
  return begins ? longer - shorter : std::min(std::max<size_t>(longer / 3, 1), shorter - (shorter > 0));
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  const std::string typed = lower_case(word.substr(0, kLongest));
  std::string nearest;
  size_t least = kLongest, most_alike = 0;
  for (const std::string& candidate : known) {
    const std::string other = lower_case(candidate);
    const size_t most = std::min(reach(typed, other), least);
    const size_t longer = std::max(typed.size(), other.size());
    if (other.size() > kLongest || longer - std::min(typed.size(), other.size()) > most) continue;
    const size_t off = distance(typed, other);
    const size_t alike = same_beginning(typed, other);
    if (off > most || (!nearest.empty() && off == least && alike <= most_alike)) continue;
    nearest = candidate;
    least = off;
    most_alike = alike;
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string nearest = nearest_word(word, known);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

std::string did_you_mean_or_all(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = did_you_mean(word, known);
  if (!near.empty() || known.empty()) return near;
  const auto listed = static_cast<std::ptrdiff_t>(std::min(known.size(), kMostListed));
  return fmt::format("; there {}: {}{}", known.size() == 1 ? "is" : "are",
                     fmt::join(known.begin(), known.begin() + listed, ", "),
                     known.size() > kMostListed ? ", ..." : "");
}

}  // namespace arenac
