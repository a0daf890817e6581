// The arenac program from outside: exit statuses, what it writes where, and what it leaves behind.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "codegen/memory_map.h"
#include "codegen/report_words.h"
#include "driver/compile.h"
#include "driver/files.h"
#include "driver/process.h"
#include "frontend/import.h"
#include "tests/tool.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kModel = ARENAC_ROOT "/models/tiny_cnn.onnx";

class Cli : public testing::Test {
 protected:
  Finished arenac(std::vector<std::string> words) {
    words.insert(words.begin(), arenac_tool());
    return run_process(words, scratch_.path(), 120);
  }
  fs::path at(const std::string& name) const { return scratch_.path() / name; }
  void write(const std::string& name, const std::string& bytes) {
    write_files(scratch_.path(), {{name, bytes}});
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(scratch_.path()))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  // An input folder for the model, all ones.
  void make_inputs(const std::string& folder) {
    fs::create_directory(at(folder));
    const Graph graph = import_model(kModel);
    for (size_t k = 0; k < graph.inputs.size(); ++k) {
      const Tensor& tensor = graph.tensors[graph.inputs[k]];
      Value value(tensor.type, tensor.shape);
      for (int64_t e = 0; e < value.count(); ++e) store(value, e, {.f = 1});
      write_text((at(folder) / ("input_" + std::to_string(k) + ".pb")).string(), held_file({"x"}, {{value}}));
    }
  }

  TemporaryFolder scratch_;
};

TEST_F(Cli, CompileWritesEveryFileAndTheSameBytesTwice) {
  ASSERT_EQ(arenac({"compile", kModel, "-o", "a/b", "--name", "kws"}).status, 0);
  ASSERT_EQ(arenac({"compile", kModel, "-o", "c", "--name", "kws"}).status, 0);
  for (const MapBuffer& buffer : memory_map_from_json(read_file(at("c/kws_map.json"))).buffers)
    EXPECT_THAT(read_file(at("c/kws.c")), HasSubstr(fmt::format("  {} = {}", buffer.c, buffer.offset)));
  for (const char* name : {"kws.h", "kws.c", "kws_map.json", "kws.cmake"})
    EXPECT_EQ(read_file(at("a/b") / name), read_file(at("c") / name)) << name;
  EXPECT_EQ(arenac({"verify", "c/kws_map.json"}).status, 0);
}

TEST_F(Cli, HelpIsACommand) {
  EXPECT_EQ(arenac({"help"}).output, arenac({"--help"}).output);
  EXPECT_EQ(arenac({"help", "compile"}).output, arenac({"compile", "--help"}).output);
  EXPECT_EQ(arenac({"help", "compile"}).status, 0);
  EXPECT_THAT(arenac({"help", "complie"}).output, HasSubstr("did you mean compile?"));
}

TEST_F(Cli, DepfileNamesTheModel) {
  ASSERT_EQ(arenac({"compile", kModel, "-o", "gen", "--depfile", "gen/kws.d"}).status, 0);
  EXPECT_THAT(read_file(at("gen/kws.d")), AllOf(HasSubstr("gen/tiny_cnn.h"), HasSubstr(kModel)));
}

TEST_F(Cli, MapIsPrintedAndWritten) {
  EXPECT_THAT(arenac({"map", kModel}).output, HasSubstr("arena"));
  ASSERT_EQ(arenac({"map", kModel, "--json", "m.json", "--csv", "m.csv"}).status, 0);
  EXPECT_EQ(verify(memory_map_from_json(read_file(at("m.json")))), std::nullopt);
  EXPECT_EQ(arenac({"map", "m.json", "--csv", "-"}).output, read_file(at("m.csv")));
}

TEST_F(Cli, MapTellsOfRingsAndGroups) {
  ASSERT_EQ(arenac({"map", kModel, "--scheduler", "rows", "--json", "rows.json"}).status, 0);
  ASSERT_EQ(arenac({"map", kModel, "--scheduler", "layerwise", "--json", "whole.json"}).status, 0);
  const MemoryMap rows = memory_map_from_json(read_file(at("rows.json")));
  const MemoryMap whole = memory_map_from_json(read_file(at("whole.json")));
  EXPECT_EQ(verify(rows), std::nullopt);
  EXPECT_EQ(rows.totals.layerwise_arena, whole.totals.arena);
  EXPECT_THAT(whole.groups, IsEmpty());
  ASSERT_FALSE(rows.groups.empty());
  const auto kept = [](const MemoryMap& map) {
    return std::count_if(map.buffers.begin(), map.buffers.end(), [](const MapBuffer& b) {
      return b.rows && 0 < b.rows->kept && b.rows->kept <= b.rows->total;
    });
  };
  const auto parts = [](const MemoryMap& map) {
    return std::count_if(map.steps.begin(), map.steps.end(),
                         [](const MapStep& s) { return s.rows.has_value(); });
  };
  EXPECT_GT(kept(rows), 0);
  EXPECT_GT(parts(rows), 0);
  EXPECT_EQ(kept(whole) + parts(whole), 0);
  ASSERT_TRUE(whole.order);
  EXPECT_LE(whole.order->peak, whole.order->file_peak);
}

TEST_F(Cli, AStreamNamesAnInputAndADimension) {
  const auto stream = [&](const std::string& words) {
    return arenac({"compile", kModel, "-o", "out", "--stream", words});
  };
  for (const char* words :
       {"input", "input=", "input=x", "input=2:", "input=2:0", "input=2:1:1", "input=4", "no=2"})
    EXPECT_EQ(stream(words).status, 2) << words;
  const Finished later = stream("input=2:1");
  EXPECT_EQ(later.status, 1);
  EXPECT_THAT(later.output, HasSubstr("later moments: pad before the first moment alone"));
}

TEST_F(Cli, TimeEndsTheSearchForASchedule) {
  ASSERT_EQ(arenac({"map", kModel, "--json", "all.json"}).status, 0);
  ASSERT_EQ(arenac({"map", kModel, "--time", "1e-9", "--json", "some.json"}).status, 0);
  const MemoryMap all = memory_map_from_json(read_file(at("all.json")));
  const MemoryMap some = memory_map_from_json(read_file(at("some.json")));
  EXPECT_EQ(verify(some), std::nullopt);
  EXPECT_FALSE(all.cut_off);
  EXPECT_TRUE(some.cut_off);
  EXPECT_LT(all.totals.arena, some.totals.arena);
}

