// The schedule: in which order the work is done, where each tensor's elements lie in its storage, and how
// each nest is walked. The index of a step is the logical time.
//
//   step 0  conv1     conv1_out: storage of its own, channels-last
//   step 1  relu1     relu1_out: in the storage of conv1_out (in place)
//   step 2  If
//   step 3    ...then branch
//   step 4  else
//   step 5    ...else branch
//   step 6  end if
//
// Reshapes, transposes, slices and other views take no step; a concat's parts are written where they belong.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/facts.h"
#include "frontend/graph.h"
#include "scheduler/deadline.h"

namespace arenac {

enum class StepKind : uint8_t { kRun, kIf, kElse, kEndIf, kLoop, kEndLoop };

struct Step {
  StepKind kind;
  const Node* node;  // the If or Loop node for control steps
  int partner = -1;  // kIf -> kElse -> kEndIf -> kIf; kLoop <-> kEndLoop
};

// Of a storage in rows of `row` elements, `kept` at a time are in memory: row y in slot y % kept. Of rows in
// columns of `column` elements, `columns` are: column x in slot x % columns. A row may be a column, too: then
// what is kept ends within a row of the tensor.
struct Ring {
  int64_t row = 0, kept = 0;        // kept 0: all of them
  int64_t column = 0, columns = 0;  // columns 0: all of them

  int64_t size() const { return kept * (columns > 0 ? column * columns : row); }  // elements

  bool operator==(const Ring&) const = default;
};

// Of a constant of bytes that would lie in rows of `row` elements: in blocks of `rows` of them, kBytes rows
// at a time, column by column. What is left of a block lies row by row.
//
//   a0 a1 a2 ..  b0 b1 b2 ..  c0 c1 c2 ..  d0 d1 d2 ..   ->   a0 b0 c0 d0  a1 b1 c1 d1  a2 b2 c2 d2 ..
struct Words {
  int64_t row = 0, rows = 0;  // 0: the elements lie as the strides say

  // Where the element lies that would be at `element`.
  int64_t place(int64_t element) const;

  bool operator==(const Words&) const = default;
};

// Element [i0, i1, ...] of a tensor lies at element offset + sum(i[d] * strides[d]) of the storage of tensor
// `root`, counted as if all of its rows were in memory, and where its words put that.
struct Layout {
  TensorId root;
  int64_t offset;
  std::vector<int64_t> strides;
  Ring ring = {};    // that of the storage
  Words words = {};  // of constants

  bool operator==(const Layout&) const = default;
};

// From which end the loops over the output run.
enum class Sweep : uint8_t { kUp, kDown };

// What holds the sums of a block of lanes: arrays, for loops over them are vector instructions, or scalars.
enum class Registers : uint8_t { kVector, kScalar };

// What a remainder takes: places in rings are compared and subtracted where it is the call of a function.
enum class Division : uint8_t { kInstruction, kCall };

// How many terms of a sum of products of bytes are added at once: one; kBytes along the innermost reduced
// axis, where both factors lie side by side; the same of kBytes pixels, where one factor does and the other
// lies side by side for the pixels; one of each of kBytes lanes; or kBytes along that axis, where one factor
// lies side by side along it and the other along the lanes of a vector (whose products are of signed bytes,
// or of unsigned and signed ones); or as many as fill a vector along that axis, where both lie side by side.
enum class ByteProducts : uint8_t {
  kOne,
  kAlongSum,
  kAlongSumOfPixels,
  kAcrossLanes,
  kAlongSumOfLanes,
  kAlongSumOfSignedLanes,
  kAlongSumOfVectors
};
inline bool is_along_sum_of_lanes(ByteProducts bytes) {
  return bytes == ByteProducts::kAlongSumOfLanes || bytes == ByteProducts::kAlongSumOfSignedLanes;
}
inline bool is_along_sum(ByteProducts bytes) {
  return bytes != ByteProducts::kOne && bytes != ByteProducts::kAcrossLanes;
}
constexpr int kBytes = 4;

// How one nest is walked. `order` lists its axes, outermost first: those of the output, then the reduced
// ones. The axis `vector_axis` runs in blocks of `lanes` neighbours; `tile` neighbours along `tile_axis`
// share what they read. These two are the innermost of the output's axes. Of more lanes than the axis has
// values, those beyond it are computed of what constants hold there, and not stored. Of an extremum the
// vector axis may be the innermost reduced one: of that of each lane the extremum is found. A block of lanes
// and tiles reads all that it reduces before it writes.
struct LoopPlan {
  std::vector<int> order;
  int vector_axis = -1, lanes = 1;
  int tile_axis = -1, tile = 1;
  Sweep sweep = Sweep::kUp;
  Registers registers = Registers::kVector;
  Division division = Division::kInstruction;
  ByteProducts bytes = ByteProducts::kOne;
};

// The storage that `step` writes first and a storage that dies there may share bytes whenever offset(above) -
// offset(below) >= distance, provided that the step's nests are then walked as `loops` say. Entries of one
// step that several storages die at have the same loops.
struct StorageOverlap {
  TensorId above, below;
  int64_t distance;                                    // bytes
  int step;                                            // -1: a group
  std::shared_ptr<const std::vector<LoopPlan>> loops;  // per nest; of a group null

