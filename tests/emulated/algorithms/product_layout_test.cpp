// Layouts of matrix products: what BLAS can express, how batches become simpler, and the kernels for integers and for few
// results, run thread by thread on the CPU. All against plain loops.
#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/integer_product.hpp"
#include "emulated/kernels/long_product.hpp"
#include "runtime/algorithms/products.hpp"

namespace {

using namespace sinter;
using namespace sinter::runtime;
using core::dims;
using std::int64_t;

bool is_row_major(const std::optional<blas_matrix>& m, int64_t leading) {
  return m && m->row_major && m->leading == leading;
}
bool is_column_major(const std::optional<blas_matrix>& m, int64_t leading) {
  return m && !m->row_major && m->leading == leading;
}

/// Where the products of a layout read and write: (a, b, c) addresses of every multiplication, in no order.
std::vector<std::string> accesses(const product_layout& l) {
  std::vector<std::string> all;
  for_each_matrix(l, 0, [&](int64_t a, int64_t b, int64_t c) {
    for (int64_t i = 0; i < l.rows; ++i)
      for (int64_t j = 0; j < l.columns; ++j)
        for (int64_t k = 0; k < l.inner; ++k)
          all.push_back(std::to_string(a + i * l.a.row + k * l.a.column) + " " +
                        std::to_string(b + k * l.b.row + j * l.b.column) + " " +
                        std::to_string(c + i * l.c.row + j * l.c.column));
  });
  std::sort(all.begin(), all.end());
  return all;
}

/// Contiguous (batch, rows, columns), with stride 0 along the batch axes that `repeats` marks.
matrix_strides contiguous(const dims& batch, int64_t rows, int64_t columns, std::vector<bool> repeats = {}) {
  matrix_strides m{columns, 1, dims(batch.size())};
  int64_t step = rows * columns;
  for (int k = batch.size() - 1; k >= 0; --k) {
    if (!repeats.empty() && repeats[static_cast<std::size_t>(k)]) continue;
    m.batch[k] = step;
    step *= batch[k];
  }
  return m;
}

product_layout layout_of(dims batch, int64_t m, int64_t n, int64_t k, std::vector<bool> a_repeats = {},
                         std::vector<bool> b_repeats = {}) {
  return {dtype::f32,
          m,
          n,
          k,
          batch,
          contiguous(batch, m, k, a_repeats),
          contiguous(batch, k, n, b_repeats),
          contiguous(batch, m, n)};
}

}  // namespace

TEST_CASE("a matrix is BLAS's where one stride is 1 and the other at least as long") {
  CHECK(is_row_major(as_blas(3, 4, 4, 1), 4));
  CHECK(is_row_major(as_blas(3, 4, 9, 1), 9));
  CHECK(is_column_major(as_blas(3, 4, 1, 3), 3));
  CHECK(is_column_major(as_blas(3, 4, 1, 7), 7));
  CHECK(!as_blas(3, 4, 8, 2));
  CHECK(!as_blas(3, 4, -4, 1));
  CHECK(!as_blas(3, 4, 4, -1));
  CHECK(!as_blas(3, 4, 0, 1));
  CHECK(!as_blas(3, 4, 3, 1));  // overlapping rows
  CHECK(!as_blas(3, 4, 1, 2));
  CHECK(is_row_major(as_blas(1, 4, -77, 1), 4));   // strides along extents of 1 do not count
  CHECK(is_column_major(as_blas(1, 4, 0, 5), 5));  // every fifth element: columns of one
  CHECK(is_row_major(as_blas(3, 1, 5, 0), 5));
  CHECK(as_blas(1, 1, 0, 0));
}

TEST_CASE("batch axes merge, and become rows or columns where one factor repeats") {
  const auto merged = simplified(layout_of({2, 3}, 4, 5, 6));
  CHECK(merged.batch == dims{6});
  const auto rows = simplified(layout_of({2, 3}, 4, 5, 6, {}, {true, true}));
  CHECK(rows.batch.empty());
  CHECK(rows.rows == 24);
  const auto inner_rows = simplified(layout_of({2, 3}, 4, 5, 6, {}, {false, true}));
  CHECK(inner_rows.batch == dims{2});
  CHECK(inner_rows.rows == 12);
  auto by_columns = layout_of({3}, 4, 5, 6, {true}, {});
  by_columns.b = {15, 1, dims{5}};  // the matrices are side by side
  by_columns.c = {15, 1, dims{5}};
  const auto columns = simplified(by_columns);
  CHECK(columns.batch.empty());
  CHECK(columns.columns == 15);
  CHECK(simplified(layout_of({1, 1}, 4, 5, 6)).batch.empty());
  CHECK(simplified(layout_of({7}, 4, 5, 6, {true}, {})).batch == dims{7});  // no stride covers the columns of c
}

