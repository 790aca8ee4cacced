// Views: reshaping, permuting and reversing axes, broadcasting, splitting.
#include "sinter/manipulate.hpp"

#include <algorithm>
#include <numeric>

#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/shape/memory_order.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

/// The extents, with -1 replaced by the extent that fits.
dims complete_shape(const graph::array_view& v, const shape_t& wanted, const char* function) {
  const auto refuse = [&](const char* why) {
    fail<shape_error>(function, "cannot reshape an array with shape ", v.shape, " into shape ", wanted, why);
  };
  dims shape = to_dims(wanted);
  const std::int64_t size = core::element_count(v.shape);
  int unknown = -1;
  for (int a = 0; a < shape.size(); ++a) {
    if (shape[a] != -1) continue;
    if (unknown >= 0) refuse(": only one extent may be -1");
    unknown = a;
    shape[a] = 1;
  }
  const std::int64_t known = core::checked_count(shape, function);
  if (unknown >= 0) {
    if (known == 0 || size % known != 0) refuse("");
    shape[unknown] = size / known;
  } else if (known != size) {
    refuse("");
  }
  return shape;
}

/// A view with the axes in this order.
ndarray permuted(const ndarray& x, const std::vector<int>& order) {
  const graph::array_view& v = view_of(x, "transpose");
  return view_as(x, core::at_axes(v.shape, order), core::at_axes(v.strides, order), v.offset);
}

ndarray permuted_as(const ndarray& x, const axes& permutation, const char* function) {
  const dims& shape = view_of(x, function).shape;
  if (permutation.size() != shape.size())
    fail<shape_error>(function, permutation.size(), " axes do not permute shape ", shape);
  return permuted(x, distinct_axes(permutation, shape, function));
}

std::vector<int> identity_order(int rank) {
  std::vector<int> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void require_rank(const ndarray& x, int rank, const char* function) {
  const dims& shape = view_of(x, function).shape;
  if (shape.size() < rank) fail<shape_error>(function, "shape ", shape, " has less than ", rank, " axes");
}

ndarray broadcast_view(const ndarray& x, const dims& shape) {
  const graph::array_view& v = *ndarray_access::ref(x);
  return view_as(x, shape, core::broadcast_strides(v.shape, v.strides, shape), v.offset);
}

std::vector<ndarray> parts_between(const ndarray& x, const std::vector<std::int64_t>& cuts, int axis) {
  std::vector<ndarray> parts;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
    parts.push_back(slice_of(x, axis, cuts[i], std::max(cuts[i], cuts[i + 1])));
  return parts;
}

}  // namespace

ndarray reshape(const ndarray& x, const shape_t& wanted, const reshape_kw& kw) {
  if (by_columns(x, kw.order, "reshape")) {
    dims turned = complete_shape(view_of(x, "reshape"), wanted, "reshape");
    std::reverse(turned.begin(), turned.end());
    return reshape(x.T(), to_shape(turned), {.copy = kw.copy}).T();
  }
  const graph::array_view& v = view_of(x, "reshape");
  const dims shape = complete_shape(v, wanted, "reshape");
  const bool always_copy = kw.copy && *kw.copy;
  const auto strides = always_copy ? std::nullopt : core::reshape_strides(v.shape, v.strides, shape);
  if (strides) return view_as(x, shape, *strides, v.offset);
  if (kw.copy && !*kw.copy)
    fail<value_error>("reshape", "shape ", v.shape, " with these strides has no view of shape ", shape,
                      ", and copy = false");
  return wrap(reshape_value(value_of(x, "reshape"), shape));
}

ndarray ravel(const ndarray& x, const order_kw& kw) {
  return reshape(in_memory_order(x, kw.order, "ravel"), core::element_count(view_of(x, "ravel").shape));
}

ndarray flatten(const ndarray& x, const order_kw& kw) {
  return wrap(flattened(value_of(in_memory_order(x, kw.order, "flatten"), "flatten")));
}

ndarray transpose(const ndarray& x, const permutation_kw& kw) {
  const axes& permutation = kw.axes;
  if (permutation.given()) return permuted_as(x, permutation, "transpose");
  std::vector<int> order = identity_order(view_of(x, "transpose").shape.size());
  std::reverse(order.begin(), order.end());
  return permuted(x, order);
}

ndarray permute_dims(const ndarray& x, const permutation_kw& kw) { return permuted_as(x, kw.axes, "permute_dims"); }

ndarray matrix_transpose(const ndarray& x) {
  require_rank(x, 2, "matrix_transpose");
  return swapaxes(x, -1, -2);
}

ndarray moveaxis(const ndarray& x, const axes& source, const axes& destination) {
  const dims& shape = view_of(x, "moveaxis").shape;
  const std::vector<int> from = distinct_axes(source, shape, "moveaxis");
  const std::vector<int> to = distinct_axes(destination, shape, "moveaxis");
  if (from.size() != to.size())
    fail<value_error>("moveaxis", from.size(), " source axes, but ", to.size(), " destinations for shape ", shape);
  std::vector<int> order(static_cast<std::size_t>(shape.size()), -1);
  for (std::size_t i = 0; i < from.size(); ++i) order[static_cast<std::size_t>(to[i])] = from[i];
  int next = 0;
  for (int& place : order) {
    if (place >= 0) continue;
    while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
    place = next++;
  }
  return permuted(x, order);
}

