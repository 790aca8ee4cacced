// jit/cuda: programs on a GPU: the CUDA C++ that is generated, the layouts and launches that it is generated for,
// NVRTC. No call of the CUDA runtime or driver: everything here runs without a GPU.
//
// CUDA C++ source for a program. Generated source includes nothing and holds no sizes: those are parameters.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "jit/program/monotone_tail.hpp"

namespace sinter::jit {

/// Layout class of an operand: part of the kernel's key.
enum class access : std::uint8_t {
  uniform,  // all strides 0 (reductions: over the reduced axes)
  linear,   // stride 1 along the vectorised axis, every vector aligned: vector accesses
  strided,  // anything else: a stride for each iteration axis
  staged,   // tiled: read along the tile's other axis into shared memory, and from there along the inner axis;
            // staged_rows: neighbouring threads access neighbouring elements, and pass them on through shared memory
  lanes,    // strided with vectors: one value for all lanes of a thread
  run,      // contiguous elements that serve all lanes of a thread, and other operands: see cuda_run
};

enum class cuda_shape : std::uint8_t {
  linear,           // elementwise, rank 1 after merging, all operands uniform or linear: vectors
  strided,          // elementwise, any rank: inner axis on threadIdx.x, several rows a thread
  reduce_rows,      // the last iteration axes are reduced: a group of threads for each result
  reduce_columns,   // neighbouring results are contiguous: a thread accumulates whole results
  broadcast_rows,   // every operand depends on the row or the column only: a thread group per row, columns stream
  stride_loop,      // a user's function with text around its loop, any rank: grid-stride loop
  staged_rows,      // a staged program: a group of threads for each row, which keeps it in registers
  flat_rows,        // elementwise, rank 2 or more: vectors over the last two axes as one line
  tiled,            // elementwise, rank 2 or more: tiles of the inner axis and one along which inputs are contiguous
  shared_rows,      // as reduce_rows; inputs that vary along the rows are the same for all: a thread has several rows
  reduce_tiles,     // every input depends on one of the last two kept axes at most: a block has a tile of results
  crossed_rows,     // as reduce_rows; neighbouring threads have neighbouring results, not elements
  crossed_columns,  // as reduce_columns; neighbouring threads have neighbouring elements of a result
  windows,          // rows of few elements that overlap: a thread has neighbouring results, which share what it reads
  step_loop,        // elementwise, a loop that reads, writes or ends as it goes, any rank: a thread runs all steps
};

/// tiled: 2^across elements of the inner axis times 2^down of `axis`; `mirrored`: an input is read as it is and transposed, so
/// that the tiles beside each other in time are those which lie across the diagonal from each other. reduce_tiles: a thread has 2^down times 2^across
/// results of the last two kept axes; `slots` groups of each row lie in shared memory at a time; a result has 2^levels
/// lanes, which are joined neighbours first or halves first; `pairs`: two lanes at a time, all of whole groups.
/// staged_rows with operands that are staged: a row has 2^levels threads of a warp.
/// shared_rows, crossed_rows: a thread has 2^down results. crossed_rows: a block has 2^across times as many threads, and
/// so many more results. windows: a result has 2^levels lanes.
struct cuda_tile {
  std::uint8_t axis = 0, across = 0, down = 0, slots = 0, levels = 0;
  bool halves = false, mirrored = false, pairs = false;
};
/// strided: an axis along whose coordinates an input wraps (launch::wraps), and the first wrap that is equal.
struct cuda_wrap {
  std::uint8_t input = 0, axis = 0, same = 0;
  bool late = false;  // with runs, along the inner axis: most elements lie behind its turn
};
/// strided, reduce_rows: of an operand of class `run`. Operands of one array that lie a few elements apart, as shifted slices
/// and the channels of an image do, share a run: the contiguous elements of which a thread's lanes have some.
struct cuda_run {
  std::uint8_t first = 0;   // the operand by whose address the run is found: the first one that shares it
  std::uint8_t stride = 0;  // elements between neighbouring lanes
  std::uint8_t shift = 0;   // element of the run that lane 0 has
  std::uint8_t packs = 0;   // vector accesses to the run
  std::uint8_t pack = 0;    // and elements of each
};
/// reduce_tiles: the kept axis of a tile that an input depends on.
enum class operand_axes : std::uint8_t { none, row, column };

struct cuda_variant {
  cuda_shape shape = cuda_shape::linear;
  std::uint8_t rank = 1;
  std::uint8_t kept = 1;  // elementwise: the rank; reduce: number of kept axes
  // Elements of a vector access where the shape leaves a choice; windows: results of a store; reduce_rows: elements
  // of a group if rows are whole groups and the program reads positions in the whole space; staged_rows: elements of
  // a group if rows are whole groups.
  std::uint8_t vector = 1;
  std::uint8_t groups = 0;      // staged_rows: groups of a thread
  bool all_groups = false;      // staged_rows: every thread has that many; strided with runs: rows are whole vectors
  bool kept_in_shared = false;  // staged_rows: what is kept of a row lies in shared memory, not in registers
  bool wide_index = false;      // 64-bit index arithmetic
  bool reused =
      false;  // rows, columns: every input has one value for many elements, so memory does not bound the kernel
  bool alone = false;          // the same: so few threads that they wait for memory; each reads more at a time
  bool whole = false;          // rows and columns of reductions: no result is split, so that there is no second stage
  std::uint8_t lane_runs = 1;  // reduce_rows: lanes of a result that a thread of a warp has, which lie 32 apart
  bool rest = false;           // reduce_rows: rows leave groups over where a thread reads several at once, of not many
  bool skip_tail = false;      // monotone tail with a multiplier whose sign allows the skip
  bool baseline = false;       // baseline tier: compiles sooner, runs slower: see cuda_baseline_of (units.hpp)
  cuda_tile tile;              // tiled, reduce_tiles, shared_rows, crossed_rows, windows
  std::vector<access> inputs, outputs;
  // broadcast_rows: input depends on the row (1), the column (0); reduce_tiles: operand_axes; reduce_rows over several axes,
  // where each group of elements lies along the last one: input has one value for the group (1); windows: elements between
  // the places of neighbouring results, in strides of the last reduced axis. Else empty
  std::vector<std::uint8_t> row_only;
  // strided, tiled: of each input, then each output, the first one with equal strides, whose offset all of them have
  std::vector<std::uint8_t> places;
  std::vector<cuda_wrap> wraps;      // in the order of inputs
  std::vector<std::uint8_t> window;  // windows: the extents of the reduced axes
  // With operands of class `run`: of each input, then each output. Lanes begin `back` elements before a row, and a thread's
  // lanes from c on are read by vectors if c >= before and c + vector + after <= extent.
  std::vector<cuda_run> runs;
  std::uint8_t before = 0, after = 0, back = 0;
};

/// Whether a kernel is a baseline form whose schedule is that of the optimised one: its text is short instead.
inline bool cuda_is_plain(const cuda_variant& v) noexcept {
  return v.baseline && v.shape != cuda_shape::staged_rows && v.shape != cuda_shape::reduce_tiles &&
         v.shape != cuda_shape::shared_rows;
}

/// Threads of a block, in all shapes but crossed_rows.
inline constexpr int cuda_block = 256;
inline int cuda_threads(const cuda_variant& v) noexcept {
  return v.shape == cuda_shape::crossed_rows ? cuda_block << v.tile.across : cuda_block;
}
/// Consecutive reduced elements that a thread combines at a time: fixed, since it determines the order of
/// floating-point sums.
inline constexpr int cuda_group = 4;
/// broadcast_rows: columns of a thread in one step. Eight would run 3% faster and take 20% longer to compile.
inline constexpr int cuda_columns = 4;
/// Most bytes of the partial result of one reduction, and those in memory between the two stages of a program.
inline constexpr int cuda_partial_bytes = 32;
int cuda_stored_bytes(const program& p) noexcept;

/// staged_rows: most registers in which a thread keeps its part of a row, of the 255 that it can have.
inline constexpr int cuda_kept_registers = 128;
/// staged_rows: the number of a thread's groups is a multiple of this, so that few numbers, each with a kernel of its own, serve
/// all rows. Of every row that a kernel serves, all but so many of these groups are whole.
constexpr std::int64_t cuda_rounding(std::int64_t groups) noexcept {
  const auto above = std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(groups, 1)));
  return std::max<std::int64_t>(static_cast<std::int64_t>(above / 8), 1);
}
/// staged_rows: most instructions of unrolled code, by their weights: what bounds the time of a compilation.
inline constexpr int cuda_unrolled_weight = 2048;
/// Registers of a thread that hold `groups` groups of the elements that a staged program keeps from stage to stage.
int cuda_kept(const program& p, int groups);
/// staged_rows with kept_in_shared: bytes of dynamic shared memory of a block, in which its threads keep elements; else 0.
int cuda_kept_bytes(const program& p, const cuda_variant& v);
/// staged_rows: bytes of shared memory of the strips, one for each warp, through which its threads pass on a group each;
/// 0: no operand is staged.
int cuda_strip_bytes(const program& p, const cuda_variant& v) noexcept;

