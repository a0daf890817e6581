#include "frontend/bindings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string.hpp>
#include <optional>

#include "frontend/error.h"
#include "frontend/importer.h"

namespace arenac {
namespace {

using Dims = std::map<std::string, int64_t>;

// Dimensions without a name of their own: --dim cannot tell them apart, so a whole --shape of their input is
// what binds them.
bool is_unnamed(const std::string& symbol) { return symbol.empty() || symbol == "?"; }

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_any(const std::string& text, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return text.find(part) != text.npos; });
}

// "batch", "batch_size"; not "batch * heads", which is no batch alone.
bool says_batch(const std::string& symbol) {
  const std::string lower = boost::to_lower_copy(symbol);
  return lower.find("batch") != lower.npos && !has_any(lower, {" ", "*", "+"});
}

// Names that exporters give to what is, in front, a batch: unk__12 is tf2onnx's.
bool may_be_batch(const std::string& symbol) {
  const std::string lower = boost::to_lower_copy(symbol);
  return is_unnamed(symbol) || says_batch(symbol) || is_one_of(lower, {"n", "b", "bs", "none", "-1"}) ||
         lower.starts_with("unk__") || lower.ends_with("dynamicdimension.0");
}

// A dimension of an input; `input` outlives it.
struct Place {
  const Declaration* input;
  size_t dim;

  const std::string& symbol() const { return input->symbols[dim]; }
};

// Whether its dimensions are asked for at all: those of sequences and of what is bound as a whole are not.
bool is_asked_for(const Declaration& input, const ImportOptions& options) {
  return !input.is_sequence && !options.shapes.contains(input.name) && !options.absent.contains(input.name);
}

// "x=1x3x224x224", quoted for a shell.
std::string binding(const std::string& name, const Shape& shape) {
  return shell_quoted(fmt::format("{}={}", name, fmt::join(shape, "x")));
}

// What the options do not bind, in the order of the inputs. A name that occurs in several places is there as
// often.
std::vector<Place> open_places(const std::vector<Declaration>& inputs, const ImportOptions& options) {
  std::vector<Place> open;
  for (const Declaration& input : inputs) {
    if (!is_asked_for(input, options)) continue;
    for (size_t d = 0; d < input.extents.size(); ++d)
      if (input.extents[d] < 0 && (is_unnamed(input.symbols[d]) || !options.dims.contains(input.symbols[d])))
        open.push_back({&input, d});
  }
  return open;
}

// Names of symbolic dimensions that shapes of whole inputs bind:
//
//   ids [batch, seq], mask [batch, seq], --shape ids=1x64    ->    batch 1, seq 64, which binds mask, too
void bind_by_shapes(const std::vector<Declaration>& inputs, ImportOptions& options) {
  for (const Declaration& input : inputs) {
    const auto shape = options.shapes.find(input.name);
    if (shape == options.shapes.end() || shape->second.size() != input.extents.size()) continue;
    for (size_t d = 0; d < input.extents.size(); ++d)
      if (input.extents[d] < 0 && !is_unnamed(input.symbols[d]))
        options.dims.emplace(input.symbols[d], shape->second[d]);
  }
}

// Extents of the places of one input without a name.
using Unnamed = std::map<std::pair<std::string, size_t>, int64_t>;

// Whole shapes for the inputs whose unnamed dimensions have extents, where the others have, too. An input
// without unnamed ones needs none: --dim says it all.
void bind_whole(const std::vector<Declaration>& inputs, const Unnamed& unnamed, ImportOptions& options) {
  for (const Declaration& input : inputs) {
    if (!is_asked_for(input, options)) continue;
    bool needed = false, known = true;
    Shape shape;
    for (size_t d = 0; d < input.extents.size(); ++d) {
      const bool nameless = input.extents[d] < 0 && is_unnamed(input.symbols[d]);
      const auto here = unnamed.find({input.name, d});
      const auto named = options.dims.find(input.symbols[d]);
      needed |= nameless;
      known &= input.extents[d] >= 0 || (nameless ? here != unnamed.end() : named != options.dims.end());
      if (known)
        shape.push_back(input.extents[d] >= 0 ? input.extents[d] : nameless ? here->second : named->second);
    }
    if (needed && known) options.shapes[input.name] = shape;
  }
}

