// What the kernels of sparse matrices share: types, and rows divided by their entries.
#pragma once
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/algorithms/sparse.hpp"

namespace sinter::cpu {

/// A complex number whose products are the textbook's, without the repairs of infinities that std::complex makes.
template <class R>
struct plain_complex {
  R re = 0, im = 0;
  plain_complex() = default;
  plain_complex(R r, R i = 0) : re(r), im(i) {}
  friend plain_complex operator+(plain_complex a, plain_complex b) { return {a.re + b.re, a.im + b.im}; }
  friend plain_complex operator*(plain_complex a, plain_complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  plain_complex& operator+=(plain_complex b) { return *this = *this + b; }
  friend bool operator==(plain_complex, plain_complex) = default;
};

/// A number as an element.
template <class T>
T element_of(std::complex<double> z) {
  return static_cast<T>(z.real());
}
template <>
inline plain_complex<float> element_of(std::complex<double> z) {
  return {static_cast<float>(z.real()), static_cast<float>(z.imag())};
}
template <>
inline plain_complex<double> element_of(std::complex<double> z) {
  return {z.real(), z.imag()};
}

/// A matrix's addresses, typed.
template <class T, class I>
struct typed_rows {
  explicit typed_rows(const runtime::sparse_matrix& a)
      : rows(a.rows),
        columns(a.columns),
        data(static_cast<const T*>(a.data)),
        indices(static_cast<const I*>(a.indices)),
        indptr(static_cast<const I*>(a.indptr)) {}
  std::int64_t rows, columns;
  const T* data;
  const I* indices;
  const I* indptr;
};

/// Calls f(element type, index type) as values of these types. int64 wraps around, so it is computed unsigned.
template <class F>
void with_index(dtype index, F&& f) {
  if (index == dtype::i32) f(std::int32_t{});
  else f(std::int64_t{});
}
template <class F>
void with_types(const runtime::sparse_matrix& a, F&& f) {
  with_index(a.index, [&](auto index) {
    switch (a.type) {
      case dtype::f32: return f(float{}, index);
      case dtype::f64: return f(double{}, index);
      case dtype::c64: return f(plain_complex<float>{}, index);
      case dtype::c128: return f(plain_complex<double>{}, index);
      default: return f(std::uint64_t{}, index);
    }
  });
}

/// No character, through which everything might be written.
enum class one_byte : std::uint8_t {};
struct sixteen_bytes {
  std::uint64_t low, high;
};
/// Calls f with a value of a type of that many bytes.
template <class F>
void with_bytes(std::size_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f(one_byte{});
    case 2: return f(std::uint16_t{});
    case 4: return f(std::uint32_t{});
    case 8: return f(std::uint64_t{});
    default: return f(sixteen_bytes{});
  }
}

/// Rows divided into `parts` of about as many entries, where every row counts as some entries more: first rows, and the
/// number of rows.
template <class I>
std::vector<std::int64_t> divided_rows(const I* indptr, std::int64_t rows, std::int64_t parts) {
  constexpr std::int64_t of_row = 4;
  std::vector<std::int64_t> first(static_cast<std::size_t>(parts) + 1, 0);
  const std::int64_t total = static_cast<std::int64_t>(indptr[rows]) + of_row * rows;
  for (std::int64_t p = 1; p < parts; ++p) {
    const std::int64_t wanted = total / parts * p;
    std::int64_t low = first[static_cast<std::size_t>(p - 1)], high = rows;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (static_cast<std::int64_t>(indptr[middle]) + of_row * middle < wanted) low = middle + 1;
      else high = middle;
    }
    first[static_cast<std::size_t>(p)] = low;
  }
  first.back() = rows;
  return first;
}

/// How many parts keep threads busy, for work over entries and rows.
inline std::int64_t parts_of(std::int64_t entries, std::int64_t rows) {
  return std::clamp<std::int64_t>((entries + 4 * rows) / 32768, 1, 256);
}

}  // namespace sinter::cpu
