// What the arenac program's outputs may be named: files, links, FIFOs, devices, standard output; and what
// happens when they cannot be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>

#include "driver/files.h"
#include "driver/process.h"
#include "tests/tool.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliFiles : public testing::Test {
 protected:
  CliFiles() {
    write_files(scratch_.path(), {{"p.csv", "id,lower,upper,size\na,0,2,8\nb,1,3,4\n"}});
    EXPECT_EQ(sh("$A map $M --json m.json && $A map m.json --csv m.csv").status, 0);
  }
  // $A is the tool, $M a model.
  Finished sh(const std::string& command) const {
    const std::string names = "A=" + arenac_tool() + "; M=" ARENAC_ROOT "/models/tiny_cnn.onnx; ";
    return run_process({"sh", "-c", names + command}, scratch_.path(), 120);
  }
  fs::path at(const std::string& name) const { return scratch_.path() / name; }
  std::string content(const std::string& name) const { return read_file(at(name)); }
  size_t count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(scratch_.path()), {}));
  }

  TemporaryFolder scratch_;
};

TEST_F(CliFiles, AFifoIsWrittenTo) {
  ASSERT_EQ(mkfifo(at("fifo").c_str(), 0600), 0);
  EXPECT_EQ(sh("cat fifo > got & $A map m.json --csv fifo; s=$?; wait; exit $s").status, 0);
  EXPECT_TRUE(fs::is_fifo(at("fifo")));
  EXPECT_EQ(content("got"), content("m.csv"));
}

TEST_F(CliFiles, AModelThatIsAFifoIsRefused) {
  ASSERT_EQ(mkfifo(at("fifo").c_str(), 0600), 0);
  const Finished done = sh("cat $M > fifo & $A map fifo; s=$?; cat fifo > rest & wait; exit $s");
  EXPECT_EQ(done.status, 1) << done.output;
  EXPECT_THAT(done.output, HasSubstr("fifo: is a pipe or a device"));
}

