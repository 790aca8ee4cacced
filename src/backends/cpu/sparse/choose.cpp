// Entries that are left out, and matrices beside each other.
#include "backends/cpu/sparse/compact.hpp"
#include "backends/cpu/sparse/sparse.hpp"

namespace sinter::cpu {
namespace {

using runtime::sparse_matrix;

/// The entries for which column_of(k) is not negative, with that for their column. All are written, and the next one over
/// what is left out, so that nothing is guessed.
template <class E, class I, class F>
std::int64_t write_chosen(const sparse_matrix& a, void* indptr, void* indices, void* data, F&& column_of) {
  const I* const ends = static_cast<const I*>(a.indptr);
  const E* const from = static_cast<const E*>(a.data);
  const entry_places<E, I> to{static_cast<I*>(indices), static_cast<E*>(data)};
  I* const ends_of_result = static_cast<I*>(indptr);
  const double time = 1.5 * static_cast<double>(a.entries) + static_cast<double>(a.rows);
  return write_compactly(
      a.rows, time, to, ends_of_result, [&](std::int64_t r) { return static_cast<std::int64_t>(ends[r]); },
      [&](std::int64_t first, std::int64_t last, std::int64_t at) {
        std::int64_t k = ends[first];
        for (std::int64_t r = first; r < last; ++r) {
          for (; k < ends[r + 1]; ++k) {
            const I column = column_of(k);
            to.indices[at] = column;
            to.data[at] = from[k];
            at += column >= 0;
          }
          ends_of_result[r + 1] = static_cast<I>(at);
        }
        return at;
      });
}

/// The same of bools that are kept where they are true: all of them are.
template <class I>
std::int64_t write_true(const sparse_matrix& a, const std::uint8_t* mask, void* indptr, void* indices, void* data) {
  const typed_rows<std::uint8_t, I> m(a);
  const entry_places<std::uint8_t, I> to{static_cast<I*>(indices), static_cast<std::uint8_t*>(data)};
  I* const ends_of_result = static_cast<I*>(indptr);
  const double time = static_cast<double>(a.entries + a.rows);
  const std::int64_t count = write_compactly(
      a.rows, time, to, ends_of_result, [&](std::int64_t r) { return static_cast<std::int64_t>(m.indptr[r]); },
      [&](std::int64_t first, std::int64_t last, std::int64_t at) {
        I k = m.indptr[first];
        for (std::int64_t r = first; r < last; ++r) {
          for (const I end = m.indptr[r + 1]; k < end; ++k) {
            to.indices[at] = m.indices[k];
            at += mask[k];
          }
          ends_of_result[r + 1] = static_cast<I>(at);
        }
        return at;
      });
  std::fill(to.data, to.data + count, std::uint8_t{1});
  return count;
}

/// One row of each matrix after the other.
template <class E, class I>
void join_rows(std::span<const sparse_matrix> all, std::span<const std::int64_t> shifts, I* indptr, I* indices,
               E* data) {
  const std::int64_t rows = all[0].rows;
  for (std::int64_t r = 0; r <= rows; ++r) {
    std::int64_t end = 0;
    for (const sparse_matrix& m : all) end += static_cast<const I*>(m.indptr)[r];
    indptr[r] = static_cast<I>(end);
  }
  constexpr std::int64_t block = 256;
  const double time = 1.5 * static_cast<double>(indptr[rows]) + 2.0 * static_cast<double>(rows);
  runtime::parallel_for((rows + block - 1) / block, time, [&](std::int64_t b) {
    for (std::int64_t r = b * block; r < std::min(rows, (b + 1) * block); ++r) {
      I at = indptr[r];
      for (std::size_t m = 0; m < all.size(); ++m) {
        const typed_rows<E, I> from(all[m]);
        const I shift = static_cast<I>(shifts[m]);
        for (I k = from.indptr[r]; k < from.indptr[r + 1]; ++k, ++at)
          indices[at] = from.indices[k] + shift, data[at] = from.data[k];
      }
    }
  });
}

template <class I>
bool find_ends(const I* coordinates, std::int64_t count, std::int64_t majors, I* indptr) {
  if (!std::is_sorted(coordinates, coordinates + count)) return false;
  std::fill(indptr, indptr + majors + 1, I{0});
  for (std::int64_t k = 0; k < count; ++k) indptr[coordinates[k] + 1] = static_cast<I>(k + 1);
  for (std::int64_t m = 0; m < majors; ++m) indptr[m + 1] = std::max(indptr[m], indptr[m + 1]);
  return true;
}

}  // namespace

std::int64_t cpu_sparse::keep(const sparse_matrix& a, std::size_t bytes, const std::uint8_t* mask, void* indptr,
                              void* indices, void* data) {
  std::int64_t count = 0;
  with_index(a.index, [&](auto index) {
    using I = decltype(index);
    if (bytes == 1 && a.data == mask) {
      count = write_true<I>(a, mask, indptr, indices, data);
      return;
    }
    const I* const columns = static_cast<const I*>(a.indices);
    with_bytes(bytes, [&](auto element) {
      // Not to be kept: all bits set.
      count = write_chosen<decltype(element), I>(a, indptr, indices, data, [&](std::int64_t k) {
        return static_cast<I>(columns[k] | (static_cast<I>(mask[k]) - 1));
      });
    });
  });
  return count;
}

std::int64_t cpu_sparse::place(const sparse_matrix& a, std::size_t bytes, const void* places, void* indptr,
                               void* indices, void* data) {
  std::int64_t count = 0;
  with_index(a.index, [&](auto index) {
    using I = decltype(index);
    const I *const columns = static_cast<const I*>(a.indices), *const place_of = static_cast<const I*>(places);
    with_bytes(bytes, [&](auto element) {
      count = write_chosen<decltype(element), I>(a, indptr, indices, data,
                                                 [&](std::int64_t k) { return place_of[columns[k]]; });
    });
  });
  return count;
}

void cpu_sparse::join_columns(std::span<const sparse_matrix> all, std::span<const std::int64_t> shifts,
                              std::size_t bytes, void* indptr, void* indices, void* data) {
  with_index(all[0].index, [&](auto index) {
    using I = decltype(index);
    with_bytes(bytes, [&](auto element) {
      using E = decltype(element);
      join_rows<E, I>(all, shifts, static_cast<I*>(indptr), static_cast<I*>(indices), static_cast<E*>(data));
    });
  });
}

bool cpu_sparse::ends_of_ascending(dtype index, const void* coordinates, std::int64_t count, std::int64_t majors,
                                   void* indptr) {
  bool found = false;
  with_index(index, [&](auto i) {
    using I = decltype(i);
    found = find_ends(static_cast<const I*>(coordinates), count, majors, static_cast<I*>(indptr));
  });
  return found;
}

}  // namespace sinter::cpu
