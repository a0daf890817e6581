// Files in and out. Outputs appear all together or not at all.
//
//   TemporaryFolder scratch;                  // private, gone at the end of the scope
//   write_files("gen", {{"kws.c", "..."}, {"kws.h", "..."}});
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "codegen/emit.h"

namespace arenac {

// The bytes of a file; UserError when it cannot be read.
std::string read_file(const std::filesystem::path& path);

// Puts every file into `folder`, which is made if missing, with the folders above it: first all of them under
// temporary names, then each renamed into place. A link stays: what it leads to is replaced. What is there
// already and is no regular file (a device, a FIFO, a terminal) is written to; so is standard output under
// any of its names. UserError, and nothing left behind, when one cannot be written. Folders in a file's name
// ("sub/kws.c") are made, too; those of `elsewhere`, which are paths of their own or "-" for standard output,
// have to exist.
void write_files(const std::filesystem::path& folder, const std::vector<File>& files,
                 const std::vector<File>& elsewhere = {});

// Files of `elsewhere` alone.
void write_texts(const std::vector<File>& elsewhere);
void write_text(const std::string& file, const std::string& text);

// A folder that only this user can read, removed with its content at the end of the scope.
class TemporaryFolder {
 public:
  // In the system's folder for temporary files, or inside `parent`.
  TemporaryFolder();
  explicit TemporaryFolder(const std::filesystem::path& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace arenac
