#include "frontend/kernels.h"

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "frontend/error.h"
#include "frontend/kernel_sources.h"  // written by CMake: k_NAME is the text of kernels/NAME.c

namespace arenac {
namespace {

// To C++ a kernel's file is a function template over its element type.
#define ARENAC_T T

#define ARENAC_NAME cumulate
template <typename T>
#include "frontend/kernels/cumulate.c"
#undef ARENAC_NAME

#define ARENAC_NAME det
template <typename T>
#include "frontend/kernels/det.c"
#undef ARENAC_NAME

#define ARENAC_NAME integer_text
template <typename T>
#include "frontend/kernels/integer_text.c"
#undef ARENAC_NAME

#define ARENAC_NAME nms
template <typename T>
#include "frontend/kernels/nms.c"
#undef ARENAC_NAME

#define ARENAC_NAME nonzero
template <typename T>
#include "frontend/kernels/nonzero.c"
#undef ARENAC_NAME

#define ARENAC_NAME number_text
template <typename T>
#include "frontend/kernels/number_text.c"
#undef ARENAC_NAME

#define ARENAC_NAME pair_coupling
template <typename T>
#include "frontend/kernels/pair_coupling.c"
#undef ARENAC_NAME

#define ARENAC_NAME roi_align
template <typename T>
#include "frontend/kernels/roi_align.c"
#undef ARENAC_NAME

#define ARENAC_NAME text_case
template <typename T>
#include "frontend/kernels/text_case.c"
#undef ARENAC_NAME

#define ARENAC_NAME text_concat
template <typename T>
#include "frontend/kernels/text_concat.c"
#undef ARENAC_NAME

#define ARENAC_NAME text_number
template <typename T>
#include "frontend/kernels/text_number.c"
#undef ARENAC_NAME

#define ARENAC_NAME text_split
template <typename T>
#include "frontend/kernels/text_split.c"
#undef ARENAC_NAME

#define ARENAC_NAME topk
template <typename T>
#include "frontend/kernels/topk.c"
#undef ARENAC_NAME

#define ARENAC_NAME tree_ensemble
template <typename T>
#include "frontend/kernels/tree_ensemble.c"
#undef ARENAC_NAME

#define ARENAC_NAME unique
template <typename T>
#include "frontend/kernels/unique.c"
#undef ARENAC_NAME

KernelFunction* instance(Type type, std::initializer_list<std::pair<Type, KernelFunction*>> all) {
  for (const auto& [t, function] : all)
    if (t == type) return function;
  return nullptr;
}

#define ARENAC_INTEGERS(type, kernel)                \
  instance(type, {{Type::kInt8, kernel<int8_t>},     \
                  {Type::kInt16, kernel<int16_t>},   \
                  {Type::kInt32, kernel<int32_t>},   \
                  {Type::kInt64, kernel<int64_t>},   \
                  {Type::kUint8, kernel<uint8_t>},   \
                  {Type::kUint16, kernel<uint16_t>}, \
                  {Type::kUint32, kernel<uint32_t>}, \
                  {Type::kUint64, kernel<uint64_t>}})
#define ARENAC_NUMBERS(type, kernel)                                                                    \
  (is_float(type) ? instance(type, {{Type::kFloat32, kernel<float>}, {Type::kFloat64, kernel<double>}}) \
                  : ARENAC_INTEGERS(type, kernel))

}  // namespace

std::span<const KernelRow> kernels() {
  static constexpr KernelRow kRows[] = {
      {"cumulate", "running sums or products along an axis", k_cumulate,
       [](Type type) {
         // Of unsigned integers only, which wrap: signed ones have the same bits.
         return instance(type, {{Type::kFloat32, cumulate<float>},
                                {Type::kFloat64, cumulate<double>},
                                {Type::kUint32, cumulate<uint32_t>},
                                {Type::kUint64, cumulate<uint64_t>}});
       }},
      {"det", "determinants", k_det,
       [](Type type) {
         return instance(type, {{Type::kFloat32, det<float>}, {Type::kFloat64, det<double>}});
       }},
      {"integer_text", "integers in decimal digits", k_integer_text,
       [](Type type) { return ARENAC_INTEGERS(type, integer_text); }},
      {"nms", "non-maximum suppression of boxes", k_nms,
       [](Type type) {
         return instance(type, {{Type::kFloat32, nms<float>}});
       }},
      {"nonzero", "where elements are true", k_nonzero,
       [](Type type) {
         return instance(type, {{Type::kBool, nonzero<uint8_t>}});
       }},
      {"number_text", "floats in decimal digits", k_number_text,
       [](Type type) {
         return instance(type, {{Type::kFloat32, number_text<float>}});
       }},
      {"pair_coupling", "probabilities of classes from those of pairs", k_pair_coupling,
       [](Type type) {
         return instance(type, {{Type::kFloat32, pair_coupling<float>}});
       }},
      {"roi_align", "regions of images, resampled", k_roi_align,
       [](Type type) {
         return instance(type, {{Type::kFloat32, roi_align<float>}, {Type::kFloat64, roi_align<double>}});
       }},
      {"text_case", "text in capitals or small letters", k_text_case,
       [](Type type) {
         return instance(type, {{Type::kString, text_case<char>}});
       }},
      {"text_concat", "one text after another", k_text_concat,
       [](Type type) {
         return instance(type, {{Type::kString, text_concat<char>}});
       }},
      {"text_number", "numbers that text spells", k_text_number,
       [](Type type) {
         return instance(type, {{Type::kFloat32, text_number<float>},
                                {Type::kFloat64, text_number<double>},
                                {Type::kInt64, text_number<int64_t>},
                                {Type::kUint64, text_number<uint64_t>}});
       }},
      {"text_split", "pieces of text between delimiters", k_text_split,
       [](Type type) {
         return instance(type, {{Type::kString, text_split<char>}});
       }},
      {"topk", "the k best elements along an axis, and where they are", k_topk,
       [](Type type) { return ARENAC_NUMBERS(type, topk); }},
      {"tree_ensemble", "scores of decision trees", k_tree_ensemble,
       [](Type type) {
         return instance(type,
                         {{Type::kFloat32, tree_ensemble<float>}, {Type::kFloat64, tree_ensemble<double>}});
       }},
      {"unique", "groups of equal slices along an axis", k_unique,
       [](Type type) { return ARENAC_NUMBERS(type, unique); }},
  };
  return kRows;
}

const KernelRow& kernel(std::string_view name) {
  for (const KernelRow& row : kernels())
    if (row.name == name) return row;
  throw InternalError(fmt::format("no C kernel is called '{}'", name));
}

}  // namespace arenac
