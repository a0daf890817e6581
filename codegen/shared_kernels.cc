#include "codegen/shared_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace arenac {
namespace {

constexpr size_t kLettersANumber = 16;  // of a kernel's text, for each of its numbers: fewer are not worth it

struct Token {
  std::string text;
  bool is_open = false;  // a number that may be another in another kernel
};

std::optional<int> number_of(const std::string& text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

bool is_space(const Token& token) { return token.text.find_first_not_of(" \n") == std::string::npos; }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool begins_name(const std::string& text) {
  return is_word(text[0]) && !std::isdigit(static_cast<unsigned char>(text[0]));
}

// Names, numbers and quoted text as a whole, blanks and single other characters.
std::vector<Token> split(const std::string& text) {
  std::vector<Token> tokens;
  for (size_t from = 0, to; from < text.size(); from = to) {
    to = from + 1;
    if (text[from] == '"') {
      to = text.find('"', to) + 1;
    } else if (text[from] == ' ' || text[from] == '\n') {
      while (to < text.size() && (text[to] == ' ' || text[to] == '\n')) ++to;
    } else if (is_word(text[from])) {
      const bool number = std::isdigit(static_cast<unsigned char>(text[from]));
      const auto goes_on = [&](char c) {
        const bool exponent = (c == '-' || c == '+') && (text[to - 1] == 'e' || text[to - 1] == 'E');
        return is_word(c) || (number && (c == '.' || exponent));
      };
      while (to < text.size() && goes_on(text[to])) ++to;
    }
    tokens.push_back({text.substr(from, to - from)});
  }
  return tokens;
}

class Indices {
 public:
  explicit Indices(std::vector<Token>& tokens) : tokens_(tokens) {}

  // Opens the numbers of index arithmetic.
  void open() {
    for (size_t begin = 0; begin < tokens_.size(); ++begin) open(begin, end_of(begin));
  }

 private:
  bool is(size_t k, const char* text) const { return k < tokens_.size() && tokens_[k].text == text; }

  // One behind what closes the bracket at a token.
  size_t closing(size_t at) const {
    int depth = 0;
    for (size_t k = at; k < tokens_.size(); ++k) {
      depth += is(k, "(") || is(k, "[");
      depth -= is(k, ")") || is(k, "]");
      if (depth == 0) return k + 1;
    }
    return tokens_.size();
  }

  // Where a stretch of index arithmetic that begins at a token ends: one behind its last token; `at` if none
  // begins there.
  size_t end_of(size_t at) const {
    if (is(at, "[")) return is(at + 2, "]") ? at : closing(at);  // [4] declares an array
    if ((is(at, "for") || is(at, "if")) && is(at + 2, "(")) return closing(at + 2);
    if (is(at, "uint32_t") && is(at + 1, ")") && is(at + 2, "(")) return closing(at + 2);  // a zero point
    if (!is(at, "const") || !is(at + 2, "int")) return at;
    while (at < tokens_.size() && !is(at, ";")) ++at;
    return at;
  }

  // Arguments of functions and macros stay: they may have to be constants, or of a narrower type.
  void open(size_t begin, size_t end) {
    for (size_t k = begin; k < end; ++k) {
      if (begins_name(tokens_[k].text) && is(k + 1, "("))
        k = closing(k + 1) - 1;
      else
        tokens_[k].is_open = number_of(tokens_[k].text).has_value();
    }
  }

  std::vector<Token>& tokens_;
};

std::vector<Token> tokens_of(const std::string& signature) {
  std::vector<Token> tokens = split(signature);
  Indices(tokens).open();
  return tokens;
}

// The same for kernels that differ in open numbers only.
std::string shape_of(const std::vector<Token>& tokens) {
  std::string shape;
  for (const Token& token : tokens) shape += token.is_open ? "#" : is_space(token) ? " " : token.text;
  return shape;
}

// The numbers of each kernel of a family at each open place.
using Places = std::vector<std::vector<int>>;

Places places_of(const std::vector<std::vector<Token>>& family) {
  Places places;
  for (size_t k = 0; k < family[0].size(); ++k) {
    if (!family[0][k].is_open) continue;
    std::vector<int>& place = places.emplace_back();
    for (const auto& tokens : family) place.push_back(*number_of(tokens[k].text));
  }
  return places;
}

// The first kernel's text with the numbers that differ as k0, k1, ..., and these in the order of `columns`.
std::string with_numbers(const std::vector<Token>& tokens, const Places& places, const Places& columns) {
  std::string text;
  size_t place = 0;
  for (const Token& token : tokens) {
    const auto column =
        token.is_open ? std::find(columns.begin(), columns.end(), places[place++]) : columns.end();
    text += column == columns.end() ? token.text : fmt::format("k{}", column - columns.begin());
  }
  const size_t head = text.find(')'), body = text.find('{') + 1;
  std::string numbers;
  for (size_t c = 0; c < columns.size(); ++c)
    numbers += fmt::format("{}k{} = numbers[{}]", c ? ", " : "", c, c);
  return text.substr(0, head) + ", const int *numbers" + text.substr(head, body - head) + "\n  const int " +
         numbers + ";" + text.substr(body);
}

std::optional<SharedKernel> shared(const std::vector<std::vector<Token>>& family, size_t letters) {
  const Places places = places_of(family);
  Places columns;  // distinct, of numbers that differ
  for (const std::vector<int>& place : places)
    if (std::count(place.begin(), place.end(), place[0]) < static_cast<int64_t>(place.size()) &&
        std::find(columns.begin(), columns.end(), place) == columns.end())
      columns.push_back(place);
  if (columns.empty() || columns.size() * kLettersANumber > letters) return std::nullopt;
  SharedKernel kernel{with_numbers(family[0], places, columns), {}};
  for (size_t k = 0; k < family.size(); ++k) {
    std::vector<int>& row = kernel.rows.emplace_back();
    for (const std::vector<int>& column : columns) row.push_back(column[k]);
  }
  return kernel;
}

std::string without(std::string text, const std::string& word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at))
    text.erase(at, word.size());
  return text;
}

}  // namespace

SharedKernels shared_kernels(const std::vector<std::string>& signatures, const std::string& restrict_macro) {
  std::map<std::string, std::vector<std::string>> families;  // by shape
  for (const std::string& signature : signatures)
    families[shape_of(tokens_of(without(signature, restrict_macro + " ")))].push_back(signature);
  SharedKernels result;
  for (const auto& [shape, members] : families) {
    if (members.size() < 2) continue;
    std::vector<std::vector<Token>> family;
    for (const std::string& member : members) family.push_back(tokens_of(member));
    const std::string first = shape_of(family[0]);
    if (!std::all_of(family.begin(), family.end(), [&](const auto& f) { return shape_of(f) == first; }))
      for (size_t k = 0; k < members.size(); ++k)
        family[k] = tokens_of(without(members[k], restrict_macro + " "));
    const auto kernel = shared(family, members[0].size());
    if (!kernel) continue;
    for (size_t k = 0; k < members.size(); ++k) result.rows[members[k]] = {result.kernels.size(), k};
    result.kernels.push_back(*kernel);
  }
  return result;
}

}  // namespace arenac
