#include "planner/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <iterator>
#include <unordered_map>
#include <utility>

// The library copies file names into arrays that it then terminates.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstringop-truncation"
#define CSV_IO_NO_THREAD
#include <libfccp/csv.h>
#pragma GCC diagnostic pop

#include "frontend/error.h"
#include "planner/verify.h"

namespace arenac {
namespace {

bool is_given(const char* cell) { return cell != nullptr && *cell != '\0'; }

// One line of the file; a cell is null where the file lacks the column.
struct Row {
  const char *id, *lower, *upper, *end, *size, *align, *gaps, *pool, *fixed, *group, *overlap, *uses, *cost,
      *offset, *ready;
  std::string where;  // "file:line"

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("{}: {}", where, what));
  }

  int64_t number(std::string_view text, const char* what) const {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range)
      fail(fmt::format("{} '{:.40}' does not fit into 64 bits", what, text));
    if (error != std::errc() || end != text.data() + text.size())
      fail(fmt::format("{} '{:.40}' is no whole number", what, text));
    return value;
  }

  const char* needed(const char* cell, const char* column) const {
    if (!is_given(cell)) fail(fmt::format("column '{}' is empty", column));
    return cell;
  }

  // The time after the last one, of either column.
  int64_t end_of_times() const {
    if (is_given(upper)) return number(upper, "upper");
    int64_t after = 0;
    if (__builtin_add_overflow(number(needed(end, "upper"), "end"), 1, &after))
      fail("end does not fit into 64 bits");
    return after;
  }
};

// "a b  c" -> a, b, c
std::vector<std::string_view> words(const char* cell) {
  std::vector<std::string_view> result;
  std::string_view text = cell;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return result;
    result.push_back(text.substr(0, text.find(' ')));
    text.remove_prefix(result.back().size());
  }
}

// What a column may be called. Of several spellings in one file the first listed here counts.
struct Spelling {
  const char* name;
  const char* Row::*cell;
};
constexpr std::array kSpellings = {
    Spelling{"id", &Row::id},           Spelling{"buffer", &Row::id},       Spelling{"buffer_id", &Row::id},
    Spelling{"lower", &Row::lower},     Spelling{"begin", &Row::lower},     Spelling{"start", &Row::lower},
    Spelling{"upper", &Row::upper},     Spelling{"end", &Row::end},         Spelling{"size", &Row::size},
    Spelling{"align", &Row::align},     Spelling{"alignment", &Row::align}, Spelling{"gaps", &Row::gaps},
    Spelling{"pool", &Row::pool},       Spelling{"fixed", &Row::fixed},     Spelling{"group", &Row::group},
    Spelling{"overlap", &Row::overlap}, Spelling{"uses", &Row::uses},       Spelling{"cost", &Row::cost},
    Spelling{"offset", &Row::offset},   Spelling{"ready", &Row::ready},
};

using Reader = io::CSVReader<kSpellings.size(), io::trim_chars<' ', '\t'>, io::double_quote_escape<',', '"'>,
                             io::throw_on_overflow, io::empty_line_comment>;

// One of these columns must be there.
using Needed = std::vector<const char * Row::*>;

void check_columns(const Reader& reader, const std::string& file, const std::vector<Needed>& all) {
  std::vector<std::string> missing;
  for (const Needed& needed : all) {
    std::vector<std::string_view> names;
    bool found = false;
    for (const Spelling& spelling : kSpellings) {
      if (std::find(needed.begin(), needed.end(), spelling.cell) == needed.end()) continue;
      names.push_back(spelling.name);
      found = found || reader.has_column(spelling.name);
    }
    if (!found) missing.push_back(fmt::format("{}", fmt::join(names, " or ")));
  }
  if (!missing.empty())
    throw UserError(
        fmt::format("{}: the first line names no column {}", file, fmt::join(missing, ", none ")));
}

