// Every report of the table, on ordinary, empty, large and hostile maps.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "codegen/report_words.h"
#include "codegen/reports.h"
#include "frontend/error.h"
#include "tests/report_maps.h"

namespace arenac {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kHostile =
    "</script><script>alert(1)</script><!--<b>\"'*/ &\n\r\t\x01\x1b[31m\x7f\xff\xc3(\xe2\x80\xae]]>`${x}";

class EveryReport : public testing::TestWithParam<Report> {};

TEST_P(EveryReport, IsTheSameTwiceAndValidUtf8) {
  for (const MemoryMap& map :
       {MemoryMap{}, small_map(), grouped_map(), network_map(60), map_named(kHostile)}) {
    const std::string text = GetParam().write(map);
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text, GetParam().write(map));
    EXPECT_NO_THROW(nlohmann::json(text).dump()) << "not UTF-8";
  }
}

TEST_P(EveryReport, HostileNamesStayText) {
  const std::string text = GetParam().write(map_named(kHostile));
  for (const char* control : {"\x01", "\x1b", "\r", "\t"}) EXPECT_THAT(text, Not(HasSubstr(control)));
}

TEST_P(EveryReport, TakesMapsThatNoJudgeHasSeen) {
  MemoryMap map = small_map();
  map.pools[0].size = 0;
  map.buffers[0].end = map.buffers[0].begin;
  map.buffers[1] = map.buffers[2];
  map.buffers[1].pool = "elsewhere";
  map.overlaps = {{7, 8, 9}, {0, 0, 0}};
  map.groups = {{3, 1}, {0, 0}, {2, 900}, {kMapNumberLimit - 1, kMapNumberLimit - 1}, {0, 3}, {0, 4}};
  map.frontier = {{}, {kMapNumberLimit - 1, kMapNumberLimit - 1, kMapNumberLimit - 1, kMapNumberLimit - 1}};
  EXPECT_FALSE(GetParam().write(map).empty());
  MemoryMap far = small_map();
  far.steps.clear();
  far.buffers[0] = {.id = kMapNumberLimit - 1,
                    .name = "far",
                    .pool = "arena",
                    .offset = kMapNumberLimit - 1,
                    .size = kMapNumberLimit / 4,
                    .begin = kMapNumberLimit - 2,
                    .end = kMapNumberLimit - 1};
  EXPECT_FALSE(GetParam().write(far).empty());
}

INSTANTIATE_TEST_SUITE_P(Reports, EveryReport, testing::ValuesIn(kReports),
                         [](auto& info) { return std::string(info.param.name); });

TEST(Reports, AreFoundByName) {
  for (const Report& report : kReports) EXPECT_EQ(find_report(report.name), &report);
  EXPECT_EQ(find_report("yaml"), nullptr);
}

std::string as_wide(const MemoryMap& map, int columns) { return text_report(map, {.columns = columns}); }

TEST(TextReport, FitsTheColumnsInEitherCharset) {
  MemoryMap wide = map_named(std::string(300, 'n') + "\xe6\xbc\xa2\xe5\xad\x97");
  wide.buffers[0].offset = wide.buffers[0].size = wide.totals.macs = kMapNumberLimit - 1;
  for (const MemoryMap& map : {MemoryMap{}, small_map(), grouped_map(), network_map(5), network_map(500),
                               map_named(kHostile), wide}) {
    for (int columns : {60, 80, 100, 132}) {
      std::istringstream lines(as_wide(map, columns));
      for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), columns) << line;
    }
    std::istringstream lines(frontier_text(map));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), 80) << line;
    const std::string ascii = text_report(map, {.charset = Charset::kAscii});
    EXPECT_TRUE(std::all_of(ascii.begin(), ascii.end(), [](unsigned char c) { return c < 0x80; })) << ascii;
    EXPECT_EQ(std::count(ascii.begin(), ascii.end(), '\n'), std::ranges::count(text_report(map), '\n'));
  }
}

