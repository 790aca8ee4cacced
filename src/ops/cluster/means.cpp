// Starts, nearest centers, sums.
#include "ops/cluster/means.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "ops/base/algorithm_calls.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/spatial/metrics.hpp"
#include "ops/spatial/tree.hpp"
#include "runtime/parallel.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/products.hpp"
#include "sinter/reduce.hpp"
#include "sinter/scan.hpp"
#include "sinter/search.hpp"

namespace sinter::ops {

using namespace idx;
using std::int64_t;

centred_points centred(const ndarray& x, int64_t n_clusters, const char* function) {
  const ndarray points = point_rows(x, distance_dtype(view_of(x, function).type, function), "points", function);
  if (n_clusters < 1 || n_clusters > points.shape(0))
    fail<value_error>(function, n_clusters, " clusters of ", points.shape(0), " points");
  eval(points);
  require_finite(points, "points", function);
  centred_points out{{}, mean(points, 0)};
  eval(out.mean);
  out.x = points - out.mean;
  eval(out.x);
  return out;
}

ndarray finite_sample_weight(const ndarray& w, const ndarray& x, dtype type, const char* function) {
  if (!w.defined()) return {};
  if (w.ndim() != 1 || w.shape(0) != x.shape(0))
    fail<shape_error>(function, "sample_weight of shape ", w.shape(), " for ", x.shape(0), " points");
  if (is_complex(w.dtype())) fail<dtype_error>(function, "sample_weight of dtype ", w.dtype());
  common_device(w, x, function);
  const ndarray out = w.astype(type, false);
  require_finite(out, "sample_weight", function);
  return out;
}

ndarray checked_sample_weight(const ndarray& w, const ndarray& x, const char* function) {
  const ndarray out = finite_sample_weight(w, x, x.dtype(), function);
  if (!out.defined()) return {};
  if (static_cast<bool>(any(out < 0))) fail<value_error>(function, "sample_weight below 0");
  if (!static_cast<bool>(any(out > 0))) fail<value_error>(function, "sample_weight is 0 for all points");
  eval(out);
  return out;
}

cluster::kmeans_result uncentred(const lloyd_result& r, const centred_points& p, double inertia) {
  const ndarray centers = r.centers + p.mean;
  eval(centers, r.labels);
  return {centers, r.labels, inertia, r.n_iter};
}

random::generator generator_of(std::optional<int64_t> seed) {
  return seed ? random::generator(*seed) : random::generator();
}

namespace {

/// Squared distances of some points to all: (t, n). `columns` are all points, (d, n).
ndarray squares_to(const ndarray& some, const ndarray& columns) {
  return sum(square(some(_, _, newaxis) - columns), 1);
}

/// The same by the host's loops, over points that lie in a cache, where `least` (n,) bounds them from above.
template <class T>
ndarray bounded_squares_on_host(const ndarray& some, const ndarray& columns, const ndarray& least) {
  const int64_t t = some.shape(0), d = columns.shape(0), n = columns.shape(1);
  const auto of = for_host(some, "kmeans").host<T>(), all = for_host(columns, "kmeans").host<T>(),
             bounds = for_host(least, "kmeans").host<T>();
  const graph::value out = unset_leaf(dims{t, n}, columns.dtype(), {});
  T* const to = static_cast<T*>(address_to_write(out));
  constexpr int64_t block = 256;
  const double time = 0.5 * static_cast<double>(t) * static_cast<double>(d) * static_cast<double>(n);
  runtime::parallel_for((n + block - 1) / block, time, [&](int64_t b) {
    const int64_t first = b * block, count = std::min(block, n - first);
    T sums[block];
    for (int64_t k = 0; k < t; ++k) {
      std::fill(sums, sums + block, T(0));
      for (int64_t j = 0; j < d; ++j) {
        const T at = of.data()[k * d + j];
        const T* const column = all.data() + j * n + first;
        for (int64_t i = 0; i < count; ++i) sums[i] += (at - column[i]) * (at - column[i]);
      }
      const T* const bound = bounds.data() + first;
      for (int64_t i = 0; i < count; ++i) to[k * n + first + i] = bound[i] < sums[i] ? bound[i] : sums[i];
    }
  });
  return wrap(out);
}
ndarray bounded_squares(const ndarray& some, const ndarray& columns, const ndarray& least) {
  if (!served_by_host(columns)) return minimum(squares_to(some, columns), least);
  return columns.dtype() == dtype::f32 ? bounded_squares_on_host<float>(some, columns, least)
                                       : bounded_squares_on_host<double>(some, columns, least);
}

/// Arthur and Vassilvitskii's start, with the best of some trials for each center (2007). Nothing waits.
ndarray plusplus(const ndarray& x, const ndarray& weights, int64_t k, random::generator& rng) {
  const int64_t n = x.shape(0), trials = 2 + static_cast<int64_t>(std::log(static_cast<double>(k)));
  const ndarray columns = x.T().copy();
  const ndarray w = weights.defined() ? weights : ones({}, {.dtype = x.dtype(), .device = x.device()});
  const auto drawn = [&](const ndarray& masses, int64_t count) {
    const ndarray totals = cumulative_sum(masses, {.dtype = float64});
    const ndarray at = rng.random(count, {.device = x.device()}) * totals(-1);
    return minimum(searchsorted(totals, at, "right"), n - 1);
  };
  std::vector<ndarray> chosen{take(x, drawn(broadcast_to(w, {n}).copy(), 1), 0)};
  ndarray nearest = squares_to(chosen[0], columns)(0);
  eval(chosen[0], nearest);
  while (static_cast<int64_t>(chosen.size()) < k) {
    const ndarray candidates = take(x, drawn(w * nearest, trials), 0);
    eval(candidates);
    const ndarray squares = bounded_squares(candidates, columns, nearest);
    eval(squares);
    const ndarray best = argmin(sum(squares * w, 1, {.dtype = float64}), 0, {.keepdims = true});
    nearest = take(squares, best, 0)(0);
    chosen.push_back(take(candidates, best, 0));
    eval(nearest, chosen.back());
  }
  return concatenate(chosen, 0);
}

}  // namespace

ndarray first_centers(std::string_view init, const ndarray& x, const ndarray& weights, int64_t k,
                      random::generator& rng, const char* function) {
  if (init == "k-means++") return plusplus(x, weights, k, rng);
  if (init == "random") return take(x, rng.choice(x.shape(0), k, {.replace = false, .device = x.device()}), 0);
  fail<value_error>(function, "no start \"", init, "\"");
}

ndarray given_centers(const ndarray& centers, const centred_points& p, int64_t k, const char* function) {
  if (centers.ndim() != 2 || centers.shape(0) != k || centers.shape(1) != p.x.shape(1))
    fail<shape_error>(function, "centers of shape ", centers.shape(), " for ", k, " clusters of points of shape ",
                      p.x.shape());
  common_device(centers, p.x, function);
  const ndarray out = point_rows(centers, p.x.dtype(), "centers", function) - p.mean;
  require_finite(out, "centers", function);
  eval(out);
  return out;
}

namespace {

/// By products of as many rows at a time as leave what is compared in the second-level caches.
ndarray nearest_by_products(const ndarray& x, const ndarray& centers) {
  const int64_t n = x.shape(0), k = centers.shape(0);
  const ndarray columns = centers.T().copy(), halves = sum(square(centers), 1) / 2;
  eval(columns, halves);
  const int64_t rows = std::max<int64_t>(256, (int64_t{1} << 20) / (k * static_cast<int64_t>(itemsize(x.dtype()))));
  if (n <= 2 * rows) return argmin(halves - matmul(x, columns), 1);
  const ndarray labels = empty({n}, {.dtype = int64, .device = x.device()});
  for (int64_t first = 0; first < n; first += rows) {
    const slice part(first, std::min(n, first + rows));
    labels(part) = argmin(halves - matmul(x(part), columns), 1);
    eval(labels);
  }
  return labels;
}

/// In few dimensions by loops over blocks of points, one center after the other, which need no matrix of products.
template <int D, class T>
void label_block(const T* points, int64_t count, const T* centers, const T* halves, int64_t k, int64_t* labels) {
  using number = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;  // as wide as T, for vectors
  constexpr int64_t block = 256;
  T columns[D][block], least[block];
  number nearest[block];
  for (int64_t i = 0; i < count; ++i)
    for (int j = 0; j < D; ++j) columns[j][i] = points[i * D + j];
  for (int64_t c = 0; c < k; ++c) {
    T center[D];
    for (int j = 0; j < D; ++j) center[j] = centers[c * D + j];
    const T half = halves[c];
    for (int64_t i = 0; i < count; ++i) {
      T score = half;
      for (int j = 0; j < D; ++j) score -= columns[j][i] * center[j];
      const bool nearer = c == 0 || score < least[i];
      least[i] = nearer ? score : least[i];
      nearest[i] = nearer ? static_cast<number>(c) : nearest[i];
    }
  }
  for (int64_t i = 0; i < count; ++i) labels[i] = nearest[i];
}
template <int D, class T>
ndarray nearest_by_loops(const ndarray& x, const ndarray& centers) {
  const int64_t n = x.shape(0), k = centers.shape(0);
  const ndarray halves = sum(square(centers), 1) / 2;
  const auto points = for_host(x, "kmeans").host<T>(), of = for_host(centers, "kmeans").host<T>(),
             half = for_host(halves, "kmeans").host<T>();
  const graph::value out = unset_leaf(dims{n}, dtype::i64, {});
  auto* const labels = static_cast<int64_t*>(address_to_write(out));
  constexpr int64_t block = 256;
  runtime::parallel_for((n + block - 1) / block, 0.3 * static_cast<double>(n * k * (D + 1)), [&](int64_t b) {
    const int64_t first = b * block;
    label_block<D>(points.data() + first * D, std::min(block, n - first), of.data(), half.data(), k, labels + first);
  });
  return wrap(out);
}
template <class T>
ndarray nearest_in_few_dimensions(const ndarray& x, const ndarray& centers) {
  switch (x.shape(1)) {
    case 1: return nearest_by_loops<1, T>(x, centers);
    case 2: return nearest_by_loops<2, T>(x, centers);
    case 3: return nearest_by_loops<3, T>(x, centers);
    default: return nearest_by_loops<4, T>(x, centers);
  }
}

}  // namespace

ndarray nearest_center(const ndarray& x, const ndarray& centers) {
  if (served_by_host(x) && x.shape(1) >= 1 && x.shape(1) <= 4 && !is_recorded_for_later())
    return x.dtype() == dtype::f32 ? nearest_in_few_dimensions<float>(x, centers)
                                   : nearest_in_few_dimensions<double>(x, centers);
  if (served_by_host(x)) return nearest_by_products(x, centers);
  if (ndarray labels = labels_by_kernel(x, centers); labels.defined()) return labels;
  return argmin(sum(square(x(_, newaxis) - centers), 2), 1);
}

double inertia_of(const ndarray& x, const ndarray& weights, const ndarray& centers, const ndarray& labels) {
  const ndarray squares = square(x - take(centers, labels, 0));
  return sum(weights.defined() ? squares * weights(_, newaxis) : squares, {.dtype = float64}).item<double>();
}

namespace {

/// on^T x. A library's product takes few blocks where the result is small, however long the sums are; products of batches of
/// rows take all of a GPU, and are added up.
ndarray summed_product(const ndarray& on, const ndarray& x) {
  constexpr int64_t batch = 1024;
  const int64_t n = x.shape(0), batches = n / batch, whole = batches * batch;
  if (served_by_host(x) || batches < 16) return matmul(on.T(), x);
  const ndarray left = on(slice(whole)).reshape(batches, batch, -1),
                right = x(slice(whole)).reshape(batches, batch, -1);
  const ndarray sums = sum(matmul(left.transpose({0, 2, 1}), right), 0);
  return whole == n ? sums : sums + matmul(on(slice(whole, _)).T(), x(slice(whole, _)));
}

}  // namespace

cluster_sums sums_of_clusters(const ndarray& x, const ndarray& weights, const ndarray& labels, int64_t k) {
  // A product with ones where a point is in a cluster, in slices that bound them to a gigabyte or so.
  const int64_t n = x.shape(0), step = std::max<int64_t>(1, (int64_t{1} << 28) / k);
  cluster_sums out;
  for (int64_t first = 0; first < n; first += step) {
    const slice part(first, std::min(n, first + step));
    const auto members = [&] {
      const ndarray on = (labels(part)(_, newaxis) == arange(k, {.device = x.device()})).astype(x.dtype());
      return weights.defined() ? ndarray(on * weights(part)(_, newaxis)) : on;
    };
    // Recorded twice: a sum that computes them from the labels takes less time than one that reads what the product needs.
    const ndarray sums = summed_product(members(), x(part)), total = sum(members(), 0);
    out.sums = out.sums.defined() ? out.sums + sums : sums;
    out.weights = out.weights.defined() ? out.weights + total : total;
  }
  return out;
}

}  // namespace sinter::ops