TEST_CASE("a simpler layout makes the same multiplications") {
  const std::vector<bool> none, first{true, false}, second{false, true}, both{true, true};
  for (const auto& a : {none, first, second, both})
    for (const auto& b : {none, first, second, both})
      for (const dims& extents : {dims{2, 3, 4, 5, 2}, dims{3, 2, 1, 3, 2}, dims{2, 2, 3, 1, 2}, dims{2, 3, 1, 1, 4},
                                  dims{1, 3, 2, 2, 1}, dims{5, 1, 2, 3, 3}}) {
        const auto l = layout_of({extents[0], extents[1]}, extents[2], extents[3], extents[4], a, b);
        const auto s = simplified(l);
        CHECK(accesses(s) == accesses(l));
        CHECK(s.batch.size() <= 2);
        if (s.batch.size() == 2) CHECK(s.batch[1] >= s.batch[0]);
      }
}

// --- the kernel

namespace {

using cuda::device::product_shape;
using cuda::device::product_strides;

template <class T>
std::vector<T> random_elements(std::size_t n, unsigned seed, bool logical) {
  std::mt19937_64 random(seed);
  std::vector<T> x(n);
  for (T& v : x) v = static_cast<T>(logical ? random() % 16 == 0 : random());
  return x;
}

template <class T>
void check_kernel(emulated::integer_product_function<T>* kernel, const product_shape& s, bool logical) {
  if (!cuda_emulator::available()) return;
  constexpr std::size_t room = 60000;
  const auto a = random_elements<T>(room, 1, logical), b = random_elements<T>(room, 2, logical);
  std::vector<T> got(room, 77), expected(room, 77);
  const T *a0 = a.data() + room / 2, *b0 = b.data() + room / 2;
  for (int64_t z = 0; z < s.batch[0] * s.batch[1]; ++z) {
    const auto at = [&](const product_strides& m) { return z / s.batch[1] * m.batch[0] + z % s.batch[1] * m.batch[1]; };
    for (int64_t i = 0; i < s.rows; ++i)
      for (int64_t j = 0; j < s.columns; ++j) {
        T sum = 0;
        for (int64_t k = 0; k < s.inner; ++k) {
          const T x = a0[at(s.a) + i * s.a.row + k * s.a.column], y = b0[at(s.b) + k * s.b.row + j * s.b.column];
          sum = static_cast<T>(logical ? sum | (x & y) : sum + x * y);
        }
        expected[static_cast<std::size_t>(at(s.c) + i * s.c.row + j * s.c.column)] = sum;
      }
  }
  using emulated::product_tile;
  const auto tiles = [](int64_t n) { return static_cast<unsigned>((n + product_tile - 1) / product_tile); };
  // Fewer blocks than tiles along y and z, as where there are more than a grid has: the kernel loops.
  const unsigned down = tiles(s.rows) > 1 ? tiles(s.rows) - 1 : 1;
  const auto deep = static_cast<unsigned>(s.batch[0] * s.batch[1] > 1 ? s.batch[0] * s.batch[1] - 1 : 1);
  CHECK(cuda_emulator::launch({tiles(s.columns), down, deep}, {emulated::product_threads},
                              [&] { kernel(s, a0, b0, got.data()); }) == std::string());
  CHECK(got == expected);
}

void check_all_types(const product_shape& s) {
  check_kernel<std::uint8_t>(emulated::product_u8, s, false);
  check_kernel<std::uint8_t>(emulated::product_bool, s, true);
  check_kernel<std::uint32_t>(emulated::product_u32, s, false);
  check_kernel<std::uint64_t>(emulated::product_u64, s, false);
}

}  // namespace

