// The constants that the emitted steps read: laid out, deduplicated, and written in one of three forms.
//
//   kws_weights.c    const float kws_w_0[432] = { 0.5f, ...      numbers, up to 64 KB in all (readable)
//                    kws_weights = { "\0\0\0?..." }              or bytes as strings, which compile faster
//   kws_weights.S    .incbin "kws_weights.bin"                   beyond 4 MB: the assembler copies them
//   kws_weights.bin  w_0 | pad | w_1 | pad ... | token           little-endian; with a pointer the token
//
// In NAME.c a constant is a pointer expression (weight_pointer()), whatever its form.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/emit.h"

namespace arenac {

constexpr int kConstantAlign = 8;  // bytes, of arrays in C

struct Weight {
  std::string name;   // w_17: of its array, behind the prefix
  TensorId tensor;    // the first that has these bytes
  std::string bytes;  // elements in the order of the tensor's layout
  size_t blob = 0;
  int64_t offset = 0;  // in the blob
};

// The constants of one memory (constant_pools.h).
struct Blob {
  std::string name = "weights";  // behind the prefix
  std::string macro = "CONST";   // the same in capitals: of what stands before each array
  std::string section = "";      // of the linker; "": the compiler's own
  std::string copy = "";         // the pool that NAME_load copies it into; "": runs read it where it lies
  int64_t align = 1;             // bytes
  int64_t begin = 0, total = 0;  // bytes, in the .bin
};

struct Weights {
  std::vector<Weight> all;
  std::map<TensorId, int> of_tensor;
  std::vector<Blob> blobs;
  WeightsForm form;  // never kAuto
  bool readable;     // arrays of numbers rather than a blob

  // Bytes that a constant takes in its blob: in the .bin, and in strings of C, a multiple of 64.
  int64_t room_for(const Weight& weight) const;
  std::vector<size_t> used_blobs() const;                                    // those with constants
  int64_t total() const { return blobs.back().begin + blobs.back().total; }  // bytes of the .bin
};

// The definition of the C type of text, for files that have any. Several files with it may be one.
bool holds_text(const Graph& graph);
std::string text_type();

Weights collect_weights(const Schedule& schedule, const EmitOptions& options);

// For NAME.c where constants lie behind a pointer, `weights`: whether they end in NAME_WEIGHTS_TOKEN.
std::string weight_check(const Weights& weights, const std::string& name);

// For NAME.c: stops the C compiler where the constants lie in another byte order than the machine's.
// Constants in C are right for any.
std::string weight_guard(const Weights& weights, const Schedule& schedule, const std::string& name);

// Declarations for NAME.c and NAME_weights.c, which define NAME_INTERNAL before they include NAME.h; and the
// expression for a pointer to the first element.
//
// In the objects one of their names ends in `token`, so that constants that are not these do not link; not
// where the caller places the bytes himself.
std::string weight_declarations(const Weights& weights, const Schedule& schedule, const std::string& name,
                                const std::string& token);
std::string weight_pointer(const Weights& weights, TensorId tensor, const Schedule& schedule,
                           const std::string& name);
// The first byte of a blob where it is one array.
std::string blob_pointer(const Weights& weights, size_t blob, const std::string& name);
std::vector<File> weight_files(const Weights& weights, const Schedule& schedule, const std::string& name,
                               const std::string& token);
// Eight digits that tell NAME.c and its constants from others; of constants behind a pointer, NAME.c and all
// that it can read. They end the .bin, lowest byte first.
std::string token_of(const Weights& weights, const std::string& source);

}  // namespace arenac
