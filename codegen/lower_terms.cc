#include "codegen/lower_terms.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/instructions.h"
#include "frontend/error.h"
#include "frontend/interpret.h"
#include "scheduler/pack_constants.h"

namespace arenac {
namespace {

bool has(const Expr& e, Op op) {
  return any_of(e, [&](const Expr& x) { return x->op == op; });
}
// What can be worked out ahead of a sum.
bool reads_apart(const Expr& e) { return has(e, Op::kRead) && !has(e, Op::kAcc); }

// The expression where axis a is so much further on.
Expr further_along(const Expr& e, int a, const Expr& by) {
  return substitute(e, [&](const Expr& x) { return x->op == Op::kAxis && x->index == a ? x + by : Expr(); });
}

// A conversion of halves is one instruction for 8 or 16 of them; scalar ones take as long each. Below 8 there
// is no vector that is full.
constexpr int64_t kHalves = 16;      // converted at once
constexpr int64_t kLeastHalves = 8;  // that are worth it

// A half as a float, of those that lie side by side along axis a, the same for all lanes.
bool is_half_along(const Expr& e, int a) {
  if (e->op != Op::kCast || e->type != Type::kFloat32 || e->args[0]->op != Op::kRead) return false;
  const Expr& read = e->args[0];
  if (read->type != Type::kFloat16 || read->index >= kResult || names_axis(read, kLane)) return false;
  const auto form = affine_form(read->args[0]);
  return form && form->coefficient(a) == 1;
}

// Halves side by side that pixels of a tile read: register `reg` holds so many as floats, from `first` on.
// Windows that meet are one, so that what neighbouring pixels share is converted once:
//
//   pixel 0   h0 h1 h2 .. h15
//   pixel 1      h1 h2 .. h15 h16           one window of 17, at distances 0 and 1
struct HalfWindow {
  Expr first;
  Affine start;
  int64_t count;
  int reg;

  // How far behind the first one begins that this holds or can grow to hold.
  std::optional<int64_t> distance(const Affine& other) const {
    const int64_t apart = other.constant - start.constant;
    return other.terms == start.terms && 0 <= apart && apart <= count ? std::optional(apart) : std::nullopt;
  }
};

// Those of the bodies, one a pixel, of which each reads `block` along axis a.
std::vector<HalfWindow> half_windows(const std::vector<Expr>& bodies, int a, int64_t block) {
  std::vector<HalfWindow> all;
  for (const Expr& body : bodies)
    any_of(body, [&](const Expr& e) {
      if (!is_half_along(e, a)) return false;
      const Affine start = *affine_form(e->args[0]->args[0]);
      for (HalfWindow& known : all)
        if (const auto distance = known.distance(start);
            distance && known.first->args[0]->index == e->args[0]->index) {
          known.count = std::max(known.count, *distance + block);
          return false;
        }
      all.push_back({e, start, block, -1});
      return false;
    });
  return all;
}

// Calls `visit` with the largest parts of e that are wanted and are not done. The branches of a selection may
// not be evaluated early.
template <typename Wanted, typename Visit>
void each_largest(const Expr& e, const Exchange& done, const Wanted& wanted, const Visit& visit) {
  if (std::any_of(done.begin(), done.end(), [&](const auto& known) { return same(known.first, e); })) return;
  if (wanted(e)) return visit(e);
  if (e->op == Op::kSelect || e->op == Op::kRead) return;
  for (const Expr& arg : e->args) each_largest(arg, done, wanted, visit);
}

const char* letters_of(const ByteFactor& factor) { return factor.read->type == Type::kInt8 ? "s8" : "u8"; }

// The ways to add terms, of which add_term() and add_terms_along() below choose.
class TermLowering {
 public:
  TermLowering(const ScheduledNest& nest, StmtBuilder& at) : on_(nest), at_(at) {}

  // What one term makes of an accumulator.
  Expr with_term(const Expr& term) const {
    return make(op_of(on_.nest.combine), {accumulator(on_.type), term});
  }

