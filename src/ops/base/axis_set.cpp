#include "ops/base/axis_set.hpp"

namespace sinter::ops {
namespace {

/// As in NumPy, axis 0 or -1 of a rank 0 array means "no axis".
bool names_no_axis(std::int64_t axis, const dims& shape) { return shape.empty() && (axis == 0 || axis == -1); }

}  // namespace

axis_set find_axes(const axes& wanted, const dims& shape, const char* function) {
  axis_set s;
  for (int a = 0; a < shape.size() && !wanted.given(); ++a) s.reduced[static_cast<std::size_t>(a)] = true;
  for (const std::int64_t axis : wanted) {
    if (names_no_axis(axis, shape)) continue;
    bool& mark = s.reduced[static_cast<std::size_t>(normalize_axis(axis, shape, function))];
    if (mark) fail<index_error>(function, "axis ", axis, " is given twice for shape ", shape);
    mark = true;
  }
  s.kept_shape = shape;
  for (int a = 0; a < shape.size(); ++a) {
    const bool reduced = s.reduced[static_cast<std::size_t>(a)];
    s.count += reduced ? 1 : 0;
    (reduced ? s.elements : s.results) *= shape[a];
    if (reduced) s.kept_shape[a] = 1;
  }
  return s;
}

graph::value restore_axes(const graph::value& v, const axis_set& s, bool keepdims) {
  return keepdims ? graph::record_view(v, s.kept_shape, core::contiguous_strides(s.kept_shape), 0) : v;
}

}  // namespace sinter::ops
