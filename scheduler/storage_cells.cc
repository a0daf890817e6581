#include "scheduler/storage_cells.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace arenac {
namespace {

constexpr int64_t kMostIntervals = 1 << 13;  // of an area
constexpr int64_t kMostPieces = 1 << 14;     // of a row, over all of its areas

// begin + the sums of i * stride for i < extent, dimension by dimension: where a box of a tensor lies.
struct Lattice {
  struct Dimension {
    int64_t extent, stride;
  };
  int64_t begin;
  std::vector<Dimension> dimensions;
};

// The numbers of a lattice as ascending intervals; nothing where they are in too many pieces. By ascending
// strides: as long as there is one interval and the next stride does not jump over its end, it grows; later
// ones repeat what is there.
//
//   extent 4 stride 1, extent 3 stride 4    ->    [0, 12)
//   extent 2 stride 1, extent 3 stride 4    ->    [0, 2) [4, 6) [8, 10)
std::optional<std::vector<Interval>> intervals_of(Lattice lattice) {
  for (auto& [extent, stride] : lattice.dimensions)
    if (stride < 0) {
      lattice.begin += (extent - 1) * stride;
      stride = -stride;
    }
  std::ranges::sort(lattice.dimensions, {}, &Lattice::Dimension::stride);
  std::vector<Interval> all = {{lattice.begin, lattice.begin + 1}};
  for (const auto& [extent, stride] : lattice.dimensions) {
    if (all.size() == 1 && stride <= all[0].end - all[0].begin) {
      all[0].end += (extent - 1) * stride;
      continue;
    }
    const auto before = std::ssize(all);
    if (extent > kMostIntervals / before) return std::nullopt;
    for (int64_t i = 1; i < extent; ++i)
      for (int64_t k = 0; k < before; ++k)
        all.push_back({all[k].begin + i * stride, all[k].end + i * stride});
  }
  return all;
}

// Where what areas hold begins and ends, and where columns do: ascending, each once. Between two of these,
// all places are alike.
std::vector<int64_t> borders_of(const Rows& rows, const Rows& columns, const std::map<int, Area>& areas) {
  std::vector<int64_t> borders = {rows.size};
  for (int64_t x = 0; x < columns.count; ++x) borders.push_back(x * columns.size);
  for (const auto& [number, area] : areas)
    for (const Interval& run : area.places) borders.insert(borders.end(), {run.begin, run.end});
  std::ranges::sort(borders);
  borders.erase(std::ranges::unique(borders).begin(), borders.end());
  return borders;
}

// A row from border to border.
class Pieces {
 public:
  explicit Pieces(std::vector<int64_t> borders)
      : borders_(std::move(borders)), holders_(borders_.size() - 1) {}

  size_t size() const { return holders_.size(); }
  int64_t begin(size_t piece) const { return borders_[piece]; }
  int holders(size_t piece) const { return holders_[piece]; }  // equal where the same areas hold it

  template <typename F>
  void for_each_of(const Area& area, const F& f) const {
    for (const Interval& run : area.places) {
      auto k = static_cast<size_t>(std::ranges::lower_bound(borders_, run.begin) - borders_.begin());
      for (; borders_[k] < run.end; ++k) f(k);
    }
  }

  // Partition refinement (Hopcroft, 1971; Paige and Tarjan, 1987): pieces of one set that the area holds
  // become a set of their own, those that it does not hold stay what they were.
  //
  //   holders 0 0 0 0, area holds the first two: 1 1 0 0, another one the middle two: 1 2 3 0
  void hold(const Area& area) {
    std::map<int, int> with;  // number of the holders, without and with the area
    for_each_of(area, [&](size_t k) {
      const auto [found, is_new] = with.emplace(holders_[k], sets_);
      sets_ += is_new;
      holders_[k] = found->second;
    });
  }

 private:
  std::vector<int64_t> borders_;
  std::vector<int> holders_;
  int sets_ = 1;
};

}  // namespace

