// How files are written, all or none:
//
//   destinations     of each: replace, write through, or standard output; a fault here leaves all as it was
//   staging          bytes beside the target, in a folder of their own
//   output           standard output and devices, which cannot be taken back
//   renames          each atomic
#include "driver/files.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <system_error>

#include "frontend/error.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot(const char* what, const fs::path& path, const std::string& reason) {
  throw UserError(fmt::format("{}: cannot be {}: {}", path.string(), what, reason), Exit::kUsage);
}

// `shown` is the path as the user knows it, which the message names.
void write_file(const fs::path& path, const fs::path& shown, const std::string& bytes) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) cannot("written", shown, std::strerror(errno));
}

// The outermost folder that had to be made, or nothing.
fs::path make_folders(const fs::path& folder) {
  fs::path made;
  for (fs::path p = fs::absolute(folder).lexically_normal(); !fs::exists(p) && p.has_relative_path();
       p = p.parent_path())
    made = p;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder)) {
    std::error_code ignored;
    if (!made.empty()) fs::remove_all(made, ignored);
    cannot("made a folder", folder, error ? error.message() : "a file has its name");
  }
  return made;
}

// Where the bytes of a file go.
struct Destination {
  enum class How { kReplace, kWriteThrough, kStandardOutput };
  How how;
  fs::path path;  // kReplace: behind all links, in a folder that exists
};

// /dev/stdout, /proc/self/fd/1 and a file that standard output was redirected into are one; of a terminal
// they are not, which is written to as a device.
bool is_standard_output(const struct stat& file) {
  struct stat output;
  return fstat(STDOUT_FILENO, &output) == 0 && !S_ISCHR(file.st_mode) && file.st_dev == output.st_dev &&
         file.st_ino == output.st_ino;
}

// What the links of the path lead to, one after the other. The links of /proc are open files, which no path
// replaces: they stay. A rename onto a link would replace the link.
fs::path followed(const fs::path& path, const fs::path& shown) {
  // As Linux has it (ELOOP).
  constexpr int kMostLinks = 40;
  fs::path at = path;
  for (int k = 0; k < kMostLinks; ++k) {
    std::error_code error;
    const fs::path folder = fs::canonical(at.has_parent_path() ? at.parent_path() : ".", error);
    if (error) cannot("written", shown, error.message());
    at = folder / at.filename();
    if (*std::next(at.begin()) == "proc" || !fs::is_symlink(fs::symlink_status(at, error))) return at;
    const fs::path target = fs::read_symlink(at, error);
    if (error) cannot("written", shown, error.message());
    at = target.is_absolute() ? target : folder / target;
  }
  cannot("written", shown, "too many links lead to it");
}

// Decided for all files before any is written, so that a folder in the way of one stops all.
Destination destination_of(const fs::path& path) {
  using How = Destination::How;
  struct stat file;
  if (stat(path.c_str(), &file) != 0) {
    if (errno != ENOENT) cannot("written", path, std::strerror(errno));
    return {How::kReplace, followed(path, path)};
  }
  if (S_ISDIR(file.st_mode)) cannot("written", path, "a folder has its name");
  if (is_standard_output(file)) return {How::kStandardOutput, {}};
  if (!S_ISREG(file.st_mode)) return {How::kWriteThrough, path};
  const fs::path at = followed(path, path);
  return {*std::next(at.begin()) == "proc" ? How::kWriteThrough : How::kReplace, at};
}

// Files under temporary names beside those that they replace: on the same file system, where a rename is
// atomic. A reader sees the old file or the new one, never half of it.
class Staging {
 public:
  void write(const fs::path& target, const fs::path& shown, const std::string& bytes) {
    auto& folder = folders_[target.parent_path()];
    // One folder for each that files go to: a rename stays within a file system.
    if (!folder) folder = std::make_unique<TemporaryFolder>(target.parent_path());
    staged_.push_back({folder->path() / std::to_string(staged_.size()), target, shown});
    write_file(staged_.back().from, shown, bytes);
  }

