#include "codegen/shared_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <regex>

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

std::vector<Token> split(const std::string& text) {
  static const std::regex kToken(R"([A-Za-z_]\w*|[0-9][\w.]*|[ \n]+|[^ \n])");
  std::vector<Token> tokens;
  for (std::sregex_iterator at(text.begin(), text.end(), kToken), end; at != end; ++at)
    tokens.push_back({at->str()});
  return tokens;
}

// Where a stretch of index arithmetic that begins at a token ends: one behind its last token; `at` if none
// begins there.
size_t end_of_indices(const std::vector<Token>& tokens, size_t at) {
  const auto is = [&](size_t k, const char* text) { return k < tokens.size() && tokens[k].text == text; };
  const auto closing = [&](size_t from, const char* open, const char* close) {
    int depth = 0;
    for (size_t k = from; k < tokens.size(); ++k) {
      depth += is(k, open) - is(k, close);
      if (depth == 0) return k + 1;
    }
    return from;
  };
  if (is(at, "[")) return is(at + 2, "]") ? at : closing(at, "[", "]");  // [4] declares an array
  if ((is(at, "for") || is(at, "if")) && is(at + 2, "(")) return closing(at + 2, "(", ")");
  if (is(at, "const") && is(at + 2, "int"))
    return static_cast<size_t>(std::find_if(tokens.begin() + at, tokens.end(),
                                            [](const Token& token) { return token.text == ";"; }) -
                               tokens.begin());
  if (is(at, "uint32_t") && is(at + 1, ")") && is(at + 2, "(")) return closing(at + 2, "(", ")");
  return at;
}

std::vector<Token> tokens_of(const std::string& signature) {
  std::vector<Token> tokens = split(signature);
  for (size_t begin = 0; begin < tokens.size(); ++begin)
    for (size_t k = begin, end = end_of_indices(tokens, begin); k < end; ++k)
      tokens[k].is_open = number_of(tokens[k].text).has_value();
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
    const bool alike = std::all_of(members.begin(), members.end(), [&](const std::string& member) {
      return shape_of(tokens_of(member)) == shape_of(tokens_of(members[0]));
    });
    for (const std::string& member : members)
      family.push_back(tokens_of(alike ? member : without(member, restrict_macro + " ")));
    const auto kernel = shared(family, members[0].size());
    if (!kernel) continue;
    for (size_t k = 0; k < members.size(); ++k) result.rows[members[k]] = {result.kernels.size(), k};
    result.kernels.push_back(*kernel);
  }
  return result;
}

}  // namespace arenac
