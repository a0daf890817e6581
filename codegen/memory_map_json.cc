// The memory map as a file: to_json and memory_map_from_json.
//
//   {
//    "format": "arenac-memory-map",
//    "version": 1,
//    "model": "kws.onnx",
//    "pools": [
//     {"name":"arena","size":22528,"capacity":null,"align":16,"lower_bound":22528,"proof":"optimal"}
//    ],
//    "buffers": [
//     {"id":0,"name":"conv1","pool":"arena","offset":0,"size":8192,"begin":0,"end":2,"kind":"activation",..},
//     {"id":1,...}
//    ],
//    ...
//    "totals": {"arena":22528,"weights":...,"macs":...,"layerwise_arena":...}
//   }
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "codegen/memory_map.h"
#include "frontend/error.h"

namespace arenac {
namespace {

// Ordered: keys stand in the file as they are written here, which people and diffs read. One line for each
// element, so that a diff of two maps names the buffers that changed.
using Json = nlohmann::ordered_json;

template <typename Rows>  // KeptRows or RowRange
Json json_of_rows(const std::optional<Rows>& rows) {
  if (!rows) return nullptr;
  const auto& [first, second] = *rows;
  return Json::array({first, second});
}

// "proof" says in a word what size and lower_bound say in numbers.
Json json_of(const MapPool& pool) {
  return {{"name", pool.name},
          {"size", pool.size},
          {"capacity", pool.capacity ? Json(*pool.capacity) : Json(nullptr)},
          {"align", pool.align},
          {"lower_bound", pool.lower_bound},
          {"proof", pool.optimal() ? "optimal" : "gap"}};
}

// Keys are the members' names, here and for all structures.
Json json_of(const MapBuffer& buffer) {
  return {{"id", buffer.id},
          {"name", buffer.name},
          {"pool", buffer.pool},
          {"offset", buffer.offset},
          {"size", buffer.size},
          {"begin", buffer.begin},
          {"end", buffer.end},
          {"kind", name_of(buffer.kind)},
          {"tensors", buffer.tensors},
          {"rows", json_of_rows(buffer.rows)},
          {"writer", buffer.writer ? Json(*buffer.writer) : Json(nullptr)},
          {"writers", buffer.writers},
          {"readers", buffer.readers},
          {"type", buffer.type},
          {"shape", buffer.shape},
          {"c", buffer.c}};
}

// Numbers that are 0 where nothing is known of them are left out, here and below.
Json json_of(const MapStep& step) {
  Json json = {{"time", step.time},
               {"node", step.node},
               {"op", step.op},
               {"rows", json_of_rows(step.rows)},
               {"macs", step.macs}};
  if (step.cycles > 0) json["cycles"] = step.cycles;
  return json;
}

Json json_of(const MapConstant& constant) {
  Json json = {{"name", constant.name}, {"size", constant.size}, {"pool", constant.pool}};
  if (!constant.copied_from.empty()) json["copied_from"] = constant.copied_from;
  return json;
}

// Regions are written for other tools, which need not know how they follow from the rest.
Json json_of(const MapRegion& region) {
  return {{"use", region.use},
          {"memory", region.memory},
          {"size", region.size},
          {"permission", region.permission},
          {"life", region.life}};
}

Json json_of(const MapOverlap& overlap) {
  return {{"above", overlap.above}, {"below", overlap.below}, {"distance", overlap.distance}};
}

Json json_of(const MapIo& io) {
  return {{"name", io.name},
          {"kind", name_of(io.kind)},
          {"type", io.type},
          {"shape", io.shape},
          {"size", io.size}};
}

// layerwise_arena comes last, for it is always there.
Json json_of(const MapTotals& totals) {
  Json json = {{"arena", totals.arena}, {"weights", totals.weights}, {"macs", totals.macs}};
  if (totals.macs_again > 0) json["macs_again"] = totals.macs_again;
  if (totals.cycles > 0) json["cycles"] = totals.cycles;
  if (totals.stack > 0) json["stack"] = totals.stack;
  json["layerwise_arena"] = totals.layerwise_arena;
  return json;
}

Json json_of(const MapGroup& group) { return {{"begin", group.begin}, {"end", group.end}}; }

Json json_of(const MapOrder& order) {
  return {{"peak", order.peak},
          {"file_peak", order.file_peak},
          {"found_peak", order.found_peak},
          {"lower_bound", order.lower_bound},
          {"proven", order.proven}};
}

Json json_of(const MapChoice& choice) {
  return {{"arena", choice.arena},
          {"macs_again", choice.macs_again},
          {"read_again", choice.read_again},
          {"stages", choice.stages},
          {"code", choice.code},
          {"cycles", choice.cycles}};
}

// Names come from models and may be any bytes: what is not UTF-8 is replaced, instead of an exception.
std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// "key": [ one element a line ]
template <typename Element>
std::string json_list(std::string_view key, const std::vector<Element>& elements) {
  std::string lines;
  for (const Element& element : elements) {
    lines += fmt::format("{}\n  {}", lines.empty() ? "" : ",", dump(json_of(element)));
  }
  return fmt::format(" \"{}\": [{}{}]", key, lines, elements.empty() ? "" : "\n ");
}

// A value of the file and its path, such as "buffers[3].size". Every way to read one checks it and fails with
// the path, so that reading is one expression per structure and no fault of a file goes further than here.
class Field {
 public:
  Field(const Json& json, std::string origin, std::string path = "")
      : json_(json), origin_(std::move(origin)), path_(std::move(path)) {}