TEST(TextReport, Golden) {
  const std::string text = text_report(small_map());
  EXPECT_THAT(text, HasSubstr("small.onnx\nsha256   aaaa"));
  EXPECT_THAT(text, HasSubstr("arena    64 bytes, 1.5 times less than the arena of whole layers (96)\n"
                              "weights  432 bytes in 1 constant\n"));
  EXPECT_THAT(text, HasSubstr("input    image float32[1,3,2,2], 48 bytes at the caller's pointer\n"));
  EXPECT_THAT(text, HasSubstr("Pool arena: 64 bytes of 128, align 16, 3 buffers; no placement of these\n"
                              "         lifetimes is smaller (proved)\n"));
  EXPECT_THAT(text, HasSubstr("      64 |        bbbbbbbbbbbbbbbb\n"));
  EXPECT_THAT(text, HasSubstr("      16 |aaaaaaaaaaaaaaaacccccccccccccccc\n"));
  EXPECT_THAT(text, HasSubstr("                  ^ peak at step 1: conv (Conv)\n"));
  EXPECT_THAT(text, HasSubstr("\nAt the peak, step 1: 64 bytes in 2 buffers\n"
                              "     offset  size  life    rows  from   name: tensors\n"
                              "  a       0    48  [0, 2)        input  a: image\n"
                              "  b      16    48  [1, 3)  3/48  Conv   b: conv, conv_view\n"
                              "\n1 other buffer, largest first\n"
                              "     offset  size  life    rows  from      name: tensors\n"
                              "  c       0    16  [2, 4)        Identity  c: scores\n"));
  EXPECT_THAT(as_wide(small_map(), 120), HasSubstr("3/48  Conv   int8[1,4,48,4]    b: conv, conv_view\n"));
}

// One word per number: every report says of a plan what placement_words does.
TEST(Reports, SayInTheSameWordsWhatIsProved) {
  MemoryMap above = small_map();
  above.pools[0].lower_bound = 63;
  for (const MemoryMap& map : {small_map(), above}) {
    const std::string words = placement_words(map.pools);
    const std::string text = text_report(map, {.columns = 200});
    EXPECT_THAT(text, HasSubstr("3 buffers; " + words + "\n"));
    EXPECT_THAT(svg_report(map), HasSubstr("; " + words + "<"));
    EXPECT_THAT(html_report(map), HasSubstr("\"placement\":\"" + words + "\""));
    for (const std::string& report : {text, svg_report(map)}) EXPECT_THAT(report, Not(HasSubstr("optimal")));
  }
  EXPECT_EQ(placement_words(above.pools), "every placement of these lifetimes takes at least 63 bytes");
  EXPECT_EQ(placement_words(8, 8, 2), "no placement of these lifetimes in these pools is smaller (proved)");
}

// Wherever the peak is, its label is whole.
TEST(TextReport, LabelsThePeakWhole) {
  for (int peak = 0; peak < 40; ++peak)
    for (const char* name : {"conv", "/features/features.3/conv/conv.0/conv.0.0/Conv"}) {
      MemoryMap map;
      map.pools = {{.name = "arena", .size = 16}};
      for (int t = 0; t < 40; ++t) map.steps.push_back({.time = t, .node = name, .op = "Conv+Clip"});
      map.buffers = {{.name = "b", .pool = "arena", .size = 16, .begin = peak, .end = peak + 1}};
      std::string words;  // in one line
      for (char c : text_report(map))
        if (c != '\n' && (c != ' ' || words.empty() || words.back() != ' ')) words += c;
      EXPECT_THAT(words, HasSubstr(fmt::format("peak at step {}: {} (Conv+Clip)", peak, name)));
    }
}

