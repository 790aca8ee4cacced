// The CUDA kernels for products of sparse matrices, run thread by thread on the CPU, against plain loops: rows that are
// divided, empty rows at every border, long and short rows, all sums exact.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/sparse.hpp"

namespace {

using emulated::csr_kernels;

bool left_out() {
  if (cuda_emulator::available()) return false;
  MESSAGE("left out: the sanitizer does not follow changes of stack");
  return true;
}

double as_number(double v, double) { return v; }
float as_number(double v, float) { return static_cast<float>(v); }
unsigned long long as_number(double v, unsigned long long) { return static_cast<unsigned long long>(v); }
emulated::csr::complex_pair<float> as_number(double v, emulated::csr::complex_pair<float>) {
  return {static_cast<float>(v), static_cast<float>(1 - v)};
}
template <class R>
emulated::csr::complex_pair<R> operator*(emulated::csr::complex_pair<R> a, emulated::csr::complex_pair<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class R>
emulated::csr::complex_pair<R> operator+(emulated::csr::complex_pair<R> a, emulated::csr::complex_pair<R> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class R>
bool operator==(emulated::csr::complex_pair<R> a, emulated::csr::complex_pair<R> b) {
  return a.re == b.re && a.im == b.im;
}

template <class T, class I>
struct matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<I> indptr{0}, indices;
  std::vector<T> data;
};

/// Rows of these lengths, with small whole numbers.
template <class T, class I>
matrix<T, I> matrix_of(const std::vector<int>& lengths, std::int64_t columns, std::mt19937& random) {
  matrix<T, I> m;
  m.rows = static_cast<std::int64_t>(lengths.size());
  m.columns = columns;
  for (const int n : lengths) {
    for (int k = 0; k < n; ++k) {
      m.indices.push_back(static_cast<I>(random() % static_cast<unsigned long>(columns)));
      m.data.push_back(as_number(static_cast<double>(random() % 7), T{}));
    }
    m.indptr.push_back(static_cast<I>(m.indices.size()));
  }
  return m;
}

template <class T>
std::vector<T> numbers(std::int64_t n, std::mt19937& random) {
  std::vector<T> x;
  for (std::int64_t k = 0; k < n; ++k) x.push_back(as_number(static_cast<double>(random() % 5), T{}));
  return x;
}

/// With a vector, as the library launches it; `near`: x in shared memory, by few blocks.
template <class T, class I>
void launch_rows(const csr_kernels<T, I>& kernels, const emulated::csr::csr_job<T, I>& job, bool near) {
  const auto& sizes = emulated::sizes_of_csr;
  const auto rows = static_cast<unsigned>(job.rows), in_block = kernels.row_threads / kernels.lanes;
  if (near)
    REQUIRE(cuda_emulator::launch({3}, {sizes.resident_threads}, [&] { kernels.times_near_vector(job); }) ==
            std::string());
  else
    REQUIRE(cuda_emulator::launch({(rows + in_block - 1) / in_block}, {kernels.row_threads},
                                  [&] { kernels.times_vector(job); }) == std::string());
  const auto tiles = static_cast<unsigned>((job.entries + sizes.giant_tile - 1) / sizes.giant_tile);
  if (tiles == 0) return;
  std::vector<T> heads(tiles), carries(tiles);
  std::vector<std::int64_t> head_rows(tiles, 77);
  const emulated::csr::csr_tiles<T> parts{tiles, heads.data(), carries.data(), head_rows.data()};
  REQUIRE(cuda_emulator::launch({tiles}, {sizes.giant_threads}, [&] { kernels.giant_rows(job, parts); }) ==
          std::string());
  const unsigned joined = sizes.join_threads / 32;
  REQUIRE(cuda_emulator::launch({(tiles + joined - 1) / joined}, {sizes.join_threads},
                                [&] { kernels.join_giants(job, parts); }) == std::string());
}
template <class T, class I>
void launch_matrix(const csr_kernels<T, I>& kernels, const emulated::csr::csr_job<T, I>& job) {
  int lanes = 2;
  while (lanes < 32 && lanes < job.width) lanes *= 2;
  const auto down = static_cast<unsigned>((job.rows + emulated::csr_matrix_threads / lanes - 1) /
                                          (emulated::csr_matrix_threads / lanes));
  REQUIRE(cuda_emulator::launch({down, 2}, {emulated::csr_matrix_threads}, [&] { kernels.times_matrix(job, lanes); }) ==
          std::string());
}

template <class T, class I>
void check_product(const csr_kernels<T, I>& kernels, const matrix<T, I>& m, std::int64_t width, bool ones,
                   std::mt19937& random, bool near = false) {
  const std::vector<T> x = numbers<T>(m.columns * width, random), y = numbers<T>(m.rows * width, random);
  std::vector<T> result(static_cast<std::size_t>(m.rows * width), as_number(99, T{}));
  emulated::csr::csr_job<T, I> job;
  job.rows = m.rows;
  job.columns = m.columns;
  job.entries = static_cast<std::int64_t>(m.data.size());
  job.width = width;
  job.data = m.data.data();
  job.indices = ones ? nullptr : m.indices.data();
  job.indptr = m.indptr.data();
  job.x = ones ? nullptr : x.data();
  job.y = y.data();
  job.alpha = as_number(2, T{});
  job.beta = as_number(3, T{});
  job.scaled = job.weighted = true;
  job.result = result.data();
  if (width == 1) launch_rows(kernels, job, near);
  else launch_matrix(kernels, job);
  std::int64_t wrong = -1;
  for (std::int64_t r = m.rows - 1; r >= 0; --r)
    for (std::int64_t c = width - 1; c >= 0; --c) {
      T sum{};
      for (auto k = static_cast<std::size_t>(m.indptr[static_cast<std::size_t>(r)]);
           k < static_cast<std::size_t>(m.indptr[static_cast<std::size_t>(r) + 1]); ++k)
        sum = sum + (ones ? m.data[k] : m.data[k] * x[static_cast<std::size_t>(m.indices[k] * width + c)]);
      const auto at = static_cast<std::size_t>(r * width + c);
      if (!(result[at] == job.alpha * sum + job.beta * y[at])) wrong = r;
    }
  CHECK(wrong == -1);
}

/// A x / |x| - (|x| / other) y by few blocks. The scales are powers of two where |x| is, so sums are exact.
template <class T, class I>
void check_normal(const csr_kernels<T, I>& kernels, const matrix<T, I>& m, const std::vector<T>& x, double other,
                  double alpha, double beta, std::mt19937& random) {
  const std::vector<T> y = numbers<T>(m.rows, random);
  std::vector<T> result(static_cast<std::size_t>(m.rows), T(99));
  double length = -7;
  emulated::csr::csr_job<T, I> job;
  job.rows = m.rows, job.columns = m.columns, job.entries = static_cast<std::int64_t>(m.data.size());
  job.data = m.data.data(), job.indices = m.indices.data(), job.indptr = m.indptr.data();
  job.x = x.data(), job.y = y.data(), job.result = result.data();
  const auto launched_by = [&](auto kernel) {
    std::fill(result.begin(), result.end(), T(99));
    length = -7;
    return cuda_emulator::launch({3}, {emulated::sizes_of_csr.normal_threads}, [&] { kernel(job, {&other, &length}); });
  };
  REQUIRE(launched_by(kernels.times_normal_vector_apart) == std::string());
  const std::vector<T> apart = result;
  REQUIRE(launched_by(kernels.times_normal_vector) == std::string());
  CHECK(result == apart);
  double squares = 0;
  for (const T v : x) squares += static_cast<double>(v) * static_cast<double>(v);
  CHECK(length == std::sqrt(squares));
  std::int64_t wrong = 0;
  for (std::size_t r = 0; r < result.size(); ++r) {
    T sum{};
    for (auto k = static_cast<std::size_t>(m.indptr[r]); k < static_cast<std::size_t>(m.indptr[r + 1]); ++k)
      sum += m.data[k] * x[static_cast<std::size_t>(m.indices[k])];
    wrong += result[r] != static_cast<T>(alpha) * sum + static_cast<T>(beta) * y[r];
  }
  CHECK(wrong == 0);
}

std::vector<int> lengths_of(int kind, std::mt19937& random) {
  const int tile = emulated::sizes_of_csr.giant_tile, giant = emulated::sizes_of_csr.giant + 1;
  switch (kind) {
    case 0: return {0, 0, 5, 0, tile - 5, 0, 0, 3};                 // a row ends with a tile, empty ones after it
    case 1: return {3 * tile + 7, 0, 1};                            // a giant that begins with a tile
    case 2: return {tile, giant, 0, giant - 1, 2, giant};           // one entry too many, and none
    case 3: return std::vector<int>(900, 5);                        // short rows
    case 4: return std::vector<int>(300, 0);                        // no entries
    case 5: return {10, 3 * tile, 20, 0, 4 * tile - 30, giant, 1};  // giants end and begin in one tile
    case 6: return {7 * tile};                                      // one row, of whole tiles
    case 7: return {4 * tile - 1, 4 * tile + 1, 0};                 // a border is a tile's but for an entry
    case 8: {  // rows that are far from where they would be if all had the same length
      std::vector<int> all(3000, 0);
      all.insert(all.end(), 700, 9);
      all.insert(all.end(), 2000, 0);
      all.push_back(giant + tile);
      return all;
    }
    case 9: return {64, 65, 0, 256, 257, 512, 513, 31, 32, 33, 2048, 1};  // where the warp begins to help
    default: {
      std::vector<int> all;
      for (int k = 0; k < 200; ++k) all.push_back(static_cast<int>(random() % 3 == 0 ? random() % 900 : random() % 20));
      return all;
    }
  }
}

template <class T, class I>
void check_all(const csr_kernels<T, I>& kernels) {
  std::mt19937 random(5);
  for (int kind = 0; kind < 12; ++kind) {
    CAPTURE(kind);
    const matrix<T, I> m = matrix_of<T, I>(lengths_of(kind, random), 50, random);
    check_product(kernels, m, 1, false, random);
    check_product(kernels, m, 1, false, random, true);
    check_product(kernels, m, 1, true, random);
    if (kind >= 10) check_product(kernels, m, kind == 10 ? 3 : 37, false, random);
  }
}

/// What is done after positions have been sorted by column, which std::stable_sort does here.
template <class I>
void check_transpose(const emulated::transpose_kernels<I>& kernels, const matrix<double, I>& m) {
  const auto entries = static_cast<std::int64_t>(m.data.size());
  std::vector<std::uint32_t> positions(m.data.size()), columns;
  for (std::size_t k = 0; k < positions.size(); ++k) positions[k] = static_cast<std::uint32_t>(k);
  std::stable_sort(positions.begin(), positions.end(), [&](auto a, auto b) { return m.indices[a] < m.indices[b]; });
  for (const std::uint32_t at : positions) columns.push_back(static_cast<std::uint32_t>(m.indices[at]));
  std::vector<I> indptr(static_cast<std::size_t>(m.columns) + 1, -7), rows(m.data.size(), -7);
  std::vector<double> data(m.data.size(), -7);
  const emulated::csr::csr_entries<double, I> e{m.rows, entries, m.data.data(), m.indptr.data()};
  // Fewer threads than columns and entries, as where the device is full.
  REQUIRE(cuda_emulator::launch({2}, {32}, [&] {
            kernels.column_starts(columns.data(), entries, m.columns, indptr.data());
          }) == std::string());
  REQUIRE(cuda_emulator::launch({3}, {32}, [&] { kernels.place(e, positions.data(), rows.data(), data.data()); }) ==
          std::string());
  std::size_t next = 0;
  bool right = true;
  for (std::int64_t c = 0; c < m.columns; ++c) {
    right &= indptr[static_cast<std::size_t>(c)] == static_cast<I>(next);
    for (std::int64_t r = 0; r < m.rows; ++r)
      for (auto k = static_cast<std::size_t>(m.indptr[static_cast<std::size_t>(r)]);
           k < static_cast<std::size_t>(m.indptr[static_cast<std::size_t>(r) + 1]); ++k) {
        if (m.indices[k] != c) continue;
        right &= rows[next] == static_cast<I>(r) && data[next] == m.data[k];
        ++next;
      }
  }
  CHECK(right);
  CHECK(indptr.back() == static_cast<I>(entries));
}

/// By few blocks, against std::stable_sort; elements tell entries of equal place apart.
template <class I>
void check_row_sort(emulated::row_sort_kernel<I> sort, const std::vector<int>& lengths, std::int64_t columns,
                    std::mt19937& random) {
  matrix<double, I> m = matrix_of<double, I>(lengths, columns, random);
  for (std::size_t k = 0; k < m.data.size(); ++k) m.data[k] = static_cast<double>(k);
  const auto entries = static_cast<std::int64_t>(m.data.size());
  std::vector<I> sorted(m.data.size(), -7);
  std::vector<double> data(m.data.size(), -7);
  REQUIRE(cuda_emulator::launch({3}, {emulated::csr_sort_threads}, [&] {
            sort({m.rows, entries, m.data.data(), m.indptr.data()}, m.indices.data(), sorted.data(), data.data());
          }) == std::string());
  std::vector<std::size_t> order(m.data.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  for (std::size_t r = 0; r + 1 < m.indptr.size(); ++r)
    std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(m.indptr[r]),
                     order.begin() + static_cast<std::ptrdiff_t>(m.indptr[r + 1]),
                     [&](auto a, auto b) { return m.indices[a] < m.indices[b]; });
  bool right = true;
  for (std::size_t k = 0; k < order.size(); ++k)
    right &= sorted[k] == m.indices[order[k]] && data[k] == m.data[order[k]];
  CHECK(right);
}

}  // namespace

TEST_CASE("CUDA kernels for sparse matrices: sorts of rows") {
  if (left_out()) return;
  std::mt19937 random(7);
  const std::vector<int> lengths = {0, 1, 2, 127, 128, 129, 0, 1024, 300, 3, 0};
  for (const std::int64_t columns : {std::int64_t{1}, std::int64_t{40}, std::int64_t{100000}}) {
    check_row_sort(emulated::row_sort_narrow, lengths, columns, random);
    check_row_sort(emulated::row_sort_wide, lengths, columns, random);
  }
}

TEST_CASE("CUDA kernels for sparse matrices: transposes") {
  if (left_out()) return;
  std::mt19937 random(6);
  for (int kind = 0; kind < 10; ++kind) {
    CAPTURE(kind);
    if (kind == 4) continue;  // without entries nothing is launched
    check_transpose(emulated::transposes_narrow, matrix_of<double, int>(lengths_of(kind, random), 50, random));
    check_transpose(emulated::transposes_wide, matrix_of<double, std::int64_t>(lengths_of(kind, random), 3, random));
  }
}

TEST_CASE("CUDA kernels for sparse matrices: products with vectors and matrices") {
  if (left_out()) return;
  check_all(emulated::csr_doubles_by_one);
  check_all(emulated::csr_doubles_by_four);
  check_all(emulated::csr_singles_by_eight);
  check_all(emulated::csr_singles_by_warps);
  check_all(emulated::csr_integers);
  check_all(emulated::csr_complex);
}

TEST_CASE("emulated kernels: products of a vector of length 1, whose length each block finds") {
  if (left_out()) return;
  std::mt19937 random(11);
  const auto check = [&](const auto& kernels, auto zero) {
    using T = decltype(zero);
    const matrix<T, int> m = matrix_of<T, int>(lengths_of(9, random), 900, random);
    std::vector<T> x(900, T(0));
    check_normal(kernels, m, x, 4, 1, 1, random);  // y where x is 0
    for (std::size_t k = 0; k < x.size(); k += 4) x[k] = 2;
    x[1] = x[2] = T(8), x[3] = 3, x[5] = x[6] = 1;
    x[7] = 5, x[9] = 3, x[10] = x[11] = T(2);
    double squares = 0;
    for (const T v : x) squares += static_cast<double>(v) * static_cast<double>(v);
    for (std::size_t k = 13; squares < 4096; k += k % 4 == 3 ? 2 : 1) {  // up to a length of 64
      const double left = 4096 - squares, of = left >= 16 ? 4 : left >= 4 ? 2 : 1;
      x[k] = static_cast<T>(of);
      squares += of * of;
    }
    CHECK(squares == 4096);
    check_normal(kernels, m, x, 32, 1.0 / 64, -2, random);
    check_normal(kernels, m, x, 0, 1.0 / 64, -64, random);
  };
  check(emulated::csr_doubles_by_four, 0.0);
  check(emulated::csr_singles_by_warps, 0.0f);
}
