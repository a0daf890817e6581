// The memory map: where every buffer of a compiled model lies, and when. It is the content of NAME_map.json,
// it knows no graph, and every report (text, json, csv, svg, html) is a function of it.
//
//     address ^
//        size |      +-------+              pool "arena"
//             |      |   2   |    +----+
//             +------+--+----+    | 3  |    buffer 2 lives in [begin, end) and owns [offset, offset + size)
//             |    0    |  1      |    |
//             +---------+---------+----+--> time: the index of a step
//
//     MemoryMap map = memory_map_from_json(text, "kws_map.json");
//     std::optional<std::string> fault = verify(map);      e.g. two buffers that collide, by name
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace arenac {

enum class BufferKind { kActivation, kInput, kOutput, kScratch, kState, kCopy };
enum class IoKind { kInput, kOutput };

// The words of the file format, indexed by the enumeration.
inline constexpr std::array<std::string_view, 6> kBufferKindNames = {"activation", "input", "output",
                                                                     "scratch",    "state", "copy"};
inline constexpr std::array<std::string_view, 2> kIoKindNames = {"input", "output"};

inline std::string_view name_of(BufferKind kind) { return kBufferKindNames[static_cast<size_t>(kind)]; }
inline std::string_view name_of(IoKind kind) { return kIoKindNames[static_cast<size_t>(kind)]; }

// Every number of a map is in [0, kMapNumberLimit), an overlap's distance in (-kMapNumberLimit,
// kMapNumberLimit): JavaScript reads them exactly and a sum of two never overflows.
inline constexpr int64_t kMapNumberLimit = int64_t{1} << 53;

struct MapPool {
  std::string name;
  int64_t size = 0;                      // bytes in use
  std::optional<int64_t> capacity = {};  // bytes there are; none: as many as needed
  int64_t align = 1;                     // bytes, of the pool's base address; every offset is relative to it
  int64_t lower_bound = 0;               // bytes that no plan of these buffers can beat

  // In the file: "proof": "optimal" | "gap".
  bool optimal() const { return size == lower_bound; }
  bool operator==(const MapPool&) const = default;
};

// A ring of rows: `kept` of the tensor's `total` rows are in memory at a time.
struct KeptRows {
  int64_t kept = 0;
  int64_t total = 0;

  bool operator==(const KeptRows&) const = default;
};

struct MapBuffer {
  int64_t id = 0;  // unique in the map; `MapOverlap` refers to it
  std::string name;
  std::string pool;
  int64_t offset = 0;  // bytes from the pool's base
  int64_t size = 0;    // bytes
  int64_t begin = 0;   // lives in the steps [begin, end)
  int64_t end = 0;
  BufferKind kind = BufferKind::kActivation;
  std::vector<std::string> tensors = {};  // the model's names of what lies here, views included
  std::optional<KeptRows> rows = {};      // none: the whole tensor
  std::optional<int64_t> writer = {};     // the first step that writes here; none: only the caller, or a copy
  std::vector<int64_t> writers = {};  // the steps that write any of it, ascending, in place of an input too
  std::vector<int64_t> readers = {};  // the steps that read any of it, ascending
  std::string type = {};              // ONNX element type of the tensor that it is named after, e.g. "int8"
  std::vector<int64_t> shape = {};    // of that tensor, whole
  std::string c = {};                 // what the C calls the offset, e.g. "KWS_AT_CONV1"

  bool operator==(const MapBuffer&) const = default;
};

// Output rows [begin, end) of a step's node; of a step in a group, those that its first slab computes.
struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;

  bool operator==(const RowRange&) const = default;
};

struct MapStep {
  int64_t time = 0;  // its index in `MemoryMap::steps`
  std::string node;
  std::string op;
  std::optional<RowRange> rows = {};  // none: the whole node at once
  int64_t macs = 0;                   // of one run; in a loop's body those of all the trips that there can be
  int64_t cycles = 0;                 // of the same on the map's target, by the cost model; 0: not known

  bool operator==(const MapStep&) const = default;
};

// Steps [begin, end) that run in turns, a few rows of each at a time.
struct MapGroup {
  int64_t begin = 0;
  int64_t end = 0;

  bool operator==(const MapGroup&) const = default;
};

// Bytes in use at the fullest step if every step were a whole layer, inputs, outputs and overlaps apart.
struct MapOrder {
  int64_t peak = 0;         // in the order of the steps
  int64_t file_peak = 0;    // in the order of the model's file
  int64_t found_peak = 0;   // in the best order that was found; 0: none was searched
  int64_t lower_bound = 0;  // in any order; 0: not known
  bool proven = false;      // no order has a lower peak than the one found

  bool operator==(const MapOrder&) const = default;
};

// One of the schedules that can be had: less arena for more cycles.
struct MapChoice {
  int64_t arena = 0;       // bytes, planned
  int64_t macs_again = 0;  // multiply-accumulates done again
  int64_t read_again = 0;  // bytes of constants that are read for every slab instead of once
  int64_t stages = 0;      // steps in groups
  int64_t code = 0;        // bytes of C emitted, constants apart
  int64_t cycles = 0;      // of one run, by the cost model; 0: not known

  bool operator==(const MapChoice&) const = default;
};

