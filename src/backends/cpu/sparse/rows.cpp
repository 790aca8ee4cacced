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
  const auto copy = [&](auto index, auto element) {
    using I = decltype(index);
    using E = decltype(element);
    const I* const ends = static_cast<const I*>(a.indptr);
    constexpr std::int64_t block = 64;
    const double time = static_cast<double>(indptr[count]) + 20.0 * static_cast<double>(count);
    runtime::parallel_for((count + block - 1) / block, time, [&](std::int64_t b) {
      for (std::int64_t k = b * block; k < std::min(count, (b + 1) * block); ++k) {
        const I* const columns = static_cast<const I*>(a.indices) + ends[rows[k]];
        const E* const from = static_cast<const E*>(a.data) + ends[rows[k]];
        const std::int64_t entries = indptr[k + 1] - indptr[k];
        I* const to = static_cast<I*>(indices) + indptr[k];
        E* const moved = static_cast<E*>(data) + indptr[k];
        if (entries < 32) {  // a call of memcpy takes longer
          for (std::int64_t j = 0; j < entries; ++j) to[j] = columns[j], moved[j] = from[j];
          continue;
        }
        std::memcpy(to, columns, static_cast<std::size_t>(entries) * sizeof(I));
        std::memcpy(moved, from, static_cast<std::size_t>(entries) * sizeof(E));
      }
    });
  };
  with_index(a.index, [&](auto index) { with_bytes(bytes, [&](auto element) { copy(index, element); }); });
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

void cpu_sparse::diagonal(const sparse_matrix& a, std::int64_t first, std::int64_t shift, std::int64_t length,
                          void* sums) {
  with_types(a, [&](auto element, auto index) {
    using T = decltype(element);
    using I = decltype(index);
    const typed_rows<T, I> m(a);
    constexpr std::int64_t block = 1024;
    const double time = 0.5 * static_cast<double>(a.entries) + 2.0 * static_cast<double>(length);
    runtime::parallel_for((length + block - 1) / block, time, [&](std::int64_t b) {
      for (std::int64_t k = b * block; k < std::min(length, (b + 1) * block); ++k) {
        T sum{};
        const I column = static_cast<I>(first + k + shift);
        I at = m.indptr[first + k];
        const I end = m.indptr[first + k + 1];
        const bool searched = a.ascends && end - at > 32;  // short rows are looked through faster
        if (searched) at = static_cast<I>(std::lower_bound(m.indices + at, m.indices + end, column) - m.indices);
        for (; at < end && (!searched || m.indices[at] == column); ++at)
          if (m.indices[at] == column) sum += m.data[at];
        static_cast<T*>(sums)[k] = sum;
      }
    });
  });
}

namespace {

/// Calls f(row) for all rows, in blocks.
template <class F>
void for_each_row(const sparse_matrix& a, F&& f) {
  constexpr std::int64_t block = 256;
  const double time = 2.0 * static_cast<double>(a.entries + a.rows);
  runtime::parallel_for((a.rows + block - 1) / block, time, [&](std::int64_t b) {
    for (std::int64_t r = b * block; r < std::min(a.rows, (b + 1) * block); ++r) f(r);
  });
}

}  // namespace

std::int64_t cpu_sparse::count_chosen(const sparse_matrix& a, const std::int64_t* starts, std::int64_t* indptr) {
  with_index(a.index, [&](auto index) {
    using I = decltype(index);
    const I *const ends = static_cast<const I*>(a.indptr), *const columns = static_cast<const I*>(a.indices);
    for_each_row(a, [&](std::int64_t r) {
      std::int64_t count = 0;
      for (I k = ends[r]; k < ends[r + 1]; ++k) count += starts[columns[k] + 1] - starts[columns[k]];
      indptr[r + 1] = count;
    });
  });
  indptr[0] = 0;
  for (std::int64_t r = 0; r < a.rows; ++r) indptr[r + 1] += indptr[r];
  return indptr[a.rows];
}

void cpu_sparse::fill_chosen(const sparse_matrix& a, std::size_t bytes, const std::int64_t* starts,
                             const std::int64_t* places, const std::int64_t* indptr, void* indices, void* data) {
  const auto fill = [&](auto index, auto element) {
    using I = decltype(index);
    using E = decltype(element);
    const I *const ends = static_cast<const I*>(a.indptr), *const columns = static_cast<const I*>(a.indices);
    for_each_row(a, [&](std::int64_t r) {
      std::int64_t to = indptr[r];
      for (I k = ends[r]; k < ends[r + 1]; ++k) {
        for (std::int64_t p = starts[columns[k]]; p < starts[columns[k] + 1]; ++p, ++to) {
          static_cast<I*>(indices)[to] = static_cast<I>(places[p]);
          static_cast<E*>(data)[to] = static_cast<const E*>(a.data)[k];
        }
      }
    });
  };
  with_index(a.index, [&](auto index) { with_bytes(bytes, [&](auto element) { fill(index, element); }); });
}

}  // namespace sinter::cpu
