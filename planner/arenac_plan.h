/* The planner for other compilers, in C: where in which memory does each buffer lie?
 *
 *   arenac_buffer buffers[] = {{.size = 8, .begin = 0, .end = 2}, {.size = 4, .begin = 2, .end = 5}};
 *   arenac_problem problem = {.buffers = buffers, .buffer_count = 2};
 *   arenac_placement placements[2];
 *   arenac_pool_use use;
 *   char message[256];
 *   if (arenac_plan(&problem, NULL, placements, &use, message, sizeof message) != ARENAC_DONE) puts(message);
 *   // placements[1].offset == 0: b takes the place of a; use.size == use.lower_bound == 8: no placement
 *   // is smaller
 *
 * Sizes and offsets are bytes, times are logical and half-open. A field that is left zero asks for nothing
 * special. planner/problem.h says what each part of a problem means. Re-entrant; the caller owns all memory.
 */
#ifndef ARENAC_PLAN_H
#define ARENAC_PLAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int64_t capacity; /* 0: as large as it takes */
  int64_t align;    /* of every offset; 0: 1 */
} arenac_pool;

/* Times [begin, end) at which a buffer uses only its bytes [low, high), none if they are equal. */
typedef struct {
  int64_t begin, end, low, high;
} arenac_gap;

typedef struct {
  int64_t size, align;  /* align 0: 1 */
  int64_t begin, end;   /* begin < end */
  const int32_t* pools; /* indices, the preferred first; NULL: every pool in its order */
  size_t pool_count;
  const arenac_gap* gaps; /* by time, apart */
  size_t gap_count;
  const int64_t* fixed_offset; /* NULL: free */
  int32_t group;               /* buffers of one group other than 0 lie at one offset */
} arenac_buffer;

/* The two may share bytes if offset(above) - offset(below) >= distance. */
typedef struct {
  int32_t above, below;
  int64_t distance;
} arenac_overlap;

typedef struct {
  const arenac_buffer* buffers;
  size_t buffer_count;
  const arenac_pool* pools; /* NULL: one pool without limit */
  size_t pool_count;
  const arenac_overlap* overlaps;
  size_t overlap_count;
} arenac_problem;

typedef struct {
  int32_t pool;
  int64_t offset;
} arenac_placement;

/* What the choice of pools costs; no plan within the capacities costs less than lower_bound. */
typedef struct {
  int64_t cost, lower_bound;
} arenac_plan_cost;

typedef struct {
  /* sizeof(arenac_plan_options): fields that the caller's version of this file lacks are taken as zero, and
   * fields that the library's lacks are not looked at. 0: the fields up to `user`, which every version has.
   */
  size_t struct_size;
  const char* planner; /* a row of `arenac list planners`; NULL: the default */
  double seconds;      /* search until then or a proof; 0: while it seems worth it */
  double effort;       /* times the work that seems worth it; 0: 1 */
  uint64_t seed;       /* 0: 1 */
  int any_fit;         /* other than 0: any plan within the capacities will do */
  /* Called by the thread that called arenac_plan, before it returns. `report`: a better plan was found, of so
   * many bytes in all pools, or a higher bound of them. `is_cancelled`: asked again and again while it
   * searches; other than 0 ends the search, with the best plan found so far. Each may be NULL. */
  void (*report)(void* user, int64_t size, int64_t lower_bound);
  int (*is_cancelled)(void* user);
  void* user;
  /* Where each buffer lay in a plan of a problem like this one, pool -1 where it is new. The search begins
   * there, and ends after a tenth of the work if its plan is then about as near to the lower bound as that
   * one was. NULL: it begins from nothing. */
  const arenac_placement* warm_start;
  int threads; /* of the search, for the same plan sooner; 0: 1 */
  /* What it costs, from 0, that buffer k lies in pool p: pool_costs[k * pool_count + p], not looked at where
   * it may not. The least cost is sought first, then small pools. NULL: it costs nothing anywhere. */
  const int64_t* pool_costs;
  arenac_plan_cost* cost; /* filled as placements are; or NULL */
} arenac_plan_options;

/* No plan with the same choice of pools is smaller than lower_bound. */
typedef struct {
  int64_t size, lower_bound;
} arenac_pool_use;

enum {
  ARENAC_DONE = 0,
  ARENAC_BAD_PROBLEM = 1,
  ARENAC_BAD_CALL = 2,     /* no such planner, or a null pointer */
  ARENAC_DOES_NOT_FIT = 3, /* no plan keeps to the capacities */
  ARENAC_WRONG = 4,        /* of arenac_plan_verify */
  ARENAC_NOT_FOUND = 5,    /* none was found that does; there may be one */
  ARENAC_FAULT = 70        /* of arenac itself, or out of memory */
};

/* Fills placements (one per buffer) and uses (one per pool, one in all if pools is NULL): of the plan, or
 * with ARENAC_NOT_FOUND of the best one found, which passes a capacity; else they are untouched. Unless it
 * returns ARENAC_DONE, `message` says why, cut to message_size bytes with its end; it may be NULL. `options`
 * may be NULL. */
int arenac_plan(const arenac_problem* problem, const arenac_plan_options* options,
                arenac_placement* placements, arenac_pool_use* uses, char* message, size_t message_size);

/* What no plan of a problem with one pool can beat, in bytes, without looking for one: O(n log n) for n
 * buffers. arenac_plan's lower bound is at least this. Of several pools: ARENAC_BAD_CALL. */
int arenac_plan_bound(const arenac_problem* problem, int64_t* bound, char* message, size_t message_size);

/* Whether such placements, one per buffer and from wherever, are a plan of the problem: ARENAC_DONE, or
 * ARENAC_WRONG and the first fault as the message. Shares no code with what plans. */
int arenac_plan_verify(const arenac_problem* problem, const arenac_placement* placements, char* message,
                       size_t message_size);

/* Buffers of a pool that need so many bytes, whatever else there is. */
typedef struct {
  int32_t pool;
  int64_t bound;
  int32_t* buffers; /* ids, ascending */
  size_t buffer_count;
  int has_time; /* other than 0: by what they use at this time; else in whatever order they lie */
  int64_t time;
} arenac_certificate;

/* Why no plan of the pool is smaller than certificate->bound, with the choice of pools that the placements
 * are (NULL: of one pool). The caller sets pool, bound, and buffers, with room for as many as the problem
 * has; the rest is filled. ARENAC_NOT_FOUND where no certificate was found. */
int arenac_plan_certify(const arenac_problem* problem, const arenac_placement* placements,
                        arenac_certificate* certificate, char* message, size_t message_size);

/* Whether it is true, of a certificate from wherever: ARENAC_DONE, or ARENAC_WRONG and why, also where that
 * is not decided within two million steps. Shares no code with what finds them. */
int arenac_plan_check_certificate(const arenac_problem* problem, const arenac_certificate* certificate,
                                  char* message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif
