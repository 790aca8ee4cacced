// A product of a sparse matrix as device code takes it. Plain C++17.
#pragma once
#include <cstdint>

namespace sinter::cuda::device {

/// Complex numbers of device code.
template <class R>
struct complex_pair {
  R re, im;
};

/// alpha A X + beta Y of a matrix in compressed rows; X and Y of `width` columns in C order.
template <class T, class I>
struct csr_job {
  std::int64_t rows = 0, columns = 0, entries = 0, width = 1;
  const T* data = nullptr;
  const I* indices = nullptr;
  const I* indptr = nullptr;
  const T* x = nullptr;  // null: ones, and indices have no part in it
  const T* y = nullptr;  // null: nothing is added
  T* result = nullptr;
  T alpha{}, beta{};
  bool scaled = false, weighted = false;  // whether alpha, beta are other than 1
};

/// A x / |x| - (|x| / other) y: the 2-norm of x goes to `length`.
struct csr_lengths {
  const double* other = nullptr;
  double* length = nullptr;
};

/// What tiles of entries have of giants, rows that are divided.
template <class T>
struct csr_tiles {
  std::int64_t count = 0;
  T* heads = nullptr;                 // of a tile: the sum of the giant that ends in it
  T* carries = nullptr;               // of a tile: the sum of the giant that does not
  std::int64_t* head_rows = nullptr;  // of a tile: the row of its head, or -1
};

/// Entries in compressed rows, whatever their elements are.
template <class W, class I>
struct csr_entries {
  std::int64_t rows = 0, entries = 0;
  const W* data = nullptr;
  const I* indptr = nullptr;
};

}  // namespace sinter::cuda::device
