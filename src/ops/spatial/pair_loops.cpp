// Distances of rows by loops of the host: one row against blocks of others, which lie side by side.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ops/base/algorithm_calls.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/spatial/metrics.hpp"
#include "ops/spatial/pairs.hpp"
#include "runtime/parallel.hpp"
#include "sinter/elementwise.hpp"

namespace sinter::ops {

using std::int64_t;

namespace {

constexpr int64_t block = 256;
constexpr int64_t most_terms = 16;

// What a coordinate of two rows gives, with its weight, and how terms join.
struct added {
  template <class T>
  static T join(T a, T b) {
    return a + b;
  }
  template <class T>
  static T weighted(T term, T w) {
    return term * w;
  }
};
struct squares : added {
  template <class T>
  static T of(T a, T b) {
    return (a - b) * (a - b);
  }
};
struct sizes : added {
  template <class T>
  static T of(T a, T b) {
    return std::abs(a - b);
  }
};
struct sizes_of_sums : added {
  template <class T>
  static T of(T a, T b) {
    return std::abs(a + b);
  }
};
struct unequal : added {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a != b);
  }
};
struct quotients : added {
  template <class T>
  static T of(T a, T b) {
    const T both = std::abs(a) + std::abs(b);
    return std::abs(a - b) / (both == 0 ? T(1) : both);
  }
};
/// Of finite numbers; coordinates without weight do not count.
struct largest : sizes {
  template <class T>
  static T join(T a, T b) {
    return a > b ? a : b;
  }
  template <class T>
  static T weighted(T term, T w) {
    return w > 0 ? term : T(0);
  }
};

/// Of up to four coordinates the terms of one row with `count` others, joined in pairs: `b` has a column for each.
template <class Metric, bool Weighted, int Terms, class T>
void join_terms(const T* a, const T* b, int64_t stride, const T* w, int64_t count, T* to) {
  T of_row[Terms], weight[Terms];
  for (int k = 0; k < Terms; ++k) of_row[k] = a[k], weight[k] = Weighted ? w[k] : T(1);
  for (int64_t i = 0; i < count; ++i) {
    T t[Terms];
    for (int k = 0; k < Terms; ++k) {
      t[k] = Metric::of(of_row[k], b[k * stride + i]);
      if constexpr (Weighted) t[k] = Metric::weighted(t[k], weight[k]);
    }
    if constexpr (Terms == 1) to[i] = t[0];
    if constexpr (Terms == 2) to[i] = Metric::join(t[0], t[1]);
    if constexpr (Terms == 3) to[i] = Metric::join(Metric::join(t[0], t[1]), t[2]);
    if constexpr (Terms == 4) to[i] = Metric::join(Metric::join(t[0], t[1]), Metric::join(t[2], t[3]));
  }
}
/// All coordinates, in the order in which recorded sums over them add up (jit::addition_order): groups of four, then by halves.
template <class Metric, bool Weighted, class T>
void join_all(const T* a, const T* b, int64_t stride, const T* w, int64_t d, int64_t count, T* to) {
  T groups[most_terms / 4][block];
  int64_t filled = 0;
  for (int64_t k = 0; k < d; k += 4, ++filled) {
    const T *const of_row = a + k, *const columns = b + k * stride, *const weights = Weighted ? w + k : nullptr;
    switch (d - k) {
      case 1: join_terms<Metric, Weighted, 1>(of_row, columns, stride, weights, count, groups[filled]); break;
      case 2: join_terms<Metric, Weighted, 2>(of_row, columns, stride, weights, count, groups[filled]); break;
      case 3: join_terms<Metric, Weighted, 3>(of_row, columns, stride, weights, count, groups[filled]); break;
      default: join_terms<Metric, Weighted, 4>(of_row, columns, stride, weights, count, groups[filled]);
    }
  }
  int64_t whole = 1;
  while (whole < filled) whole *= 2;
  for (int64_t g = filled; g < whole; ++g) std::fill(groups[g], groups[g] + count, T(0));
  for (int64_t half = whole / 2; half > 0; half /= 2)
    for (int64_t g = 0; g < half; ++g)
      for (int64_t i = 0; i < count; ++i) groups[g][i] = Metric::join(groups[g][i], groups[g + half][i]);
  std::copy(groups[0], groups[0] + count, to);
}
/// Maxima of any number of coordinates, whose order makes no difference.
template <bool Weighted, class T>
void join_maxima(const T* a, const T* b, int64_t stride, const T* w, int64_t d, int64_t count, T* to) {
  join_all<largest, Weighted>(a, b, stride, w, std::min(d, most_terms), count, to);
  T more[block];
  for (int64_t k = most_terms; k < d; k += most_terms) {
    join_all<largest, Weighted>(a + k, b + k * stride, stride, Weighted ? w + k : nullptr, std::min(d - k, most_terms),
                                count, more);
    for (int64_t i = 0; i < count; ++i) to[i] = largest::join(to[i], more[i]);
  }
}

