// Which memory each constant lies in, of those that --pool kind=constants names:
//
//   --pool name=itcm,kind=constants,size=16K --pool name=qspi,kind=constants
//
//   constant        bytes   reads of a byte in a run   lies in
//   conv1.weight      432                      2,304   itcm
//   conv2.weight    9,216                        576   itcm
//   dense.weight   40,960                          1   qspi
#pragma once

#include <set>

#include "codegen/weights.h"

namespace arenac {

// Gives each constant its blob, and its offset there: in the first pool with room those that a run reads most
// often, where no pin says otherwise. Without pools one blob has them all. UserError with Exit::kUsage for a
// pin of what is no constant, with Exit::kDoesNotFit where one finds no room.
void place_constants(Weights& weights, const Schedule& schedule, const ConstantPools& pools);

// The constants that a pin names, as numbers of Weights::all. UserError with Exit::kUsage where there are
// none.
std::set<int> named_by(const Pin& pin, const Weights& weights, const Graph& graph);

}  // namespace arenac