  // Where one rename fails, those before it are taken back: what they replaced has a second name until then.
  void rename_all() const {
    for (size_t k = 0; k < staged_.size(); ++k) {
      std::error_code error, ignored;
      fs::create_hard_link(staged_[k].to, replaced(k), ignored);
      fs::rename(staged_[k].from, staged_[k].to, error);
      if (error ==
          std::errc::device_or_resource_busy) {  // a file that something is mounted on, as in containers
        write_file(staged_[k].to, staged_[k].shown, read_file(staged_[k].from));
        continue;
      }
      if (!error) continue;
      for (size_t done = 0; done < k; ++done) {
        fs::remove(staged_[done].to, ignored);
        fs::rename(replaced(done), staged_[done].to, ignored);
      }
      cannot("written", staged_[k].shown, error.message());
    }
  }

 private:
  struct Staged {
    fs::path from, to, shown;
  };
  fs::path replaced(size_t k) const { return staged_[k].from.string() + ".replaced"; }

  std::map<fs::path, std::unique_ptr<TemporaryFolder>> folders_;
  std::vector<Staged> staged_;
};

// What a file's bytes are to be found under.
struct Named {
  fs::path path;  // as the user reads it; "-" is standard output
  const std::string& bytes;
};

// The folder has to be there: a mistyped one should not be made.
Destination destination_of_text(const fs::path& path) {
  if (path == "-") return {Destination::How::kStandardOutput, {}};
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!fs::is_directory(folder))
    cannot("written", path, fmt::format("there is no folder {}", folder.string()));
  return destination_of(path);
}

// First all under temporary names, then what cannot be taken back (standard output, devices), then the
// renames, which hardly can fail.
void write_all(const std::vector<Named>& files) {
  std::vector<Destination> destinations;
  for (const Named& file : files) destinations.push_back(destination_of_text(file.path));
  Staging staging;
  for (size_t k = 0; k < files.size(); ++k)
    if (destinations[k].how == Destination::How::kReplace)
      staging.write(destinations[k].path, files[k].path, files[k].bytes);
  for (size_t k = 0; k < files.size(); ++k) {
    if (destinations[k].how == Destination::How::kStandardOutput) fmt::print("{}", files[k].bytes);
    if (destinations[k].how != Destination::How::kReplace && std::fflush(stdout) != 0)
      throw std::system_error(errno,
                              std::generic_category());  // a terminal that is written through may be it
    if (destinations[k].how == Destination::How::kWriteThrough)
      write_file(destinations[k].path, files[k].path, files[k].bytes);
  }
  staging.rename_all();
}

void append(std::vector<Named>& all, const fs::path& folder, const std::vector<File>& files) {
  for (const File& file : files) all.push_back({folder / file.name, file.bytes});
}

// mkdtemp makes it with mode 0700, and no name can be guessed beforehand.
fs::path make_temporary(const fs::path& parent, const std::string& prefix) {
  std::string name = (parent / (prefix + "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) cannot("written to", parent, std::strerror(errno));
  return name;
}

}  // namespace

// An empty file is no failure, though operator<< of an empty buffer is one.
std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || fs::is_directory(path)) throw UserError(fmt::format("{}: cannot be read", path.string()));
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!text) throw UserError(fmt::format("{}: cannot be read", path.string()));
  return std::move(text).str();
}

// What was made for the files goes again where they cannot be written.
void write_files(const fs::path& folder, const std::vector<File>& files, const std::vector<File>& elsewhere) {
  std::vector<Named> all;
  append(all, folder, files);
  append(all, "", elsewhere);
  std::vector<fs::path> made;
  try {
    made.push_back(make_folders(folder));
    for (const File& file : files) made.push_back(make_folders((folder / file.name).parent_path()));
    write_all(all);
  } catch (...) {
    std::error_code ignored;
    for (const fs::path& path : made)
      if (!path.empty()) fs::remove_all(path, ignored);
    throw;
  }
}

void write_texts(const std::vector<File>& elsewhere) {
  std::vector<Named> all;
  append(all, "", elsewhere);
  write_all(all);
}

void write_text(const std::string& file, const std::string& text) { write_texts({{file, text}}); }

TemporaryFolder::TemporaryFolder() : path_(make_temporary(fs::temp_directory_path(), "arenac-")) {}

TemporaryFolder::TemporaryFolder(const fs::path& parent) : path_(make_temporary(parent, ".arenac-")) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace arenac