TEST_F(CliFiles, ADeviceIsWrittenTo) {
  if (mknod(at("null").c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0 ||
      mknod(at("full").c_str(), S_IFCHR | 0600, makedev(1, 7)) != 0)
    GTEST_SKIP() << "only root makes devices";
  if (sh("echo > null").status != 0) GTEST_SKIP() << "devices in this folder cannot be opened";
  EXPECT_EQ(sh("$A map m.json --html null && $A plan p.csv -o null").status, 0);
  const Finished full = sh("$A map m.json --html full");
  EXPECT_EQ(full.status, 2);
  EXPECT_THAT(full.output, HasSubstr("full: cannot be written: No space left"));
  EXPECT_TRUE(fs::is_character_file(at("null")));
  EXPECT_TRUE(fs::is_character_file(at("full")));
}

// As volumes of containers are: no rename replaces a mount point.
TEST_F(CliFiles, AFileThatIsMountedIsWrittenThrough) {
  write_files(scratch_.path(), {{"volume", "old"}, {"mounted.csv", ""}});
  const Finished done =
      sh("unshare -m true || exit 77; unshare -m sh -c 'mount --bind volume mounted.csv && " + arenac_tool() +
         " map m.json --csv mounted.csv'");
  if (done.status == 77) GTEST_SKIP() << "only root makes mounts";
  EXPECT_EQ(done.status, 0) << done.output;
  EXPECT_EQ(content("volume"), content("m.csv"));
  EXPECT_EQ(content("mounted.csv"), "");
}

TEST_F(CliFiles, ALinkStaysAndWhatItLeadsToIsReplaced) {
  fs::create_directory(at("sub"));
  write_files(at("sub"), {{"old.csv", "old"}});
  fs::create_symlink("sub/old.csv", at("old"));
  fs::create_symlink("sub/new.csv", at("new"));
  fs::create_symlink("new", at("newer"));
  fs::create_symlink("none/new.csv", at("nowhere"));
  fs::create_symlink("circle", at("circle"));
  const size_t before = count();
  for (const char* link : {"old", "newer"}) {
    EXPECT_EQ(sh(std::string("$A map m.json --csv ") + link).status, 0) << link;
    EXPECT_TRUE(fs::is_symlink(at(link))) << link;
    EXPECT_EQ(content(link), content("m.csv")) << link;
  }
  EXPECT_FALSE(fs::is_symlink(at("sub/old.csv")));
  EXPECT_TRUE(fs::is_symlink(at("new")));
  EXPECT_TRUE(fs::is_regular_file(at("sub/new.csv")));
  for (const char* link : {"nowhere", "circle"})
    EXPECT_EQ(sh(std::string("$A map m.json --csv ") + link).status, 2) << link;
  EXPECT_EQ(count(), before);
}

TEST_F(CliFiles, CompileWritesThroughLinks) {
  fs::create_directory(at("gen"));
  fs::create_directory(at("elsewhere"));
  fs::create_symlink("../elsewhere/tiny_cnn.h", at("gen/tiny_cnn.h"));
  ASSERT_EQ(sh("$A compile $M -o gen").status, 0);
  EXPECT_TRUE(fs::is_symlink(at("gen/tiny_cnn.h")));
  EXPECT_THAT(content("elsewhere/tiny_cnn.h"), HasSubstr("tiny_cnn_run"));
}

// The last of several files cannot be replaced: the others are again what they were.
TEST_F(CliFiles, FilesAreReplacedTogetherOrNotAtAll) {
  ASSERT_EQ(sh("$A compile $M -o gen").status, 0);
  const std::string before = content("gen/tiny_cnn.c");
  if (sh("chattr +i gen/tiny_cnn_weights.c").status != 0)
    GTEST_SKIP() << "no file here can be made immutable";
  const Finished done = sh("$A compile $M -o gen --optimize speed; status=$?; chattr -i gen/*; exit $status");
  EXPECT_EQ(done.status, 2) << done.output;
  EXPECT_EQ(content("gen/tiny_cnn.c"), before);
  ASSERT_EQ(sh("$A compile $M -o gen --optimize speed").status, 0);
  EXPECT_NE(content("gen/tiny_cnn.c"), before);
}

TEST_F(CliFiles, StandardOutputHasSeveralNames) {
  for (const char* name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
    for (const char* into : {" > got", " | cat > got", " >> got"}) {
      fs::remove(at("got"));
      EXPECT_EQ(sh(std::string("$A map m.json --csv ") + name + into).status, 0) << name << into;
      EXPECT_EQ(content("got"), content("m.csv")) << name << into;
    }
  EXPECT_EQ(sh("$A plan p.csv -o /dev/stdout > got").status, 0);
  EXPECT_THAT(content("got"), AllOf(HasSubstr("id,lower,upper,size,offset\n"), HasSubstr("makespan 12")));
  EXPECT_EQ(sh("echo before > got; $A map m.json --csv /dev/stdout >> got").status, 0);
  EXPECT_EQ(content("got"), "before\n" + content("m.csv"));
}

TEST_F(CliFiles, AFolderIsNoFileAndIsNotMadeForOne) {
  fs::create_directory(at("folder"));
  const size_t before = count();
  for (const char* name : {"folder", "none/m.csv", "none/", "m.json/m.csv"}) {
    const Finished done = sh(std::string("$A map m.json --csv ") + name);
    EXPECT_EQ(done.status, 2) << name;
    EXPECT_THAT(done.output, HasSubstr("cannot be written")) << name;
  }
  EXPECT_EQ(sh("$A plan p.csv -o none/s.csv").status, 2);
  EXPECT_EQ(sh("$A compile $M -o m.json").status, 2);
  EXPECT_EQ(sh("$A compile $M -o p.csv/gen").status, 2);
  EXPECT_EQ(count(), before);
  EXPECT_TRUE(fs::is_empty(at("folder")));
}

// Every command that prints a result.
constexpr const char* kPrinting[] = {
    "map $M",          "map m.json",    "map m.json --csv -", "map m.json --csv /dev/stdout",
    "explain $M",      "plan p.csv",    "plan p.csv --json",  "plan p.csv --planner all",
    "plan p.csv -o -", "verify m.json", "list planners",      "list operators --json",
    "--help",          "--version",     "compile --help",     "compile $M -o gen --dump-after graph"};

TEST_F(CliFiles, AFullDiskBehindStandardOutputIsAnError) {
  for (const char* words : kPrinting) {
    const Finished done = sh(std::string("$A ") + words + " > /dev/full");
    EXPECT_EQ(done.status, 2) << words;
    EXPECT_THAT(done.output, HasSubstr("cannot be written: No space left")) << words;
  }
}

TEST_F(CliFiles, AClosedStandardOutputIsAnError) {
  for (const char* words : kPrinting) {
    const Finished done = sh(std::string("$A ") + words + " >&-");
    EXPECT_EQ(done.status, 2) << words;
    EXPECT_THAT(done.output, HasSubstr("cannot be written")) << words;
  }
}

TEST_F(CliFiles, MessagesMayBeLost) {
  EXPECT_EQ(sh("$A compile $M -o one").status, 0);
  EXPECT_EQ(sh("$A compile $M -o two <&- >&- 2>&-").status, 0);
  for (const auto& entry : fs::directory_iterator(at("one")))
    EXPECT_EQ(read_file(entry.path()), read_file(at("two") / entry.path().filename()));
  EXPECT_EQ(sh("$A compile missing.onnx 2>/dev/full").status, 1);
  EXPECT_EQ(sh("$A compile missing.onnx 2>&-").status, 1);
}

TEST_F(CliFiles, AReaderThatGoesAwayEndsItSilently) {
  for (const char* words : {"list operators --json", "map $M", "plan p.csv -o -"}) {
    const Finished done =
        sh(std::string("(sleep 0.1; $A ") + words + "; echo $? > status) | true; cat status");
    EXPECT_EQ(done.output, "141\n") << words;
  }
}

// What a terminal shows in the end of what was written to it: "\r\x1b[K" clears a line.
std::string left_on_terminal(const std::string& written) {
  constexpr std::string_view kErase = "\r\x1b[K";
  std::string text;
  size_t begin = 0;  // of the line
  for (size_t at = 0; at < written.size(); ++at) {
    if (written.compare(at, kErase.size(), kErase) == 0) {
      text.resize(begin);
      at += kErase.size() - 1;
    } else if (written[at] != '\r') {
      text += written[at];
      if (written[at] == '\n') begin = text.size();
    }
  }
  return text;
}

TEST_F(CliFiles, ProgressIsOneLineOfATerminalThatLeavesNoTrace) {
  constexpr std::pair<const char*, const char*> kCommands[] = {{"compile $M -o gen", "schedule and plan"},
                                                               {"map $M", "map and files"},
                                                               {"map $M --pareto", "schedule and plan"},
                                                               {"explain $M", "rewrites"},
                                                               {"compile $M --ram 1", "schedule and plan"},
                                                               {"compile p.onnx", "import"},
                                                               {"run $M", "build"}};
  if (sh("script -qec true /dev/null </dev/null").status != 0) GTEST_SKIP() << "no script(1)";
  for (const auto& [words, stage] : kCommands) {
    SCOPED_TRACE(words);
    const std::string command = std::string("export A M COLUMNS=80; $A ") + words;
    const Finished piped = sh(command + " 2>&1 | cat");
    const auto on_terminal = [&](const std::string& before) {
      return sh("export A M TERM=xterm; " + before + " script -qec 'export COLUMNS=80; $A " + words +
                "' /dev/null </dev/null")
          .output;
    };
    const std::string shown = on_terminal("export NO_COLOR=;"), plain = on_terminal("export NO_COLOR=1;");
    EXPECT_THAT(piped.output, Not(HasSubstr("\x1b")));
    EXPECT_THAT(shown, HasSubstr(std::string("\r\x1b[K\x1b[2marenac: ") + stage + ", "));
    EXPECT_THAT(plain, HasSubstr(std::string("\r\x1b[Karenac: ") + stage + ", "));
    EXPECT_EQ(left_on_terminal(shown), piped.output);
    EXPECT_EQ(left_on_terminal(plain), piped.output);
  }
  for (const char* silent : {"export TERM=dumb; script -qec '$A compile $M -o gen' /dev/null </dev/null",
                             "script -qec '$A compile $M -o gen --quiet' /dev/null </dev/null"})
    EXPECT_THAT(sh(std::string("export A M; ") + silent).output, Not(HasSubstr("\x1b"))) << silent;
}

TEST_F(CliFiles, AMissingTemporaryFolderIsNoFaultOfOurs) {
  const Finished done = sh("mkdir data; TMPDIR=/none $A run $M --inputs data");
  EXPECT_NE(done.status, 70) << done.output;
}

}  // namespace
}  // namespace arenac
