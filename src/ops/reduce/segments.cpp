// Reductions by functions of two elements, by halves, and of segments.
#include "sinter/segments.hpp"

#include "ops/base/axes.hpp"
#include "ops/base/type_rules.hpp"
#include "sinter/creation.hpp"
#include "sinter/dtype_info.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/scan.hpp"
#include "sinter/take.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

// The first half combined with the second, until one element is left; an odd one in the middle waits.
template <class F>
ndarray by_halves(ndarray x, int axis, F combine) {
  for (std::int64_t n = x.shape(axis); n > 1; n = (n + 1) / 2) {
    const std::int64_t first = (n + 1) / 2, pairs = n / 2;
    const ndarray joined = combine(slice_of(x, axis, 0, pairs), slice_of(x, axis, first, n));
    x = first == pairs ? joined : concatenate({joined, slice_of(x, axis, pairs, first)}, axis);
  }
  return x;
}

template <class F>
ndarray fold(const ndarray& x, const optional_axis& axis, const fold_kw& kw, const char* function,
             const std::optional<scalar>& of_nothing, F combine) {
  const dims shape = view_of(x, function).shape;
  if (axis && shape.empty() && (*axis == 0 || *axis == -1))
    return fold(x, std::nullopt, kw, function, of_nothing, combine);
  const ndarray all = axis ? x : ravel(x);
  const int a = axis ? normalize_axis(*axis, shape, function) : 0;
  ndarray found;
  if (all.shape(a) > 0) {
    found = by_halves(all.copy(), a, combine);
  } else {
    if (!of_nothing) fail<value_error>(function, "there is none of no elements, shape ", shape);
    dims one = view_of(all, function).shape;
    one[a] = 1;
    found = full(to_shape(one), *of_nothing, {.dtype = all.dtype(), .device = all.device()});
  }
  if (!kw.keepdims) return in_c_order(squeeze(found, a));
  return in_c_order(axis ? found : reshape(found, to_shape(dims(shape.size(), 1))));
}

void check_integers(const ndarray& x, bool bools, const char* function) {
  const dtype t = (view_of(x, function), x.dtype());
  if (!is_integer(t) && !(bools && t == bool_)) fail<dtype_error>(function, "not for ", t);
}

/// The extents of segments and what is in them, one behind the other along axis 0.
struct segments {
  ndarray elements, numbers, firsts;  // what, of which segment each is, the first of each
};

std::vector<std::int64_t> places_of(const ndarray& indices, const char* function) {
  if (view_of(indices, function).shape.size() != 1)
    fail<shape_error>(function, "indices of shape ", indices.shape(), " are no vector");
  check_integers(indices, false, function);
  return indices.astype(int64, false).to_vector<std::int64_t>();
}

segments cut(const ndarray& x, const ndarray& indices, const char* function) {
  const std::int64_t n = x.shape(0);
  const std::vector<std::int64_t> first = places_of(indices, function);
  std::vector<std::int64_t> from, number;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] < 0 || first[i] >= n)
      fail<index_error>(function, "index ", first[i], " is out of bounds for an axis of extent ", n);
    const std::int64_t next = i + 1 < first.size() ? first[i + 1] : n;
    for (std::int64_t k = first[i]; k < std::max(next, first[i] + 1); ++k) {
      from.push_back(k);
      number.push_back(static_cast<std::int64_t>(i));
    }
  }
  const auto here = [&](const std::vector<std::int64_t>& v) {
    return array(v, {.dtype = int64, .device = x.device()});
  };
  const ndarray elements = take(x, here(from), 0);
  return {elements, here(number), take(x, here(first), 0)};
}

using scatter_extremes = void (*)(subarray&&, const operand&, const scatter_kw&);
ndarray extremes_of_segments(const ndarray& x, const ndarray& indices, std::int64_t axis, const char* function,
                             scatter_extremes scatter) {
  const int a = normalize_axis(axis, view_of(x, function).shape, function);
  const segments s = cut(moveaxis(x, a, 0), indices, function);
  const ndarray found = s.firsts.copy();
  scatter(found(s.numbers), s.elements, {});
  return in_c_order(moveaxis(found, 0, a));
}

}  // namespace

ndarray bitwise_and_reduce(const ndarray& x, optional_axis axis, const fold_kw& kw) {
  check_integers(x, true, "bitwise_and_reduce");
  const scalar ones = x.dtype() == bool_               ? scalar(true)
                      : is_unsigned_integer(x.dtype()) ? scalar(iinfo(x.dtype()).max)
                                                       : scalar(-1);
  return fold(x, axis, kw, "bitwise_and_reduce", ones, [](const ndarray& a, const ndarray& b) { return a & b; });
}
ndarray bitwise_or_reduce(const ndarray& x, optional_axis axis, const fold_kw& kw) {
  check_integers(x, true, "bitwise_or_reduce");
  return fold(x, axis, kw, "bitwise_or_reduce", scalar(0), [](const ndarray& a, const ndarray& b) { return a | b; });
}
ndarray bitwise_xor_reduce(const ndarray& x, optional_axis axis, const fold_kw& kw) {
  check_integers(x, true, "bitwise_xor_reduce");
  return fold(x, axis, kw, "bitwise_xor_reduce", scalar(0), [](const ndarray& a, const ndarray& b) { return a ^ b; });
}
ndarray logical_xor_reduce(const ndarray& x, optional_axis axis, const fold_kw& kw) {
  view_of(x, "logical_xor_reduce");
  return fold(x.astype(bool_, false), axis, kw, "logical_xor_reduce", scalar(false),
              [](const ndarray& a, const ndarray& b) { return a ^ b; });
}
ndarray gcd_reduce(const ndarray& x, optional_axis axis, const fold_kw& kw) {
  check_integers(x, false, "gcd_reduce");
  return fold(absolute(x), axis, kw, "gcd_reduce", scalar(0),
              [](const ndarray& a, const ndarray& b) { return gcd(a, b); });
}
ndarray lcm_reduce(const ndarray& x, optional_axis axis, const fold_kw& kw) {
  check_integers(x, false, "lcm_reduce");
  return fold(x, axis, kw, "lcm_reduce", std::nullopt, [](const ndarray& a, const ndarray& b) { return lcm(a, b); });
}

ndarray add_reduceat(const ndarray& x, const ndarray& indices, std::int64_t axis) {
  const int a = normalize_axis(axis, view_of(x, "add_reduceat").shape, "add_reduceat");
  const dtype t = x.dtype();
  const dtype wide = t == bool_ ? int64 : is_unsigned_integer(t) ? uint64 : is_integer(t) ? int64 : t;
  const segments s = cut(moveaxis(x.astype(wide, false), a, 0), indices, "add_reduceat");
  const ndarray sums = zeros_like(s.firsts);
  add_at(sums(s.numbers), s.elements, {.deterministic = true});
  return in_c_order(moveaxis(sums, 0, a));
}
ndarray maximum_reduceat(const ndarray& x, const ndarray& indices, std::int64_t axis) {
  return extremes_of_segments(x, indices, axis, "maximum_reduceat", scatter_max);
}
ndarray minimum_reduceat(const ndarray& x, const ndarray& indices, std::int64_t axis) {
  return extremes_of_segments(x, indices, axis, "minimum_reduceat", scatter_min);
}

std::vector<ndarray> split(const ndarray& x, const ndarray& indices, std::int64_t axis) {
  return split(x, places_of(indices, "split"), axis);
}
std::vector<ndarray> array_split(const ndarray& x, const ndarray& indices, std::int64_t axis) {
  return split(x, places_of(indices, "array_split"), axis);
}

}  // namespace sinter::inline v0
