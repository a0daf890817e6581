// The ways to run groups: in chunks of some columns or of one, with what lies under windows kept or computed
// again, each with the bytes that it takes and the work that it does twice.
//
//   [3, 6)   9,648 bytes, nothing again          of these the first that fits a peak is the cheapest
//            9,072 bytes, nothing again, narrow
//            7,432 bytes, 811,008 multiply-accumulates again
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "scheduler/barriers.h"
#include "scheduler/deadline.h"
#include "scheduler/fusion.h"
#include "scheduler/group_keys.h"
#include "scheduler/step_bytes.h"

namespace arenac {

class GroupWays {
 public:
  struct Way {
    Keep keep;
    int64_t bytes;  // live during the group
    int64_t work;   // multiply-accumulates done again
  };

  // Which windows may be kept alone.
  enum class Windows : uint8_t {
    kNone,  // and no chunks narrower than usual
    kFree,  // those that take no multiply-accumulates again
    kAny,
  };

  // Of a group, each with more work than the one before and fewer bytes, or narrower chunks and fewer bytes;
  // none: it cannot be one.
  struct Ways {
    std::vector<Way> known;
    int64_t plain = 0;                                    // bytes without windows
    int64_t floor = 0;                                    // bytes that no way goes below
    bool probed = false;                                  // whether the floor has been raised
    bool narrowed = false;                                // whether chunks of a column have been tried
    Keep next{.width = 1};                                // of the best of those with windows
    int64_t least = 0;                                    // its bytes
    std::vector<TensorId> storages = {};                  // that may be computed again
    Windows tried = Windows::kNone;                       // what `untried` was made of
    std::optional<std::vector<WindowKept>> untried = {};  // windows to try, the last one first
  };

  // What is shared by the searches of a compilation.
  struct Shared {
    FormedGroups& known;
    int64_t most_formed;  // stages of groups that this may form
    Deadline deadline;
  };

  // All outlives this.
  GroupWays(const Schedule& whole, const StepFacts& facts, const StepBytes& bytes, Shared shared);

  // The plain way of the steps [begin, end) as a group; null where it cannot be one, has a barrier within,
  // was made before, or a limit was hit. The result stays where it is.
  Ways* form(int begin, int end);

  // What may be tried from now on, with all of the trials that a question has.
  void may_keep(Windows windows) { windows_ = windows; }
  void begin_trials() { trials_ = 0; }

  // The cheapest known way within `peak`, or null.
  static const Way* fitting(const Ways& ways, int64_t peak);

  bool fits(int begin, int end, int64_t peak) const { return fitting(ways_.at({begin, end}), peak); }

  // Whether anything may be tried at all, and whether it might make a group fit.
  bool may_try() const;
  bool might_fit(const Ways& ways, int64_t peak) const;

  // Tries chunks of a column, then windows, until the group fits or there are no more.
  void try_to_fit(int begin, int end, int64_t peak);

  // A group that fits `peak`: with whole rows if they do, else in the widest chunks.
  GroupPlan plainest(int begin, int end, int64_t peak) const;

  int64_t work_again(const GroupPlan& plan) const;

  // What has been taken of what may be.
  double work() const;
  LimitsHit limits_hit() const;

 private:
  // Of a window: bytes that it saves, multiply-accumulates that are done again.
  struct Gain {
    int64_t bytes, work;
  };

  std::optional<GroupPlan> plan_of(int begin, int end, const Keep& keep) const {
    return form_group(whole_, facts_, begin, end, keep);
  }
  FormedGroup formed(int begin, int end, const GroupKeys::Key& key) const;
  std::vector<TensorId> can_be_again(const GroupPlan& plan) const;
  bool are_free(TensorId storage) const;
  int64_t most_trials() const;
  bool is_listed(const Ways& ways) const { return ways.untried && ways.tried >= windows_; }
  bool has_windows(const Ways& ways) const { return ways.untried && !ways.untried->empty(); }
  std::optional<Way> tried(int begin, int end, Keep keep);
  void find_windows(int begin, int end, int64_t peak, Ways& ways);
  std::optional<Gain> gain_of(const WindowKept& window, int begin, int end, const Ways& ways);
  void add_window(int begin, int end, Ways& ways);
  bool add(int begin, int end, Keep keep, Ways& ways);
  void lighten(int begin, int end, int64_t peak, Way fit, Ways& ways);

  const Schedule& whole_;
  const Graph& graph_;
  const StepFacts& facts_;
  const StepBytes& bytes_;
  const Shared shared_;
  const GroupKeys keys_;
  const Barriers barriers_;
  std::map<std::pair<int, int>, Ways> ways_;            // per begin and end
  std::map<std::pair<TensorId, int64_t>, Gain> gains_;  // per storage and strip of a window
  Windows windows_ = Windows::kNone;
  int64_t runs_ = 0, trials_ = 0, formed_ = 0;
  std::set<int64_t> trials_cut_at_;  // the limits that a question met
  bool might_be_longer_ = false;     // a group of kLongestGroup steps
};

}  // namespace arenac
