// How much memory storages have left to others: elements in memory that still have references when a storage gives them up.
#pragma once
#include <atomic>
#include <cstddef>

namespace sinter::graph {

struct left_memory {
  std::atomic<std::size_t> count{0};                       // bytes, since somebody last looked for what keeps them
  std::atomic<std::size_t> look_at{std::size_t{1} << 16};  // bytes from which it is worth looking (release_kept_arrays)

  void add(std::size_t bytes) noexcept {
    constexpr std::size_t least = 4096;
    if (bytes >= least) count.fetch_add(bytes, std::memory_order_relaxed);
  }
};
inline left_memory& left_bytes() noexcept {
  static constinit left_memory m;
  return m;
}

}  // namespace sinter::graph
