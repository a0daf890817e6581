// Planning problems and their solutions as minimalloc's CSV files.
//
//   id,lower,upper,size,align,gaps,pool              id,lower,upper,size,align,gaps,pool,offset
//   conv1,0,4,1024,16,,sram dram              ->     conv1,0,4,1024,16,,sram,0
//   ring,2,9,512,1,4-6 7-8@0:128,sram                ring,2,9,512,1,4-6 7-8@0:128,sram,1024
//
//   id       also buffer, buffer_id
//   lower    also begin, start: the first time of the life
//   upper    the end of the life, which is no part of it; or in its place `end`, the last time that is
//   size     bytes
//   align    also alignment; default 1
//   gaps     times lo-hi without use, or lo-hi@lo:hi with only these bytes in use, separated by spaces
//   pool     names of the pools that may hold the buffer, the preferred first; default all
//   fixed    the offset that the plan must use
//   group    buffers of one group lie at one offset
//   overlap  id:distance, separated by spaces: may share bytes with that buffer from that distance above it
//   cost     pool:cost, separated by spaces: what it costs that the buffer lies there; default 0
//   uses     times of the life, separated by spaces: the first writes, the rest read; default first and last
//
// A plan with moves (stays.h) has a line per stay: with the times of the stay, its pool and its offset, and
// in the column `ready` the time at which its copy is done, or `lower` where it is not copied.
//
//   a,0,3,1024,fast,64,0
//   a,1,9,1024,slow,0,2
//
// The first four are needed; order and other columns do not matter. What pools hold and how they are aligned
// is no column: the caller says it.
#pragma once

#include <string>

#include "planner/problem.h"
#include "planner/stays.h"

namespace arenac {

// `pools` are those that the caller knows; others are added as the column names them, and if there are none
// in the end, one called "arena". Throws UserError naming `file` and the missing columns, or the line.
Problem problem_from_csv(const std::string& text, const std::string& file, std::vector<Pool> pools = {});

// The plan whose buffers are matched by id. Pool sizes and the cost are those that the placements come to; no
// bound is claimed. Throws UserError for a buffer without a line, a line without a buffer, a missing or wrong
// offset, and a cost that is not the problem's.
Plan plan_from_csv(const std::string& text, const std::string& file, const Problem& problem);

// The same as a start for a problem like the one that it solves: buffers are matched by id, and what this one
// lacks is passed over. Throws UserError for a missing or wrong offset.
WarmStart warm_start_from_csv(const std::string& text, const std::string& file, const Problem& problem);

// The stays of a plan with moves, which may make no sense. Throws UserError for a line of an unknown buffer
// or pool, and for a missing or wrong number.
std::vector<Stay> stays_from_csv(const std::string& text, const std::string& file, const Problem& problem);

// Only the optional columns that say something.
std::string to_csv(const Problem& problem);
std::string to_csv(const Problem& problem, const Plan& plan);
std::string to_csv(const Problem& problem, const std::vector<Stay>& stays);

}  // namespace arenac
