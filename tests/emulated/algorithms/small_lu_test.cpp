// The CUDA kernels for small matrices, run thread by thread on the CPU: factors multiply to the matrix, pivots are those of
// elimination, systems are solved.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/small_lu.hpp"

namespace {

using size = std::size_t;

template <class T>
double measure(T v) {
  if constexpr (std::is_floating_point_v<T>) return std::abs(static_cast<double>(v));
  else return std::abs(v.real()) + std::abs(v.imag());
}

template <class T>
T draw(std::mt19937& random) {
  const auto one = [&] { return static_cast<double>(random()) / 4294967296.0 - 0.5; };
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(one());
  else return T(one(), one());
}

template <class T>
constexpr double rounding = std::is_same_v<T, float> ? 1.2e-7 : 2.3e-16;

/// Matrices by columns, their factors, and the order of their rows.
template <class T>
struct factored {
  std::vector<T> a, lu;
  std::vector<int> pivots, info;
  size order, count;

  T element(const std::vector<T>& m, size k, size row, size column) const {
    return m[(k * order + column) * order + row];
  }
  std::vector<size> rows(size k) const {
    std::vector<size> from(order);
    for (size i = 0; i < order; ++i) from[i] = i;
    for (size i = 0; i < order; ++i) std::swap(from[i], from[static_cast<size>(pivots[k * order + i] - 1)]);
    return from;
  }
};

template <class T>
factored<T> factor(int lanes, size order, size count, std::vector<T> a) {
  factored<T> f{a, a, std::vector<int>(order * count, -7), std::vector<int>(count, -7), order, count};
  // Fewer groups of lanes than matrices: they go on to the next ones.
  CHECK(cuda_emulator::launch({2}, {64}, [&] {
          emulated::small_lu(lanes, static_cast<long long>(count), static_cast<int>(order), f.lu.data(),
                             f.pivots.data(), f.info.data());
        }) == std::string());
  return f;
}

template <class T>
void check_factors(const factored<T>& f) {
  double worst = 0, unpivoted = 0;
  for (size k = 0; k < f.count; ++k) {
    REQUIRE(f.info[k] == 0);
    const std::vector<size> from = f.rows(k);
    for (size i = 0; i < f.order; ++i)
      for (size j = 0; j < f.order; ++j) {
        T sum{};
        for (size p = 0; p <= std::min(i, j); ++p)
          sum += (p == i ? T{1} : f.element(f.lu, k, i, p)) * f.element(f.lu, k, p, j);
        worst = std::max(worst, measure<T>(sum - f.element(f.a, k, from[i], j)));
        if (i > j) unpivoted = std::max(unpivoted, static_cast<double>(std::abs(f.element(f.lu, k, i, j))));
      }
  }
  CHECK(worst < 20 * rounding<T> * static_cast<double>(f.order));
  CHECK(unpivoted < 1.4143);  // the largest of each column is the pivot; complex ones are measured by their parts
}

template <class T>
void check_solutions(int lanes, const factored<T>& f, size columns, int form, std::mt19937& random) {
  std::vector<T> b(f.count * columns * f.order);
  for (T& v : b) v = draw<T>(random);
  std::vector<T> x = b;
  CHECK(cuda_emulator::launch({1}, {96}, [&] {
          emulated::small_solve(lanes, static_cast<long long>(f.count), static_cast<int>(f.order),
                                static_cast<long long>(columns), form, f.lu.data(), f.pivots.data(), x.data());
        }) == std::string());
  double worst = 0;
  for (size k = 0; k < f.count; ++k)
    for (size c = 0; c < columns; ++c)
      for (size i = 0; i < f.order; ++i) {
        const size at = (k * columns + c) * f.order;
        T sum{};
        double scale = 1;
        for (size j = 0; j < f.order; ++j) {
          T e = form == 0 ? f.element(f.a, k, i, j) : f.element(f.a, k, j, i);
          if constexpr (!std::is_floating_point_v<T>)
            if (form == 2) e = std::conj(e);
          sum += e * x[at + j];
          scale = std::max(scale, measure<T>(x[at + j]));
        }
        worst = std::max(worst, measure<T>(sum - b[at + i]) / scale);
      }
  CHECK(worst < 40 * rounding<T> * static_cast<double>(f.order));
}

template <class T>
void check(int lanes, size order, size count, size columns) {
  CAPTURE(lanes);
  CAPTURE(order);
  std::mt19937 random(static_cast<unsigned>(order * 100 + count));
  std::vector<T> a(order * order * count);
  for (T& v : a) v = draw<T>(random);
  const factored<T> f = factor(lanes, order, count, a);
  check_factors(f);
  for (const int form : {0, 1, 2}) check_solutions(lanes, f, columns, form, random);
}

bool left_out() {
  if (cuda_emulator::available()) return false;
  MESSAGE("left out: the sanitizer does not follow changes of stack");
  return true;
}

}  // namespace

TEST_CASE("small matrices: factors multiply to the matrix, and systems are solved") {
  if (left_out()) return;
  for (const size order : {1, 2, 3, 4, 5, 7, 8, 9, 13, 16}) {
    const int lanes = order <= 4 ? 4 : order <= 8 ? 8 : 16;
    check<double>(lanes, order, 41, 3);
    check<float>(lanes, order, 7, 1);
    check<std::complex<double>>(lanes, order, 18, 2);
  }
}

TEST_CASE("small matrices: singular ones, NaN, equal pivots, and large and small complex ones") {
  if (left_out()) return;
  // By columns: a zero column; rows that depend; equal candidates, of which the first one is taken; NaN.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const factored<double> f = factor<double>(4, 2, 4, {0, 0, 1, 2, 1, 2, 2, 4, -3, 3, 1, 5, nan, 1, 1, 1});
  CHECK(f.info == std::vector<int>{1, 2, 0, 0});
  CHECK(std::vector<int>(f.pivots.begin(), f.pivots.begin() + 6) == std::vector<int>{1, 2, 2, 2, 1, 2});
  CHECK(f.element(f.lu, 1, 1, 0) == 0.5);
  CHECK(f.element(f.lu, 2, 1, 0) == -1);
  CHECK(std::isnan(f.element(f.lu, 3, 1, 1)));
  using c = std::complex<double>;
  const factored<c> g = factor<c>(4, 2, 2, {{1e200, 1e200}, {2e200, -1e200}, 1, 2, {0, 1e-250}, {1e-260, 0}, 1, 2});
  CHECK(std::abs(g.element(g.lu, 0, 1, 0) - c(0.2, 0.6)) < 1e-15);
  CHECK(std::abs(g.element(g.lu, 1, 1, 0) - c(0, -1e-10)) < 1e-25);
}
