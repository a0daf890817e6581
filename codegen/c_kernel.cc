#include "codegen/c_kernel.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "codegen/c_text.h"
#include "codegen/register_ranges.h"

namespace arenac {
namespace {

constexpr size_t kLaneLine = 50;  // letters of statements that stand behind the head of a loop over lanes

bool is_operand(int number) { return number < kResult; }

// One function from one kernel: parameters are found first, in a walk of their own, for names of pointers
// follow from their places in the signature. What is equal but for the operands it reads has then equal text.
class KernelPrinter {
 public:
  KernelPrinter(const Kernel& kernel, const KernelOperands& operands, const std::string& prefix,
                Helpers& helpers)
      : kernel_(kernel),
        operands_(operands),
        prefix_(prefix),
        helpers_(helpers),
        c_(prefix, helpers, names()) {}

  CKernel run() {
    find_parameters();
    text_.put("{");
    text_.indent();
    take_numbers();
    print(kernel_.body);
    text_.close();
    result_.signature = fmt::format("({})\n{}", parameters(), text_.text());
    return std::move(result_);
  }

 private:
  // In ascending order of operands. One that lies in place has no parameter: it is read through the result's
  // pointer, because `restrict` promises that nobody else touches what that one writes.
  void find_parameters() {
    std::set<int> reads, symbols;
    visit_statements(kernel_.body, [&](const Stmt& s) {
      visit_formulas(s, [&](const Expr& root) {
        any_of(root, [&](const Expr& e) {
          if (e->op == Op::kRead && is_operand(e->index)) reads.insert(e->index);
          if (is_iteration(e)) symbols.insert(-1 - e->index);
          return false;
        });
      });
    });
    // A std::set: ascending, each once, however often and in whatever order the body reads them.
    for (int operand : reads) {
      if (operands_.aliasing[operand] == Aliasing::kInPlace) continue;
      pointers_[operand] = fmt::format("x{}", result_.reads.size());
      result_.reads.push_back(operand);
    }
    result_.symbols.assign(symbols.begin(), symbols.end());
  }

  // `restrict` where no other pointer reaches the same bytes; without it a compiler has to load again after
  // every store. One operand that may overlap the result otherwise takes the promise from the result's
  // pointer.
  std::string parameters() const {
    const auto& aliasing = operands_.aliasing;
    const bool mixed = std::find(aliasing.begin(), aliasing.end(), Aliasing::kMixed) != aliasing.end();
    const auto only = [&](bool apart) { return apart ? upper_case(prefix_) + "_RESTRICT " : ""; };
    std::string list;
    for (int operand : result_.reads)
      list += fmt::format("const {} *{}{}, ", info(operands_.read_types[operand]).c_name,
                          only(aliasing[operand] == Aliasing::kApart), pointers_.at(operand));
    list += fmt::format("{} *{}out", info(operands_.write_type).c_name, only(!mixed));
    for (int symbol : result_.symbols) list += fmt::format(", int t{}", symbol);
    return kernel_.numbers.empty() ? list : list + ", const int *numbers";
  }

  // Of a kernel that stands for several (shared_kernels.h): the row of its table, as ints that do not change.
  void take_numbers() {
    for (size_t k = 0; k < kernel_.numbers.size(); ++k)
      text_.line("const int {} = numbers[{}];", kernel_.ints[static_cast<size_t>(kernel_.numbers[k])].name,
                 k);
  }

  // Intervals are those of the ints that loops and lets have, and of registers (register_ranges.h): with them
  // the printer decides which sums need no detour.
  CNames names() const {
    CNames all;
    all.axis = [this](int a) {
      if (a >= kInts) return kernel_.ints[static_cast<size_t>(a - kInts)].name;
      if (a < 0) return fmt::format("t{}", -1 - a);
      if (a == kLane) return std::string("l");
      const size_t k = static_cast<size_t>(a);
      return k < kernel_.names.size() && !kernel_.names[k].empty() ? kernel_.names[k] : fmt::format("i{}", a);
    };
    all.operand = [this](int operand) {
      if (operand >= kRegisters) return register_of(operand - kRegisters).name;
      const auto at = pointers_.find(operand);
      return at == pointers_.end() ? std::string("out") : at->second;
    };
    all.interval = [this, axes = intervals_of(kernel_)](const Expr& e) {
      return interval_with_registers(e, kernel_, axes);
    };
    return all;
  }

