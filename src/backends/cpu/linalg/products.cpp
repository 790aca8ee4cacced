// Runtime's products over OpenBLAS.
#include "backends/cpu/linalg/products.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <complex>
#include <cstring>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/cpu/kernels/transpose.hpp"
#include "backends/cpu/linalg/few_terms.hpp"
#include "backends/cpu/linalg/openblas_library.hpp"
#include "runtime/parallel.hpp"
#include "sinter/error.hpp"

namespace sinter::cpu {
namespace {

using runtime::product_layout;
using std::int64_t;

bool by_blocks(dtype t) { return !is_inexact(t) || t == dtype::f16 || t == dtype::bf16; }

/// A part of the result, computed by one call on one thread. The tiles depend on the extents alone, so that the bits of
/// the result do not depend on the number of threads.
struct tiling {
  int64_t rows, columns;  // of a tile
  int64_t down, across;   // tiles
};

tiling tiles_of(const product_layout& l, int64_t matrices) {
  constexpr int64_t tasks = 32, step = 64, least = 256;
  constexpr double small = 64.0 * 64 * 64;  // one thread is done before others have started
  const double work = static_cast<double>(l.rows) * static_cast<double>(l.columns) * static_cast<double>(l.inner);
  if (matrices >= tasks || work <= small) return {l.rows, l.columns, 1, 1};
  const double area =
      static_cast<double>(l.rows) * static_cast<double>(l.columns) * static_cast<double>(matrices) / tasks;
  const auto side = std::max(least, (static_cast<int64_t>(std::sqrt(area)) + step - 1) / step * step);
  tiling t{std::min(side, l.rows), std::min(side, l.columns), 1, 1};
  // What one side is too short for goes to the other.
  if (l.rows < side)
    t.columns = std::min(l.columns, std::max(least, static_cast<int64_t>(area) / l.rows / step * step));
  if (l.columns < side)
    t.rows = std::min(l.rows, std::max(least, static_cast<int64_t>(area) / l.columns / step * step));
  t.down = (l.rows + t.rows - 1) / t.rows;
  t.across = (l.columns + t.columns - 1) / t.columns;
  return t;
}

struct factor {
  blas_form transposed;
  blas_int leading;
};

factor factor_of(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  const auto m = *runtime::as_blas(rows, columns, row, column);
  return {m.row_major ? blas_form::plain : blas_form::transposed, static_cast<blas_int>(m.leading)};
}

/// Products of parts of the matrices of one layout.
class gemm {
 public:
  gemm(const product_layout& l, const openblas_section& blas)
      : blas_(blas),
        type_(l.type),
        inner_(static_cast<blas_int>(l.inner)),
        a_(factor_of(l.rows, l.inner, l.a.row, l.a.column)),
        b_(factor_of(l.inner, l.columns, l.b.row, l.b.column)) {
    const auto c = *runtime::as_blas(l.rows, l.columns, l.c.row, l.c.column);
    order_ = c.row_major ? blas_order::by_rows : blas_order::by_columns;
    leading_ = static_cast<blas_int>(c.leading);
    if (!c.row_major) {  // what is transposed by rows is not by columns
      for (factor* f : {&a_, &b_})
        f->transposed = f->transposed == blas_form::plain ? blas_form::transposed : blas_form::plain;
    }
  }

  void operator()(int64_t rows, int64_t columns, const void* a, const void* b, void* c) const {
    const auto m = static_cast<blas_int>(rows), n = static_cast<blas_int>(columns);
    const float one[2] = {1, 0}, zero[2] = {0, 0};
    const double wide_one[2] = {1, 0}, wide_zero[2] = {0, 0};
    switch (type_) {
      case dtype::f32:
        return blas_->cblas_sgemm(order_, a_.transposed, b_.transposed, m, n, inner_, 1, static_cast<const float*>(a),
                                  a_.leading, static_cast<const float*>(b), b_.leading, 0, static_cast<float*>(c),
                                  leading_);
      case dtype::f64:
        return blas_->cblas_dgemm(order_, a_.transposed, b_.transposed, m, n, inner_, 1, static_cast<const double*>(a),
                                  a_.leading, static_cast<const double*>(b), b_.leading, 0, static_cast<double*>(c),
                                  leading_);
      case dtype::c64:
        return blas_->cblas_cgemm(order_, a_.transposed, b_.transposed, m, n, inner_, one, a, a_.leading, b, b_.leading,
                                  zero, c, leading_);
      default:
        return blas_->cblas_zgemm(order_, a_.transposed, b_.transposed, m, n, inner_, wide_one, a, a_.leading, b,
                                  b_.leading, wide_zero, c, leading_);
    }
  }

