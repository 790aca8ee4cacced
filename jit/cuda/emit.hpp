// jit/cuda: programs on a GPU: the CUDA C++ that is generated, the layouts and launches that it is generated for,
// NVRTC. No call of the CUDA runtime or driver: everything here runs without a GPU.
//
// CUDA C++ source for a program. Generated source includes nothing and holds no sizes: those are parameters.
#pragma once
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
};

enum class cuda_shape : std::uint8_t {
  linear,          // elementwise, rank 1 after merging, all operands uniform or linear: vectors
  strided,         // elementwise, any rank: inner axis on threadIdx.x, several rows a thread
  reduce_rows,     // the last iteration axes are reduced: a group of threads for each result
  reduce_columns,  // neighbouring results lie next to each other: threads own results
  broadcast_rows,  // every operand depends on the row or the column only: threads own rows, columns stream
  stride_loop,     // a user's function with text around its loop, any rank: elements dealt to threads one by one
};

struct cuda_variant {
  cuda_shape shape = cuda_shape::linear;
  std::uint8_t rank = 1;
  std::uint8_t kept = 1;  // elementwise: the rank; reduce: how many of the axes are kept
  // Elements of a vector access where the shape leaves a choice; reduce_rows: those of a group where rows are whole groups
  // and elements ask for their position in the whole space.
  std::uint8_t vector = 1;
  bool wide_index = false;  // 64-bit index arithmetic (DESIGN 4)
  bool skip_tail = false;   // monotone tail with a multiplier whose sign allows the skip
  bool lean = false;        // compiles in two thirds of the time, and runs slower: see cuda_has_lean
  std::vector<access> inputs, outputs;
  std::vector<std::uint8_t> row_only;  // broadcast_rows: input depends on the row (1), the column (0)
};

/// Threads of a block, in all shapes.
inline constexpr int cuda_block = 256;
/// Consecutive reduced elements that a thread combines at a time: fixed, as the order of floating-point sums rests on
/// it.
inline constexpr int cuda_group = 4;
/// broadcast_rows: columns of a thread in one step. Eight would run 3% faster and take 20% longer to compile.
inline constexpr int cuda_columns = 4;
/// Most bytes of the partial result of one reduction between the two stages.
inline constexpr int cuda_partial_bytes = 32;

/// stride_loop: blocks for each multiprocessor.
inline constexpr int cuda_loop_blocks = 8;

/// Elements of the vectors of a linear kernel: 16 bytes of the widest operand; 1 where a user's function reads by index,
/// since neighbouring threads then had better have neighbouring elements.
int cuda_vector_length(const program& p);
/// linear: vectors of a thread; strided: rows of a thread (elements a block apart at rank 1).
int cuda_unroll(const program& p, const cuda_variant& v);

/// Whether a reduction may run as broadcast_rows: the order of its elements does not matter to the bit.
bool is_order_free(const reduce_desc& r) noexcept;
/// The end of the monotone tail that a broadcast_rows kernel can skip, if its scales are positive and finite.
monotone_tail cuda_tail(const program& p);

/// Whether there is a lean form of a kernel: the same bits, where sine and cosine of float32 take most of the
/// compiler's time. It knows those only as a function that is called, and takes elements one by one where the order is
/// free.
bool cuda_has_lean(const program& p, const cuda_variant& v) noexcept;

/// Appends the bytes of a variant to a key.
void append_variant(const cuda_variant& v, std::string& key);
/// Name of the kernel's entry point: "sn_" + label + a short hash of program and variant.
std::string cuda_kernel_name(const program& p, const cuda_variant& v);
/// Whether a second kernel, named with the suffix "_2", merges the partial results of split reductions.
bool cuda_has_second_stage(const cuda_variant& v) noexcept;
/// One __global__ function (and its second stage where the shape needs one), without the prelude.
std::string emit_cuda(const program& p, const cuda_variant& v);
/// A whole module: in front of the kernels that emit_cuda made of these programs, what they need of the prelude.
std::string cuda_module(const std::vector<const program*>& programs, const std::string& kernels);
/// All of the prelude's files that the programs may need, for text that does not come from emit_cuda.
std::string cuda_prelude(const std::vector<const program*>& programs);

}  // namespace sinter::jit