// "past + 1": the sum of what its parts are, where all are known. PyTorch writes a total length so.
std::optional<int64_t> sum_of(const std::string& symbol, const Dims& dims) {
  std::vector<std::string> parts;
  boost::split(parts, symbol, boost::is_any_of("+"));
  int64_t sum = 0;
  for (std::string& part : parts) {
    boost::trim(part);
    const bool whole = !part.empty() && part.size() < 10 && boost::all(part, boost::is_digit());
    if (!whole && !dims.contains(part)) return {};
    sum += whole ? std::stoll(part) : dims.at(part);
  }
  return parts.size() > 1 ? std::optional(sum) : std::nullopt;
}

// what a dimension most likely counts
enum class Meaning : uint8_t { kBatch, kChannels, kImage, kSamples, kSteps };

// From the surest sign to the vaguest: the dimension's own name, the input's name, how many dimensions there
// are. Of four dimensions the first is the batch and all others are sides of an image, but for the second one
// of [?, ?, ?, ?], which is the channels.
Meaning meaning_of(const Place& place) {
  const std::string lower = boost::to_lower_copy(place.symbol());
  const std::vector<int64_t>& extents = place.input->extents;
  if (says_batch(lower) || (place.dim == 0 && may_be_batch(lower))) return Meaning::kBatch;
  const std::string name = boost::to_lower_copy(place.input->name);
  const bool is_state = has_any(name, {"state", "hidden", "cell"}) || is_one_of(name, {"h", "c", "h0", "c0"});
  if (is_state && extents.size() == 3 && place.dim == 1) return Meaning::kBatch;  // [layers, batch, units]
  if (has_any(lower, {"channel"})) return Meaning::kChannels;
  if (has_any(lower, {"height", "width"}) || is_one_of(lower, {"h", "w"})) return Meaning::kImage;
  if (has_any(lower, {"sample", "audio", "wave"}) || has_any(name, {"audio", "wav", "signal", "pcm"}))
    return Meaning::kSamples;
  if (extents.size() != 4 || has_any(lower, {"seq", "len", "time", "frame", "token", "past"}))
    return place.dim == 0 ? Meaning::kBatch : Meaning::kSteps;
  const bool all_open = extents[1] < 0 && extents[2] < 0 && extents[3] < 0;
  return place.dim == 0 ? Meaning::kBatch : place.dim == 1 && all_open ? Meaning::kChannels : Meaning::kImage;
}

// An image is most often as high as it is wide: another extent of the input that can be a side (channels are
// at most 4).
int64_t extent_beside(const Place& place, int64_t otherwise) {
  const std::vector<int64_t>& extents = place.input->extents;
  for (size_t d = 1; d < extents.size(); ++d)
    if (extents[d] > 4 && extents.size() == 4) return extents[d];
  return otherwise;
}

// 16000 samples are a second of speech.
int64_t likely_extent(const Place& place) {
  switch (meaning_of(place)) {
    case Meaning::kBatch:
      return 1;
    case Meaning::kChannels:
      return 3;
    case Meaning::kImage:
      return extent_beside(place, 224);
    case Meaning::kSamples:
      return 16000;
    case Meaning::kSteps:
      return 128;
  }
  internal_error(__FILE__, __LINE__, "unknown meaning");
}

// Everything bound: `size` for what is neither batch nor channels, 0: what is likely. Sums come last, when
// the dimensions that they add have extents.
ImportOptions all_bound(const std::vector<Declaration>& inputs, ImportOptions options, int64_t size) {
  Unnamed unnamed;
  const std::vector<Place> open = open_places(inputs, options);
  const auto extent = [&](const Place& place) {
    const Meaning meaning = meaning_of(place);
    return size == 0 || meaning == Meaning::kBatch || meaning == Meaning::kChannels ? likely_extent(place)
                                                                                    : size;
  };
  std::vector<Place> sums;
  for (const Place& place : open) {
    if (is_unnamed(place.symbol()))
      unnamed[{place.input->name, place.dim}] = extent(place);
    else if (place.symbol().find('+') != std::string::npos)
      sums.push_back(place);
    else
      options.dims.emplace(place.symbol(), extent(place));
  }
  for (const Place& place : sums)
    options.dims.emplace(place.symbol(), sum_of(place.symbol(), options.dims).value_or(extent(place)));
  bind_whole(inputs, unnamed, options);
  return options;
}

