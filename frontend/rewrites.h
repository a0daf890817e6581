// The rewrites between import and scheduling, in the order in which they run.
//
//   Graph graph = rewritten(import_model("kws.onnx"), layerwise_peak);      // of scheduler/storage.h
//   for (const Rewrite& row : rewrites()) graph = row.rewrite(std::move(graph), layerwise_peak);    by hand
//
//   free_precision -> early_narrowing -> unflattened_operands -> inlined_elements -> merged_padding
//                                                    -> integer_sums -> zero_points_outside -> requantized
//                                                    -> narrow_constants -> scaled_weights -> common_nodes
//                                                    -> own_factors -> fused_loops
//
// What each has to come before:
//   free_precision        inlined_elements, which leaves alone what a 16-bit type rounds;
//   early_narrowing       inlined_elements, which appends the narrowing node where no movement is between;
//   unflattened_operands  inlined_elements, which leaves alone a dequantisation whose operand it would have
//                         to find by division, and so integer_sums, which then sees no integers;
//   inlined_elements      the three on sums, which look for scales, casts and zeros inside one nest;
//   merged_padding        integer_sums: a padded copy hides the integers of which a factor is made;
//   integer_sums          scaled_weights, which would make floats of integer weights and their scales;
//   zero_points_outside   common_nodes, which forgets what constants were folded from;
//   narrow_constants      scaled_weights, which would make new floats of float16 weights; and after
//                         integer_sums, which reads narrow constants without scales;
//   common_nodes          nothing: the others make nodes equal, and it forgets what constants were folded
//                         from, which integer_sums, narrow_constants and scaled_weights ask for;
//   own_factors           nothing: common_nodes would undo it;
//   fused_loops           nothing: it moves what the others have made of nodes between loops.
//
// Rewrites that take arguments of the user's run after these: streams (frontend/stream.h) and reordered sums
// (scheduler/sums.h).
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "frontend/graph.h"
#include "frontend/loop_fusion.h"
#include "frontend/narrow_constants.h"
#include "frontend/precision.h"

namespace arenac {

// What rewrites ask of those who want the graph.
struct RewriteArguments {
  // NOLINTNEXTLINE(google-explicit-constructor): most want nothing else
  RewriteArguments(PeakOf peak_of, int64_t loop_constants = kEveryConstant, ConstantWidths constants = {})
      : peak_of(peak_of), loop_constants(loop_constants), constants(constants) {}

  PeakOf peak_of;
  int64_t loop_constants;    // bytes, see with_fused_loops()
  ConstantWidths constants;  // see with_narrow_constants()
};

struct Rewrite {
  std::string_view name;  // what --dump-after takes
  std::string_view description;
  // kSame: every output keeps every bit, but the sign of a zero and the payload of a NaN.
  // kOther: floats are rounded in fewer or other places; the function's header says how far that goes, and
  // what it does to integers.
  enum class Rounding { kSame, kOther } rounding;
  Graph (*rewrite)(Graph graph, const RewriteArguments& arguments);
};

std::span<const Rewrite> rewrites();

// The imported graph after all rewrites, verified after each: what is scheduled. Calls `after` with every row
// and its result.
using AfterRewrite = std::function<void(const Rewrite& row, const Graph& graph)>;
Graph rewritten(Graph imported, const RewriteArguments& arguments, const AfterRewrite& after = {});

}  // namespace arenac
