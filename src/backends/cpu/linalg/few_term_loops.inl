// The loops of products with few terms. Included once for each instruction set, after its target has been opened.
#include "jit/cpu/lane_loops.inl"

namespace sinter::cpu::SINTER_ISA {
namespace {

/// Terms joined in groups of four, as graph::join_short does.
template <int Terms, class T>
[[gnu::always_inline]] inline T joined(const T* x) {
  if constexpr (Terms == 1) return x[0];
  else if constexpr (Terms == 2) return x[0] + x[1];
  else if constexpr (Terms == 3) return (x[0] + x[1]) + x[2];
  else if constexpr (Terms == 4) return (x[0] + x[1]) + (x[2] + x[3]);
  else return joined<4>(x) + joined<Terms - 4>(x + 4);
}

/// A row of the result from a row of the first factor. `Unit`: the columns of b and c are neighbours.
template <int Terms, bool Unit, class T>
[[gnu::always_inline]] inline void row_of_many(const few_term_product& p, const T (&x)[Terms], const T* __restrict b,
                                               T* __restrict c) {
  const auto columns = static_cast<int>(p.columns);
  if constexpr (Unit) {
    SINTER_LANES(j, columns) {
      T terms[Terms];
      for (int k = 0; k < Terms; ++k) terms[k] = x[k] * b[k * p.b.row + j];
      c[j] = joined<Terms>(terms);
    }
  } else {
    SINTER_ONE_BY_ONE(j, columns) {
      T terms[Terms];
      for (int k = 0; k < Terms; ++k) terms[k] = x[k] * b[k * p.b.row + j * p.b.column];
      c[j * p.c.column] = joined<Terms>(terms);
    }
  }
}

template <int Terms, class T>
[[gnu::always_inline]] inline void load_row(const few_term_product& p, T (&x)[Terms], const T* a) {
  for (int k = 0; k < Terms; ++k) x[k] = a[k * p.a.column];
}

template <int Terms, class T>
void by_rows(const few_term_product& p, const T* __restrict a, const T* __restrict b, T* __restrict c) {
  const bool unit = p.b.column == 1 && p.c.column == 1;
  for (std::int64_t i = 0; i < p.rows; ++i, a += p.a.row, c += p.c.row) {
    T x[Terms];
    load_row(p, x, a);
    if (unit) row_of_many<Terms, true>(p, x, b, c);
    else row_of_many<Terms, false>(p, x, b, c);
  }
}

/// Few columns: the second factor is copied to where they are neighbours, those of a row are computed side by side.
template <int Terms, int Columns, class T>
void by_few_columns(const few_term_product& p, const T* __restrict a, const T* __restrict b, T* __restrict c) {
  T y[Terms][Columns];
  for (int k = 0; k < Terms; ++k)
    for (int j = 0; j < Columns; ++j) y[k][j] = b[k * p.b.row + j * p.b.column];
  for (std::int64_t i = 0; i < p.rows; ++i, a += p.a.row, c += p.c.row) {
    T x[Terms], row[Columns];
    load_row(p, x, a);
    for (int j = 0; j < Columns; ++j) {
      T terms[Terms];
      for (int k = 0; k < Terms; ++k) terms[k] = x[k] * y[k][j];
      row[j] = joined<Terms>(terms);
    }
    if (p.c.column == 1)
      for (int j = 0; j < Columns; ++j) c[j] = row[j];
    else
      for (int j = 0; j < Columns; ++j) c[j * p.c.column] = row[j];
  }
}

template <int Terms, class T>
void of_terms(const few_term_product& p, const T* a, const T* b, T* c) {
  switch (p.columns) {
    case 1: return by_few_columns<Terms, 1>(p, a, b, c);
    case 2: return by_few_columns<Terms, 2>(p, a, b, c);
    case 3: return by_few_columns<Terms, 3>(p, a, b, c);
    case 4: return by_few_columns<Terms, 4>(p, a, b, c);
    case 5: return by_few_columns<Terms, 5>(p, a, b, c);
    case 6: return by_few_columns<Terms, 6>(p, a, b, c);
    case 7: return by_few_columns<Terms, 7>(p, a, b, c);
    case 8: return by_few_columns<Terms, 8>(p, a, b, c);
    default: return by_rows<Terms>(p, a, b, c);
  }
}

template <class T>
void of_any_terms(const few_term_product& p, const T* a, const T* b, T* c) {
  switch (p.inner) {
    case 1: return of_terms<1>(p, a, b, c);
    case 2: return of_terms<2>(p, a, b, c);
    case 3: return of_terms<3>(p, a, b, c);
    case 4: return of_terms<4>(p, a, b, c);
    case 5: return of_terms<5>(p, a, b, c);
    case 6: return of_terms<6>(p, a, b, c);
    case 7: return of_terms<7>(p, a, b, c);
    default: return of_terms<8>(p, a, b, c);
  }
}

}  // namespace

void few_terms(const few_term_product& p, const float* a, const float* b, float* c) { of_any_terms(p, a, b, c); }
void few_terms(const few_term_product& p, const double* a, const double* b, double* c) { of_any_terms(p, a, b, c); }

}  // namespace sinter::cpu::SINTER_ISA