TEST(TextReport, TellsTheOrderFromTheFilesAndTheBestFound) {
  const auto order_of = [](const MapOrder& order) {
    MemoryMap map = small_map();
    map.order = order;
    const std::string text = text_report(map);
    const size_t begin = text.find("order    ");
    return text.substr(begin, text.find("\ninput ", begin) - begin);
  };
  EXPECT_EQ(order_of({.peak = 9, .file_peak = 9}),
            "order    9 bytes live in whole layers, as in the file's order");
  EXPECT_EQ(order_of({.peak = 7, .file_peak = 9, .found_peak = 7, .lower_bound = 5}),
            "order    7 bytes live in whole layers, 9 in the file's order; at least 5 in any");
  EXPECT_EQ(order_of({.peak = 9, .file_peak = 9, .found_peak = 7, .lower_bound = 7, .proven = true}),
            "order    9 bytes live in whole layers, as in the file's order\n"
            "         7 in the best order found; no order has less (proved)");
}

TEST(TextReport, SaysThatTheSearchWasCutOff) {
  EXPECT_THAT(text_report(grouped_map()), HasSubstr("\nsearch   cut off by --time"));
  EXPECT_THAT(text_report(small_map()), Not(HasSubstr("cut off")));
}

TEST(TextReport, ShowsGroupsOrderAndFrontier) {
  const std::string text = text_report(grouped_map());
  EXPECT_THAT(text, HasSubstr("order    96 bytes live in whole layers, 1,120 in the file's order; no order "
                              "has\n         less (proved)\n"));
  EXPECT_THAT(text, HasSubstr("multiply-accumulates, 200 of them again, in 4 steps\n"));
  EXPECT_THAT(text, HasSubstr("  groups          [g1------------]\n"));
  EXPECT_THAT(text, HasSubstr("  g1   steps [1, 3)  conv (Conv) to pool (MaxPool)\n"));
  EXPECT_THAT(text, HasSubstr(frontier_text(grouped_map())));
  EXPECT_THAT(frontier_text(grouped_map()),
              testing::ContainsRegex(
                  "\n +1,096 +100.0 % +3.0K +0 +0 +0 +19,482\n +64 +5.8 % +4.5K +600 +20,736 +2 +31,001\n"));
  EXPECT_THAT(text, HasSubstr("\ncycles   about 4.0K on cortex-m4, estimated\n"));
  EXPECT_THAT(text, testing::ContainsRegex(
                        "Steps by estimated cycles on cortex-m4\n.*\n +1 +3.0K +75.0% +[^\n]*conv"));
  EXPECT_THAT(text, HasSubstr("\nmade by  arenac 0.0.0, --ram 64\n"));
  EXPECT_THAT(svg_report(grouped_map()), HasSubstr(">arenac 0.0.0, --ram 64</text>"));
  for (const char* word : {"made by", "order  ", "groups", "Groups", "choose", "cycles"})
    EXPECT_THAT(text_report(small_map()), Not(HasSubstr(word)));
}