  void print(const Stmts& body) {
    for (const Stmt& s : body) std::visit([&](const auto& statement) { print(statement); }, s.is);
  }

  // Downwards from the last that an upward loop of the same step would have. The counter is an int, so the
  // comparison with a `begin` of 0 can end the loop.
  void print(const For& loop) {
    const std::string i = c_.index(axis(loop.axis)), begin = c_.index(loop.begin);
    const auto moved = [&](char by) {
      return loop.step == 1 ? fmt::format("{0}{0}{1}", by, i) : fmt::format("{} {}= {}", i, by, loop.step);
    };
    if (loop.sweep == Sweep::kDown)
      text_.open("for (int {0} = {1}; {0} >= {2}; {3})", i, c_.index(loop.end - integer(loop.step)), begin,
                 moved('-'));
    else
      text_.open("for (int {0} = {1}; {0} < {2}; {3})", i, begin, c_.index(loop.end), moved('+'));
    print(loop.body);
    text_.close();
  }

  // Whether all of it are instructions or conversions over lanes, which it prints. All or none: a loop over
  // the lanes that has other statements, too, needs them side by side.
  bool printed_over_lanes(const Lanes& lanes) {
    std::vector<std::string> calls;
    for (const Stmt& s : lanes.body) {
      const Set* set = std::get_if<Set>(&s.is);
      if (!set) return false;
      // Sums come back as their last operand.
      const bool adds = set->value->op == Op::kInstruction && same(set->value->args.back(), set->target);
      calls.push_back(adds ? c_.over_lanes(set->value, lanes.count)
                           : c_.stored_over_lanes(set->target, set->value, lanes.count));
      if (calls.back().empty()) calls.back() = c_.converted_over_lanes(set->target, set->value, lanes.count);
      if (calls.back().empty()) return false;
    }
    for (const std::string& call : calls) text_.put(call);
    return true;
  }

  // A loop over l, on one line where that is short. (Of scalar registers only instructions over lanes are
  // left: scalar_lanes().)
  void print(const Lanes& lanes) {
    if (printed_over_lanes(lanes)) return;
    std::vector<std::string> lines;
    size_t letters = 0;
    for (const Stmt& s : lanes.body) {
      lines.push_back(std::holds_alternative<Set>(s.is) ? line_of(std::get<Set>(s.is))
                                                        : line_of(std::get<Define>(s.is)));
      letters += lines.back().size() + 1;
    }
    // Short bodies stand on the line of the head: a tile of pixels is then a line each.
    const std::string head = head_of(lanes);
    if (letters <= kLaneLine) return text_.line("{} {{ {} }}", head, fmt::join(lines, " "));
    text_.open("{}", head);
    for (const std::string& line : lines) text_.put(line);
    text_.close();
  }

  // The head of a loop over the lanes that gcc leaves whole until it has vectorised it. Else it unrolls loops
  // of up to 200 of its insns first, of fewer than 6 pixels, say, and then computes lane by lane. Vectorised,
  // the loop has at most half as many iterations, and those it may unroll: only then are sums in registers.
  // Where values are widened before, 128-bit vectors of these lie in memory in parts that a sum cannot load
  // at once.
  std::string head_of(const Lanes& lanes) {
    std::string head = fmt::format("for (int l = 0; l < {}; ++l)", lanes.count);
    if (lanes.count < 4 || lanes.of == Lanes::Of::kOperands) return head;
    const std::string name = upper_case(prefix_) + (kernel_.widens ? "_UNROLL_WIDENED" : "_UNROLL");
    helpers_.functions[name] = fmt::format(
        "#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE_SIZE__) && {1}\n"
        "#define {0}_(x) _Pragma(#x)\n#define {0}(n) {0}_(GCC unroll n)\n#else\n#define {0}(n)\n#endif\n",
        name, kernel_.widens ? "defined(__AVX2__)" : "\\\n    (defined(__SSE2__) || defined(__ARM_NEON))");
    return fmt::format("{}({}) {}", name, lanes.count / 2, head);
  }

  // The else branch on the line of the brace, as in the rest of the C.
  void print(const When& when) {
    text_.open("if ({})", c_.condition(when.condition));
    print(when.body);
    if (!when.otherwise.empty()) {
      text_.close(" else {");
      text_.indent();
      print(when.otherwise);
    }
    text_.close();
  }

  void print(const Braces& braces) {
    text_.put("{");
    text_.indent();
    print(braces.body);
    text_.close();
  }

