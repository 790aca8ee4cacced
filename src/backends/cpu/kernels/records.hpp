// Operands that are components of the same records (points of three coordinates, colours, complex parts beside each other in
// memory): blocks take all components apart, or put them together, in one pass over the memory.
#pragma once
#include <array>
#include <vector>

#include "backends/cpu/kernels/lanes.hpp"
#include "jit/program/launch.hpp"

namespace sinter::cpu {

struct input_plan;
struct output_plan;

inline constexpr int most_components = 4;

/// Which inputs or outputs of a launch have the components; -1: none.
struct record_group {
  int components = 0;
  std::array<int, most_components> member{-1, -1, -1, -1};
};

/// Groups of inputs that are copied block by block, of two components or more. Each member is in one group.
std::vector<record_group> input_records(const std::vector<input_plan>& inputs);
/// Groups of outputs that have all components of their records, and beside which the launch writes nothing to their memory: the
/// order of its writes stays.
std::vector<record_group> output_records(const jit::launch& l, const std::vector<output_plan>& outputs);

}  // namespace sinter::cpu