  bool operator==(const StorageOverlap&) const = default;
};

// One nest of a stage. Slab t of the stage computes the indices [t * width + begin, (t + 1) * width + begin)
// of `axis`, where the axis has them; without an axis (-1) the whole nest, at t = -begin.
struct NestSlabs {
  int axis;
  int64_t width, begin;

  bool operator==(const NestSlabs&) const = default;
};

// Before slab t of a stage runs, slabs [0, upto[t]] of stage `producer` must have run.
struct Pull {
  int producer;
  std::vector<int64_t> upto;

  bool operator==(const Pull&) const = default;
};

// A step of a group, cut into slabs: a few rows of its result each. A guest runs within its host's slabs, in
// turns with it: of each a chunk of columns at a time. Its slab and chunk are those of its host, unless the
// host's family reads it through a window: then, at slab t and chunk c of the host, it runs its slabs
// slabs_at[t], and of each its chunks chunks_at[c].
struct Stage {
  int step;
  int64_t slabs;
  std::vector<NestSlabs> nests;
  std::vector<Pull> pulls;           // of a host: what its guests read, too; of a guest: none
  int host = -1;                     // stage; -1: none
  int64_t chunks = 1;                // per slab
  std::vector<int> chunk_axes = {};  // per nest, the axis that is cut into chunks; -1: all at chunk 0
  std::vector<Interval> slabs_at = {}, chunks_at = {};

  bool seen_through_window() const { return !slabs_at.empty(); }
  bool operator==(const Stage&) const = default;
};

// Steps [begin, end) that run row by row. Each slab first pulls what it reads:
//
//   conv1  0 1 2   3 4   5 6         slabs of conv2 pull two of conv1 each,
//   conv2      0 1   2   . 3         those of pool two of conv2,
//   pool             0     1   ...   and of each result only the rows that somebody still needs are in memory
//
// The pulling starts at the stages that no other one reads, in step with each other; then every stage whose
// result is read after the group runs to its end.
struct Group {
  int begin, end;
  std::vector<Stage> stages;   // one a step
  std::vector<int> sinks;      // stages
  std::vector<int> completed;  // stages