TEST_F(Cli, SlowdownIsAPartOfTheTimeOfWholeLayers) {
  const auto map_with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"map", kModel, "--json", "m.json"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(arenac(words).status, 0);
    return memory_map_from_json(read_file(at("m.json"))).totals;
  };
  const MapTotals whole = map_with({"--optimize", "speed"}), as_fast = map_with({"--slowdown", "0%"}),
                  any = map_with({"--slowdown", "1000"});
  EXPECT_LE(as_fast.cycles, whole.cycles);
  EXPECT_LE(map_with({}).cycles, whole.cycles + whole.cycles / 10);
  EXPECT_LE(as_fast.arena, whole.arena);
  EXPECT_LT(any.arena, map_with({}).arena);
  for (const char* percent : {"-1", "x", "%"})
    EXPECT_EQ(arenac({"map", kModel, "--slowdown", percent}).status, 2) << percent;
}

TEST_F(Cli, MapListsSchedulesToChooseFrom) {
  const Finished table = arenac({"map", kModel, "--pareto"});
  ASSERT_EQ(table.status, 0);
  EXPECT_THAT(table.output, HasSubstr("constants read again"));
  ASSERT_EQ(arenac({"map", kModel, "--pareto", "--json", "p.json", "--html", "p.html"}).status, 0);
  const MemoryMap map = memory_map_from_json(read_file(at("p.json")));
  ASSERT_FALSE(map.frontier.empty());
  for (size_t k = 0; k < map.frontier.size(); ++k) {
    EXPECT_GT(map.frontier[k].code, 0);
    if (k == 0) continue;
    EXPECT_LT(map.frontier[k].arena, map.frontier[k - 1].arena);
    EXPECT_GE(map.frontier[k].cycles, map.frontier[k - 1].cycles);
  }
  EXPECT_THAT(read_file(at("p.html")), HasSubstr("\"frontier\": ["));
  EXPECT_EQ(arenac({"map", "p.json", "--pareto"}).output, table.output);
  ASSERT_EQ(arenac({"map", kModel, "--json", "m.json"}).status, 0);
  EXPECT_EQ(arenac({"map", "m.json", "--pareto"}).status, 2);
}

TEST_F(Cli, PlanWritesASolutionThatVerifies) {
  write("p.csv", "id,lower,upper,size\na,0,2,8\nb,2,5,4\nc,1,3,4\n");
  EXPECT_THAT(
      arenac({"plan", "p.csv", "-o", "s.csv"}).output,
      HasSubstr("makespan 12, 1.0000 of the load 12; no placement of these lifetimes is smaller (proved)"));
  EXPECT_THAT(read_file(at("s.csv")), HasSubstr("id,lower,upper,size,offset\na,0,2,8,"));
  EXPECT_EQ(arenac({"verify", "p.csv", "s.csv"}).status, 0);
  EXPECT_THAT(
      arenac({"plan", "p.csv", "--json"}).output,
      AllOf(HasSubstr(R"("load":12,"makespan":12,"lower_bound":12,"proof":"optimal")"),
            HasSubstr(R"("pools":[{"name":"arena","size":12,"lower_bound":12,"load":12,"peak":[1,2]}])")));
  EXPECT_THAT(arenac({"plan", "p.csv", "--planner", "all"}).output,
              AllOf(HasSubstr("portfolio"), HasSubstr("sekiyama"),
                    HasSubstr("\n0 above the bound: no placement of these lifetimes is smaller (proved)\n")));
  EXPECT_EQ(arenac({"plan", "p.csv", "--planner", "all", "-o", "t.csv"}).status, 2);
  write("t.csv", "id,lower,upper,size\na,0,2,8\nb,2,5,4\nc,1,3,4\nd,5,9,12\n");
  write("before.csv", "id,offset\na,4\nb,8\nc,0\nz,0\n");
  EXPECT_EQ(arenac({"plan", "t.csv", "--warm-start", "before.csv", "-o", "-"}).output,
            "id,lower,upper,size,offset\na,0,2,8,4\nb,2,5,4,8\nc,1,3,4,0\nd,5,9,12,0\n");
  for (const char* rows : {"", "x,0\ny,4\n", "a,-1\nb,9223372036854775807\nc,5\n", "a,0\nb,0\nc,0\nd,0\n"}) {
    write("before.csv", std::string("id,offset\n") + rows);
    EXPECT_EQ(arenac({"plan", "t.csv", "--warm-start", "before.csv", "-o", "s.csv"}).status, 0) << rows;
    EXPECT_EQ(arenac({"verify", "t.csv", "s.csv"}).status, 0) << rows;
  }
  write("before.csv", "id,offset\na,four\n");
  EXPECT_EQ(arenac({"plan", "t.csv", "--warm-start", "before.csv"}).status, 1);
  write("s.csv", "id,offset\na,0\nb,0\nc,4\n");
  const Finished wrong = arenac({"verify", "p.csv", "s.csv"});
  EXPECT_EQ(wrong.status, 4);
  EXPECT_THAT(wrong.output, HasSubstr("share bytes [4, 8)"));
}

TEST_F(Cli, VerifyTakesThePoolsOfThePlan) {
  write("p.csv", "id,lower,upper,size\na,0,4,30\nb,0,4,40\nc,2,6,50\n");
  const std::vector<std::string> pools = {"--pool", "name=x,size=60", "--pool", "name=y,align=4"};
  const auto with_pools = [&](std::vector<std::string> words) {
    words.insert(words.end(), pools.begin(), pools.end());
    return arenac(words);
  };
  ASSERT_EQ(with_pools({"plan", "p.csv", "-o", "s.csv", "--certificate", "c.json"}).status, 0);
  EXPECT_EQ(with_pools({"verify", "p.csv", "s.csv", "--certificate", "c.json"}).status, 0);
  const Finished without = arenac({"verify", "p.csv", "s.csv"});
  EXPECT_EQ(without.status, 1);
  EXPECT_THAT(without.output, HasSubstr("pool 'y' does not exist"));
  EXPECT_EQ(with_pools({"verify", "p.csv"}).status, 2);
  EXPECT_EQ(arenac({"verify", "map.json", "--certificate", "c.json"}).status, 2);
}

