#include "tests/bench/planning_problems.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "tests/bench/coarse_tilings.h"
#include "tests/bench/tiles.h"

namespace arenac {
namespace {

// Begins, lengths of life and sizes all equally likely; a life is at most `longest`.
Problem uniform(int buffers, Dice random, int64_t longest) {
  Problem problem = one_pool();
  for (int i = 0; i < buffers; ++i) {
    const int64_t begin = random.below(2 * int64_t(buffers));
    add(problem, random.between(1, 1000), begin, begin + random.between(1, longest));
  }
  return problem;
}

Problem uniform_short(int buffers, uint64_t seed) { return uniform(buffers, {std::mt19937_64(seed)}, 400); }

Problem uniform_long(int buffers, uint64_t seed) {
  return uniform(buffers, {std::mt19937_64(seed)}, std::max(2, buffers / 5));
}

Problem power_law(int buffers, uint64_t seed) {
  Dice random{std::mt19937_64(seed)};
  Problem problem = one_pool();
  for (int i = 0; i < buffers; ++i) {
    const int64_t begin = random.below(buffers);
    add(problem, random.power_law(16, 1 << 24, 3), begin, begin + random.power_law(1, buffers, 3));
  }
  return problem;
}

// Requests of a few classes of size with a header each, most of them short-lived, in phases: what a phase
// allocates and does not free at once lives until the phase ends, or some later one.
Problem malloc_like(int buffers, uint64_t seed) {
  Dice random{std::mt19937_64(seed)};
  Problem problem = one_pool();
  const int64_t phase = std::max(50, buffers / 40);
  for (int64_t i = 0; i < buffers; ++i) {
    const int64_t size = random.one_in(3) ? random.power_law(32, 1 << 20, 2)
                                          : int64_t{16} << random.below(random.one_in(8) ? 10 : 5);
    const int64_t phase_end = (i / phase + 1) * phase;
    int64_t end = i + random.power_law(1, phase, 2);
    if (random.one_in(5)) end = phase_end + phase * (random.one_in(4) ? random.below(6) : 0);
    add(problem, (size + 16 + 15) / 16 * 16, i, std::max(i + 1, end));
  }
  return problem;
}

// A network and its backward pass. Layers have a few operators with branches; what forward operator k writes
// is read by the next few operators and by its mirror image, which writes a gradient and, for some, a weight
// gradient that lives on until the optimizer's step at the end of a bucket.
Problem training(int buffers, uint64_t seed) {
  Dice random{std::mt19937_64(seed)};
  Problem problem = one_pool();
  const int64_t operators = std::max(2, buffers * 10 / 36), steps = 2 * operators;
  int64_t channels = 32, pixels = 56 * 56;
  for (int64_t k = 0; k < operators; ++k) {
    if (k % std::max<int64_t>(8, operators / 12) == 0) {
      channels = random.between(2, 24) * 16;
      pixels = std::max<int64_t>(49, random.one_in(2) ? pixels / 4 : pixels);
      if (random.one_in(4)) pixels = 56 * 56;
    }
    const int64_t activation = 4 * channels * pixels * (random.one_in(4) ? 4 : 1);
    const int64_t mirror = steps - 1 - k;
    add(problem, activation, k, random.one_in(4) ? k + random.between(2, 5) : mirror + 1);
    if (random.one_in(2)) add(problem, random.between(1, 40) * 1024, k, k + 1);            // workspace
    if (random.one_in(3)) add(problem, (activation + 31) / 32, k, mirror + 1);             // mask
    add(problem, activation, std::max(k + 1, mirror - random.between(1, 3)), mirror + 1);  // gradient
    if (random.one_in(2)) add(problem, random.between(1, 64) * 4096, mirror, mirror + 1);  // workspace
    if (random.one_in(2))
      add(problem, 4 * channels * channels * (random.one_in(2) ? 9 : 1), mirror,
          std::min(steps, (mirror / 64 + 1) * 64) + 1);  // weight gradient
  }
  return problem;
}

// What an eager framework allocates while a transformer is trained: weights and their optimizer states from
// the first step on, activations from the forward to the backward pass of their layer, temporaries of one
// operator or two, scalars that stay, weight gradients until the optimizer has used them.
class TransformerTraining {
 public:
  TransformerTraining(int buffers, Dice random) : random_(random), buffers_(buffers) {
    problem_.pools = {{"arena"}};
  }

