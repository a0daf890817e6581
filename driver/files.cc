#include "driver/files.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "frontend/error.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot(const char* what, const fs::path& path, const std::string& reason) {
  throw UserError(fmt::format("{}: cannot be {}: {}", path.string(), what, reason), Exit::kUsage);
}

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

void write_and_rename(const fs::path& folder, const std::vector<File>& files) {
  const TemporaryFolder staging(folder);
  for (size_t k = 0; k < files.size(); ++k) {
    const fs::path target = folder / files[k].name;
    if (fs::is_directory(target)) cannot("written", target, "a folder has its name");
    write_file(staging.path() / std::to_string(k), target, files[k].bytes);
  }
  for (size_t k = 0; k < files.size(); ++k) {
    const fs::path target = folder / files[k].name;
    std::error_code error;
    fs::rename(staging.path() / std::to_string(k), target, error);
    if (!error) continue;
    for (size_t done = 0; done < k; ++done) {
      std::error_code ignored;
      fs::remove(folder / files[done].name, ignored);
    }
    cannot("written", target, error.message());
  }
}

fs::path make_temporary(const fs::path& parent, const std::string& prefix) {
  std::string name = (parent / (prefix + "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) cannot("written to", parent, std::strerror(errno));
  return name;
}

}  // namespace

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || fs::is_directory(path)) throw UserError(fmt::format("{}: cannot be read", path.string()));
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!text) throw UserError(fmt::format("{}: cannot be read", path.string()));
  return std::move(text).str();
}

void write_files(const fs::path& folder, const std::vector<File>& files) {
  const fs::path made = make_folders(folder);
  try {
    write_and_rename(folder, files);
  } catch (...) {
    std::error_code ignored;
    if (!made.empty()) fs::remove_all(made, ignored);
    throw;
  }
}

void write_text(const std::string& file, const std::string& text) {
  if (file == "-") {
    fmt::print("{}", text);
    return;
  }
  const fs::path path(file);
  write_files(path.has_parent_path() ? path.parent_path() : ".", {{path.filename().string(), text}});
}

TemporaryFolder::TemporaryFolder() : path_(make_temporary(fs::temp_directory_path(), "arenac-")) {}

TemporaryFolder::TemporaryFolder(const fs::path& parent) : path_(make_temporary(parent, ".arenac-")) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace arenac