// The example in README.md.
TEST_F(Cli, PlanMovesBuffersBetweenPools) {
  write("p.csv", "id,lower,upper,size,uses\na,0,10,1024,0 2 9\nb,1,8,1024,1 4 7\nc,3,6,2048,3 4 5\n");
  const auto with_moves = [&](std::vector<std::string> words, const std::string& fast = "3K",
                              const std::string& bytes = "1K") {
    for (const std::string& word : {std::string("--pool"), "name=fast,size=" + fast, std::string("--pool"),
                                    std::string("name=slow"), std::string("--moves"), bytes})
      words.push_back(word);
    return arenac(words);
  };
  const Finished planned = with_moves({"plan", "p.csv", "-o", "s.csv"});
  EXPECT_EQ(planned.status, 0);
  EXPECT_THAT(planned.output,
              HasSubstr("3 buffers: 0 bytes used from 'slow', no plan uses fewer (proved); 2 copies "
                        "of 2048 bytes; 'fast' 3072, 'slow' 1024; "));
  EXPECT_THAT(read_file(at("s.csv")),
              AllOf(HasSubstr("id,lower,upper,size,pool,offset,ready\na,0,3,1024,fast,"),
                    HasSubstr("\na,1,9,1024,slow,0,2\na,8,10,1024,fast,")));
  const Finished right = with_moves({"verify", "p.csv", "s.csv"});
  EXPECT_EQ(right.status, 0);
  EXPECT_THAT(right.output,
              HasSubstr("s.csv: 0 bytes used from 'slow'; 2 copies of 2048 bytes\ns.csv: right\n"));
  EXPECT_EQ(with_moves({"verify", "p.csv", "s.csv"}, "3K", "512").status, 4) << "copies pass the bandwidth";
  EXPECT_EQ(with_moves({"verify", "p.csv", "s.csv"}, "2K").status, 4) << "stays pass the capacity";
  EXPECT_THAT(
      with_moves({"plan", "p.csv", "--json"}).output,
      HasSubstr(
          R"({"buffers":3,"moves":2,"moved_bytes":2048,"slow_bytes":0,"slow_bound":0,"proof":"optimal",)"));
  EXPECT_EQ(arenac({"plan", "p.csv", "--pool", "name=fast,size=1K", "--pool", "name=slow,size=1K", "--moves",
                    "1K", "-o", "t.csv"})
                .status,
            3);
  EXPECT_EQ(arenac({"plan", "p.csv", "--moves", "1K", "-o", "t.csv"}).status, 2) << "one pool";
  EXPECT_EQ(with_moves({"plan", "p.csv", "--planner", "minimalloc"}).status, 0) << "takes one pool at a time";
  for (const char* other : {"--planner", "--warm-start", "--certificate"})
    EXPECT_EQ(with_moves({"plan", "p.csv", "-o", "t.csv", other, "all"}).status, 2) << other;
  EXPECT_EQ(with_moves({"plan", "p.csv"}, "3K", "0").status, 2);
  EXPECT_EQ(arenac({"verify", "map.json", "--moves", "1K"}).status, 2);
  EXPECT_FALSE(std::filesystem::exists(at("t.csv")));
}

TEST_F(Cli, PlanCertifiesItsBound) {
  write("p.csv", "id,lower,upper,size\na,0,2,8\nb,2,5,4\nc,1,3,4\n");
  ASSERT_EQ(arenac({"plan", "p.csv", "-o", "s.csv", "--certificate", "c.json"}).status, 0);
  const std::vector<std::string> verify = {"verify", "p.csv", "s.csv", "--certificate", "c.json"};
  const Finished right = arenac(verify);
  EXPECT_EQ(right.status, 0);
  EXPECT_THAT(
      right.output,
      HasSubstr(
          "c.json: 'a', 'c' take 12 bytes of pool 'arena' at time 1 alone: the solution is the smallest"));
  const auto with = [&](const std::string& text) {
    write("c.json", text);
    return arenac(verify);
  };
  const Finished wrong = with(R"([{"pool": "arena", "bound": 12, "time": 1, "buffers": ["a", "b"]}])");
  EXPECT_EQ(wrong.status, 4);
  EXPECT_THAT(wrong.output, HasSubstr("c.json: buffer 'b' uses nothing at time 1"));
  EXPECT_THAT(with(R"([{"pool": "arena", "bound": 12, "buffers": ["z"]}])").output,
              HasSubstr("c.json: the problem has no buffer \"z\""));
  for (const char* text : {"", "{}", "[1]", "[{}]", R"([{"pool": 1, "bound": 1, "buffers": []}])",
                           R"([{"pool": "arena", "bound": 1.5, "buffers": []}])"})
    EXPECT_EQ(with(text).status, 1) << text;
  EXPECT_THAT(arenac({"plan", "p.csv", "--capacity", "11"}).output,
              HasSubstr("impossible: 'a', 'c' take 12 bytes of pool 'arena' at time 1 alone"));
}

TEST_F(Cli, TheLastOfARepeatedOptionHolds) {
  const std::string model = ARENAC_ROOT "/models/tiny_cnn.onnx";
  EXPECT_EQ(arenac({"map", model, "--ram", "1", "--ram", "1M", "--name", "a", "--name", "last", "--json",
                    "no.json", "--json", "m.json", "--quiet", "--quiet"})
                .status,
            0);
  EXPECT_FALSE(std::filesystem::exists(at("no.json")));
  EXPECT_THAT(read_file(at("m.json")), AllOf(HasSubstr("last (tiny_cnn.onnx)"), HasSubstr("--ram 1048576"),
                                             Not(HasSubstr("--ram 1\"")), Not(HasSubstr("--name a "))));
  EXPECT_EQ(
      arenac({"plan", "p.csv", "--pool", "name=a,size=8", "--pool", "name=b", "--time", "1", "--time", "2"})
          .status,
      1)
      << "there is no p.csv";
}

TEST_F(Cli, AnEmptyWordIsRefused) {
  const std::string model = ARENAC_ROOT "/models/tiny_cnn.onnx";
  for (const char* option : {"--html", "--json", "--name", "--dim", "--pool", "--optimize"}) {
    const Finished done = arenac({"map", model, option, ""});
    EXPECT_EQ(done.status, 2) << option;
    EXPECT_THAT(done.output, HasSubstr(option));
  }
  EXPECT_EQ(arenac({"compile", model, "-o", ""}).status, 2);
  EXPECT_EQ(arenac({"compile", ""}).status, 2);
}

