// Recurrent layers: RNN, GRU and LSTM. A direction is one loop over time:
//
//   h = initial_h
//   for t:  p = x[t] W + Wb + Rb        all gates side by side: [batch, gates * hidden]
//           g = h R + p
//           h = cell(g, h);  y[t] = h
//
// x[t] is read and y[t] written in place, through the iteration number; the states are assigned at the end.
// In com.microsoft.DynamicQuantizeLSTM, x and h are what they are as bytes whose scale their extremes give.
//
// Operands, by their numbers, of D directions and G gates (1, 3, 4):
//
//   0 x [time, batch, input]       1 W [D, G * hidden, input]      2 R [D, G * hidden, hidden]
//   3 biases [D, 2 * G * hidden], those of W, then those of R      4 lengths [batch]
//   5 initial h, 6 initial c [D, batch, hidden]                    7 peepholes [D, 3 * hidden]
//
// With layout 1 (opset 14) the batch comes first: x [batch, time, input], states [batch, D, hidden].
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "frontend/activation.h"
#include "frontend/importer.h"
#include "frontend/ops.h"
#include "frontend/quantize.h"

namespace arenac {
namespace {

// As many activations as `defaults` has for each direction, from the attributes or `defaults`.
std::vector<Activation> cell_activations(const Lowering& node, int64_t directions,
                                         const std::vector<std::string>& defaults) {
  std::vector<std::string> names;
  if (node.has("activations")) names = node.attribute("activations").strings;
  if (names.empty())
    for (int64_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  node.require(names.size() == defaults.size() * directions,
               fmt::format("'activations' needs {} names", defaults.size() * directions));
  return activations(node, names, node.floats_attr("activation_alpha"), node.floats_attr("activation_beta"));
}

struct Cell;

// The layer's operands and extents; one direction of it is lowered at a time.
struct Layer {
  Lowering& node;
  const Cell& cell;
  TensorId x, w, r;
  std::optional<TensorId> bias, lengths, initial_h, initial_c, peepholes;
  int64_t directions, time, batch, input, hidden;
  bool batch_first;  // layout 1
  bool quantised;    // x, w and r went through bytes, and h is to
  Type type;         // of x, w, r, the states and the results
};

// The states while a direction runs: h, and the LSTM's c.
struct States {
  TensorId h;
  std::optional<TensorId> c;
};

struct Cell {
  // RNN 1, GRU 3, LSTM 4: also what tells whether there is a c. `step` lowers one iteration at time t and
  // returns the new states, which are not those of `before`.
  int64_t gates;
  std::vector<std::string> activations;
  States (*step)(const Layer& layer, int64_t direction, const std::vector<Activation>& act,
                 const States& before, const Expr& t);
};

// Elements of the operands as the formulas below need them.
Expr read_x(const Layer& l, Formula& f, const Expr& t, const Expr& b, const Expr& k) {
  return f.read(l.x, l.batch_first ? std::vector<Expr>{b, t, k} : std::vector<Expr>{t, b, k});
}

enum class Bias { kInput, kRecurrent };
Expr read_bias(const Layer& l, Formula& f, int64_t direction, Bias which, const Expr& row) {
  const int64_t offset = which == Bias::kInput ? 0 : l.cell.gates * l.hidden;
  return l.bias ? f.read(*l.bias, {integer(direction), row + offset}) : constant(compute_type(l.type), 0.0);
}

// sum(k) x[t, b, k] w[m, k] + biases, for the gates [first, first + count): [batch, count * hidden] of the
// compute type. It does not depend on the state: the scheduler may compute it for all t at once.
TensorId input_part(const Layer& l, int64_t direction, const Expr& t, int64_t first, int64_t count,
                    const std::vector<Bias>& biases) {
  Formula f(l.node);
  const Expr b = f.axis(l.batch), m = f.axis(count * l.hidden), k = f.reduced(l.input);
  const Expr row = m + first * l.hidden;
  f.sum(read_x(l, f, t, b, k) * f.read(l.w, {integer(direction), row, k}));
  if (l.bias) {
    Expr sum = f.acc();
    for (Bias which : biases) sum = sum + read_bias(l, f, direction, which, row);
    f.finish(sum);
  }
  return f.emit(compute_type(l.type));
}

// What is left of x when it is quantised to bytes and back, as DynamicQuantizeLSTM does before each product.
TensorId through_bytes(Lowering& node, TensorId x) {
  return dequantized(node, dynamically_quantized(node, x));
}

// Attribute clip bounds what goes into an activation, not what comes out; 0 or absent: no bound.
Expr clipped(const Layer& l, const Expr& x) {
  const float clip = l.node.float_attr("clip", 0);
  return clip > 0 ? max(min(x, clip), -clip) : x;
}

// sum(k) h[b, k] r[m, k] + more(f, b, m), for the gates [first, first + count).
template <typename More>
TensorId recurrent_part(const Layer& l, int64_t direction, TensorId h, int64_t first, int64_t count,
                        const More& more) {
  if (l.quantised) h = through_bytes(l.node, h);
  Formula f(l.node);
  const Expr b = f.axis(l.batch), m = f.axis(count * l.hidden), k = f.reduced(l.hidden);
  f.sum(f.read(h, {b, k}) * f.read(l.r, {integer(direction), m + first * l.hidden, k}));
  f.finish(more(f, f.acc(), b, m));
  return f.emit(compute_type(l.type));
}

// An elementwise step over [batch, hidden]; past the end of its sequence an item keeps its state. A reversed
// direction begins there, so that an item waits with its initial state until t is below its length.
template <typename Value>
TensorId state_step(const Layer& l, TensorId before, const Expr& t, const Value& value) {
  Formula f(l.node);
  const Expr b = f.axis(l.batch), m = f.axis(l.hidden);
  const Expr next = value(f, b, m);
  f.body(l.lengths ? select(t < cast(Type::kInt64, f.read(*l.lengths, {b})), next, f.read(before, {b, m}))
                   : next);
  return f.emit(l.type);
}

// h' = f(x W + h R + biases)          (Elman, "Finding Structure in Time", 1990)
States rnn_step(const Layer& l, int64_t d, const std::vector<Activation>& act, const States& before,
                const Expr& t) {
  const TensorId p = input_part(l, d, t, 0, 1, {Bias::kInput, Bias::kRecurrent});
  const TensorId g =
      recurrent_part(l, d, before.h, 0, 1, [&](Formula& f, const Expr& acc, const Expr& b, const Expr& m) {
        return acc + f.read(p, {b, m});
      });
  return {state_step(l, before.h, t,
                     [&](Formula& f, const Expr& b, const Expr& m) {
                       return act[0](clipped(l, f.read(g, {b, m})));
                     }),
          {}};
}

// Gates z, r, h. The candidate n reads r * h, before or after the product with R (Cho et al., 2014; the
// latter, linear_before_reset, is cuDNN's and has the bias of R within):
//
//   z, r = f(x W + h R + biases)
//   n    = g(x Wh + (r * h) Rh + Wb + Rb)        or        g(x Wh + Wb + r * (h Rh + Rb))
//   h'   = (1 - z) * n + z * h
States gru_step(const Layer& l, int64_t d, const std::vector<Activation>& act, const States& before,
                const Expr& t) {
  const bool after = l.node.int_attr("linear_before_reset", 0) != 0;
  const TensorId zr_in = input_part(l, d, t, 0, 2, {Bias::kInput, Bias::kRecurrent});
  const TensorId zr =
      recurrent_part(l, d, before.h, 0, 2, [&](Formula& f, const Expr& acc, const Expr& b, const Expr& m) {
        return act[0](clipped(l, acc + f.read(zr_in, {b, m})));
      });
  const auto reset = [&](Formula& f, const Expr& b, const Expr& m) { return f.read(zr, {b, m + l.hidden}); };
  const TensorId n_in = input_part(
      l, d, t, 2, 1, after ? std::vector{Bias::kInput} : std::vector{Bias::kInput, Bias::kRecurrent});
  TensorId n;
  if (after) {
    n = recurrent_part(l, d, before.h, 2, 1, [&](Formula& f, const Expr& acc, const Expr& b, const Expr& m) {
      const Expr product = l.bias ? acc + read_bias(l, f, d, Bias::kRecurrent, m + 2 * l.hidden) : acc;
      return act[1](clipped(l, f.read(n_in, {b, m}) + reset(f, b, m) * product));
    });
  } else {
    Formula f(l.node);
    const Expr b = f.axis(l.batch), m = f.axis(l.hidden);
    f.body(reset(f, b, m) * f.read(before.h, {b, m}));
    const TensorId kept = f.emit(compute_type(l.type));
    n = recurrent_part(l, d, kept, 2, 1, [&](Formula& f, const Expr& acc, const Expr& b, const Expr& m) {
      return act[1](clipped(l, acc + f.read(n_in, {b, m})));
    });
  }
  return {state_step(l, before.h, t,
                     [&](Formula& f, const Expr& b, const Expr& m) {
                       const Expr z = f.read(zr, {b, m});
                       return (1 - z) * f.read(n, {b, m}) + z * f.read(before.h, {b, m});
                     }),
          {}};
}

// Gates i, o, f, c; peepholes i, o, f, by which gates see c (Hochreiter and Schmidhuber, 1997; Gers et al.,
// 2002):
//
//   i, f = s(x W + h R + biases + P * c)         with input_forget  f = 1 - i
//   c'   = f * c + i * g(x Wc + h Rc + biases)
//   o    = s(x Wo + h Ro + biases + P * c')      the new one
//   h'   = o * h(c')
States lstm_step(const Layer& l, int64_t d, const std::vector<Activation>& act, const States& before,
                 const Expr& t) {
  const TensorId p = input_part(l, d, t, 0, 4, {Bias::kInput, Bias::kRecurrent});
  const TensorId g =
      recurrent_part(l, d, before.h, 0, 4, [&](Formula& f, const Expr& acc, const Expr& b, const Expr& m) {
        return acc + f.read(p, {b, m});
      });
  enum Gate { kI, kO, kF, kC };
  const auto gate = [&](Formula& f, Gate which, TensorId c, const Expr& b, const Expr& m) {
    const Expr value = f.read(g, {b, m + int64_t{which} * l.hidden});
    if (!l.peepholes || which == kC) return clipped(l, value);
    return clipped(
        l, value + f.read(c, {b, m}) * f.read(*l.peepholes, {integer(d), m + int64_t{which} * l.hidden}));
  };
  const TensorId c = state_step(l, *before.c, t, [&](Formula& f, const Expr& b, const Expr& m) {
    const Expr in = act[0](gate(f, kI, *before.c, b, m));
    const Expr forget = l.node.int_attr("input_forget", 0) ? 1 - in : act[0](gate(f, kF, *before.c, b, m));
    return forget * f.read(*before.c, {b, m}) + in * act[1](gate(f, kC, *before.c, b, m));
  });
  const TensorId h = state_step(l, before.h, t, [&](Formula& f, const Expr& b, const Expr& m) {
    return act[0](gate(f, kO, c, b, m)) * act[2](f.read(c, {b, m}));
  });
  return {h, c};
}

const Cell& cell_of(const std::string& op) {
  static const Cell rnn{1, {"Tanh"}, rnn_step}, gru{3, {"Sigmoid", "Tanh"}, gru_step},
      lstm{4, {"Sigmoid", "Tanh", "Tanh"}, lstm_step};
  return op == "RNN" ? rnn : op == "GRU" ? gru : lstm;
}

// One direction's slice of an initial state, [directions, batch, hidden] or batch first; zeros when absent.
TensorId initial_state(const Layer& l, const std::optional<TensorId>& from, int64_t direction) {
  Formula f(l.node);
  const Expr b = f.axis(l.batch), m = f.axis(l.hidden), d = integer(direction);
  f.body(!from ? constant(compute_type(l.type), 0.0)
               : f.read(*from, l.batch_first ? std::vector<Expr>{b, d, m} : std::vector<Expr>{d, b, m}));
  return f.emit(l.type);
}

// What a direction leaves: y is [time, batch, hidden], unless nobody wants it. The last states are those
// after the last iteration: of a reversed direction that of time 0.
struct Outcome {
  std::optional<TensorId> y;
  States last;
};

// y[at] = h, where the item's sequence goes on; 0 after its end.
Nests store_y(const Layer& l, const Expr& t) {
  Nest nest = copy_nest(l.type, {l.batch, l.hidden});
  if (l.lengths) {
    const Expr length = cast(Type::kInt64, read(1, l.node.type(*l.lengths), {axis(0)}));
    nest.body = select(t < length, nest.body, constant(nest.body->type, 0.0));
  }
  nest.store.insert(nest.store.begin(), t);
  return {nest};
}

// A sequence of one moment needs no loop; its states are not carried anywhere. In the loop, reads of the old
// states come before the assignments at its end, so h and c need no second copies here.
Outcome run_direction(const Layer& l, int64_t direction, bool reversed, const std::vector<Activation>& act) {
  Importer& importer = l.node.importer();
  const std::string& origin = l.node.onnx_node().origin;
  const auto state = [&] { return importer.add_tensor(origin, l.type, {l.batch, l.hidden}); };
  const auto step = [&](const States& before, const Expr& t) {
    return l.cell.step(l, direction, act, before, reversed ? l.time - 1 - t : t);
  };
  Outcome all{{}, {initial_state(l, l.initial_h, direction), {}}};
  if (l.cell.gates == 4) all.last.c = initial_state(l, l.initial_c, direction);
  if (l.node.wants(0)) all.y = importer.add_tensor(origin, l.type, {l.time, l.batch, l.hidden});
  std::vector<TensorId> y_reads = {kAbsent};
  if (l.lengths) y_reads.push_back(*l.lengths);
  const auto emit_y = [&](TensorId h, const Expr& t) {
    if (!all.y) return;
    y_reads[0] = h;
    importer.add_node({origin, l.node.op(), y_reads, {*all.y}, store_y(l, reversed ? l.time - 1 - t : t)});
  };
  if (l.time == 1) {
    all.last = step(all.last, integer(0));
    emit_y(all.last.h, integer(0));
    return all;
  }
  const States carried{state(), all.last.c ? std::optional(state()) : std::nullopt};
  importer.assign(carried.h, all.last.h, origin);
  if (carried.c) importer.assign(*carried.c, *all.last.c, origin);
  const int symbol = importer.new_symbol();
  const Expr t = iteration(symbol, l.time);
  Block body = importer.in_block([&] {
    const States next = step(carried, t);
    emit_y(next.h, t);
    importer.assign(carried.h, next.h, origin);
    if (carried.c) importer.assign(*carried.c, *next.c, origin);
  });
  importer.add_node({origin, l.node.op(), {}, {}, Loop{symbol, l.time, {}, {}, std::move(body)}});
  all.last = carried;
  return all;
}

// The directions' results side by side, as the standard orders them:
//
//   layout 0:  y [time, D, batch, hidden],  states [D, batch, hidden]
//   layout 1:  y [batch, time, D, hidden],  states [batch, D, hidden]
//
// A part of rank 3 is a y, one of rank 2 a state. One nest a direction.
TensorId gathered(const Layer& l, const std::vector<TensorId>& parts) {
  const bool in_time = l.node.rank(parts[0]) == 3;
  Formula f(l.node);
  for (size_t d = 0; d < parts.size(); ++d) {
    if (d > 0) f.next_nest();
    std::vector<Expr> in;
    if (in_time) in.push_back(f.axis(l.time));
    const Expr b = f.axis(l.batch), m = f.axis(l.hidden), direction = integer(static_cast<int64_t>(d));
    in.insert(in.end(), {b, m});
    std::vector<Expr> out = l.batch_first ? std::vector{b} : std::vector<Expr>{};
    if (in_time) out.push_back(in[0]);
    out.push_back(direction);
    if (!l.batch_first) out.push_back(b);
    out.push_back(m);
    f.body(f.read(parts[d], std::move(in)));
    f.store(std::move(out));
  }
  Shape shape = l.batch_first ? Shape{l.batch} : Shape{};
  if (in_time) shape.push_back(l.time);
  shape.push_back(l.directions);
  if (!l.batch_first) shape.push_back(l.batch);
  shape.push_back(l.hidden);
  return f.emit(l.type, std::move(shape));
}

void require_like(const Lowering& node, TensorId id, int k, Type type, const Shape& shape) {
  node.require(node.shape(id) == shape && node.type(id) == type,
               fmt::format("input {} must be {} {}", k, info(type).name, to_string(shape)));
}

// Optional input k; of another type or shape it fails.
std::optional<TensorId> operand(const Lowering& node, int k, Type type, const Shape& shape) {
  if (!node.has_input(k)) return std::nullopt;
  require_like(node, node.in(k), k, type, shape);
  return node.in(k);
}

// Weights that are integers [directions, in, rows], with a scale and a zero point (inputs `scale` and the
// next) for each direction or each row, as floats [directions, rows, in]: transposed, as the standard's W and
// R are.
TensorId quantised_weights(Lowering& node, int weights, int scale) {
  const Shape w = node.shape(node.in(weights));
  node.require(w.size() == 3, fmt::format("input {} must have rank 3", weights));
  Formula f(node);
  const Expr d = f.axis(w[0]), m = f.axis(w[2]), k = f.axis(w[1]);
  const auto parameter = [&](int input) {
    const Shape shape = node.shape(node.in(input));
    node.require(shape == Shape{w[0]} || shape == Shape{w[0], w[2]},
                 fmt::format("input {} {} does not fit the weights", input, to_string(shape)));
    return f.read(node.in(input), shape.size() == 1 ? std::vector{d} : std::vector{d, m});
  };
  const Expr s = parameter(scale);
  f.body(real(centred(f.read(node.in(weights), {d, k, m}), parameter(scale + 1))) * s);
  return f.emit(Type::kFloat32);
}

Layer layer_of(Lowering& node) {
  const Cell& cell = cell_of(node.op());
  const bool quantised = node.op() == "DynamicQuantizeLSTM";
  Layer l{node, cell, node.in(0), node.in(1), node.in(2), {}, {},    {},        {},
          {},   1,    0,          0,          0,          0,  false, quantised, Type::kFloat32};
  if (quantised) l.w = quantised_weights(node, 1, 8), l.r = quantised_weights(node, 2, 10);
  node.require(node.rank(l.x) == 3, "the input must have rank 3");
  l.batch_first = node.int_attr("layout", 0) != 0;
  const Shape x = node.shape(l.x);
  l.time = x[l.batch_first ? 1 : 0];
  l.batch = x[l.batch_first ? 0 : 1];
  l.input = x[2];
  l.type = node.type(l.x);
  node.require(is_float(l.type), "the input must be floating point");
  if (quantised) l.x = through_bytes(node, l.x);
  node.require(node.rank(l.r) == 3, "the recurrence weights must have rank 3");
  l.hidden = node.shape(l.r)[2];
  const std::string direction = node.string_attr("direction", "forward");
  node.require(direction == "forward" || direction == "reverse" || direction == "bidirectional",
               fmt::format("direction '{}' is unknown", direction));
  l.directions = direction == "bidirectional" ? 2 : 1;
  const int64_t rows = cell.gates * l.hidden;
  require_like(node, l.w, 1, l.type, {l.directions, rows, l.input});
  require_like(node, l.r, 2, l.type, {l.directions, rows, l.hidden});
  node.require(node.int_attr("hidden_size", l.hidden) == l.hidden,
               "'hidden_size' disagrees with the weights");
  l.bias = operand(node, 3, l.type, {l.directions, 2 * rows});
  l.lengths = operand(node, 4, Type::kInt32, {l.batch});
  const Shape states =
      l.batch_first ? Shape{l.batch, l.directions, l.hidden} : Shape{l.directions, l.batch, l.hidden};
  l.initial_h = operand(node, 5, l.type, states);
  if (cell.gates == 4) {
    l.initial_c = operand(node, 6, l.type, states);
    l.peepholes = operand(node, 7, l.type, {l.directions, 3 * l.hidden});
  }
  return l;
}

// Outputs: 0 y, 1 the last h, 2 the last c. "bidirectional" is a forward and a reversed layer of the same
// input.
void recurrent(Lowering& node) {
  const Layer layer = layer_of(node);
  const auto act = cell_activations(node, layer.directions, layer.cell.activations);
  const size_t per_direction = layer.cell.activations.size();
  std::vector<TensorId> y, h, c;
  for (int64_t d = 0; d < layer.directions; ++d) {
    const auto first = act.begin() + static_cast<std::ptrdiff_t>(d * per_direction);
    const bool reversed = d == 1 || node.string_attr("direction", "forward") == "reverse";
    const Outcome one =
        run_direction(layer, d, reversed, {first, first + static_cast<std::ptrdiff_t>(per_direction)});
    if (one.y) y.push_back(*one.y);
    h.push_back(one.last.h);
    if (one.last.c) c.push_back(*one.last.c);
  }
  if (node.wants(0)) node.out(0, gathered(layer, y));
  if (node.wants(1)) node.out(1, gathered(layer, h));
  if (node.wants(2) && !c.empty()) node.out(2, gathered(layer, c));
}

}  // namespace

std::span<const OperatorRow> recurrent_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "GRU", 1, recurrent, 1000, "control"},
      {"", "LSTM", 1, recurrent, 1000, "control"},
      {"", "RNN", 1, recurrent, 1000, "control"},
      {"com.microsoft", "DynamicQuantizeLSTM", 1, recurrent, 1000, "control", "float32"},
  };
  return kRows;
}

}  // namespace arenac
