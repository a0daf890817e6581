#include "codegen/c_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

namespace arenac {
namespace {

const std::set<std::string_view> kReserved = {
    "alignas",      "alignof",   "and",           "and_eq",      "asm",
    "auto",         "bitand",    "bitor",         "bool",        "break",
    "case",         "catch",     "char",          "class",       "compl",
    "concept",      "const",     "const_cast",    "constexpr",   "continue",
    "decltype",     "default",   "delete",        "do",          "double",
    "dynamic_cast", "else",      "enum",          "explicit",    "export",
    "extern",       "false",     "float",         "for",         "friend",
    "goto",         "if",        "inline",        "int",         "long",
    "mutable",      "namespace", "new",           "noexcept",    "not",
    "not_eq",       "nullptr",   "operator",      "or",          "or_eq",
    "private",      "protected", "public",        "register",    "reinterpret_cast",
    "requires",     "restrict",  "return",        "short",       "signed",
    "sizeof",       "static",    "static_assert", "static_cast", "struct",
    "switch",       "template",  "this",          "throw",       "true",
    "try",          "typedef",   "typeid",        "typename",    "union",
    "unsigned",     "using",     "virtual",       "void",        "volatile",
    "wchar_t",      "while",     "xor",           "xor_eq",      "main",
    "linux",        "unix"};

bool is_plain(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

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

std::string c_identifier(const std::string& name) {
  std::string id;
  for (const unsigned char c : name) id += is_plain(c) ? static_cast<char>(c) : '_';
  constexpr size_t kLongest = 48;
  if (id.size() > kLongest) id.resize(kLongest);
  // A leading underscore belongs to the implementation.
  const size_t first = id.find_first_not_of('_');
  id = first == std::string::npos ? "t" : id.substr(first);
  if (id[0] >= '0' && id[0] <= '9') id = "t" + id;
  // Double underscores belong to C++.
  id.erase(std::unique(id.begin(), id.end(), [](char a, char b) { return a == '_' && b == '_'; }), id.end());
  if (kReserved.contains(id)) id += "_";
  return id;
}

std::string upper_case(std::string name) {
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return name;
}

std::string c_comment(const std::string& text) {
  std::string safe;
  for (const unsigned char c : text) {
    // Neither the end of a comment, nor a new beginning, nor a trigraph, nor a line splice.
    const bool harmful = c < 0x20 || c >= 0x7f || c == '\\' ||
                         (c == '/' && !safe.empty() && safe.back() == '*') ||
                         (c == '*' && !safe.empty() && safe.back() == '/') || c == '?';
    safe += harmful ? '_' : static_cast<char>(c);
    if (safe.size() > 160) return safe + "...";
  }
  return safe;
}

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

}  // namespace arenac