TEST_F(Cli, PlanWritesNothingThatIsTooLarge) {
  write("p.csv", "id,lower,upper,size\na,0,2,8\n");
  EXPECT_EQ(arenac({"plan", "p.csv", "--capacity", "7", "-o", "s.csv"}).status, 3);
  EXPECT_EQ(arenac({"plan", "p.csv", "--pool", "name=sram,size=7", "-o", "s.csv"}).status, 3);
  EXPECT_EQ(arenac({"plan", "p.csv", "--pool", "size=7", "-o", "s.csv"}).status, 2);
  write("p.csv", "id,lower,upper\na,0,2\n");
  EXPECT_EQ(arenac({"plan", "p.csv", "-o", "s.csv"}).status, 1);
  EXPECT_THAT(names(), testing::ElementsAre("p.csv"));
  write("p.csv", "id,lower,upper,size,pool\na,0,2,8,sram dram\nb,1,3,8,sram dram\n");
  EXPECT_EQ(
      arenac({"plan", "p.csv", "--pool", "name=sram,size=8", "--pool", "name=dram,align=16", "-o", "s.csv"})
          .status,
      0);
  EXPECT_THAT(read_file(at("s.csv")), AllOf(HasSubstr(",sram,0"), HasSubstr(",dram,0")));
}

TEST_F(Cli, VerifyFindsACollision) {
  ASSERT_EQ(arenac({"map", kModel, "--json", "m.json"}).status, 0);
  MemoryMap map = memory_map_from_json(read_file(at("m.json")));
  ASSERT_GE(map.buffers.size(), 2u);
  for (MapBuffer& b : map.buffers) b.offset = 0;
  write("bad.json", to_json(map));
  EXPECT_EQ(arenac({"verify", "bad.json"}).status, 4);
  write("worse.json", "{");
  EXPECT_EQ(arenac({"verify", "worse.json"}).status, 1);
}

TEST_F(Cli, RunWritesOutputsThenAgreesWithThem) {
  make_inputs("data");
  ASSERT_EQ(arenac({"run", kModel, "--inputs", "data", "--outputs", "data"}).status, 0);
  EXPECT_TRUE(fs::exists(at("data/output_0.pb")));
  const Finished same = arenac({"run", kModel, "--inputs", "data"});
  EXPECT_EQ(same.status, 0) << same.output;
  EXPECT_THAT(same.output, HasSubstr("1 of 1 outputs agree"));

  Value value = read_tensor_file(at("data/output_0.pb").string());
  store(value, 0, {.f = load(value, 0).f + 1});
  write_text(at("data/output_0.pb").string(), held_file({"y"}, {{value}}));
  const Finished differs = arenac({"run", kModel, "--inputs", "data"});
  EXPECT_EQ(differs.status, 4);
  EXPECT_THAT(differs.output, HasSubstr("off by 1"));
  EXPECT_EQ(arenac({"run", kModel, "--inputs", "data", "--atol", "1.5"}).status, 0);
}

TEST_F(Cli, RunWritesAFileForEachOutputOfTheModelWhateverItsType) {
  onnx::ModelProto model;
  ASSERT_TRUE(onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[2] x) => (float[2] s, float[2] o, float[2] y) {
        n = Neg(x)
        s = SequenceConstruct(x, n, x)
        o = Optional(n)
        y = Abs(x)
      })")
                  .IsOK());
  onnx::GraphProto& graph = *model.mutable_graph();
  const auto tensor = graph.output(2).type();
  *graph.mutable_output(0)->mutable_type()->mutable_sequence_type()->mutable_elem_type() = tensor;
  *graph.mutable_output(1)->mutable_type()->mutable_optional_type()->mutable_elem_type() = tensor;
  write("m.onnx", model.SerializeAsString());
  fs::create_directory(at("data"));
  Value x(Type::kFloat32, {2});
  store(x, 0, {.f = -3}), store(x, 1, {.f = 4});
  write_text(at("data/input_0.pb").string(), held_file({"x"}, {{x}}));
  const Finished made = arenac({"run", "m.onnx", "--inputs", "data", "--outputs", "data"});
  ASSERT_EQ(made.status, 0) << made.output;
  const std::vector<Declaration> outputs = declared_outputs(at("m.onnx").string());
  const auto held = [&](size_t k) {
    return read_held_file(at("data/output_" + std::to_string(k) + ".pb").string(), outputs[k]);
  };
  ASSERT_EQ(held(0).parts.size(), 3u);
  EXPECT_EQ(load(held(0).parts[1], 0).f, 3);
  ASSERT_EQ(held(1).parts.size(), 1u);
  EXPECT_EQ(load(held(1).parts[0], 1).f, -4);
  EXPECT_EQ(load(held(2).parts.at(0), 0).f, 3);
  EXPECT_FALSE(fs::exists(at("data/output_3.pb")));
  EXPECT_THAT(arenac({"run", "m.onnx", "--inputs", "data"}).output, HasSubstr("3 of 3 outputs agree"));

  write_text(at("data/output_0.pb").string(), held_file(outputs[0], {{x, x}}));
  write_text(at("data/output_1.pb").string(), held_file(outputs[1], {{}, false}));
  const Finished differs = arenac({"run", "m.onnx", "--inputs", "data"});
  EXPECT_EQ(differs.status, 4);
  EXPECT_THAT(differs.output, AllOf(HasSubstr("output 's': holds 3 elements, expected 2 elements"),
                                    HasSubstr("output 'o': holds 1 element, expected nothing")));
}

TEST_F(Cli, RunMakesUpNoInputsOfHundredsOfMegabytes) {
  onnx::ModelProto model;
  ASSERT_TRUE(onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[20000000] x) => (float[20000000] y) { y = Relu(x) })")
                  .IsOK());
  write("large.onnx", model.SerializeAsString());
  const Finished large = arenac({"run", "large.onnx"});
  EXPECT_EQ(large.status, 1);
  EXPECT_THAT(large.output, HasSubstr("inputs and outputs take 160,000,000 bytes"));
}

