// When the models of one program run: of one kind all, or of kinds within kinds.
//
//   {"concurrent": ["wake", {"sequential": ["features", "net"]}]}
//
//   wake      ------------------------------->     runs whenever it likes
//   features  -------->         -------->
//   net                -------->         ---->     never while features does
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace arenac {

// One runs at a time, in any order; in this order; any may run while another does.
enum class TogetherKind : uint8_t { kExclusive, kSequential, kConcurrent };

// Words of --together, in the order of the kinds.
inline constexpr std::string_view kTogetherWords[] = {"exclusive", "sequential", "concurrent"};

// What a word means. UserError, `complaint` and what was likely meant, where it is none of them.
TogetherKind kind_named(const std::string& word, const std::string& complaint);

// A tree whose leaves are models. Each is there once; what is no model has two members and more.
struct Turns {
  TogetherKind kind = TogetherKind::kExclusive;
  std::vector<Turns> members = {};  // none: a model
  size_t model = 0;                 // which

  bool is_model() const { return members.empty(); }
};

// All models, of one kind: 0, 1, ... `count` - 1.
Turns turns_of(TogetherKind kind, size_t count);

// As a file says it, in JSON, of models with these C names. UserError, which begins with `origin`, where it
// is no such text, or a model is missing, unknown or there twice.
Turns turns_from_json(std::string_view text, const std::string& origin,
                      const std::vector<std::string>& names);

// "concurrent", or "concurrent(wake, sequential(features, net))" where there are kinds within it.
std::string to_string(const Turns& turns, const std::vector<std::string>& names);

// The models, in the order of the tree.
std::vector<size_t> models_of(const Turns& turns);

// Whether `b` runs after `a`, and nothing at the same time as either.
bool in_sequence(const Turns& turns, size_t a, size_t b);

// What all need of a thing, of which each model needs so much: those that run one at a time the most, others
// the sum.
int64_t together(const Turns& turns, const std::function<int64_t(size_t model)>& of_model);

}  // namespace arenac
