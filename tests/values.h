// Tensors as literals.
//
//   floats({2, 2}, {0.5, 1, 1.5, 2}), integers({3}, {1, 2, 3})
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "frontend/type.h"

namespace arenac {

inline Value floats(Shape shape, const std::vector<double>& elements) {
  Value value(Type::kFloat32, std::move(shape));
  for (size_t k = 0; k < elements.size(); ++k) store(value, static_cast<int64_t>(k), {.f = elements[k]});
  return value;
}

inline Value integers(Shape shape, const std::vector<int64_t>& elements) {
  Value value(Type::kInt64, std::move(shape));
  for (size_t k = 0; k < elements.size(); ++k) store(value, static_cast<int64_t>(k), {.i = elements[k]});
  return value;
}

inline Value texts(Shape shape, const std::vector<std::string>& elements) {
  Value value(Type::kString, std::move(shape));
  for (size_t k = 0; k < elements.size(); ++k)
    store(value, static_cast<int64_t>(k), string_scalar(elements[k]));
  return value;
}

inline std::vector<std::string> texts_of(const Value& value) {
  std::vector<std::string> all;
  for (int64_t k = 0; k < value.count(); ++k) all.emplace_back(text_of(load(value, k)));
  return all;
}

}  // namespace arenac