  // What is found is shown as it stands in the file, cut off and in ASCII.
  [[noreturn]] void fail(const std::string& expected) const {
    std::string found = json_.dump(-1, ' ', true, Json::error_handler_t::replace);  // ASCII, any cut is fine
    if (found.size() > 60) found = fmt::format("{}...", found.substr(0, 57));
    throw UserError(fmt::format("{}: {}: expected {}, found {}", origin_, path_.empty() ? "the file" : path_,
                                expected, found));
  }

  // null counts as absent, as the file writes what there is none of.
  bool has(const std::string& key) const {
    if (!json_.is_object()) fail("an object");
    const auto found = json_.find(key);
    return found != json_.end() && !found->is_null();
  }

  // A value that has to be there.
  Field at(const std::string& key) const {
    const bool present = has(key);
    const std::string path = path_.empty() ? key : fmt::format("{}.{}", path_, key);
    if (!present) throw UserError(fmt::format("{}: {}: is missing", origin_, path));
    return {json_[key], origin_, path};
  }

  // Unsigned ones are compared as such: 2^64 - 1 would be -1.
  int64_t integer(int64_t low, int64_t limit) const {
    const bool fits = json_.is_number_unsigned() ? json_.get<uint64_t>() < static_cast<uint64_t>(limit)
                                                 : json_.is_number_integer();
    if (fits && json_.get<int64_t>() >= low && json_.get<int64_t>() < limit) return json_.get<int64_t>();
    fail(fmt::format("a whole number from {} to {}", low, limit - 1));
  }

  int64_t count() const { return integer(0, kMapNumberLimit); }

  std::string text() const {
    if (!json_.is_string()) fail("a string");
    return json_.get<std::string>();
  }

  bool truth() const {
    if (!json_.is_boolean()) fail("true or false");
    return json_.get<bool>();
  }

  // One of the words of the format, as its place among them: the enumeration's number.
  template <size_t N>
  size_t word(const std::array<std::string_view, N>& words) const {
    const std::string found = text();
    for (size_t i = 0; i < N; ++i) {
      if (words[i] == found) return i;
    }
    fail(fmt::format("one of: {}", fmt::join(words, ", ")));
  }

  // read(Field) for every element of a list.
  template <typename Read>
  auto list(Read read) const -> std::vector<decltype(read(*this))> {
    if (!json_.is_array()) fail("a list");
    std::vector<decltype(read(*this))> values;
    for (size_t i = 0; i < json_.size(); ++i) {
      values.push_back(read(Field(json_[i], origin_, fmt::format("{}[{}]", path_, i))));
    }
    return values;
  }

  int64_t count_or_zero(const std::string& key) const { return has(key) ? at(key).count() : 0; }

  // Of keys that may be absent.
  template <typename Read>
  auto list_or_empty(const std::string& key, Read read) const -> std::vector<decltype(read(*this))> {
    if (!has(key)) return {};
    return at(key).list(read);
  }

