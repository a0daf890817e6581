#include "scheduler/storage_cells.h"

#include <cstdlib>

namespace arenac {

Box whole(const Shape& shape) {
  Box box;
  for (int64_t extent : shape) box.push_back({0, extent});
  return box;
}

Area area_of(const Layout& layout, const Box& box, const Rows& rows) {
  Area area{{layout.offset / rows.size}, {layout.offset % rows.size}};
  for (size_t d = 0; d < box.size(); ++d) {
    const bool across = std::abs(layout.strides[d]) >= rows.size;
    const int64_t step = across ? layout.strides[d] / rows.size : layout.strides[d];
    if (step == 0) continue;
    std::vector<int64_t>& all = across ? area.rows : area.places;
    const size_t before = all.size();
    for (int64_t& each : all) each += box[d].begin * step;
    for (int64_t i = 1; i < box[d].end - box[d].begin; ++i)
      for (size_t k = 0; k < before; ++k) all.push_back(all[k] + i * step);
  }
  return area;
}

RowCells cells_of(const Rows& rows, const Rows& columns, const std::map<int, Area>& areas) {
  RowCells cells{columns, std::vector<int>(static_cast<size_t>(columns.count), 1)};
  std::vector<std::vector<int>> holders(static_cast<size_t>(rows.size));  // per place, the areas
  for (const auto& [number, area] : areas)
    if (std::ssize(area.places) < rows.size) {
      cells.parts[number];
      for (int64_t p : area.places) holders.at(static_cast<size_t>(p)).push_back(number);
    }
  if (cells.parts.empty()) return cells;
  for (int64_t x = 0; x < columns.count; ++x) {
    std::map<std::vector<int>, int> found;  // holders to the cell
    for (int64_t p = x * columns.size; p < (x + 1) * columns.size; ++p)
      found.emplace(holders[p], static_cast<int>(found.size()));
    cells.counts[x] = static_cast<int>(found.size());
    for (auto& [number, own] : cells.parts) {
      own.emplace_back();
      for (const auto& [held_by, cell] : found)
        if (std::ranges::binary_search(held_by, number)) own.back().push_back(cell);
    }
  }
  return cells;
}

}  // namespace arenac
