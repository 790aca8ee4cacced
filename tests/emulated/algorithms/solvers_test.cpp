// The CUDA kernel that makes Q from reflectors, run thread by thread on the CPU, against the product of the reflectors.
#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/form_q.hpp"

namespace {

template <class T>
struct part_of {
  using type = T;
};
template <class R>
struct part_of<std::complex<R>> {
  using type = R;
};

template <class T>
T conjugate(T v) {
  if constexpr (std::is_floating_point_v<T>) return v;
  else return std::conj(v);
}

/// Columns of the identity, with the reflectors 1 - tau v v^H applied from the last to the first.
template <class T>
std::vector<T> plain_q(std::size_t rows, std::size_t columns, const std::vector<T>& v, const std::vector<T>& tau) {
  std::vector<T> q(rows * columns, T{});
  for (std::size_t j = 0; j < columns; ++j) q[j * rows + j] = T{1};
  for (std::size_t i = tau.size(); i-- > 0;) {
    const auto of_v = [&](std::size_t r) { return r < i ? T{} : r == i ? T{1} : v[i * rows + r]; };
    for (std::size_t j = 0; j < columns; ++j) {
      T sum{};
      for (std::size_t r = 0; r < rows; ++r) sum += conjugate(of_v(r)) * q[j * rows + r];
      for (std::size_t r = 0; r < rows; ++r) q[j * rows + r] -= tau[i] * of_v(r) * sum;
    }
  }
  return q;
}

template <class T>
void check(std::size_t rows, std::size_t columns, std::size_t reflectors, std::size_t count) {
  CAPTURE(rows);
  CAPTURE(columns);
  CAPTURE(reflectors);
  using R = typename part_of<T>::type;
  std::mt19937 random(static_cast<unsigned>(rows * 100 + columns));
  const auto number = [&] {
    const auto one = [&] { return static_cast<R>(static_cast<double>(random()) / 4294967296.0 - 0.5); };
    if constexpr (std::is_floating_point_v<T>) return one();
    else return T(one(), one());
  };
  std::vector<T> a(rows * columns * count), tau(reflectors * count);
  for (T& x : a) x = number();
  for (T& x : tau) x = number();
  std::vector<std::vector<T>> expected;
  for (std::size_t k = 0; k < count; ++k) {
    const auto first = static_cast<std::ptrdiff_t>(k * rows * columns),
               last = first + static_cast<std::ptrdiff_t>(rows * columns);
    const auto begin = static_cast<std::ptrdiff_t>(k * reflectors),
               end = begin + static_cast<std::ptrdiff_t>(reflectors);
    expected.push_back(
        plain_q<T>(rows, columns, {a.begin() + first, a.begin() + last}, {tau.begin() + begin, tau.begin() + end}));
  }
  // Fewer blocks than matrices: they go on to the next ones.
  CHECK(cuda_emulator::launch({2}, {128}, [&] {
          emulated::form_q(static_cast<long long>(rows), static_cast<long long>(columns),
                           static_cast<long long>(reflectors), static_cast<long long>(count), a.data(), tau.data());
        }) == std::string());
  double worst = 0;
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < rows * columns; ++i)
      worst = std::max(worst, static_cast<double>(std::abs(a[k * rows * columns + i] - expected[k][i])));
  CHECK(worst < 200 * static_cast<double>(std::numeric_limits<R>::epsilon()) * static_cast<double>(rows));
}

}  // namespace

TEST_CASE("form_q gives the first columns of the product of the reflectors") {
  if (!cuda_emulator::available()) {
    MESSAGE("left out: the sanitizer does not follow changes of stack");
    return;
  }
  for (const auto& [rows, columns, reflectors] : {std::tuple<std::size_t, std::size_t, std::size_t>{1, 1, 1},
                                                  {3, 2, 2},
                                                  {5, 5, 3},
                                                  {33, 33, 33},
                                                  {40, 7, 7},
                                                  {6, 6, 0},
                                                  {70, 34, 1}}) {
    check<double>(rows, columns, reflectors, 3);
    check<std::complex<float>>(rows, columns, reflectors, 5);
  }
}
