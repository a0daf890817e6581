#include "driver/mistyped.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/option_words.h"
#include "frontend/nearest.h"

namespace arenac {
namespace {

// Long and short ones, as they are written.
std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// "--dim=batch=1" -> "--dim"; "-ogen" -> "-o".
std::string name_of_option(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

// Positional words beyond those that the command takes.
std::optional<std::string> one_too_many(const CLI::App& command, const std::vector<std::string>& words) {
  std::vector<std::string> taken;
  size_t most = 0;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    most += static_cast<size_t>(option->get_items_expected_max());
    taken.push_back(option->get_name(true));
  }
  if (words.size() <= most) return std::nullopt;
  return fmt::format("'{}' is one word too many: {} takes {}", words[most], command.get_name(),
                     taken.empty() ? "none" : fmt::format("{}", fmt::join(taken, " ")));
}

// Walks the words as CLI11 does: options with their values, and what is left by place.
std::optional<std::string> mistyped_in(const CLI::App& command, const std::vector<std::string>& words) {
  std::vector<std::string> positional;
  for (size_t k = 1; k < words.size(); ++k) {
    const std::string& word = words[k];
    if (word == "--") {
      positional.insert(positional.end(), words.begin() + static_cast<std::ptrdiff_t>(k) + 1, words.end());
      break;
    }
    if (!word.starts_with("-") || word == "-") {
      positional.push_back(word);
      continue;
    }
    const std::string name = name_of_option(word);
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option == nullptr)
      return fmt::format("{} has no option '{}'{}", command.get_name(), name,
                         did_you_mean(name, names_of_options(command)));
    if (word == name && option->get_items_expected_max() > 0) ++k;  // its value
  }
  return one_too_many(command, positional);
}

CLI::Validator number_where(bool (*holds)(double), const char* which) {
  const auto check = [holds, which](const std::string& word) -> std::string {
    double value = 0;
    if (CLI::detail::lexical_cast(word, value) && holds(value)) return "";
    return fmt::format("'{}' is no number {}", word, which);
  };
  return {check, ""};
}

}  // namespace

// Options before the command, then the command, then its words: the first mistake is what the user hears of.
std::optional<std::string> mistyped(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const std::string all = fmt::format("{}", fmt::join(names, ", "));
  if (words.empty()) return fmt::format("a command is missing: one of {}", all);
  if (const std::string& word = words[0]; word.starts_with("-")) {
    const std::string name = name_of_option(word);
    if (app.get_option_no_throw(name) == nullptr)
      return fmt::format("there is no option '{}' before the command{}", name,
                         did_you_mean(name, names_of_options(app)));
    return std::nullopt;
  }
  for (const CLI::App* command : app.get_subcommands({}))
    if (command->get_name() == words[0]) return mistyped_in(*command, words);
  return fmt::format("there is no command '{}'{}", words[0], did_you_mean_or_all(words[0], names));
}

// CLI11's own IsMember lists all members, which nobody reads of a long table: the nearest is named instead.
CLI::Validator one_of(std::vector<std::string> names) {
  const std::string listed = fmt::format("{{{}}}", fmt::join(names, ","));
  const auto check = [names = std::move(names)](const std::string& word) -> std::string {
    if (std::find(names.begin(), names.end(), word) != names.end()) return "";
    return fmt::format("there is no '{}'{}", word, did_you_mean_or_all(word, names));
  };
  return {check, listed};
}

CLI::Validator number_above_0() {
  return number_where([](double value) { return value > 0; }, "above 0");
}

CLI::Validator number_from_0() {
  return number_where([](double value) { return value >= 0; }, "from 0 on");
}

CLI::Validator size_in_bytes() {
  const auto in_bytes = [](std::string& word) -> std::string {
    const auto bytes = bytes_of_size(word);
    if (!bytes) return fmt::format("'{}' is no size in bytes, such as 65536 or 64K", word);
    word = std::to_string(*bytes);
    return "";
  };
  return {in_bytes, ""};
}

}  // namespace arenac
