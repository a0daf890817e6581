// RNN, GRU and LSTM against a plain reference, over random shapes and attributes.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>

#include "frontend/import.h"
#include "frontend/interpret.h"

namespace arenac::recurrent_test {
namespace {

struct Case {
  std::string op;
  int gates, directions;
  bool reverse, batch_first, before_reset, input_forget, bias, lengths, initial, peepholes;
  double clip;
  int64_t time, batch, input, hidden;
};

// [outer][row][column] of a Value of rank 3 or less, the missing axes first.
double at(const Value& v, int64_t i, int64_t j, int64_t k) {
  const int64_t columns = v.shape.back(), rows = v.shape.size() > 1 ? v.shape[v.shape.size() - 2] : 1;
  return load(v, (i * rows + j) * columns + k).f;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Operands {
  Value x, w, r, b, lengths, h, c, p;
};

// What one direction leaves of one item of the batch: h after every step it takes, by time.
struct Run {
  std::vector<std::vector<double>> y;
  std::vector<double> h, c;
};

Run reference(const Case& k, const Operands& o, int d, int64_t n) {
  const int64_t H = k.hidden, length = k.lengths ? load(o.lengths, n).i : k.time;
  const bool reversed = d == 1 || k.reverse;
  const auto state = [&](const Value& v) {
    std::vector<double> s(H);
    for (int64_t m = 0; k.initial && m < H; ++m) s[m] = k.batch_first ? at(v, n, d, m) : at(v, d, n, m);
    return s;
  };
  Run run{std::vector<std::vector<double>>(k.time, std::vector<double>(H)), state(o.h), state(o.c)};
  const auto clip = [&](double v) { return k.clip > 0 ? std::clamp(v, -k.clip, k.clip) : v; };
  for (int64_t s = 0; s < length; ++s) {
    const int64_t t = reversed ? length - 1 - s : s;
    const auto from_x = [&](int64_t row) {
      double sum = k.bias ? at(o.b, 0, d, row) : 0;
      for (int64_t e = 0; e < k.input; ++e)
        sum += (k.batch_first ? at(o.x, n, t, e) : at(o.x, t, n, e)) * at(o.w, d, row, e);
      return sum;
    };
    const auto from_h = [&](int64_t row, const std::vector<double>& h) {
      double sum = k.bias ? at(o.b, 0, d, k.gates * H + row) : 0;
      for (int64_t e = 0; e < H; ++e) sum += h[e] * at(o.r, d, row, e);
      return sum;
    };
    const auto peephole = [&](int64_t gate, int64_t m, double c) {
      return k.peepholes ? at(o.p, 0, d, gate * H + m) * c : 0;
    };
    std::vector<double> h = run.h, c = run.c, reset(H);
    for (int64_t m = 0; k.op == "GRU" && m < H; ++m)
      reset[m] = sigmoid(clip(from_x(H + m) + from_h(H + m, run.h))) * run.h[m];
    for (int64_t m = 0; m < H; ++m) {
      if (k.op == "RNN") h[m] = std::tanh(clip(from_x(m) + from_h(m, run.h)));
      if (k.op == "GRU") {
        const double z = sigmoid(clip(from_x(m) + from_h(m, run.h)));
        const double r = sigmoid(clip(from_x(H + m) + from_h(H + m, run.h)));
        const double n1 = std::tanh(clip(
            from_x(2 * H + m) + (k.before_reset ? r * from_h(2 * H + m, run.h) : from_h(2 * H + m, reset))));
        h[m] = (1 - z) * n1 + z * run.h[m];
      }
      if (k.op == "LSTM") {
        const auto gate = [&](int64_t g) { return from_x(g * H + m) + from_h(g * H + m, run.h); };
        const double i = sigmoid(clip(gate(0) + peephole(0, m, run.c[m])));
        const double f = k.input_forget ? 1 - i : sigmoid(clip(gate(2) + peephole(2, m, run.c[m])));
        c[m] = f * run.c[m] + i * std::tanh(clip(gate(3)));
        h[m] = sigmoid(clip(gate(1) + peephole(1, m, c[m]))) * std::tanh(c[m]);
      }
    }
    run.h = run.y[t] = h;
    run.c = c;
  }
  return run;
}

Value random_floats(Shape shape, std::mt19937& random) {
  Value value(Type::kFloat32, std::move(shape));
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int64_t k = 0; k < value.count(); ++k) store(value, k, {.f = uniform(random)});
  return value;
}

std::string declared(const Value& v, const std::string& name) {
  std::string dims;
  for (int64_t extent : v.shape) dims += fmt::format("{}{}", dims.empty() ? "" : ", ", extent);
  return fmt::format("{}[{}] {}", is_float(v.type) ? "float" : "int32", dims, name);
}

void check(const Case& k, std::mt19937& random) {
  const int64_t rows = k.gates * k.hidden, D = k.directions;
  const Shape states = k.batch_first ? Shape{k.batch, D, k.hidden} : Shape{D, k.batch, k.hidden};
  Operands o{random_floats(k.batch_first ? Shape{k.batch, k.time, k.input} : Shape{k.time, k.batch, k.input},
                           random),
             random_floats({D, rows, k.input}, random),
             random_floats({D, rows, k.hidden}, random),
             random_floats({D, 2 * rows}, random),
             Value(Type::kInt32, {k.batch}),
             random_floats(states, random),
             random_floats(states, random),
             random_floats({D, 3 * k.hidden}, random)};
  for (int64_t n = 0; n < k.batch; ++n)
    store(o.lengths, n, {.i = static_cast<int64_t>(random() % (k.time + 1))});
  std::vector<Value> inputs = {o.x, o.w, o.r};
  std::string names = declared(o.x, "x") + ", " + declared(o.w, "w") + ", " + declared(o.r, "r"),
              call = "x, w, r";
  const auto add = [&](bool given, const Value& v, const std::string& name) {
    call += given ? ", " + name : ", ";
    if (!given) return;
    names += ", " + declared(v, name);
    inputs.push_back(v);
  };
  add(k.bias, o.b, "b");
  add(k.lengths, o.lengths, "lengths");
  add(k.initial, o.h, "h");
  if (k.op == "LSTM") add(k.initial, o.c, "c"), add(k.peepholes, o.p, "p");
  std::string attributes =
      fmt::format("hidden_size = {}, layout = {}, direction = \"{}\"", k.hidden, int{k.batch_first},
                  D == 2      ? "bidirectional"
                  : k.reverse ? "reverse"
                              : "forward");
  if (k.clip > 0) attributes += fmt::format(", clip = {:.1f}", k.clip);
  if (k.op == "GRU") attributes += fmt::format(", linear_before_reset = {}", int{k.before_reset});
  if (k.op == "LSTM") attributes += fmt::format(", input_forget = {}", int{k.input_forget});
  const std::string results = k.op == "LSTM" ? "y, yh, yc" : "y, yh";
  const std::string text = fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 14]> g ({}) => (float[a, b, c, d] y, float[e, f, g] yh{}) {{ {} "
      "= {} <{}> ({}) }}",
      names, k.op == "LSTM" ? ", float[e, f, g] yc" : "", results, k.op, attributes, call);
  SCOPED_TRACE(text);
  const Graph graph = import_text(text);
  const auto values = interpret(graph, inputs);
  const Value &y = *values[graph.outputs[0]], &h = *values[graph.outputs[1]];
  for (int64_t n = 0; n < k.batch; ++n)
    for (int d = 0; d < D; ++d) {
      const Run want = reference(k, o, d, n);
      for (int64_t m = 0; m < k.hidden; ++m) {
        const auto element = [&](const Value& v) { return k.batch_first ? at(v, n, d, m) : at(v, d, n, m); };
        ASSERT_NEAR(element(h), want.h[m], 2e-5);
        if (k.op == "LSTM") {
          ASSERT_NEAR(element(*values[graph.outputs[2]]), want.c[m], 2e-5);
        }
        for (int64_t t = 0; t < k.time; ++t) {
          const double got = k.batch_first ? at(y, n * k.time + t, d, m) : at(y, t * D + d, n, m);
          ASSERT_NEAR(got, want.y[t][m], 2e-5) << "time " << t;
        }
      }
    }
}

TEST(Recurrent, AgreesWithAPlainReference) {
  std::mt19937 random(11);
  const auto flip = [&] { return random() % 2 == 0; };
  const auto small = [&](int64_t most) {
    return static_cast<int64_t>(1 + random() % static_cast<unsigned>(most));
  };
  for (int round = 0; round < 240; ++round) {
    const char* op = std::vector{"RNN", "GRU", "LSTM"}[round % 3];
    const bool both = random() % 3 == 0;
    check({op, 1 + round % 3 + (round % 3 > 0), both ? 2 : 1, !both && flip(), flip(), flip(),
           random() % 4 == 0, flip(), flip(), flip(), flip(), flip() ? 0.5 : 0, small(4), small(3), small(4),
           small(4)},
          random);
    if (HasFatalFailure()) return;
  }
}

struct Function {
  const char* name;
  std::optional<double> alpha, beta;  // defaults of what it takes
  double (*of)(double x, double alpha, double beta);
};
constexpr Function kFunctions[] = {
    {"Affine", 1, 0, [](double x, double a, double b) { return a * x + b; }},
    {"Elu", 1, {}, [](double x, double a, double) { return x < 0 ? a * (std::exp(x) - 1) : x; }},
    {"HardSigmoid", 0.2, 0.5, [](double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); }},
    {"LeakyRelu", 0.01, {}, [](double x, double a, double) { return x < 0 ? a * x : x; }},
    {"Relu", {}, {}, [](double x, double, double) { return std::max(x, 0.0); }},
    {"ScaledTanh", 1, 1, [](double x, double a, double b) { return a * std::tanh(b * x); }},
    {"Sigmoid", {}, {}, [](double x, double, double) { return sigmoid(x); }},
    {"Softplus", {}, {}, [](double x, double, double) { return std::log(1 + std::exp(x)); }},
    {"Softsign", {}, {}, [](double x, double, double) { return x / (1 + std::abs(x)); }},
    {"Tanh", {}, {}, [](double x, double, double) { return std::tanh(x); }},
    {"ThresholdedRelu", 1, {}, [](double x, double a, double) { return x > a ? x : 0; }},
};

// A layer of one step and one cell is its function; of two directions, with the numbers that are given, some
// of which may be missing at the end.
TEST(Recurrent, NumbersBelongInOrderToTheFunctionsThatTakeOne) {
  std::mt19937 random(13);
  for (int round = 0; round < 300; ++round) {
    const Function* f[] = {&kFunctions[random() % std::size(kFunctions)],
                           &kFunctions[random() % std::size(kFunctions)]};
    std::vector<float> alphas(random() % 3), betas(random() % 3);
    for (float& v : alphas) v = static_cast<float>(random() % 16) / 8;
    for (float& v : betas) v = static_cast<float>(random() % 16) / 8;
    std::string attributes;
    if (!alphas.empty()) attributes += fmt::format(", activation_alpha = [{:.3f}]", fmt::join(alphas, ", "));
    if (!betas.empty()) attributes += fmt::format(", activation_beta = [{:.3f}]", fmt::join(betas, ", "));
    const std::string text = fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 14]> g (float[1, 4, 1] x, float[2, 1, 1] w, float[2, 1, 1] r)"
        " => (float[1, 2, 4, 1] y) {{ y = RNN <hidden_size = 1, direction = \"bidirectional\", activations = "
        "[\"{}\", \"{}\"]{}> (x, w, r) }}",
        f[0]->name, f[1]->name, attributes);
    SCOPED_TRACE(text);
    Value x(Type::kFloat32, {1, 4, 1}), w(Type::kFloat32, {2, 1, 1});
    const double samples[] = {-2.5, -0.25, 0.75, 1.75};
    for (int64_t k = 0; k < 4; ++k) store(x, k, {.f = samples[k]});
    for (int64_t k = 0; k < 2; ++k) store(w, k, {.f = 1});
    const Graph graph = import_text(text);
    const Value y = *interpret(graph, {x, w, w})[graph.outputs[0]];
    size_t alpha = 0, beta = 0;
    for (int64_t d = 0; d < 2; ++d) {
      double a = f[d]->alpha.value_or(0), b = f[d]->beta.value_or(0);
      if (f[d]->alpha && alpha++ < alphas.size()) a = alphas[alpha - 1];
      if (f[d]->beta && beta++ < betas.size()) b = betas[beta - 1];
      for (int64_t k = 0; k < 4; ++k)
        ASSERT_NEAR(load(y, d * 4 + k).f, f[d]->of(samples[k], a, b), 1e-5) << "direction " << d;
    }
  }
}

