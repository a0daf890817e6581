#include "driver/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "codegen/reports.h"
#include "driver/exports.h"
#include "frontend/error.h"
#include "frontend/kernels.h"
#include "frontend/lower.h"
#include "frontend/rewrites.h"
#include "planner/planners.h"
#include "scheduler/schedule.h"

namespace arenac {
namespace {

// An operator that is still current has no `until`; ONNX's own domain is the empty name.
Listing list_operators() {
  Listing list{{"domain", "name", "since", "until", "tier", "types"}, {}};
  for (const OperatorRow& row : operators())
    list.rows.push_back({*row.domain ? row.domain : "ai.onnx", row.name, std::to_string(row.since),
                         row.until < 1000 ? std::to_string(row.until) : "", row.tier, element_types(row)});
  return list;
}

Listing list_kernels() {
  Listing list{{"name", "description"}, {}};
  for (const KernelRow& row : kernels())
    list.rows.push_back({std::string(row.name), std::string(row.description)});
  return list;
}

// With their papers.
Listing list_planners() {
  Listing list{{"name", "description", "source"}, {}};
  for (const Planner& row : kPlanners)
    list.rows.push_back({std::string(row.name), std::string(row.description), std::string(row.source)});
  return list;
}

// Any table whose rows have a name and a description.
template <typename Table>
Listing named(const Table& table) {
  Listing list{{"name", "description"}, {}};
  for (const auto& row : table) list.rows.push_back({std::string(row.name), std::string(row.description)});
  return list;
}

}  // namespace

Listing listing(const std::string& table) {
  if (table == "operators") return list_operators();
  if (table == "schedulers") return named(schedulers());
  if (table == "targets") return named(targets());
  if (table == "planners") return list_planners();
  if (table == "ecosystems") return named(kEcosystems);
  if (table == "pools") return named(kPoolKinds);
  if (table == "kernels") return list_kernels();
  if (table == "reports") return named(kReports);
  if (table == "rewrites") return named(rewrites());
  throw UserError(fmt::format("there is no table '{}'", table), Exit::kUsage);
}

// Columns are as wide as their widest word; without a head, for `cut` and `awk`.
std::string to_text(const Listing& listing) {
  std::vector<size_t> widths(listing.columns.size());
  for (const auto& row : listing.rows)
    for (size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], row[k].size());
  std::string text;
  for (const auto& row : listing.rows) {
    std::string line;
    for (size_t k = 0; k < row.size(); ++k) line += fmt::format("{:<{}}", row[k], widths[k] + 2);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string to_json(const Listing& listing) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : listing.rows) {
    nlohmann::ordered_json object;
    for (size_t k = 0; k < row.size(); ++k) object[listing.columns[k]] = row[k];
    rows.push_back(std::move(object));
  }
  return rows.dump(2) + "\n";
}

}  // namespace arenac