 private:
  const openblas_section& blas_;
  dtype type_;
  blas_int inner_;
  factor a_, b_;
  blas_order order_;
  blas_int leading_;
};

/// Products of a row with parts of a matrix, or of parts of a matrix with a column. gemm would pack the matrix, which is read
/// once.
class gemv {
 public:
  gemv(const product_layout& l, const openblas_section& blas)
      : blas_(blas), type_(l.type), row_(l.rows == 1), inner_(static_cast<blas_int>(l.inner)) {
    const factor m =
        row_ ? factor_of(l.inner, l.columns, l.b.row, l.b.column) : factor_of(l.rows, l.inner, l.a.row, l.a.column);
    by_rows_ = m.transposed == blas_form::plain;
    leading_ = m.leading;
    step_in_ = static_cast<blas_int>(row_ ? l.a.column : l.b.row);
    step_out_ = static_cast<blas_int>(row_ ? l.c.column : l.c.row);
  }
  /// Whether the strides of the vectors are BLAS's.
  static bool takes(const product_layout& l) {
    if (l.rows != 1 && l.columns != 1) return false;
    const int64_t in = l.rows == 1 ? l.a.column : l.b.row, out = l.rows == 1 ? l.c.column : l.c.row;
    return l.inner > 0 && in > 0 && in <= INT_MAX && out > 0 && out <= INT_MAX;
  }

  void operator()(int64_t rows, int64_t columns, const void* a, const void* b, void* c) const {
    const void *const matrix = row_ ? b : a, *const x = row_ ? a : b;
    // As it lies in memory, by rows: inner x results, or results x inner.
    const auto results = static_cast<blas_int>(row_ ? columns : rows);
    const bool inner_first = by_rows_ == row_;
    const blas_form form = inner_first ? blas_form::transposed : blas_form::plain;
    const blas_int m = inner_first ? inner_ : results, n = inner_first ? results : inner_;
    const auto call = [&](auto* function, auto one, auto zero, auto* element) {
      using T = std::remove_pointer_t<decltype(element)>;
      function(blas_order::by_rows, form, m, n, one, static_cast<const T*>(matrix), leading_, static_cast<const T*>(x),
               step_in_, zero, static_cast<T*>(c), step_out_);
    };
    const float one[2] = {1, 0}, zero[2] = {0, 0};
    const double wide_one[2] = {1, 0}, wide_zero[2] = {0, 0};
    switch (type_) {
      case dtype::f32: return call(blas_->cblas_sgemv, 1.0F, 0.0F, static_cast<float*>(nullptr));
      case dtype::f64: return call(blas_->cblas_dgemv, 1.0, 0.0, static_cast<double*>(nullptr));
      case dtype::c64:
        return call(blas_->cblas_cgemv, static_cast<const void*>(one), static_cast<const void*>(zero),
                    static_cast<void*>(nullptr));
      default:
        return call(blas_->cblas_zgemv, static_cast<const void*>(wide_one), static_cast<const void*>(wide_zero),
                    static_cast<void*>(nullptr));
    }
  }

 private:
  const openblas_section& blas_;
  dtype type_;
  bool row_;      // the vector is the first factor
  bool by_rows_;  // the matrix lies by rows
  blas_int inner_, leading_, step_in_, step_out_;
};

void require_extents(const product_layout& l) {
  for (const int64_t n : {l.rows, l.columns, l.inner})
    if (n > INT_MAX)
      throw value_error("[matmul] an extent of " + std::to_string(n) + " is more than OpenBLAS counts to");
}

/// Whether the product is that of a matrix and its own transpose, and long enough for half of the work to weigh more than
/// copying the other half.
bool is_gram(const product_layout& l, const void* a, const void* b) {
  constexpr int64_t least_rows = 128, least_inner = 32, reuses = 8;
  return a == b && !is_complex(l.type) && l.rows == l.columns && l.a.row == l.b.column && l.a.column == l.b.row &&
         l.a.batch == l.b.batch && l.rows >= least_rows && l.inner >= std::max(least_inner, l.rows / reuses);
}

/// Tiles of such products: those on the diagonal, and those to the right of it, each with its mirror image.
class gram {
 public:
  gram(const product_layout& l, const openblas_section& blas)
      : blas_(blas), l_(l), multiply_(l, blas), a_(factor_of(l.rows, l.inner, l.a.row, l.a.column)) {
    leading_ = static_cast<blas_int>(runtime::as_blas(l.rows, l.columns, l.c.row, l.c.column)->leading);
  }