  // One point of the reduced axes, as what it makes of the accumulator: what does not depend on the lane is
  // computed once before the lane loop, what does not depend on the pixel once in it.
  //
  // gcc does not vectorise the loop that a barrier is in, only the loops within: over the lanes. Without it
  // gcc 12.2 unrolls those at -O3 and vectorises the loop around them with the sums of all lanes and pixels
  // at once; then it adds to the wrong ones (depthwise int8 with -mavx2) or, in
  //
  //   for (int j = 0; j < 3; ++j)
  //     for (int i = 0; i < 4; ++i) a += x[i] * w[19 * j + 3 - i];
  //
  // goes on from the sum that was last in the source although it walks w upwards (right with
  // -fno-tree-loop-vectorize, and in clang).
  void accumulate(const Sums& sums, const Expr& sum_and_term) {
    accumulate(sums, at_pixels(sums, sum_and_term));
  }
  void accumulate(const Sums& sums, const std::vector<Expr>& bodies) {
    const int lanes = sums.lanes;
    const int64_t tile = sums.pixels.end - sums.pixels.begin;
    if (lanes > 1 || tile > 1 || on_.walks_backwards()) at_.put(Barrier{Barrier::Against::kVectors});
    Exchange ahead;
    const Stmts in_lane = lifted(bodies, lanes, ahead);
    at_.lanes(lanes, [&] {
      at_.put_all(in_lane);
      for (int64_t j = 0; j < tile; ++j) {
        const Expr sum = at_.at(sums.reg(sums.pixels.begin + j));
        at_.put(Set{sum, finished(replaced(bodies[static_cast<size_t>(j)], ahead), sum)});
      }
    });
  }

  // The terms along axis a, kBytes at once: two multiplications for four products (SMLAD of even and of odd
  // bytes). Of a tile half by half: not all of both fits the registers.
  //
  //   even x, even w -> acc of all lanes and pixels; odd x, odd w -> acc        in 14 registers
  void add_along(int a, const Sums& sums, const Expr& term) {
    const auto factors = *byte_factors(term);
    const auto add = [&](const char* half, const Expr& sum) {
      return instruction("add_products", {half_of(half, factors[0]), half_of(half, factors[1]), sum});
    };
    const bool is_tile = sums.lanes > 1 && sums.registers.size() > 1;
    if (!is_tile || on_.plan.tile_axis == on_.plan.vector_axis)
      return blocks_along(a, sums, term,
                          [&] { accumulate(sums, add("odd", add("even", accumulator(on_.type)))); });
    blocks_along(a, sums, term, [&] {
      for (const char* half : {"even", "odd"})
        at_.put(Braces{at_.body_of([&] {
          at_.put(Barrier{Barrier::Against::kEarlyLoads});
          accumulate(sums, add(half, accumulator(on_.type)));
        })});
    });
  }

  // The same for each of kBytes pixels: of two rows of one factor, which lies side by side along the pixels,
  // their halves make a pair for each pixel. For channels-first images, where a pixel's channels are far
  // apart:
  //
  //   row k       p0 p1 p2 p3 ->  even: p0 | p2, odd: p1 | p3      one load brings four pixels
  //   row k + 2   q0 q1 q2 q3 ->  even: q0 | q2, odd: q1 | q3
  //   join_low(even, even)        p0 | q0     times w[k] | w[k + 2] for pixel 0; join_high for pixel 2
  //
  // so that weights, side by side along k, are extended as ever: even ones with rows k and k + 2, odd ones
  // with k + 1 and k + 3.
  void add_along_of_pixels(int a, const Sums& sums, const Expr& term) {
    if (sums.pixels.end - sums.pixels.begin != kBytes)
      return at_.loop(a, integer(0), integer(on_.extent(a)), 1, [&] { accumulate(sums, with_term(term)); });
    const auto factors = *byte_factors(term);
    const bool first = names_axis(factors[0].read, on_.plan.tile_axis);
    const ByteFactor &pixels = factors[first ? 0 : 1], &lanes = factors[first ? 1 : 0];
    const auto row_half = [&](const char* half, int row) {
      const Expr read = further_along(pixels.read, a, integer(row));
      return at_.define(fmt::format("{}{}", half, row), half_of(half, {read, pixels.zero}));
    };
    blocks_along(a, sums, term, [&] {
      for (const int row : {0, 1}) {
        Expr weights;
        at_.lanes(sums.lanes, [&] {
          const ByteFactor at_lane = {on_.at_point(lanes.read, 0, sums.lanes), lanes.zero};
          weights = at_.define(fmt::format("w{}", row), half_of(row ? "odd" : "even", at_lane));
        });
        for (const int j : {0, 1}) {
          const char* half = j ? "odd" : "even";
          at_.put(Barrier{Barrier::Against::kEarlyLoads});
          const Expr here = row_half(half, row), next = row_half(half, row + 2);
          const auto add = [&](int pixel, const char* join) {
            const Expr pair =
                at_.define(fmt::format("pixel{}_{}", pixel, row), instruction(join, {here, next}));
            const Expr sum = at_.at(sums.reg(sums.pixels.begin + pixel));
            at_.lanes(sums.lanes, [&] {
              at_.put(Set{sum, instruction("add_products", {pair, weights, sum})});
            });
          };
          add(j, "join_low");
          add(j + 2, "join_high");
        }
      }
    });
  }