/// What a metric adds up, and what its sums are divided by, if anything.
template <class T>
struct recipe {
  using join_type = void(const T*, const T*, int64_t, const T*, int64_t, int64_t, T*);
  join_type *add = nullptr, *add_below = nullptr;
};
template <bool Weighted, class T>
recipe<T> recipe_of(const std::string& metric, bool finite, bool divides) {
  if (metric == "euclidean" || metric == "sqeuclidean") return {join_all<squares, Weighted, T>};
  if (metric == "cityblock") return {join_all<sizes, Weighted, T>};
  if (metric == "chebyshev" && finite) return {join_maxima<Weighted, T>};
  if (metric == "canberra" && divides) return {join_all<quotients, Weighted, T>};
  if (metric == "braycurtis") return {join_all<sizes, Weighted, T>, join_all<sizes_of_sums, Weighted, T>};
  if (metric == "hamming") return {join_all<unequal, Weighted, T>};
  return {};
}

template <class T>
struct compared_rows {
  const T *rows, *columns, *weights;  // (m, d), (d, n), (d,) or null
  int64_t m, n, d;
};
/// Row i with the columns from `from` on.
template <class T>
void fill_row(const compared_rows<T>& x, const recipe<T>& how, int64_t i, int64_t from, T* to) {
  T below[block];
  for (int64_t first = from; first < x.n; first += block) {
    const int64_t count = std::min(block, x.n - first);
    T* const sums = to + first - from;
    const T *const row = x.rows + i * x.d, *const columns = x.columns + first;
    how.add(row, columns, x.n, x.weights, x.d, count, sums);
    if (!how.add_below) continue;
    how.add_below(row, columns, x.n, x.weights, x.d, count, below);
    for (int64_t k = 0; k < count; ++k) sums[k] /= below[k];
  }
}
template <class T>
void fill(const compared_rows<T>& x, const recipe<T>& how, bool pairs, T* to) {
  constexpr int64_t some = 8;
  const double time = 0.5 * static_cast<double>(x.m) * static_cast<double>(x.n) * static_cast<double>(x.d + 2);
  runtime::parallel_for((x.m + some - 1) / some, time, [&](int64_t b) {
    for (int64_t i = b * some; i < std::min(x.m, (b + 1) * some); ++i)
      if (pairs) fill_row(x, how, i, i + 1, to + i * (2 * x.n - i - 1) / 2);
      else fill_row(x, how, i, 0, to + i * x.n);
  });
}

template <class T>
bool are_finite(const host_view<T>& x, int64_t size) {
  return std::all_of(x.data(), x.data() + size, [](T v) { return std::isfinite(v); });
}
template <class T>
ndarray by_terms(const pair_metric& of, const ndarray& rows, const ndarray& turned, bool pairs) {
  const int64_t m = rows.shape(0), n = turned.shape(1);
  if (rows.shape(1) < 1 || (rows.shape(1) > most_terms && of.name() != "chebyshev")) return {};
  const auto x = for_host(rows, "pdist").host<T>(), columns = for_host(turned, "pdist").host<T>();
  const bool finite = are_finite(x, rows.size()) && (pairs || are_finite(columns, turned.size()));
  const bool divides = pairs && n < 256;  // else the wider vectors of compiled kernels divide faster
  const recipe<T> how = of.is_weighted() ? recipe_of<true, T>(of.name(), finite, divides)
                                         : recipe_of<false, T>(of.name(), finite, divides);
  if (!how.add) return {};
  std::vector<T> weights;
  if (of.is_weighted()) weights = of.weights().to_vector<T>();
  const graph::value out = unset_leaf(pairs ? dims{n * (n - 1) / 2} : dims{m, n}, rows.dtype(), {});
  const T* const w = weights.empty() ? nullptr : weights.data();
  fill<T>({x.data(), columns.data(), w, m, n, rows.shape(1)}, how, pairs, static_cast<T*>(address_to_write(out)));
  const ndarray sums = wrap(out);
  if (of.name() == "hamming") return sums / of.total();
  return of.name() == "euclidean" ? sqrt(sums) : sums;
}

}  // namespace

ndarray pairs_by_terms(const pair_metric& of, const ndarray& rows, const ndarray& turned) {
  return rows.dtype() == dtype::f32 ? by_terms<float>(of, rows, turned, true)
                                    : by_terms<double>(of, rows, turned, true);
}
ndarray matrix_by_terms(const pair_metric& of, const ndarray& a, const ndarray& turned) {
  return a.dtype() == dtype::f32 ? by_terms<float>(of, a, turned, false) : by_terms<double>(of, a, turned, false);
}

}  // namespace sinter::ops