 private:
  const Json& json_;
  std::string origin_;
  std::string path_;
};

template <typename Rows>
// Two numbers in a list: kept and all there are, or begin and end.
std::optional<Rows> read_rows(const Field& owner) {
  if (!owner.has("rows")) return {};
  const Field field = owner.at("rows");
  const auto pair = field.list([](const Field& f) { return f.count(); });
  if (pair.size() != 2 || pair[0] > pair[1]) field.fail("two numbers in order");
  return Rows{pair[0], pair[1]};
}

// The proof follows from size and bound; a file that says otherwise was edited, and the edit is not guessed
// at.
MapPool read_pool(const Field& f) {
  static constexpr std::array<std::string_view, 2> kProofs = {"optimal", "gap"};
  MapPool pool{.name = f.at("name").text(),
               .size = f.at("size").count(),
               .capacity = {},
               .align = f.at("align").integer(1, kMapNumberLimit),
               .lower_bound = f.at("lower_bound").count()};
  if (f.has("capacity")) pool.capacity = f.at("capacity").count();
  const bool optimal = f.at("proof").word(kProofs) == 0;
  if (optimal != pool.optimal()) {
    f.at("proof").fail("\"optimal\" exactly when size and lower_bound are equal");
  }
  return pool;
}

// Keys that came with later versions of arenac may be absent: a map of an earlier one is read as far as it
// goes.
MapBuffer read_buffer(const Field& f) {
  const auto count = [](const Field& number) { return number.count(); };
  const auto text_or_empty = [&](const char* key) { return f.has(key) ? f.at(key).text() : std::string(); };
  return {.id = f.at("id").count(),
          .name = f.at("name").text(),
          .pool = f.at("pool").text(),
          .offset = f.at("offset").count(),
          .size = f.at("size").count(),
          .begin = f.at("begin").count(),
          .end = f.at("end").count(),
          .kind = static_cast<BufferKind>(f.at("kind").word(kBufferKindNames)),
          .tensors = f.at("tensors").list([](const Field& tensor) { return tensor.text(); }),
          .rows = read_rows<KeptRows>(f),
          .writer = f.has("writer") ? std::optional(f.at("writer").count()) : std::nullopt,
          .writers = f.list_or_empty("writers", count),
          .readers = f.list_or_empty("readers", count),
          .type = text_or_empty("type"),
          .shape = f.list_or_empty("shape", count),
          .c = text_or_empty("c")};
}

MapStep read_step(const Field& f) {
  return {.time = f.at("time").count(),
          .node = f.at("node").text(),
          .op = f.at("op").text(),
          .rows = read_rows<RowRange>(f),
          .macs = f.at("macs").count(),
          .cycles = f.count_or_zero("cycles")};
}

MapConstant read_constant(const Field& f) {
  return {.name = f.at("name").text(),
          .size = f.at("size").count(),
          .pool = f.at("pool").text(),
          .copied_from = f.has("copied_from") ? f.at("copied_from").text() : ""};
}

// The one number of a map that may be negative: the distance.
MapOverlap read_overlap(const Field& f) {
  return {.above = f.at("above").count(),
          .below = f.at("below").count(),
          .distance = f.at("distance").integer(1 - kMapNumberLimit, kMapNumberLimit)};
}

MapIo read_io(const Field& f) {
  return {.name = f.at("name").text(),
          .kind = static_cast<IoKind>(f.at("kind").word(kIoKindNames)),
          .type = f.at("type").text(),
          .shape = f.at("shape").list([](const Field& extent) { return extent.count(); }),
          .size = f.at("size").count()};
}

// Not checked against the parts: that is for verify().
MapTotals read_totals(const Field& f) {
  return {.arena = f.at("arena").count(),
          .weights = f.at("weights").count(),
          .macs = f.at("macs").count(),
          .cycles = f.count_or_zero("cycles"),
          .macs_again = f.count_or_zero("macs_again"),
          .stack = f.count_or_zero("stack"),
          .layerwise_arena = f.at("layerwise_arena").count()};
}

MapGroup read_group(const Field& f) { return {.begin = f.at("begin").count(), .end = f.at("end").count()}; }

MapOrder read_order(const Field& f) {
  return {.peak = f.at("peak").count(),
          .file_peak = f.at("file_peak").count(),
          .found_peak = f.at("found_peak").count(),
          .lower_bound = f.at("lower_bound").count(),
          .proven = f.at("proven").truth()};
}

MapChoice read_choice(const Field& f) {
  return {.arena = f.at("arena").count(),
          .macs_again = f.at("macs_again").count(),
          .read_again = f.at("read_again").count(),
          .stages = f.at("stages").count(),
          .code = f.at("code").count(),
          .cycles = f.count_or_zero("cycles")};
}

// Reports and judges add sizes and work without care, so what they add is bounded here.
template <typename Part, typename Value>
void check_sum(std::string_view origin, std::string_view list, const std::vector<Part>& parts, Value value) {
  int64_t sum = 0;  // of two numbers below the limit each: no overflow
  for (const Part& part : parts) {
    sum += value(part);
    if (sum >= kMapNumberLimit)
      throw UserError(fmt::format("{}: {}: add up to more than {}", origin, list, kMapNumberLimit - 1));
  }
}

// The library's message has line and column.
Json parse(std::string_view text, const std::string& origin) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw UserError(fmt::format("{}: not JSON: {}", origin, error.what()));
  }
}

}  // namespace

