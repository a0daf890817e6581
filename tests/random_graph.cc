#include "tests/random_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace arenac {
namespace {

constexpr double kSmall = 9,
                 kLarge = 1 << 20;  // bounds of absolute values: of inputs; beyond which sums may round

struct Var {
  std::string name;
  Type type;
  Shape shape;
  double bound;  // of the absolute value
  bool exact;    // whole numbers
};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string run() {
    for (int k = 1 + below(3); k > 0; --k) input(random_type(), random_shape());
    if (one_in(2)) input(Type::kFloat32, {1, 1 + below(4), 2 + below(5), 2 + below(5)});
    condition_ = name();
    inputs_.push_back("bool " + condition_);
    const int wanted = 3 + below(23);
    for (int tried = 0; operators_ < wanted && tried < 200; ++tried) any_operator(2);
    return text();
  }

 private:
  // ---- choices

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  std::string name() { return fmt::format("v{}", names_++); }
  Type random_type() { return one_in(4) ? Type::kInt32 : Type::kFloat32; }
  Shape random_shape() {
    static const std::vector<Shape> shapes = {{6},          {12},         {2, 3},    {3, 4},    {4, 4},
                                              {1, 8},       {24},         {2, 3, 4}, {1, 4, 4}, {3, 1, 2},
                                              {1, 2, 4, 4}, {1, 3, 4, 6}, {2, 2},    {17},      {1, 1, 5}};
    return shapes[below(static_cast<int>(shapes.size()))];
  }
  // Mostly one that nothing reads yet, or one of the last few: operands that die soon.
  Var any_var() {
    const int n = static_cast<int>(vars_.size());
    if (!one_in(3))
      if (const auto fresh = var_where([&](const Var& v) { return !read_.contains(v.name); })) return *fresh;
    return use(vars_[one_in(3) ? below(n) : n - 1 - below(std::min(n, 4))]);
  }
  Var use(const Var& v) {
    read_.insert(v.name);
    return v;
  }
  template <typename Accept>
  std::optional<Var> var_where(const Accept& accept) {
    std::vector<Var> fit;
    for (const Var& v : vars_)
      if (accept(v)) fit.push_back(v);
    if (fit.empty()) return std::nullopt;
    const int n = static_cast<int>(fit.size());
    return use(fit[one_in(2) ? below(n) : n - 1]);
  }
  Var like(const Var& v) {
    return var_where([&](const Var& o) { return o.shape == v.shape && o.type == v.type; }).value_or(v);
  }

  // ---- text

  static std::string declared(const Var& v) {
    const std::string extents = v.shape.empty() ? "" : fmt::format("[{}]", fmt::join(v.shape, ", "));
    return fmt::format("{}{} {}", v.type == Type::kFloat32 ? "float" : info(v.type).name, extents, v.name);
  }
  Var input(Type type, Shape shape) {
    const Var v{name(), type, std::move(shape), kSmall, true};
    inputs_.push_back(declared(v));
    vars_.push_back(v);
    io_.push_back(v);
    return v;
  }
  std::string ints(const std::vector<int64_t>& values) {
    const std::string id = name();
    constants_.push_back(fmt::format("int64[{}] {} = {{{}}}", values.size(), id, fmt::join(values, ", ")));
    return id;
  }
  std::string number(Type type, int value) {
    const std::string id = name();
    constants_.push_back(
        fmt::format("{} {} = {{{}}}", type == Type::kFloat32 ? "float" : info(type).name, id, value));
    return id;
  }
  std::string weights(const Shape& shape) {
    std::vector<int> values(static_cast<size_t>(element_count(shape)));
    for (int& v : values) v = below(5) - 2;
    const std::string id = name();
    constants_.push_back(
        fmt::format("float[{}] {} = {{{}}}", fmt::join(shape, ", "), id, fmt::join(values, ", ")));
    return id;
  }
  Var add(Type type, Shape shape, double bound, bool exact, const std::string& call) {
    const Var v{name(), type, std::move(shape), bound, exact};
    body_ += fmt::format("    {} = {}\n", v.name, call);
    ++operators_;
    vars_.push_back(v);
    return v;
  }
  // A view or copy of x.
  Var moved(const Var& x, Shape shape, const std::string& call) {
    return add(x.type, std::move(shape), x.bound, x.exact, call);
  }
  Var clipped(const Var& x, int limit) {
    return add(x.type, x.shape, limit, x.exact,
               fmt::format("Clip({}, {}, {})", x.name, number(x.type, -limit), number(x.type, limit)));
  }
  Var bounded(const Var& x, double factor) { return x.bound * factor > kLarge ? clipped(x, 8) : x; }