// Two steps, each an LSTM of what x and h are as bytes.
TEST(DynamicQuantizeLSTM, GoesThroughBytes) {
  std::mt19937 random(3);
  std::vector<Value> inputs = {Value(Type::kFloat32, {2, 3, 2}), Value(Type::kInt8, {1, 2, 8}),
                               Value(Type::kUint8, {1, 2, 8})};
  for (Value& value : inputs)
    for (int64_t k = 0; k < value.count(); ++k) {
      const int number = static_cast<int>(random() % 100);
      store(value, k, value.type == Type::kFloat32 ? Scalar{.f = number / 32.0 - 1} : Scalar{.i = number});
    }
  const auto run = [&](const std::string& result) {
    const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 13, "com.microsoft" : 1]>
        g (float[2,3,2] x, int8[1,2,8] w, uint8[1,2,8] r) => (y) <float[1] ws = {0.01}, int8[1] wz = {40},
        float[1,8] rs = {0.01,0.02,0.03,0.01,0.02,0.03,0.01,0.02}, uint8[1,8] rz = {50,50,50,50,50,50,50,50},
        float fs = {0.01}, int8 fz = {40}, uint8 gz = {50}> {
        xq, xs, xz = DynamicQuantizeLinear(x)
        rx = DequantizeLinear(xq, xs, xz)
        rw = DequantizeLinear(w, fs, fz)
        rr = DequantizeLinear(r, one, gz)
        one = Constant<value_float = 1.0>()
        scaled = Mul(rr, rs)
        tw = Transpose<perm = [0, 2, 1]>(rw)
        tr = Transpose<perm = [0, 2, 1]>(scaled)
        x1, x2 = Split<axis = 0>(rx)
        y1, h1, c1 = LSTM<hidden_size = 2>(x1, tw, tr)
        hq, hs, hz = DynamicQuantizeLinear(h1)
        rh = DequantizeLinear(hq, hs, hz)
        y2, h2, c2 = LSTM<hidden_size = 2>(x2, tw, tr, , , rh, c1)
        want = Concat<axis = 0>(y1, y2)
        got, h, c = com.microsoft.DynamicQuantizeLSTM<hidden_size = 2>(x, w, r, , , , , , ws, wz, rs, rz)
        y = Identity()" + result + ") }");
    const Value y = *interpret(graph, inputs).at(graph.outputs.at(0));
    std::vector<double> all;
    for (int64_t k = 0; k < y.count(); ++k) all.push_back(load(y, k).f);
    return all;
  };
  for (const auto& [got, want] : {std::pair{"got", "want"}, {"h", "h2"}, {"c", "c2"}}) {
    const std::vector<double> a = run(got), b = run(want);
    ASSERT_EQ(a.size(), b.size());
    for (size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-5) << got << " " << k;
  }
}

}  // namespace
}  // namespace arenac::recurrent_test
