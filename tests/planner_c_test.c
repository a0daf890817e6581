/* The C interface from C: prints nothing and returns 0 if all is well, else the line that is not. */
#include <string.h>

#include "planner/arenac_plan.h"

#define REQUIRE(condition) \
  if (!(condition)) return __LINE__

int planner_c_test(void);

static int the_example_in_the_header(void) {
  arenac_buffer buffers[] = {{.size = 8, .begin = 0, .end = 2}, {.size = 4, .begin = 2, .end = 5}};
  arenac_problem problem = {.buffers = buffers, .buffer_count = 2};
  arenac_placement placements[2];
  arenac_pool_use use;
  REQUIRE(arenac_plan(&problem, NULL, placements, &use, NULL, 0) == ARENAC_DONE);
  REQUIRE(placements[0].offset == 0 && placements[1].offset == 0 && placements[1].pool == 0);
  REQUIRE(use.size == 8 && use.lower_bound == 8);
  return 0;
}

static int everything_at_once(void) {
  const int64_t fixed = 32;
  const int32_t slow_first[] = {1, 0};
  const arenac_gap gap = {.begin = 1, .end = 3};
  const arenac_pool pools[] = {{.capacity = 64, .align = 4}, {.capacity = 0}};
  arenac_buffer buffers[] = {
      {.size = 8, .begin = 0, .end = 4, .gaps = &gap, .gap_count = 1},
      {.size = 8, .begin = 1, .end = 3, .align = 8},
      {.size = 8, .begin = 0, .end = 4, .fixed_offset = &fixed},
      {.size = 6, .begin = 0, .end = 2, .pools = slow_first, .pool_count = 2, .group = 7},
      {.size = 5, .begin = 2, .end = 4, .pools = slow_first, .pool_count = 2, .group = 7},
      {.size = 8, .begin = 3, .end = 5},
  };
  const arenac_overlap overlap = {.above = 0, .below = 5, .distance = 2};
  arenac_problem problem = {buffers, 6, pools, 2, &overlap, 1};
  arenac_placement at[6];
  arenac_pool_use uses[2];
  char message[200] = "";
  int status = arenac_plan(&problem, NULL, at, uses, message, sizeof message);
  REQUIRE(status == ARENAC_DONE);
  REQUIRE(at[2].pool == 0 && at[2].offset == 32);
  REQUIRE(at[3].pool == 1 && at[3].offset == at[4].offset);
  REQUIRE(uses[0].size == 40 && uses[1].size == 6);
  return 0;
}

static int mistakes(void) {
  const arenac_pool small = {.capacity = 7};
  arenac_buffer buffer = {.size = 8, .begin = 0, .end = 2};
  arenac_problem problem = {.buffers = &buffer, .buffer_count = 1, .pools = &small, .pool_count = 1};
  arenac_plan_options options = {.planner = "magic"};
  arenac_placement at = {9, 9};
  arenac_pool_use use;
  char message[12];
  REQUIRE(arenac_plan(&problem, NULL, &at, &use, message, sizeof message) == ARENAC_DOES_NOT_FIT);
  REQUIRE(strcmp(message, "pool '0' ne") == 0 && at.pool == 9);
  REQUIRE(arenac_plan(&problem, &options, &at, &use, message, sizeof message) == ARENAC_BAD_CALL);
  REQUIRE(arenac_plan(&problem, NULL, NULL, &use, NULL, 0) == ARENAC_BAD_CALL);
  REQUIRE(arenac_plan(NULL, NULL, NULL, NULL, NULL, 0) == ARENAC_BAD_CALL);
  buffer.end = 0;
  REQUIRE(arenac_plan(&problem, NULL, &at, &use, NULL, 0) == ARENAC_BAD_PROBLEM);
  return 0;
}

