// The word that a mistyped one was most likely meant as.
//
//   nearest_word("bacth", {"batch", "sequence"})              -> "batch"
//   did_you_mean("bacth", {"batch", "sequence"})              -> "; did you mean batch?"
//   did_you_mean("frames", {"batch", "sequence"})             -> ""
//   did_you_mean_or_all("frames", {"batch", "sequence"})      -> "; there are: batch, sequence"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace arenac {

// Of the words known the one with the fewest letters left out, added, changed or exchanged with their
// neighbours, whatever their case: a third of the letters at most. A beginning of three letters or more also
// is near. Of equally near words that which begins with more of the same letters, then the first; empty if
// none is near.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

// The end of a message about a word that is not known; empty if none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

// The same, but where none is near the words that there are.
std::string did_you_mean_or_all(std::string_view word, const std::vector<std::string>& known);

}  // namespace arenac