TEST_F(Cli, RunMakesUpInputsAndSumsUpTheOutputs) {
  const Finished once = arenac({"run", kModel, "--quiet"});
  EXPECT_EQ(once.status, 0) << once.output;
  EXPECT_THAT(once.output, testing::ContainsRegex("output '.*': float32 \\[.*\\], .* to .*, mean "));
  EXPECT_EQ(arenac({"run", kModel, "--quiet", "--optimize", "speed"}).output, once.output);
  onnx::ModelProto model;
  ASSERT_TRUE(onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[2,3] x, int64[50] i) => (float[50,3] y) { y = Gather(x, i) })")
                  .IsOK());
  write("model.onnx", model.SerializeAsString());
  EXPECT_EQ(arenac({"run", "model.onnx"}).status, 0);
  EXPECT_THAT(arenac({"compile", "model.onnx", "-o", "gen"}).output, HasSubstr("--name"));
  EXPECT_THAT(arenac({"compile", "model.onnx", "-o", "gen", "--name", "net"}).output,
              testing::Not(HasSubstr("--name")));
}

TEST_F(Cli, AQuantisedOutputMayBeOffByOneQuantum) {
  onnx::ModelProto model;
  ASSERT_TRUE(onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[4] x) => (float[2,2] y)
      <float s = {0.25}, uint8 z = {10}, int64[2] shape = {2, 2}> {
        q = QuantizeLinear(x, s, z)
        d = DequantizeLinear(q, s, z)
        y = Reshape(d, shape)
      })")
                  .IsOK());
  write("m.onnx", model.SerializeAsString());
  EXPECT_EQ(declared_outputs(at("m.onnx").string())[0].quantum, 0.25);
  fs::create_directory(at("data"));
  write_text(at("data/input_0.pb").string(), held_file({"x"}, {{Value(Type::kFloat32, {4})}}));
  Value y(Type::kFloat32, {2, 2});
  store(y, 1, {.f = 0.25});
  write_text(at("data/output_0.pb").string(), held_file({"y"}, {{y}}));
  const Finished near = arenac({"run", "m.onnx", "--inputs", "data"});
  EXPECT_EQ(near.status, 0) << near.output;
  EXPECT_THAT(near.output, HasSubstr("within 1 quanta"));
  EXPECT_EQ(arenac({"run", "m.onnx", "--inputs", "data", "--atol", "0"}).status, 4);
  store(y, 1, {.f = 0.5});
  write_text(at("data/output_0.pb").string(), held_file({"y"}, {{y}}));
  const Finished far = arenac({"run", "m.onnx", "--inputs", "data"});
  EXPECT_EQ(far.status, 4);
  EXPECT_THAT(far.output, HasSubstr("2 quanta of 0.25, 1 allowed"));
}

TEST_F(Cli, RunInTheArenaAndRepeated) {
  make_inputs("data");
  ASSERT_EQ(arenac({"run", kModel, "--inputs", "data", "--outputs", "data"}).status, 0);
  EXPECT_EQ(arenac({"run", kModel, "--inputs", "data", "--io", "arena"}).status, 0);
  const Finished timed = arenac({"run", kModel, "--inputs", "data", "--repeat", "3", "--quiet"});
  EXPECT_EQ(timed.status, 0);
  EXPECT_GT(std::strtod(timed.output.c_str(), nullptr), 0) << timed.output;
}

TEST_F(Cli, AProfileSaysWhatEachStepTakesHereOrElsewhere) {
  const Finished here = arenac({"run", kModel, "--profile", "--repeat", "3", "--quiet"});
  EXPECT_EQ(here.status, 0);
  EXPECT_THAT(here.output, AllOf(HasSubstr("Nanoseconds of a run on this machine: "),
                                 HasSubstr("logits (Gemm)"), HasSubstr("probabilities (Softmax)")));
  const Finished elsewhere = arenac({"run", kModel, "--runner", "nice {}", "--quiet"});
  EXPECT_EQ(elsewhere.status, 0);
  EXPECT_THAT(elsewhere.output, HasSubstr(" ticks on nice\n"));
  EXPECT_THAT(arenac({"run", kModel, "--runner", " "}).output, HasSubstr("blank"));
  EXPECT_THAT(arenac({"run", kModel, "--runner", "nice", "--repeat", "3"}).output, HasSubstr("--repeat"));
  EXPECT_THAT(arenac({"run", kModel, "--runner", "nice", "--on", "qemu-m4"}).output, HasSubstr("exclude"));
  EXPECT_THAT(arenac({"run", kModel, "--on", "qemu-m5"}).output, HasSubstr("did you mean qemu-m55?"));
}

TEST_F(Cli, BuffersLieInSeveralPools) {
  make_inputs("data");
  ASSERT_EQ(arenac({"run", kModel, "--inputs", "data", "--outputs", "data"}).status, 0);
  ASSERT_EQ(arenac({"map", kModel, "--slowdown", "1000%", "--json", "one.json"}).status, 0);
  const MemoryMap one = memory_map_from_json(read_file(at("one.json")));
  const std::string half = "name=sram,section=.data.sram,size=" + std::to_string(one.totals.arena / 2);
  const std::vector<std::string> pools = {"--pool", half, "--pool", "name=dram,align=64"};
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  ASSERT_EQ(arenac(with({"compile", kModel, "-o", "gen", "--name", "kws"}, pools)).status, 0);
  EXPECT_EQ(arenac({"verify", "gen/kws_map.json"}).status, 0);
  const MemoryMap map = memory_map_from_json(read_file(at("gen/kws_map.json")));
  ASSERT_EQ(map.pools.size(), 2u);
  EXPECT_GT(map.pools[0].size, 0);
  EXPECT_GT(map.pools[1].size, 0);
  EXPECT_THAT(read_file(at("gen/kws.h")),
              AllOf(HasSubstr("#define KWS_SRAM_SIZE"), HasSubstr("#define KWS_DRAM_ALIGN 64u"),
                    HasSubstr("void *sram;"), HasSubstr("void *dram;")));
  EXPECT_THAT(read_file(at("gen/kws.c")), HasSubstr("KWS_SECTION(\".data.sram\")"));
  for (const char* io : {"external", "arena"}) {
    const Finished done = arenac(with({"run", kModel, "--inputs", "data", "--io", io}, pools));
    EXPECT_EQ(done.status, 0) << done.output;
  }
  const std::string tensor = one.buffers[0].name;
  ASSERT_EQ(arenac(with({"map", kModel, "--json", "m.json", "--pin", tensor + "=dram"}, pools)).status, 0);
  EXPECT_EQ(memory_map_from_json(read_file(at("m.json"))).buffers[0].pool, "dram");
}

// Bytes.
std::vector<int64_t> pool_sizes(const MemoryMap& map) {
  std::vector<int64_t> sizes;
  for (const MapPool& pool : map.pools) sizes.push_back(pool.size);
  return sizes;
}

