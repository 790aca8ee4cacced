// Metrics of vectors with SciPy's formulas, as recorded expressions.
#include "ops/base/at_call.hpp"
#include "ops/spatial/metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/base/type_rules.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/linalg.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/products.hpp"
#include "sinter/reduce.hpp"
#include "sinter/statistics.hpp"

namespace sinter::ops {

using namespace idx;
using std::int64_t;

namespace {

/// The metrics, and which parameters they take.
struct known_metric {
  std::string_view name;
  bool weights = true;
};
constexpr std::array<known_metric, 20> known_metrics = {{{"euclidean"},
                                                         {"sqeuclidean"},
                                                         {"cityblock"},
                                                         {"chebyshev"},
                                                         {"minkowski"},
                                                         {"cosine"},
                                                         {"correlation"},
                                                         {"canberra"},
                                                         {"braycurtis"},
                                                         {"hamming"},
                                                         {"jaccard"},
                                                         {"jensenshannon", false},
                                                         {"seuclidean", false},
                                                         {"mahalanobis", false},
                                                         {"dice"},
                                                         {"rogerstanimoto"},
                                                         {"russellrao"},
                                                         {"sokalsneath"},
                                                         {"yule"},
                                                         {"haversine", false}}};

/// Computes what several kernels read, where it has elements.
void settle(const ndarray& x) {
  if (may_look_at(value_of(x))) eval(x);
}

bool is_of_truth(std::string_view name) {
  return name == "jaccard" || name == "dice" || name == "rogerstanimoto" || name == "russellrao" ||
         name == "sokalsneath" || name == "yule";
}

ndarray checked_weights(const ndarray& w, int64_t d, dtype type, const char* function) {
  if (view_of(w, function).shape.size() != 1 || w.shape(0) != d)
    fail<shape_error>(function, "weights of shape ", w.shape(), " for vectors of ", d, " numbers");
  if (is_complex(w.dtype())) fail<dtype_error>(function, "weights of dtype ", w.dtype());
  if (may_look_at(value_of(w)) && static_cast<bool>(any(w < 0))) fail<value_error>(function, "weights below 0");
  return w.astype(type, false);
}

/// The rows of both sets, for variances.
ndarray all_rows(const two_sets& points) {
  return points.a.size() == 0 ? points.b : concatenate({points.a, points.b}, 0).astype(float64, false);
}

}  // namespace

ndarray variances_of(const two_sets& points) { return var(all_rows(points), {.axis = 0, .ddof = 1}); }

ndarray inverse_covariance_of(const two_sets& points, const char* function) {
  const int64_t n = points.a.shape(0) + points.b.shape(0), d = points.a.shape(1);
  if (n <= d) fail<value_error>(function, n, " points in ", d, " dimensions have no invertible covariance");
  return linalg::inv(atleast_2d(cov(all_rows(points).T()))).T();
}

dtype distance_dtype(dtype t, const char* function) {
  if (is_complex(t)) fail<dtype_error>(function, "points of dtype ", t, " are not real");
  return t == dtype::f64 || !is_inexact(t) ? dtype::f64 : dtype::f32;
}

ndarray point_rows(const ndarray& x, dtype type, const char* what, const char* function) {
  if (view_of(x, function).shape.size() != 2)
    fail<shape_error>(function, what, " of shape ", x.shape(), " are not rows (n, d)");
  return x.astype(type, false);
}

two_sets fitting_sets(const ndarray& a, const ndarray& b, const char* function) {
  const graph::array_view &va = view_of(a, function), &vb = view_of(b, function);
  const dtype type = distance_dtype(promote_types(va.type, vb.type), function);
  common_device(a, b, function);
  const two_sets out{point_rows(a, type, "points", function), point_rows(b, type, "points", function)};
  if (out.a.shape(1) != out.b.shape(1))
    fail<shape_error>(function, "points of shapes ", a.shape(), " and ", b.shape(), " have other dimensions");
  return out;
}

void require_power(double p, const char* function) {
  if (!(p >= 1)) fail<value_error>(function, "p = ", p, " is not at least 1");
}

pair_metric::pair_metric(std::string_view name, const spatial::metric_kw& kw, const two_sets& points,
                         const char* function)
    : name_(name) {
  const int64_t d = points.a.shape(1);
  const auto found = std::find_if(known_metrics.begin(), known_metrics.end(), [&](auto& m) { return m.name == name; });
  if (found == known_metrics.end()) fail<value_error>(function, "no metric \"", name, "\"");
  const auto refuse = [&](const char* what) {
    fail<value_error>(function, "the metric \"", name, "\" takes no ", what);
  };
  if (kw.p && !is("minkowski")) refuse("p");
  if (kw.V.defined() && !is("seuclidean")) refuse("V");
  if (kw.VI.defined() && !is("mahalanobis")) refuse("VI");
  if (kw.w.defined() && !found->weights) refuse("weights");
  const dtype type = points.a.dtype();
  total_ = full({}, static_cast<double>(d), {.dtype = type, .device = points.a.device()});
  if (kw.w.defined()) {
    w_ = checked_weights(kw.w, d, type, function);
    total_ = sum(w_);
  }
  if (is("minkowski")) {
    p_ = kw.p.value_or(2);
    if (!(p_ > 0)) fail<value_error>(function, "p = ", p_, " is not above 0");
    // What is simpler under its own name.
    if (p_ == 1) name_ = "cityblock";
    if (p_ == 2) name_ = "euclidean";
    if (std::isinf(p_)) name_ = "chebyshev";
  }
  if (is("seuclidean")) {
    const ndarray v = kw.V.defined() ? kw.V : variances_of(points);
    if (v.ndim() != 1 || v.shape(0) != d)
      fail<shape_error>(function, "V of shape ", v.shape(), " for vectors of ", d, " numbers");
    w_ = (1 / v.astype(float64, false)).astype(type, false);
    name_ = "euclidean";
  }
  if (is("mahalanobis")) {
    const ndarray vi = kw.VI.defined() ? kw.VI.astype(float64, false) : inverse_covariance_of(points, function);
    if (vi.ndim() != 2 || vi.shape(0) != d || vi.shape(1) != d)
      fail<shape_error>(function, "VI of shape ", vi.shape(), " for vectors of ", d, " numbers");
    // x' VI x is the sum of the eigenvalues of VI's symmetric part times the squares of rotated coordinates.
    const auto spectrum = linalg::eigh((vi + vi.T()) / 2);
    rotation_ = spectrum.eigenvectors;
    w_ = spectrum.eigenvalues.astype(type, false);
    name_ = "euclidean";
  }
  if (is("haversine") && d != 2) fail<shape_error>(function, "the haversine metric takes 2 dimensions, not ", d);
  if (w_.defined()) settle(w_), settle(total_);
}

pair_metric pair_metric::squared() const {
  pair_metric out = *this;
  out.name_ = "sqeuclidean";
  return out;
}

ndarray pair_metric::prepared(const ndarray& x) const {
  ndarray out = x;
  if (rotation_.defined()) out = matmul(x.astype(float64, false), rotation_).astype(x.dtype(), false);
  if (is("jensenshannon")) out = x / sum(x, 1, {.keepdims = true});
  if (is_of_truth(name_)) out = (x != 0).astype(x.dtype());
  if (is("correlation"))
    out = x - (w_.defined() ? sum(x * w_, 1, {.keepdims = true}) / total_ : mean(x, 1, {.keepdims = true}));
  if (is("cosine") || is("correlation")) {
    if (w_.defined()) out = out * sqrt(w_);
    // A power of two, so that squares stay in range, which takes no digits away.
    const ndarray largest = max(abs(out), 1, {.keepdims = true, .initial = 0.0});
    out = out / where(logical_and(largest > 0, isfinite(largest)), exp2(floor(log2(largest))), 1);
    out = out / sqrt(sum(square(out), 1, {.keepdims = true}));
  }
  settle(out);
  return out;
}

ndarray pair_metric::along(const ndarray& w, int rank, int axis) const {
  dims shape(rank, 1);
  shape[axis] = w.shape(0);
  return reshape(w, to_shape(shape));
}
ndarray pair_metric::weighted(const ndarray& terms, int axis) const {
  return w_.defined() ? terms * along(w_, terms.ndim(), axis) : terms;
}

ndarray pair_metric::of_truth(const ndarray& a, const ndarray& b, int axis) const {
  const ndarray both = sum(weighted(a * b, axis), axis);
  return of_counts(both, sum(weighted(a * (1 - b), axis), axis), sum(weighted((1 - a) * b, axis), axis));
}

ndarray pair_metric::of_counts(const ndarray& both, const ndarray& first, const ndarray& second) const {
  const ndarray other = first + second;
  if (is("jaccard")) return where(other == 0, zeros_like(other), other / (both + other));
  if (is("dice")) return other / (2 * both + other);
  if (is("russellrao")) return (total_ - both) / total_;
  if (is("sokalsneath")) return 2 * other / (both + 2 * other);
  const ndarray neither = total_ - both - other;
  if (is("rogerstanimoto")) return 2 * other / (both + neither + 2 * other);
  const ndarray half = first * second;
  return where(half == 0, zeros_like(half), 2 * half / (both * neither + half));
}

ndarray pair_metric::of_differences(const ndarray& a, const ndarray& b, int axis) const {
  const ndarray difference = a - b;
  if (is("sqeuclidean")) return sum(weighted(square(difference), axis), axis);
  if (is("euclidean")) return sqrt(sum(weighted(square(difference), axis), axis));
  const ndarray size = abs(difference);
  if (is("cityblock")) return sum(weighted(size, axis), axis);
  if (is("minkowski")) return power(sum(weighted(power(size, p_), axis), axis), 1 / p_);
  if (is("chebyshev")) {
    const reduce_kw over{.axis = axis, .initial = 0.0};
    return w_.defined() ? max(where(along(w_, difference.ndim(), axis) > 0, size, zeros_like(size)), over)
                        : max(size, over);
  }
  if (is("braycurtis")) return sum(weighted(size, axis), axis) / sum(weighted(abs(a + b), axis), axis);
  if (is("canberra")) {
    const ndarray both = abs(a) + abs(b);
    return sum(weighted(where(both == 0, zeros_like(both), size / both), axis), axis);
  }
  return sum(weighted((a != b).astype(a.dtype()), axis), axis) / total_;  // hamming
}

ndarray pair_metric::between(const ndarray& a, const ndarray& b, int axis) const {
  if (is("cosine") || is("correlation")) return clip(1 - sum(a * b, axis), 0, 2);
  if (is("haversine")) {
    const ndarray lat1 = take(a, 0, axis), lat2 = take(b, 0, axis), lon1 = take(a, 1, axis), lon2 = take(b, 1, axis);
    const ndarray h = square(sin((lat2 - lat1) / 2)) + cos(lat1) * cos(lat2) * square(sin((lon2 - lon1) / 2));
    return 2 * arcsin(sqrt(minimum(h, 1)));
  }
  if (is("jensenshannon")) {
    const ndarray middle = (a + b) / 2;
    const auto entropy = [&](const ndarray& x) { return where(x > 0, x * log(x / middle), zeros_like(x)); };
    return sqrt(maximum(sum(entropy(a) + entropy(b), axis), 0) / 2);
  }
  return is_of_truth(name_) ? of_truth(a, b, axis) : of_differences(a, b, axis);
}

/// Whether distances follow from a matrix product: of zeros and ones, on the CPU, it is exact.
bool pair_metric::multiplies(const device& where) const {
  return is("cosine") || is("correlation") || (is_of_truth(name_) && !w_.defined() && where.kind == device_kind::cpu);
}

ndarray pair_metric::turned(const ndarray& b) const {
  if (b.device().kind != device_kind::cpu || multiplies(b.device()) || is("haversine")) return b.T();
  const ndarray columns = b.T().copy();
  settle(columns);  // else each row of the first set would turn them anew
  return columns;
}

ndarray pair_metric::matrix(const ndarray& a, const ndarray& b) const { return matrix_of_turned(a, turned(b)); }

ndarray pair_metric::matrix_of_turned(const ndarray& a, const ndarray& columns) const {
  if (is("cosine") || is("correlation")) return clip(1 - matmul(a, columns), 0, 2);
  if (multiplies(a.device())) {
    const ndarray both = matmul(a, columns);
    settle(both);
    return of_counts(both, sum(a, 1)(_, newaxis) - both, sum(columns, 0) - both);
  }
  // The CPU's loops run over what lies next to each other: the second set's points. A GPU's tiles take rows as they are.
  if (a.device().kind == device_kind::cpu && !is("haversine")) return between(a(_, _, newaxis), columns(newaxis), 1);
  return between(a(_, newaxis), columns.T()(newaxis), 2);
}

}  // namespace sinter::ops