  // The same for the lanes of vectors, which hold a word of kBytes of the one factor each, times a word of
  // the other for all. Words hold this from 0 to 255, or of signed lanes from -128 to 127; what that and its
  // zero add is the sum of the lanes' factor times a constant.
  //
  //   sum (x + z) * w = sum (x + 128) * w + (z - 128) * sum w       of an int8 x: x + 128 is in [0, 255]
  //
  // The sum of w, `total`, is found by the same instruction with a word of ones, beside the products, once
  // for all pixels that read the same w.
  void add_along_of_lanes(int a, const Sums& sums, const Expr& term) {
    const auto factors = *byte_factors(term);
    const bool first = names_axis(factors[0].read, on_.plan.vector_axis);
    const ByteFactor &lanes = factors[first ? 0 : 1], &pixels = factors[first ? 1 : 0];
    const bool is_signed = pixels.read->type == Type::kInt8;
    const bool of_signed = on_.bytes == ByteProducts::kAlongSumOfSignedLanes;
    const int64_t zero = pixels.zero + (of_signed ? (is_signed ? 0 : 128) : (is_signed ? -128 : 0));
    const std::string pixel_word = fmt::format("{}word_{}", of_signed ? "signed_" : "", letters_of(pixels));
    const char* products = of_signed ? "add_signed_products" : "add_byte_products";
    const Expr word = word_of(lanes, a);
    // Pixels of one row mostly read the same weights: a word of lanes is loaded once for each that differs.
    std::vector<Expr> reads, in_words;  // of the lanes' factor that differ
    std::vector<size_t> read_by;
    for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j) {
      const Expr read = on_.at_point(lanes.read, j, sums.lanes);
      const auto at = std::find_if(reads.begin(), reads.end(), [&](const Expr& e) { return same(e, read); });
      read_by.push_back(static_cast<size_t>(at - reads.begin()));
      if (at == reads.end()) reads.push_back(read), in_words.push_back(on_.at_point(word, j, sums.lanes));
    }
    std::vector<int> totals, words;
    for (size_t k = 0; k < reads.size(); ++k)
      totals.push_back(at_.new_register(fmt::format("total{}", k), Type::kInt32, sums.lanes)),
          words.push_back(at_.new_register(fmt::format("words{}", k), Type::kUint32, sums.lanes));
    if (zero != 0) at_.put(Declare{totals, constant(Type::kInt32, Scalar{.i = 0})});
    blocks_along(a, sums, term, [&] {
      at_.put(Barrier{Barrier::Against::kVectors});
      at_.put(Declare{words, {}});
      const auto add_products = [&](int to, const Expr& pixel, size_t k) {
        at_.lanes(sums.lanes, [&] {
          at_.put(Set{at_.at(to), instruction(products, {pixel, at_.at(words[k]), at_.at(to)})});
        });
      };
      for (size_t k = 0; k < reads.size(); ++k) {
        at_.lanes(
            sums.lanes,
            [&] {
              at_.put(Set{at_.at(words[k]), in_words[k]});
            },
            Lanes::Of::kOperands);
        if (zero != 0) add_products(totals[k], constant(Type::kUint32, Scalar{.i = 0x01010101}), k);
      }
      Exchange known;
      for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j) {
        const Expr read = on_.at_point(pixels.read, j, 1);
        if (known.empty() || !same(known.back().first, read))
          known.emplace_back(read, at_.define(fmt::format("pixel{}", j), instruction(pixel_word, {read})));
        add_products(sums.reg(j), known.back().second, read_by[static_cast<size_t>(j - sums.pixels.begin)]);
      }
    });
    // Behind the loop over the terms: once a block.
    if (zero == 0) return;
    at_.lanes(sums.lanes, [&] {
      for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j) {
        const Expr sum = at_.at(sums.reg(j)),
                   total = at_.at(totals[read_by[static_cast<size_t>(j - sums.pixels.begin)]]);
        at_.put(Set{sum, sum + total * constant(Type::kInt32, Scalar{.i = zero})});
      }
    });
  }

  // The same in whole vectors of bytes, 16, 8 or 4 of both factors, which hold them from -128 to 127; what is
  // left of a zero z of one factor adds z times the total of the other:
  //
  //   sum (x + a) * (w + b) = sum x * w + a * sum w + b * sum x + n * a * b
  //
  // A zero of 0 leaves its terms out. zero_of() is the factor's own, and 128 for bytes that were unsigned.
  void add_along_of_vectors(int a, const Sums& sums, const Expr& term) {
    const int64_t rest = vectors_along(a, [&](int width) { add_vector(a, width, sums, term); });
    if (rest < on_.extent(a))
      at_.loop(a, integer(rest), integer(on_.extent(a)), 1, [&] { accumulate(sums, with_term(term)); });
  }

  // Of these what the pixels' zero adds, the same for all pixels: to the one register of `sums`.
  void add_shared_zeros(int a, const Sums& sums) {
    vectors_along(a, [&](int width) {
      each_sum(sums, on_.nest.body, [&](const std::array<ByteFactor, 2>& f, const Expr& sum) {
        const size_t pixels = is_shared(f[0]) ? 1 : 0;
        const ByteFactor &x = f[pixels], &w = f[1 - pixels];
        const Expr total = instruction(fmt::format("total{}_{}", width, letters_of(w)), {w.read, number(0)});
        at_.put(Set{sum, sum + total * number(zero_of(x))});
        if (zero_of(w) != 0) at_.put(Set{sum, sum + number(zero_of(x) * zero_of(w) * width)});
      });
    });
  }

  // Whether one factor is the same for all pixels of a tile, so that the other's zero adds the same to all.
  bool has_shared_zeros() const {
    const auto [a, b] = *byte_factors(on_.nest.body);
    const ByteFactor &w = is_shared(a) ? a : b, &x = is_shared(a) ? b : a;
    return is_shared(a) != is_shared(b) && affine_form(w.read->args[0]) && zero_of(x) != 0;
  }
  // Whether all pixels of a tile have the factor.
  bool is_shared(const ByteFactor& f) const { return !names_axis(f.read, on_.plan.tile_axis); }
  // What is to be added to a factor's bytes of -128 to 127.
  static int64_t zero_of(const ByteFactor& f) { return f.zero + (f.read->type == Type::kInt8 ? 0 : 128); }

  // A term of each of the lanes of vectors.
  void add_across_vectors(const Sums& sums, const Expr& term) {
    for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j) {
      const auto [a, b] = *byte_factors(on_.at_point(term, j, sums.lanes));
      const Expr sum = at_.at(sums.reg(j));
      at_.lanes(sums.lanes, [&] {
        at_.put(Set{sum, instruction(fmt::format("add_product_{}{}", letters_of(a), letters_of(b)),
                                     {a.read, b.read, number(a.zero), number(b.zero), sum})});
      });
    }
  }

  // The same of floats, of which factors are halves side by side along axis a: some are converted at once.
  void add_along_of_halves(int a, const Sums& sums, const Expr& term) {
    const int64_t extent = on_.extent(a), block = std::min(extent, kHalves), whole = extent - extent % block;
    const std::vector<Expr> bodies = at_pixels(sums, with_term(term));
    std::vector<HalfWindow> windows = half_windows(bodies, a, block);
    Declare floats;
    for (HalfWindow& window : windows) {
      window.reg = at_.new_register(fmt::format("float{}", floats.registers.size()), Type::kFloat32,
                                    static_cast<int>(window.count));
      floats.registers.push_back(window.reg);
    }
    // The inner loop runs over floats that are in registers; the outer one converts.
    const Expr k = at_.new_int("k", {0, block});
    const auto here = [&](const Expr& body) {
      const Expr of_floats = substitute(body, [&](const Expr& e) {
        if (!is_half_along(e, a)) return Expr();
        const Affine start = *affine_form(e->args[0]->args[0]);
        for (const HalfWindow& window : windows)
          if (const auto distance = window.distance(start);
              distance && window.first->args[0]->index == e->args[0]->index)
            return at_.at(window.reg, k + integer(*distance));
        return Expr();
      });
      return further_along(of_floats, a, k);
    };
    at_.loop(a, integer(0), integer(whole), block, [&] {
      at_.put(floats);
      for (const HalfWindow& window : windows)
        at_.lanes(
            static_cast<int>(window.count),
            [&] {
              at_.put(Set{at_.at(window.reg), further_along(window.first, a, axis(kLane))});
            },
            Lanes::Of::kOperands);
      std::vector<Expr> of_floats;
      for (const Expr& body : bodies) of_floats.push_back(here(body));
      at_.loop(k->index, integer(0), integer(block), 1, [&] { accumulate(sums, of_floats); });
    });
    if (whole < extent) at_.loop(a, integer(whole), integer(extent), 1, [&] { accumulate(sums, bodies); });
  }

  // Whether that pays.
  bool has_halves_along(int a, const Sums& sums, const Expr& term) const {
    if (sums.lanes == 1 || on_.plan.registers != Registers::kVector) return false;
    const auto windows = half_windows(at_pixels(sums, term), a, std::min(on_.extent(a), kHalves));
    return !windows.empty() && windows[0].count >= kLeastHalves;
  }

  // A term of each of kBytes lanes: even lanes from one half, odd ones from the other. For depthwise
  // convolutions, where each channel has a sum of its own: SMLABB multiplies the low halves of both words,
  // SMLATT the high ones.
  void add_across(const Sums& sums, const Expr& term) {
    Exchange halves;
    const auto once = [&](const Expr& half) {
      for (const auto& [known, there] : halves)
        if (same(known, half)) return there;
      halves.emplace_back(half, at_.define(fmt::format("v{}", halves.size()), half));
      return halves.back().second;
    };
    for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j) {
      const auto factors = *byte_factors(on_.at_point(term, j, 1));
      for (int l = 0; l < kBytes; ++l) {
        const char* half = l % 2 ? "odd" : "even";
        const Expr sum = at_.at(sums.reg(j), integer(l));
        at_.put(
            Set{sum, instruction(l < 2 ? "add_low_product" : "add_high_product",
                                 {once(half_of(half, factors[0])), once(half_of(half, factors[1])), sum})});
      }
    }
  }

 private:
  // How many elements lie from one term's byte to the next.
  static int64_t distance_along(int a, const ByteFactor& f) {
    return coefficient_along(f.read->args[0], a).value();
  }

  // Blocks of 16, 8 and 4 along axis a, as wide as vectors of both factors hold; gives where these end. Bytes
  // that are apart are gathered into lanes of 16 bits or more, of which a vector of 128 bits has 8.
  template <typename Block>
  int64_t vectors_along(int a, const Block& block) {
    const auto factors = *byte_factors(on_.nest.body);
    const int most = distance_along(a, factors[0]) * distance_along(a, factors[1]) == 1 ? 16 : 8;
    int64_t begin = 0;
    for (const int width : {16, 8, 4}) {
      const int64_t end = begin + (on_.extent(a) - begin) / width * width;
      if (width > most || begin == end) continue;
      at_.loop(a, integer(begin), integer(end), width, [&] { block(width); });
      begin = end;
    }
    return begin;
  }

  static Expr number(int64_t x) { return constant(Type::kInt32, Scalar{.i = x}); }

  // Calls visit(factors of the term, its sum) for each pixel and lane.
  template <typename Visit>
  void each_sum(const Sums& sums, const Expr& term, const Visit& visit) {
    for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j)
      for (int l = 0; l < sums.lanes; ++l) {
        const Expr here = substitute(on_.at_point(term, j, sums.lanes), [&](const Expr& x) {
          return x->op == Op::kAxis && x->index == kLane ? integer(l) : Expr();
        });
        visit(*byte_factors(here), sums.lanes > 1 ? at_.at(sums.reg(j), integer(l)) : at_.at(sums.reg(j)));
      }
  }

  // So many terms from where the innermost axis stands on. First all products, then what zeros add: totals
  // are found once for each read, whichever lanes and pixels have it. What pixels share was added before them
  // (shared_zeros()).
  void add_vector(int a, int width, const Sums& sums, const Expr& term) {
    Exchange scaled;  // reads -> their total times the other factor's zero
    const auto scaled_total = [&](const ByteFactor& f, int64_t by) {
      for (const auto& [read, there] : scaled)
        if (same(read, f.read)) return there;
      const Expr total = instruction(fmt::format("total{}_{}", width, letters_of(f)), {f.read, number(0)});
      scaled.emplace_back(f.read, at_.define(fmt::format("total{}", scaled.size()), total * number(by)));
      return scaled.back().second;
    };
    each_sum(sums, term, [&](const std::array<ByteFactor, 2>& f, const Expr& sum) {
      const size_t first = distance_along(a, f[1]) == 1 ? 0 : 1;  // which may be apart
      const ByteFactor &x = f[first], &y = f[1 - first];
      const int64_t apart = distance_along(a, x);
      const std::string name = fmt::format("dot{}_{}{}", width, letters_of(x), letters_of(y));
      at_.put(Set{sum, apart == 1 ? instruction(name, {x.read, y.read, sum})
                                  : instruction("apart_" + name, {x.read, y.read, number(apart), sum})});
    });
    const bool shared[] = {is_shared((*byte_factors(on_.nest.body))[0]),
                           is_shared((*byte_factors(on_.nest.body))[1])};
    each_sum(sums, term, [&](const std::array<ByteFactor, 2>& f, const Expr& sum) {
      const int64_t of_a = zero_of(f[0]), of_b = zero_of(f[1]);
      const bool a_adds = of_a != 0 && !(sums.have_zeros && shared[1]),
                 b_adds = of_b != 0 && !(sums.have_zeros && shared[0]);
      if (a_adds) at_.put(Set{sum, sum + scaled_total(f[1], of_a)});
      if (b_adds) at_.put(Set{sum, sum + scaled_total(f[0], of_b)});
      if (!sums.have_zeros && of_a != 0 && of_b != 0) at_.put(Set{sum, sum + number(of_a * of_b * width)});
    });
  }

  // The expression for each pixel, at the lane that runs.
  std::vector<Expr> at_pixels(const Sums& sums, const Expr& e) const {
    std::vector<Expr> all;
    for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j)
      all.push_back(on_.at_point(e, j, sums.lanes));
    return all;
  }

  // Computes ahead what pixels and lanes share; `ahead` says by which registers, the result for each lane. Of
  // what a selection chooses nothing is computed ahead: a branch may not be evaluated where it is not chosen,
  // and may read beyond the operand there. A single sum shares nothing.
  //
  //   with lanes      before their loop: reads without a lane; values of lanes that are widened, as an array
  //                   in it: reads of each lane that all pixels have
  //   without lanes   before: reads that all pixels have
  Stmts lifted(const std::vector<Expr>& bodies, int lanes, Exchange& ahead) {
    if (has(on_.nest.body, Op::kSelect) || (lanes == 1 && bodies.size() == 1)) return {};
    const auto once = [&](const Expr& e) {
      ahead.emplace_back(e, at_.define(fmt::format("v{}", ahead.size()), replaced(e, ahead)));
    };
    const auto each_lane = [&](const Expr& e) {
      const int reg = at_.new_register(fmt::format("v{}", ahead.size()), e->type, lanes);
      at_.put(Declare{{reg}, {}});
      at_.lanes(
          lanes,
          [&] {
            at_.put(Set{at_.at(reg), replaced(e, ahead)});
          },
          Lanes::Of::kOperands);
      ahead.emplace_back(e, at_.at(reg));
    };
    if (lanes > 1) {
      // Computed once in front of the lanes' loop, as scalars that every lane takes.
      const auto no_lane = [&](const Expr& e) { return reads_apart(e) && !names_axis(e, kLane); };
      for (const Expr& body : bodies) each_largest(body, ahead, no_lane, once);
      // Compilers vectorise the arithmetic only where all elements are of one size.
      for (const Expr& body : bodies) each_largest(body, ahead, widens_read, each_lane);
    }
    if (bodies.size() == 1) return {};
    const auto in_all = [&](const Expr& e) {
      return reads_apart(e) && any_of(bodies[1], [&](const Expr& x) { return same(x, e); });
    };
    Stmts shared = at_.body_of([&] { each_largest(bodies[0], ahead, in_all, once); });
    if (lanes > 1) return shared;
    at_.put_all(std::move(shared));
    return {};
  }

  // A word of kBytes of the factor along axis a, from a multiple of these on. Where the layout has words
  // (Words in schedule.h) that is one load, whose four bytes lie from kBytes times the column on; else they
  // are joined from four places.
  Expr word_of(const ByteFactor& factor, int a) const {
    const Expr& read = factor.read;
    if (on_.nest.words[static_cast<size_t>(read->index)].row > 0) {
      const auto walked = walked_rows(on_.nest, on_.plan, read);
      ARENAC_CHECK(walked, "words lie as they are walked");
      const Expr index = read->args[0] + on_.index_of(walked->column) * integer(kBytes - 1);
      const char* name = read->type == Type::kInt8 ? "signed_word_s8" : "signed_word_u8";
      return instruction(name, {element(read->index, read->type, index)});
    }
    std::vector<Expr> bytes;
    for (int row = 0; row < kBytes; ++row)
      bytes.push_back(cast(Type::kInt32, further_along(factor.read, a, integer(row))) +
                      constant(Type::kInt32, Scalar{.i = factor.zero}));
    return instruction("join_bytes", std::move(bytes));
  }

  // Half of the kBytes elements from the factor's on.
  static Expr half_of(const char* half, const ByteFactor& factor) {
    return instruction(fmt::format("{}_{}", half, letters_of(factor)),
                       {factor.read, constant(Type::kInt32, Scalar{.i = factor.zero})});
  }

  // The terms along axis a: those of whole blocks of kBytes by `add`, what is left one by one.
  template <typename Add>
  void blocks_along(int a, const Sums& sums, const Expr& term, const Add& add) {
    const int64_t extent = on_.extent(a), whole = extent - extent % kBytes;
    at_.loop(a, integer(0), integer(whole), kBytes, add);
    if (whole < extent)
      at_.loop(a, integer(whole), integer(extent), 1, [&] { accumulate(sums, with_term(term)); });
  }

  const ScheduledNest& on_;
  StmtBuilder& at_;
};

}  // namespace

