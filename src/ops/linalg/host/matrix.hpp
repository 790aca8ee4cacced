// src/ops/linalg/host: factorisations and systems that neither LAPACK as it is opened here nor cuSOLVER has.
//
// Matrices on the host, in double precision, for algorithms that neither LAPACK's interface here nor cuSOLVER has. Every
// device's arrays come this way and go back; the functions that use it wait for the device.
#pragma once
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "ops/base/opaque_call.hpp"
#include "ops/base/type_rules.hpp"
#include "ops/linalg/solver_calls.hpp"
#include "sinter/creation.hpp"

namespace sinter::ops {

template <class T>
inline constexpr bool is_complex_number = !std::is_floating_point_v<T>;

inline double conj_of(double x) noexcept { return x; }
inline std::complex<double> conj_of(const std::complex<double>& x) noexcept { return std::conj(x); }
/// LAPACK's measure for pivots: no square root.
inline double size_of(double x) noexcept { return std::abs(x); }
inline double size_of(const std::complex<double>& x) noexcept { return std::abs(x.real()) + std::abs(x.imag()); }

/// One matrix of a stack, row after row.
template <class T>
struct host_matrix {
  T* first = nullptr;
  std::int64_t rows = 0, columns = 0;
  T& operator()(std::int64_t i, std::int64_t j) const noexcept { return first[i * columns + j]; }
  void swap_rows(std::int64_t a, std::int64_t b) const noexcept {
    for (std::int64_t j = 0; j < columns; ++j) std::swap((*this)(a, j), (*this)(b, j));
  }
  void swap_columns(std::int64_t a, std::int64_t b) const noexcept {
    for (std::int64_t i = 0; i < rows; ++i) std::swap((*this)(i, a), (*this)(i, b));
  }
};

/// The matrices of a stack.
template <class T>
struct host_stack {
  host_stack(std::int64_t matrices, std::int64_t m, std::int64_t n)
      : count(matrices), rows(m), columns(n), elements(static_cast<std::size_t>(matrices * m * n)) {}
  /// Waits.
  host_stack(const char* function, const ndarray& x, std::int64_t matrices, std::int64_t m, std::int64_t n)
      : count(matrices), rows(m), columns(n), elements(for_host(x, function).to_vector<T>()) {}

  host_matrix<T> operator[](std::int64_t k) noexcept { return {elements.data() + k * rows * columns, rows, columns}; }
  /// An array of a shape and dtype beside another one.
  ndarray array_of(const dims& shape, dtype type, const ndarray& like) const {
    return array(elements.data(), to_shape(shape), {.device = like.device()}).astype(type, false);
  }

  std::int64_t count, rows, columns;
  std::vector<T> elements;
};

/// f(0.0) for real dtypes, f(complex 0) for complex ones: the type in which the host computes.
template <class F>
auto in_double(dtype type, const F& f) {
  return is_complex(type) ? f(std::complex<double>()) : f(0.0);
}

}  // namespace sinter::ops
