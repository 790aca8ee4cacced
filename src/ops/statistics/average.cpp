// Weighted means, covariances and correlations.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ops/statistics/weights.hpp"
#include "sinter/creation.hpp"
#include "sinter/dtype_info.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/linalg_norms.hpp"
#include "sinter/products.hpp"
#include "sinter/reduce.hpp"
#include "sinter/statistics.hpp"

namespace sinter::ops {

ndarray weights_over(const ndarray& x, const ndarray& weights, const axes& axis, const char* function) {
  const dims &shape = view_of(x, function).shape, &given = view_of(weights, function).shape;
  common_device(x, weights, function);
  if (given == shape) return weights;
  if (!axis.given())
    fail<value_error>(function, "weights of shape ", given, " for elements of shape ", shape, " need an axis");
  const std::vector<int> along = distinct_axes(axis, shape, function);
  dims wanted, spread(shape.size(), 1);
  for (const int a : along) {
    wanted.push_back(shape[a]);
    spread[a] = shape[a];
  }
  if (!(given == wanted))
    fail<shape_error>(function, "weights of shape ", given, ", but the axes have the extents ", wanted);
  // In the order of the axes.
  std::vector<int> order(along.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int i, int j) { return along[static_cast<std::size_t>(i)] < along[static_cast<std::size_t>(j)]; });
  return reshape(transpose(weights, axes(order)), to_shape(spread));
}

}  // namespace sinter::ops

namespace sinter::inline v0 {

using namespace ops;

average_result average(const ndarray& x, const average_kw& kw) {
  const reduce_kw over{.axis = kw.axis, .keepdims = kw.keepdims};
  if (!kw.weights) {
    const ndarray mean_of = mean(x, over);
    const double count =
        mean_of.size() == 0 ? std::nan("") : static_cast<double>(x.size()) / static_cast<double>(mean_of.size());
    return {mean_of, full_like(mean_of, count)};
  }
  const ndarray weights = weights_over(x, *kw.weights, kw.axis, "average");
  const dtype both = promote_types(x.dtype(), weights.dtype());
  const dtype type = is_inexact(x.dtype()) ? both : promote_types(both, float64);
  reduce_kw in_type = over;
  in_type.dtype = type;
  const ndarray total = sum(weights, in_type);
  const ndarray out = sum(multiply(x.astype(type, false), weights.astype(type, false)), over) / total;
  return {out, broadcast_to(total, out.shape())};
}

namespace {

/// Variables as rows.
ndarray variables(const ndarray& x, bool rowvar, bool is_second, dtype type, const char* function) {
  if (view_of(x, function).shape.size() > 2)
    fail<shape_error>(function, "variables have at most two axes, not shape ", x.shape());
  const ndarray rows = atleast_2d(x).astype(type, false);
  const bool turn = !rowvar && (is_second ? rows.shape(0) != 1 : x.ndim() != 1);
  return turn ? rows.T() : rows;
}

ndarray observation_weights(const ndarray& w, std::int64_t count, const char* what) {
  if (view_of(w, "cov").shape.size() != 1 || w.shape(0) != count)
    fail<shape_error>("cov", what, " of shape ", w.shape(), " for ", count, " observations");
  return w.astype(float64, false);
}

}  // namespace

ndarray cov(const ndarray& x, const cov_kw& kw) {
  dtype type = promote_types(view_of(x, "cov").type, float64);
  if (kw.y) type = promote_types(type, view_of(*kw.y, "cov").type);
  type = kw.dtype.value_or(type);
  ndarray rows = variables(x, kw.rowvar, false, type, "cov");
  if (rows.shape(0) == 0) return zeros({0, 0}, {.device = x.device()});
  if (kw.y) rows = concatenate({rows, variables(*kw.y, kw.rowvar, true, type, "cov")}, 0);
  const std::int64_t n = rows.shape(1);
  const double ddof = static_cast<double>(kw.ddof.value_or(kw.bias ? 0 : 1));
  if (kw.fweights && is_inexact((*kw.fweights).dtype()))
    fail<dtype_error>("cov", "fweights are integers, not ", (*kw.fweights).dtype());
  ndarray w;
  if (kw.fweights) w = observation_weights(*kw.fweights, n, "fweights");
  if (kw.aweights) {
    const ndarray a = observation_weights(*kw.aweights, n, "aweights");
    w = w.defined() ? w * a : a;
  }
  if (!w.defined()) {
    const ndarray centred = rows - mean(rows, 1, {.keepdims = true});
    const double factor = 1 / std::max(static_cast<double>(n) - ddof, 0.0);
    return squeeze(dot(centred, conj(centred).T()) * factor);
  }
  const ndarray total = sum(w);
  ndarray divisor = total;
  if (ddof != 0 && !kw.aweights) divisor = total - ddof;
  if (ddof != 0 && kw.aweights) divisor = total - ddof * sum(w * (*kw.aweights)) / total;
  const ndarray mean_of = sum(rows * w, 1, {.keepdims = true}) / total;
  const ndarray centred = rows - mean_of.astype(type, false);
  return squeeze(dot(centred, conj(centred * w).T()) * (1 / maximum(divisor, 0)));
}
ndarray cov(const ndarray& x, const ndarray& y, const cov_kw& kw) {
  cov_kw both = kw;
  both.y = y;
  return cov(x, both);
}

ndarray corrcoef(const ndarray& x, const corrcoef_kw& kw) {
  const ndarray c = cov(x, {.y = kw.y, .rowvar = kw.rowvar, .dtype = kw.dtype});
  if (c.ndim() == 0) return c / c;
  const ndarray deviation = sqrt(real(diagonal(c)));
  const ndarray out = c / expand_dims(deviation, 1) / expand_dims(deviation, 0);
  if (!is_complex(out.dtype())) return clip(out, -1, 1);
  return clip(real(out), -1, 1) + clip(imag(out), -1, 1) * std::complex<double>(0, 1);
}
ndarray corrcoef(const ndarray& x, const ndarray& y, const corrcoef_kw& kw) {
  corrcoef_kw both = kw;
  both.y = y;
  return corrcoef(x, both);
}

}  // namespace sinter::inline v0