// Calls visit(row) for each line below the header, which names the needed columns.
template <class Visit>
void read_rows(const std::string& text, const std::string& file, const std::vector<Needed>& needed,
               Visit visit) {
  constexpr auto kAll = std::make_index_sequence<kSpellings.size()>();
  try {
    Reader reader(file, text.data(), text.data() + text.size());
    [&]<size_t... I>(std::index_sequence<I...>) {
      reader.read_header(io::ignore_extra_column | io::ignore_missing_column, kSpellings[I].name...);
    }
    (kAll);
    check_columns(reader, file, needed);
    while (true) {
      std::array<const char*, kSpellings.size()> cells = {};
      const bool more = [&]<size_t... I>(std::index_sequence<I...>) { return reader.read_row(cells[I]...); }
      (kAll);
      if (!more) break;
      Row r{};
      for (size_t i = cells.size(); i-- > 0;)
        if (cells[i]) r.*kSpellings[i].cell = cells[i];
      r.where = fmt::format("{}:{}", file, reader.get_file_line());
      visit(r);
    }
  } catch (const io::error::base& error) {
    throw UserError(error.what());
  }
}

std::vector<Gap> gaps_of(const Row& row) {
  std::vector<Gap> gaps;
  for (std::string_view word : words(row.gaps)) {
    const auto pair = [&](std::string_view text, char separator) {
      const size_t at = text.find(separator, 1);  // not the sign of the first number
      if (at == std::string_view::npos)
        row.fail(fmt::format("gap '{:.40}' is not lo-hi or lo-hi@lo:hi", word));
      return std::pair(row.number(text.substr(0, at), "gap"), row.number(text.substr(at + 1), "gap"));
    };
    const size_t at = word.find('@');
    const auto [begin, end] = pair(word.substr(0, at), '-');
    const auto [low, high] =
        at == std::string_view::npos ? std::pair<int64_t, int64_t>() : pair(word.substr(at + 1), ':');
    gaps.push_back({begin, end, low, high});
  }
  return gaps;
}

std::vector<int64_t> uses_in(const Row& row, const Buffer& b) {
  std::vector<int64_t> uses;
  for (std::string_view word : words(row.uses)) {
    const int64_t time = row.number(word, "use");
    if (time < b.begin || time >= b.end)
      row.fail(
          fmt::format("use {} is not in the life [{}, {}) of buffer '{}'", time, b.begin, b.end, b.name));
    if (!uses.empty() && time <= uses.back())
      row.fail(fmt::format("use {} comes after use {}: ascending times, each once, are needed", time,
                           uses.back()));
    uses.push_back(time);
  }
  return uses;
}

// A word "name:number".
struct NamedNumber {
  std::string name;
  int64_t number = 0;
};

std::vector<NamedNumber> named_numbers(const Row& row, const char* cell, const char* column,
                                       const char* form) {
  std::vector<NamedNumber> all;
  for (std::string_view word : words(cell)) {
    const size_t colon = word.rfind(':');
    if (colon == std::string_view::npos) row.fail(fmt::format("{} '{:.40}' is not {}", column, word, form));
    all.push_back({std::string(word.substr(0, colon)), row.number(word.substr(colon + 1), column)});
  }
  return all;
}

// Names become ids: of pools at once, of groups and of overlapping buffers once all lines are read.
struct Builder {
  Problem problem;
  std::unordered_map<std::string, int> ids, groups;
  struct Reference {
    std::string where, id;
    int above;
    int64_t distance;
  };
  std::vector<Reference> references;
  struct Priced {
    std::string where;
    int id;
    std::vector<NamedNumber> costs;  // by pool
  };
  std::vector<Priced> priced;

  int pool_id(std::string_view name) {
    auto at = std::find_if(problem.pools.begin(), problem.pools.end(),
                           [&](const Pool& p) { return p.name == name; });
    if (at == problem.pools.end()) at = problem.pools.insert(at, {std::string(name)});
    return int(at - problem.pools.begin());
  }

