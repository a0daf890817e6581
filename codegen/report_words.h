// Names and numbers as the reports show them.
//
//   printable("conv\x1b[2J")   "conv\uFFFD[2J"        fitted("/net/a/Conv", 8)   "/ne…Conv"
//   grouped(22528)             "22,528"               short_bytes(22528)         "22.0K"
//
// Names come from models and may be any bytes. What a function calls `printable_text` has been through
// printable(); all that measures or cuts text takes only that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/memory_map.h"

namespace arenac {

// Valid UTF-8 on one line that cannot steer a terminal or turn the text around: bytes that are not UTF-8,
// control characters and bidirectional overrides become U+FFFD.
std::string printable(std::string_view name);

// Terminal columns that printable text takes, wide letters as two.
int columns_of(std::string_view printable_text);

// In pieces of at most `columns`, cut at blanks where there are any, those after the first behind `indent`
// blanks.
std::string wrapped(std::string_view printable_text, int columns, int indent);

// Bars as letters of growing weight, an ellipsis as '~', any other letter that is not ASCII as '?'.
std::string in_ascii(std::string_view printable_text);

// Exactly `columns` wide: padded on the right, or cut with "…" in the middle, where names differ least.
std::string fitted(std::string_view printable_text, int columns);

std::string grouped(int64_t number);     // 22,528
std::string short_bytes(int64_t bytes);  // 22.0K, as the command line's suffixes: 1024
std::string exact_bytes(int64_t bytes);  // 2.75M: of the largest unit that takes at most three decimals
std::string short_count(int64_t count);  // 5.7M, in powers of 1000

std::string bytes_words(int64_t bytes);                    // 22,528 bytes (22.0K)
std::string counted(size_t count, std::string_view noun);  // 1 buffer, 1,200 buffers

// What a plan of this size proves of the lifetimes that were placed, and of nothing else: "no placement of
// these lifetimes is smaller (proved)", "every placement of these lifetimes takes at least 1,234 bytes". In
// several pools it is taken as it is which buffer lies in which.
std::string placement_words(int64_t size, int64_t lower_bound, size_t pools = 1);
std::string placement_words(const std::vector<MapPool>& pools);

// What is known of all orders of whole layers: "no order has less (proved)", "at least 1,234 in any";
// may be empty.
std::string order_words(const MapOrder& order);

// Printable, and safe as XML or HTML text and attribute value.
std::string escaped(std::string_view name);

// The node of the step at `time`, "conv3 (Conv)"; empty if the map lists none.
std::string step_title(const MemoryMap& map, int64_t time);

// The operator that writes the buffer first; of inputs, and of what no step writes, the kind.
std::string source_of(const MemoryMap& map, const MapBuffer& buffer);

// "int8[1,16,56,56]"; empty if the map does not say.
std::string type_words(const MapBuffer& buffer);

// Without the ending that exporters give every tensor: "/net/a/Conv_output_0" -> "/net/a/Conv".
std::string without_ending(std::string name);

// What tells the names of a list apart: without the path that all of them begin with, and without the ending
// that exporters give every tensor. {"/net/a/Conv_output_0", "/net/b/Conv_output_0"} -> {"…a/Conv",
// "…b/Conv"}
std::vector<std::string> told_apart(std::vector<std::string> printable_names);

// "arenac 0.1.0, --ram 65536"; empty if the map does not say.
std::string tool_words(const MemoryMap& map);

// What the reports call a group, the first "g1"; none: empty.
std::string group_name(std::optional<size_t> group);

}  // namespace arenac
