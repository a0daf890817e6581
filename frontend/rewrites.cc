#include "frontend/rewrites.h"

#include "frontend/common.h"
#include "frontend/inline.h"
#include "frontend/integer_sums.h"
#include "frontend/narrow.h"
#include "frontend/narrow_constants.h"
#include "frontend/padding.h"
#include "frontend/products.h"
#include "frontend/requantize.h"
#include "frontend/scaled_weights.h"
#include "frontend/unflatten.h"
#include "frontend/zero_points.h"

namespace arenac {
namespace {

using Rounding = Rewrite::Rounding;

// A rewrite that asks nothing.
template <Graph (*kRewrite)(Graph)>
Graph alone(Graph graph, const RewriteArguments&) {
  return kRewrite(std::move(graph));
}

Graph free_precision(Graph graph, const RewriteArguments& arguments) {
  return with_free_precision(std::move(graph), arguments.peak_of);
}

Graph fused_loops(Graph graph, const RewriteArguments& arguments) {
  return with_fused_loops(std::move(graph), arguments.loop_constants);
}

Graph narrow_constants(Graph graph, const RewriteArguments& arguments) {
  return with_narrow_constants(std::move(graph), arguments.constants);
}

constexpr Rewrite kRewrites[] = {
    {"free_precision", "16-bit activations that cost no memory as float32 become float32", Rounding::kOther,
     free_precision},
    {"early_narrowing", "what narrows elements comes before what moves them: fewer bytes are moved and held",
     Rounding::kSame, alone<with_early_narrowing>},
    {"unflattened_operands", "sums over a flattened tensor walk its dimensions: a view, and row by row",
     Rounding::kSame, alone<with_unflattened_operands>},
    {"inlined_elements", "element-wise nodes become part of their neighbours: no tensor between them",
     Rounding::kSame, alone<with_inlined_elements>},
    {"merged_padding", "zeros around an operand of a sum become bounds of the sum: no padded copy",
     Rounding::kSame, alone<with_merged_padding>},
    {"integer_sums", "sums of dequantised integers run in int32 and are scaled once: fast, and small weights",
     Rounding::kOther, alone<with_integer_sums>},
    {"zero_points_outside",
     "sums of integers with zero points that the run computes are corrected once: products of bytes",
     Rounding::kSame, alone<with_zero_points_outside>},
    {"requantized", "quantised results of integers are one product each: the same bits everywhere",
     Rounding::kOther, alone<with_requantization>},
    {"narrow_constants", "constants of which folding made floats stay as small as the model has them",
     Rounding::kSame, narrow_constants},
    {"scaled_weights", "what scales a sum by constants goes into the weights: no normalisation at run time",
     Rounding::kOther, alone<with_scaled_weights>},
    {"common_nodes", "what is computed or kept twice is there once", Rounding::kSame,
     alone<with_common_nodes>},
    {"own_factors",
     "what neighbouring sums of products each take an element of is nobody else's: it may lie for that",
     Rounding::kSame, alone<with_own_factors>},
    {"fused_loops", "loops over the same moments run as one: of what lies between, one moment is kept",
     Rounding::kSame, fused_loops},
};

}  // namespace

std::span<const Rewrite> rewrites() { return kRewrites; }

Graph rewritten(Graph imported, const RewriteArguments& arguments, const AfterRewrite& after) {
  for (const Rewrite& row : rewrites()) {
    imported = row.rewrite(std::move(imported), arguments);
    verify(imported);
    if (after) after(row, imported);
  }
  return imported;
}

}  // namespace arenac
