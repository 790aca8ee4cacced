// The kernel that counts in shared memory, where each bin has several counters. The rule for bins has a type `sample` and
// functions near(sample, number), is_clear(distance) and bin(sample), as backends::equal_bins does.
//
// Only headers of the host compiler are included, so that tests run these kernels without a GPU.
#pragma once
#include <cstdint>

namespace sinter::cuda::device {

inline constexpr int count_threads = 1024;
inline constexpr int most_shared_bins = 8192;
inline constexpr int shared_counters = most_shared_bins + 32;  // those of one bin more count what lies in no bin
inline constexpr int count_ahead = 2;                          // loads of 16 bytes that a thread has in flight

/// Neighbouring samples, loaded at once.
template <class T>
struct alignas(16) sample_pack {
  static constexpr int count = 16 / sizeof(T);
  T at[count];
};

/// `copies` (a power of two, up to one per lane) counters of each bin, so that few bins cause few conflicts.
struct shared_counts {
  unsigned* mine;  // of bin 0
  unsigned bin_count, copies;
};
template <class Number>
__device__ __forceinline__ void add_to(const shared_counts& c, Number bin, unsigned more) {
  const auto none = static_cast<Number>(c.bin_count);
  atomicAdd(&c.mine[static_cast<unsigned>(bin < none ? bin : none) * c.copies], more);
}

/// Counts one sample after the other.
template <class Bins>
__device__ __forceinline__ void count_each(const Bins& bins, std::int64_t begin, std::int64_t end, std::int64_t step,
                                           const shared_counts& counts) {
  for (std::int64_t k = begin; k < end; k += step)
    add_to(counts, static_cast<std::uint64_t>(bins.bin(bins.samples[k])), 1u);
}

/// Counts n samples. All blocks together take packs of them, of which sample `head` begins the first one, and then the
/// samples around these packs.
template <class Bins>
__device__ __forceinline__ void count_samples(const Bins& bins, std::int64_t n, std::int64_t head,
                                              const shared_counts& counts) {
  using pack = sample_pack<typename Bins::sample>;
  constexpr std::int64_t packs_of_tile = count_threads * count_ahead, tile = packs_of_tile * pack::count;
  const std::int64_t tiles = (n - head) / tile;
  const auto* const packs = reinterpret_cast<const pack*>(bins.samples + head) + threadIdx.x;
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const pack* const own = packs + t * packs_of_tile;
    pack x[count_ahead];  // all loads are issued before any is used
#pragma unroll
    for (int a = 0; a < count_ahead; ++a) x[a] = own[a * count_threads];
    unsigned doubtful = 0;
#pragma unroll
    for (int a = 0; a < count_ahead; ++a) {
      typename Bins::distance farthest = 0;
#pragma unroll
      for (int i = 0; i < pack::count; ++i) {
        typename Bins::number number = 0;
        const typename Bins::distance d = bins.near(x[a].at[i], number);
        farthest = d > farthest ? d : farthest;
        add_to(counts, number, 1u);
      }
      if (!bins.is_clear(farthest)) doubtful |= 1u << a;
    }
#pragma unroll 1
    for (; doubtful != 0; doubtful &= doubtful - 1) {
      const pack* const again = own + (__ffs(static_cast<int>(doubtful)) - 1) * count_threads;
#pragma unroll 1
      for (int i = 0; i < pack::count; ++i) {
        typename Bins::number number = 0;
        if (bins.is_clear(bins.near(again->at[i], number))) continue;
        add_to(counts, number, ~0u);
        add_to(counts, static_cast<std::uint64_t>(bins.bin(again->at[i])), 1u);
      }
    }
  }
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * count_threads + threadIdx.x;
  const std::int64_t all = static_cast<std::int64_t>(gridDim.x) * count_threads;
  count_each(bins, first, head, all, counts);
  count_each(bins, head + tiles * tile + first, n, all, counts);
}

}  // namespace sinter::cuda::device