struct MapConstant {
  std::string name;
  int64_t size = 0;
  std::string pool;  // where it is read, e.g. "flash"; not necessarily one of `MemoryMap::pools`
  // Where it lies, too, and is copied from before the first run; empty: it is not.
  std::string copied_from = {};

  bool operator==(const MapConstant&) const = default;
};

// Buffers `above` and `below` may share bytes while both live, provided that above.offset - below.offset >=
// distance.
struct MapOverlap {
  int64_t above = 0;
  int64_t below = 0;
  int64_t distance = 0;  // bytes

  bool operator==(const MapOverlap&) const = default;
};

// A model input or output at the caller's pointer, outside every pool.
struct MapIo {
  std::string name;
  IoKind kind = IoKind::kInput;
  std::string type;  // ONNX element type in lower case, e.g. "float32"
  std::vector<int64_t> shape = {};
  int64_t size = 0;  // bytes

  bool operator==(const MapIo&) const = default;
};

struct MapTotals {
  int64_t arena = 0;            // bytes of all pools
  int64_t weights = 0;          // bytes of all constants
  int64_t macs = 0;             // multiply-accumulates of one run
  int64_t cycles = 0;           // of the steps; 0: not known
  int64_t macs_again = 0;       // of these, those done again for what lay under a window before
  int64_t stack = 0;            // bytes, at most (codegen/stack.h); 0: not known
  int64_t layerwise_arena = 0;  // bytes of the arena without row fusion

  bool operator==(const MapTotals&) const = default;
};

struct MemoryMap {
  static constexpr std::string_view kFormat = "arenac-memory-map";
  static constexpr int64_t kVersion = 1;

  std::string model;   // what the reports are entitled with: the C name, the file or its folder
  std::string sha256;  // of the model's file, lower-case hexadecimal
  std::vector<MapPool> pools;
  std::vector<MapBuffer> buffers;
  std::vector<MapStep> steps;
  std::vector<MapConstant> constants;
  std::vector<MapOverlap> overlaps;
  std::vector<MapIo> io;
  MapTotals totals;
  std::vector<MapGroup> groups = {};     // ascending, apart
  std::optional<MapOrder> order = {};    // none: not known
  std::vector<MapChoice> frontier = {};  // ascending cycles, descending arena; empty: not asked for
  // What made the map, e.g. "arenac 0.1.0", and the options that its result follows from, as words of a
  // shell.
  std::string tool = {}, options = {};
  std::string target = {};  // whose cycles they are
  bool cut_off = false;     // the time allowed ended the search for a schedule: there may be a smaller arena

  bool operator==(const MemoryMap&) const = default;
};

// A part of the memory of one use, as runtimes divide it: what holds constants, what the caller passes and
// takes, what is kept from call to call, and the rest of each pool.
struct MapRegion {
  std::string_view use;         // "constants", "inputs", "outputs", "states" or "internal"
  std::string memory;           // "caller", a pool, or where constants lie
  int64_t size = 0;             // bytes; inputs and outputs within a pool lie in what is internal, too
  std::string_view permission;  // "read", "write" or "read-write", of a run
  std::string_view life;        // whose content it is: of one "run", or of the "program", from call to call
};
std::vector<MapRegion> regions_of(const MemoryMap& map);

// The file format: keys in the order of the structures above, one array element a line. Bytes that are not
// UTF-8 become U+FFFD, so the result is always valid JSON. `regions` follows from the rest. `groups`,
// `order`, `frontier`, `cut_off`, `tool`, `options`, `target`, `copied_from`, cycles and the stack are left
// out where there are none.
std::string to_json(const MemoryMap& map);

// Reads what `to_json` writes; unknown keys are ignored, `overlaps`, `io`, `constants`, `rows`, `writer`,
// `writers`, `readers`, `type`, `shape`, `c`, `copied_from`, `groups`, `order`, `frontier`, `cut_off`,
// `tool`, `options`, `target`, cycles and the stack may be absent. `origin` begins every message. Throws
// UserError with the field's path: "kws_map.json: buffers[3].size: ...". Judges the form only: colliding
// buffers or dangling names are for `verify`, and no report stumbles over them.
MemoryMap memory_map_from_json(std::string_view text, std::string_view origin = "memory map");

// The first fault of the map in words, or nothing if it is right: unique names and ids, lives not empty and
// within the steps, writers and readers within lives, groups in order, offsets inside pool and capacity, pool
// sizes and totals that add up, and no two buffers of a pool that share a byte and a time unless an overlap
// entry allows it. A collision's message names both buffers, addresses and times.
[[nodiscard]] std::optional<std::string> verify(const MemoryMap& map);

// The group of the step at `time`, as an index into map.groups; none: a whole layer.
std::optional<size_t> group_at(const MemoryMap& map, int64_t time);

// Bytes in use over time in one pool, a step function: `bytes[i]` hold in [time[i], time[i + 1]); the last
// entry is 0 bytes. Bytes that an overlap entry lets two buffers share count once.
struct LiveBytes {
  std::vector<int64_t> time;
  std::vector<int64_t> bytes;
};
LiveBytes live_bytes(const MemoryMap& map, std::string_view pool);

// The first time at which most bytes of the pool are in use, and the buffers that live then, largest first.
struct Peak {
  int64_t time = 0;
  int64_t bytes = 0;
  std::vector<size_t> buffers;  // indices into map.buffers
};
Peak peak_of(const MemoryMap& map, std::string_view pool);

}  // namespace arenac
