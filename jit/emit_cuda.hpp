// CUDA C++ source for a program. Generated source includes nothing and holds no sizes: those are parameters.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "program.hpp"

namespace sinter::jit {

/// Layout class of an operand: part of the kernel's key.
enum class access : std::uint8_t {
  uniform,     // all strides 0
  linear,      // stride 1 along the linear iteration index, 16-byte aligned: vector accesses
  strided,     // anything else: a stride for each iteration axis
};

enum class cuda_shape : std::uint8_t {
  linear,          // elementwise, rank 1 after merging, all operands uniform or linear: vectors
  strided,         // elementwise, rank 1..4 (general: rank 5 and above, looped)
  reduce_rows,     // the last iteration axes are reduced: a group of threads for each result
  reduce_columns,  // neighbouring results lie next to each other: threads own results
  broadcast_rows,  // every operand depends on the row or the column only: threads own rows, columns stream
};

struct cuda_variant {
  cuda_shape shape = cuda_shape::linear;
  std::uint8_t rank = 1;
  std::uint8_t kept = 1;           // reduce: how many of the axes are kept
  bool wide_index = false;         // 64-bit index arithmetic (DESIGN 4)
  bool skip_tail = false;          // monotone tail with a multiplier whose sign allows the skip
  std::vector<access> inputs, outputs;
  std::vector<std::uint8_t> row_only;  // broadcast_rows: input depends on the row (1), the column (0)
};

/// Name of the kernel's entry point: "sn_" + label + a short hash of program and variant.
std::string cuda_kernel_name(const program& p, const cuda_variant& v);
/// One __global__ function (and its second stage where the shape needs one), without the prelude.
std::string emit_cuda(const program& p, const cuda_variant& v);
/// The prelude parts that the programs need, to stand once in front of the kernels of a module.
std::string cuda_prelude(const std::vector<const program*>& programs);

}  // namespace sinter::jit
