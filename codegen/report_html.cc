// The interactive page: viewer.html, which the build embeds, with the map in it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "codegen/report_words.h"
#include "codegen/reports.h"

namespace arenac {

extern const std::string_view kViewerPage;  // viewer.cc, made by CMake

namespace {

// JSON holds '<' only inside strings, where the escape means the same: no name can close the script element.
std::string inside_script(const std::string& json) {
  std::string text;
  for (char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

// Bytes in use are computed here and not again by the page: one definition for all reports.
std::string live_json(const MemoryMap& map) {
  nlohmann::ordered_json pools = nlohmann::ordered_json::array();
  for (const MapPool& pool : map.pools) {
    const LiveBytes live = live_bytes(map, pool.name);
    pools.push_back({{"time", live.time}, {"bytes", live.bytes}});
  }
  return pools.dump();
}

// What the page says of proofs, in the words of the other reports.
std::string words_json(const MemoryMap& map) {
  const nlohmann::ordered_json words = {{"placement", placement_words(map.pools)},
                                        {"order", map.order ? order_words(*map.order) : ""}};
  return words.dump();
}

}  // namespace

// Marks are found in the template alone, in the order in which they stand there: text of the model that looks
// like one is not replaced.
std::string html_report(const MemoryMap& map) {
  const std::array<std::pair<std::string_view, std::string>, 4> parts = {{
      {"<title>@TITLE@", "<title>" + escaped(map.model)},
      {">@MAP@<", ">" + inside_script(to_json(map)) + "<"},
      {">@LIVE@<", ">" + inside_script(live_json(map)) + "<"},
      {">@WORDS@<", ">" + inside_script(words_json(map)) + "<"},
  }};
  std::string page;
  size_t from = 0;  // of the template: what is filled in is never searched
  for (const auto& [mark, text] : parts) {
    const size_t at = kViewerPage.find(mark, from);
    page += kViewerPage.substr(from, at - from);
    page += text;
    from = at + mark.size();
  }
  page += kViewerPage.substr(from);
  return page;
}

}  // namespace arenac
