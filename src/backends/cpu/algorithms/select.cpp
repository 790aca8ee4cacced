// Selection by flags, in two passes: how many each chunk selects, then each chunk writes where those before it end.
#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/cpu/algorithms/algorithms.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

constexpr std::int64_t chunk = 1 << 16;
// Nanoseconds for a flag.
constexpr double count_time = 0.1, write_time = 1;
constexpr std::uint64_t ones = 0x0101010101010101u;

std::int64_t chunks_of(std::int64_t n) noexcept { return (n + chunk - 1) / chunk; }

/// Eight flags as bytes 0 or 1; any non-zero byte is true.
std::uint64_t load_flags(const unsigned char* flags) noexcept {
  std::uint64_t w;
  std::memcpy(&w, flags, 8);
  return (((w & 0x7f * ones) + 0x7f * ones) | w) >> 7 & ones;
}

std::int64_t count_flags(const unsigned char* flags, std::int64_t n) noexcept {
  std::int64_t count = 0, i = 0;
  while (n - i >= 8) {
    std::uint64_t sums = 0;  // bytewise, so at most 255 at a time
    for (const std::int64_t end = i + std::min<std::int64_t>(8 * 255, (n - i) & ~std::int64_t{7}); i < end; i += 8)
      sums += load_flags(flags + i);
    for (; sums; sums >>= 8) count += static_cast<std::int64_t>(sums & 0xff);
  }
  for (; i < n; ++i) count += flags[i] != 0;
  return count;
}

/// Calls put(place, first + i) for the flagged i in [0, n), which get the places [place, end) in order. Other i may get a
/// place, too, which a flagged one overwrites later. put.eight(place, i) is put() for i to i + 7.
template <class Put>
void write_flagged(const unsigned char* flags, std::int64_t n, std::int64_t place, std::int64_t end, const Put& put,
                   std::int64_t first) {
  std::int64_t i = 0;
  const auto put_one = [&](std::uint64_t flag) {
    put(place, first + i++);
    place += static_cast<std::int64_t>(flag);
  };
  while (n - i >= 8 && place < end) {
    const std::uint64_t w = load_flags(flags + i);
    if (w == 0) {
      i += 8;
    } else if (w == ones) {  // as where a filter drops few: vectors of them
      put.eight(place, first + i);
      place += 8;
      i += 8;
    } else if (end - place >= 8) {
      for (int k = 0; k < 8; ++k) put_one(w >> (8 * k) & 1);
    } else {
      for (int k = 0; k < 8 && place < end; ++k) put_one(w >> (8 * k) & 1);
    }
  }
  while (place < end) put_one(flags[i] != 0);
}

/// put(place, i) writes element i, or its position. `scratch` holds the place of each chunk's first one, then the
/// total.
template <class Put>
void select_flagged(const runtime::selection& s, const void* scratch, const Put& put) {
  const auto* flags = reinterpret_cast<const unsigned char*>(s.flags);
  const auto* places = static_cast<const std::int64_t*>(scratch);
  runtime::parallel_for(chunks_of(s.count), write_time * static_cast<double>(s.count), [&](std::int64_t c) {
    const std::int64_t first = c * chunk;
    write_flagged(flags + first, std::min(chunk, s.count - first), places[c], places[c + 1], put, first);
  });
}

struct sixteen_bytes {
  std::uint64_t parts[2];
};

template <class T>
struct element_copy {
  const T* from;
  T* to;
  void operator()(std::int64_t place, std::int64_t i) const noexcept { to[place] = from[i]; }
  void eight(std::int64_t place, std::int64_t i) const noexcept { std::memcpy(to + place, from + i, 8 * sizeof(T)); }
};

struct position_copy {
  std::int64_t* to;
  void operator()(std::int64_t place, std::int64_t i) const noexcept { to[place] = i; }
  void eight(std::int64_t place, std::int64_t i) const noexcept {
    for (int k = 0; k < 8; ++k) to[place + k] = i + k;
  }
};

}  // namespace

std::size_t cpu_algorithms::select_scratch(const runtime::selection& s) {
  return static_cast<std::size_t>(chunks_of(s.count) + 1) * sizeof(std::int64_t);
}

const std::int64_t* cpu_algorithms::count_selected(const runtime::selection& s, void* scratch) {
  const auto* flags = reinterpret_cast<const unsigned char*>(s.flags);
  auto* places = static_cast<std::int64_t*>(scratch);
  const std::int64_t chunks = chunks_of(s.count);
  runtime::parallel_for(chunks, count_time * static_cast<double>(s.count), [&](std::int64_t c) {
    places[c] = count_flags(flags + c * chunk, std::min(chunk, s.count - c * chunk));
  });
  std::int64_t total = 0;
  for (std::int64_t c = 0; c < chunks; ++c) places[c] = std::exchange(total, total + places[c]);
  places[chunks] = total;
  return places + chunks;
}

void cpu_algorithms::select(const runtime::selection& s, int bytes, const void* data, void* result,
                            const void* scratch) {
  const auto select_elements = [&]<class T>(T) {
    select_flagged(s, scratch, element_copy<T>{static_cast<const T*>(data), static_cast<T*>(result)});
  };
  switch (bytes) {
    case 1: return select_elements(std::uint8_t{});
    case 2: return select_elements(std::uint16_t{});
    case 4: return select_elements(std::uint32_t{});
    case 8: return select_elements(std::uint64_t{});
    default: return select_elements(sixteen_bytes{});
  }
}

void cpu_algorithms::select_positions(const runtime::selection& s, std::int64_t* result, const void* scratch) {
  select_flagged(s, scratch, position_copy{result});
}

}  // namespace sinter::cpu
