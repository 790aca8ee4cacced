// Selection by flags, in two deterministic steps: flags become bits and counts per tile; the running sums of the counts
// give the positions of each tile's elements.
#include "backends/cuda/algorithms/device_common.cuh"
#include "backends/cuda/algorithms/select_kernels.cuh"

namespace sinter::cuda::device {
namespace {

/// The layout of a selection's scratch memory.
struct select_state {
  i64 tiles, packed;  // packed: tiles with given words
  u32* made;          // words of the other tiles
  i64* ends;
  void* scan_scratch;
  std::size_t bytes;

  select_state(const select_job& j, void* scratch)
      : tiles(ceil_div(j.count, select_tile)), packed(j.packed / select_tile) {
    pieces p(scratch);
    made = p.take<u32>((tiles - packed) * 32);
    ends = p.take<i64>(tiles);
    scan_scratch = p.take<char>(static_cast<i64>(device::scan_scratch(sums())));
    bytes = p.used();
  }
  scan_job sums() const { return {scan_kind::sum, element::i64, 1, tiles, 1}; }
  tile_words words(const select_job& j) const { return {j.words, made, packed}; }
};

i64 blocks_of(i64 tiles) { return ceil_div(tiles, select_warps); }

template <int ahead, class From, class To>
cudaError_t select_from(const context& c, const select_job& j, From from, To* to, void* scratch) {
  const select_state s(j, scratch);
  return launch(c, select_tiles<ahead, From, To>, blocks_of(s.tiles), select_threads, 0, from, s.words(j), s.ends,
                s.tiles, to);
}
template <int ahead, class T>
cudaError_t select_elements(const context& c, const select_job& j, const void* data, void* result, void* scratch) {
  return select_from<ahead>(c, j, static_cast<const T*>(data), static_cast<T*>(result), scratch);
}

}  // namespace

std::size_t select_scratch(const select_job& j) { return select_state(j, nullptr).bytes; }

cudaError_t count_selected(const context& c, const select_job& j, void* scratch, const std::int64_t** count) {
  const select_state s(j, scratch);
  *count = s.ends + s.tiles - 1;
  if (s.packed > 0)
    SINTER_TRY(launch(c, count_words, blocks_of(s.packed), select_threads, 0, j.words, s.packed, s.ends));
  if (s.packed < s.tiles)
    SINTER_TRY(launch(c, pack_flags, blocks_of(s.tiles - s.packed), select_threads, 0, j.flags, j.count - j.packed,
                      s.tiles - s.packed, s.made, s.ends + s.packed));
  return scan(c, s.sums(), s.ends, s.ends, s.scan_scratch);
}

cudaError_t select(const context& c, const select_job& j, int bytes, const void* data, void* result, void* scratch) {
  if (data == nullptr) return select_from<8>(c, j, positions{}, static_cast<i64*>(result), scratch);
  switch (bytes) {
    case 1: return select_elements<8, u8>(c, j, data, result, scratch);
    case 2: return select_elements<8, u16>(c, j, data, result, scratch);
    case 4: return select_elements<8, u32>(c, j, data, result, scratch);
    case 8: return select_elements<8, u64>(c, j, data, result, scratch);
    case 16: return select_elements<4, ulonglong2>(c, j, data, result, scratch);
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace sinter::cuda::device
