#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "frontend/error.h"
#include "planner/csv.h"
#include "planner/planners.h"
#include "planner/verify.h"

namespace arenac {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
  try {
    problem_from_csv(text, "p.csv");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Csv, TheFourColumnsInAnyOrder) {
  const Problem p = problem_from_csv("size,x,upper,id,lower\n8,?,2,a,0\n4,?,5,b,2\n", "p.csv");
  ASSERT_EQ(p.buffers.size(), 2u);
  EXPECT_EQ(p.buffers[0].name, "a");
  EXPECT_EQ(p.buffers[1].size, 4);
  EXPECT_EQ(p.buffers[1].begin, 2);
  EXPECT_EQ(p.buffers[1].end, 5);
  EXPECT_EQ(p.pools.size(), 1u);
}

TEST(Csv, OptionalColumns) {
  const Problem p = problem_from_csv(
      "id,start,end,size,alignment,gaps,pool,fixed,group,overlap\n"
      "a,-4,9,8,16,-2--1 3-5@2:6,sram dram,,g,\n"
      "\"b,\"\"c\",0,0,8,,,,32,g,a:-3\n"
      "d,0,0,8,,,flash,,,\n",
      "p.csv", {{.name = "dram", .capacity = 100}});
  ASSERT_EQ(p.buffers.size(), 3u);
  const Buffer &a = p.buffers[0], &b = p.buffers[1];
  EXPECT_EQ(a.begin, -4);
  EXPECT_EQ(a.end, 10);  // `end` is part of the life
  EXPECT_EQ(a.align, 16);
  ASSERT_EQ(a.gaps.size(), 2u);
  EXPECT_EQ(a.gaps[0].begin, -2);
  EXPECT_EQ(a.gaps[0].end, -1);
  EXPECT_EQ(a.gaps[0].high, 0);
  EXPECT_EQ(a.gaps[1].low, 2);
  EXPECT_EQ(a.gaps[1].high, 6);
  ASSERT_EQ(p.pools.size(), 3u);
  EXPECT_THAT(a.pools, ElementsAre(1, 0));
  EXPECT_EQ(p.pools[1].name, "sram");
  EXPECT_EQ(b.name, "b,\"c");
  EXPECT_EQ(b.fixed_offset, 32);
  EXPECT_THAT(b.pools, ElementsAre(0, 1, 2));
  EXPECT_THAT(p.same_offset, ElementsAre(ElementsAre(0, 1)));
  ASSERT_EQ(p.overlaps.size(), 1u);
  EXPECT_EQ(p.overlaps[0].above, 1);
  EXPECT_EQ(p.overlaps[0].below, 0);
  EXPECT_EQ(p.overlaps[0].distance, -3);
  EXPECT_EQ(to_csv(problem_from_csv(to_csv(p), "q.csv", p.pools)), to_csv(p));
}

// The lines of csv.h that describe columns: "//   NAME  also NAME, NAME: words", "...; or in its place
// `NAME`, ..."
std::vector<std::vector<std::string>> documented_columns() {
  std::ifstream header(ARENAC_SOURCE_DIR "/planner/csv.h");
  std::vector<std::vector<std::string>> columns;
  const std::regex column("//   ([a-z]+) {2,}(also ([a-z_, ]+))?.*"), other("in its place `([a-z]+)`"),
      word("[a-z_]+");
  for (std::string line; std::getline(header, line);) {
    std::smatch match, place;
    if (!std::regex_match(line, match, column)) continue;
    columns.push_back({match[1]});
    const std::string also = match[3];
    for (std::sregex_iterator at(also.begin(), also.end(), word), end; at != end; ++at)
      columns.back().push_back(at->str());
    if (std::regex_search(line, place, other)) columns.back().push_back(place[1]);
  }
  return columns;
}

TEST(Csv, EveryDocumentedSpellingIsRead) {
  const std::vector<std::pair<std::string, std::string>> plain = {
      {"id", "a"},   {"lower", "0"},  {"upper", "4"}, {"size", "8"},      {"align", "16"}, {"gaps", "1-2"},
      {"pool", "p"}, {"fixed", "32"}, {"group", "g"}, {"overlap", "a:8"}, {"uses", "0 2"}, {"cost", "p:7"}};
  const auto read_with = [&](const std::string& column, const std::string& name) {
    std::string head, cells;
    for (const auto& [known, cell] : plain) {
      head += (known == column ? name : known) + ",";
      cells += (name == "end" && known == column ? "3" : cell) + ",";
    }
    return to_csv(problem_from_csv(head + "x\n" + cells + "\n", "p.csv"));
  };
  size_t spellings = 0;
  for (const std::vector<std::string>& column : documented_columns())
    for (const std::string& name : column) {
      EXPECT_THAT(read_with(column[0], name), HasSubstr("\na,0,4,8,16,1-2,0 2,32,0,a:8,p:7\n")) << name;
      ++spellings;
    }
  EXPECT_EQ(spellings, 18u);  // all but the solution's `offset` and `ready`
}

TEST(Csv, ByteOrderMarkCarriageReturnsAndBlankLines) {
  const Problem p = problem_from_csv("\xEF\xBB\xBFid,lower,upper,size\r\n\r\na,0,1,5\r\n\r\n", "p.csv");
  ASSERT_EQ(p.buffers.size(), 1u);
  EXPECT_EQ(p.buffers[0].size, 5);
}

TEST(Csv, MistakesNameTheLine) {
  const std::string head = "id,lower,upper,size\n";
  EXPECT_THAT(error_of(""), HasSubstr("p.csv"));
  EXPECT_EQ(error_of("id,lower,size\na,0,4\n"), "p.csv: the first line names no column upper or end");
  EXPECT_EQ(error_of("lower,upper,size\n0,1,4\n"),
            "p.csv: the first line names no column id or buffer or buffer_id");
  EXPECT_EQ(
      error_of("not\n"),
      "p.csv: the first line names no column id or buffer or buffer_id, none lower or begin or start, none "
      "upper or end, none size");
  EXPECT_EQ(error_of("id,lower,upper,size\n"), "no error");
  EXPECT_THAT(error_of(head + "a,,1,4\n"), HasSubstr("p.csv:2: column 'lower' is empty"));
  EXPECT_THAT(error_of(head + "a,0,1,4\na,0,1,4\n"), HasSubstr("p.csv:3: id 'a' is given twice"));
  EXPECT_THAT(error_of(head + "a,0,1,4x\n"), HasSubstr("p.csv:2: size '4x' is no whole number"));
  EXPECT_THAT(error_of(head + "a,0,1,99999999999999999999\n"), HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(error_of(head + "a,3,3,4\n"), HasSubstr("p.csv:2: buffer 'a' lives [3, 3), which is empty"));
  EXPECT_THAT(error_of(head + "a,0,1\n"), HasSubstr("line"));
  EXPECT_THAT(error_of(head + "a,0,1,4,5\n"), HasSubstr("line"));
  EXPECT_THAT(error_of("id,lower,upper,size,gaps\na,0,9,4,3\n"), HasSubstr("gap '3' is not lo-hi"));
  EXPECT_THAT(error_of("id,lower,upper,size,overlap\na,0,9,4,x:2\n"), HasSubstr("'x', which is no buffer"));
  EXPECT_THAT(error_of(head + "a,0,1," + std::string(10'000'000, '7') + "\n"), HasSubstr("size '777"));
  EXPECT_THAT(error_of(std::string(20'000'000, 'x')), HasSubstr("p.csv"));
}

TEST(Csv, CostsComeBackAsTheyWent) {
  const std::vector<Pool> pools = {{"fast", 8}, {"slow"}};
  const Problem p = problem_from_csv(
      "id,lower,upper,size,pool,cost\na,0,2,6,,slow:9\nb,1,3,4,slow fast,slow:5 fast:1\nc,0,1,1,,\n", "p.csv",
      pools);
  EXPECT_THAT(p.buffers[0].costs, ElementsAre(0, 9));
  EXPECT_THAT(p.buffers[1].costs, ElementsAre(5, 1));
  EXPECT_TRUE(p.buffers[2].costs.empty());
  const std::string text = to_csv(p);
  EXPECT_THAT(text, HasSubstr("\na,0,2,6,fast slow,fast:0 slow:9\n"));
  EXPECT_EQ(problem_from_csv(text, "q.csv", pools), p);

  const Plan made = plan(p);
  EXPECT_EQ(made.cost, 5);
  const std::string solution = to_csv(p, made);
  EXPECT_THAT(solution, HasSubstr("\nb,1,3,4,slow,slow:5,0\n"));
  const Plan read = plan_from_csv(solution, "s.csv", p);
  EXPECT_EQ(read.cost, 5);
  EXPECT_EQ(verify(p, read), std::nullopt);
  const auto claim_of = [&](const std::string& cell) -> std::string {
    try {
      plan_from_csv("id,pool,cost,offset\na,fast,,0\nb,slow," + cell + ",0\nc,fast,,6\n", "s.csv", p);
    } catch (const UserError& error) {
      EXPECT_EQ(error.status, Exit::kDifference);
      return error.what();
    }
    return "right";
  };
  EXPECT_EQ(claim_of(""), "right");
  EXPECT_EQ(claim_of("slow:5"), "right");
  EXPECT_EQ(claim_of("slow:4"), "s.csv:3: buffer 'b' is said to cost 4 in pool 'slow', and costs 5");
  EXPECT_EQ(claim_of("fast:1"), "s.csv:3: buffer 'b' is said to cost 0 in pool 'slow', and costs 5");
  const WarmStart start = warm_start_from_csv("id,pool,cost,offset\nb,slow,slow:4,0\n", "s.csv", p);
  EXPECT_TRUE(start[1]);  // what it cost does not matter
}

// Of another problem, in part or in whole; what is no solution of any problem is refused.
TEST(Csv, WarmStartsNeedNotBeOfTheProblem) {
  const Problem p = problem_from_csv("id,lower,upper,size\na,0,2,8\nb,1,3,4\nc,2,4,4\n", "p.csv");
  const auto start = [&](const std::string& rows) {
    return warm_start_from_csv("id,pool,offset\n" + rows, "s.csv", p);
  };
  const auto error = [&](const std::string& rows) -> std::string {
    try {
      start(rows);
    } catch (const UserError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(start("").size(), 3u);
  const WarmStart places = start("z,,4\nb,,9223372036854775807\na,elsewhere,0\n");
  EXPECT_FALSE(places[0] || places[2]);
  ASSERT_TRUE(places[1]);
  EXPECT_EQ(places[1]->offset, INT64_MAX);
  EXPECT_EQ(start("c,,-8\n")[2]->offset, -8);
  EXPECT_EQ(error("a,,0\na,,8\n"), "s.csv:3: buffer 'a' is placed twice");
  EXPECT_THAT(error("a,,9223372036854775808\n"), HasSubstr("s.csv:2"));
  EXPECT_THAT(error("a,,\n"), HasSubstr("s.csv:2: column 'offset' is empty"));
  EXPECT_THAT(error("a,,0x8\n"), HasSubstr("s.csv:2"));
}

TEST(Csv, WrongCostsNameTheLineAndTheBuffer) {
  const auto error = [](const std::string& cell) {
    return error_of("id,lower,upper,size,pool,cost\na,0,2,6,fast,\nb,1,3,4,fast slow," + cell + "\n");
  };
  EXPECT_EQ(error("fast:0 slow:5"), "no error");
  EXPECT_THAT(error("fats:5"),
              HasSubstr("p.csv:3: buffer 'b' has a cost in 'fats', which is none of its pools"));
  EXPECT_THAT(error("fats:5"), HasSubstr("fast, slow"));
  EXPECT_THAT(error("fast:-1"), HasSubstr("p.csv:3: buffer 'b' has a cost of -1 in 'fast'"));
  EXPECT_THAT(error("fast:1 fast:2"), HasSubstr("p.csv:3: buffer 'b' has two costs in 'fast'"));
  EXPECT_THAT(error("5"), HasSubstr("p.csv:3: cost '5' is not pool:cost"));
  EXPECT_THAT(error("fast:x"), HasSubstr("p.csv:3: cost 'x' is no whole number"));
  EXPECT_THAT(error("fast:99999999999999999999"), HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(error(":"), HasSubstr("p.csv:3"));
}

TEST(Csv, SolutionsComeBackAsTheyWent) {
  const Problem p = problem_from_csv("id,lower,upper,size,pool\na,0,2,8,s d\nb,1,3,4,d\n", "p.csv");
  const Plan made = plan(p);
  const Plan read = plan_from_csv(to_csv(p, made), "s.csv", p);
  for (int id = 0; id < 2; ++id) {
    EXPECT_EQ(read.placements[id].pool, made.placements[id].pool);
    EXPECT_EQ(read.placements[id].offset, made.placements[id].offset);
  }
  EXPECT_EQ(verify(p, read), std::nullopt);
  const auto fault_of = [&](const std::string& text) -> std::string {
    try {
      return verify(p, plan_from_csv(text, "s.csv", p)).value_or("right");
    } catch (const UserError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(fault_of("id,pool,offset\na,s,0\n"), HasSubstr("buffer 'b' is not placed"));
  EXPECT_THAT(fault_of("id,pool,offset\na,s,0\nb,s,0\n"), HasSubstr("which it may not"));
  EXPECT_THAT(fault_of("id,pool,offset\na,d,0\nb,d,4\n"), HasSubstr("share bytes [4, 8)"));
  EXPECT_THAT(fault_of("id,pool,offset\na,d,-9\nb,d,4\n"), HasSubstr("impossible offset"));
  EXPECT_THAT(fault_of("id,pool,offset\na,d,9223372036854775807\nb,d,4\n"), HasSubstr("impossible offset"));
  EXPECT_THAT(fault_of("id,pool,offset\na,d,8\nb,d,0\n"), "right");
  EXPECT_THAT(fault_of("id,pool,offset\nc,d,8\n"), HasSubstr("'c' is no buffer"));
  EXPECT_THAT(fault_of("id,pool,offset\na,d,8\na,d,8\n"), HasSubstr("placed twice"));
  EXPECT_THAT(fault_of("id,pool\na,d\n"), HasSubstr("names no column offset"));
}

}  // namespace
}  // namespace arenac
