// The memory map itself: its file format, hostile files, and the judge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "codegen/memory_map.h"
#include "frontend/error.h"
#include "tests/report_maps.h"

namespace arenac {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

constexpr std::string_view kGolden = R"({
 "format": "arenac-memory-map",
 "version": 1,
 "model": "small.onnx",
 "sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
 "pools": [
  {"name":"arena","size":64,"capacity":128,"align":16,"lower_bound":64,"proof":"optimal"}
 ],
 "buffers": [
  {"id":0,"name":"a","pool":"arena","offset":0,"size":48,"begin":0,"end":2,"kind":"input","tensors":["image"],"rows":null,"writer":null,"writers":[],"readers":[1],"type":"float32","shape":[1,3,2,2],"c":"SMALL_AT_0"},
  {"id":1,"name":"b","pool":"arena","offset":16,"size":48,"begin":1,"end":3,"kind":"activation","tensors":["conv","conv_view"],"rows":[3,48],"writer":1,"writers":[1],"readers":[2],"type":"int8","shape":[1,4,48,4],"c":"SMALL_AT_1"},
  {"id":2,"name":"c","pool":"arena","offset":0,"size":16,"begin":2,"end":4,"kind":"output","tensors":["scores"],"rows":null,"writer":3,"writers":[3],"readers":[],"type":"float32","shape":[1,4],"c":"SMALL_AT_2"}
 ],
 "steps": [
  {"time":0,"node":"load","op":"Identity","rows":null,"macs":0},
  {"time":1,"node":"conv","op":"Conv","rows":[0,48],"macs":1234},
  {"time":2,"node":"pool","op":"MaxPool","rows":null,"macs":0},
  {"time":3,"node":"store","op":"Identity","rows":null,"macs":0}
 ],
 "constants": [
  {"name":"w","size":432,"pool":"flash"}
 ],
 "overlaps": [
  {"above":1,"below":0,"distance":16}
 ],
 "io": [
  {"name":"image","kind":"input","type":"float32","shape":[1,3,2,2],"size":48},
  {"name":"scores","kind":"output","type":"float32","shape":[1,4],"size":16}
 ],
 "regions": [
  {"use":"constants","memory":"flash","size":432,"permission":"read","life":"program"},
  {"use":"inputs","memory":"caller","size":48,"permission":"read","life":"run"},
  {"use":"outputs","memory":"caller","size":16,"permission":"write","life":"run"},
  {"use":"inputs","memory":"arena","size":48,"permission":"read-write","life":"run"},
  {"use":"outputs","memory":"arena","size":16,"permission":"read-write","life":"run"},
  {"use":"internal","memory":"arena","size":64,"permission":"read-write","life":"run"}
 ],
 "totals": {"arena":64,"weights":432,"macs":1234,"layerwise_arena":96}
}
)";

std::string error_of(const std::string& text) {
  try {
    memory_map_from_json(text, "m.json");
  } catch (const UserError& error) {
    EXPECT_EQ(error.status, Exit::kModel);
    return error.what();
  }
  return "accepted";
}

TEST(MemoryMapJson, Golden) {
  EXPECT_EQ(to_json(small_map()), kGolden);
  EXPECT_EQ(memory_map_from_json(kGolden), small_map());
}

TEST(MemoryMapJson, RoundTrip) {
  for (const MemoryMap& map :
       {MemoryMap{}, grouped_map(), network_map(60), map_named("\"</script>\\\n\x01 */ \xc3\xa9")}) {
    EXPECT_EQ(memory_map_from_json(to_json(map)), map);
  }
}

