// What stands where in the file that has the kernels:
//
//   preludes()      includes, before anything of ours
//   begin()         #pragma GCC push_options, optimize or target; KWS_RESTRICT, KWS_NOINLINE
//   text()          helpers, kernels, tables of numbers
//   end()           #pragma GCC pop_options
#include "codegen/kernel_library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>

#include "codegen/c_program.h"
#include "codegen/c_text.h"
#include "codegen/weights.h"
#include "frontend/kernels.h"

namespace arenac {
namespace {

// gcc makes no vectors of a choice between results of floats, which might raise exceptions: so x < 0 ? a * x
// : x takes six times as long with AVX2. Values are the same either way. And it takes a loop that stores sums
// as they are for memcpy(), to which it gives addresses of them, so that some are in memory as long as they
// are added to: a product of matrices takes twice as long.
constexpr char kForVectors[] = R"("no-trapping-math", "no-tree-loop-distribute-patterns")";

// Of gcc from 8 on, which knows the option.
constexpr char kWholeVectors[] =
    "#if __GNUC__ >= 8\n#pragma GCC target(\"prefer-vector-width=512\")\n#endif\n";

std::string rows_text(const std::vector<std::vector<int>>& rows) {
  std::string text = "{\n";
  for (const std::vector<int>& row : rows) text += fmt::format("  {{{}}},\n", fmt::join(row, ", "));
  return text + "}";
}

// Whether a kernel of the step reads or writes text.
bool takes_text(const std::vector<LoweredNest>& step) {
  return std::ranges::any_of(step, [](const LoweredNest& nest) {
    const KernelOperands& of = nest.operands;
    return of.write_type == Type::kString || std::ranges::count(of.read_types, Type::kString) > 0;
  });
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

}  // namespace

// Small code looks for kernels that are one before the first is printed, in all steps of all programs.
KernelLibrary::KernelLibrary(const std::string& name, const EmitOptions& options, Of of,
                             const std::vector<std::vector<LoweredNest>>& steps)
    : name_(name),
      upper_(upper_case(name)),
      features_(options.features),
      registers_(options.registers),
      of_(of),
      takes_text_(std::ranges::any_of(steps, takes_text)) {
  if (options.code == Code::kSmall) shared_ = shared_kernels(steps, name_, helpers_);
}

// What programs have in common is called by digits of what it does: another kernel does not link in its
// place. The operator's name is for people, the number for the linker, within the length that C99 tells
// apart.
std::string KernelLibrary::added(const std::string& signature, const std::string& op,
                                 const std::string& comment, const SharedKernel* shared) {
  const std::string rows = shared ? rows_text(shared->rows) : "";
  std::string number = std::to_string(kernels_.size());
  if (of_several()) number += "_" + digits_of(signature, {rows});
  std::string base = lower_case(c_identifier(op));
  // Room for both underscores, a number of five digits and the eight of the hash.
  const size_t room = kLongestIdentifier - std::string_view("__99999_01234567").size();
  base.resize(std::min(base.size(), room - std::min(room - 1, name_.size())));
  const std::string function = fmt::format("{}_{}_{}", name_, base, number);
  const std::string linkage = of_several() ? "" : "static ";
  text_ += fmt::format("\n{}{}{}_NOINLINE void {}{}", comment, linkage, upper_, function, signature);
  // The first line are the parameters.
  declarations_ += fmt::format("void {}{};\n", function, signature.substr(0, signature.find('\n')));
  if (shared) {
    const std::string table =
        fmt::format("const int {}_numbers[{}][{}]", function, shared->rows.size(), shared->rows[0].size());
    text_ += fmt::format("\n{}{} = {};\n", linkage, table, rows);
    declarations_ += fmt::format("extern {};\n", table);
  }
  return kernels_.emplace(signature, function).first->second;
}

// A kernel written in C once for each element type, of which its text is a template of macros.
std::string KernelLibrary::use(const Call& call) {
  std::string text(kernel(call.kernel).source);
  std::string function = fmt::format("{}_{}_{}", name_, call.kernel, info(call.type).name);
  if (of_several()) function += "_" + digits_of(text);
  if (!called_.insert(function).second) return function;
  if (of_several()) boost::replace_all(text, "static void ARENAC_NAME(", "void ARENAC_NAME(");
  boost::replace_all(text, "ARENAC_NAME", function);
  boost::replace_all(text, "ARENAC_T",
                     c_value_type(call.type) == std::string("int") ? "uint8_t" : info(call.type).c_name);
  text_ += "\n" + text;
  declarations_ += fmt::format(
      "void {}(const void *const *reads, void *const *writes, const int64_t *parameters);\n", function);
  return function;
}

// Options of compilers for the kernels alone, whatever the rest of the build is compiled with; end() takes
// them back. NOINLINE, because a compiler that puts several kernels into one function gives each fewer
// registers.
void KernelLibrary::begin(CText& c) const {
  if (registers_ == Registers::kScalar)
    keep_sums_in_registers(c);
  else if (features_.empty())
    let_loops_be_vectors(c);
  else
    turn_on_features(c);
  c.line(
      "#if defined(__GNUC__)\n#define {0}_RESTRICT __restrict__\n"
      "#define {0}_NOINLINE __attribute__((noinline)) /* loops of several in one function spill */\n"
      "#elif !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L\n"
      "#define {0}_RESTRICT restrict\n#else\n#define {0}_RESTRICT\n#endif\n"
      "#ifndef {0}_NOINLINE\n#define {0}_NOINLINE\n#endif\n",
      upper_);
}

// NAME_OPTIONS says that begin() has turned something on.
void KernelLibrary::end(CText& c) const {
  c.line(
      "\n#ifdef {0}_OPTIONS\n#ifdef __clang__\n#pragma clang attribute pop\n#else\n"
      "#pragma GCC pop_options\n#endif\n#endif",
      upper_);
}

// Helpers first, in the order of their names: kernels call them, and they one another only backwards in that
// order, or by a declaration that they bring.
std::string KernelLibrary::text() const {
  std::string text;
  for (const auto& [name, helper] : helpers_.functions) text += helper + '\n';
  return text + text_;
}

// Without restrict, which is of no use in a declaration and would need the macro.
File KernelLibrary::header() const {
  return {name_ + "_kernels.h",
          with_short_lines(fmt::format(
              "/* Kernels that several models have in common, for their C alone. Written by arenac. */\n"
              "#ifndef {0}_KERNELS_H\n#define {0}_KERNELS_H\n#include <stdint.h>\n\n{1}"
              "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n{2}#ifdef __cplusplus\n}}\n#endif\n#endif\n",
              upper_, takes_text_ ? text_type() : "",
              boost::replace_all_copy(declarations_, upper_ + "_RESTRICT ", "")))};
}

// The target's features, where the compiler's options do not say that the processor has them, and of gcc at
// -O2 the loops of -O3. gcc has loops of half as wide vectors as AVX-512 has: the first processors with it
// slowed down for whole ones, and networks take 1.7 times as long that way on later ones.
void KernelLibrary::turn_on_features(CText& c) const {
  std::vector<std::string> names, has;
  boost::split(names, features_, boost::is_any_of(","));
  for (const std::string& feature : names)
    has.push_back(fmt::format("defined(__{}__)", upper_case(boost::replace_all_copy(feature, ".", "_"))));
  c.line(
      "#if defined(__GNUC__) && defined(__x86_64__)\n"
      "#ifdef __clang__\n"
      "#if !({2})\n#define {0}_OPTIONS\n"
      "#pragma clang attribute push(__attribute__((target(\"{1}\"))), apply_to = function)\n#endif\n"
      "#else\n#define {0}_OPTIONS\n#pragma GCC push_options\n"
      "#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)\n"
      "#pragma GCC optimize(\"O3\", {3})\n#endif\n"
      "#if !({2})\n#pragma GCC target(\"{1}\")\n#endif\n{4}#endif\n#endif\n",
      upper_, features_, fmt::join(has, " && "), kForVectors,
      boost::contains(features_, "avx512") ? kWholeVectors : "");
}

// Where the target asks for no features: vectors that every processor of the architecture has (SSE2, Neon).
void KernelLibrary::let_loops_be_vectors(CText& c) const {
  c.line(
      "#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) "
      "&& \\\n"
      "    (defined(__SSE2__) || defined(__ARM_NEON))\n#define {0}_OPTIONS\n#pragma GCC push_options\n"
      "#pragma GCC optimize({1})\n#endif\n",
      upper_, kForVectors);
}

// gcc at -Os allocates the registers of whole functions at once, and sums of inner loops lie on the stack:
// loop by loop, with neither its variables made one nor sums of indices turned around, Thumb-2 code takes a
// tenth fewer instructions in up to 5 % more bytes (of gcc 12; cortex_bench).
void KernelLibrary::keep_sums_in_registers(CText& c) const {
  c.line(
      "#if defined(__GNUC__) && !defined(__clang__) && defined(__thumb2__) && defined(__OPTIMIZE_SIZE__)\n"
      "#if __GNUC__ >= 12 /* keeps more sums of loops in registers */\n#define {0}_OPTIONS\n#pragma GCC "
      "push_options\n"
      "#pragma GCC optimize(\"ira-region=all\", \"no-tree-coalesce-vars\", "
      "\"no-tree-reassoc\")\n#endif\n#endif\n",
      upper_);
}

}  // namespace arenac
