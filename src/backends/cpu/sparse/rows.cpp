// Rows of sparse matrices: copied, entries of equal column added up, extremes.
#include "backends/cpu/sparse/rows.hpp"

#include <cstring>
#include <limits>
#include <type_traits>

#include "backends/cpu/sparse/sparse.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

using runtime::sparse_matrix;

template <class T, class I>
std::int64_t join_rows(const typed_rows<T, I>& a, I* indices, T* data, I* indptr) {
  I to = 0;
  for (std::int64_t r = 0; r < a.rows; ++r) {
    indptr[r] = to;
    for (I k = a.indptr[r]; k < a.indptr[r + 1];) {
      const I column = indices[k];
      T sum = data[k++];
      while (k < a.indptr[r + 1] && indices[k] == column) sum += data[k++];
      indices[to] = column;
      data[to++] = sum;
    }
  }
  indptr[a.rows] = to;
  return to;
}

/// Whether `a` replaces `b` as the extreme; NaN does, and stays.
template <bool Largest, class T>
bool wins(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a) return true;
  return Largest ? a > b : a < b;
}
template <bool Largest, class T>
constexpr T worst() {
  using limits = std::numeric_limits<T>;
  if constexpr (limits::has_infinity) return Largest ? -limits::infinity() : limits::infinity();
  return Largest ? limits::lowest() : limits::max();
}

template <bool Largest, class T, class I>
void extremes_of(const typed_rows<T, I>& a, bool transposed, T* result, std::int64_t* counts) {
  if (!transposed) {
    const double time = 1.0 * static_cast<double>(a.indptr[a.rows]) + 3.0 * static_cast<double>(a.rows);
    constexpr std::int64_t block = 256;
    runtime::parallel_for((a.rows + block - 1) / block, time, [&](std::int64_t b) {
      for (std::int64_t r = b * block; r < std::min(a.rows, (b + 1) * block); ++r) {
        T best = worst<Largest, T>();
        for (I k = a.indptr[r]; k < a.indptr[r + 1]; ++k)
          if (wins<Largest>(a.data[k], best)) best = a.data[k];
        result[r] = best;
        counts[r] = a.indptr[r + 1] - a.indptr[r];
      }
    });
    return;
  }
  std::fill(result, result + a.columns, worst<Largest, T>());
  std::fill(counts, counts + a.columns, 0);
  for (I k = 0; k < a.indptr[a.rows]; ++k) {
    T& best = result[a.indices[k]];
    if (wins<Largest>(a.data[k], best)) best = a.data[k];
    ++counts[a.indices[k]];
  }
}

/// Calls f with an element of a real dtype; bools are taken for bytes.
template <class F>
void with_real(dtype t, F&& f) {
  switch (t) {
    case dtype::i8: return f(std::int8_t{});
    case dtype::i16: return f(std::int16_t{});
    case dtype::i32: return f(std::int32_t{});
    case dtype::i64: return f(std::int64_t{});
    case dtype::u16: return f(std::uint16_t{});
    case dtype::u32: return f(std::uint32_t{});
    case dtype::u64: return f(std::uint64_t{});
    case dtype::f32: return f(float{});
    case dtype::f64: return f(double{});
    default: return f(std::uint8_t{});
  }
}

}  // namespace

std::int64_t cpu_sparse::join_equal(const sparse_matrix& a, void* indices, void* data, void* indptr) {
  std::int64_t left = 0;
  with_types(a, [&](auto element, auto index) {
    using T = decltype(element);
    using I = decltype(index);
    left =
        join_rows<T, I>(typed_rows<T, I>(a), static_cast<I*>(indices), static_cast<T*>(data), static_cast<I*>(indptr));
  });
  return left;
}

void cpu_sparse::copy_rows(const sparse_matrix& a, std::size_t bytes, const std::int64_t* rows, std::int64_t count,
                           const std::int64_t* indptr, void* indices, void* data) {
  with_index(a.index, [&](auto index) {
    using I = decltype(index);
    const I* const ends = static_cast<const I*>(a.indptr);
    constexpr std::int64_t block = 64;
    const double time = static_cast<double>(indptr[count]) + 20.0 * static_cast<double>(count);
    runtime::parallel_for((count + block - 1) / block, time, [&](std::int64_t b) {
      for (std::int64_t k = b * block; k < std::min(count, (b + 1) * block); ++k) {
        const auto from = static_cast<std::size_t>(ends[rows[k]]), to = static_cast<std::size_t>(indptr[k]);
        const auto entries = static_cast<std::size_t>(indptr[k + 1]) - to;
        if (entries == 0) continue;
        std::memcpy(static_cast<I*>(indices) + to, static_cast<const I*>(a.indices) + from, entries * sizeof(I));
        std::memcpy(static_cast<char*>(data) + to * bytes, static_cast<const char*>(a.data) + from * bytes,
                    entries * bytes);
      }
    });
  });
}

void cpu_sparse::extremes(const sparse_matrix& a, bool transposed, bool largest, void* result, std::int64_t* counts) {
  with_index(a.index, [&](auto index) {
    with_real(a.type, [&](auto element) {
      using T = decltype(element);
      const typed_rows<T, decltype(index)> typed(a);
      if (largest) extremes_of<true>(typed, transposed, static_cast<T*>(result), counts);
      else extremes_of<false>(typed, transposed, static_cast<T*>(result), counts);
    });
  });
}

}  // namespace sinter::cpu