ndarray swapaxes(const ndarray& x, std::int64_t first, std::int64_t second) {
  const dims& shape = view_of(x, "swapaxes").shape;
  std::vector<int> order = identity_order(shape.size());
  std::swap(order[static_cast<std::size_t>(normalize_axis(first, shape, "swapaxes"))],
            order[static_cast<std::size_t>(normalize_axis(second, shape, "swapaxes"))]);
  return permuted(x, order);
}

ndarray expand_dims(const ndarray& x, const some_axes_kw& kw) {
  const axes& axis = kw.axis;
  const graph::array_view& v = view_of(x, "expand_dims");
  const int rank = v.shape.size() + axis.size();
  std::vector<int> places = distinct_axes(axis, rank, "expand_dims");
  std::sort(places.begin(), places.end());
  dims shape = v.shape, strides = v.strides;
  for (const int place : places) {
    shape.insert(place, 1);
    strides.insert(place, 0);
  }
  core::checked_count(shape, "expand_dims");
  return view_as(x, shape, strides, v.offset);
}

ndarray squeeze(const ndarray& x, const some_axes_kw& kw) {
  const axes& axis = kw.axis;
  const graph::array_view& v = view_of(x, "squeeze");
  const bool of_number = v.shape.empty() && axis.size() == 1 && (*axis.begin() == 0 || *axis.begin() == -1);
  if (of_number) return view_as(x, v.shape, v.strides, v.offset);  // as NumPy
  const std::vector<int> named = distinct_axes(axis, v.shape, "squeeze");
  dims shape, strides;
  for (int a = 0; a < v.shape.size(); ++a) {
    const bool drop = axis.given() ? std::find(named.begin(), named.end(), a) != named.end() : v.shape[a] == 1;
    if (drop && v.shape[a] != 1)
      fail<shape_error>("squeeze", "axis ", a, " of shape ", v.shape, " has an extent other than 1");
    if (drop) continue;
    shape.push_back(v.shape[a]);
    strides.push_back(v.strides[a]);
  }
  return view_as(x, shape, strides, v.offset);
}

ndarray broadcast_to(const ndarray& x, const shape_t& wanted) {
  const graph::array_view& v = view_of(x, "broadcast_to");
  const dims shape = to_dims(wanted);
  core::checked_count(shape, "broadcast_to");
  if (!core::broadcasts_to(v.shape, shape))
    fail<shape_error>("broadcast_to", "shape ", v.shape, " does not broadcast to ", shape);
  return ndarray_access::make(
      graph::make_view(v, shape, core::broadcast_strides(v.shape, v.strides, shape), v.offset, /*readonly=*/true));
}

shape_t broadcast_shapes(std::initializer_list<shape_t> shapes) {
  std::vector<dims> all;
  for (const shape_t& s : shapes) {
    all.push_back(to_dims(s));
    core::checked_count(all.back(), "broadcast_shapes");
  }
  std::vector<const dims*> pointers;
  for (const dims& d : all) pointers.push_back(&d);
  return to_shape(ops::broadcast_shapes(std::span<const dims* const>(pointers), "broadcast_shapes"));
}

std::vector<ndarray> broadcast_arrays(const std::vector<ndarray>& arrays) {
  std::vector<const dims*> shapes;
  for (const ndarray& a : arrays) shapes.push_back(&view_of(a, "broadcast_arrays").shape);
  const dims shape = ops::broadcast_shapes(std::span<const dims* const>(shapes), "broadcast_arrays");
  std::vector<ndarray> out;
  for (const ndarray& a : arrays) out.push_back(broadcast_view(a, shape));
  return out;
}

ndarray atleast_1d(const ndarray& x) { return view_of(x, "atleast_1d").shape.empty() ? expand_dims(x, 0) : x; }

ndarray atleast_2d(const ndarray& x) {
  const int rank = view_of(x, "atleast_2d").shape.size();
  return rank == 0 ? expand_dims(x, axes{0, 1}) : rank == 1 ? expand_dims(x, 0) : x;
}

ndarray atleast_3d(const ndarray& x) {
  switch (view_of(x, "atleast_3d").shape.size()) {
    case 0: return expand_dims(x, axes{0, 1, 2});
    case 1: return expand_dims(x, axes{0, 2});
    case 2: return expand_dims(x, 2);
    default: return x;
  }
}

ndarray flip(const ndarray& x, const some_axes_kw& kw) {
  const axes& axis = kw.axis;
  const graph::array_view& v = view_of(x, "flip");
  const std::vector<int> reversed =
      axis.given() ? distinct_axes(axis, v.shape, "flip") : identity_order(v.shape.size());
  dims strides = v.strides;
  std::int64_t offset = v.offset;
  const bool empty = core::element_count(v.shape) == 0;
  for (const int a : reversed) {
    if (!empty) offset += (v.shape[a] - 1) * strides[a];
    strides[a] = -strides[a];
  }
  return view_as(x, v.shape, strides, offset);
}

