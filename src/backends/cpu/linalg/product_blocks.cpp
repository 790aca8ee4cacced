// Products block by block: a block of each factor is converted to contiguous elements of the type that is computed in,
// and a block of the result is summed up there and converted back. Tasks are blocks of the result, so that threads
// never conflict; the order of additions depends on nothing but the extents.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/arena.hpp"
#include "backends/cpu/linalg/openblas_library.hpp"
#include "backends/cpu/linalg/products.hpp"
#include "jit/cpu/block.hpp"
#include "jit/cpu/interpreter/block_ops.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

using runtime::product_layout;
using std::int64_t;

constexpr int64_t block_rows = 128, block_columns = 256, block_inner = 256;

/// Part of a matrix: `rows` x `columns` elements from `at` on.
struct part {
  const char* at;
  int64_t row, column;  // strides in elements
  int rows, columns;
};

/// Integers and bools: zero-extended, since wrapping arithmetic does not need the sign.
template <class T, class A, void (*Multiply)(A*, const A*, const A*, int, int, int)>
struct whole_numbers {
  using element = T;
  using sum = A;
  static void widen(A* to, const T* from, int n) noexcept {
    for (int k = 0; k < n; ++k) to[k] = static_cast<A>(from[k]);
  }
  static void narrow(T* to, const A* from, int n) noexcept {
    for (int k = 0; k < n; ++k) to[k] = static_cast<T>(from[k]);
  }
  void multiply(A* sums, const A* a, const A* b, int rows, int columns, int inner) const {
    Multiply(sums, a, b, rows, columns, inner);
  }
};

#if defined(__x86_64__)
#define SINTER_PRODUCT_LOOP(function)                                        \
  switch (jit::tier0::active_isa()) {                                        \
    case jit::tier0::isa::avx512: return avx512::function(s, a, b, m, n, k); \
    case jit::tier0::isa::avx2: return avx2::function(s, a, b, m, n, k);     \
    default: return baseline::function(s, a, b, m, n, k);                    \
  }
#else
#define SINTER_PRODUCT_LOOP(function) baseline::function(s, a, b, m, n, k);
#endif
template <class A>
void add_loop(A* s, const A* a, const A* b, int m, int n, int k) {
  SINTER_PRODUCT_LOOP(add_products)
}
void or_loop(std::uint32_t* s, const std::uint32_t* a, const std::uint32_t* b, int m, int n, int k) {
  SINTER_PRODUCT_LOOP(or_products)
}
#undef SINTER_PRODUCT_LOOP

/// float16 or bfloat16, in float32.
struct half_floats {
  using element = std::uint16_t;
  using sum = float;
  bool brain;
  const openblas_section& blas;
  void widen(float* to, const std::uint16_t* from, int n) const noexcept {
    (brain ? jit::widen_bf16 : jit::widen_f16)(to, from, n);
  }
  void narrow(std::uint16_t* to, const float* from, int n) const noexcept {
    (brain ? jit::narrow_bf16 : jit::narrow_f16)(to, from, n);
  }
  void multiply(float* sums, const float* a, const float* b, int rows, int columns, int inner) const {
    blas->cblas_sgemm(blas_order::by_rows, blas_form::plain, blas_form::plain, rows, columns, inner, 1, a, inner, b,
                      columns, 1, sums, columns);
  }
};

/// Converts a part to contiguous rows. Elements that do not lie next to each other are collected first.
template <class Arithmetic>
void read_part(const Arithmetic& x, typename Arithmetic::sum* to, const part& p) {
  using T = typename Arithmetic::element;
  T collected[std::max(block_inner, block_columns)];
  for (int i = 0; i < p.rows; ++i) {
    const T* from = reinterpret_cast<const T*>(p.at) + i * p.row;
    if (p.column != 1) {
      for (int k = 0; k < p.columns; ++k) collected[k] = from[k * p.column];
      from = collected;
    }
    x.widen(to + static_cast<std::ptrdiff_t>(i) * p.columns, from, p.columns);
  }
}

template <class Arithmetic>
void write_part(const Arithmetic& x, const typename Arithmetic::sum* from, const part& p, char* at) {
  using T = typename Arithmetic::element;
  T collected[block_columns];
  for (int i = 0; i < p.rows; ++i, from += p.columns) {
    T* to = reinterpret_cast<T*>(at) + i * p.row;
    x.narrow(p.column == 1 ? to : collected, from, p.columns);
    if (p.column != 1)
      for (int k = 0; k < p.columns; ++k) to[k * p.column] = collected[k];
  }
}