TEST(MemoryMapJson, OptionalKeysMayBeAbsentAndUnknownOnesAreIgnored) {
  Json json = Json::parse(kGolden);
  for (const char* key : {"constants", "overlaps", "io"}) json.erase(key);
  for (const char* key : {"rows", "writer", "writers", "readers", "type", "shape", "c"})
    json["buffers"][1].erase(key);
  json["pools"][0].erase("capacity");
  json["later"] = {{"more", 1}};
  MemoryMap expected = small_map();
  expected.constants.clear(), expected.overlaps.clear(), expected.io.clear();
  MapBuffer& bare = expected.buffers[1];
  bare.rows.reset(), bare.writer.reset(), bare.writers.clear(), bare.readers.clear(), bare.type.clear(),
      bare.shape.clear(), bare.c.clear();
  expected.pools[0].capacity.reset();
  EXPECT_EQ(memory_map_from_json(json.dump()), expected);
}

TEST(MemoryMapJson, MessagesNameTheField) {
  const auto error_with = [](const std::string& pointer, const Json& value) {
    Json json = Json::parse(kGolden);
    json[Json::json_pointer(pointer)] = value;
    return error_of(json.dump());
  };
  EXPECT_EQ(error_with("/buffers/1/size", -4),
            "m.json: buffers[1].size: expected a whole number from 0 to 9007199254740991, found -4");
  EXPECT_THAT(error_with("/buffers/1/size", 1.5), HasSubstr("buffers[1].size: expected a whole number"));
  EXPECT_THAT(error_with("/buffers/1/size", 9007199254740992), HasSubstr("buffers[1].size"));
  EXPECT_THAT(error_with("/buffers/1/size", 18446744073709551615u), HasSubstr("buffers[1].size"));
  EXPECT_THAT(error_with("/buffers/1/kind", "Activation"),
              HasSubstr("one of: activation, input, output, scratch"));
  EXPECT_THAT(error_with("/buffers/1/tensors/1", Json::array()),
              HasSubstr("buffers[1].tensors[1]: expected a string"));
  EXPECT_THAT(error_with("/buffers/1/rows", {1, 2, 3}), HasSubstr("buffers[1].rows: expected two numbers"));
  EXPECT_THAT(error_with("/buffers/1/writer", "x"), HasSubstr("buffers[1].writer: expected a whole number"));
  EXPECT_THAT(error_with("/buffers/1/readers/0", -1), HasSubstr("buffers[1].readers[0]"));
  EXPECT_THAT(error_with("/buffers/1/shape", 3), HasSubstr("buffers[1].shape: expected a list"));
  EXPECT_THAT(error_with("/pools/0/align", 0), HasSubstr("pools[0].align"));
  EXPECT_THAT(error_with("/pools/0/proof", "gap"), HasSubstr("pools[0].proof"));
  EXPECT_THAT(error_with("/groups", 3), HasSubstr("groups: expected a list"));
  EXPECT_THAT(error_with("/groups", {{{"begin", 1}, {"end", -1}}}), HasSubstr("groups[0].end"));
  EXPECT_THAT(error_with("/order", {{"peak", 1}}), HasSubstr("order.file_peak: is missing"));
  EXPECT_THAT(
      error_with("/order",
                 {{"peak", 1}, {"file_peak", 1}, {"found_peak", 1}, {"lower_bound", 1}, {"proven", 1}}),
      HasSubstr("order.proven: expected true or false"));
  EXPECT_THAT(error_with("/frontier", {{{"arena", "x"}}}), HasSubstr("frontier[0].arena"));
  EXPECT_THAT(error_with("/version", 2), HasSubstr("version"));
  EXPECT_THAT(error_with("/format", "other"), HasSubstr("format: expected \"arenac-memory-map\""));
  EXPECT_THAT(error_of("[]"), HasSubstr("m.json: the file: expected an object"));
  EXPECT_THAT(error_of("{"), HasSubstr("m.json: not JSON"));
  EXPECT_THAT(error_of(std::string(200000, '[')), HasSubstr("m.json: not JSON"));
}