ndarray fliplr(const ndarray& x) {
  require_rank(x, 2, "fliplr");
  return flip(x, 1);
}

ndarray flipud(const ndarray& x) {
  require_rank(x, 1, "flipud");
  return flip(x, 0);
}

ndarray rot90(const ndarray& x, std::int64_t k, const axes& plane) {
  require_rank(x, 2, "rot90");
  if (plane.size() != 2) fail<value_error>("rot90", "needs two axes, not ", plane.size());
  const std::vector<int> a = distinct_axes(plane, view_of(x, "rot90").shape, "rot90");
  switch ((k % 4 + 4) % 4) {
    case 0: return x;
    case 1: return swapaxes(flip(x, a[1]), a[0], a[1]);
    case 2: return flip(x, axes{a[0], a[1]});
    default: return flip(swapaxes(x, a[0], a[1]), a[1]);
  }
}

std::vector<ndarray> unstack(const ndarray& x, std::int64_t axis) {
  const graph::array_view& v = view_of(x, "unstack");
  require_rank(x, 1, "unstack");
  const int a = normalize_axis(axis, v.shape, "unstack");
  dims shape = v.shape, strides = v.strides;
  shape.erase(a);
  strides.erase(a);
  std::vector<ndarray> out;
  out.reserve(list_length(v.shape[a], "unstack"));
  for (std::int64_t i = 0; i < v.shape[a]; ++i) out.push_back(view_as(x, shape, strides, v.offset + i * v.strides[a]));
  return out;
}

std::vector<ndarray> array_split(const ndarray& x, std::int64_t sections, std::int64_t axis) {
  const dims& shape = view_of(x, "array_split").shape;
  const int a = normalize_axis(axis, shape, "array_split");
  if (sections <= 0) fail<value_error>("array_split", "the number of sections must be above 0, not ", sections);
  std::vector<std::int64_t> cuts{0};
  cuts.reserve(list_length(sections, "array_split") + 1);
  const std::int64_t each = shape[a] / sections, longer = shape[a] % sections;
  for (std::int64_t i = 0; i < sections; ++i) cuts.push_back(cuts.back() + each + (i < longer ? 1 : 0));
  return parts_between(x, cuts, a);
}

std::vector<ndarray> split(const ndarray& x, std::int64_t sections, std::int64_t axis) {
  const dims& shape = view_of(x, "split").shape;
  const int a = normalize_axis(axis, shape, "split");
  if (sections <= 0 || shape[a] % sections != 0)
    fail<value_error>("split", "axis ", axis, " of shape ", shape, " does not divide into ", sections,
                      " equal sections");
  return array_split(x, sections, axis);
}

std::vector<ndarray> split(const ndarray& x, const std::vector<std::int64_t>& indices, std::int64_t axis) {
  const dims& shape = view_of(x, "split").shape;
  const int a = normalize_axis(axis, shape, "split");
  std::vector<std::int64_t> cuts{0};
  for (const std::int64_t i : indices) cuts.push_back(std::clamp(i < 0 ? i + shape[a] : i, std::int64_t{0}, shape[a]));
  cuts.push_back(shape[a]);
  return parts_between(x, cuts, a);
}

namespace {

int hsplit_axis(const ndarray& x) {
  require_rank(x, 1, "hsplit");
  return x.ndim() == 1 ? 0 : 1;
}

}  // namespace

std::vector<ndarray> vsplit(const ndarray& x, std::int64_t sections) {
  require_rank(x, 2, "vsplit");
  return split(x, sections, 0);
}
std::vector<ndarray> vsplit(const ndarray& x, const std::vector<std::int64_t>& indices) {
  require_rank(x, 2, "vsplit");
  return split(x, indices, 0);
}
std::vector<ndarray> hsplit(const ndarray& x, std::int64_t sections) { return split(x, sections, hsplit_axis(x)); }
std::vector<ndarray> hsplit(const ndarray& x, const std::vector<std::int64_t>& indices) {
  return split(x, indices, hsplit_axis(x));
}
std::vector<ndarray> dsplit(const ndarray& x, std::int64_t sections) {
  require_rank(x, 3, "dsplit");
  return split(x, sections, 2);
}
std::vector<ndarray> dsplit(const ndarray& x, const std::vector<std::int64_t>& indices) {
  require_rank(x, 3, "dsplit");
  return split(x, indices, 2);
}

ndarray rollaxis(const ndarray& x, std::int64_t axis, std::int64_t start) {
  const dims& shape = view_of(x, "rollaxis").shape;
  const int from = normalize_axis(axis, shape, "rollaxis");
  const std::int64_t n = shape.size(), before = start < 0 ? start + n : start;
  if (before < 0 || before > n) fail<index_error>("rollaxis", "start ", start, " is out of range for shape ", shape);
  return moveaxis(x, from, before > from ? before - 1 : before);
}

}  // namespace sinter::inline v0
