// Static arrays for pools: of one program, or of several that share them, with what else these have in
// common.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/c_program.h"
#include "codegen/kernel_library.h"

namespace arenac {

// What is aligned otherwise has NAME_SLACK bytes more, to round up: an unknown compiler costs some bytes of
// RAM and no user has to change the C.
std::string alignment_macros(const std::string& upper, const std::string& pool) {
  CText c;
  c.line(
      "/* Memory of one's own: {0}_ALIGNED({1}_ALIGN) static unsigned char memory[{1}_SIZE];\n"
      "   Can be defined for compilers that this does not know. */\n"
      "#ifdef {0}_ALIGNED\n#define {0}_SLACK(n) 0u\n"
      "#elif defined(__GNUC__) || defined(__TINYC__)\n"
      "#define {0}_ALIGNED(n) __attribute__((aligned(n)))\n#define {0}_SLACK(n) 0u\n"
      "#elif defined(__cplusplus) && __cplusplus >= 201103L\n"
      "#define {0}_ALIGNED(n) alignas(n)\n#define {0}_SLACK(n) 0u\n"
      "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n"
      "#define {0}_ALIGNED(n) _Alignas(n)\n#define {0}_SLACK(n) 0u\n"
      "#else\n#define {0}_ALIGNED(n)\n#define {0}_SLACK(n) ((n) - 1u)\n#endif\n",
      upper, upper + "_" + pool);
  return c.text();
}

// A named section has contents to gcc, which would lie in flash images as zeros: the name carries the type
// NOBITS, and what gcc writes behind it becomes a comment of the assembler.
//
//   section(".sram,\"aw\",%nobits@")   ->   .section .sram,"aw",%nobits@,"aw"     '@' begins a comment on Arm
std::string section_macro(const std::string& upper, const std::vector<std::string>& sections) {
  CText c;
  if (std::ranges::all_of(sections, [](const std::string& section) { return section.empty(); }))
    return c.text();
  c.line(
      "#ifndef {0}_SECTION /* without contents in the flash image, like .bss */\n"
      "#if defined(__GNUC__) && !defined(__clang__) && defined(__ELF__) && defined(__arm__)\n"
      "#define {0}_SECTION(name) __attribute__((section(name \",\\\"aw\\\",%nobits@\")))\n"
      "#elif defined(__GNUC__) && !defined(__clang__) && defined(__ELF__) && defined(__aarch64__)\n"
      "#define {0}_SECTION(name) __attribute__((section(name \",\\\"aw\\\",%nobits//\")))\n"
      "#elif defined(__GNUC__) && !defined(__clang__) && defined(__ELF__) && \\\n"
      "    (defined(__riscv) || defined(__x86_64__) || defined(__i386__) || defined(__xtensa__))\n"
      "#define {0}_SECTION(name) __attribute__((section(name \",\\\"aw\\\",%nobits#\")))\n"
      "#elif defined(__GNUC__)\n#define {0}_SECTION(name) __attribute__((section(name)))\n"
      "#else\n#define {0}_SECTION(name)\n#endif\n#endif\n",
      upper);
  return c.text();
}

// A union, so that a compiler that knows no alignment has that of a double and an int64_t at least.
//
//   kws_pool_arena   | up to KWS_SLACK bytes | KWS_ARENA_SIZE bytes, aligned |
//                      0 where KWS_ALIGNED works
std::string pool_array(const std::string& name, const std::string& pool, const std::string& macro,
                       const std::string& section) {
  return fmt::format(
      "{0}{1}_ALIGNED({2}_ALIGN) static union {{\n"
      "  unsigned char bytes[{2}_SIZE + {1}_SLACK({2}_ALIGN)];\n"
      "  double real;\n  int64_t whole;\n}} {3}_pool_{4};\n",
      section.empty() ? "" : fmt::format("{}_SECTION({}) ", upper_case(name), c_string(section)),
      upper_case(name), macro, name, pool);
}

// The first address in a static array that is aligned: where NAME_ALIGNED works, the array's own.
std::string aligned_function(const std::string& name) {
  return fmt::format(
      "static void *{}_aligned(unsigned char *bytes, unsigned align)\n{{\n"
      "  const unsigned over = (unsigned)((uintptr_t)bytes % align);\n"
      "  return over ? bytes + (align - over) : bytes;\n}}",
      name);
}

// At least a byte, for C has no empty arrays. The capacity is checked by the preprocessor, so that a build
// that sets it for its board stops at a header and not at the linker.
void pool_size_macros(CText& c, const std::string& header, const std::string& macro, int64_t size,
                      const Pool& pool) {
  c.line("#define {0}_SIZE {1}u /* bytes */\n#define {0}_ALIGN {2}u", macro, std::max<int64_t>(size, 1),
         pool.align);
  if (pool.capacity)
    c.line("#ifndef {0}_CAPACITY\n#define {0}_CAPACITY {1}\n#endif", macro,
           c_unsigned(std::max<int64_t>(*pool.capacity, 1)));
  c.line(
      "#if defined({0}_CAPACITY) && {0}_SIZE > {0}_CAPACITY\n"
      "#error \"{1}.h: {0}_SIZE is more than {0}_CAPACITY\"\n#endif",
      macro, header);
}

namespace {

// The one call for what every program's NAME_load does.
void load_all(CText& h, CText& c, const std::string& name, const std::vector<std::string>& programs) {
  h.line(
      "/* Copies the constants of all models into RAM, as each one's _load does its own: comes before the\n"
      "   first run, and again where that RAM loses its content; no run may go on meanwhile. */\n"
      "void {}_load(void);",
      name);
  c.line("void {}_load(void)\n{{", name);
  for (const std::string& program : programs) c.line("  {}_load();", program);
  c.put("}");
}

}  // namespace

// Kernels are between begin and end, which turn compiler options on and off for them alone; the arena and its
// functions come behind. Programs include the header of kernels and link with this file.
std::vector<File> shared_parts(const std::vector<Pool>& pools, const std::vector<int64_t>& sizes,
                               const EmitOptions& options, const std::vector<std::string>& programs,
                               const KernelLibrary& kernels) {
  const std::vector<std::string>& sections = options.sections;
  const std::string &name = kernels.name(), upper = upper_case(name);
  const std::vector<std::string> macros = pool_macros(pools), ids = pool_identifiers(pools);
  CText h, c;
  h.line(
      "/* The memory of several models, written by arenac. Do not edit. */\n#ifndef {0}_H\n#define {0}_H\n",
      upper);
  for (const std::string& program : programs) h.line("#include \"{}.h\"", program);
  h.put("");
  h.put(alignment_macros(upper, macros[0]));
  h.put("#ifdef __cplusplus\nextern \"C\" {\n#endif");
  c.line(
      "/* The kernels and the memory of several models, written by arenac. Do not edit. */\n"
      "#include \"{0}.h\"\n#include \"{0}_kernels.h\"\n\n#include <float.h>\n#include <limits.h>\n"
      "#include <math.h>\n",
      name);
  for (const std::string& text : kernels.preludes()) c.put(text);
  // Headers of the system come before: options of the kernels are none for them.
  kernels.begin(c);
  c.put("#ifdef __cplusplus\nextern \"C\" {\n#endif");
  c.put(kernels.text());
  c.put("#ifdef __cplusplus\n}\n#endif");
  kernels.end(c);
  c.put(section_macro(upper, sections));
  c.put("#ifdef __cplusplus\nextern \"C\" {\n#endif");
  if (options.constants.any_copied()) load_all(h, c, name, programs);
  c.line("#ifndef {}_NO_STATIC_ARENA", upper);
  c.put(aligned_function(name));
  h.put("/* Whoever runs on memory of his own gives each workspace this much, one block for all of them. */");
  for (size_t k = 0; k < pools.size(); ++k) {
    const std::string macro = upper + "_" + macros[k];
    pool_size_macros(h, name, macro, sizes[k], pools[k]);
    h.line("void *{}_static_{}(void);", name, ids[k]);
    c.put(pool_array(name, ids[k], macro, k < sections.size() ? sections[k] : ""));
    c.line("void *{0}_static_{1}(void)\n{{\n  return {0}_aligned({0}_pool_{1}.bytes, {2}_ALIGN);\n}}", name,
           ids[k], macro);
  }
  h.put("#ifdef __cplusplus\n}\n#endif\n#endif");
  c.put("#endif\n#ifdef __cplusplus\n}\n#endif");
  return {{name + ".h", h.text()}, {name + ".c", with_short_lines(c.text())}, kernels.header()};
}

}  // namespace arenac
