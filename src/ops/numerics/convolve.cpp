// Convolution and correlation of vectors, summed directly: each element is a reduction over a window, which is a view, or for
// short vectors a sum written out.
#include <algorithm>
#include <vector>

#include "ops/base/axes.hpp"
#include "ops/base/elementwise_values.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/numerics.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

void require_vector(const ndarray& x, const char* function) {
  const dims& shape = view_of(x, function).shape;
  if (shape.size() != 1 || shape[0] == 0)
    fail<shape_error>(function, "needs vectors that are not empty, not shape ", shape);
}

/// Sums of x(n + k) * y(n), where y is not longer. `before` elements of overlap are missing at the first k.
ndarray sums_of_products(const ndarray& x, const ndarray& y, std::int64_t before, std::int64_t count) {
  const std::int64_t n = x.shape(0), m = y.shape(0);
  const bool whole = before == 0 && count == n - m + 1;
  const ndarray room =
      whole ? x
            : concatenate({zeros({before}, {.dtype = x.dtype(), .device = x.device()}), x,
                           zeros({count + m - 1 - before - n}, {.dtype = x.dtype(), .device = x.device()})});
  const graph::array_view& v = *ndarray_access::ref(room);
  const ndarray windows = view_as(room, dims{count, m}, dims{v.strides[0], v.strides[0]}, v.offset);
  const ndarray products = windows * y;
  if (whole) return sum(products, 1, {.dtype = products.dtype()});
  // Nothing is no factor: 0 * NaN must not take part.
  const dims shape{count, m};
  const value at =
      map_of(opcode::add, int64, graph::record_iota(shape, 0, v.device()), graph::record_iota(shape, 1, v.device()));
  const ndarray position = wrap(at) - before;
  const ndarray inside = logical_and(greater_equal(position, 0), less(position, n));
  return sum(products, 1, {.dtype = products.dtype(), .where = inside});
}

/// The elements of complete overlaps, for few of y: products of shifted ranges, which are one pass over x.
ndarray sums_of_shifts(const ndarray& x, const ndarray& y) {
  const std::int64_t n = x.shape(0), m = y.shape(0);
  ndarray out;
  for (std::int64_t k = 0; k < m; ++k) {
    const ndarray product = multiply(slice_of(x, 0, k, n - m + 1 + k), slice_of(y, 0, k, k + 1));
    out = k == 0 ? product : add(out, product);
  }
  return out;
}

constexpr std::int64_t few = 32, some = 256;

/// The same for some of y: `few` at a time, whose kernels are one.
ndarray sums_of_many_shifts(const ndarray& x, const ndarray& y) {
  const std::int64_t n = x.shape(0), m = y.shape(0), count = n - m + 1;
  ndarray out;
  for (std::int64_t first = 0; first < m; first += few) {
    const std::int64_t last = std::min(first + few, m);
    const ndarray part = sums_of_shifts(slice_of(x, 0, first, count + last - 1), slice_of(y, 0, first, last));
    out = first == 0 ? part : add(out, part);
  }
  return out;
}

/// sums_of_products with few of y, the overlaps that are not complete apart.
ndarray sums_by_parts(const ndarray& x, const ndarray& y, std::int64_t before, std::int64_t count) {
  const std::int64_t n = x.shape(0), m = y.shape(0), behind = before + n - m + 1;
  const ndarray inside = sums_of_many_shifts(x, y);
  std::vector<ndarray> parts;
  if (before > 0) parts.push_back(sums_of_products(slice_of(x, 0, 0, m - 1), y, before, before));
  parts.push_back(inside);
  if (count > behind) parts.push_back(sums_of_products(slice_of(x, 0, n - m + 1, n), y, 0, count - behind));
  return parts.size() == 1 ? inside : concatenate(parts);
}

ndarray sums_of(const ndarray& x, const ndarray& y, std::int64_t before, std::int64_t count) {
  // 16-bit floats are summed in float32.
  const dtype type = promote_types(x.dtype(), y.dtype());
  const bool narrow = type == float16 || type == bfloat16;
  const bool by_parts = y.shape(0) <= some && y.shape(0) <= x.shape(0) / 8 + few && !narrow;
  return by_parts ? sums_by_parts(x, y, before, count) : sums_of_products(x, y, before, count);
}

/// The modes of NumPy, where y is not longer.
ndarray overlapped(const ndarray& x, const ndarray& y, std::string_view mode, const char* function) {
  const std::int64_t n = x.shape(0), m = y.shape(0);
  if (mode == "valid") return sums_of(x, y, 0, n - m + 1);
  if (mode == "same") return sums_of(x, y, m / 2, n);
  if (mode == "full") return sums_of(x, y, m - 1, n + m - 1);
  fail<value_error>(function, "the mode is 'full', 'same' or 'valid', not '", mode, "'");
}

}  // namespace

ndarray convolve(const ndarray& x, const ndarray& y, std::string_view mode) {
  require_vector(x, "convolve");
  require_vector(y, "convolve");
  common_device(x, y, "convolve");
  const bool swap = y.shape(0) > x.shape(0);
  return overlapped(swap ? y : x, flip(swap ? x : y), mode, "convolve");
}

ndarray correlate(const ndarray& x, const ndarray& y, std::string_view mode) {
  require_vector(x, "correlate");
  require_vector(y, "correlate");
  common_device(x, y, "correlate");
  const ndarray second = is_complex(y.dtype()) ? conj(y) : y;
  if (y.shape(0) <= x.shape(0)) return overlapped(x, second, mode, "correlate");
  return in_c_order(flip(overlapped(second, x, mode, "correlate")));
}

}  // namespace sinter::inline v0
