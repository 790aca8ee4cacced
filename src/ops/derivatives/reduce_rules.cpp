#include "ops/derivatives/reduce_rules.hpp"

#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/elementwise_values.hpp"
#include "ops/derivatives/node_rules.hpp"
#include "ops/derivatives/walks.hpp"
#include "sinter/elementwise.hpp"

namespace sinter::ops::derivatives {
namespace {

using graph::node;
using jit::reduce_op;

/// The reduced axes of a node over its operand.
struct reduction {
  dims shape;  // of the operand
  bool over[core::max_rank] = {};
  std::int64_t count = 1;

  reduction(const node& n, const ndarray& x) : shape(value_of(x)->shape) {
    for (int a = 0; a < shape.size(); ++a)
      if ((over[a] = n.reduce().is_over(a))) count *= shape[a];
  }
  std::span<const bool> axes() const { return {over, static_cast<std::size_t>(shape.size())}; }

  /// A result over the operand's shape: a view.
  ndarray spread_out(const ndarray& y) const {
    const value v = value_of(y);
    const dims dense = core::contiguous_strides(v->shape);
    dims strides;
    for (int a = 0, k = 0; a < shape.size(); ++a) strides.push_back(over[a] ? 0 : dense[k++]);
    return wrap(graph::record_view(v, shape, strides, 0));
  }
  ndarray sum(const ndarray& x) const {
    const value v = value_of(x);
    return wrap(graph::record_reduce(reduce_op::sum, v->type, v, axes()));
  }
  ndarray mean(const ndarray& x) const { return sum(x) / static_cast<double>(count); }
};

/// Where an element is the extremum: 1 in the dtype.
ndarray winners(const reduction& r, const ndarray& x, const ndarray& y) {
  return equal(x, r.spread_out(y)).astype(x.dtype());
}

/// The product along the reduced axes by halves, as multiplications, whose derivatives need no division.
ndarray product_by_halves(const reduction& r, const ndarray& x) {
  // The reduced axes as one, first.
  const value v = value_of(x);
  const dims dense = core::contiguous_strides(v->shape);
  dims shape, strides, kept;
  for (const bool reduced : {true, false})
    for (int a = 0; a < r.shape.size(); ++a) {
      if (r.over[a] != reduced) continue;
      shape.push_back(r.shape[a]);
      strides.push_back(dense[a]);
      if (!reduced) kept.push_back(r.shape[a]);
    }
  dims rows = kept;
  rows.insert(0, r.count);
  ndarray all = wrap(reshape_value(graph::record_view(v, shape, strides, 0), rows));
  for (std::int64_t n = r.count; n > 1; n = n - n / 2) {
    const std::int64_t half = n / 2;
    const ndarray product = slice_of(all, 0, 0, half) * slice_of(all, 0, n - half, n);
    if (n % 2 == 0) {
      all = product;
      continue;
    }
    // The one in the middle stays: [0, half) products, then the middle.
    dims one = rows;
    one[0] = half + 1;
    const value middle = value_of(slice_of(all, 0, half, half + 1));
    value joined = graph::record_unset(v->type, one, v->device);
    dims part = rows;
    part[0] = half;
    const dims along = core::contiguous_strides(one);
    joined = graph::record_update(joined, along, 0, value_of(product));
    joined = graph::record_update(joined, along, half * along[0], middle);
    all = wrap(joined);
  }
  return wrap(reshape_value(value_of(all), kept));
}

}  // namespace

const char* reason_without_rule(reduce_op op) {
  switch (op) {
    case reduce_op::argmin:
    case reduce_op::argmax:
    case reduce_op::count: return "the result is an integer";
    case reduce_op::any:
    case reduce_op::all: return "the result is a bool";
    case reduce_op::user:
      return "a reduction of the user's has no derivative but the one that custom_derivative gives it";
    case reduce_op::sum:
    case reduce_op::prod:
    case reduce_op::min:
    case reduce_op::max:
    case reduce_op::moment2: return nullptr;
  }
  return "it has no rule";
}

ndarray reduced_back(const node& n, const ndarray& x, const ndarray& y, const ndarray& g) {
  const reduction r(n, x);
  switch (n.reduce().op) {
    case reduce_op::sum: return r.spread_out(g);
    case reduce_op::prod:
      return pulled_back([&](std::span<const ndarray> a) { return std::vector<ndarray>{product_by_halves(r, a[0])}; },
                         std::span(&x, 1), std::span(&g, 1))[0];
    case reduce_op::min:
    case reduce_op::max: {
      const ndarray w = winners(r, x, y);
      return r.spread_out(g / r.sum(w)) * w;
    }
    default: {  // moment2: the sum of |x - mean|^2
      const ndarray d = x - r.spread_out(r.mean(x));
      return r.spread_out(2 * g) * (is_complex(x.dtype()) ? conj(d) : d);
    }
  }
}

ndarray reduced_forward(const node& n, const ndarray& x, const ndarray& y, const ndarray& t) {
  const reduction r(n, x);
  switch (n.reduce().op) {
    case reduce_op::sum: return r.sum(t);
    case reduce_op::prod:
      return pushed_forward(
          [&](std::span<const ndarray> a) { return std::vector<ndarray>{product_by_halves(r, a[0])}; },
          std::span(&x, 1), std::span(&t, 1))[0];
    case reduce_op::min:
    case reduce_op::max: {
      const ndarray w = winners(r, x, y);
      return r.sum(t * w) / r.sum(w);
    }
    default: {
      const ndarray d = x - r.spread_out(r.mean(x));
      return r.sum(2 * (is_complex(x.dtype()) ? ndarray(real(conj(d) * t)) : d * t));
    }
  }
}

}  // namespace sinter::ops::derivatives