TEST_F(Cli, ThePoolsAreABudget) {
  const auto sizes = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"map", kModel, "--json", "m.json"});
    const Finished done = arenac(words);
    EXPECT_EQ(done.status, 0) << done.output;
    return pool_sizes(memory_map_from_json(read_file(at("m.json"))));
  };
  const auto pool = [](int64_t size) { return "name=sram,size=" + std::to_string(size); };
  const int64_t whole = sizes({"--optimize", "speed"})[0], balanced = sizes({"--slowdown", "1000"})[0];
  ASSERT_LT(2 * balanced, whole);
  // One pool is the same budget as --ram: the fastest that fits.
  for (const int64_t room : {whole, whole / 2, balanced}) {
    EXPECT_EQ(sizes({"--pool", pool(room)}), sizes({"--ram", std::to_string(room)}));
    EXPECT_EQ(sizes({"--pool", pool(whole), "--ram", std::to_string(room)}),
              sizes({"--ram", std::to_string(room)}));
  }
  // What fits wholly into the first one does; whole layers do not.
  EXPECT_EQ(sizes({"--pool", pool(whole / 2), "--pool", "name=psram"})[1], 0);
  EXPECT_GT(sizes({"--pool", pool(whole / 2), "--pool", "name=psram", "--optimize", "speed"})[1], 0);
  // As under --ram.
  EXPECT_EQ(sizes({"--pool", pool(balanced), "--pool", "name=psram"}), (std::vector<int64_t>{balanced, 0}));
  // What does not, spills no more than any schedule of those does.
  const std::vector<std::string> half = {"--pool", pool(balanced / 2), "--pool", "name=psram"};
  EXPECT_GT(sizes(half)[1], 0);
  EXPECT_LE(sizes(half)[1], balanced);
  // --ram bounds the sum.
  const std::vector<int64_t> bounded =
      sizes({"--pool", pool(balanced / 2), "--pool", "name=psram", "--ram", std::to_string(whole / 2)});
  EXPECT_LE(bounded[0] + bounded[1], whole / 2);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--pool", pool(64)},
                                                {"--pool", pool(64), "--pool", "name=psram,size=64"},
                                                {"--pool", pool(whole), "--ram", "64"},
                                                {"--ram", "64"}}) {
    std::vector<std::string> command = {"map", kModel};
    command.insert(command.end(), words.begin(), words.end());
    const Finished small = arenac(command);
    EXPECT_EQ(small.status, 3);
    EXPECT_THAT(small.output, HasSubstr("is the smallest size reachable"));
  }
}

TEST_F(Cli, PoolsThatAreTooSmallOrUnknownAreNamed) {
  const Finished small = arenac({"compile", kModel, "-o", "gen", "--pool", "name=sram,size=64"});
  EXPECT_EQ(small.status, 3);
  EXPECT_THAT(small.output, AllOf(HasSubstr("more than the 64 of pool 'sram'"),
                                  HasSubstr("is the smallest size reachable")));
  const Finished pool = arenac({"compile", kModel, "-o", "gen", "--pin", "x=sram"});
  EXPECT_EQ(pool.status, 2);
  EXPECT_THAT(pool.output, HasSubstr("no pool has this name; there are: arena"));
  const Finished tensor = arenac({"compile", kModel, "-o", "gen", "--pin", "nothing=arena"});
  EXPECT_EQ(tensor.status, 2);
  EXPECT_THAT(tensor.output, HasSubstr("no tensor that lies in a pool has this name; there are: "));
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Cli, EveryFormOfWeightsComputesTheSame) {
  make_inputs("data");
  ASSERT_EQ(arenac({"run", kModel, "--inputs", "data", "--outputs", "data"}).status, 0);
  for (const char* form : {"c", "incbin", "bin"}) {
    const Finished done =
        arenac({"run", kModel, "--inputs", "data", "--rtol", "0", "--atol", "0", "--weights", form});
    EXPECT_EQ(done.status, 0) << form << done.output;
  }
}

TEST_F(Cli, RunFailsWhereTheInputsSelectABranchThatWasLeftOut) {
  onnx::ModelProto model;
  ASSERT_TRUE(onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["" : 17]>
      g (bool[100] many, float[2] x, float[3] z) => (float[2] y) {
        first = Constant<value_int = 0>()
        c = Gather(many, first)
        y = If (c) <then_branch = t () => (float[2] p) { p = Mul(x, x) },
                    else_branch = e () => (float[2] q) { q = Add(x, z) }> })")
                  .IsOK());
  write("m.onnx", model.SerializeAsString());
  fs::create_directory(at("data"));
  const auto input = [&](int k, const Value& value) {
    write_text((at("data") / ("input_" + std::to_string(k) + ".pb")).string(), held_file({"x"}, {{value}}));
  };
  input(1, Value(Type::kFloat32, {2}));
  input(2, Value(Type::kFloat32, {3}));
  Value condition(Type::kBool, {100});  // more than may be a shape, which the compilation would know
  input(0, condition);
  const Finished taken = arenac({"run", "m.onnx", "--inputs", "data", "--outputs", "out", "--quiet"});
  EXPECT_EQ(taken.status, 1);
  EXPECT_THAT(taken.output, HasSubstr("left out:\n  the else-branch of 'y'"));
  EXPECT_FALSE(fs::exists(at("out")));
  store(condition, 0, {.i = 1});
  input(0, condition);
  const Finished other = arenac({"run", "m.onnx", "--inputs", "data", "--outputs", "out"});
  EXPECT_EQ(other.status, 0);
  EXPECT_THAT(other.output, HasSubstr("warning: the else-branch of 'y'"));
}