  /// The tile of rows i and following, and columns j and following, at least i.
  void operator()(int64_t i, int64_t j, int64_t rows, int64_t columns, const void* a, void* c) const {
    if (l_.type == dtype::f32)
      tile(blas_->cblas_ssyrk, i, j, rows, columns, static_cast<const float*>(a), static_cast<float*>(c));
    else tile(blas_->cblas_dsyrk, i, j, rows, columns, static_cast<const double*>(a), static_cast<double*>(c));
  }

 private:
  template <class Function, class T>
  void tile(Function* syrk, int64_t i, int64_t j, int64_t rows, int64_t columns, const T* a, T* c) const {
    T* const to = c + i * l_.c.row + j * l_.c.column;
    const int64_t pitch = leading_;
    const auto m = static_cast<int>(rows), n = static_cast<int>(columns);
    if (i != j) {
      multiply_(rows, columns, a + i * l_.a.row, a + j * l_.a.row, to);
      const bool by_rows = l_.c.column == 1;
      transpose(c + j * l_.c.row + i * l_.c.column, pitch, to, pitch, by_rows ? n : m, by_rows ? m : n, sizeof(T));
      return;
    }
    syrk(blas_order::by_rows, blas_triangle::upper, a_.transposed, m, static_cast<blas_int>(l_.inner), 1,
         a + i * l_.a.row, a_.leading, 0, to, leading_);  // by rows or by columns is the same here
    constexpr int side = 32;
    for (int r = 0; r < m; r += side) {
      const int here = std::min(side, m - r);
      for (int k = r + side; k < m; k += side)
        transpose(to + k * pitch + r, pitch, to + r * pitch + k, pitch, std::min(side, m - k), here, sizeof(T));
      for (int p = r + 1; p < r + here; ++p)
        for (int q = r; q < p; ++q) to[p * pitch + q] = to[q * pitch + p];
    }
  }

