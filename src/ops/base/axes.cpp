#include "ops/base/axes.hpp"

#include <algorithm>
#include <string>

namespace sinter::ops {

namespace {

/// `of()` describes the array or result, for messages.
template <class Text>
std::vector<int> distinct(const axes& wanted, int rank, const char* function, const Text& of) {
  const auto refuse = [&](std::int64_t axis, const char* reason) {
    fail<index_error>(function, "axis ", axis, reason, of());
  };
  std::vector<int> list;
  for (const std::int64_t axis : wanted) {
    if (axis < -rank || axis >= rank) refuse(axis, " is out of range for ");
    const int a = static_cast<int>(axis < 0 ? axis + rank : axis);
    if (std::find(list.begin(), list.end(), a) != list.end()) refuse(axis, " is given twice for ");
    list.push_back(a);
  }
  return list;
}

}  // namespace

std::vector<int> distinct_axes(const axes& wanted, int rank, const char* function) {
  return distinct(wanted, rank, function, [&] { return "rank " + std::to_string(rank); });
}

std::vector<int> distinct_axes(const axes& wanted, const dims& shape, const char* function) {
  return distinct(wanted, shape.size(), function, [&] { return "shape " + core::to_string(shape); });
}

std::size_t list_length(std::int64_t count, const char* function) {
  constexpr std::int64_t most = std::int64_t{1} << 24;
  if (count > most) fail<memory_error>(function, "a list of ", count, " arrays; at most ", most, " are made at once");
  return static_cast<std::size_t>(count);
}

ndarray view_as(const ndarray& x, dims shape, dims strides, std::int64_t offset) {
  return ndarray_access::make(graph::make_view(*ndarray_access::ref(x), std::move(shape), std::move(strides), offset));
}

ndarray in_c_order(const ndarray& x) {
  const graph::array_view& v = *ndarray_access::ref(x);
  return v.whole ? x : wrap(graph::read(v));
}

ndarray slice_of(const ndarray& x, int axis, std::int64_t first, std::int64_t last) {
  const graph::array_view& v = view_of(x, "slice");
  dims shape = v.shape;
  shape[axis] = last - first;
  return view_as(x, shape, v.strides, shape[axis] == 0 ? v.offset : v.offset + first * v.strides[axis]);
}

graph::value reshape_value(const graph::value& v, const dims& shape) {
  return graph::record_view(v, shape, core::contiguous_strides(shape), 0);
}

}  // namespace sinter::ops
