#include "driver/exports.h"

#include <algorithm>
#include <filesystem>
#include <kainjow/mustache.hpp>

#include "codegen/c_text.h"
#include "driver/export_templates.h"
#include "frontend/error.h"

namespace arenac {
namespace {

using kainjow::mustache::data;
using kainjow::mustache::mustache;

bool is_source(const std::string& file) { return file.ends_with(".c"); }
bool is_header(const std::string& file) { return file.ends_with(".h"); }

// The generated files in their folders. What only CMake reads stays away: the component has its own.
std::vector<File> placed(const std::vector<File>& generated, const Ecosystem& ecosystem) {
  std::vector<File> files;
  for (const File& file : generated) {
    if (file.name.ends_with(".cmake")) continue;
    const std::string_view folder = is_source(file.name)   ? ecosystem.folder
                                    : is_header(file.name) ? ecosystem.headers
                                                           : "";
    files.push_back({(std::filesystem::path(folder) / file.name).string(), file.bytes});
  }
  return files;
}

// The files of a kind, as a list of Mustache.
data list_of(const std::vector<File>& files, bool (*is_listed)(const std::string&)) {
  data list(data::type::list);
  for (const File& file : files)
    if (is_listed(file.name)) list << data("file", file.name);
  return list;
}

data list_of(const std::vector<SketchTensor>& tensors) {
  data list(data::type::list);
  for (const SketchTensor& tensor : tensors) {
    data row;
    row.set("type", tensor.type);
    row.set("member", tensor.member);
    row.set("name", tensor.name);
    row.set("macro", tensor.macro);
    row.set("function", tensor.function);
    row.set("placed", tensor.placed);
    list << row;
  }
  return list;
}

data list_of(const std::vector<SketchModel>& models) {
  data list(data::type::list);
  for (const SketchModel& model : models) {
    data row, pools(data::type::list);
    for (const auto& [member, pool] : model.pools) {
      data each("member", member);
      each.set("pool", pool);
      pools << each;
    }
    const auto any_placed = [](const std::vector<SketchTensor>& tensors) {
      return std::ranges::any_of(tensors, &SketchTensor::placed);
    };
    row.set("model", model.name);
    row.set("MODEL", model.upper);
    row.set("runs", model.runs);
    row.set("resets", model.resets);
    row.set("memory", any_placed(model.inputs) || any_placed(model.outputs));
    row.set("pools", pools);
    row.set("in", model.arguments.starts_with("&in"));
    row.set("out", model.arguments.ends_with("&out"));
    row.set("inputs", list_of(model.inputs));
    row.set("outputs", list_of(model.outputs));
    row.set("arguments", model.arguments);
    list << row;
  }
  return list;
}

// What templates may name: exports.h lists it.
data values_of(const Generated& generated, const std::vector<File>& files, const Ecosystem& ecosystem) {
  data values;
  values.set("name", generated.name);
  values.set("NAME", upper_case(generated.name));
  values.set("version", ARENAC_VERSION);
  values.set("arena", std::to_string(generated.arena));
  values.set("headers", std::string(ecosystem.headers));
  values.set("folder", std::string(ecosystem.folder));
  values.set("models", list_of(generated.models));
  values.set("sources", list_of(files, is_source));
  values.set("public", list_of(files, is_header));
  return values;
}

// Templates are ours and compiled in, so one that is not valid is a fault of ours.
std::string filled(std::string_view text, const data& values) {
  mustache page{std::string(text)};
  page.set_custom_escape([](const std::string& plain) { return plain; });  // names are identifiers
  ARENAC_CHECK(page.is_valid(), page.error_message());
  return page.render(values);
}

std::string with_name(std::string path, const std::string& name) {
  if (const size_t at = path.find("NAME"); at != std::string::npos) path.replace(at, 4, name);
  return path;
}

}  // namespace

// A folder of templates is an ecosystem's: every file in it becomes one of the component.
std::vector<File> exported(const Generated& generated, std::string_view name) {
  const auto ecosystem = std::ranges::find(kEcosystems, name, &Ecosystem::name);
  ARENAC_CHECK(ecosystem != std::end(kEcosystems), "the command line knows the ecosystems");
  std::vector<File> files = placed(generated.files, *ecosystem);
  const data values = values_of(generated, files, *ecosystem);
  const std::string own = std::string(name) + "/";
  for (const auto& [path, text] : kExportTemplates)
    if (path.starts_with(own))
      files.push_back(
          {with_name(std::string(path.substr(own.size())), generated.name), filled(text, values)});
  return files;
}

}  // namespace arenac
