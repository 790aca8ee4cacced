// Transposition by squares of elements in vector registers.
#include "backends/cpu/kernels/transpose.hpp"

#include <cstring>
#include <utility>

namespace sinter::cpu {
namespace {

struct pair64 {
  std::uint64_t lo, hi;
};

template <class T>
struct vector_of {
  static constexpr int lanes = 16 / sizeof(T);
  typedef T type __attribute__((vector_size(16)));
};

/// a0 b0 a1 b1 ... of the lower halves, or of the upper ones.
template <class T, int... K>
inline typename vector_of<T>::type interleave(typename vector_of<T>::type a, typename vector_of<T>::type b, bool upper,
                                              std::integer_sequence<int, K...>) {
  constexpr int n = vector_of<T>::lanes;
  return upper ? __builtin_shufflevector(a, b, (K % 2 * n + n / 2 + K / 2)...)
               : __builtin_shufflevector(a, b, (K % 2 * n + K / 2)...);
}

/// A square of as many rows as a vector has lanes: every round interleaves its first half with its second.
template <class T>
inline void transpose_square(T* to, std::int64_t pitch, const T* from, std::int64_t stride) {
  constexpr int n = vector_of<T>::lanes;
  using vector = typename vector_of<T>::type;
  using lanes = std::make_integer_sequence<int, n>;
  vector v[n], next[n];
  for (int l = 0; l < n; ++l) std::memcpy(&v[l], from + l * stride, sizeof v[l]);
  for (int round = 1; round < n; round *= 2) {
    for (int k = 0; k < n / 2; ++k) {
      next[2 * k] = interleave<T>(v[k], v[k + n / 2], false, lanes());
      next[2 * k + 1] = interleave<T>(v[k], v[k + n / 2], true, lanes());
    }
    for (int k = 0; k < n; ++k) v[k] = next[k];
  }
  for (int r = 0; r < n; ++r) std::memcpy(to + r * pitch, &v[r], sizeof v[r]);
}

template <class T>
void transpose_elements(T* to, std::int64_t pitch, const T* from, int rows, int lanes, std::int64_t stride) {
  for (int l = 0; l < lanes; ++l)
    for (int r = 0; r < rows; ++r) to[r * pitch + l] = from[r + l * stride];
}

template <class T>
void transpose_rows(void* result, std::int64_t pitch, const void* source, int rows, int lanes, std::int64_t stride) {
  T* const to = static_cast<T*>(result);
  const T* const from = static_cast<const T*>(source);
  constexpr int n = vector_of<T>::lanes, ahead = 16;
  const int whole_rows = rows & ~(n - 1), whole_lanes = lanes & ~(n - 1);
  for (int l = 0; l < whole_lanes; l += n) {
    const T* const first = from + l * stride;
    for (int k = 0; k < n && l + ahead + k < lanes; ++k)
      for (int r = 0; r < rows; r += static_cast<int>(64 / sizeof(T)))
        __builtin_prefetch(first + (ahead + k) * stride + r);
    for (int r = 0; r < whole_rows; r += n) transpose_square(to + r * pitch + l, pitch, first + r, stride);
    transpose_elements(to + whole_rows * pitch + l, pitch, first + whole_rows, rows - whole_rows, n, stride);
  }
  transpose_elements(to + whole_lanes, pitch, from + whole_lanes * stride, rows, lanes - whole_lanes, stride);
}

}  // namespace

void transpose(void* to, std::int64_t pitch, const void* from, std::int64_t stride, int rows, int lanes,
               std::size_t size) noexcept {
  switch (size) {
    case 1: return transpose_rows<std::uint8_t>(to, pitch, from, rows, lanes, stride);
    case 2: return transpose_rows<std::uint16_t>(to, pitch, from, rows, lanes, stride);
    case 4: return transpose_rows<std::uint32_t>(to, pitch, from, rows, lanes, stride);
    case 8: return transpose_rows<std::uint64_t>(to, pitch, from, rows, lanes, stride);
    default:
      return transpose_elements(static_cast<pair64*>(to), pitch, static_cast<const pair64*>(from), rows, lanes, stride);
  }
}

}  // namespace sinter::cpu