// Products of bytes by the plan's instructions where the block has the form that they want; a last block of
// fewer lanes goes the general way.
void add_term(const ScheduledNest& nest, StmtBuilder& at, const Sums& sums, const Expr& term) {
  TermLowering lowering(nest, at);
  if (nest.bytes == ByteProducts::kAcrossLanes && nest.plan.registers == Registers::kVector)
    lowering.add_across_vectors(sums, term);
  else if (nest.bytes == ByteProducts::kAcrossLanes && sums.lanes == kBytes)
    lowering.add_across(sums, term);
  else
    lowering.accumulate(sums, lowering.with_term(term));
}

bool has_terms_along(const ScheduledNest& nest, StmtBuilder& at, int a, const Sums& sums, const Expr& term) {
  return is_along_sum(nest.bytes) || TermLowering(nest, at).has_halves_along(a, sums, term);
}

void add_terms_along(const ScheduledNest& nest, StmtBuilder& at, int a, const Sums& sums, const Expr& term) {
  TermLowering lowering(nest, at);
  if (!is_along_sum(nest.bytes))
    lowering.add_along_of_halves(a, sums, term);
  else if (nest.bytes == ByteProducts::kAlongSumOfPixels)
    lowering.add_along_of_pixels(a, sums, term);
  else if (is_along_sum_of_lanes(nest.bytes))
    lowering.add_along_of_lanes(a, sums, term);
  else if (nest.bytes == ByteProducts::kAlongSumOfVectors)
    lowering.add_along_of_vectors(a, sums, term);
  else
    lowering.add_along(a, sums, term);
}

bool has_shared_zeros(const ScheduledNest& nest, StmtBuilder& at) {
  // Without a tile there are no pixels to share anything.
  if (nest.bytes != ByteProducts::kAlongSumOfVectors || nest.plan.tile_axis < 0) return false;
  return TermLowering(nest, at).has_shared_zeros();
}

void add_shared_zeros(const ScheduledNest& nest, StmtBuilder& at, int a, const Sums& sums) {
  TermLowering(nest, at).add_shared_zeros(a, sums);
}

}  // namespace arenac
