#include "driver/option_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <string_view>

#include "codegen/report_words.h"
#include "driver/list.h"
#include "frontend/error.h"
#include "frontend/nearest.h"

namespace arenac {
namespace {

// Also 0: an input may have no elements.
int64_t extent_of(const std::string& text, const std::string& option) {
  const auto value = integer_of(text);
  if (!value || *value < 0)
    wrong_usage(fmt::format("{}: '{}' is no extent: a number from 0 is needed", option, text));
  return *value;
}

// "" is a scalar's: INPUT= binds it.
Shape shape_from(const std::string& text, const std::string& option) {
  Shape shape;
  if (text.empty()) return shape;  // a scalar
  for (const std::string& extent : split(text, 'x')) shape.push_back(extent_of(extent, option));
  return shape;
}

// "1,3,224": int64, or float64 if one of the numbers is no integer.
Value value_of(const std::string& text, const std::string& option) {
  const bool whole = text.find_first_not_of("0123456789-,") == std::string::npos;
  std::vector<Scalar> elements;
  for (const std::string& word : text.empty() ? std::vector<std::string>{} : split(text, ',')) {
    Scalar element{};
    const char *first = word.data(), *last = first + word.size();
    const auto [stop, error] =
        whole ? std::from_chars(first, last, element.i) : std::from_chars(first, last, element.f);
    if (error != std::errc() || stop != last) wrong_usage(fmt::format("{}: '{}' is no number", option, word));
    elements.push_back(element);
  }
  Value value(whole ? Type::kInt64 : Type::kFloat64, {static_cast<int64_t>(elements.size())});
  for (size_t k = 0; k < elements.size(); ++k) store(value, static_cast<int64_t>(k), elements[k]);
  return value;
}

// "1x3x224x224"; of a sequence the shapes of its elements, "2x3,4x3", or "none".
void bind_shape(const std::string& name, const std::string& extents, ImportOptions& import) {
  if (extents == "none") {
    import.absent.insert(name);
    return;
  }
  std::vector<Shape> shapes;
  for (const std::string& element : split(extents, ','))
    shapes.push_back(shape_from(element, fmt::format("--shape {}={}", name, extents)));
  if (shapes.size() == 1)
    import.shapes[name] = shapes[0];
  else
    import.sequences[name] = shapes;
}

// Calls `bind` with every name and what it is bound to.
template <typename Bind>
void for_each_binding(const std::vector<std::string>& words, const char* option, const char* form,
                      const Bind& bind) {
  std::map<std::string, std::string> bound;
  for (const std::string& text : words) {
    const auto [name, value] = split_binding(text, option, form);
    const auto& [at, added] = bound.emplace(name, value);
    if (added)
      bind(name, value);
    else if (at->second != value)
      wrong_usage(fmt::format("{0} {1}={2} and {0} {1}={3} contradict each other", option, printable(name),
                              at->second, value));
  }
}

constexpr int64_t kLongestWait = 10'000;

constexpr std::string_view kPoolKeys[] = {"name", "size", "align", "section", "kind", "copy", "wait"};

int64_t size_of_pool(const std::string& text, const std::string& option) {
  const auto bytes = bytes_of_size(text);
  if (!bytes) wrong_usage(fmt::format("{}: '{}' is no size in bytes, such as 65536 or 64K", option, text));
  return *bytes;
}

void require_kind(const std::string& kind, const std::string& option) {
  std::vector<std::string> known;
  for (const PoolKind& row : kPoolKinds) known.emplace_back(row.name);
  if (std::find(known.begin(), known.end(), kind) != known.end()) return;
  wrong_usage(fmt::format("{}: '{}' is no kind of pool{}", option, kind, did_you_mean_or_all(kind, known)));
}

Copied copied_when(const std::string& copy, const std::string& option) {
  if (copy == "start") return Copied::kAtStart;
  if (copy == "group") return Copied::kByGroup;
  wrong_usage(
      fmt::format("{}: copy is '{}', but only 'start' (NAME_load copies constants from flash) and 'group' "
                  "(runs do, before each group) are known",
                  option, copy));
}

int64_t cycles_of_wait(const std::string& text, const std::string& option) {
  const auto cycles = integer_of(text);
  if (!cycles || *cycles < 0 || *cycles > kLongestWait)
    wrong_usage(fmt::format("{}: wait is '{}', but the cycles that a read waits are 0 to {}", option, text,
                            kLongestWait));
  return *cycles;
}

}  // namespace

void wrong_usage(const std::string& problem) { throw UserError(problem, Exit::kUsage); }

// All of the text, without blanks or a plus sign.
std::optional<int64_t> integer_of(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// K is 1024, as memories are built; "KiB", "KB" and "k" are the same. A product beyond 63 bits is no size.
std::optional<int64_t> bytes_of_size(const std::string& text) {
  constexpr std::string_view kPrefixes = "kmgtpe";  // of units, each 1024 of the one before
  const bool hexadecimal = text.starts_with("0x");
  const char *first = text.data() + (hexadecimal ? 2 : 0), *last = text.data() + text.size();
  int64_t bytes = 0;
  const auto [end, error] = std::from_chars(first, last, bytes, hexadecimal ? 16 : 10);
  if (error != std::errc() || bytes < 0) return std::nullopt;
  std::string unit(std::find_if(end, last, [](char c) { return c != ' '; }), last);
  std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::tolower(c); });
  const size_t power = unit.empty() ? std::string_view::npos : kPrefixes.find(unit[0]);
  if (power != std::string_view::npos) {
    for (size_t k = 0; k <= power; ++k)
      if (__builtin_mul_overflow(bytes, 1024, &bytes)) return std::nullopt;
    unit.erase(0, unit.size() > 1 && unit[1] == 'i' ? 2 : 1);
  }
  return unit.empty() || unit == "b" ? std::optional(bytes) : std::nullopt;
}