template <class Arithmetic>
class block_product {
 public:
  using T = typename Arithmetic::element;
  using A = typename Arithmetic::sum;
  block_product(const product_layout& l, const Arithmetic& x, const void* a, const void* b, void* c)
      : l_(l),
        x_(x),
        a_(static_cast<const char*>(a)),
        b_(static_cast<const char*>(b)),
        c_(static_cast<char*>(c)),
        across_((l.columns + block_columns - 1) / block_columns),
        down_((l.rows + block_rows - 1) / block_rows) {}

  void run() const {
    runtime::for_each_matrix(l_, l_.batch.empty() ? 0 : 1, [&](int64_t a, int64_t b, int64_t c) {
      const int64_t count = l_.batch.empty() ? 1 : l_.batch.back(), blocks = across_ * down_;
      // Small matrices share tasks.
      const int64_t each = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, l_.rows * l_.columns * l_.inner));
      const double nanoseconds = 200 * static_cast<double>(count * blocks) +
                                 0.1 * static_cast<double>(count) * static_cast<double>(l_.rows) *
                                     static_cast<double>(l_.columns) * static_cast<double>(l_.inner);
      runtime::parallel_for((count * blocks + each - 1) / each, nanoseconds, [&](int64_t task) {
        for (int64_t t = task * each; t < std::min(count * blocks, (task + 1) * each); ++t)
          block(t / blocks, t % blocks, a, b, c);
      });
    });
  }

 private:
  static std::ptrdiff_t bytes(int64_t elements) { return elements * static_cast<int64_t>(sizeof(T)); }
  static int64_t step(const runtime::matrix_strides& m) { return m.batch.empty() ? 0 : m.batch.back(); }

  void block(int64_t matrix, int64_t which, int64_t a, int64_t b, int64_t c) const {
    const int64_t row = which / across_ * block_rows, column = which % across_ * block_columns;
    const int rows = static_cast<int>(std::min(block_rows, l_.rows - row));
    const int columns = static_cast<int>(std::min(block_columns, l_.columns - column));
    const int deepest = static_cast<int>(std::min(block_inner, l_.inner));
    a += matrix * step(l_.a) + row * l_.a.row;
    b += matrix * step(l_.b) + column * l_.b.column;
    c += matrix * step(l_.c) + row * l_.c.row + column * l_.c.column;
    arena memory;
    const auto take = [&](int m, int n) {
      return memory.take_array<A>(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
    };
    A *const left = take(rows, deepest), *const right = take(deepest, columns), *const sums = take(rows, columns);
    std::memset(static_cast<void*>(sums), 0,
                sizeof(A) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    for (int64_t k = 0; k < l_.inner; k += block_inner) {
      const int depth = static_cast<int>(std::min(block_inner, l_.inner - k));
      read_part(x_, left, {a_ + bytes(a + k * l_.a.column), l_.a.row, l_.a.column, rows, depth});
      read_part(x_, right, {b_ + bytes(b + k * l_.b.row), l_.b.row, l_.b.column, depth, columns});
      x_.multiply(sums, left, right, rows, columns, depth);
    }
    write_part(x_, sums, {nullptr, l_.c.row, l_.c.column, rows, columns}, c_ + bytes(c));
  }

  const product_layout& l_;
  const Arithmetic& x_;
  const char *a_, *b_;
  char* c_;
  int64_t across_, down_;
};

template <class Arithmetic>
void run(const product_layout& l, const Arithmetic& x, const void* a, const void* b, void* c) {
  block_product<Arithmetic>(l, x, a, b, c).run();
}

template <class T, class A>
void run_integers(const product_layout& l, const void* a, const void* b, void* c) {
  run(l, whole_numbers<T, A, add_loop<A>>(), a, b, c);
}

}  // namespace

void multiply_blocks(const product_layout& l, const void* a, const void* b, void* c) {
  using std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t;
  if (l.type == dtype::f16 || l.type == dtype::bf16) {
    const openblas_section blas("matmul", 1);
    return run(l, half_floats{l.type == dtype::bf16, blas}, a, b, c);
  }
  if (l.type == dtype::b1) return run(l, whole_numbers<uint8_t, uint32_t, or_loop>(), a, b, c);
  switch (itemsize(l.type)) {
    case 1: return run_integers<uint8_t, uint32_t>(l, a, b, c);
    case 2: return run_integers<uint16_t, uint32_t>(l, a, b, c);
    case 4: return run_integers<uint32_t, uint32_t>(l, a, b, c);
    default: return run_integers<uint64_t, uint64_t>(l, a, b, c);
  }
}

}  // namespace sinter::cpu