  void add(const Row& row) {
    Buffer b;
    b.name = row.needed(row.id, "id");
    b.begin = row.number(row.needed(row.lower, "lower"), "lower");
    b.size = row.number(row.needed(row.size, "size"), "size");
    b.end = row.end_of_times();
    if (b.begin >= b.end)
      row.fail(fmt::format("buffer '{}' lives [{}, {}), which is empty", b.name, b.begin, b.end));
    if (is_given(row.align)) b.align = row.number(row.align, "align");
    if (is_given(row.fixed)) b.fixed_offset = row.number(row.fixed, "fixed");
    if (is_given(row.gaps)) b.gaps = gaps_of(row);
    if (is_given(row.uses)) b.uses = uses_in(row, b);
    b.pools.clear();
    if (is_given(row.pool))
      for (std::string_view name : words(row.pool)) b.pools.push_back(pool_id(name));

    const int id = int(problem.buffers.size());
    if (!ids.emplace(b.name, id).second) row.fail(fmt::format("id '{}' is given twice", b.name));
    if (is_given(row.group)) {
      const auto [at, is_new] = groups.emplace(row.group, int(problem.same_offset.size()));
      if (is_new) problem.same_offset.emplace_back();
      problem.same_offset[at->second].push_back(id);
    }
    if (is_given(row.overlap))
      for (const auto& [below, distance] : named_numbers(row, row.overlap, "overlap", "id:distance"))
        references.push_back({row.where, below, id, distance});
    if (is_given(row.cost))
      priced.push_back({row.where, id, named_numbers(row, row.cost, "cost", "pool:cost")});
    problem.buffers.push_back(std::move(b));
  }

  Problem finish() {
    for (const Reference& r : references) {
      const auto below = ids.find(r.id);
      if (below == ids.end())
        throw UserError(fmt::format("{}: overlap with '{}', which is no buffer", r.where, r.id));
      problem.overlaps.push_back({r.above, below->second, r.distance});
    }
    if (problem.pools.empty()) problem.pools.push_back({"arena"});
    std::vector<int> every;
    for (size_t pool = 0; pool < problem.pools.size(); ++pool) every.push_back(int(pool));
    for (Buffer& b : problem.buffers)
      if (b.pools.empty()) b.pools = every;
    for (const Priced& one : priced) set_costs(one);
    return std::move(problem);
  }

  void set_costs(const Priced& one) {
    Buffer& b = problem.buffers[one.id];
    const auto fail = [&](const std::string& what) {
      throw UserError(fmt::format("{}: buffer '{}' has {}", one.where, b.name, what));
    };
    std::vector<std::string> names;
    for (const int pool : b.pools) names.push_back(problem.pools[pool].name);
    std::vector<std::optional<int64_t>> costs(b.pools.size());
    for (const auto& [name, cost] : one.costs) {
      const auto at = std::ranges::find(names, name);
      if (at == names.end())
        fail(fmt::format(
            "a cost in '{:.40}', which is none of its pools; name it in column pool, or one of: {}", name,
            fmt::join(names, ", ")));
      if (cost < 0) fail(fmt::format("a cost of {} in '{}': costs are whole numbers from 0", cost, name));
      std::optional<int64_t>& known = costs[at - names.begin()];
      if (known) fail(fmt::format("two costs in '{}': one is needed", name));
      known = cost;
    }
    for (const std::optional<int64_t>& cost : costs) b.costs.push_back(cost.value_or(0));
  }
};

std::unordered_map<std::string, int> ids_by_name(const Problem& problem) {
  std::unordered_map<std::string, int> ids;
  for (size_t id = 0; id < problem.buffers.size(); ++id) ids.emplace(problem.buffers[id].name, int(id));
  return ids;
}

// Nothing where there is none of that name.
std::optional<int> pool_named(const Problem& problem, const char* name) {
  const auto at = std::ranges::find(problem.pools, name, &Pool::name);
  return at == problem.pools.end() ? std::nullopt : std::optional(int(at - problem.pools.begin()));
}

// Buffers and pools that the problem does not have.
enum class Unknown { kRefused, kPassedOver };