TEST_F(Cli, AShapeThatIsAnInputIsGivenAsAValue) {
  onnx::ModelProto model;
  ASSERT_TRUE(onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[6] x, int64[2] s) => (float[n,m] y) { y = Reshape(x, s) })")
                  .IsOK());
  write("m.onnx", model.SerializeAsString());
  fs::create_directory(at("data"));
  write_text(at("data/input_0.pb").string(), held_file({"x"}, {{Value(Type::kFloat32, {6})}}));
  Value shape(Type::kInt64, {2});
  store(shape, 0, {.i = 3});
  store(shape, 1, {.i = 2});
  write_text(at("data/input_1.pb").string(), held_file({"s"}, {{shape}}));
  const Finished refused = arenac({"compile", "m.onnx", "-o", "out"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.output, HasSubstr("(--value)"));
  EXPECT_EQ(arenac({"compile", "m.onnx", "-o", "out", "--value", "s=3,2"}).status, 0);
  EXPECT_EQ(arenac({"compile", "m.onnx", "--value", "s=3"}).status, 1);
  for (const char* wrong : {"s=3,x", "s=", "s", "t=3,2"})
    EXPECT_NE(arenac({"compile", "m.onnx", "--value", wrong}).status, 0) << wrong;
  EXPECT_EQ(arenac({"run", "m.onnx", "--inputs", "data", "--outputs", "data"}).status, 0);
  EXPECT_EQ(read_tensor_file(at("data/output_0.pb").string()).shape, (Shape{3, 2}));
  const Finished other = arenac({"run", "m.onnx", "--inputs", "data", "--value", "s=2,3"});
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.output, HasSubstr("another value than the one compiled in:\n  "));
}

TEST_F(Cli, ExplainSaysWhyAStepRunsWhole) {
  onnx::ModelProto model;
  ASSERT_TRUE(onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[40,9] x) => (float[40,9] y, float[40,9] z) {
        y = Softmax<axis = 0>(x)
        axis = Constant<value_int = 1>()
        z = CumSum(x, axis)
      })")
                  .IsOK());
  write("m.onnx", model.SerializeAsString());
  const Finished done = arenac({"explain", "m.onnx", "--scheduler", "layerwise"});
  EXPECT_EQ(done.status, 0);
  EXPECT_THAT(done.output, HasSubstr("the C kernel 'cumulate' takes whole tensors"));
  EXPECT_THAT(done.output, HasSubstr("a row of 'y' reads all 40 rows of 'x': x0[i0, i1]"));
}

// tiny_cnn: its rungs are those of map --pareto, and each --ram that is named fits.
TEST_F(Cli, ExplainSaysWhatBindsThePeakAndWhatLessCosts) {
  const std::string words = arenac({"explain", kModel, "--optimize", "speed"}).output;
  const MemoryMap map = [&] {
    EXPECT_EQ(arenac({"map", kModel, "--optimize", "speed", "--pareto", "--json", "m.json"}).status, 0);
    return memory_map_from_json(read_file(at("m.json")));
  }();
  const Peak peak = peak_of(map, "arena");
  EXPECT_THAT(words,
              HasSubstr(fmt::format("are in use at step {}: {}\n", peak.time, step_title(map, peak.time))));
  for (const size_t b : peak.buffers)
    EXPECT_THAT(words, HasSubstr("  " + map.buffers[b].name + ", written by"));
  const std::regex rung("--ram ([0-9]+): ");
  std::set<int64_t> named, rungs;
  for (std::sregex_iterator at(words.begin(), words.end(), rung), end; at != end; ++at)
    named.insert(std::stoll((*at)[1]));
  for (const MapChoice& choice : map.frontier)
    if (choice.arena < map.totals.arena) rungs.insert(choice.arena);
  EXPECT_EQ(named, rungs);
  EXPECT_GT(named.size(), 2);
  for (const int64_t bytes : named)
    EXPECT_EQ(arenac({"map", kModel, "--ram", std::to_string(bytes)}).status, 0) << bytes;
  EXPECT_THAT(words, testing::ContainsRegex("conv2 .Conv.Relu.: whole; row by row with --ram [0-9]+\n"));
}

TEST_F(Cli, RunReadsNpyByTheInputsName) {
  make_inputs("data");
  ASSERT_EQ(arenac({"run", kModel, "--inputs", "data", "--outputs", "data"}).status, 0);
  const Value ones = read_tensor_file(at("data/input_0.pb").string());
  std::string shape;
  for (int64_t extent : ones.shape) shape += std::to_string(extent) + ", ";
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(118, ' ');
  const std::string data(reinterpret_cast<const char*>(ones.bytes.data()), ones.bytes.size());
  const std::string magic("\x93NUMPY\x01\0\x76\0", 10);
  fs::remove(at("data/input_0.pb"));
  write_files(at("data"), {{declared_inputs(kModel)[0].name + ".npy", magic + header + data}});
  const Finished done = arenac({"run", kModel, "--inputs", "data"});
  EXPECT_EQ(done.status, 0) << done.output;
}

TEST_F(Cli, RunCleansUpWhateverHappens) {
  make_inputs("data");
  fs::create_directory(at("tmp"));
  setenv("TMPDIR", at("tmp").c_str(), 1);
  EXPECT_EQ(arenac({"run", kModel, "--inputs", "data"}).status, 0);
  setenv("CFLAGS", "--no-such-flag", 1);
  EXPECT_EQ(arenac({"run", kModel, "--inputs", "data"}).status, 1);
  unsetenv("CFLAGS");
  unsetenv("TMPDIR");
  EXPECT_TRUE(fs::is_empty(at("tmp")));
}

TEST_F(Cli, RunNamesAMissingInput) {
  fs::create_directory(at("data"));
  EXPECT_THAT(arenac({"run", kModel, "--inputs", "data"}).output, HasSubstr("input_0.pb"));
  EXPECT_EQ(arenac({"run", kModel, "--inputs", "none"}).status, 2);
}

TEST_F(Cli, AnArenaThatDoesNotFitIsSaidAndNothingIsWritten) {
  const Finished done = arenac({"compile", kModel, "-o", "gen", "--ram", "16"});
  EXPECT_EQ(done.status, 3);
  EXPECT_THAT(done.output, HasSubstr("smallest"));
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Cli, DamagedModelsAreRefusedWithoutATrace) {
  const std::string bytes = read_file(kModel);
  write("m.onnx", "");
  EXPECT_EQ(arenac({"compile", "m.onnx", "-o", "gen"}).status, 1);
  for (size_t part = 1; part < 8; ++part) {
    write("m.onnx", bytes.substr(0, bytes.size() * part / 8));
    EXPECT_EQ(arenac({"compile", "m.onnx", "-o", "gen"}).status, 1) << part;
  }
  EXPECT_EQ(names(), std::vector<std::string>{"m.onnx"});
  EXPECT_EQ(arenac({"compile", "missing.onnx"}).status, 1);
  EXPECT_EQ(arenac({"compile", "/"}).status, 1);
}