/// stride_loop: blocks for each multiprocessor.
inline constexpr int cuda_loop_blocks = 8;

/// Most registers of the values that an element of a linear kernel has at once where lanes go in steps together (emit_steps.hpp):
/// with more, vectors of four elements leave room for half as many threads, and their text outgrows the instruction caches.
inline constexpr int cuda_step_registers = 16;

/// Elements of the vectors of a linear kernel: 16 bytes of the widest operand; 8 bytes of float32 if four elements would
/// have too many values at once; 1 if a user's function reads by index, so that neighbouring threads process neighbouring
/// elements and their accesses coalesce; 2 at most of functions of complex numbers, which compile for long.
int cuda_vector_length(const program& p);
/// linear, flat_rows: vectors of a thread; strided: rows of a thread (elements a block apart at rank 1).
int cuda_unroll(const program& p, const cuda_variant& v);
/// Whether an operation is a function of complex numbers: a hundred instructions and more, with branches for what is special.
bool cuda_is_long(const instr& i) noexcept;

/// Elements of an input that a thread reads for so many lanes: of a run those of all its vectors, for the input that it is
/// found by.
int cuda_elements_read(const cuda_variant& v, std::size_t input, int lanes) noexcept;

/// tiled: elements between the rows of an input's tile in shared memory, so that neighbours along either axis lie in
/// different banks; bytes of the tiles of all staged inputs.
int cuda_tile_pitch(const cuda_variant& v, dtype type) noexcept;
int cuda_tile_bytes(const program& p, const cuda_variant& v) noexcept;
/// reduce_tiles: threads of a block along both kept axes; elements between the rows of an input's slab in shared memory;
/// bytes of all slabs.
inline constexpr int cuda_tile_side = 16;
int cuda_slab_pitch(const cuda_variant& v, dtype type) noexcept;
int cuda_slab_bytes(const program& p, const cuda_variant& v) noexcept;

