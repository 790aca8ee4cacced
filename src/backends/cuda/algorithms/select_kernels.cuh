// The kernels that select elements by flags. A warp handles a tile of 1024 flags, one word per lane: bit b of lane j's
// word belongs to the tile's element 32 * b + j, so one ballot per bit gives the positions of 32 neighbouring elements.
//
// Only headers of the host compiler are included, so that tests run these kernels without a GPU.
#pragma once
#include <cstdint>

namespace sinter::cuda::device {

inline constexpr int select_tile = 1024, select_warps = 8, select_threads = 32 * select_warps;

/// The words of tiles: `given` has those of the first `packed` tiles, `made` those of the rest.
struct tile_words {
  const unsigned* given;
  const unsigned* made;
  std::int64_t packed;
};
/// Source of a selection of the elements' positions.
struct positions {};

__device__ __forceinline__ std::int64_t tile_of_warp() {
  return static_cast<std::int64_t>(blockIdx.x) * select_warps + threadIdx.x / 32;
}

__device__ __forceinline__ unsigned sum_of_warp(unsigned n) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) n += __shfl_xor_sync(0xffffffffu, n, step);
  return n;
}

/// Bit 0 of each byte: whether the byte is true, which any value but 0 is.
__device__ __forceinline__ unsigned truth_of_bytes(unsigned v) {
  return ((((v & 0x7f7f7f7fu) + 0x7f7f7f7fu) | v) >> 7) & 0x01010101u;
}

/// Four flags, false after the last one.
__device__ __forceinline__ unsigned four_flags(const unsigned char* flags, std::int64_t at, std::int64_t count) {
  unsigned v = 0;
  for (int k = 0; k < 4; ++k)
    if (at + k < count) v |= static_cast<unsigned>(flags[at + k]) << (8 * k);
  return v;
}

/// Packs bools into the words of tiles and counts those that are true in each tile.
static __global__ void __launch_bounds__(select_threads)
    pack_flags(const unsigned char* flags, std::int64_t count, std::int64_t tiles, unsigned* words,
               std::int64_t* counts) {
  const std::int64_t tile = tile_of_warp();
  if (tile >= tiles) return;
  const int lane = static_cast<int>(threadIdx.x % 32), column = lane % 8 * 4, row = lane / 8;
  const std::int64_t first = tile * select_tile + 32 * row + column;
  unsigned four[8];  // of every fourth row, the flags of four columns
  if (reinterpret_cast<std::uintptr_t>(flags) % 4 == 0 && (tile + 1) * select_tile <= count) {
#pragma unroll
    for (int step = 0; step < 8; ++step) four[step] = *reinterpret_cast<const unsigned*>(flags + first + 128 * step);
  } else {
#pragma unroll
    for (int step = 0; step < 8; ++step) four[step] = four_flags(flags, first + 128 * step, count);
  }
  unsigned part[4] = {0, 0, 0, 0};  // bits of the four columns' words
#pragma unroll
  for (int step = 0; step < 8; ++step) {
    const unsigned v = truth_of_bytes(four[step]);
#pragma unroll
    for (int k = 0; k < 4; ++k) part[k] |= ((v >> (8 * k)) & 1u) << (4 * step + row);
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    part[k] |= __shfl_xor_sync(0xffffffffu, part[k], 8);
    part[k] |= __shfl_xor_sync(0xffffffffu, part[k], 16);
  }
  const unsigned word = row == 0 ? part[0] : row == 1 ? part[1] : row == 2 ? part[2] : part[3];
  words[tile * 32 + column + row] = word;
  const unsigned total = sum_of_warp(static_cast<unsigned>(__popc(word)));
  if (lane == 0) counts[tile] = total;
}

/// Counts the bits of tiles whose words are given.
static __global__ void __launch_bounds__(select_threads)
    count_words(const unsigned* words, std::int64_t tiles, std::int64_t* counts) {
  const std::int64_t tile = tile_of_warp();
  if (tile >= tiles) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const unsigned total = sum_of_warp(static_cast<unsigned>(__popc(words[tile * 32 + lane])));
  if (lane == 0) counts[tile] = total;
}

template <class T>
__device__ __forceinline__ T selected_from(const T* data, std::int64_t at) {
  return data[at];
}
__device__ __forceinline__ std::int64_t selected_from(positions, std::int64_t at) { return at; }

/// Writes the selected elements of each tile, starting where those of the previous tile end; `ends` are the running
/// sums of the tiles' counts. Only selected elements are read, `ahead` per lane at a time.
template <int ahead, class From, class To>
__global__ void __launch_bounds__(select_threads)
    select_tiles(const From from, const tile_words words, const std::int64_t* ends, std::int64_t tiles, To* to) {
  const std::int64_t tile = tile_of_warp();
  if (tile >= tiles) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t begin = tile == 0 ? 0 : ends[tile - 1];
  if (ends[tile] == begin) return;
  const unsigned* const of_tile =
      tile < words.packed ? words.given + 32 * tile : words.made + 32 * (tile - words.packed);
  const unsigned word = of_tile[lane], below = (1u << lane) - 1u;
  To* place = to + begin;
#pragma unroll 1
  for (int first = 0; first < 32; first += ahead) {
    To values[ahead];
#pragma unroll
    for (int k = 0; k < ahead; ++k)
      if ((word >> (first + k)) & 1u) values[k] = selected_from(from, tile * select_tile + 32 * (first + k) + lane);
#pragma unroll
    for (int k = 0; k < ahead; ++k) {
      const bool mine = ((word >> (first + k)) & 1u) != 0;
      const unsigned set = __ballot_sync(0xffffffffu, mine);
      if (mine) place[__popc(set & below)] = values[k];
      place += __popc(set);
    }
  }
}

}  // namespace sinter::cuda::device