TEST_F(Cli, EveryTableIsListed) {
  for (const char* table : {"operators", "schedulers", "planners", "pools", "reports", "rewrites"}) {
    EXPECT_NE(arenac({"list", table}).output, "") << table;
    EXPECT_THAT(arenac({"list", table, "--json"}).output, HasSubstr("\"name\"")) << table;
  }
  EXPECT_EQ(arenac({"list", "kernels"}).status, 0);
  EXPECT_THAT(arenac({"list", "operators"}).output, HasSubstr("Conv"));
}

TEST_F(Cli, TheTextMapFitsTheTerminalAndItsLetters) {
  const auto map_with = [&](const std::string& environment) {
    const std::vector<std::string> words = {"sh", "-c",
                                            "env " + environment + " " + arenac_tool() + " map " + kModel};
    return run_process(words, scratch_.path(), 120).output;
  };
  const auto widest = [](const std::string& text) {
    size_t most = 0;
    for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      most = std::max(most, end - begin);
    return most;
  };
  const auto is_ascii = [](unsigned char c) { return c < 0x80; };
  const std::string plain = map_with("-u COLUMNS LC_ALL=C");
  EXPECT_TRUE(std::all_of(plain.begin(), plain.end(), is_ascii)) << plain;
  EXPECT_LE(widest(plain), 80u);
  EXPECT_LE(widest(map_with("COLUMNS=64 LC_ALL=C")), 64u);
  EXPECT_GT(widest(map_with("COLUMNS=130 LC_ALL=C")), 80u);
  for (const char* locale : {"LC_ALL=C.UTF-8", "LC_ALL= LC_CTYPE= LANG=en_GB.utf8"})
    EXPECT_THAT(map_with(locale), HasSubstr("█")) << locale;
}

TEST_F(Cli, AMapNamesItsToolItsOptionsAndTheModelSoThatItCanBeMadeAgain) {
  fs::create_directory(at("net"));
  fs::copy_file(kModel, at("net/model.onnx"));
  const auto map_with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"map", "net/model.onnx", "--json", "m.json"});
    EXPECT_EQ(arenac(words).status, 0);
    return memory_map_from_json(read_file(at("m.json")));
  };
  const MemoryMap plain = map_with({});
  EXPECT_EQ(plain.model, "net/model.onnx");
  EXPECT_EQ(plain.tool, "arenac " ARENAC_VERSION);
  EXPECT_EQ(plain.options, "");
  const MemoryMap map = map_with({"--reassociate", "--quiet", "--io=arena", "--ram", "64K", "--name", "kws"});
  EXPECT_EQ(map.model, "kws (model.onnx)");
  EXPECT_EQ(map.options, "--name kws --ram 65536 --reassociate --io arena");
  ASSERT_EQ(run_process({"sh", "-c", arenac_tool() + " compile net/model.onnx -o gen " + map.options},
                        scratch_.path(), 120)
                .status,
            0);
  EXPECT_EQ(memory_map_from_json(read_file(at("gen/kws_map.json"))), map);
  EXPECT_THAT(read_file(at("gen/kws.h")), HasSubstr("/* Options: " + map.options + " */"));
}

TEST_F(Cli, StagesThatTakeTurnsHaveTimesOfTheirOwn) {
  CompileOptions options;
  options.model = kModel;
  options.ram = 1 << 20;
  const Compilation c = compile(options);
  EXPECT_GT(c.times.problem, 0);
  EXPECT_GT(c.times.plan, 0);
  const std::string output = arenac({"map", kModel, "--verbose", "--json", "m.json"}).output;
  size_t at = 0;
  for (const char* stage : {"\nschedule ", "\nproblem ", "\nplan ", "\nmap ", "\nfiles "}) {
    EXPECT_NE(at = output.find(stage, at), std::string::npos) << stage << output;
    EXPECT_THAT(output.substr(at, 40), testing::ContainsRegex("[0-9]\\.[0-9] ms"));
  }
}

TEST_F(Cli, StagesAreDumped) {
  for (const std::string& stage : dumped_stages())
    EXPECT_NE(arenac({"map", kModel, "--quiet", "--json", "m.json", "--dump-after", stage}).output, "")
        << stage;
  EXPECT_EQ(arenac({"map", kModel, "--dump-after", "lunch"}).status, 2);
}

TEST_F(Cli, ADumpedStageIsAllThatIsPrintedOrWritten) {
  const std::vector<std::string> before = names();
  const std::string dumped = arenac({"compile", kModel, "--quiet", "--dump-after", "problem"}).output;
  EXPECT_EQ(names(), before);
  EXPECT_EQ(arenac({"map", kModel, "--quiet", "--dump-after", "problem"}).output, dumped);
  write("problem.csv", dumped);
  EXPECT_EQ(arenac({"plan", "problem.csv"}).status, 0);
  EXPECT_EQ(arenac({"compile", kModel, "--quiet", "--dump-after", "problem", "-o", "gen"}).output, dumped);
  EXPECT_TRUE(fs::exists(at("gen/tiny_cnn.c")));
}

TEST_F(Cli, TheDumpedProblemIsPlannedAsTheModelIsAndTheDumpedPlanSolvesIt) {
  for (const char* stage : {"problem", "plan"})
    write(fmt::format("{}.csv", stage),
          arenac({"map", kModel, "--quiet", "--io", "arena", "--json", "m.json", "--dump-after", stage})
              .output);
  const Finished planned = arenac({"plan", "problem.csv", "--json"});
  EXPECT_EQ(planned.status, 0);
  const MemoryMap map = memory_map_from_json(read_file(at("m.json")));
  EXPECT_THAT(planned.output, HasSubstr(fmt::format("\"makespan\":{},", map.totals.arena)));
  EXPECT_EQ(arenac({"verify", "problem.csv", "plan.csv"}).status, 0);
}

TEST_F(Cli, ACsvFileIsNoModelAndNamesItsColumns) {
  write("s.csv", "id,lower,upper,size,offset\na,0,1,4,0\n");
  write("n.csv", "not\n");
  for (const char* command : {"map", "compile", "explain"}) {
    const Finished map = arenac({command, "s.csv"});
    EXPECT_EQ(map.status, 1);
    EXPECT_THAT(map.output, HasSubstr("s.csv: is no model; 'arenac plan' reads"));
  }
  const Finished plan = arenac({"plan", "n.csv"});
  EXPECT_EQ(plan.status, 1);
  EXPECT_THAT(plan.output, HasSubstr("n.csv: the first line names no column id"));
}

}  // namespace
}  // namespace arenac