std::string to_json(const MemoryMap& map) {
  // The required keys first, then those that there are.
  std::vector<std::string> entries = {fmt::format(" \"format\": \"{}\"", MemoryMap::kFormat),
                                      fmt::format(" \"version\": {}", MemoryMap::kVersion),
                                      fmt::format(" \"model\": {}", dump(map.model)),
                                      fmt::format(" \"sha256\": {}", dump(map.sha256)),
                                      json_list("pools", map.pools),
                                      json_list("buffers", map.buffers),
                                      json_list("steps", map.steps),
                                      json_list("constants", map.constants),
                                      json_list("overlaps", map.overlaps),
                                      json_list("io", map.io),
                                      json_list("regions", regions_of(map)),
                                      fmt::format(" \"totals\": {}", dump(json_of(map.totals)))};
  if (!map.groups.empty()) entries.push_back(json_list("groups", map.groups));
  if (map.order) entries.push_back(fmt::format(" \"order\": {}", dump(json_of(*map.order))));
  if (!map.frontier.empty()) entries.push_back(json_list("frontier", map.frontier));
  for (const auto& [key, text] :
       {std::pair("tool", &map.tool), std::pair("options", &map.options), std::pair("target", &map.target)})
    if (!text->empty()) entries.push_back(fmt::format(" \"{}\": {}", key, dump(*text)));
  if (map.cut_off) entries.push_back(" \"cut_off\": true");
  return fmt::format("{{\n{}\n}}\n", fmt::join(entries, ",\n"));
}

// Regions are not read: they follow from the rest.
MemoryMap memory_map_from_json(std::string_view text, std::string_view origin) {
  const Json json = parse(text, std::string(origin));
  const Field file(json, std::string(origin));
  if (file.at("format").text() != MemoryMap::kFormat) {
    file.at("format").fail(fmt::format("\"{}\"", MemoryMap::kFormat));
  }
  file.at("version").integer(MemoryMap::kVersion, MemoryMap::kVersion + 1);
  MemoryMap map = {.model = file.at("model").text(),
                   .sha256 = file.at("sha256").text(),
                   .pools = file.at("pools").list(read_pool),
                   .buffers = file.at("buffers").list(read_buffer),
                   .steps = file.at("steps").list(read_step),
                   .constants = file.list_or_empty("constants", read_constant),
                   .overlaps = file.list_or_empty("overlaps", read_overlap),
                   .io = file.list_or_empty("io", read_io),
                   .totals = read_totals(file.at("totals")),
                   .groups = file.list_or_empty("groups", read_group),
                   .frontier = file.list_or_empty("frontier", read_choice)};
  if (file.has("order")) map.order = read_order(file.at("order"));
  if (file.has("tool")) map.tool = file.at("tool").text();
  if (file.has("options")) map.options = file.at("options").text();
  if (file.has("target")) map.target = file.at("target").text();
  if (file.has("cut_off")) map.cut_off = file.at("cut_off").truth();
  check_sum(origin, "buffers", map.buffers, [](const MapBuffer& buffer) { return buffer.size; });
  check_sum(origin, "constants", map.constants, [](const MapConstant& constant) { return constant.size; });
  check_sum(origin, "steps", map.steps, [](const MapStep& step) { return step.macs; });
  check_sum(origin, "steps", map.steps, [](const MapStep& step) { return step.cycles; });
  check_sum(origin, "pools", map.pools, [](const MapPool& pool) { return pool.size; });
  return map;
}

}  // namespace arenac
