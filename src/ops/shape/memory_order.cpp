// Orders in memory, copies in them, and views of the same bytes in another dtype.
#include "ops/shape/memory_order.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "sinter/creation.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::ops {
namespace {

bool lies_by_columns(const graph::array_view& v) {
  dims shape = v.shape, strides = v.strides;
  std::reverse(shape.begin(), shape.end());
  std::reverse(strides.begin(), strides.end());
  return core::is_contiguous(shape, strides);
}
bool lies_by_columns_only(const graph::array_view& v) {
  return lies_by_columns(v) && !core::is_contiguous(v.shape, v.strides);
}

[[noreturn]] void refuse_order(char order, const char* known, const char* function) {
  fail<value_error>(function, "order is ", known, ", not '", std::string(1, order), "'");
}

/// The axes from the slowest in memory to the fastest; of equal strides in their order.
std::vector<int> axes_by_stride(const graph::array_view& v) {
  std::vector<int> order(static_cast<std::size_t>(v.shape.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return std::abs(v.strides[a]) > std::abs(v.strides[b]); });
  return order;
}

ndarray with_axes(const ndarray& x, const std::vector<int>& axes) {
  const graph::array_view& v = *ndarray_access::ref(x);
  return view_as(x, core::at_axes(v.shape, axes), core::at_axes(v.strides, axes), v.offset);
}

}  // namespace

std::vector<int> axes_in_memory(int rank, char order, const char* function) {
  if (order != 'C' && order != 'F') refuse_order(order, "C or F", function);
  std::vector<int> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (order == 'F') std::reverse(axes.begin(), axes.end());
  return axes;
}

std::vector<int> axes_in_memory(const ndarray& x, char order, const char* function) {
  const graph::array_view& v = view_of(x, function);
  if (order == 'K') return axes_by_stride(v);
  if (order != 'C' && order != 'F' && order != 'A') refuse_order(order, "C, F, A or K", function);
  const bool columns = order == 'F' || (order == 'A' && lies_by_columns_only(v));
  return axes_in_memory(v.shape.size(), columns ? 'F' : 'C', function);
}

ndarray seen_from_memory(const ndarray& in_memory, const std::vector<int>& axes) {
  std::vector<int> back(axes.size());
  for (std::size_t k = 0; k < axes.size(); ++k) back[static_cast<std::size_t>(axes[k])] = static_cast<int>(k);
  return with_axes(in_memory, back);
}

ndarray laid_out(const ndarray& x, char order, const char* function) {
  if (order != 'C' && order != 'F') refuse_order(order, "C or F", function);
  return order == 'C' ? x : x.copy({.order = 'F'});
}

bool by_columns(const ndarray& x, char order, const char* function) {
  if (order == 'A') return lies_by_columns_only(view_of(x, function));
  if (order != 'C' && order != 'F') refuse_order(order, "C, F or A", function);
  return order == 'F';
}

ndarray in_memory_order(const ndarray& x, char order, const char* function) {
  return order == 'C' ? x : with_axes(x, axes_in_memory(x, order, function));
}

}  // namespace sinter::ops

namespace sinter::inline v0 {

using namespace ops;

// Values are immutable, so a second array that holds the same value is a copy; bytes are copied on write.
ndarray ndarray::copy(const order_kw& kw) const {
  if (kw.order == 'C') return wrap(value_of(*this, "copy"));
  const std::vector<int> axes = axes_in_memory(*this, kw.order, "copy");
  return seen_from_memory(wrap(value_of(with_axes(*this, axes), "copy")), axes);
}

bool isfortran(const ndarray& x) { return lies_by_columns_only(view_of(x, "isfortran")); }

ndarray asfortranarray(const ndarray& x) {
  return lies_by_columns(view_of(x, "asfortranarray")) ? x : x.copy({.order = 'F'});
}

ndarray ndarray::view(sinter::dtype to) const {
  const graph::array_view& v = view_of(*this, "view");
  const auto from_size = static_cast<std::int64_t>(itemsize(v.type)), to_size = static_cast<std::int64_t>(itemsize(to));
  dims shape = v.shape, strides = v.strides;
  if (from_size != to_size) {
    const int last = shape.size() - 1;
    if (last < 0) fail<shape_error>("view", "an array of shape () and dtype ", v.type, " has no axis to view as ", to);
    if (shape[last] > 1 && strides[last] != 1)
      fail<value_error>("view", "the last axis of shape ", shape, " is not contiguous; to view ", v.type, " as ", to,
                        " it must be");
    if (shape[last] * from_size % to_size != 0)
      fail<shape_error>("view", "the last axis of shape ", shape, " and dtype ", v.type, " does not divide into ", to);
    shape[last] = shape[last] * from_size / to_size;
  }
  if (core::element_count(shape) == 0) return zeros(to_shape(shape), {.dtype = to, .device = device()});
  graph::pin(v);
  const graph::value whole = v.store->now();
  const auto held_size = static_cast<std::int64_t>(itemsize(whole->type));  // of parts that of the complex numbers
  const std::int64_t first = whole->buffer_offset * held_size + v.offset * from_size;
  bool fits = first % to_size == 0;
  for (int a = 0; a < strides.size(); ++a) {
    const bool resized = from_size != to_size && a == strides.size() - 1;
    fits = fits && (resized || shape[a] <= 1 || strides[a] * from_size % to_size == 0);
    strides[a] = resized ? 1 : strides[a] * from_size / to_size;
  }
  if (!fits)
    fail<value_error>("view", "strides and offset of shape ", v.shape, " and dtype ", v.type, " are no multiples of ",
                      to);
  const std::int64_t bytes = (whole->buffer_offset + whole->size()) * held_size;
  return ndarray_access::make(graph::from_buffer(whole->buffer, bytes / to_size, to, shape, strides, first / to_size,
                                                 /*live=*/true, v.readonly));
}

}  // namespace sinter::inline v0