//   [2,3]  ->  {[0, 2), [0, 3)}
Box whole(const Shape& shape) {
  Box box;
  for (int64_t extent : shape) box.push_back({0, extent});
  return box;
}

// Each index one axis with factor 1, shifted perhaps, or a number:  y[i0, i1 + 3], i0 < 2, i1 < 4  ->  {[0,
// 2), [3, 7)}
std::optional<Box> box_written(const Nest& nest) {
  if (!nest.where.empty()) return std::nullopt;
  Box box;
  for (const Expr& index : nest.store) {
    const auto form = affine_form(index);
    if (!form || form->terms.size() > 1) return std::nullopt;
    box.push_back({form->constant, form->constant + 1});
    if (form->terms.empty()) continue;
    const auto [axis, factor] = *form->terms.begin();
    if (axis < 0 || factor != 1) return std::nullopt;
    box.back().end += nest.axes[axis].extent - 1;
  }
  return box;
}

// Dimensions with a stride of a row or more go from row to row, the others within one (slabs.h): two
// lattices.
std::optional<Area> area_of(const Layout& layout, const Box& box, const Rows& rows) {
  Lattice across{layout.offset / rows.size, {}}, within{layout.offset % rows.size, {}};
  for (size_t d = 0; d < box.size(); ++d) {
    const int64_t extent = box[d].end - box[d].begin;
    const bool is_across = std::abs(layout.strides[d]) >= rows.size;
    const int64_t stride = is_across ? layout.strides[d] / rows.size : layout.strides[d];
    Lattice& lattice = is_across ? across : within;
    lattice.begin += box[d].begin * stride;
    if (extent > 1 && stride != 0) lattice.dimensions.push_back({extent, stride});
  }
  auto in_rows = intervals_of(across), places = intervals_of(within);
  if (!in_rows || !places) return std::nullopt;
  return Area{std::move(*in_rows), std::move(*places)};
}

// Areas that hold all places of a row tell nothing apart; where all do, a column is a cell. Cells are
// numbered within their column, by what holds them, in the order in which that first occurs.
std::optional<RowCells> cells_of(const Rows& rows, const Rows& columns, const std::map<int, Area>& areas) {
  RowCells cells{columns, {}};
  std::map<int, Area> in_part = areas;
  std::erase_if(in_part, [&](const auto& each) {
    return each.second.places == std::vector<Interval>{{0, rows.size}};
  });
  if (in_part.empty()) return cells;
  int64_t most = columns.count;
  for (const auto& [number, area] : in_part) most += columns.count + std::ssize(area.places);
  if (most > kMostPieces) return std::nullopt;

  Pieces pieces(borders_of(rows, columns, in_part));
  int64_t held = 0;
  for (const auto& [number, area] : in_part) {
    pieces.for_each_of(area, [&](size_t) { ++held; });
    if (held > kMostPieces) return std::nullopt;
    pieces.hold(area);
  }
  const auto column_of = [&](size_t piece) {
    return std::min(pieces.begin(piece) / columns.size, columns.count - 1);
  };
  cells.counts.resize(static_cast<size_t>(columns.count));
  std::map<std::tuple<int64_t, int>, int> numbers;  // of the cell, per column and holders
  for (size_t k = 0; k < pieces.size(); ++k) {
    const int64_t x = column_of(k);
    cells.counts[x] += numbers.emplace(std::tuple{x, pieces.holders(k)}, cells.counts[x]).second;
  }
  cells.most = *std::ranges::max_element(cells.counts);
  for (const auto& [number, area] : in_part) {
    auto& own = cells.parts[number];
    own.resize(cells.counts.size());
    pieces.for_each_of(area, [&](size_t k) {
      const int64_t x = column_of(k);
      own[x].push_back(numbers.at({x, pieces.holders(k)}));
    });
    for (auto& column : own) {
      std::ranges::sort(column);
      column.erase(std::ranges::unique(column).begin(), column.end());
    }
  }
  return cells;
}

}  // namespace arenac