TEST(TextReport, LargeMapsListTheLargestAndCountTheRest) {
  const std::string text = text_report(network_map(500));
  EXPECT_THAT(text, HasSubstr("At the peak, step 167: 129,120 bytes in 12 buffers\n"));
  EXPECT_THAT(text, HasSubstr("443 other buffers, largest first\n"));
  EXPECT_THAT(text, HasSubstr("and 423 smaller ones"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 140);
}

TEST(CsvReport, QuotesAsSpreadsheetsExpect) {
  EXPECT_EQ(
      csv_report(small_map()),
      "id,lower,upper,size,offset,pool,kind,name,tensors,rows_kept,rows_total,op,writer,writers,readers,type,"
      "shape,c\n"
      "0,0,2,48,0,arena,input,a,image,,,input,,,1,float32,1x3x2x2,SMALL_AT_0\n"
      "1,1,3,48,16,arena,activation,b,conv conv_view,3,48,Conv,1,1,2,int8,1x4x48x4,SMALL_AT_1\n"
      "2,2,4,16,0,arena,output,c,scores,,,Identity,3,3,,float32,1x4,SMALL_AT_2\n");
  EXPECT_THAT(csv_report(map_named("a,\"b\"\nc")), HasSubstr(",\"a,\"\"b\"\"\uFFFDc\","));
}

TEST(CsvReport, NamesTheGroupWhereThereIsOne) {
  const std::string csv = csv_report(grouped_map());
  EXPECT_THAT(csv, HasSubstr(",c,group\n"));
  EXPECT_THAT(csv, HasSubstr(",SMALL_AT_1,g1\n"));
}

size_t occurrences(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The contents of the page's element with that id.
std::string script_of(const std::string& page, const std::string& id) {
  const std::string open = "id=\"" + id + "\">";
  const size_t begin = page.find(open) + open.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

TEST(HtmlReport, CarriesTheMapAndTheLiveBytes) {
  const std::string page = html_report(small_map());
  EXPECT_EQ(memory_map_from_json(script_of(page, "map")), small_map());
  EXPECT_EQ(memory_map_from_json(script_of(html_report(grouped_map()), "map")), grouped_map());
  EXPECT_EQ(script_of(page, "live"), R"([{"time":[0,1,3,4],"bytes":[48,64,16,0]}])");
  EXPECT_THAT(page, HasSubstr("<title>small.onnx</title>"));
}

TEST(HtmlReport, NamesCannotLeaveTheirElement) {
  const std::string plain = html_report(small_map());
  for (const std::string& name :
       {kHostile, std::string("@MAP@"), std::string(">@LIVE@<"), std::string("\\")}) {
    const std::string page = html_report(map_named(name));
    EXPECT_EQ(occurrences(page, "<script"), occurrences(plain, "<script"));
    EXPECT_EQ(occurrences(page, "</script"), occurrences(plain, "</script"));
    EXPECT_EQ(occurrences(page, "<!--"), occurrences(plain, "<!--"));
    EXPECT_EQ(memory_map_from_json(script_of(page, "map")), memory_map_from_json(to_json(map_named(name))));
  }
}

TEST(HtmlReport, NeedsNothingFromTheNetwork) {
  const std::string page = html_report(small_map());
  for (const char* part : {"http:", "https:", "src=", "href=", "@import", "url(", "fetch(", "innerHTML"}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
}

TEST(SvgReport, OneShapeABufferWithItsTitle) {
  const std::string svg = svg_report(small_map());
  EXPECT_EQ(occurrences(svg, "class=\"b "), small_map().buffers.size());
  EXPECT_THAT(svg, HasSubstr("<title>b\n48 bytes\noffset 16, steps [1, 3)\nint8[1,4,48,4]\nfrom conv (Conv)\n"
                             "read by pool (MaxPool)\n3 of 48 rows\nconv\nconv_view</title>"));
  EXPECT_THAT(svg, HasSubstr("peak 64 bytes at step 1: conv (Conv)"));
}

TEST(SvgReport, ABracketAGroup) {
  EXPECT_EQ(occurrences(svg_report(small_map()), "class=\"group\""), 0u);
  const std::string svg = svg_report(grouped_map());
  EXPECT_EQ(occurrences(svg, "class=\"group\"/>"), 1u);
  EXPECT_THAT(svg, HasSubstr(">g1</text>"));
  EXPECT_THAT(svg, HasSubstr("3 of 48 rows\nin g1\nconv"));
}

TEST(SvgReport, ExplainsHatchAndBrackets) {
  const std::string svg = svg_report(grouped_map());
  EXPECT_EQ(occurrences(svg, "class=\"shared\""), 1u);
  EXPECT_EQ(occurrences(svg, "class=\"band\""), 1u);
  EXPECT_THAT(svg, HasSubstr(">hatched: bytes that two buffers share; bands and brackets: groups,"));
}

// As WCAG has it.
double contrast_to_white(const std::string& hex) {
  double luminance = 0;
  constexpr double kWeights[] = {.2126, .7152, .0722};
  for (int i = 0; i < 3; ++i) {
    const double c = std::stoi(hex.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    luminance += kWeights[i] * (c <= .03928 ? c / 12.92 : std::pow((c + .055) / 1.055, 2.4));
  }
  return 1.05 / (luminance + .05);
}

TEST(SvgReport, LabelsCanBeRead) {
  const std::string svg = svg_report(small_map());
  const std::regex colour("\\.(c[0-9]|other) \\{ fill: (#[0-9a-f]{6}); \\}");
  size_t colours = 0;
  for (std::sregex_iterator at(svg.begin(), svg.end(), colour), end; at != end; ++at, ++colours)
    EXPECT_GE(contrast_to_white((*at)[2]), 4.5) << at->str();
  EXPECT_EQ(colours, 11u);
}

// Every '<' opens a known element, so no name became markup; every '&' is one of ours.
TEST(SvgReport, NamesAreText) {
  const std::string svg = svg_report(map_named(kHostile));
  const size_t known = occurrences(svg, "<svg ") + occurrences(svg, "<title>") + occurrences(svg, "<style>") +
                       occurrences(svg, "<rect ") + occurrences(svg, "<path ") + occurrences(svg, "<text ") +
                       occurrences(svg, "</title>") + occurrences(svg, "</style>") +
                       occurrences(svg, "<defs>") + occurrences(svg, "<pattern ") +
                       occurrences(svg, "</pattern>") + occurrences(svg, "</defs>") +
                       occurrences(svg, "</text>") + occurrences(svg, "</rect>") + occurrences(svg, "</svg>");
  EXPECT_EQ(occurrences(svg, "<"), known);
  const size_t entities = occurrences(svg, "&lt;") + occurrences(svg, "&gt;") + occurrences(svg, "&amp;") +
                          occurrences(svg, "&quot;") + occurrences(svg, "&#39;");
  EXPECT_EQ(occurrences(svg, "&"), entities);
  EXPECT_EQ(occurrences(svg, "class=\"b "), 3u);
}

TEST(ReportWords, NumbersAndNames) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(-123456), "-123,456");
  EXPECT_EQ(grouped(22528), "22,528");
  EXPECT_EQ(short_bytes(1023), "1023");
  EXPECT_EQ(short_bytes(22528), "22.0K");
  EXPECT_EQ(short_count(5700000), "5.7M");
  EXPECT_EQ(exact_bytes(0), "0");
  EXPECT_EQ(exact_bytes(1000), "1,000");
  EXPECT_EQ(exact_bytes(2883584), "2.75M");
  EXPECT_EQ(exact_bytes(2883584 + 65536), "2880K");
  EXPECT_EQ(told_apart({"/a/s_output_0", "/a/s_output_1"}),
            (std::vector<std::string>{"…s_output_0", "…s_output_1"}));
  EXPECT_EQ(fitted("abcdefghij", 7), "abc…hij");
  EXPECT_EQ(fitted("abc", 5), "abc  ");
  EXPECT_EQ(wrapped("one two three", 8, 2), "one two\n  three");
  EXPECT_EQ(wrapped("abcdefgh ij", 4, 1), "abcd\n efg\n h\n ij");
  EXPECT_EQ(in_ascii("▁█…é"), ".#~?");
  EXPECT_EQ(told_apart({"/n/a/Conv_output_0", "/n/b/Conv_output_12"}),
            (std::vector<std::string>{"…a/Conv", "…b/Conv"}));
  EXPECT_EQ(told_apart({"/n/a", "x_1"}), (std::vector<std::string>{"/n/a", "x_1"}));
  EXPECT_EQ(told_apart({"/n/a_output_0"}), std::vector<std::string>{"/n/a"});
  EXPECT_EQ(columns_of(fitted("\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", 4)), 4);
  EXPECT_EQ(printable("a\xff\x7f\xe2\x80\xae z"), "a\uFFFD\uFFFD\uFFFD z");
  EXPECT_EQ(escaped("<a b='1'>&\"\x1b"), "&lt;a b=&#39;1&#39;&gt;&amp;&quot;\uFFFD");
}

}  // namespace
}  // namespace arenac
