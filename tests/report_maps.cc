#include "tests/report_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace arenac {
namespace {

void add_totals(MemoryMap& map) {
  for (const MapPool& pool : map.pools) map.totals.arena += pool.size;
  for (const MapConstant& constant : map.constants) map.totals.weights += constant.size;
  for (const MapStep& step : map.steps) map.totals.macs += step.macs;
}

// The lowest multiple of 16 at which `buffer` meets none of the others.
int64_t first_fit(const std::vector<MapBuffer>& placed, const MapBuffer& buffer) {
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (const MapBuffer& other : placed) {
    const bool meets = other.pool == buffer.pool && other.begin < buffer.end && buffer.begin < other.end;
    if (meets) taken.push_back({other.offset, other.offset + other.size});
  }
  std::sort(taken.begin(), taken.end());
  int64_t offset = 0;
  for (const auto& [low, high] : taken) {
    if (offset + buffer.size <= low) break;
    offset = std::max(offset, (high + 15) / 16 * 16);
  }
  return offset;
}

}  // namespace

MemoryMap small_map() {
  MemoryMap map;
  map.model = "small.onnx";
  map.sha256 = std::string(64, 'a');
  map.pools = {{.name = "arena", .size = 64, .capacity = 128, .align = 16, .lower_bound = 64}};
  map.buffers = {{.id = 0,
                  .name = "a",
                  .pool = "arena",
                  .offset = 0,
                  .size = 48,
                  .begin = 0,
                  .end = 2,
                  .kind = BufferKind::kInput,
                  .tensors = {"image"},
                  .rows = {},
                  .readers = {1},
                  .type = "float32",
                  .shape = {1, 3, 2, 2},
                  .c = "SMALL_AT_0"},
                 {.id = 1,
                  .name = "b",
                  .pool = "arena",
                  .offset = 16,
                  .size = 48,
                  .begin = 1,
                  .end = 3,
                  .kind = BufferKind::kActivation,
                  .tensors = {"conv", "conv_view"},
                  .rows = KeptRows{3, 48},
                  .writer = 1,
                  .writers = {1},
                  .readers = {2},
                  .type = "int8",
                  .shape = {1, 4, 48, 4},
                  .c = "SMALL_AT_1"},
                 {.id = 2,
                  .name = "c",
                  .pool = "arena",
                  .offset = 0,
                  .size = 16,
                  .begin = 2,
                  .end = 4,
                  .kind = BufferKind::kOutput,
                  .tensors = {"scores"},
                  .rows = {},
                  .writer = 3,
                  .writers = {3},
                  .type = "float32",
                  .shape = {1, 4},
                  .c = "SMALL_AT_2"}};
  map.steps = {{.time = 0, .node = "load", .op = "Identity", .rows = {}, .macs = 0},
               {.time = 1, .node = "conv", .op = "Conv", .rows = RowRange{0, 48}, .macs = 1234},
               {.time = 2, .node = "pool", .op = "MaxPool", .rows = {}, .macs = 0},
               {.time = 3, .node = "store", .op = "Identity", .rows = {}, .macs = 0}};
  map.constants = {{.name = "w", .size = 432, .pool = "flash"}};
  map.overlaps = {{.above = 1, .below = 0, .distance = 16}};
  map.io = {{.name = "image", .kind = IoKind::kInput, .type = "float32", .shape = {1, 3, 2, 2}, .size = 48},
            {.name = "scores", .kind = IoKind::kOutput, .type = "float32", .shape = {1, 4}, .size = 16}};
  map.totals.layerwise_arena = 96;
  add_totals(map);
  return map;
}

MemoryMap grouped_map() {
  MemoryMap map = small_map();
  map.model = "grouped.onnx";
  map.groups = {{.begin = 1, .end = 3}};
  map.order = MapOrder{.peak = 96, .file_peak = 1120, .found_peak = 96, .lower_bound = 96, .proven = true};
  map.frontier = {
      {.arena = 1096, .read_again = 0, .stages = 0, .code = 19482, .cycles = 3000},
      {.arena = 64, .macs_again = 600, .read_again = 20736, .stages = 2, .code = 31001, .cycles = 4500}};
  map.target = "cortex-m4";
  map.steps[1].cycles = 3000;
  map.steps[2].cycles = 1000;
  map.totals.cycles = 4000;
  map.cut_off = true;
  map.tool = "arenac 0.0.0";
  map.options = "--ram 64";
  map.totals.macs_again = 200;
  map.totals.stack = 1040;
  return map;
}

