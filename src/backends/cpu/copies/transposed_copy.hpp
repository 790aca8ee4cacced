// Launches that only copy elements, to memory in another order of axes: squares of elements go from one array to the other,
// and no block of lanes lies in between.
#pragma once
#include <optional>

#include "jit/program/launch.hpp"

namespace sinter::cpu {

/// What is copied: `near` elements that are neighbours in the source, `across` that are neighbours in the result, for each
/// point of the outer axes. All strides are in elements.
struct transposed_copy {
  const char* source;
  char* result;
  std::size_t size;  // of an element, bytes
  std::int64_t near, near_in, near_out;
  std::int64_t across, across_in, across_out;
  core::dims outer, outer_in, outer_out;
};

/// Nothing where the launch does anything else, or neighbours of the result are neighbours in the source.
std::optional<transposed_copy> transposed_copy_of(const jit::launch& l);
void run_transposed_copy(const transposed_copy& c);

}  // namespace sinter::cpu
