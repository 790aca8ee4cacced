#include "ops/linalg/contract.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/shape.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::ops {
namespace {

using std::int64_t;

std::vector<int> others(int rank, const std::vector<int>& batch, const std::vector<int>& inner) {
  std::vector<int> rest;
  for (int a = 0; a < rank; ++a)
    if (std::find(batch.begin(), batch.end(), a) == batch.end() &&
        std::find(inner.begin(), inner.end(), a) == inner.end())
      rest.push_back(a);
  return rest;
}

/// A group of axes merged into one: its extent, and whether a view can express it.
struct joined {
  int64_t extent = 1;
  bool is_view = true;
};
joined join(const graph::array_view& v, const std::vector<int>& axes) {
  const dims shape = core::at_axes(v.shape, axes);
  const int64_t extent = core::element_count(shape);
  return {extent, core::reshape_strides(shape, core::at_axes(v.strides, axes), dims{extent}).has_value()};
}

std::vector<int> in_order(const std::vector<int>& axes, const std::vector<int>& order) {
  std::vector<int> out;
  for (const int k : order) out.push_back(axes[static_cast<std::size_t>(k)]);
  return out;
}

/// The order of the summed axes in which the fewest elements must be copied: as given, or by the strides of x or of y.
std::vector<int> best_order(const graph::array_view& x, const graph::array_view& y, const contraction& c) {
  std::vector<int> written(c.inner_x.size());
  std::iota(written.begin(), written.end(), 0);
  std::vector<int> as_x = written, as_y = written;
  const auto by_strides = [](const graph::array_view& v, const std::vector<int>& axes) {
    return [&v, &axes](int i, int k) {
      return std::abs(v.strides[axes[static_cast<std::size_t>(i)]]) >
             std::abs(v.strides[axes[static_cast<std::size_t>(k)]]);
    };
  };
  std::stable_sort(as_x.begin(), as_x.end(), by_strides(x, c.inner_x));
  std::stable_sort(as_y.begin(), as_y.end(), by_strides(y, c.inner_y));
  const auto copied = [&](const std::vector<int>& order) {
    return (join(x, in_order(c.inner_x, order)).is_view ? 0 : core::element_count(x.shape)) +
           (join(y, in_order(c.inner_y, order)).is_view ? 0 : core::element_count(y.shape));
  };
  std::vector<int> best = written;
  for (const auto* order : {&as_x, &as_y})
    if (copied(*order) < copied(best)) best = *order;
  return best;
}

/// The operand as (batch..., rows, inner) or (batch..., inner, columns): a view where strides allow it.
ndarray as_matrices(const ndarray& x, const std::vector<int>& batch, const std::vector<int>& first,
                    const std::vector<int>& second) {
  const graph::array_view& v = view_of(x, "contract");
  std::vector<int> order(batch);
  order.insert(order.end(), first.begin(), first.end());
  order.insert(order.end(), second.begin(), second.end());
  dims shape = core::at_axes(v.shape, batch);
  shape.push_back(join(v, first).extent);
  shape.push_back(join(v, second).extent);
  return reshape(permute_dims(x, axes(order)), to_shape(shape));
}

}  // namespace

dims dims_of(const std::vector<int>& list) {
  dims out;
  for (const int a : list) out.push_back(a);
  return out;
}

ndarray contract(const char* function, const ndarray& x, const ndarray& y, const contraction& c, dtype type,
                 const product_kw& kw) {
  const graph::array_view &a = view_of(x, function), &b = view_of(y, function);
  const std::vector<int> rows = others(a.shape.size(), c.batch_x, c.inner_x);
  const std::vector<int> columns = others(b.shape.size(), c.batch_y, c.inner_y);
  dims shape = core::at_axes(a.shape, c.batch_x);
  for (const int k : rows) shape.push_back(a.shape[k]);
  for (const int k : columns) shape.push_back(b.shape[k]);
  core::checked_count(shape, function);
  check_out(kw, shape, type, function);
  const std::vector<int> order = best_order(a, b, c);
  const ndarray left = as_matrices(x, c.batch_x, rows, in_order(c.inner_x, order));
  const ndarray right = as_matrices(y, c.batch_y, in_order(c.inner_y, order), columns);
  const dropped_axes drop{rows.empty(), columns.empty()};
  // If the result has the product's shape, BLAS may write directly into `out`.
  if (rows.size() <= 1 && columns.size() <= 1) return product_of(left, right, drop, type, kw);
  const ndarray result = product_of(left, right, drop, type, {.tf32 = kw.tf32});
  return delivered(reshape(result, to_shape(shape)), kw, function);
}

}  // namespace sinter::ops
