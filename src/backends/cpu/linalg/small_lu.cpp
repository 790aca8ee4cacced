// Gaussian elimination with the largest element of a column as its pivot, one matrix after the other.
#include "backends/cpu/linalg/small_lu.hpp"

#include <cmath>
#include <complex>
#include <utility>

#include "backends/cpu/linalg/lapack_calls.hpp"

namespace sinter::cpu {
namespace {

// Complex numbers by their parts: the operators of std::complex look for infinities.
template <class R>
struct parts {
  R re, im;
};
template <class T>
struct element_of {
  using type = T;
};
template <class R>
struct element_of<std::complex<R>> {
  using type = parts<R>;
};

/// By which LAPACK chooses pivots.
template <class R>
R magnitude(R x) {
  return std::abs(x);
}
template <class R>
R magnitude(const parts<R>& x) {
  return std::abs(x.re) + std::abs(x.im);
}

template <class R>
void subtract_product(R& x, R a, R b) {
  x -= a * b;
}
template <class R>
void subtract_product(parts<R>& x, const parts<R>& a, const parts<R>& b) {
  x = {x.re - (a.re * b.re - a.im * b.im), x.im - (a.re * b.im + a.im * b.re)};
}

template <class R>
R quotient(R a, R b) {
  return a / b;
}
/// By Smith: without the square of a part.
template <class R>
parts<R> quotient(const parts<R>& a, const parts<R>& b) {
  if (std::abs(b.re) >= std::abs(b.im)) {
    const R ratio = b.im / b.re, divisor = b.re + b.im * ratio;
    return {(a.re + a.im * ratio) / divisor, (a.im - a.re * ratio) / divisor};
  }
  const R ratio = b.re / b.im, divisor = b.re * ratio + b.im;
  return {(a.re * ratio + a.im) / divisor, (a.im * ratio - a.re) / divisor};
}

/// `N`: the order, or 0 where only `order` knows it.
template <int N, class T>
std::int32_t factor_one(T* a, int order, std::int32_t* pivots) {
  const int n = N ? N : order;
  std::int32_t info = 0;
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i)
      if (magnitude(a[k * n + i]) > magnitude(a[k * n + best])) best = i;
    pivots[k] = best + 1;
    if (magnitude(a[k * n + best]) == 0) {
      if (info == 0) info = k + 1;
      continue;
    }
    if (best != k)
      for (int j = 0; j < n; ++j) std::swap(a[j * n + k], a[j * n + best]);
    for (int i = k + 1; i < n; ++i) a[k * n + i] = quotient(a[k * n + i], a[k * n + k]);
    for (int j = k + 1; j < n; ++j)
      for (int i = k + 1; i < n; ++i) subtract_product(a[j * n + i], a[k * n + i], a[j * n + k]);
  }
  return info;
}

template <class T>
void solve_one(const T* lu, int n, const std::int32_t* pivots, T* x) {
  for (int k = 0; k < n; ++k) std::swap(x[k], x[pivots[k] - 1]);
  for (int k = 0; k < n; ++k)
    for (int i = k + 1; i < n; ++i) subtract_product(x[i], lu[k * n + i], x[k]);
  for (int k = n; k-- > 0;) {
    x[k] = quotient(x[k], lu[k * n + k]);
    for (int i = 0; i < k; ++i) subtract_product(x[i], lu[k * n + i], x[k]);
  }
}

/// Calls f(matrix) for all of them.
template <class F>
void each_matrix(std::int64_t count, std::int64_t work_each, const F& f) {
  constexpr std::int64_t enough = 16384;  // operations of a task
  const std::int64_t each = std::max<std::int64_t>(1, enough / work_each);
  const double nanoseconds = static_cast<double>(count) * (10 + static_cast<double>(work_each));
  runtime::parallel_for((count + each - 1) / each, nanoseconds, [&](std::int64_t task) {
    for (std::int64_t k = task * each; k < std::min(count, (task + 1) * each); ++k) f(k);
  });
}

}  // namespace

void factor_small_lu(dtype type, std::int64_t n, std::int64_t count, void* a, std::int32_t* pivots,
                     std::int32_t* info) {
  const int order = static_cast<int>(n);
  with_type(type, [&](auto zero) {
    using T = typename element_of<decltype(zero)>::type;
    each_matrix(count, n * n * n, [&](std::int64_t k) {
      T* const m = static_cast<T*>(a) + k * n * n;
      std::int32_t* const p = pivots + k * n;
      switch (order) {
        case 2: info[k] = factor_one<2>(m, order, p); break;
        case 3: info[k] = factor_one<3>(m, order, p); break;
        case 4: info[k] = factor_one<4>(m, order, p); break;
        default: info[k] = factor_one<0>(m, order, p);
      }
    });
  });
}

void solve_small_lu(dtype type, std::int64_t n, std::int64_t columns, std::int64_t count, const void* lu,
                    const std::int32_t* pivots, void* x) {
  with_type(type, [&](auto zero) {
    using T = typename element_of<decltype(zero)>::type;
    each_matrix(count, n * n * columns, [&](std::int64_t k) {
      const T* const m = static_cast<const T*>(lu) + k * n * n;
      for (std::int64_t c = 0; c < columns; ++c)
        solve_one(m, static_cast<int>(n), pivots + k * n, static_cast<T*>(x) + (k * columns + c) * n);
    });
  });
}

}  // namespace sinter::cpu
