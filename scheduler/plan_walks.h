// How all nests of a schedule are walked, and where constants and storages lie for it.
#pragma once

#include <vector>

#include "scheduler/schedule.h"

namespace arenac {

// Chooses the walks of all nests, with them how constants lie, and what may then overlap. Of steps that are
// as in a schedule whose walks are `known`, those are taken: schedules of groups have most steps in common.
void plan_walks(Schedule& schedule, const Target& target, const std::vector<const Schedule*>& known);

}  // namespace arenac