  bool operator==(const Group&) const = default;
};

// Bytes alive at one step, at most, were it whole layers; graph inputs and outputs apart.
struct OrderReport {
  int64_t peak = 0;         // in the order of the steps
  int64_t file_peak = 0;    // in the file's order
  int64_t found_peak = 0;   // in the best order that was found; 0: none was searched
  int64_t lower_bound = 0;  // in every order of whole layers; 0: not known
  bool proven = false;      // no order has a lower peak than the one found
};

// Where the model's inputs and outputs live: at the caller's, or in the arena.
enum class Io : uint8_t { kExternal, kArena };

struct Schedule {
  std::shared_ptr<const Graph> graph;  // the scheduler's input, or a rewriting of its own
  std::vector<Step> steps;
  std::vector<Layout> layouts;                // per tensor
  std::vector<std::vector<LoopPlan>> loops;   // per step, per nest of its node (cut into slabs, in a group)
  std::vector<StorageOverlap> overlaps = {};  // by ascending step
  std::vector<Group> groups = {};             // ascending
  OrderReport order = {};
  LimitsHit limits_hit = {};
  Io io = Io::kExternal;  // what the bytes of the inputs and outputs count for in the searches
  bool cut_off = false;   // the deadline passed before the searches for order and groups were done
};

// Of what kernels are made of, as compilers at -O2 emit it, in parts of a cycle for processors that do
// several operations in one; where nothing better is known, an instruction is taken for a cycle. What the
// processor has no instruction for is a call.
struct Costs {
  double unit;                                        // cycles of 1
  double load, store, add, multiply, choose, divide;  // integers; choose: minimum, maximum, selection
  double float_load, float_add, float_multiply, float_choose, float_divide;
  double float_latency;         // from one addition to a sum to the next
  double in_flight = 0;         // operations that are begun before earlier ones are done; 0: all wait
  double fetch = 0;             // of 64 bytes from the second-level cache
  double far_fetch = 0;         // from behind it
  double convert;               // from integer to float or back
  double requantize, function;  // function: exp, ...
  double loop, call;            // an iteration; a function of the emitted C
  int registers, vector_bytes;  // of integers; that one operation takes
  int64_t near_bytes = 0;       // of the first-level cache; 0: all reads cost the same
  int64_t cache = 0;            // bytes of weights that stay near between one pixel and the next; 0: none
};

// What kernels are shaped for.
struct Target {
  const char* name;
  const char* description;
  int lanes;       // elements of a vector block
  int tile;        // pixels (rows) that share one read of the weights
  int float_tile;  // the same of floats: scalar cores have registers of their own for them, those with 16
                   // vectors fewer left beside sums of two each
  int align;       // bytes: of the arena and of every buffer
  Registers registers;
  // Where it has instructions for products of bytes along a sum: the lanes and tile that leave registers for
  // these; else 0.
  int byte_lanes, byte_tile;
  Costs costs;
  const char* features = "";  // of x86-64, as compilers call them ("avx2,fma"): the C turns them on
  // How its instructions multiply bytes along a sum.
  ByteProducts along_sum = ByteProducts::kAlongSum;
};
const std::vector<Target>& targets();
// Whether C for it runs on the processor that runs this.
bool runs_here(const Target& target);

// One row of the table of schedulers. What it searches, it searches until the deadline.
struct SchedulerRow {
  const char* name;
  const char* description;
  Schedule (*schedule)(const Graph& graph, const Target& target, Deadline deadline);
};
const std::vector<SchedulerRow>& schedulers();

// The row of that name, or of "" the first one. Throws UserError where there is none.
const Target& target_named(const std::string& name);
const SchedulerRow& scheduler_named(const std::string& name);

// One step a node: in the order of the lowest peak that the search finds; in the file's where that is as
// good.
Schedule schedule_layerwise(const Graph& graph, const Target& target = targets().front(),
                            Deadline deadline = kNoDeadline);

// What schedules may do for a smaller arena.
enum class Freedom : uint8_t {
  kWholeLayers,
  kSecondPasses,  // groups of rows; up to a tenth of the multiply-accumulates done again, for whole tensors
  kSomeAgain,     // up to a tenth, for whole tensors and for rows
  kAnyAgain,
};

// Multiply-accumulates that may be done again.
int64_t work_allowed(const Graph& graph, Freedom freedom);

// The schedules that the searches find, the cheapest first: by multiply-accumulates done again, then bytes of
// constants read again. What there is to choose from with less freedom there is with more. At least one, of
// whole layers.
std::vector<Schedule> schedules_to_choose_from(const Graph& graph, Freedom freedom,
                                               const Target& target = targets().front(),
                                               Deadline deadline = kNoDeadline, Io io = Io::kExternal);

// What groups cost: bytes of constants that are read for every slab instead of once.
int64_t bytes_read_again(const Schedule& schedule);

// Multiply-accumulates that are done again: those of second passes and, of groups, those of slabs that are
// run again; and the latter alone.
int64_t work_again(const Schedule& schedule);
int64_t work_again_in_rows(const Schedule& schedule);

// Per storage, the steps at which it is in use: every step touched, and with one step of a group all of them
// (of a ring of columns, those of the host and its guests). Empty for what is no storage, constants and what
// nothing uses.
std::vector<Interval> storage_lives(const Schedule& schedule);

// The steps of a group at which a ring is in use whose steps, one by one, are `life`.
Interval steps_of_ring(const Group& group, Interval life, const Ring& ring);

// Whether no step runs row by row but the copies of what the caller passes or takes so.
bool is_of_whole_layers(const Schedule& schedule);

// How often each step runs at most: the trips of the loops around it, or INT64_MAX where they are more.
std::vector<int64_t> iterations_of(const std::vector<Step>& steps);

// The stage of a step in a group, or null.
const Stage* stage_of(const Schedule& schedule, size_t step);

// The nests that a step runs at a time: in a group those of one slab, whose number is iteration kSlabSymbol.
// Of a guest or a host those of one chunk, whose number is iteration kChunkSymbol.
constexpr int kSlabSymbol = 0, kChunkSymbol = 1;
Nests nests_of(const Schedule& schedule, size_t step);
// The same of one nest of the stage's step, number k.
Nest nest_in_stage(const Nest& nest, const Stage& stage, size_t k);

// Every tensor's storage holds all its elements; steps nest properly; rings hold what is read of them
// (verify_rings.h). InternalError otherwise. Schedulers leave it to whoever chooses one of their schedules.
void verify(const Schedule& schedule);
std::string dump(const Schedule& schedule);

// Whether [batch, channel, y, x] lies column by column, not row by row.
bool lies_by_columns(const Layout& layout);

// Number of elements that a layout reaches beyond its offset: 1 + sum((extent - 1) * stride), rings apart.
int64_t span_of(const Layout& layout, const Shape& shape);

// Bytes per storage, of the tensor and of all that lies in it; 0 for tensors in the storage of another.
std::vector<int64_t> storage_bytes(const Graph& graph, const std::vector<Layout>& layouts);

// The element address of an access as an affine form of the axes, if it is one: offset + sum(stride * index).
std::optional<Affine> address_of(const Layout& layout, const std::vector<Expr>& indices, const Nest& nest);

// True when the nest has no output point. (One with only an empty reduction still stores.)
bool is_empty(const Nest& nest);

// True when the nest copies elements to where they already lie.
bool is_elided(const Nest& nest, const Node& node, const Graph& graph, const std::vector<Layout>& layouts);

}  // namespace arenac
