#include "frontend/check_bindings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "frontend/error.h"
#include "frontend/importer.h"
#include "frontend/nearest.h"

namespace arenac {
namespace {

// --dim names dimensions of inputs, or of what the model says about its other tensors.
void check_bound_dims(const onnx::GraphProto& proto, const ImportOptions& options) {
  std::set<std::string> names;
  const auto collect = [&](const auto& values) {
    for (const onnx::ValueInfoProto& value : values)
      if (const Kind kind = kind_of(value.type()); kind.tensor)
        for (const auto& dim : kind.tensor->shape().dim()) names.insert(dim.dim_param());
  };
  collect(proto.input()), collect(proto.output()), collect(proto.value_info());
  names.erase("");
  for (const auto& [name, extent] : options.dims) {
    if (name == "?" || name.empty())
      throw UserError(fmt::format("--dim '{}' names no dimension: bind the whole input with --shape", name),
                      Exit::kUsage);
    if (names.contains(name)) continue;
    std::vector<std::string> printed;
    std::transform(names.begin(), names.end(), std::back_inserter(printed), printable);
    throw UserError(fmt::format("--dim names '{}', which is no dimension of the model{}", printable(name),
                                did_you_mean_or_all(name, printed)),
                    Exit::kUsage);
  }
}

void check_bound_names(const onnx::GraphProto& proto, const ImportOptions& options) {
  std::set<std::string> bound = options.absent;
  for (const auto& [name, shape] : options.shapes) bound.insert(name);
  for (const auto& [name, shapes] : options.sequences) bound.insert(name);
  for (const auto& [name, value] : options.values) bound.insert(name);
  std::vector<std::string> inputs;
  for (const onnx::ValueInfoProto& input : proto.input()) {
    bound.erase(input.name());
    inputs.push_back(printable(input.name()));
  }
  if (!bound.empty())
    throw UserError(fmt::format("--shape or --value names '{}', which is no input of the model{}",
                                printable(*bound.begin()), did_you_mean_or_all(*bound.begin(), inputs)),
                    Exit::kUsage);
  check_bound_dims(proto, options);
}

// Who gave an input its shape: "--shape x=2x3", or "its file".
std::string giver_of(const std::string& input, const Shape& shape, const ImportOptions& options) {
  if (options.held.contains(input)) return "its file";
  return fmt::format("--shape {}={}", printable(input), fmt::join(shape, "x"));
}

// A given shape of an input, or of an element of one, is one that the model and every --dim allow.
void check_given_shape(const onnx::ValueInfoProto& input, const Shape& shape, const ImportOptions& options) {
  const onnx::TypeProto::Tensor& type = *kind_of(input.type()).tensor;
  if (!type.has_shape()) return;
  const onnx::TensorShapeProto& declared = type.shape();
  const std::string name = printable(input.name()), giver = giver_of(input.name(), shape, options);
  const auto refuse = [&](const std::string& problem) {
    throw UserError(fmt::format("input '{}': {}", name, problem),
                    options.held.contains(input.name()) ? Exit::kModel : Exit::kUsage);
  };
  if (static_cast<int>(shape.size()) != declared.dim_size())
    refuse(fmt::format("{} gives {}, but the model takes {} dimensions", giver, to_string(shape),
                       declared.dim_size()));
  for (size_t d = 0; d < shape.size(); ++d) {
    const auto& dim = declared.dim(static_cast<int>(d));
    const auto bound = options.dims.find(dim.dim_param());
    if (dim.has_dim_value() && dim.dim_value() > 0 && dim.dim_value() != shape[d])
      refuse(fmt::format("{} gives {}, but dimension {} is {} in the model", giver, to_string(shape), d,
                         dim.dim_value()));
    if (!dim.has_dim_value() && bound != options.dims.end() && bound->second != shape[d])
      refuse(fmt::format("{} gives {}, which --dim {}={} contradicts: it is dimension {}", giver,
                         to_string(shape), printable(bound->first), bound->second, d));
  }
}

void check_given_shapes(const onnx::GraphProto& proto, const ImportOptions& options) {
  for (const onnx::ValueInfoProto& input : proto.input()) {
    const Kind kind = kind_of(input.type());
    if (!kind.tensor) continue;
    const std::string name = printable(input.name());
    const auto one = options.shapes.find(input.name());
    const auto several = options.sequences.find(input.name());
    if (one != options.shapes.end()) check_given_shape(input, one->second, options);
    if (!kind.is_sequence && !kind.is_optional && options.absent.contains(input.name()))
      throw UserError(
          fmt::format("input '{0}' is a tensor, which cannot be left out by --shape {0}=none", name),
          Exit::kUsage);
    if (several == options.sequences.end()) continue;
    Shape extents;
    for (const Shape& shape : several->second) {
      if (kind.is_sequence) check_given_shape(input, shape, options);
      extents.insert(extents.end(), shape.begin(), shape.end());
    }
    if (!kind.is_sequence)
      throw UserError(fmt::format("input '{0}' is a tensor and no sequence, for which commas are; 'x' is "
                                  "between extents: --shape {0}={1}",
                                  name, fmt::join(extents, "x")),
                      Exit::kUsage);
  }
}

}  // namespace

Kind kind_of(const onnx::TypeProto& declared) {
  const onnx::TypeProto* type = &declared;
  Kind kind = {false, type->has_optional_type(), nullptr};
  if (kind.is_optional) type = &type->optional_type().elem_type();
  kind.is_sequence = type->has_sequence_type();
  if (kind.is_sequence) type = &type->sequence_type().elem_type();
  if (type->has_tensor_type()) kind.tensor = &type->tensor_type();
  return kind;
}

void check_bindings(const onnx::GraphProto& proto, const std::string& name, const ImportOptions& options) {
  check_bound_names(proto, options);
  try {
    check_given_shapes(proto, options);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}", name, error.what()), error.status);
  }
}

}  // namespace arenac