/* Objects of one size each take 19 bytes where 11 do. */
static int not_found(void) {
  const arenac_pool pool = {.capacity = 11};
  arenac_buffer buffers[] = {{.size = 4, .begin = 0, .end = 3},
                             {.size = 4, .begin = 1, .end = 2},
                             {.size = 3, .begin = 2, .end = 5},
                             {.size = 8, .begin = 4, .end = 6},
                             {.size = 3, .begin = 0, .end = 1}};
  arenac_problem problem = {.buffers = buffers, .buffer_count = 5, .pools = &pool, .pool_count = 1};
  arenac_plan_options options = {.planner = "tflite_objects_equality"};
  arenac_placement at[5];
  arenac_pool_use use;
  char message[200] = "";
  REQUIRE(arenac_plan(&problem, &options, at, &use, message, sizeof message) == ARENAC_NOT_FOUND);
  REQUIRE(use.size > 11 && use.lower_bound <= 11 && strstr(message, "not proven impossible"));
  REQUIRE(arenac_plan(&problem, NULL, at, &use, NULL, 0) == ARENAC_DONE && use.size == 11);
  return 0;
}

typedef struct {
  int reports, asked;
  int64_t size; /* as last reported */
} Watcher;

static void take_report(void* user, int64_t size, int64_t lower_bound) {
  Watcher* watcher = user;
  if (watcher->reports++ == 0 || size < watcher->size) watcher->size = size;
  if (lower_bound > size) watcher->reports = -1000;
}

static int is_enough(void* user) { return ++((Watcher*)user)->asked == 20; }

/* Its search may go on for days, and ends when it is told to. */
static int watched(void) {
  enum { kCount = 600 };
  static arenac_buffer buffers[kCount];
  static arenac_placement at[kCount];
  const arenac_problem problem = {.buffers = buffers, .buffer_count = kCount};
  Watcher watcher = {0, 0, 0};
  arenac_plan_options options = {.struct_size = sizeof options,
                                 .threads = 2,
                                 .seconds = 1e6,
                                 .report = take_report,
                                 .is_cancelled = is_enough,
                                 .user = &watcher};
  arenac_pool_use use;
  uint32_t random = 1;
  for (int k = 0; k < kCount; ++k) {
    uint32_t drawn[3];
    for (int d = 0; d < 3; ++d) drawn[d] = (random = random * 1664525u + 1013904223u) >> 16;
    buffers[k].size = 1000 + drawn[0] % 5000;
    buffers[k].begin = drawn[1] % 200;
    buffers[k].end = buffers[k].begin + 1 + drawn[2] % 60;
  }
  REQUIRE(arenac_plan(&problem, &options, at, &use, NULL, 0) == ARENAC_DONE);
  REQUIRE(arenac_plan_verify(&problem, at, NULL, 0) == ARENAC_DONE);
  REQUIRE(watcher.asked >= 20 && watcher.reports > 0 && watcher.size == use.size);
  REQUIRE(use.size > use.lower_bound);
  return 0;
}

static int options_of_other_versions(void) {
  arenac_buffer buffer = {.size = 8, .begin = 0, .end = 2};
  const arenac_problem problem = {.buffers = &buffer, .buffer_count = 1};
  struct {
    arenac_plan_options known;
    int64_t later;
  } newer = {{.struct_size = sizeof newer, .planner = "magic"}, 7};
  arenac_placement at;
  arenac_pool_use use;
  REQUIRE(arenac_plan(&problem, &newer.known, &at, &use, NULL, 0) == ARENAC_BAD_CALL);
  newer.known.planner = NULL;
  REQUIRE(arenac_plan(&problem, &newer.known, &at, &use, NULL, 0) == ARENAC_DONE && use.size == 8);
  newer.known.struct_size = 8;
  REQUIRE(arenac_plan(&problem, &newer.known, &at, &use, NULL, 0) == ARENAC_BAD_CALL);
  return 0;
}

/* One buffer is new, and the others stay where they are. */
static int warm_start(void) {
  const arenac_buffer buffers[] = {{.size = 8, .begin = 0, .end = 2},
                                   {.size = 4, .begin = 0, .end = 5},
                                   {.size = 8, .begin = 2, .end = 4}};
  const arenac_problem problem = {.buffers = buffers, .buffer_count = 3};
  for (int64_t low = 0; low <= 8; low += 8) { /* where the second lies, below the first or above it */
    const arenac_placement before[] = {{0, low ? 0 : 4}, {0, low}, {-1, 0}};
    const arenac_plan_options options = {.struct_size = sizeof options, .warm_start = before};
    arenac_placement at[3];
    arenac_pool_use use;
    REQUIRE(arenac_plan(&problem, &options, at, &use, NULL, 0) == ARENAC_DONE && use.size == 12);
    REQUIRE(at[0].offset == before[0].offset && at[1].offset == low && at[2].offset == before[0].offset);
  }
  return 0;
}

