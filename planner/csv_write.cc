#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "planner/csv.h"

namespace arenac {
namespace {

// A cell, quoted where the format asks for it.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string gaps_cell(const Buffer& b) {
  std::string text;
  for (const Gap& gap : b.gaps) {
    fmt::format_to(std::back_inserter(text), "{}{}-{}", text.empty() ? "" : " ", gap.begin, gap.end);
    if (gap.low < gap.high) fmt::format_to(std::back_inserter(text), "@{}:{}", gap.low, gap.high);
  }
  return text;
}

std::string overlaps_cell(const Problem& problem, const std::vector<Overlap>& overlaps) {
  std::string text;
  for (const Overlap& o : overlaps)
    fmt::format_to(std::back_inserter(text), "{}{}:{}", text.empty() ? "" : " ",
                   problem.buffers[o.below].name, o.distance);
  return text;
}

std::string pools_cell(const Problem& problem, const Buffer& b) {
  std::string text;
  for (int pool : b.pools) text += (text.empty() ? "" : " ") + problem.pools[pool].name;
  return text;
}

// Of the pools that are named; empty for a buffer without costs.
std::string costs_cell(const Problem& problem, const Buffer& b, const std::vector<int>& pools) {
  std::string text;
  for (size_t k = 0; k < pools.size() && !b.costs.empty(); ++k)
    fmt::format_to(std::back_inserter(text), "{}{}:{}", k == 0 ? "" : " ", problem.pools[pools[k]].name,
                   cost_in(b, pools[k]));
  return text;
}

// One column of the file: its name and a buffer's cell.
struct Column {
  const char* name;
  std::function<std::string(int)> cell;
};

// Only the optional columns that say something.
std::vector<Column> columns_of(const Problem& p) {
  const auto number = [&p](int64_t Buffer::*member) {
    return [&p, member](int id) { return fmt::to_string(p.buffers[id].*member); };
  };
  std::vector<Column> columns = {{"id", [&p](int id) { return cell(p.buffers[id].name); }},
                                 {"lower", number(&Buffer::begin)},
                                 {"upper", number(&Buffer::end)},
                                 {"size", number(&Buffer::size)}};
  const auto any = [&p](auto&& says) { return std::any_of(p.buffers.begin(), p.buffers.end(), says); };
  if (any([](const Buffer& b) { return b.align != 1; })) columns.push_back({"align", number(&Buffer::align)});
  if (any([](const Buffer& b) { return !b.gaps.empty(); }))
    columns.push_back({"gaps", [&p](int id) { return gaps_cell(p.buffers[id]); }});
  if (any([](const Buffer& b) { return !b.uses.empty(); }))
    columns.push_back({"uses", [&p](int id) { return fmt::to_string(fmt::join(p.buffers[id].uses, " ")); }});
  if (any([](const Buffer& b) { return b.fixed_offset.has_value(); }))
    columns.push_back({"fixed", [&p](int id) {
                         const auto& offset = p.buffers[id].fixed_offset;
                         return offset ? fmt::to_string(*offset) : "";
                       }});
  if (!p.same_offset.empty()) {
    std::vector<std::string> names(p.buffers.size());
    for (size_t k = 0; k < p.same_offset.size(); ++k)
      for (int id : p.same_offset[k]) names[id] = fmt::to_string(k);
    columns.push_back({"group", [names](int id) { return names[id]; }});
  }
  if (!p.overlaps.empty()) {
    std::vector<std::vector<Overlap>> above(p.buffers.size());
    for (const Overlap& o : p.overlaps) above[o.above].push_back(o);
    columns.push_back({"overlap", [&p, above](int id) { return cell(overlaps_cell(p, above[id])); }});
  }
  return columns;
}

std::vector<Column> placed_columns(const Problem& p, const Plan& plan) {
  std::vector<Column> columns = columns_of(p);
  if (p.pools.size() > 1)
    columns.push_back({"pool", [&](int id) { return cell(p.pools[plan.placements[id].pool].name); }});
  if (has_costs(p))
    columns.push_back(
        {"cost", [&](int id) { return cell(costs_cell(p, p.buffers[id], {plan.placements[id].pool})); }});
  columns.push_back({"offset", [&plan](int id) { return fmt::to_string(plan.placements[id].offset); }});
  return columns;
}

std::string table(const std::vector<Column>& columns, size_t rows) {
  std::string text;
  for (const Column& column : columns) text += (text.empty() ? "" : ",") + std::string(column.name);
  text += '\n';
  for (size_t id = 0; id < rows; ++id)
    for (const Column& column : columns) {
      text += column.cell(int(id));
      text += &column == &columns.back() ? '\n' : ',';
    }
  return text;
}

}  // namespace

std::string to_csv(const Problem& p) {
  std::vector<Column> columns = columns_of(p);
  if (p.pools.size() > 1)
    columns.push_back({"pool", [&p](int id) { return cell(pools_cell(p, p.buffers[id])); }});
  if (has_costs(p))
    columns.push_back(
        {"cost", [&p](int id) { return cell(costs_cell(p, p.buffers[id], p.buffers[id].pools)); }});
  return table(columns, p.buffers.size());
}

std::string to_csv(const Problem& p, const Plan& plan) {
  return table(placed_columns(p, plan), p.buffers.size());
}

std::string to_csv(const Problem& p, const std::vector<Stay>& stays) {
  Problem lines{.pools = p.pools, .buffers = {}};
  Plan plan;
  for (const Stay& stay : stays) {
    Buffer& line = lines.buffers.emplace_back(p.buffers[stay.buffer]);
    line.begin = stay.begin;
    line.end = stay.end;
    line.gaps.clear();
    line.uses.clear();
    plan.placements.push_back({stay.pool, stay.offset});
  }
  std::vector<Column> columns = placed_columns(lines, plan);
  columns.push_back({"ready", [&stays](int id) { return fmt::to_string(stays[id].ready); }});
  return table(columns, stays.size());
}

}  // namespace arenac
