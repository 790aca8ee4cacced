#include "ops/manipulate_axes.hpp"

#include <algorithm>
#include <string>

namespace sinter::ops {

std::vector<int> distinct_axes(const axes& wanted, int rank, const char* function) {
  std::vector<int> list;
  for (const int axis : wanted) {
    if (axis < -rank || axis >= rank)
      throw index_error("[" + std::string(function) + "] axis " + std::to_string(axis) +
                        " is out of range for rank " + std::to_string(rank));
    const int a = axis < 0 ? axis + rank : axis;
    if (std::find(list.begin(), list.end(), a) != list.end())
      throw index_error("[" + std::string(function) + "] axis " + std::to_string(axis) + " is given twice");
    list.push_back(a);
  }
  return list;
}

std::vector<int> distinct_axes(const axes& wanted, const dims& shape, const char* function) {
  for (const int axis : wanted) normalize_axis(axis, shape, function);
  return distinct_axes(wanted, shape.size(), function);
}

ndarray view_as(const ndarray& x, dims shape, dims strides, std::int64_t offset) {
  return ndarray_access::make(graph::make_view(*ndarray_access::ref(x), std::move(shape), std::move(strides), offset));
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
