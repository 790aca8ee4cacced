// Rows whose lengths are not known before they are written.
#pragma once
#include <cstring>

#include "backends/cpu/sparse/rows.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {

/// The entries of a result.
template <class E, class I>
struct entry_places {
  I* indices;
  E* data;
};

/// Writes rows one after the other. Each part of them begins where it would if those before it took all of their room,
/// then parts move together; a single thread has one part. room(r): the room of all rows before r, write(first, last, at)
/// writes some rows from `at` on, with indptr[r + 1] the end of row r, and returns the end. Returns the number of entries.
template <class E, class I, class Room, class Write>
std::int64_t write_compactly(std::int64_t rows, double nanoseconds, entry_places<E, I> to, I* indptr, Room&& room,
                             Write&& write) {
  indptr[0] = 0;
  if (rows == 0) return 0;
  const std::int64_t parts =
      std::clamp<std::int64_t>(std::min<std::int64_t>(runtime::thread_count(), room(rows) / 32768), 1, rows);
  const auto first_of = [&](std::int64_t part) { return rows / parts * part + std::min(part, rows % parts); };
  std::vector<std::int64_t> ends(static_cast<std::size_t>(parts));
  runtime::parallel_for(parts, nanoseconds, [&](std::int64_t part) {
    const std::int64_t first = first_of(part);
    ends[static_cast<std::size_t>(part)] = write(first, first_of(part + 1), room(first));
  });
  std::int64_t total = ends[0];
  for (std::int64_t part = 1; part < parts; ++part) {
    const std::int64_t first = first_of(part), from = room(first), shift = from - total;
    const auto count = static_cast<std::size_t>(ends[static_cast<std::size_t>(part)] - from);
    total += static_cast<std::int64_t>(count);
    if (shift == 0) continue;
    std::memmove(to.indices + from - shift, to.indices + from, count * sizeof(I));
    std::memmove(to.data + from - shift, to.data + from, count * sizeof(E));
    for (std::int64_t r = first; r < first_of(part + 1); ++r) indptr[r + 1] -= static_cast<I>(shift);
  }
  return total;
}

}  // namespace sinter::cpu