TEST_CASE("the GPU's kernel for integers gives what a plain loop does, for any strides and extents") {
  if (!cuda_emulator::available()) MESSAGE("left out: the sanitizer does not follow changes of stack");
  check_all_types({5, 7, 3, {1, 1}, {3, 1, {0, 0}}, {7, 1, {0, 0}}, {7, 1, {0, 0}}});
  check_all_types({65, 70, 33, {1, 1}, {33, 1, {0, 0}}, {70, 1, {0, 0}}, {70, 1, {0, 0}}});
  check_all_types({130, 64, 16, {1, 1}, {1, 130, {0, 0}}, {1, 16, {0, 0}}, {1, 130, {0, 0}}});  // all by columns
  check_all_types({4, 3, 20, {2, 3}, {20, 1, {0, 80}}, {3, 1, {60, 0}}, {3, 1, {36, 12}}});     // two batch axes
  check_all_types({6, 5, 4, {1, 2}, {-8, 2, {0, -60}}, {10, -2, {0, 0}}, {10, 2, {0, 100}}});   // backwards, gaps
  check_all_types({1, 1, 100, {1, 1}, {0, 1, {0, 0}}, {1, 0, {0, 0}}, {1, 1, {0, 0}}});
}

namespace {

/// Small integers, whose sums are exact in any order; what the strides skip is NaN.
template <class T>
std::vector<T> spread(int64_t n, int64_t inner, int64_t along, int64_t across, unsigned seed) {
  std::vector<T> x(static_cast<std::size_t>((n - 1) * along + (inner - 1) * across + 1),
                   std::numeric_limits<T>::quiet_NaN());
  std::mt19937 random(seed);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < inner; ++k)
      x[static_cast<std::size_t>(i * along + k * across)] = static_cast<T>(static_cast<int>(random() % 9) - 4);
  return x;
}

template <class T>
void check_long(const emulated::long_product_case& s) {
  if (!cuda_emulator::available()) return;
  CAPTURE(s.rows);
  CAPTURE(s.columns);
  struct alignas(16) part {
    char of[16];
  };
  const std::vector<T> a = spread<T>(s.rows, s.inner, s.a_row, s.a_inner, 1),
                       b = spread<T>(s.columns, s.inner, s.b_column, s.b_inner, 2);
  const auto aligned = [](const std::vector<T>& x) {
    std::vector<part> at((x.size() * sizeof(T) + sizeof(part) - 1) / sizeof(part));
    std::memcpy(at.data(), x.data(), x.size() * sizeof(T));
    return at;
  };
  const std::vector<part> a_at = aligned(a), b_at = aligned(b);
  std::vector<T> got(static_cast<std::size_t>((s.rows - 1) * s.c_row + (s.columns - 1) * s.c_column + 1), T(55)),
      expected = got;
  for (int64_t i = 0; i < s.rows; ++i)
    for (int64_t j = 0; j < s.columns; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < s.inner; ++k)
        sum += a[static_cast<std::size_t>(i * s.a_row + k * s.a_inner)] *
               b[static_cast<std::size_t>(j * s.b_column + k * s.b_inner)];
      expected[static_cast<std::size_t>(i * s.c_row + j * s.c_column)] = sum;
    }
  CHECK(emulated::long_product(s, reinterpret_cast<const T*>(a_at.data()), reinterpret_cast<const T*>(b_at.data()),
                               got.data()) == std::string());
  CHECK(got == expected);
}

}  // namespace

TEST_CASE("the GPU's kernels for products over a long inner extent give what a plain loop does") {
  // rows, columns, inner; strides of a, of b, of c; side of tiles, groups, blocks; whether tiles are vectors
  check_long<float>({4, 3, 700, 1, 4, 3, 1, 3, 1, 4, 8, 3, true, false});  // both factors tall
  check_long<double>({3, 4, 333, 1, 3, 4, 1, 4, 1, 4, 8, 2, false, true});
  check_long<float>({16, 8, 500, 1, 16, 8, 1, 8, 1, 8, 4, 2, true, true});  // two tiles
  check_long<float>(
      {15, 9, 411, 1, 20, 1, 411, 1, 17, 8, 2, 3, false, false});  // unequal tiles, gaps, b and c by columns
  check_long<double>({7, 8, 130, 130, 1, 8, 1, 20, 1, 4, 2, 2, false, true});
  check_long<float>({1, 5, 65, 0, 2, 5, 1, 5, 1, 8, 8, 1, false, false});  // fewer elements than lanes of some groups
  check_long<float>({16, 16, 97, 1, 16, 16, 1, 16, 1, 8, 1, 1, true, true});  // one group
}