/* Places that no plan has lead to a plan all the same. */
static int warm_start_from_anywhere(void) {
  const arenac_buffer buffers[] = {{.size = 8, .align = 4, .begin = 0, .end = 2},
                                   {.size = 4, .begin = 1, .end = 5},
                                   {.size = 8, .begin = 2, .end = 4}};
  const arenac_problem problem = {.buffers = buffers, .buffer_count = 3};
  const int32_t pools[] = {INT32_MIN, -1, 0, 1, INT32_MAX};
  const int64_t offsets[] = {INT64_MIN, -1, 0, 3, INT64_MAX - 7, INT64_MAX};
  for (size_t k = 0; k < 5 * 6; ++k) {
    const arenac_placement place = {pools[k / 6], offsets[k % 6]};
    const arenac_placement before[] = {place, {0, 1}, place};
    const arenac_plan_options options = {.struct_size = sizeof options, .warm_start = before};
    arenac_placement at[3];
    arenac_pool_use use;
    REQUIRE(arenac_plan(&problem, &options, at, &use, NULL, 0) == ARENAC_DONE && use.size == 12);
    REQUIRE(arenac_plan_verify(&problem, at, NULL, 0) == ARENAC_DONE);
  }
  return 0;
}

static int bounds_and_plans_of_others(void) {
  const arenac_pool pool = {.capacity = 12};
  arenac_buffer buffers[] = {{.size = 8, .begin = 0, .end = 2}, {.size = 4, .begin = 1, .end = 5}};
  arenac_problem problem = {.buffers = buffers, .buffer_count = 2, .pools = &pool, .pool_count = 1};
  arenac_placement at[] = {{0, 4}, {0, 0}};
  const arenac_pool two[2] = {{0, 0}, {0, 0}};
  int64_t bound = 0;
  char message[100] = "";
  REQUIRE(arenac_plan_bound(&problem, &bound, NULL, 0) == ARENAC_DONE && bound == 12);
  REQUIRE(arenac_plan_verify(&problem, at, NULL, 0) == ARENAC_DONE);
  at[1].offset = 1;
  REQUIRE(arenac_plan_verify(&problem, at, message, sizeof message) == ARENAC_WRONG && message[0] != 0);
  at[1].offset = INT64_MAX;
  REQUIRE(arenac_plan_verify(&problem, at, NULL, 0) == ARENAC_WRONG);
  at[1].offset = INT64_MIN;
  REQUIRE(arenac_plan_verify(&problem, at, NULL, 0) == ARENAC_WRONG);
  at[1].offset = 0;
  for (int32_t nowhere = -1; nowhere < 2; nowhere += 2) {
    at[1].pool = nowhere;
    REQUIRE(arenac_plan_verify(&problem, at, NULL, 0) == ARENAC_WRONG);
  }
  at[1].pool = 0, at[0].offset = 8; /* beyond the capacity */
  REQUIRE(arenac_plan_verify(&problem, at, NULL, 0) == ARENAC_WRONG);
  REQUIRE(arenac_plan_verify(&problem, NULL, NULL, 0) == ARENAC_BAD_CALL);
  REQUIRE(arenac_plan_bound(&problem, NULL, NULL, 0) == ARENAC_BAD_CALL);
  problem.pools = two, problem.pool_count = 2;
  REQUIRE(arenac_plan_bound(&problem, &bound, NULL, 0) == ARENAC_BAD_CALL);
  problem.pool_count = 1, buffers[0].end = 0;
  REQUIRE(arenac_plan_bound(&problem, &bound, NULL, 0) == ARENAC_BAD_PROBLEM);
  return 0;
}

