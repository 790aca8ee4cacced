// The CUDA kernels that check matrices before a factorisation and its numbers afterwards, run thread by thread on
// the CPU, against plain loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/matrix_check.hpp"

namespace {

using emulated::numbers;

bool left_out() {
  if (cuda_emulator::available()) return false;
  MESSAGE("left out: the sanitizer does not follow changes of stack");
  return true;
}

std::size_t size_of(const numbers& m) { return static_cast<std::size_t>(m.rows * m.columns * m.parts); }

/// Matrices of small numbers, with something that is not finite in some of them.
std::vector<double> spotted(const numbers& m, std::mt19937& random) {
  std::vector<double> all(size_of(m) * static_cast<std::size_t>(m.count));
  for (double& x : all) x = static_cast<double>(random() % 100) / 10;
  const double spots[] = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                          std::numeric_limits<double>::quiet_NaN()};
  for (long long k = 0; k < m.count; k += 2)
    all[static_cast<std::size_t>(k) * size_of(m) + random() % size_of(m)] = spots[random() % 3];
  return all;
}

bool is_bad(const numbers& m, const double* a) {
  for (long long j = 0; j < m.columns; ++j)
    for (long long i = 0; i < m.rows; ++i)
      for (int p = 0; p < m.parts; ++p) {
        const bool read = m.triangle == 0 || (m.triangle == 1 ? i >= j : i <= j);
        if (read && !std::isfinite(a[(j * m.rows + i) * m.parts + p])) return true;
      }
  return false;
}

struct cleared {
  std::vector<double> all;
  std::vector<int> flags;
};

cleared expected(const numbers& m, std::vector<double> all) {
  cleared c{std::move(all), {}};
  for (long long k = 0; k < m.count; ++k) {
    double* const a = c.all.data() + static_cast<std::size_t>(k) * size_of(m);
    c.flags.push_back(is_bad(m, a));
    if (c.flags.back()) std::fill(a, a + size_of(m), 0.0);
  }
  return c;
}

/// Equal, NaN (outside the triangle) included.
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

const numbers shapes[] = {{1, 1, 5, 1, 0},   {3, 3, 40, 1, 1}, {8, 8, 21, 2, 2}, {5, 3, 9, 2, 0},
                          {33, 33, 4, 1, 2}, {40, 2, 6, 1, 0}, {17, 17, 8, 2, 1}};

}  // namespace

TEST_CASE("kernels clear the matrices that are not finite, a warp each") {
  if (left_out()) return;
  std::mt19937 random(1);
  for (const numbers& m : shapes) {
    CAPTURE(m.rows);
    CAPTURE(m.triangle);
    std::vector<double> all = spotted(m, random);
    const cleared wanted = expected(m, all);
    std::vector<int> flags(static_cast<std::size_t>(m.count), 7);
    // Fewer warps than matrices: they go on to the next ones.
    CHECK(cuda_emulator::launch({2}, {64}, [&] { emulated::clear_small(m, all.data(), flags.data(), nullptr); }) ==
          std::string());
    CHECK(flags == wanted.flags);
    CHECK(same(all, wanted.all));
  }
}

TEST_CASE("kernels clear the matrices that are not finite, a warp for each column") {
  if (left_out()) return;
  std::mt19937 random(2);
  for (const numbers& m : shapes) {
    CAPTURE(m.rows);
    CAPTURE(m.triangle);
    std::vector<double> all = spotted(m, random);
    const cleared wanted = expected(m, all);
    std::vector<int> flags(static_cast<std::size_t>(m.count), 0);
    CHECK(cuda_emulator::launch({3}, {64}, [&] { emulated::flag_columns(m, all.data(), flags.data()); }) ==
          std::string());
    CHECK(flags == wanted.flags);
    CHECK(cuda_emulator::launch({3}, {64}, [&] { emulated::clear_columns(m, all.data(), flags.data()); }) ==
          std::string());
    CHECK(same(all, wanted.all));
  }
}

TEST_CASE("kernels mark flagged matrices and find the first number that is not 0") {
  if (left_out()) return;
  for (const std::size_t count : {1u, 31u, 64u, 300u, 1000u})
    for (const std::size_t at : {std::size_t{0}, count / 2, count - 1, count}) {
      CAPTURE(count);
      CAPTURE(at);
      std::vector<int> flags(count, 0), info(count, 0);
      for (std::size_t k = at; k < count; k += 3) flags[k] = 1;
      CHECK(cuda_emulator::launch({2}, {64}, [&] {
              emulated::mark(flags.data(), static_cast<long long>(count), -5, info.data());
            }) == std::string());
      for (std::size_t k = 0; k < count; ++k) CHECK(info[k] == (flags[k] != 0 ? -5 : 0));
      std::vector<long long> found(4, -1);
      CHECK(cuda_emulator::launch({2}, {64}, [&] {
              emulated::find_first(info.data(), static_cast<long long>(count), found.data());
            }) == std::string());
      CHECK(*std::min_element(found.begin(), found.end()) == static_cast<long long>(at));
    }
}

TEST_CASE("kernels bring very small and very large matrices to the size of 1, and their values back") {
  if (left_out()) return;
  const numbers m{5, 5, 6, 1, 2};
  // Beyond 2^300 and below 2^-300; the numbers between stay as they are, and those in the other triangle count for
  // nothing.
  const double sizes[] = {1, 0x1p-600, 0x1p700, 0, std::numeric_limits<double>::infinity(), 0x1.8p301};
  const int wanted[] = {0, -600, 700, 0, 0, 301};
  std::vector<double> all;
  for (const double size : sizes)
    for (int j = 0; j < 5; ++j)
      for (int i = 0; i < 5; ++i) all.push_back(i > j ? 0x1p900 : i == 1 && j == 3 ? size : size / 4);
  const std::vector<double> before = all;
  std::vector<int> flags(6, 7), exponents(6, 7), info(6, 0);
  CHECK(cuda_emulator::launch(
            {1}, {64}, [&] { emulated::clear_small(m, all.data(), flags.data(), exponents.data()); }) == std::string());
  for (std::size_t k = 0; k < 6; ++k) {
    CAPTURE(k);
    CHECK(exponents[k] == wanted[k]);
    CHECK(flags[k] == (k == 4));
    for (std::size_t i = 0; i < 25; ++i) {
      if (i % 5 > i / 5 && k != 4) continue;
      CHECK(all[25 * k + i] == (k == 4 ? 0 : std::ldexp(before[25 * k + i], -wanted[k])));
    }
  }
  std::vector<double> values(12, 3);
  CHECK(cuda_emulator::launch({1}, {64}, [&] {
          emulated::mark_and_scale(flags.data(), 6, -9, info.data(), exponents.data(), values.data(), 2);
        }) == std::string());
  for (std::size_t k = 0; k < 6; ++k) {
    CHECK(info[k] == (k == 4 ? -9 : 0));
    CHECK(values[2 * k] == std::ldexp(3.0, wanted[k]));
    CHECK(values[2 * k + 1] == std::ldexp(3.0, wanted[k]));
  }
}