  const openblas_section& blas_;
  const product_layout& l_;
  gemm multiply_;
  factor a_;
  blas_int leading_;
};

/// The least extent of a tile.
constexpr int64_t gram_side = 256;

void multiply_gram(const product_layout& l, const void* a, void* c) {
  require_extents(l);
  const openblas_section blas("matmul", 1);
  const gram multiply(l, blas);
  // As in tiles_of: by the extents alone.
  constexpr int64_t step = 64;
  const int64_t side = std::min(l.rows, std::max(gram_side, (l.rows / 8 + step - 1) / step * step));
  const int64_t down = (l.rows + side - 1) / side, size = static_cast<int64_t>(itemsize(l.type));
  std::vector<std::pair<int64_t, int64_t>> tiles;
  for (int64_t i = 0; i < down; ++i)
    for (int64_t j = i; j < down; ++j) tiles.emplace_back(i * side, j * side);
  const int64_t matrices = l.batch.empty() ? 1 : l.batch.back();
  const auto count = static_cast<int64_t>(tiles.size());
  const auto at = [&](const void* p, const runtime::matrix_strides& m, int64_t offset, int64_t z) {
    return static_cast<const char*>(p) + (offset + (l.batch.empty() ? 0 : z * m.batch.back())) * size;
  };
  const double work = 0.025 * static_cast<double>(matrices) * static_cast<double>(l.rows) *
                      static_cast<double>(l.columns) * static_cast<double>(l.inner);
  runtime::for_each_matrix(l, l.batch.empty() ? 0 : 1, [&](int64_t at_a, int64_t, int64_t at_c) {
    runtime::parallel_for(matrices * count, 200 * static_cast<double>(matrices * count) + work, [&](int64_t k) {
      const auto [i, j] = tiles[static_cast<std::size_t>(k % count)];
      multiply(i, j, std::min(side, l.rows - i), std::min(side, l.rows - j), at(a, l.a, at_a, k / count),
               const_cast<char*>(at(c, l.c, at_c, k / count)));
    });
  });
}

/// Elements of a factor that is copied rather than read by columns, where it is multiplied with many rows.
constexpr int64_t tiny_factor = 256;

/// A second factor by rows, whose columns lie in memory one after the other: OpenBLAS packs it for each block of rows.
std::vector<char> by_rows(const product_layout& l, const void* b) {
  const auto size = static_cast<std::size_t>(itemsize(l.type));
  std::vector<char> copy(static_cast<std::size_t>(l.inner * l.columns) * size);
  char* to = copy.data();
  for (int64_t k = 0; k < l.inner; ++k)
    for (int64_t j = 0; j < l.columns; ++j, to += size)
      std::memcpy(to, static_cast<const char*>(b) + (k * l.b.row + j * l.b.column) * static_cast<int64_t>(size), size);
  return copy;
}

/// The library's threads share tiles and matrices; OpenBLAS's own threads stay asleep, since both together would
/// oversubscribe the cores.
template <class Call>
void multiply_by_library(const product_layout& l, const void* a, const void* b, void* c) {
  require_extents(l);
  const openblas_section blas("matmul", 1);
  const Call multiply(l, blas);
  const int64_t matrices = l.batch.empty() ? 1 : l.batch.back();
  const tiling t = tiles_of(l, matrices);
  const int64_t tiles = t.down * t.across;
  const auto size = static_cast<int64_t>(itemsize(l.type));
  const auto step = [&](const runtime::matrix_strides& m) { return l.batch.empty() ? 0 : m.batch.back(); };
  runtime::for_each_matrix(l, l.batch.empty() ? 0 : 1, [&](int64_t at_a, int64_t at_b, int64_t at_c) {
    const auto one = [&](int64_t k) {
      const int64_t z = k / tiles, i = k % tiles / t.across * t.rows, j = k % tiles % t.across * t.columns;
      multiply(std::min(t.rows, l.rows - i), std::min(t.columns, l.columns - j),
               static_cast<const char*>(a) + (at_a + z * step(l.a) + i * l.a.row) * size,
               static_cast<const char*>(b) + (at_b + z * step(l.b) + j * l.b.column) * size,
               static_cast<char*>(c) + (at_c + z * step(l.c) + i * l.c.row + j * l.c.column) * size);
    };
    // Small matrices share tasks.
    const int64_t each = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, l.rows * l.columns * l.inner));
    const int64_t count = matrices * tiles;
    const double nanoseconds =
        200 * static_cast<double>(count) + 0.05 * static_cast<double>(matrices) * static_cast<double>(l.rows) *
                                               static_cast<double>(l.columns) * static_cast<double>(l.inner);
    runtime::parallel_for((count + each - 1) / each, nanoseconds, [&](int64_t task) {
      for (int64_t k = task * each; k < std::min(count, (task + 1) * each); ++k) one(k);
    });
  });
}

// --- few results of many terms

/// The number of parts of the inner extent that are multiplied for themselves, as X.T @ y and X.T @ X of many rows need where
/// their results are too few to occupy threads. By the extents alone, as tiles.
int64_t parts_of(const product_layout& l) {
  constexpr int64_t tasks = 32, least_inner = 512, results_of_operands = 16;
  constexpr double least_work = 1 << 17;
  const tiling t = tiles_of(l, 1);
  const int64_t results = l.rows * l.columns;
  if (!l.batch.empty() || results == 0) return 1;
  const double work = static_cast<double>(results) * static_cast<double>(l.inner);
  const int64_t most[] = {tasks / (t.down * t.across), l.inner / least_inner, static_cast<int64_t>(work / least_work),
                          (l.rows + l.columns) * l.inner / (results_of_operands * results)};
  return std::max<int64_t>(1, *std::min_element(std::begin(most), std::end(most)));
}

