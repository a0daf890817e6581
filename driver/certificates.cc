#include "driver/certificates.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "frontend/error.h"

namespace arenac {

// Names and not numbers: a certificate stays right when a problem's lines are sorted.
std::string to_json(const Problem& problem, const std::vector<Certificate>& certificates) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Certificate& c : certificates) {
    nlohmann::ordered_json json = {{"pool", problem.pools[c.pool].name}, {"bound", c.bound}};
    if (c.time) json["time"] = *c.time;
    for (const int id : c.buffers) json["buffers"].push_back(problem.buffers[id].name);
    all.push_back(std::move(json));
  }
  return all.dump(1) + "\n";
}

// The form alone is judged here; whether the buffers need the bound check_certificate() finds out.
std::vector<Certificate> certificates_from_json(const std::string& text, const std::string& file,
                                                const Problem& problem) {
  const auto refuse = [&](const std::string& why) { throw UserError(fmt::format("{}: {}", file, why)); };
  std::map<std::string, int> buffers, pools;
  for (size_t k = 0; k < problem.buffers.size(); ++k) buffers[problem.buffers[k].name] = static_cast<int>(k);
  for (size_t k = 0; k < problem.pools.size(); ++k) pools[problem.pools[k].name] = static_cast<int>(k);
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_array()) refuse("is no list of certificates in JSON");
  const auto id_of = [&](const std::map<std::string, int>& ids, const nlohmann::json& name,
                         const char* kind) {
    const auto at = name.is_string() ? ids.find(name.get<std::string>()) : ids.end();
    if (at == ids.end()) refuse(fmt::format("the problem has no {} {}", kind, name.dump()));
    return at->second;
  };
  std::vector<Certificate> all;
  for (const nlohmann::json& one : json) {
    if (!one.is_object() || !one.contains("pool") || !one.contains("bound") || !one.contains("buffers") ||
        !one["bound"].is_number_integer() || !one["buffers"].is_array() ||
        (one.contains("time") && !one["time"].is_number_integer()))
      refuse("a certificate has \"pool\", \"bound\", \"buffers\" and perhaps \"time\"");
    Certificate& c = all.emplace_back();
    c.pool = id_of(pools, one["pool"], "pool");
    c.bound = one["bound"].get<int64_t>();
    if (one.contains("time")) c.time = one["time"].get<int64_t>();
    for (const nlohmann::json& name : one["buffers"]) c.buffers.push_back(id_of(buffers, name, "buffer"));
    std::ranges::sort(c.buffers);
  }
  return all;
}

}  // namespace arenac