// Of an empty text one empty word.
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// The name is not empty, the rest may be.
std::pair<std::string, std::string> split_binding(const std::string& text, const std::string& option,
                                                  const char* form) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    wrong_usage(fmt::format("{} '{}' is not {}", option, text, form));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// The same binding twice is fine (a script's defaults), two that differ are not.
void bind_inputs(const BindingWords& words, ImportOptions& import) {
  for_each_binding(words.dims, "--dim", "NAME=N", [&](const std::string& name, const std::string& extent) {
    const std::string option = fmt::format("--dim {}={}", name, extent);
    if ((import.dims[name] = extent_of(extent, option)) == 0)
      wrong_usage(fmt::format(
          "{}: an extent from 1 on is needed; an input without elements is said with --shape", option));
  });
  for_each_binding(
      words.shapes, "--shape", "INPUT=1x3x224x224",
      [&](const std::string& name, const std::string& extents) { bind_shape(name, extents, import); });
  for_each_binding(words.values, "--value", "INPUT=1,3,224",
                   [&](const std::string& name, const std::string& elements) {
                     const std::string option = fmt::format("--value {}={}", name, elements);
                     import.values.insert_or_assign(name, value_of(elements, option));
                   });
}

// "name=sram,size=256K,align=16,section=.sram,kind=arena"
PoolWords pool_of(const std::string& text) {
  const std::string option = "--pool " + text;
  PoolWords words;
  Pool& pool = words.pool;
  std::set<std::string> said;
  for (const std::string& word : split(text, ',')) {
    const auto [key, value] = split_binding(word, option, "name=NAME,size=N,align=N");
    if (!said.insert(key).second) wrong_usage(fmt::format("{}: '{}' is there twice", option, key));
    if (key == "name")
      pool.name = value;
    else if (key == "size")
      pool.capacity = size_of_pool(value, option);
    else if (key == "align")
      pool.align = size_of_pool(value, option);
    else if (key == "section")
      words.section = value;
    else if (key == "kind")
      require_kind(words.kind = value, option);
    else if (key == "copy")
      words.copied = copied_when(value, option);
    else if (key == "wait")
      words.wait = cycles_of_wait(value, option);
    else
      wrong_usage(fmt::format("{}: '{}' is not {}{}", option, key, fmt::join(kPoolKeys, ", "),
                              did_you_mean(key, {std::begin(kPoolKeys), std::end(kPoolKeys)})));
  }
  if (pool.name.empty()) wrong_usage(option + ": a name is missing");
  if (words.kind == "constants") return words;
  if (words.copied != Copied::kNever)
    wrong_usage(fmt::format("{}: copy={} is for kind=constants: nothing else lies in flash", option,
                            words.copied == Copied::kAtStart ? "start" : "group"));
  if (words.wait)
    wrong_usage(option + ": wait is for kind=constants: it says which of them copy=group copies");
  return words;
}

}  // namespace arenac