template <class T>
void add_parts(const product_layout& l, const T* parts, int64_t count, T* c) {
  const int64_t results = l.rows * l.columns;
  for (int64_t i = 0; i < l.rows; ++i)
    for (int64_t j = 0; j < l.columns; ++j) {
      const T* const part = parts + i * l.columns + j;
      T sum = part[0];
      for (int64_t k = 1; k < count; ++k) sum += part[k * results];
      c[i * l.c.row + j * l.c.column] = sum;
    }
}

/// Each part on one thread; then the parts are added from the first to the last.
void multiply_parts(const product_layout& l, int64_t count, const void* a, const void* b, void* c) {
  require_extents(l);
  const openblas_section blas("matmul", 1);
  const auto size = static_cast<int64_t>(itemsize(l.type));
  const int64_t results = l.rows * l.columns, length = (l.inner + count - 1) / count;
  std::vector<char> parts(static_cast<std::size_t>(count * results * size));
  runtime::parallel_for(count, 0.05 * static_cast<double>(results) * static_cast<double>(l.inner), [&](int64_t k) {
    product_layout part = l;
    part.inner = std::min(length, l.inner - k * length);
    part.c = {.row = l.columns, .column = 1, .batch = {}};
    const auto* const from_a = static_cast<const char*>(a) + k * length * l.a.column * size;
    const auto* const from_b = static_cast<const char*>(b) + k * length * l.b.row * size;
    char* const to = parts.data() + k * results * size;
    if (is_gram(part, from_a, from_b)) gram(part, blas)(0, 0, l.rows, l.columns, from_a, to);
    else if (gemv::takes(part)) gemv(part, blas)(l.rows, l.columns, from_a, from_b, to);
    else gemm(part, blas)(l.rows, l.columns, from_a, from_b, to);
  });
  switch (l.type) {
    case dtype::f32: return add_parts(l, reinterpret_cast<const float*>(parts.data()), count, static_cast<float*>(c));
    case dtype::f64: return add_parts(l, reinterpret_cast<const double*>(parts.data()), count, static_cast<double*>(c));
    case dtype::c64:
      return add_parts(l, reinterpret_cast<const std::complex<float>*>(parts.data()), count,
                       static_cast<std::complex<float>*>(c));
    default:
      return add_parts(l, reinterpret_cast<const std::complex<double>*>(parts.data()), count,
                       static_cast<std::complex<double>*>(c));
  }
}

}  // namespace

bool cpu_products::reads(dtype type, int64_t rows, int64_t columns, int64_t row, int64_t column) const {
  if (by_blocks(type)) return true;
  const auto m = runtime::as_blas(rows, columns, row, column);
  return m && m->leading <= INT_MAX;
}

bool cpu_products::writes(dtype type, int64_t rows, int64_t columns, int64_t row, int64_t column) const {
  return reads(type, rows, columns, row, column);
}

void cpu_products::multiply(const product_layout& layout, const void* a, const void* b, void* c) {
  const product_layout l = runtime::simplified(layout);
  if (by_blocks(l.type)) return multiply_blocks(l, a, b, c);
  if (has_few_terms(layout)) return multiply_few_terms(l, a, b, c);
  const bool is_square = is_gram(l, a, b);
  if (const int64_t parts = parts_of(l); parts > 1 && (!is_square || l.rows <= gram_side))
    return multiply_parts(l, parts, a, b, c);
  if (is_square) return multiply_gram(l, a, c);
  if (l.batch.empty() && l.b.column != 1 && l.inner * l.columns <= tiny_factor && l.rows >= tiny_factor) {
    const std::vector<char> copy = by_rows(l, b);
    product_layout plain = l;
    plain.b.row = l.columns;
    plain.b.column = 1;
    return multiply_by_library<gemm>(plain, a, copy.data(), c);
  }
  gemv::takes(l) ? multiply_by_library<gemv>(l, a, b, c) : multiply_by_library<gemm>(l, a, b, c);
}

std::function<void()> product_again(runtime::products& of, const product_layout& layout, const void* a, const void* b,
                                    void* c) {
  if (has_few_terms(layout))
    if (auto again = few_terms_again(runtime::simplified(layout), a, b, c)) return again;
  return [layout, a, b, c, of = &of] { of->multiply(layout, a, b, c); };
}

}  // namespace sinter::cpu
