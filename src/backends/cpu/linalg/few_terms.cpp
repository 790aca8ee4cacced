#include "backends/cpu/linalg/few_terms.hpp"

#include <algorithm>
#include <utility>

#include "core/few_terms.hpp"
#include "jit/cpu/interpreter/block_ops.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

using runtime::product_layout;
using std::int64_t;

constexpr int64_t task_elements = 1 << 14;  // of the result
/// Elements of a result that one thread computes sooner than others begin.
constexpr int64_t small_result = 4096;

template <class T>
void run_loops(const few_term_product& p, const T* a, const T* b, T* c) {
#if defined(__x86_64__)
  switch (jit::tier0::active_isa()) {
    case jit::tier0::isa::avx512: return avx512::few_terms(p, a, b, c);
    case jit::tier0::isa::avx2: return avx2::few_terms(p, a, b, c);
    default: break;
  }
#endif
  baseline::few_terms(p, a, b, c);
}

/// The product of rows is that of columns of the other factors: the axis along which vectors run is the second one.
few_term_product of(const product_layout& l, bool& swapped) {
  few_term_product p{l.rows,
                     l.columns,
                     static_cast<int>(l.inner),
                     {l.a.row, l.a.column},
                     {l.b.row, l.b.column},
                     {l.c.row, l.c.column}};
  const bool by_columns = p.b.column == 1 && p.c.column == 1, by_rows = p.a.row == 1 && p.c.row == 1;
  swapped = p.rows > 1 && (p.columns == 1 || (by_rows && !by_columns)) && by_rows;
  if (!swapped) return p;
  return {p.columns, p.rows, p.inner, {p.b.column, p.b.row}, {p.a.column, p.a.row}, {p.c.column, p.c.row}};
}

struct matrices {
  const char *a, *b;
  char* c;
};

/// Rows [first, last).
void run_part(dtype type, const few_term_product& whole, int64_t first, int64_t last, const matrices& m) {
  few_term_product p = whole;
  p.rows = last - first;
  const auto size = static_cast<int64_t>(itemsize(type));
  const char* const a = m.a + first * p.a.row * size;
  char* const c = m.c + first * p.c.row * size;
  if (type == dtype::f32)
    return run_loops(p, reinterpret_cast<const float*>(a), reinterpret_cast<const float*>(m.b),
                     reinterpret_cast<float*>(c));
  run_loops(p, reinterpret_cast<const double*>(a), reinterpret_cast<const double*>(m.b), reinterpret_cast<double*>(c));
}

}  // namespace

bool has_few_terms(const product_layout& l) noexcept {
  return (l.type == dtype::f32 || l.type == dtype::f64) && core::has_few_terms(l.rows, l.columns, l.inner);
}

void multiply_few_terms(const product_layout& l, const void* a, const void* b, void* c) {
  bool swapped = false;
  const few_term_product p = of(l, swapped);
  const auto size = static_cast<int64_t>(itemsize(l.type));
  const int64_t count = l.batch.empty() ? 1 : l.batch.back();
  const auto step = [&](const runtime::matrix_strides& m) { return l.batch.empty() ? 0 : m.batch.back(); };
  const int64_t each = std::max<int64_t>(1, task_elements / p.columns);                 // rows of a task
  const int64_t parts = (p.rows + each - 1) / each;                                     // of a matrix
  const int64_t together = std::max<int64_t>(1, task_elements / (p.columns * p.rows));  // matrices of a task
  runtime::for_each_matrix(l, l.batch.empty() ? 0 : 1, [&](int64_t at_a, int64_t at_b, int64_t at_c) {
    const auto one = [&](int64_t k) {
      const int64_t z = k / parts, first = k % parts * each;
      matrices m{static_cast<const char*>(a) + (at_a + z * step(l.a)) * size,
                 static_cast<const char*>(b) + (at_b + z * step(l.b)) * size,
                 static_cast<char*>(c) + (at_c + z * step(l.c)) * size};
      if (swapped) std::swap(m.a, m.b);
      run_part(l.type, p, first, std::min(p.rows, first + each), m);
    };
    const double nanoseconds = static_cast<double>(count) * (5 + 0.2 * static_cast<double>(p.rows * p.columns));
    runtime::parallel_for((count * parts + together - 1) / together, nanoseconds, [&](int64_t task) {
      for (int64_t k = task * together; k < std::min(count * parts, (task + 1) * together); ++k) one(k);
    });
  });
}

std::function<void()> few_terms_again(const product_layout& l, const void* a, const void* b, void* c) {
  if (!l.batch.empty() || l.rows * l.columns > small_result) return {};
  bool swapped = false;
  const few_term_product p = of(l, swapped);
  matrices m{static_cast<const char*>(a), static_cast<const char*>(b), static_cast<char*>(c)};
  if (swapped) std::swap(m.a, m.b);
  return [type = l.type, p, m] { run_part(type, p, 0, p.rows, m); };
}

}  // namespace sinter::cpu
