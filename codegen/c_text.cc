#include "codegen/c_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>

namespace arenac {
namespace {

// Keywords of C (up to C23) and C++ (up to C++26): generated headers are included by both.
const std::set<std::string_view> kKeywords = {"alignas",
                                              "alignof",
                                              "and",
                                              "and_eq",
                                              "asm",
                                              "auto",
                                              "bitand",
                                              "bitor",
                                              "bool",
                                              "break",
                                              "case",
                                              "catch",
                                              "char",
                                              "char16_t",
                                              "char32_t",
                                              "char8_t",
                                              "class",
                                              "co_await",
                                              "co_return",
                                              "co_yield",
                                              "compl",
                                              "concept",
                                              "const",
                                              "const_cast",
                                              "consteval",
                                              "constexpr",
                                              "constinit",
                                              "continue",
                                              "contract_assert",
                                              "decltype",
                                              "default",
                                              "delete",
                                              "do",
                                              "double",
                                              "dynamic_cast",
                                              "else",
                                              "enum",
                                              "explicit",
                                              "export",
                                              "extern",
                                              "false",
                                              "float",
                                              "for",
                                              "friend",
                                              "goto",
                                              "if",
                                              "inline",
                                              "int",
                                              "long",
                                              "mutable",
                                              "namespace",
                                              "new",
                                              "noexcept",
                                              "not",
                                              "not_eq",
                                              "nullptr",
                                              "operator",
                                              "or",
                                              "or_eq",
                                              "private",
                                              "protected",
                                              "public",
                                              "register",
                                              "reinterpret_cast",
                                              "requires",
                                              "restrict",
                                              "return",
                                              "short",
                                              "signed",
                                              "sizeof",
                                              "static",
                                              "static_assert",
                                              "static_cast",
                                              "struct",
                                              "switch",
                                              "template",
                                              "this",
                                              "thread_local",
                                              "throw",
                                              "true",
                                              "try",
                                              "typedef",
                                              "typeid",
                                              "typename",
                                              "typeof",
                                              "typeof_unqual",
                                              "union",
                                              "unsigned",
                                              "using",
                                              "virtual",
                                              "void",
                                              "volatile",
                                              "wchar_t",
                                              "while",
                                              "xor",
                                              "xor_eq"};

// What the C library, POSIX and compilers define as macros that are no names again, in small letters; and I
// of <complex.h>.
const std::set<std::string_view> kSmallMacros = {"I",
                                                 "cdecl",
                                                 "complex",
                                                 "errno",
                                                 "far",
                                                 "fortran",
                                                 "h_addr",
                                                 "h_errno",
                                                 "hppa",
                                                 "hpux",
                                                 "huge",
                                                 "i386",
                                                 "imaginary",
                                                 "linux",
                                                 "m68k",
                                                 "main",
                                                 "math_errhandling",
                                                 "mips",
                                                 "near",
                                                 "noreturn",
                                                 "pascal",
                                                 "pdp11",
                                                 "sched_priority",
                                                 "sparc",
                                                 "stderr",
                                                 "stdin",
                                                 "stdout",
                                                 "sun",
                                                 "unix",
                                                 "vax"};
// That headers declare members of: one called so would hide the type from those behind it, in C++.
constexpr std::string_view kTypeNames[] = {"arenac_string", "int8_t",  "int16_t",  "int32_t",  "int64_t",
                                           "size_t",        "uint8_t", "uint16_t", "uint32_t", "uint64_t"};
constexpr std::string_view kMacroPrefixes[] = {"st_", "si_", "sa_", "s6_", "sigev_"};  // of POSIX

bool is_plain(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The shortest digits that read back as the same bits (fmt's {}), whatever the locale. A value that is no
// number is a macro of math.h, which is of type float.
template <typename Float>
std::string float_literal(Float value, const char* suffix) {
  if (std::isnan(value)) return sizeof(Float) == 4 ? "NAN" : "(double)NAN";
  if (std::isinf(value)) {
    const std::string inf = sizeof(Float) == 4 ? "INFINITY" : "(double)INFINITY";
    return value < 0 ? "(-" + inf + ")" : inf;
  }
  std::string digits = fmt::format("{}", value);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  digits += suffix;
  return std::signbit(value) ? "(" + digits + ")" : digits;
}

}  // namespace

// Ends at 48 characters, so that most fit the 63 that C99 tells apart with a prefix and a kind before them;
// those that do not are called by their number (CProgram::macro_of).
//
//   "conv1/BiasAdd:0"   conv1_BiasAdd_0          "__x"   x
//   "3d"                t3d                      "//"    t
std::string c_identifier(const std::string& name) {
  std::string id;
  for (const unsigned char c : name) id += is_plain(c) ? static_cast<char>(c) : '_';
  constexpr size_t kLongest = 48;
  if (id.size() > kLongest) id.resize(kLongest);
  if (id.size() == kLongest && id[0] >= '0' && id[0] <= '9') id.pop_back();  // room for a letter before it
  // A leading underscore belongs to the implementation.
  const size_t first = id.find_first_not_of('_');
  id = first == std::string::npos ? "t" : id.substr(first);
  if (id[0] >= '0' && id[0] <= '9') id = "t" + id;
  // Double underscores belong to C++.
  id.erase(std::unique(id.begin(), id.end(), [](char a, char b) { return a == '_' && b == '_'; }), id.end());
  return id;
}

// Counts on per base name, so that a thousand tensors of one name take a thousand steps and not half a
// million. An identifier is taken with what c_member makes of it: "int" and "int_" are one member.
//
//   {"x.y", "x_y", "x:y"}   ->   {"x_y", "x_y_2", "x_y_3"}
std::vector<std::string> distinct_identifiers(const std::vector<std::string>& names,
                                              const std::string& taken) {
  std::vector<std::string> ids;
  std::set<std::string> known = {taken};
  std::map<std::string, int> last;  // number, per name
  // The base stays, and a number behind it counts up until neither it nor its member form is known.
  for (const std::string& name : names) {
    const std::string base = c_identifier(name);
    std::string id = base;
    const auto is_known = [&] { return known.contains(id) || known.contains(c_member(id)); };
    for (int& n = last.emplace(base, 1).first->second; is_known();) id = fmt::format("{}_{}", base, ++n);
    known.insert({id, c_member(id)});
    ids.push_back(id);
  }
  return ids;
}

std::vector<std::string> distinct_capitals(std::vector<std::string> names, const std::string& taken) {
  for (std::string& name : names) name = upper_case(name);
  return distinct_identifiers(names, taken);
}

bool is_c_word(const std::string& identifier) {
  return kKeywords.contains(identifier) || kSmallMacros.contains(identifier);
}

// Macros are in capitals, or begin with one that no small letter follows, as PRId64 and L_tmpnam do; X alone
// is no macro.
std::string c_member(const std::string& identifier) {
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  // Two capitals, or one and a digit or underscore.
  const bool capitals = identifier.size() > 1 && is_capital(identifier[0]) && !is_small(identifier[1]);
  const bool prefix = std::any_of(std::begin(kMacroPrefixes), std::end(kMacroPrefixes),
                                  [&](std::string_view p) { return identifier.starts_with(p); });
  const bool type = std::ranges::find(kTypeNames, identifier) != std::end(kTypeNames);
  return capitals || prefix || type || is_c_word(identifier) ? identifier + "_" : identifier;
}

std::string upper_case(std::string name) {
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return name;
}

namespace {

// Without what ends a comment or begins one, without trigraphs and line splices, on one line.
std::string harmless(const std::string& text) {
  std::string safe;
  for (const unsigned char c : text) {
    const bool harmful = c < 0x20 || c >= 0x7f || c == '\\' ||
                         (c == '/' && !safe.empty() && safe.back() == '*') ||
                         (c == '*' && !safe.empty() && safe.back() == '/') ||
                         (c == '?' && !safe.empty() && safe.back() == '?');
    safe += harmful ? '_' : static_cast<char>(c);
  }
  return safe;
}

std::string cut_off(const std::string& text, size_t most) {
  return text.size() > most ? text.substr(0, most) + "..." : text;
}

}  // namespace

std::string c_comment(const std::string& text) { return cut_off(harmless(text), 73); }

// Words stay whole, lines behind the first of a paragraph are indented by two more:
//
//   /* conv1 (Conv):
//      out[0, m, y, x] = max(acc + x2[m], 0)
std::string c_block_comment(const std::vector<std::string>& paragraphs) {
  constexpr size_t kWidth = 100, kMost = 600;
  std::string text;
  for (const std::string& paragraph : paragraphs) {
    const std::string safe = cut_off(harmless(paragraph), kMost);
    std::string line = text.empty() ? "/*" : "  ";
    // A word at a time, up to the next blank.
    for (size_t from = 0, to; from <= safe.size(); from = to + 1) {
      to = std::min(safe.find(' ', from), safe.size());
      if (line.size() + to - from >= kWidth) text += line + "\n", line = "    ";
      line += " " + safe.substr(from, to - from);
    }
    text += line + "\n";
  }
  text.back() = ' ';
  return text + "*/\n";
}

// In octal, of three digits: a hexadecimal escape would go on with the letters behind it, and '?' could begin
// a trigraph.
std::string c_string(const std::string& bytes) {
  std::string literal = "\"";
  for (const unsigned char c : bytes) {
    if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '?')
      literal += static_cast<char>(c);
    else
      literal += fmt::format("\\{:03o}", c);
  }
  return literal + "\"";
}

namespace {

// Where a line may be broken: its blanks, but those of the indentation, comments and quotes. `in_comment`
// says whether a comment is open where the line begins, and then where it ends.
std::vector<size_t> breaks_of(const std::string& line, bool& in_comment) {
  std::vector<size_t> breaks;
  char quote = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    const std::string_view two = std::string_view(line).substr(at, 2);
    if (in_comment) {
      if (two == "*/") in_comment = false, ++at;
    } else if (quote) {
      if (line[at] == '\\')
        ++at;
      else if (line[at] == quote)
        quote = 0;
    } else if (two == "/*") {
      in_comment = true, ++at;
    } else if (line[at] == '"' || line[at] == '\'') {
      quote = line[at];
    } else if (line[at] == ' ' && at > line.find_first_not_of(' ')) {
      breaks.push_back(at);
    }
  }
  return breaks;
}

}  // namespace

// Breaks only where C takes any blank: not in quotes, comments and directives (of which a backslash continues
// the line). So a text means the same before and after, but for the numbers of its lines.
//
//   kws_conv_0((const float *)(void *)(pool_arena + KWS_AT_1), kws_w_0,          | 100 columns
//       (float *)(void *)(pool_arena + KWS_AT_2)); /* 3: conv2 */
std::string with_short_lines(const std::string& text) {
  constexpr size_t kWidth = 100;
  std::string result;
  bool in_comment = false, in_directive = false;
  for (size_t from = 0, to; from < text.size(); from = to + 1) {
    to = std::min(text.find('\n', from), text.size());
    const std::string line = text.substr(from, to - from);
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    in_directive = in_directive || line[indent] == '#';
    const std::vector<size_t> breaks = breaks_of(line, in_comment);
    size_t begin = 0, room = kWidth;  // of what is not yet written
    while (line.size() - begin > room && !in_directive) {
      const auto low = std::upper_bound(breaks.begin(), breaks.end(), begin);
      const auto high = std::upper_bound(low, breaks.end(), begin + room);
      if (low == breaks.end()) break;
      // The last blank within the width, or, where no blank is, the first one behind it; better is one after
      // a comma or semicolon, where a reader would break the line, too.
      size_t at = high == low ? *low : high[-1];
      for (auto k = low; k != high; ++k)
        if (line[*k - 1] == ',' || line[*k - 1] == ';') at = *k;
      result += line.substr(begin, at - begin) + "\n" + std::string(indent + 4, ' ');
      begin = at + 1, room = kWidth - std::min(kWidth, indent + 4);
    }
    result += line.substr(begin) + "\n";
    in_directive = in_directive && line.ends_with('\\');
  }
  return result;
}

// Empty lines stay without blanks.
void CText::put(const CText& other) {
  for (size_t from = 0, to; from < other.text_.size(); from = to + 1) {
    to = other.text_.find('\n', from);
    put(other.text_.substr(from, to - from));
  }
  used_.insert(other.used_.begin(), other.used_.end());
}

std::string c_unsigned(int64_t value) { return fmt::format("{}{}", value, value >> 32 == 0 ? "u" : "ull"); }

// Types that are stored as codes have the code; a bool is 0 or 1. The least int32 and int64 are macros:
// -2147483648 is, in C, the negation of a number that fits no int.
//
//   float32 0.1   0.1f        float16 1     0x3c00u       int32 -5    (-5)        in parentheses, for a minus
//                 may
//   float32 -inf  (-INFINITY) uint64 7      UINT64_C(7)   text "a"    {"a"}       stand before it
std::string c_literal(Type type, Scalar value) {
  switch (type) {
    case Type::kFloat32:
      return float_literal(static_cast<float>(value.f), "f");
    case Type::kFloat64:
      return float_literal(value.f, "");
    case Type::kFloat16:
      return fmt::format("0x{:04x}u", float_to_half(static_cast<float>(value.f)));
    case Type::kBFloat16:
      return fmt::format("0x{:04x}u", float_to_bfloat(static_cast<float>(value.f)));
    case Type::kFloat8E4M3FN:
    case Type::kFloat8E4M3FNUZ:
    case Type::kFloat8E5M2:
    case Type::kFloat8E5M2FNUZ:
    case Type::kFloat8E8M0:
    case Type::kFloat4E2M1: {
      std::byte code;
      store(type, &code, value);
      return fmt::format("0x{:02x}u", std::to_integer<int>(code));
    }
    // An initialiser of arenac_string, in braces of its own for the array in it.
    case Type::kString:
      return fmt::format("{{{}}}", c_string(std::string(text_of(value))));
    case Type::kUint64:
      return fmt::format("UINT64_C({})", static_cast<uint64_t>(value.i));
    case Type::kUint32:
      return fmt::format("{}u", static_cast<uint32_t>(value.i));
    default:
      break;
  }
  if (value.i == INT64_MIN) return "INT64_MIN";
  if (value.i == INT32_MIN) return "INT32_MIN";
  if (value.i > INT32_MAX || value.i < INT32_MIN) return fmt::format("INT64_C({})", value.i);
  return value.i < 0 ? fmt::format("({})", value.i) : fmt::format("{}", value.i);
}

// FNV-1a of 32 bits (Fowler, Noll and Vo). It guards against mixing up files by accident and not against
// intent; unlike std::hash it is the same everywhere.
std::string digits_of(const std::string& text, const std::vector<std::string_view>& more) {
  uint32_t hash = 2166136261u;  // FNV-1a
  const auto add = [&](std::string_view bytes) {
    for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619u;
  };
  add(text);
  for (const std::string_view bytes : more) add(bytes);
  return fmt::format("{:08x}", hash);
}

}  // namespace arenac