  void print(const Let& let) {
    text_.line("const int {} = {};", c_.index(axis(let.axis)), c_.alone(let.value));
  }

  // Arrays are filled by one loop over the lanes for all of them, which a compiler makes stores of vectors;
  // scalars have their value at once.
  void print(const Declare& declare) {
    const Register& first = register_of(declare.registers[0]);
    // All registers of one statement are of one type and kind.
    const bool values = first.holds == Register::Holds::kValues;
    const char* type = values ? c_value_type(first.type) : info(first.type).c_name;
    const std::string value = declare.initial.empty() ? "" : c_.value(declare.initial);
    std::string filled;
    for (int number : declare.registers) {
      const Register& r = register_of(number);
      if (r.lanes > 1)
        text_.line("{} {}[{}];", type, r.name, r.lanes);
      else
        text_.line("{} {}{};", type, r.name, value.empty() ? "" : " = " + value);
      if (r.lanes > 1 && !value.empty()) filled += fmt::format("{}[l] = {}; ", r.name, value);
    }
    if (!filled.empty()) text_.line("{} {{ {}}}", head_of({first.lanes, {}, Lanes::Of::kSums}), filled);
  }

  void print(const Define& define) { text_.put(line_of(define)); }
  void print(const Set& set) { text_.put(line_of(set)); }

  // Empty inline assembler: no instruction, but nothing that a compiler may move over freely or vectorise
  // with the loop around. With "memory" at -Os no load moves up over it either. clang needs none against
  // vectors, and other compilers have no such syntax.
  void print(const Barrier& barrier) {
    const bool loads = barrier.against == Barrier::Against::kEarlyLoads;
    const std::string name = upper_case(prefix_) + (loads ? "_LOADS_STAY" : "_BARRIER");
    const std::string none = fmt::format("#else\n#define {} (void)0\n#endif\n", name);
    const std::string define = fmt::format("#define {} __asm__ __volatile__(\"\"", name);
    helpers_.functions[name] =
        loads ? fmt::format(
                    "#if defined(__GNUC__) && defined(__OPTIMIZE_SIZE__)\n{0} ::: \"memory\")\n"
                    "#elif defined(__GNUC__) && !defined(__clang__)\n{0})\n{1}",
                    define, none)
              : fmt::format("#if defined(__GNUC__) && !defined(__clang__)\n{})\n{}", define, none);
    text_.line("{};", name);
  }

  std::string line_of(const Define& define) const {
    const Register& r = register_of(define.reg);
    return fmt::format("const {} {} = {};", c_value_type(r.type), r.name, c_.value(define.value));
  }

  // As `+=` where C's addition is the formula's; a copy between elements without the conversions that would
  // be taken back; else the value as the target holds it.
  std::string line_of(const Set& set) const {
    const std::string target = c_.element(set.target);
    const Expr& value = set.value;
    // In types that C does not promote, `+=` is the formula's sum.
    const bool adds = value->op == Op::kAdd && same(value->args[0], set.target) &&
                      (is_float(value->type) || c_.is_exact(value));
    if (adds) return fmt::format("{} += {};", target, c_.value(value->args[1]));
    // From memory to memory by way of elements: bits are moved, not converted.
    const bool copies = value->op == Op::kRead && holds_elements(value) && value->type == set.target->type;
    if (copies) return fmt::format("{} = {};", target, c_.element(value));
    if (holds_values(set.target)) return fmt::format("{} = {};", target, c_.value(value));
    return fmt::format("{} = {};", target, c_.stored(set.target->type, value));
  }

  const Register& register_of(int number) const { return kernel_.registers[static_cast<size_t>(number)]; }
  bool holds_values(const Expr& read) const { return read->index >= kRegisters && !holds_elements(read); }
  bool holds_elements(const Expr& read) const {
    return read->index >= kRegisters &&
           register_of(read->index - kRegisters).holds == Register::Holds::kElements;
  }

  const Kernel& kernel_;
  const KernelOperands& operands_;
  const std::string& prefix_;
  Helpers& helpers_;
  const CExpr c_;
  std::map<int, std::string> pointers_;  // parameter name per operand
  CKernel result_;
  CText text_;
};

}  // namespace

CKernel c_kernel(const Kernel& kernel, const KernelOperands& operands, const std::string& prefix,
                 Helpers& helpers) {
  return KernelPrinter(kernel, operands, prefix, helpers).run();
}

}  // namespace arenac
