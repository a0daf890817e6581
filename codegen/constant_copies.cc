// Constants that lie in flash and that runs read in RAM, where NAME_load copies them:
//
//   --pool name=dtcm,kind=constants,size=16K,section=.dtcm,copy=start
//
//   flash   kws_w_0, kws_w_3   as any constants; or one array of all of the pool, kws_weights_dtcm
//   .dtcm   kws_pool_dtcm      at the offsets of these, without contents in the flash image
//   .bss    kws_loaded         whether it is filled
#include <fmt/format.h>

#include "codegen/c_program.h"

namespace arenac {
namespace {

// The calls that fill the array of the blob.
void copy_blob(CText& c, const CProgram& p, size_t k) {
  const auto copy = [&](int64_t offset, const std::string& from, int64_t size) {
    c.line("  {0}_copy({0}_pool_{1}.bytes{2}, {3}, {4}u);", p.name, p.weights.blobs[k].copy,
           offset > 0 ? fmt::format(" + {}", offset) : "", from, size);
  };
  if (!p.weights.readable) return copy(0, blob_pointer(p.weights, k, p.name), p.weights.blobs[k].total);
  for (const Weight& weight : p.weights.all)
    if (weight.blob == k)
      copy(weight.offset, fmt::format("{}_{}", p.name, weight.name),
           static_cast<int64_t>(weight.bytes.size()));
}

}  // namespace

// The default copies byte by byte through unsigned char, which is right for any type and alignment.
std::string copy_macro(const CProgram& p) {
  return fmt::format(
      "#ifndef {0}_COPY /* of constants into fast memory, complete when it returns: by DMA, or this loop */\n"
      "static void {1}_fetch(unsigned char *to, const void *from, size_t size)\n{{\n"
      "  const unsigned char *bytes = (const unsigned char *)from;\n"
      "  for (; size > 0; --size) *to++ = *bytes++;\n}}\n"
      "#define {0}_COPY(to, from, size) {1}_fetch(to, from, size)\n#endif\n",
      p.upper, p.name);
}

// The flag is set last, and is in .bss, which start-up code clears: RAM that lost its contents together with
// it refuses runs until it is filled anew.
void constant_copies(CText& c, const CProgram& p) {
  CText calls;
  c.line("/* What {}_load fills, and whether it has. */", p.name);
  for (size_t k : p.weights.used_blobs()) {
    const Blob& blob = p.weights.blobs[k];
    if (blob.copy.empty()) continue;
    c.put(pool_array(p.name, blob.copy, p.upper + "_" + p.constant_macros[k],
                     p.options.constants.pools[k].section));
    copy_blob(calls, p, k);
  }
  c.line("static int {}_loaded; /* in .bss */", p.name);
  if (!calls.text().empty())
    c.line(
        "static void {}_copy(unsigned char *to, const void *from, size_t size)\n{{\n"
        "  const unsigned char *bytes = (const unsigned char *)from;\n"
        "  for (; size > 0; --size) *to++ = *bytes++;\n}}",
        p.name);
  c.line("void {}_load(void)\n{{", p.name);
  c.put(calls);
  c.line("  {}_loaded = 1; /* the last: until then runs refuse */\n}}\n", p.name);
}

}  // namespace arenac