  std::string text() {
    std::vector<std::string> outputs;
    std::vector<Var> wanted = {vars_.back()};
    for (const Var& v : vars_)
      if (!read_.contains(v.name) && !one_in(3)) wanted.push_back(v);
    for (int k = below(3); k > 0; --k) wanted.push_back(any_var());
    if (one_in(6)) wanted.push_back(io_[below(static_cast<int>(io_.size()))]);
    for (const Var& v : wanted) {
      const std::string declaration = declared(v);
      if (std::find(outputs.begin(), outputs.end(), declaration) == outputs.end())
        outputs.push_back(declaration);
    }
    return fmt::format("<ir_version: 8, opset_import: [\"\" : 17]>\ng ({}) => ({})\n  <{}>\n{{\n{}}}\n",
                       fmt::join(inputs_, ", "), fmt::join(outputs, ", "), fmt::join(constants_, ",\n   "),
                       body_);
  }

  // ---- operators

  void any_operator(int depth) {
    const int choice = below(24);
    if (choice < 7) return view(any_var());
    if (choice < 12) return pointwise(any_var());
    if (choice < 14) return reversed_sum(any_var());
    if (choice < 17) return concat(any_var());
    if (choice < 19) return convolution();
    if (choice < 21) return reduction(any_var());
    if (choice < 22) return one_in(3) ? kernel(any_var()) : selection(any_var());
    if (depth == 0) return;
    return one_in(2) ? branches(depth) : loop(depth);
  }

  void view(const Var& x) {
    const int rank = static_cast<int>(x.shape.size());
    switch (below(9)) {
      case 0:
      case 1:
        return reshape(x);
      case 2:
      case 3:
        return transpose(x);
      case 4:
      case 5:
        return slice(x);
      case 6:
        return split(x);
      case 7: {
        Shape shape = x.shape;
        const int at = below(rank + 1);
        shape.insert(shape.begin() + at, 1);
        if (rank < 5) moved(x, shape, fmt::format("Unsqueeze({}, {})", x.name, ints({at})));
        return;
      }
      default:
        for (int d = 0; d < rank; ++d)
          if (x.shape[d] == 1) {
            Shape shape = x.shape;
            if (one_in(2)) {
              shape[d] = 2 + below(3);
              moved(x, shape, fmt::format("Expand({}, {})", x.name, ints(shape)));
            } else {
              shape.erase(shape.begin() + d);
              moved(x, shape, fmt::format("Squeeze({}, {})", x.name, ints({d})));
            }
            return;
          }
    }
  }

  void reshape(const Var& x) {
    Shape shape;
    int64_t left = element_count(x.shape);
    while (left > 1 && shape.size() < 3) {
      std::vector<int64_t> factors;
      for (int64_t f = 1; f <= left; ++f)
        if (left % f == 0) factors.push_back(f);
      shape.push_back(factors[below(static_cast<int>(factors.size()))]);
      left /= shape.back();
    }
    shape.push_back(left);
    moved(x, shape, fmt::format("Reshape({}, {})", x.name, ints(shape)));
  }

