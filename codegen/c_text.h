// Pieces of C text: identifiers, comments, literals, indentation.
//
//   CText c;
//   c.open("for (int i = 0; i < {}; ++i)", 8);
//   c.line("y[i] = x[i];");
//   c.close();
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "frontend/type.h"

namespace arenac {

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
  void put(const std::string& text) { text_ += std::string(depth_ * 2, ' ') + text + '\n'; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

// `name` as a C identifier: other characters become '_', a leading digit gets one before it; keywords of C
// and C++ one behind. Never empty.
std::string c_identifier(const std::string& name);
std::string upper_case(std::string name);

// Any bytes, made harmless inside a /* comment */ and on one line.
std::string c_comment(const std::string& text);
// Any bytes as a C string literal, quotes included.
std::string c_string(const std::string& bytes);

// A literal of the type that arithmetic on `type` uses, float16 as its bit pattern; of text an initializer.
std::string c_literal(Type type, Scalar value);

}  // namespace arenac
