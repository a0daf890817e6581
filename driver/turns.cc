#include "driver/turns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "frontend/error.h"
#include "frontend/nearest.h"

namespace arenac {
namespace {

using nlohmann::json;

// Reads one file.
class Reader {
 public:
  Reader(const std::string& origin, const std::vector<std::string>& names)
      : origin_(origin), names_(names), seen_(names.size()) {}

  // All models, each once: one that is left out would have no memory.
  Turns tree(const json& text) {
    const Turns turns = node(text, 1);
    for (size_t k = 0; k < names_.size(); ++k)
      if (!seen_[k]) refuse(fmt::format("says nothing of the model '{}'", names_[k]));
    return turns;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw UserError(fmt::format("{}: {}", origin_, why), Exit::kUsage);
  }

  // What has two members wherever it is no model is less deep than there are models.
  Turns node(const json& text, size_t depth) {
    if (text.is_string()) return {.model = model(text.get<std::string>())};
    if (!text.is_object() || text.size() != 1)
      refuse(R"(expected a model's name, or one kind and its list: {"exclusive": ["a", "b"]})");
    const std::string word = text.begin().key();
    const json& list = text.begin().value();
    if (!list.is_array() || list.size() < 2 || list.size() > names_.size() || depth >= names_.size())
      refuse(fmt::format("'{}' needs a list of two and more of the models", word));
    Turns turns = {.kind = kind_named(word, fmt::format("{}: '{}' is no kind", origin_, word))};
    for (const json& member : list) turns.members.push_back(node(member, depth + 1));
    return turns;
  }

  // Its number; a second mention would run it in two places.
  size_t model(const std::string& name) {
    const auto at = std::ranges::find(names_, name);
    if (at == names_.end())
      refuse(fmt::format("'{}' is none of the models{}", name, did_you_mean_or_all(name, names_)));
    const auto k = static_cast<size_t>(at - names_.begin());
    if (seen_[k]) refuse(fmt::format("the model '{}' is there twice", name));
    seen_[k] = true;
    return k;
  }

  const std::string& origin_;
  const std::vector<std::string>& names_;
  std::vector<bool> seen_;
};

// "sequential(features, net)"
std::string nested(const Turns& turns, const std::vector<std::string>& names) {
  if (turns.is_model()) return names[turns.model];
  std::vector<std::string> members;
  for (const Turns& member : turns.members) members.push_back(nested(member, names));
  return fmt::format("{}({})", kTogetherWords[static_cast<size_t>(turns.kind)], fmt::join(members, ", "));
}

// Whether the model is in the tree, and nothing there runs while it does.
bool runs_alone(const Turns& turns, size_t model) {
  if (turns.is_model()) return turns.model == model;
  return turns.kind != TogetherKind::kConcurrent &&
         std::ranges::any_of(turns.members, [&](const Turns& member) { return runs_alone(member, model); });
}

}  // namespace

TogetherKind kind_named(const std::string& word, const std::string& complaint) {
  const auto at = std::ranges::find(kTogetherWords, word);
  if (at == std::end(kTogetherWords))
    throw UserError(
        complaint + did_you_mean_or_all(word, {std::begin(kTogetherWords), std::end(kTogetherWords)}),
        Exit::kUsage);
  return static_cast<TogetherKind>(at - std::begin(kTogetherWords));
}

Turns turns_of(TogetherKind kind, size_t count) {
  Turns turns = {.kind = kind};
  for (size_t k = 0; k < count; ++k) turns.members.push_back({.model = k});
  return turns;
}

Turns turns_from_json(std::string_view text, const std::string& origin,
                      const std::vector<std::string>& names) {
  const json parsed = json::parse(text, nullptr, false);
  if (parsed.is_discarded()) throw UserError(fmt::format("{}: is no JSON", origin), Exit::kUsage);
  return Reader(origin, names).tree(parsed);
}

// The word of --together where that is all.
std::string to_string(const Turns& turns, const std::vector<std::string>& names) {
  if (std::ranges::all_of(turns.members, &Turns::is_model))
    return std::string(kTogetherWords[static_cast<size_t>(turns.kind)]);
  return nested(turns, names);
}

std::vector<size_t> models_of(const Turns& turns) {
  if (turns.is_model()) return {turns.model};
  std::vector<size_t> models;
  for (const Turns& member : turns.members)
    for (const size_t model : models_of(member)) models.push_back(model);
  return models;
}

// At the innermost node that has both: it has to be sequential, with `a` first, and below it neither may be
// among models that run meanwhile.
bool in_sequence(const Turns& turns, size_t a, size_t b) {
  const auto with = [&](size_t model) {
    return std::ranges::find_if(turns.members,
                                [&](const Turns& member) { return runs_alone(member, model); });
  };
  const auto first = with(a), second = with(b);
  if (turns.kind == TogetherKind::kSequential && first < second) return second != turns.members.end();
  return std::ranges::any_of(turns.members, [&](const Turns& member) { return in_sequence(member, a, b); });
}

int64_t together(const Turns& turns, const std::function<int64_t(size_t model)>& of_model) {
  if (turns.is_model()) return of_model(turns.model);
  int64_t most = 0, sum = 0;
  for (const Turns& member : turns.members) {
    const int64_t bytes = together(member, of_model);
    most = std::max(most, bytes), sum += bytes;
  }
  return turns.kind == TogetherKind::kConcurrent ? sum : most;
}

}  // namespace arenac