// A cost that the solution says of a buffer is the problem's.
void check_cost(const Row& row, const Problem& problem, int id, int pool) {
  const std::vector<NamedNumber> costs = named_numbers(row, row.cost, "cost", "pool:cost");
  const auto said = std::ranges::find(costs, problem.pools[pool].name, &NamedNumber::name);
  const int64_t cost = said == costs.end() ? 0 : said->number, known = cost_in(problem.buffers[id], pool);
  if (cost != known)
    throw UserError(fmt::format("{}: buffer '{}' is said to cost {} in pool '{}', and costs {}", row.where,
                                problem.buffers[id].name, cost, problem.pools[pool].name, known),
                    Exit::kDifference);
}

// Per buffer, where the solution has it.
WarmStart places_from_csv(const std::string& text, const std::string& file, const Problem& problem,
                          Unknown unknown) {
  const std::unordered_map<std::string, int> ids = ids_by_name(problem);
  WarmStart places(problem.buffers.size());
  read_rows(text, file, {{&Row::id}, {&Row::offset}}, [&](const Row& row) {
    const auto refuse = [&](const std::string& why) {
      if (unknown == Unknown::kRefused) row.fail(why);
    };
    if (!is_given(row.id)) row.fail("column 'id' is empty");
    if (!is_given(row.offset)) row.fail("column 'offset' is empty");
    const auto at = ids.find(row.id);
    if (at == ids.end()) return refuse(fmt::format("'{}' is no buffer of the problem", row.id));
    if (places[at->second]) row.fail(fmt::format("buffer '{}' is placed twice", row.id));
    Placement place = {problem.buffers[at->second].pools.front(), row.number(row.offset, "offset")};
    if (is_given(row.pool)) {
      const auto pool = pool_named(problem, row.pool);
      if (!pool) return refuse(fmt::format("pool '{}' does not exist", row.pool));
      place.pool = *pool;
    }
    places[at->second] = place;
    if (unknown == Unknown::kRefused && is_given(row.cost)) check_cost(row, problem, at->second, place.pool);
  });
  return places;
}

}  // namespace

Problem problem_from_csv(const std::string& text, const std::string& file, std::vector<Pool> pools) {
  Builder builder;
  builder.problem.pools = std::move(pools);
  const std::vector<Needed> needed = {{&Row::id}, {&Row::lower}, {&Row::upper, &Row::end}, {&Row::size}};
  read_rows(text, file, needed, [&](const Row& row) { builder.add(row); });
  return builder.finish();
}

Plan plan_from_csv(const std::string& text, const std::string& file, const Problem& problem) {
  const WarmStart places = places_from_csv(text, file, problem, Unknown::kRefused);
  std::vector<Placement> placements;
  for (size_t id = 0; id < problem.buffers.size(); ++id) {
    if (!places[id])
      throw UserError(fmt::format("{}: buffer '{}' is not placed", file, problem.buffers[id].name));
    placements.push_back(*places[id]);
  }
  return claimed_plan(problem, std::move(placements));
}

WarmStart warm_start_from_csv(const std::string& text, const std::string& file, const Problem& problem) {
  return places_from_csv(text, file, problem, Unknown::kPassedOver);
}

std::vector<Stay> stays_from_csv(const std::string& text, const std::string& file, const Problem& problem) {
  const std::unordered_map<std::string, int> ids = ids_by_name(problem);
  std::vector<Stay> stays;
  const std::vector<Needed> needed = {{&Row::id},   {&Row::lower},  {&Row::upper, &Row::end},
                                      {&Row::pool}, {&Row::offset}, {&Row::ready}};
  read_rows(text, file, needed, [&](const Row& row) {
    const auto number = [&](const char* cell, const char* column) {
      return row.number(row.needed(cell, column), column);
    };
    const auto id = ids.find(is_given(row.id) ? row.id : "");
    if (id == ids.end())
      row.fail(fmt::format("'{}' is no buffer of the problem", is_given(row.id) ? row.id : ""));
    const auto pool = pool_named(problem, is_given(row.pool) ? row.pool : "");
    if (!pool) row.fail(fmt::format("pool '{}' does not exist", is_given(row.pool) ? row.pool : ""));
    stays.push_back({id->second, *pool, number(row.offset, "offset"), number(row.lower, "lower"),
                     number(row.ready, "ready"), row.end_of_times()});
  });
  return stays;
}

}  // namespace arenac
