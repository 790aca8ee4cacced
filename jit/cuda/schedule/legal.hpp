// Which schedules are legal for a launch: those that compute its values, with the bits that every other one gives. A
// legal schedule is considered where it can pay; how many bytes or instructions it saves is for the estimate to say.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/cuda/launch.hpp"

namespace sinter::cuda {

// What is asked about the operands of a launch.

/// Whether an operand's first element, of `size` bytes, lies at a multiple of `bytes`.
bool aligned(const jit::operand& o, std::size_t size, std::size_t bytes) noexcept;
/// Whether it does not vary along the axes [first, last).
bool constant_over(const jit::launch& l, const jit::operand& o, int first, int last) noexcept;
/// Whether vectors of `n` elements along `axis` are contiguous and aligned.
bool vector_along(const jit::launch& l, const jit::operand& o, std::size_t size, int axis, std::int64_t n) noexcept;
/// Whether 32-bit index arithmetic suffices.
bool fits_narrow(const jit::launch& l, std::int64_t iterations) noexcept;
std::size_t size_of_input(const jit::launch& l, std::size_t k) noexcept;
std::size_t size_of_output(const jit::launch& l, std::size_t k) noexcept;
bool gathered(const jit::launch& l, std::size_t k) noexcept;
/// Whether an input has wraps.
bool wraps(const jit::launch& l, std::size_t input) noexcept;
/// Fills places (cuda_variant). Of shifted slices of one array, of which a kernel may have a dozen, a thread computes one
/// offset.
void share_places(const jit::launch& l, jit::cuda_variant& v);
/// Fills wraps, whose equal ones a thread computes once.
void share_wraps(const jit::launch& l, jit::cuda_variant& v);
/// Which inputs are read for each element (the others belong to the epilogue).
bool in_prologue(const jit::program& p, std::size_t input) noexcept;
/// Whether the results of a reduction have the same bits in any order.
bool is_order_free(const jit::program& p) noexcept;
/// Whether a reduction has the order of rows. Where any order gives the same bits, the one that suits the layout.
bool prefers_rows(const jit::launch& l) noexcept;
/// Lanes of a result, if one block has them and a tree joins them all; else 0.
std::int64_t tree_lanes(const jit::launch& l, bool rows) noexcept;
/// Whether the elements' code is short and reads no positions and no index arrays: it may be copied for each of a
/// thread's results.
bool is_short_element(const jit::program& p) noexcept;
/// 4-byte words of the accumulators of all reductions, none of which is a user's.
int accumulator_words(const jit::program& p) noexcept;

/// Variants whose memory is used again.
class variant_list {
 public:
  void clear() noexcept { count_ = 0; }
  std::size_t size() const noexcept { return count_; }
  jit::cuda_variant& operator[](std::size_t k) { return all_[k]; }
  const jit::cuda_variant& operator[](std::size_t k) const { return all_[k]; }
  /// A variant of the launch's rank with nothing else set; drop() takes it back.
  jit::cuda_variant& add(const jit::launch& l);
  void drop() noexcept { --count_; }
  /// Adds what `fill`, which returns whether it is legal, makes of it.
  template <class Fill>
  bool add_if(const jit::launch& l, Fill fill) {
    if (fill(add(l))) return true;
    drop();
    return false;
  }

 private:
  std::vector<jit::cuda_variant> all_;
  std::size_t count_ = 0;
};

/// All legal schedules, or those that are considered: the first is the one to take unless another one is clearly
/// cheaper.
enum class extent_of_search : std::uint8_t { considered, all };
void add_schedules(const jit::launch& l, extent_of_search which, variant_list& to);
/// Gives inputs of a reduction along rows of one axis, which has its classes, runs; `all`: also where they do not pay. False if none
/// can have one: `v` is as it was.
bool set_row_runs(const jit::launch& l, bool all, jit::cuda_variant& v);
/// reduce_rows: sets which threads have the lanes of a result (`lane_runs`, `rest`). The second one, for comparisons: those of
/// fewer threads where they are of more, and the other way round; false if there is one way only.
void deal_lanes(const jit::launch& l, const reduce_geometry& g, jit::cuda_variant& v);
bool deal_lanes_otherwise(const jit::launch& l, jit::cuda_variant& v);
// Of staged programs.
void add_stages(const jit::launch& l, extent_of_search which, variant_list& to);
// Those that work on tiles.
void add_tiled(const jit::launch& l, extent_of_search which, variant_list& to);
void add_reduce_tiles(const jit::launch& l, extent_of_search which, variant_list& to);
void add_shared_rows(const jit::launch& l, extent_of_search which, variant_list& to);
// Those that return whether the last one is to be taken without an estimate. Runs: of the longest vectors that suit.
bool add_flat_rows(const jit::launch& l, extent_of_search which, variant_list& to);
bool add_map_runs(const jit::launch& l, extent_of_search which, variant_list& to);
bool add_windows(const jit::launch& l, extent_of_search which, variant_list& to);

}  // namespace sinter::cuda
