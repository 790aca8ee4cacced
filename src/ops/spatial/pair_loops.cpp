// Distances of all pairs of rows by loops of the host: one row against blocks of those after it, which lie side by side.
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

/// Terms of one coordinate of one row with those of `count` others, put into sums, and into those of a divisor; `w` is its weight.
template <class T>
using add_terms = void (*)(T a, const T* b, T w, int64_t count, T* sums, T* below);

template <bool Weighted, class T>
T times(T term, T w) {
  if constexpr (Weighted) return term * w;
  return term;
}
struct squares {
  template <class T>
  static T of(T a, T b) {
    return (a - b) * (a - b);
  }
};
struct sizes {
  template <class T>
  static T of(T a, T b) {
    return std::abs(a - b);
  }
};
struct unequal {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a != b);
  }
};
struct quotients {
  template <class T>
  static T of(T a, T b) {
    const T both = std::abs(a) + std::abs(b);
    return std::abs(a - b) / (both == 0 ? T(1) : both);
  }
};
template <class Term, bool Weighted, class T>
void add_each(T a, const T* b, T w, int64_t count, T* sums, T*) {
  for (int64_t i = 0; i < count; ++i) sums[i] += times<Weighted>(Term::of(a, b[i]), w);
}
/// Of finite numbers; coordinates without weight do not count.
template <bool Weighted, class T>
void take_largest(T a, const T* b, T w, int64_t count, T* sums, T*) {
  if (Weighted && !(w > 0)) return;
  for (int64_t i = 0; i < count; ++i) {
    const T term = std::abs(a - b[i]);
    sums[i] = sums[i] > term ? sums[i] : term;
  }
}
template <bool Weighted, class T>
void add_differences_and_sums(T a, const T* b, T w, int64_t count, T* sums, T* below) {
  for (int64_t i = 0; i < count; ++i) {
    sums[i] += times<Weighted>(std::abs(a - b[i]), w);
    below[i] += times<Weighted>(std::abs(a + b[i]), w);
  }
}

/// What a metric adds up, and whether there are sums to divide by.
template <class T>
struct recipe {
  add_terms<T> add = nullptr;
  bool divided = false;
};
template <bool Weighted, class T>
recipe<T> recipe_of(const std::string& metric, bool finite, int64_t n) {
  constexpr int64_t few = 256;  // of more rows, divisions are faster in the wider vectors of compiled kernels
  if (metric == "euclidean" || metric == "sqeuclidean") return {add_each<squares, Weighted, T>};
  if (metric == "cityblock") return {add_each<sizes, Weighted, T>};
  if (metric == "chebyshev" && finite) return {take_largest<Weighted, T>};
  if (metric == "canberra" && n < few) return {add_each<quotients, Weighted, T>};
  if (metric == "braycurtis") return {add_differences_and_sums<Weighted, T>, true};
  if (metric == "hamming") return {add_each<unequal, Weighted, T>};
  return {};
}

template <class T>
struct compared_rows {
  const T *rows, *columns, *weights;  // (n, d), (d, n), (d,) or null
  int64_t n, d;
};
template <class T>
void fill_pairs(const compared_rows<T>& x, const recipe<T>& how, T* to) {
  constexpr int64_t some = 8;
  const double time = 0.3 * static_cast<double>(x.n) * static_cast<double>(x.n) * static_cast<double>(x.d + 2);
  runtime::parallel_for((x.n + some - 1) / some, time, [&](int64_t b) {
    T below[block];
    for (int64_t i = b * some; i < std::min(x.n, (b + 1) * some); ++i)
      for (int64_t first = i + 1; first < x.n; first += block) {
        const int64_t count = std::min(block, x.n - first);
        T* const sums = to + i * (2 * x.n - i - 1) / 2 + first - i - 1;
        std::fill(sums, sums + count, T(0));
        std::fill(below, below + count, T(0));
        for (int64_t k = 0; k < x.d; ++k)
          how.add(x.rows[i * x.d + k], x.columns + k * x.n + first, x.weights ? x.weights[k] : T(1), count, sums,
                  below);
        for (int64_t k = 0; how.divided && k < count; ++k) sums[k] /= below[k];
      }
  });
}

template <class T>
ndarray pairs_of(const pair_metric& of, const ndarray& rows, const ndarray& turned) {
  const int64_t n = rows.shape(0);
  const auto x = for_host(rows).host<T>();
  const bool finite = std::all_of(x.data(), x.data() + rows.size(), [](T v) { return std::isfinite(v); });
  const recipe<T> how =
      of.is_weighted() ? recipe_of<true, T>(of.name(), finite, n) : recipe_of<false, T>(of.name(), finite, n);
  if (!how.add) return {};
  const auto columns = for_host(turned).host<T>();
  std::vector<T> weights;
  if (of.is_weighted()) weights = of.weights().to_vector<T>();
  const graph::value out = unset_leaf(dims{n * (n - 1) / 2}, rows.dtype(), {});
  fill_pairs<T>({x.data(), columns.data(), weights.empty() ? nullptr : weights.data(), n, rows.shape(1)}, how,
                static_cast<T*>(address_to_write(out)));
  const ndarray sums = wrap(out);
  if (of.name() == "hamming") return sums / of.total();
  return of.name() == "euclidean" ? sqrt(sums) : sums;
}

}  // namespace

ndarray pairs_by_terms(const pair_metric& of, const ndarray& rows, const ndarray& turned) {
  return rows.dtype() == dtype::f32 ? pairs_of<float>(of, rows, turned) : pairs_of<double>(of, rows, turned);
}

}  // namespace sinter::ops