  Problem run() {
    // A layer takes about 60 buffers a step and 25 for good.
    const int64_t layers = random_.between(2, std::clamp<int64_t>(buffers_ / 150, 2, 48));
    for (int64_t layer = 0; layer < layers; ++layer)
      for (int64_t part : {1, 1, 1, 1, 4, 4}) {
        keep(4 * hidden_ * hidden_ * part);
        keep(4 * hidden_ * part);
      }
    const size_t weights_end = forever_.size();
    while (int(problem_.buffers.size() + forever_.size()) < buffers_) train(layers, weights_end);
    for (auto [begin, size] : forever_) add(problem_, size, begin, now_);
    problem_.buffers.resize(size_t(buffers_));
    return std::move(problem_);
  }

 private:
  struct Activation {
    int64_t begin, size;
  };

  void keep(int64_t size) { forever_.push_back({now_++, size}); }
  void release(const Activation& a) { add(problem_, a.size, a.begin, now_ + 1); }
  void temporary(int64_t size, int64_t life) { add(problem_, size, now_, now_ + life); }

  void train(int64_t layers, size_t weights_end) {
    std::vector<Activation> saved;
    const auto save = [&](int64_t size) { saved.push_back({now_++, size}); };
    for (int64_t layer = 0; layer < layers; ++layer) {
      for (int projection = 0; projection < 3; ++projection) {
        temporary(activation_, random_.between(2, 4));
        save(activation_);
        if (random_.one_in(3)) temporary(4, 1);
      }
      temporary(scores_, 3);
      save(scores_);  // softmax
      temporary(scores_, 2);
      save(scores_ / 4);  // dropout's mask
      save(scores_);
      save(activation_);
      temporary(activation_, 2);
      save(activation_ / 4);
      save(activation_);
      save(tokens_ * 4);  // layer normalization's moments
      save(tokens_ * 4);
      for (int64_t factor : {4, 4, 1}) {
        temporary(activation_ * factor, random_.between(1, 3));
        save(activation_ * factor);
      }
      save(activation_ / 4);
    }
    temporary(tokens_ * 30522 * 4 / 16, 12);
    now_ += 3;
    std::vector<Activation> gradients;
    while (!saved.empty()) {  // backward
      const Activation top = saved.back();
      saved.pop_back();
      if (random_.one_in(2)) temporary(top.size, random_.between(2, 6));
      if (random_.one_in(3)) temporary(activation_, random_.between(1, 4));
      if (random_.one_in(3)) gradients.push_back({now_, 4 * hidden_ * hidden_ * (random_.one_in(3) ? 4 : 1)});
      if (random_.one_in(3)) gradients.push_back({now_, 4 * hidden_ * (random_.one_in(3) ? 4 : 1)});
      ++now_;
      release(top);
    }
    for (size_t k = 0; k < gradients.size(); ++k) {  // optimizer
      if (forever_.size() < 3 * weights_end) keep(gradients[k].size), keep(gradients[k].size), keep(4);
      for (int64_t life : {1, 2, 2}) {
        temporary(gradients[k].size, life + random_.below(2));
        ++now_;
      }
    }
    for (const Activation& gradient : gradients) release(gradient);
  }