static int certificates(void) {
  arenac_buffer buffers[] = {{.size = 8, .begin = 0, .end = 2},
                             {.size = 4, .begin = 1, .end = 5},
                             {.size = 1, .begin = 7, .end = 9}};
  const arenac_problem problem = {.buffers = buffers, .buffer_count = 3};
  int32_t ids[3] = {-1, -1, -1};
  arenac_certificate why = {.bound = 12, .buffers = ids};
  REQUIRE(arenac_plan_certify(&problem, NULL, &why, NULL, 0) == ARENAC_DONE);
  REQUIRE(why.buffer_count == 2 && ids[0] == 0 && ids[1] == 1 && why.has_time && why.time == 1);
  REQUIRE(arenac_plan_check_certificate(&problem, &why, NULL, 0) == ARENAC_DONE);
  why.has_time = 0;
  REQUIRE(arenac_plan_check_certificate(&problem, &why, NULL, 0) == ARENAC_DONE);
  why.bound = 13;
  char message[100] = "";
  REQUIRE(arenac_plan_check_certificate(&problem, &why, message, sizeof message) == ARENAC_WRONG &&
          message[0] != 0);
  REQUIRE(arenac_plan_certify(&problem, NULL, &why, NULL, 0) == ARENAC_NOT_FOUND);
  ids[1] = 7;
  REQUIRE(arenac_plan_check_certificate(&problem, &why, NULL, 0) == ARENAC_WRONG);
  why.pool = 1;
  REQUIRE(arenac_plan_certify(&problem, NULL, &why, NULL, 0) == ARENAC_BAD_CALL);
  REQUIRE(arenac_plan_certify(&problem, NULL, NULL, NULL, 0) == ARENAC_BAD_CALL);
  return 0;
}

/* Fast memory has room for the first or the second, and costs say which. */
static int costs(void) {
  const arenac_pool pools[] = {{.capacity = 8}, {.capacity = 0}};
  const int32_t slow[] = {1};
  const arenac_buffer buffers[] = {{.size = 6, .begin = 0, .end = 2},
                                   {.size = 4, .begin = 1, .end = 3},
                                   {.size = 1, .begin = 0, .end = 3, .pools = slow, .pool_count = 1}};
  const arenac_problem problem = {.buffers = buffers, .buffer_count = 3, .pools = pools, .pool_count = 2};
  int64_t pool_costs[] = {0, 9, 0, 5, -1, 2};
  arenac_plan_cost cost = {-1, -1};
  arenac_plan_options options = {.struct_size = sizeof options, .pool_costs = pool_costs, .cost = &cost};
  arenac_placement at[3];
  arenac_pool_use uses[2];
  char message[200] = "";
  REQUIRE(arenac_plan(&problem, &options, at, uses, NULL, 0) == ARENAC_DONE);
  REQUIRE(at[0].pool == 0 && at[1].pool == 1 && cost.cost == 7 && cost.lower_bound == 7);
  REQUIRE(arenac_plan_verify(&problem, at, NULL, 0) == ARENAC_DONE);
  pool_costs[1] = 4;
  REQUIRE(arenac_plan(&problem, &options, at, uses, NULL, 0) == ARENAC_DONE);
  REQUIRE(at[0].pool == 1 && at[1].pool == 0 && cost.cost == 6);
  options.cost = NULL;
  REQUIRE(arenac_plan(&problem, &options, at, uses, NULL, 0) == ARENAC_DONE && at[0].pool == 1);
  pool_costs[3] = -1;
  REQUIRE(arenac_plan(&problem, &options, at, uses, message, sizeof message) == ARENAC_BAD_PROBLEM);
  REQUIRE(strstr(message, "buffer 1") && strstr(message, "negative"));
  options.struct_size = offsetof(arenac_plan_options, pool_costs); /* of a caller that has no costs */
  options.cost = &cost, cost.cost = 99;
  REQUIRE(arenac_plan(&problem, &options, at, uses, NULL, 0) == ARENAC_DONE && cost.cost == 99);
  options.struct_size = sizeof options, options.pool_costs = NULL;
  REQUIRE(arenac_plan(&problem, &options, at, uses, NULL, 0) == ARENAC_DONE);
  REQUIRE(cost.cost == 0 && cost.lower_bound == 0);
  return 0;
}

int planner_c_test(void) {
  int line = the_example_in_the_header();
  if (!line) line = everything_at_once();
  if (!line) line = not_found();
  if (!line) line = watched();
  if (!line) line = options_of_other_versions();
  if (!line) line = warm_start();
  if (!line) line = warm_start_from_anywhere();
  if (!line) line = bounds_and_plans_of_others();
  if (!line) line = certificates();
  if (!line) line = costs();
  return line ? line : mistakes();
}