// Every value of a good file, replaced by every kind of wrong value or taken away: accepted or refused, no
// crash.
TEST(MemoryMapJson, HostileValuesEverywhere) {
  const Json good = Json::parse(kGolden);
  const std::vector<Json> wrong = {
      nullptr,        true,    -1,           0, 1e300, 18446744073709551615u, "", "x", Json::array(),
      Json::object(), {1, -1}, {{"name", 3}}};
  const Json flat = good.flatten();
  int refused = 0;
  for (const auto& [pointer, unused] : flat.items()) {
    for (Json::json_pointer at(pointer); !at.empty(); at = at.parent_pointer()) {
      for (const Json& value : wrong) {
        Json json = good;
        json[at] = value;
        const std::string message = error_of(json.dump());
        if (message == "accepted") continue;
        ++refused;
        EXPECT_THAT(message, testing::StartsWith("m.json: "));
      }
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(MemoryMapJson, EveryTruncationIsRefused) {
  for (size_t size = 0; size + 2 < kGolden.size(); ++size) {
    EXPECT_THAT(error_of(std::string(kGolden.substr(0, size))), HasSubstr("not JSON"));
  }
}

TEST(MemoryMapJson, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  const MemoryMap map = memory_map_from_json(to_json(map_named("a\xff\xfe")));
  EXPECT_EQ(map.buffers[0].name, "a\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(VerifyMap, AcceptsValidMaps) {
  for (const MemoryMap& map : {MemoryMap{}, small_map(), grouped_map(), network_map(8), network_map(500)}) {
    EXPECT_EQ(verify(map), std::nullopt) << map.model;
  }
}

TEST(VerifyMap, NamesBothBuffersAddressesAndTimes) {
  MemoryMap map = small_map();
  map.overlaps.clear();
  const std::string fault = verify(map).value_or("");
  for (const char* part : {"'a'", "'b'", "[16, 48)", "'arena'", "[1, 2)"})
    EXPECT_THAT(fault, HasSubstr(part));
}

TEST(VerifyMap, FindsEveryWrongFact) {
  const auto fault_after = [](auto change) {
    MemoryMap map = small_map();
    change(map);
    return verify(map).value_or("valid");
  };
  EXPECT_THAT(fault_after([](auto& m) { m.overlaps[0].distance = 17; }), HasSubstr("share"));
  EXPECT_THAT(fault_after([](auto& m) { std::swap(m.overlaps[0].above, m.overlaps[0].below); }),
              HasSubstr("share"));
  EXPECT_THAT(fault_after([](auto& m) { m.overlaps[0].below = 9; }), HasSubstr("buffer 9"));
  EXPECT_THAT(fault_after([](auto& m) { m.buffers[2].id = 1; }), HasSubstr("id 1"));
  EXPECT_THAT(fault_after([](auto& m) { m.buffers[2].pool = "x"; }), HasSubstr("'x'"));
  EXPECT_THAT(fault_after([](auto& m) { m.buffers[2].offset = 8; }), HasSubstr("aligned"));
  EXPECT_THAT(fault_after([](auto& m) { m.buffers[2].end = 2; }), HasSubstr("[2, 2)"));
  EXPECT_THAT(fault_after([](auto& m) { m.buffers[2].end = 5; }), HasSubstr("4 steps"));
  EXPECT_THAT(fault_after([](auto& m) { m.buffers[2].writer = 1; }), HasSubstr("step 1 uses it"));
  EXPECT_THAT(fault_after([](auto& m) { m.buffers[2].writers = {3, 4}; }), HasSubstr("step 4 uses it"));
  EXPECT_THAT(fault_after([](auto& m) { m.buffers[2].readers = {4}; }), HasSubstr("step 4 uses it"));
  EXPECT_THAT(fault_after([](auto& m) { m.steps[2].time = 3; }), HasSubstr("time 3"));
  EXPECT_THAT(fault_after([](auto& m) { m.pools[0].capacity = 63; }), HasSubstr("capacity"));
  EXPECT_THAT(fault_after([](auto& m) { m.pools.push_back(m.pools[0]); }), HasSubstr("twice"));
  EXPECT_THAT(fault_after([](auto& m) { m.pools[0].size = m.totals.arena = 80; }), HasSubstr("size 80"));
  EXPECT_THAT(fault_after([](auto& m) { m.pools[0].lower_bound = 65; }), HasSubstr("lower bound"));
  EXPECT_THAT(fault_after([](auto& m) { m.totals.arena += 1; }), HasSubstr("totals.arena"));
  EXPECT_THAT(fault_after([](auto& m) { m.totals.weights += 1; }), HasSubstr("totals.weights"));
  EXPECT_THAT(fault_after([](auto& m) { m.totals.macs += 1; }), HasSubstr("totals.macs"));
  EXPECT_THAT(fault_after([](auto& m) { m.buffers[0].size = m.buffers[1].size = kMapNumberLimit << 9; }),
              HasSubstr("out of range"));
}

TEST(VerifyMap, FindsWrongGroupsRowsAndOrders) {
  const auto fault_after = [](auto change) {
    MemoryMap map = grouped_map();
    change(map);
    return verify(map).value_or("valid");
  };
  EXPECT_THAT(fault_after([](auto& m) { m.groups[0].end = 1; }), HasSubstr("group 1 is [1, 1)"));
  EXPECT_THAT(fault_after([](auto& m) { m.groups[0].end = 5; }), HasSubstr("4 steps"));
  EXPECT_THAT(fault_after([](auto& m) { m.groups.push_back({2, 4}); }), HasSubstr("group 2 is [2, 4)"));
  EXPECT_THAT(fault_after([](auto& m) { m.buffers[1].rows->kept = 49; }), HasSubstr("49 of 48 rows"));
  EXPECT_THAT(fault_after([](auto& m) { m.order->lower_bound = 97; }), HasSubstr("order.lower_bound"));
  EXPECT_THAT(fault_after([](auto& m) { m.order->found_peak = 95; }), HasSubstr("above the peak of 95"));
}

// Two buffers collide when, in one pool, their rectangles of time and address meet.
bool collide(const MapBuffer& a, const MapBuffer& b) {
  return a.pool == b.pool && a.begin < b.end && b.begin < a.end && a.offset < b.offset + b.size &&
         b.offset < a.offset + a.size;
}

bool any_collision(const MemoryMap& map) {
  for (size_t i = 0; i < map.buffers.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (collide(map.buffers[i], map.buffers[j])) return true;
    }
  }
  return false;
}

// Moves, grows or prolongs each buffer of a valid map onto each other one: every collision is found.
TEST(VerifyMap, FindsEverySingleMutationThatCollides) {
  MemoryMap good = network_map(40);
  good.pools[1].capacity.reset();
  ASSERT_FALSE(any_collision(good));
  int collisions = 0;
  for (size_t i = 0; i < good.buffers.size(); ++i) {
    for (const MapBuffer& target : good.buffers) {
      for (int mutation = 0; mutation < 5; ++mutation) {
        MemoryMap map = good;
        MapBuffer& buffer = map.buffers[i];
        if (mutation == 0) buffer.offset = target.offset;
        if (mutation == 1) buffer.size = std::max(buffer.size, target.offset + 1 - buffer.offset);
        if (mutation == 2) buffer.begin = std::min(buffer.begin, target.end - 1);
        if (mutation == 3) buffer.end = std::max(buffer.end, target.begin + 1);
        if (mutation == 4) buffer.pool = target.pool;
        if (!any_collision(map)) continue;
        ++collisions;
        EXPECT_THAT(verify(map).value_or("valid"), HasSubstr("share bytes"));
      }
    }
  }
  EXPECT_GT(collisions, 500);
}

TEST(LiveBytes, CountsSharedBytesOnce) {
  const LiveBytes live = live_bytes(small_map(), "arena");
  EXPECT_THAT(live.time, testing::ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(live.bytes, testing::ElementsAre(48, 64, 16, 0));
  const Peak peak = peak_of(small_map(), "arena");
  EXPECT_EQ(peak.time, 1);
  EXPECT_EQ(peak.bytes, 64);
  EXPECT_THAT(peak.buffers, testing::ElementsAre(0, 1));
  EXPECT_THAT(peak_of(small_map(), "no such pool").buffers, testing::IsEmpty());
}

}  // namespace
}  // namespace arenac
