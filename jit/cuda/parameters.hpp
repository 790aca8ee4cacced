// The parameters of a generated CUDA kernel, described once: the list of fields determines the struct in the kernel's
// source, its size, and what a launch writes (jit/cuda/launch.cpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jit/cuda/emit.hpp"

namespace sinter::jit {

/// One member of the struct, or one for each axis or gather. A member takes a slot of 8 bytes; extents, complex scalars and divisors
/// take two, divisors of 64 bits three.
struct cuda_field {
  enum class role : std::uint8_t {
    input,           // p<k>: address of the first element of input k
    output,          // w<k>: address of the first element of output k
    scalar,          // q<k>: parameter k of the program; complex: q<k>r and q<k>i
    divisor,         // d<k>: integer parameter k of the program, with the constants for a division by it
    fault,           // where errors in data are reported
    gather_strides,  // h<k>_<j>: stride of gather j of input k
    extents,         // e<j>: extent of axis j, with the constants for a division by it
    input_strides,   // s<k>_<j>: stride of input k along axis j
    output_strides,  // t<k>_<j>: stride of output k along axis j
    wrap,            // y<k>_0, y<k>_1, y<k>_2: turn, before and after of wrap k
    n,               // elements of the iteration space
    outer,           // elements of all axes but the last two
    results,         // elements of the kept axes
    elements,        // elements of the reduced axes
    team,            // size of the thread group of a result
    chunk,           // groups of reduced elements in a split
    splits,          // parts of each result that the second stage merges
    partial,         // address of their partial results
    run_stride,      // g<k>: elements between the places of output k in neighbouring runs of the loop
  };
  role what;
  std::uint8_t members = 1;
  std::uint16_t k = 0;
};

/// Whether an instruction divides integers by a parameter of the program.
bool divides_by_parameter(const program& p, const instr& i) noexcept;
/// Whether an operand (an input, or behind those an output) is the first one with its strides.
inline bool has_own_place(const cuda_variant& v, std::size_t operand) noexcept {
  return v.places.empty() || v.places[operand] == operand;
}
/// The fields in order.
std::vector<cuda_field> cuda_layout(const program& p, const cuda_variant& v);
/// Bytes of the struct.
std::size_t cuda_layout_bytes(const program& p, std::span<const cuda_field> layout) noexcept;
/// "struct args { ... };"
std::string cuda_args_struct(const program& p, const cuda_variant& v);

}  // namespace sinter::jit