// In the order in which a model of its kind is likely to take them: first the likely extents, then sides of
// images that networks are trained for, then smaller powers of two and lengths.
constexpr std::array<int64_t, 16> kSizes = {0,   224, 256, 320, 640,   512, 576, 192,
                                            128, 96,  64,  32,  16000, 16,  8,   1};

}  // namespace

// A program runs for one batch, nearly always of 1, so that a missing --dim for it is no error but a note.
// Anything else would be a guess at the shape of the data.
Bindings with_batch_bound(const std::vector<Declaration>& inputs, ImportOptions options) {
  bind_by_shapes(inputs, options);
  const std::vector<Place> open = open_places(inputs, options);
  std::map<std::string, bool> leads;  // named ones: whether they are nowhere but in front
  for (const Place& place : open) {
    const auto at = leads.emplace(place.symbol(), true).first;
    at->second = at->second && place.dim == 0;
  }
  const bool only = leads.size() == 1;
  Bindings bound{std::move(options), {}};
  Unnamed unnamed;
  for (const Place& place : open) {
    const std::string& symbol = place.symbol();
    if (is_unnamed(symbol)) {
      if (place.dim == 0) unnamed[{place.input->name, 0}] = 1;
      continue;
    }
    const bool in_front = leads.at(symbol);
    if (!says_batch(symbol) && !(in_front && (only || may_be_batch(symbol)))) continue;
    if (bound.options.dims.emplace(symbol, 1).second)
      bound.notes.push_back(fmt::format("dimension '{0}' of input '{1}' is bound to 1; --dim {2} changes it",
                                        printable(symbol), printable(place.input->name),
                                        shell_quoted(printable(symbol) + "=N")));
  }
  const auto before = bound.options.shapes;
  bind_whole(inputs, unnamed, bound.options);
  for (const auto& [name, shape] : bound.options.shapes)
    if (!before.contains(name))
      bound.notes.push_back(fmt::format("input '{}' is bound to {}; --shape {} changes it", printable(name),
                                        to_string(shape), binding(printable(name), shape)));
  return bound;
}

// Unnamed dimensions of one input are one problem: one --shape solves them.
std::vector<std::string> open_dimensions(const std::vector<Declaration>& inputs,
                                         const ImportOptions& options) {
  std::vector<std::string> problems;
  std::set<std::string> said;
  for (const Place& place : open_places(inputs, options)) {
    const std::string name = printable(place.input->name), symbol = printable(place.symbol());
    if (!said.insert(is_unnamed(symbol) ? "--shape " + name : symbol).second) continue;
    problems.push_back(
        is_unnamed(symbol)
            ? fmt::format("input '{}': dimension {} is unknown: bind the input with --shape", name, place.dim)
            : fmt::format("input '{}': dimension {} is symbolic: bind it with --dim {}=N", name, place.dim,
                          symbol));
  }
  return problems;
}

// Of no combination that works, the likely one is proposed all the same: the user sees the form of the
// options. Whole shapes are given where an input has unnamed dimensions, names elsewhere.
std::string command_that_binds(const std::string& command, const std::vector<Declaration>& inputs,
                               const ImportOptions& given, int trials,
                               const std::function<bool(const ImportOptions&)>& works) {
  ImportOptions start = given;
  bind_by_shapes(inputs, start);
  ImportOptions chosen = all_bound(inputs, start, 0);
  for (size_t k = 0; k < std::min<size_t>(kSizes.size(), trials); ++k) {
    const ImportOptions candidate = all_bound(inputs, start, kSizes[k]);
    if (!works(candidate)) continue;
    chosen = candidate;
    break;
  }
  std::string text = command;
  std::set<std::string> said;
  for (const Place& place : open_places(inputs, start)) {
    const std::string &input = place.input->name, &symbol = place.symbol();
    const auto whole = chosen.shapes.find(input);
    const std::string option =
        whole != chosen.shapes.end()
            ? " --shape " + binding(input, whole->second)
            : " --dim " + shell_quoted(fmt::format("{}={}", symbol, chosen.dims.at(symbol)));
    if (said.insert(option).second) text += option;
  }
  return text;
}

// POSIX: within single quotes every character is itself; a single quote ends them, stands escaped, and they
// begin anew.
//
//   it's   ->   'it'\''s'
std::string shell_quoted(const std::string& word) {
  const auto plain = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/' || c == '=' || c == ':' || c == ',' || c == '+' || c == '@' ||
           c == '%';
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  return "'" + boost::replace_all_copy(word, "'", "'\\''") + "'";
}

}  // namespace arenac