  void transpose(const Var& x) {
    std::vector<int64_t> perm(x.shape.size());
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), random_);
    Shape shape;
    for (int64_t d : perm) shape.push_back(x.shape[d]);
    if (!perm.empty())
      moved(x, shape, fmt::format("Transpose<perm = [{}]>({})", fmt::join(perm, ", "), x.name));
  }

  void slice(const Var& x) {
    if (x.shape.empty()) return;
    const int d = below(static_cast<int>(x.shape.size()));
    const int extent = static_cast<int>(x.shape[d]);
    Shape shape = x.shape;
    const int from = below(extent), count = 1 + below(extent - from), step = one_in(3) ? 2 : 1;
    shape[d] = (count + step - 1) / step;
    moved(x, shape,
          fmt::format("Slice({}, {}, {}, {}, {})", x.name, ints({from}), ints({from + count}), ints({d}),
                      ints({step})));
  }

  void split(const Var& x) {
    if (x.shape.empty()) return;
    const int d = below(static_cast<int>(x.shape.size()));
    if (x.shape[d] < 2) return;
    const int64_t first = 1 + below(static_cast<int>(x.shape[d]) - 1);
    Var a = x, b = x;
    a.name = name(), b.name = name();
    a.shape[d] = first, b.shape[d] -= first;
    body_ += fmt::format("    {}, {} = Split<axis = {}>({}, {})\n", a.name, b.name, d, x.name,
                         ints({first, b.shape[d]}));
    ++operators_;
    vars_.push_back(a), vars_.push_back(b);
  }

  void pointwise(const Var& x) {
    const auto unary = [&](const char* op) {
      add(x.type, x.shape, x.bound, x.exact, fmt::format("{}({})", op, x.name));
    };
    switch (below(11)) {
      case 0:
        return unary("Neg");
      case 1:
        return unary("Abs");
      case 2:
        if (x.type != Type::kFloat32) return unary("Neg");
        return unary("Relu");
      case 3: {  // another type in the same bytes
        if (!x.exact) return;
        const Type to = x.type == Type::kInt32 ? Type::kFloat32 : Type::kInt32;
        add(to, x.shape, x.bound, true, fmt::format("Cast<to = {}>({})", info(to).onnx, x.name));
        return;
      }
      case 4:
        if (x.type != Type::kFloat32 || x.shape.empty() || !one_in(3)) return unary("Abs");
        add(x.type, x.shape, 1, false, fmt::format("Softmax<axis = {}>({})", -1, x.name));
        return;
      case 5:
        return x.type == Type::kFloat32 ? quantised(clipped(x, 30)) : unary("Neg");
      default:
        return binary(bounded(x, 2), bounded(like(x), 2));
    }
  }

  // Through int8, or uint8, and back.
  void quantised(const Var& x) {
    const std::string scale = name(), zero = name();
    const bool is_signed = one_in(2);
    constants_.push_back(fmt::format("float {} = {{{}}}", scale, one_in(2) ? 1 : 0.5));
    constants_.push_back(
        fmt::format("{} {} = {{{}}}", is_signed ? "int8" : "uint8", zero, is_signed ? below(9) : 65));
    const Var q = add(is_signed ? Type::kInt8 : Type::kUint8, x.shape, 255, true,
                      fmt::format("QuantizeLinear({}, {}, {})", x.name, scale, zero));
    vars_.pop_back();
    add(x.type, x.shape, x.bound, false, fmt::format("DequantizeLinear({}, {}, {})", q.name, scale, zero));
  }

  void binary(const Var& x, Var y) {
    // Sometimes broadcast, sometimes a transposed or reshaped other.
    if (one_in(4) && !x.shape.empty()) {
      const auto scalar = var_where([&](const Var& v) {
        return v.type == x.type &&
               (v.shape.empty() || v.shape == Shape{1} || v.shape == Shape{x.shape.back()});
      });
      if (scalar) y = bounded(*scalar, 2);
    }
    const char* op = one_in(3) ? "Max" : one_in(3) ? "Sub" : one_in(4) ? "Mul" : "Add";
    if (op == std::string("Mul")) {
      const Var a = clipped(x, 8), b = clipped(y, 8);
      add(x.type, x.shape, 64, x.exact && y.exact, fmt::format("Mul({}, {})", a.name, b.name));
      return;
    }
    add(x.type, x.shape, x.bound + y.bound, x.exact && y.exact,
        one_in(2) ? fmt::format("{}({}, {})", op, x.name, y.name)
                  : fmt::format("{}({}, {})", op, y.name, x.name));
  }

  Var backwards(const Var& x, int d) {
    return moved(
        x, x.shape,
        fmt::format("Slice({}, {}, {}, {}, {})", x.name, ints({-1}), ints({-1000}), ints({d}), ints({-1})));
  }

  // x + x backwards, or x + x transposed: read where it is written, and elsewhere.
  void reversed_sum(const Var& given) {
    if (given.shape.empty()) return;
    const Var x = bounded(given, 2);
    const int rank = static_cast<int>(x.shape.size());
    if (rank == 2 && x.shape[0] == x.shape[1]) {
      transpose(x);
    } else {
      backwards(x, below(rank));
    }
    const Var y = vars_.back();
    add(x.type, x.shape, x.bound + y.bound, x.exact, fmt::format("Add({}, {})", x.name, y.name));
  }

  void concat(const Var& x) {
    if (x.shape.empty()) return;
    const int d = below(static_cast<int>(x.shape.size()));
    std::vector<std::string> parts;
    Shape shape = x.shape;
    shape[d] = 0;
    double bound = 0;
    bool exact = true;
    for (int k = 1 + below(4); k >= 0; --k) {
      const auto part = var_where([&](const Var& v) {
        if (v.shape.size() != shape.size() || v.type != x.type) return false;
        Shape other = v.shape;
        other[d] = shape[d];
        return other == shape;
      });
      const Var& v = k == 0 || !part || one_in(4) ? x : *part;
      parts.push_back(v.name);
      shape[d] += v.shape[d];
      bound = std::max(bound, v.bound);
      exact &= v.exact;
    }
    if (element_count(shape) > 600) return;
    add(x.type, shape, bound, exact, fmt::format("Concat<axis = {}>({})", d, fmt::join(parts, ", ")));
  }

  void convolution() {
    const auto found = var_where([](const Var& v) {
      return v.type == Type::kFloat32 && v.shape.size() == 4 && v.shape[0] == 1 && v.shape[1] <= 12;
    });
    if (!found) return matmul();
    const Var x = clipped(*found, 8);
    const int64_t c = x.shape[1];
    Shape shape = x.shape;
    if (one_in(4)) {
      moved(x, x.shape, fmt::format("MaxPool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>({})", x.name));
      return;
    }
    const bool depthwise = one_in(3);
    const int64_t k = one_in(2) ? 1 : 3, m = depthwise ? c : 1 + below(6);
    shape[1] = m;
    const std::string w = weights({m, depthwise ? 1 : c, k, k});
    add(x.type, shape, 16.0 * static_cast<double>(c * k * k), x.exact,
        fmt::format("Conv<kernel_shape = [{0}, {0}], pads = [{1}, {1}, {1}, {1}], group = {2}>({3}, {4})", k,
                    k / 2, depthwise ? c : 1, x.name, w));
    const Var y = vars_.back();
    if (one_in(2)) return reshape(y);
    if (y.shape == x.shape && one_in(2))
      add(x.type, shape, x.bound + y.bound, x.exact, fmt::format("Add({}, {})", y.name, x.name));
  }

  void matmul() {
    const auto found = var_where(
        [](const Var& v) { return v.type == Type::kFloat32 && v.shape.size() >= 2 && v.shape.back() <= 24; });
    if (!found) return;
    const Var x = clipped(*found, 8);
    Shape shape = x.shape;
    const int64_t k = x.shape.back();
    shape.back() = 1 + below(8);
    add(x.type, shape, 16.0 * static_cast<double>(k), x.exact,
        fmt::format("MatMul({}, {})", x.name, weights({k, shape.back()})));
  }

  void reduction(const Var& given) {
    if (given.shape.empty()) return;
    const int d = below(static_cast<int>(given.shape.size()));
    const Var x = bounded(given, static_cast<double>(given.shape[d]));
    Shape shape = x.shape;
    shape[d] = 1;
    if (one_in(2))
      add(x.type, shape, x.bound, x.exact,
          fmt::format("ReduceMax<axes = [{}], keepdims = 1>({})", d, x.name));
    else
      add(x.type, shape, x.bound * static_cast<double>(x.shape[d]), x.exact,
          fmt::format("ReduceSum<keepdims = 1>({}, {})", x.name, ints({d})));
    const Var r = vars_.back();
    const Var y = bounded(x, 2), s = bounded(r, 2);
    if (one_in(2))
      add(x.type, x.shape, y.bound + s.bound, x.exact, fmt::format("Sub({}, {})", y.name, s.name));
  }

  // Operators that are C kernels, on dense row-major memory.
  void kernel(const Var& given) {
    if (given.shape.empty()) return;
    const int d = below(static_cast<int>(given.shape.size()));
    const int64_t extent = given.shape[d];
    if (one_in(2)) {
      const Var x = bounded(given, static_cast<double>(extent));
      add(x.type, x.shape, x.bound * static_cast<double>(extent), x.exact,
          fmt::format("CumSum<reverse = {}>({}, {})", below(2), x.name, number(Type::kInt64, d)));
      return;
    }
    Shape shape = given.shape;
    shape[d] = 1 + below(static_cast<int>(extent));
    add(given.type, shape, given.bound, given.exact,
        fmt::format("TopK<axis = {}>({}, {})", d, given.name, ints({shape[d]})));
  }

  void selection(const Var& x) {
    if (x.shape.empty()) return;
    const int d = below(static_cast<int>(x.shape.size()));
    const int extent = static_cast<int>(x.shape[d]);
    Shape shape = x.shape;
    switch (below(4)) {
      case 0: {
        std::vector<int64_t> rows(1 + below(3));
        for (int64_t& r : rows) r = below(extent);
        shape[d] = static_cast<int64_t>(rows.size());
        moved(x, shape, fmt::format("Gather<axis = {}>({}, {})", d, x.name, ints(rows)));
        return;
      }
      case 1: {
        std::vector<int64_t> pads(2 * shape.size());
        pads[d] = below(3), pads[shape.size() + d] = below(3);
        shape[d] += pads[d] + pads[shape.size() + d];
        if (element_count(shape) < 600) moved(x, shape, fmt::format("Pad({}, {})", x.name, ints(pads)));
        return;
      }
      case 2: {
        const Var y = like(x);
        const Var c =
            add(Type::kBool, x.shape, 1, true, fmt::format("Less({}, {})", y.name, number(x.type, 1)));
        vars_.pop_back();  // bools are read here only
        if (!y.exact) return;
        add(x.type, x.shape, std::max(x.bound, y.bound), x.exact,
            fmt::format("Where({}, {}, {})", c.name, x.name, y.name));
        return;
      }
      default: {
        std::vector<int64_t> at(1 + below(2));
        for (int64_t& i : at) i = below(extent);
        if (at.size() == 2 && at[0] == at[1]) at.pop_back();
        Shape part = x.shape;
        part[0] = static_cast<int64_t>(at.size());
        if (d != 0) return;
        const auto updates = var_where([&](const Var& v) { return v.type == x.type && v.shape == part; });
        if (!updates) return;
        const std::string rows = name();
        constants_.push_back(fmt::format("int64[{}, 1] {} = {{{}}}", at.size(), rows, fmt::join(at, ", ")));
        add(x.type, x.shape, std::max(x.bound, updates->bound), x.exact && updates->exact,
            fmt::format("ScatterND({}, {}, {})", x.name, rows, updates->name));
      }
    }
  }

  // ---- control flow

  struct Inner {
    std::string body;
    std::vector<Var> results;
  };
  // A body of its own that sees everything outside and leaves one value per wanted shape.
  Inner inner(int depth, std::vector<Var> given, const std::vector<Var>& wanted) {
    const std::string outer = std::exchange(body_, "");
    const size_t count = vars_.size();
    for (const Var& v : given) vars_.push_back(v);
    for (int k = below(4); k > 0; --k) any_operator(depth - 1);
    Inner made;
    for (const Var& w : wanted) {
      Var v = like(w);
      if (!v.shape.empty() && one_in(3)) v = backwards(v, 0);
      if (v.bound > 64 || one_in(2)) v = one_in(3) ? clipped(bounded(v, 1), 8) : clipped(v, 8);
      const auto is_v = [&](const Var& r) { return r.name == v.name; };
      const bool outside = std::any_of(vars_.begin(), vars_.begin() + static_cast<long>(count), is_v);
      if (outside || std::any_of(made.results.begin(), made.results.end(), is_v) || one_in(4))
        v = moved(v, v.shape, fmt::format("Identity({})", v.name));
      made.results.push_back(v);
    }
    made.body = std::exchange(body_, outer);
    vars_.resize(count);
    return made;
  }

  static std::string declarations(const std::vector<Var>& vars) {
    std::vector<std::string> all;
    for (const Var& v : vars) all.push_back(declared(v));
    return fmt::format("{}", fmt::join(all, ", "));
  }
  static std::string names_of(const std::vector<Var>& vars) {
    std::vector<std::string> all;
    for (const Var& v : vars) all.push_back(v.name);
    return fmt::format("{}", fmt::join(all, ", "));
  }

  void branches(int depth) {
    std::vector<Var> wanted = {any_var()};
    if (one_in(3)) wanted.push_back(any_var());
    const Inner then_part = inner(depth, {}, wanted), else_part = inner(depth, {}, wanted);
    const auto block = [&](const Inner& part) {
      return fmt::format("{} () => ({}) {{\n{}  }}", name(), declarations(part.results), part.body);
    };
    std::vector<Var> results = wanted;
    for (size_t k = 0; k < results.size(); ++k) {
      results[k].name = name();
      results[k].bound = std::max(then_part.results[k].bound, else_part.results[k].bound);
      results[k].exact = then_part.results[k].exact && else_part.results[k].exact;
    }
    const std::string then_text = block(then_part), else_text = block(else_part);
    body_ += fmt::format("    {} = If({}) <then_branch = {},\n  else_branch = {}>\n", names_of(results),
                         condition_, then_text, else_text);
    ++operators_;
    for (const Var& v : results) vars_.push_back(v);
  }

  void loop(int depth) {
    std::vector<Var> initial;
    for (int k = 1 + below(3); k > 0; --k) initial.push_back(one_in(2) ? clipped(any_var(), 8) : any_var());
    for (Var& v : initial)
      if (v.bound > 64) v = clipped(v, 8);
    std::vector<Var> states = initial;
    for (Var& v : states) v.name = name(), v.bound = 64, v.exact = false;
    for (size_t k = 0; k < states.size(); ++k) states[k].exact = initial[k].exact && everything_exact();
    Inner body = inner(depth, states, states);
    const std::string trip = name(), going = name(), still = name();
    // States that change places, or stay.
    if (body.results.size() >= 2 && body.results[0].shape == body.results[1].shape &&
        body.results[0].type == body.results[1].type)
      std::swap(body.results[0], body.results[1]);
    if (one_in(4)) body.results[0] = states[0];
    std::string result_names = names_of(body.results), result_text = declarations(body.results);
    std::vector<Var> results = states;
    for (Var& v : results) v.name = name();
    const int64_t trips = below(4);
    std::string outs = names_of(results);
    if (one_in(2) && trips > 0) {  // the states of all iterations
      Var last = body.results.back(), all = last;
      const std::string id = name();
      body.body += fmt::format("    {} = Identity({})\n", id, last.name);
      last.name = id;
      result_text += ", " + declared(last);
      all.name = name();
      all.shape.insert(all.shape.begin(), trips);
      all.bound = 64;
      all.exact = states.back().exact && last.exact;
      outs += ", " + all.name;
      if (all.shape.size() < 6) results.push_back(all);
    }
    const std::string yes = name();
    constants_.push_back(fmt::format("bool {} = {{1}}", yes));
    const std::string count = number(Type::kInt64, static_cast<int>(trips));
    body_ += fmt::format(
        "    {} = Loop({}, {}, {}) <body = {} (int64 {}, bool {}, {}) => (bool {}, {}) {{\n{}    {} = "
        "Identity({})\n  }}>\n",
        outs, count, yes, names_of(initial), name(), trip, going, declarations(states), still, result_text,
        body.body, still, going);
    ++operators_;
    for (const Var& v : results) vars_.push_back(v);
  }

  bool everything_exact() const {
    return std::all_of(vars_.begin(), vars_.end(), [](const Var& v) { return v.exact; });
  }

  std::mt19937 random_;
  int names_ = 0, operators_ = 0;
  std::string body_, condition_;
  std::vector<std::string> inputs_, constants_;
  std::vector<Var> vars_, io_;
  std::set<std::string> read_;
};

}  // namespace

std::string random_graph(unsigned seed) { return Generator(seed).run(); }

std::vector<Value> random_inputs(const Graph& graph, unsigned seed, Numbers numbers) {
  std::mt19937 random(seed);
  const auto any = [&](Type type) {
    if (is_float(type)) return static_cast<double>(random() % 8001) / 1000 - 4;
    const int half = size_of(type) == 1 ? 128 : 100;
    return static_cast<double>(random() % static_cast<unsigned>(2 * half)) -
           (info(type).is_signed ? half : 0);
  };
  std::vector<Value> values;
  for (TensorId id : graph.inputs) {
    const Tensor& t = graph.tensors[id];
    Value& value = values.emplace_back(t.type, t.shape);
    for (int64_t e = 0; e < value.count(); ++e) {
      const double number = t.type == Type::kBool        ? random() % 2
                            : numbers == Numbers::kWhole ? static_cast<double>(random() % 19) - 9
                                                         : any(t.type);
      store(value, e, convert(t.type, Type::kFloat64, {.f = number}));
    }
  }
  return values;
}

}  // namespace arenac