MemoryMap network_map(int buffers) {
  MemoryMap map;
  map.model = fmt::format("network_{}.onnx", buffers);
  map.sha256 = std::string(64, 'b');
  map.pools = {{.name = "arena", .align = 16}, {.name = "fast", .capacity = 16384, .align = 16}};
  constexpr std::array<std::string_view, 5> kOps = {"Conv", "Relu", "Conv", "Add", "MaxPool"};
  std::mt19937 random(static_cast<unsigned>(buffers));  // its numbers are the same everywhere
  for (int i = 0; i < buffers; ++i) {
    const int64_t stage = 1 + 6 * i / buffers;
    const bool skip = i % 5 == 0;       // read again by the Add three steps on
    const bool lasting = i % 17 == 16;  // read much later, as in a U-Net
    const int64_t size = 16 * (8 + static_cast<int64_t>(random() % 1024) / stage * (i % 5 == 1 ? 4 : 1));
    const int64_t reach = lasting ? buffers / 3 : skip ? 4 : 2;
    const std::string_view op = kOps[i % kOps.size()];
    const std::string name = fmt::format("block{}/{}_{}", i / 5, op, i % 5);
    MapBuffer buffer{.id = i,
                     .name = name,
                     .pool = i % 11 == 10 ? "fast" : "arena",
                     .size = size,
                     .begin = i,
                     .end = std::min<int64_t>(buffers, i + reach),
                     .tensors = {name + "_output"},
                     .rows = {},
                     .writers = {},
                     .readers = {},
                     .type = "int8",
                     .shape = {1, size / 16, 16},
                     .c = fmt::format("NETWORK_AT_{}", i)};
    if (i > 0) buffer.writer = i, buffer.writers = {i};
    for (int64_t reader : {i + int64_t{1}, buffer.end - 1})
      if (i < reader && reader < buffer.end && (buffer.readers.empty() || buffer.readers.back() < reader))
        buffer.readers.push_back(reader);
    if (i == 0) buffer.kind = BufferKind::kInput;
    if (i == buffers - 1) buffer.kind = BufferKind::kOutput;
    if (buffer.pool == "fast")
      buffer.kind = BufferKind::kScratch, buffer.size = std::min<int64_t>(size, 4096);
    if (i % 7 == 3) buffer.rows = KeptRows{3, 48};
    buffer.offset = first_fit(map.buffers, buffer);
    MapPool& pool = map.pools[buffer.pool == "fast"];
    pool.size = std::max(pool.size, buffer.offset + buffer.size);
    map.buffers.push_back(buffer);
    map.steps.push_back(
        {.time = i, .node = name, .op = std::string(op), .rows = {}, .macs = op == "Conv" ? size * 9 : 0});
    if (op == "Conv") map.constants.push_back({.name = name + "_w", .size = size / 4, .pool = "flash"});
  }
  for (MapPool& pool : map.pools) pool.lower_bound = peak_of(map, pool.name).bytes;
  map.io = {{.name = "x", .kind = IoKind::kInput, .type = "float32", .shape = {1, 3, 96, 96}, .size = 110592},
            {.name = "y", .kind = IoKind::kOutput, .type = "float32", .shape = {1, 10}, .size = 40}};
  add_totals(map);
  map.totals.layerwise_arena = 2 * map.totals.arena;
  return map;
}

MemoryMap map_named(const std::string& name) {
  MemoryMap map = small_map();
  map.model = map.sha256 = name;
  for (MapPool& pool : map.pools) pool.name = name;
  for (MapBuffer& buffer : map.buffers) {
    buffer.name = buffer.pool = name;
    for (std::string& tensor : buffer.tensors) tensor = name;
  }
  for (MapStep& step : map.steps) step.node = step.op = name;
  for (MapConstant& constant : map.constants) constant.name = constant.pool = name;
  for (MapIo& io : map.io) io.name = io.type = name;
  return map;
}

}  // namespace arenac