  Dice random_;
  int64_t buffers_;
  int64_t hidden_ = 128 * random_.between(2, 8), tokens_ = 128 * random_.between(4, 64);
  int64_t activation_ = 4 * tokens_ * hidden_, scores_ = 4 * tokens_ * 128 * random_.between(1, 12);
  int64_t now_ = 0;
  Problem problem_;
  std::vector<Activation> forever_;
};

Problem transformer_training(int buffers, uint64_t seed) {
  return TransformerTraining(buffers, {std::mt19937_64(seed)}).run();
}

// A compiled network without its weights: bottlenecks with heads, a residual across each block, some results
// that wait for the end.
Problem inference(int buffers, uint64_t seed) {
  Dice random{std::mt19937_64(seed)};
  Problem problem = one_pool();
  int64_t now = 0, width = 98304;
  const int64_t longest = buffers;
  while (int(problem.buffers.size()) < buffers) {
    const int64_t begin = now, heads = random.between(1, 4), blocks = random.between(1, 4);
    for (int64_t head = 0; head < heads; ++head) {
      for (int64_t part = 0; part < 3; ++part) {
        add(problem, width / 4, now, now + random.between(2, 6));
        ++now;
      }
      add(problem, 1536, now, now + 2);
      add(problem, width * 2, now, now + 1);
      ++now;
    }
    for (int64_t block = 0; block < blocks; ++block) {
      add(problem, width * 4, now, now + 2);
      add(problem, width, now + 1, now + 3);
      if (random.one_in(2)) add(problem, 256 << random.below(3), now, now + random.between(1, 8));
      now += 2;
    }
    add(problem, width, begin, now + 1);
    if (random.one_in(6))
      add(problem, width / 2 * random.between(1, 3), now, now + random.between(30, longest));
    if (random.one_in(40)) width = 49152 * random.between(1, 6);
  }
  problem.buffers.resize(size_t(buffers));
  return problem;
}

// A rectangle of the packing: times [begin, end), bytes [low, high).
// Somewhere in the middle of [low, high), which has room for it.
int64_t cut(Dice& random, int64_t low, int64_t high) {
  const int64_t margin = std::max<int64_t>(1, (high - low) / 5);
  return random.between(low + margin, high - margin);
}

// Replaces the largest tile by what `divide` makes of it until there are as many as asked for.
template <class Divide>
Problem tiling(int buffers, uint64_t seed, int more, Divide divide) {
  Dice random{std::mt19937_64(seed)};
  std::priority_queue<Tile> tiles;
  const int64_t side = int64_t(std::sqrt(double(buffers))) * 1'000'000;
  tiles.push({0, side, 0, side * 16});
  while (int(tiles.size()) + more <= buffers) {
    const Tile tile = tiles.top();
    tiles.pop();
    for (const Tile& part : divide(random, tile)) tiles.push(part);
  }
  Problem problem = one_pool();
  for (; !tiles.empty(); tiles.pop()) {
    const Tile& tile = tiles.top();
    add(problem, tile.high - tile.low, tile.begin, tile.end);
  }
  shuffle(problem.buffers, random);
  return problem;
}

// Powers of 1.25 for sizes, each as likely, and lives of every length.
Problem geometric(int buffers, uint64_t seed) {
  Dice random{std::mt19937_64(seed)};
  Problem problem = one_pool();
  for (int i = 0; i < buffers; ++i) {
    const int64_t begin = random.below(buffers);
    const auto size = int64_t(64 * std::pow(1.25, double(random.below(60))));
    add(problem, size, begin, begin + random.power_law(1, std::max(2, buffers / 4), 5));
  }
  return problem;
}

// Many buffers, few lives.
Problem equal_lives(int buffers, uint64_t seed) {
  Dice random{std::mt19937_64(seed)};
  Problem problem = one_pool();
  std::vector<std::pair<int64_t, int64_t>> lives;
  for (int i = 0; i < 50; ++i) {
    const int64_t begin = random.below(200);
    lives.push_back({begin, begin + random.between(1, 60)});
  }
  for (int i = 0; i < buffers; ++i) {
    const auto [begin, end] = lives[size_t(random.below(int64_t(lives.size())))];
    add(problem, random.power_law(16, 1 << 20, 4), begin, end);
  }
  return problem;
}

// Large ones that live for a moment, and small ones that live long.
Problem tall_and_flat(int buffers, uint64_t seed) {
  Dice random{std::mt19937_64(seed)};
  Problem problem = one_pool();
  for (int i = 0; i < buffers; ++i) {
    const int64_t begin = random.below(buffers);
    if (random.one_in(2))
      add(problem, random.between(1 << 16, 1 << 20), begin, begin + random.between(1, 8));
    else
      add(problem, random.between(1, 1 << 10), begin, begin + random.between(1, std::max(2, buffers / 5)));
  }
  return problem;
}

// Guillotine cuts. The load, at every time, is the optimum.
Problem perfect(int buffers, uint64_t seed) {
  return tiling(buffers, seed, 1, [](Dice& random, const Tile& t) {
    const bool across = (t.end - t.begin) * 16 > t.high - t.low;
    if (across != random.one_in(4) && t.end - t.begin > 4) {
      const int64_t x = cut(random, t.begin, t.end);
      return std::vector<Tile>{{t.begin, x, t.low, t.high}, {x, t.end, t.low, t.high}};
    }
    const int64_t y = cut(random, t.low, t.high);
    return std::vector<Tile>{{t.begin, t.end, t.low, y}, {t.begin, t.end, y, t.high}};
  });
}

// Each tile becomes four around a fifth, either way round; no straight cut separates them.
Problem pinwheel(int buffers, uint64_t seed) {
  return tiling(buffers, seed, 4, [](Dice& random, const Tile& t) {
    const int64_t x = (t.end - t.begin) / 3, y = (t.high - t.low) / 3;
    const int64_t x1 = t.begin + random.between(x / 2, x), x2 = t.end - random.between(x / 2, x);
    const int64_t y1 = t.low + random.between(y / 2, y), y2 = t.high - random.between(y / 2, y);
    if (random.one_in(2)) return around_a_fifth(t, {x1, x2, y1, y2});
    return std::vector<Tile>{{t.begin, x1, t.low, y2},
                             {x1, t.end, t.low, y1},
                             {x2, t.end, y1, t.high},
                             {t.begin, x2, y2, t.high},
                             {x1, x2, y1, y2}};
  });
}

// A perfect packing after each size has become smaller by up to 3 %.
Problem shrunk(int buffers, uint64_t seed) {
  Problem problem = perfect(buffers, seed);
  Dice random{std::mt19937_64(seed + 1)};
  for (Buffer& b : problem.buffers) b.size -= b.size * random.below(30) / 1000;
  return problem;
}

// A perfect packing of which one buffer in twenty is gone.
Problem holed(int buffers, uint64_t seed) { return with_gaps(perfect(buffers, seed), seed + 1); }

// Three in four at random; the others, too, where the load lets them lie below the peak of those. So it is
// nearly the peak all the time, and no packing is known.
Problem dense(int buffers, uint64_t seed) {
  constexpr int kTries = 5000;
  Dice random{std::mt19937_64(seed)};
  Problem problem = one_pool();
  const int64_t times = std::max(4, buffers / 2), longest = std::min<int64_t>(times * 2 / 5, 200);
  std::vector<int64_t> load(size_t(times), 0);
  int64_t peak = 0;
  for (int tries = 0; tries < kTries && int(problem.buffers.size()) < buffers; ++tries) {
    const int64_t first = random.between(1 - longest, times - 1), size = random.between(1, 100);
    const int64_t begin = std::max<int64_t>(first, 0),
                  end = std::min(times, first + random.between(1, longest));
    if (begin >= end) continue;
    const auto from = load.begin() + begin, to = load.begin() + end;
    const bool is_free = int(problem.buffers.size()) < buffers * 3 / 4;
    if (!is_free && *std::max_element(from, to) + size > peak) continue;
    std::for_each(from, to, [&](int64_t& bytes) { peak = std::max(peak, bytes += size); });
    add(problem, size, begin, end);
    tries = 0;
  }
  return problem;
}

}  // namespace

const std::vector<ProblemFamily> kProblemFamilies = {
    {"uniform", "sizes up to 1000, lives up to 400 of 2n times", uniform_short},
    {"uniform_long", "sizes up to 1000, lives up to a tenth of all time", uniform_long},
    {"power_law", "sizes and lives of which each doubling is half as likely", power_law},
    {"malloc_like", "classes of sizes, most lives short, the others end in phases", malloc_like},
    {"training", "forward and backward pass of a network", training},
    {"transformer", "what a framework allocates while it trains a transformer", transformer_training},
    {"inference", "a compiled network: short temporaries, residuals, a few that wait for the end", inference},
    {"geometric", "sizes from 64 bytes to 40 MB, each magnitude as likely", geometric},
    {"equal_lives", "fifty lives, each of many buffers", equal_lives},
    {"tall_and_flat", "large and short-lived, or small and long-lived", tall_and_flat},
    {"perfect", "a rectangle in guillotine cuts: the optimum is the load", perfect},
    {"pinwheel", "a rectangle in nested pinwheels: the optimum is the load", pinwheel},
    {"shrunk", "perfect, each size smaller by up to 3 %", shrunk},
    {"holed", "perfect, one buffer in twenty gone", holed},
    {"dense", "sizes up to 100, the load nearly the same at all times", dense},
    {"hopper", "cut and turned in coarse times and sizes: the optimum is the load", hopper},
    {"burke", "any piece cut anywhere, in coarse times and sizes: the optimum is the load", burke},
    {"hopper_holed", "hopper, one buffer in twenty gone", hopper_holed},
};

}  // namespace arenac
