// NumPy's order of complex numbers, spelled out, and test numbers for it: every combination of finite, infinite and NaN
// parts.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace sinter::test {

template <class R>
struct complex_order {
  using value = std::complex<R>;

  static std::vector<value> all() {
    const R infinity = std::numeric_limits<R>::infinity(), nan = std::numeric_limits<R>::quiet_NaN();
    std::vector<value> v;
    for (const R re : {R(-1), R(2), infinity, -infinity, nan})
      for (const R im : {R(-1), R(2), infinity, -infinity, nan}) v.emplace_back(re, im);
    return v;
  }

  /// Rows of `columns` numbers: every ordered pair of all() at two positions among finite numbers between them, then
  /// rows of arbitrary numbers. `count` of them, in an order that depends on the seed.
  static std::vector<value> rows(std::size_t count, std::size_t columns, unsigned seed) {
    const std::vector<value> v = all();
    std::mt19937 random(seed);
    std::vector<value> x;
    for (std::size_t r = 0; r < count; ++r) {
      std::vector<value> row(columns, value(1, 1));
      if (r < v.size() * v.size()) {
        std::size_t a = random() % columns, b = random() % columns;
        if (a > b) std::swap(a, b);
        row[a] = v[r / v.size()];
        row[b] = v[r % v.size()];
      } else {
        for (value& z : row) z = v[random() % v.size()];
      }
      x.insert(x.end(), row.begin(), row.end());
    }
    return x;
  }

  static bool is_nan(value z) { return std::isnan(z.real()) || std::isnan(z.imag()); }
  static bool less(value a, value b) {
    if (is_nan(a) || is_nan(b)) return false;
    return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
  }
  /// Equal, or both NaN.
  static bool same(value a, value b) { return a == b || (is_nan(a) && is_nan(b)); }
  static bool same_parts(value a, value b) {
    const auto part = [](R x, R y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    return part(a.real(), b.real()) && part(a.imag(), b.imag());
  }

  /// The index of the least (or greatest) element: the first NaN, otherwise the first with its value.
  static std::int64_t place(const value* row, std::size_t columns, bool low) {
    std::size_t best = 0;
    for (std::size_t k = 1; k < columns && !is_nan(row[best]); ++k)
      if (is_nan(row[k]) || (low ? less(row[k], row[best]) : less(row[best], row[k]))) best = k;
    return static_cast<std::int64_t>(best);
  }

  /// Sorts put after all other numbers, in this order: NaN in the imaginary part, in the real part, in both.
  static bool sorts_before(value a, value b) {
    const auto kind = [](value z) { return 2 * std::isnan(z.real()) + std::isnan(z.imag()); };
    if (kind(a) != kind(b)) return kind(a) < kind(b);
    if (kind(a) == 0) return less(a, b);
    return kind(a) == 1 ? a.real() < b.real() : kind(a) == 2 && a.imag() < b.imag();
  }
  static std::vector<std::int64_t> sorting(const value* row, std::size_t columns, bool descending = false) {
    std::vector<std::int64_t> order(columns);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
      return descending ? sorts_before(row[j], row[i]) : sorts_before(row[i], row[j]);
    });
    return order;
  }
};

}  // namespace sinter::test
