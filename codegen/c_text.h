// Pieces of C text: identifiers, comments, literals, indentation.
//
//   CText c;
//   c.open("for (int i = 0; i < {}; ++i)", 8);
//   c.line("y[i] = x[i];");
//   c.close();
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/type.h"

namespace arenac {

// Lines, indented by two blanks for each open brace. Statements are often made before what stands around
// them; they are then put into that line by line, at its depth, and bring along what they use of it (a
// pointer, say, that a function only takes where some statement needs it).
class CText {
 public:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    put(fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    put(fmt::format(format, std::forward<Args>(args)...) + " {");
    ++depth_;
  }
  void close(std::string_view after = "") {
    --depth_;
    put("}" + std::string(after));
  }
  void indent() { ++depth_; }
  void put(const std::string& text) {
    text_ += std::string(text.empty() ? 0 : depth_ * 2, ' ') + text + '\n';
  }
  const std::string& text() const { return text_; }

  // Says that the text names something that stands around it, and what does.
  void use(const std::string& name) { used_.insert(name); }
  bool uses(const std::string& name) const { return used_.contains(name); }
  // The lines of another text, one by one, and what they use.
  void put(const CText& other);

 private:
  std::string text_;
  std::set<std::string> used_;
  int depth_ = 0;
};

// `name` as a C identifier of at most 48 characters: other characters become '_', a leading digit gets a 't'
// before it. Never empty. A keyword is left as it is: for what is put behind a prefix.
std::string c_identifier(const std::string& name);
// Such identifiers, distinct with and without what c_member adds: {"x.y", "x_y"} are {"x_y", "x_y_2"}. None
// is `taken`.
std::vector<std::string> distinct_identifiers(const std::vector<std::string>& names,
                                              const std::string& taken = "");
// The same in capitals, for macros: {"x", "X"} are {"X", "X_2"}.
std::vector<std::string> distinct_capitals(std::vector<std::string> names, const std::string& taken = "");
// A C identifier as it may stand alone: with '_' behind it where it is a word of C or C++ or of the form of
// a macro. "image" and "Input3" stay; "int", "NAN", "M_PI" and "errno" become "int_", "NAN_", ...
std::string c_member(const std::string& identifier);
bool is_c_word(const std::string& identifier);
std::string upper_case(std::string name);

// Any bytes, made harmless inside a /* comment */ and on one line.
std::string c_comment(const std::string& text);
// Paragraphs of any bytes as a comment of lines of up to 100 characters; long paragraphs are cut off.
std::string c_block_comment(const std::vector<std::string>& paragraphs);
// Any bytes as a C string literal, quotes included.
std::string c_string(const std::string& bytes);

// C text with lines of over 100 characters broken at blanks, behind commas and semicolons if there are any.
std::string with_short_lines(const std::string& text);

// "5700000u": an unsigned number as the preprocessor takes it.
std::string c_unsigned(int64_t value);
// A literal of the type that arithmetic on `type` uses, float16 as its bit pattern; of text an initializer.
std::string c_literal(Type type, Scalar value);

// Eight digits that tell texts apart; `more` are bytes that count, too.
std::string digits_of(const std::string& text, const std::vector<std::string_view>& more = {});

}  // namespace arenac
