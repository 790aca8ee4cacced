// Sorting many keys in vector registers, on machines with AVX2 or AVX-512: a quicksort that takes n log n steps whatever the
// keys are, since a heap sort takes over where divisions are uneven too often.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/algorithms/sort_network.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sinter::cpu {

/// Sorts the n keys of `data`, ascending, in place or, if to_other, into `other`, as long as `data` and not that; the other
/// one is overwritten. No key is a NaN, and zeros have one sign. Only where has_wide_vectors().
void vector_sort(float* data, float* other, std::int64_t n, bool to_other) noexcept;
void vector_sort(double* data, double* other, std::int64_t n, bool to_other) noexcept;
void vector_sort(std::int32_t* data, std::int32_t* other, std::int64_t n, bool to_other) noexcept;
void vector_sort(std::int64_t* data, std::int64_t* other, std::int64_t n, bool to_other) noexcept;

/// How many uneven divisions a sort of n keys may have.
inline int most_uneven(std::int64_t n) noexcept { return 2 * std::bit_width(static_cast<std::uint64_t>(n)); }

#if defined(__x86_64__)
#define SINTER_VECTOR_SORT_DECLARE(isa)                                                            \
  namespace isa {                                                                                  \
  void vector_sort_f32(float* data, float* other, long long n, bool to_other, int uneven);         \
  void vector_sort_f64(double* data, double* other, long long n, bool to_other, int uneven);       \
  void vector_sort_i32(int* data, int* other, long long n, bool to_other, int uneven);             \
  void vector_sort_i64(long long* data, long long* other, long long n, bool to_other, int uneven); \
  }
SINTER_VECTOR_SORT_DECLARE(avx2)
SINTER_VECTOR_SORT_DECLARE(avx512)
#undef SINTER_VECTOR_SORT_DECLARE
#endif

/// The last steps of a radix sort of T, whose order is that of the elements, or `descending`.
template <class T>
struct vector_steps {
  bool usable = false;  // the machine has wide vectors; of floating-point numbers none is a NaN or a -0
  bool descending = false, is_signed = false;

  /// False, and nothing is done, where other steps are to sort. As vector_sort.
  bool operator()(T* data, T* other, std::int64_t n, bool to_other) const noexcept {
    if constexpr (has_network<T>) {
      if (!usable) return false;
      if constexpr (std::is_floating_point_v<T>) {
        vector_sort(data, other, n, to_other);
      } else {
        using key = std::make_signed_t<T>;
        flip(data, n);
        vector_sort(reinterpret_cast<key*>(data), reinterpret_cast<key*>(other), n, to_other);
        flip(to_other ? other : data, n);
      }
      if (descending) std::reverse(to_other ? other : data, (to_other ? other : data) + n);
      return true;
    } else {
      return false;
    }
  }

 private:
  void flip(T* data, std::int64_t n) const noexcept {
    if (is_signed) return;
    for (std::int64_t i = 0; i < n; ++i) data[i] ^= T(1) << (8 * sizeof(T) - 1);
  }
};

}  // namespace sinter::cpu