/// windows: neighbouring results of a thread.
inline constexpr int cuda_window_results = 4;
/// windows: the last element of a thread's results in a row of the window, and the elements of vector accesses to an input.
int cuda_window_reach(const cuda_variant& v, int step) noexcept;
int cuda_window_vector(dtype type) noexcept;

/// Whether a reduction may run as broadcast_rows: its result is bit-identical for any order of its elements.
bool is_order_free(const reduce_desc& r) noexcept;
/// The end of the monotone tail that a broadcast_rows kernel can skip, if its scales are positive and finite.
monotone_tail cuda_tail(const program& p);

/// Appends the bytes of a variant to a key.
void append_variant(const cuda_variant& v, std::string& key);
/// Name of the kernel's entry point: "sn_" + label + a short hash of program and variant.
std::string cuda_kernel_name(const program& p, const cuda_variant& v);
/// Whether a second kernel, named with the suffix "_2", merges the partial results of split reductions.
bool cuda_has_second_stage(const cuda_variant& v) noexcept;
/// One __global__ function (and its second stage if the shape needs one), without the prelude.
std::string emit_cuda(const program& p, const cuda_variant& v);
/// A whole module: the parts of the prelude that are needed, followed by the kernels that emit_cuda made of these
/// programs.
std::string cuda_module(const std::vector<const program*>& programs, const std::string& kernels);
/// All of the prelude's files that the programs may need, for text that does not come from emit_cuda.
std::string cuda_prelude(const std::vector<const program*>& programs);

}  // namespace sinter::jit
