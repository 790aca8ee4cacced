// Which axes the blocks of an elementwise launch run along.
#include <algorithm>

#include "backends/cpu/kernels/kernels.hpp"
#include "backends/cpu/kernels/panel.hpp"

namespace sinter::cpu {
namespace {

/// Shortest innermost axis that blocks run along where an operand is transposed.
constexpr std::int64_t long_transposed_axis = 32;

/// The axis along which most inputs are transposed with regard to the innermost one, or -1.
int transposed_axis(const jit::launch& l) {
  const int inner = l.extents.size() - 1;
  int most = 0, found = -1;
  for (int a = 0; a < inner; ++a) {
    int count = 0;
    for (std::size_t k = 0; k < l.inputs.size(); ++k) {
      const core::dims& s = l.inputs[k].strides;
      if (l.code->inputs[k].gathers == 0)
        count += suits_panel(s[inner], s[a], l.extents[a], itemsize(l.code->inputs[k].type));
    }
    if (count > most) most = count, found = a;
  }
  return found;
}

constexpr std::int64_t least_flattened = 2048;  // lanes, so that few blocks are not whole

/// How many operands lie one after the other in memory, or repeat, where the axes from `first` on are flattened.
int run_from(const jit::launch& l, int first) {
  int count = 0;
  const auto add = [&](const jit::operand& o) {
    core::dims extents, strides;
    for (int a = first; a < l.extents.size(); ++a) extents.push_back(l.extents[a]), strides.push_back(o.strides[a]);
    lane_map map;
    map.assign(extents, strides);
    count += runs_on(map);
  };
  for (const jit::operand& o : l.inputs) add(o);
  for (const jit::operand& o : l.outputs) add(o);
  return count;
}

/// The first of the axes that are flattened: that from which on most operands do.
int first_flattened(const jit::launch& l, int operands) {
  const int rank = l.extents.size();
  int found = 0, most = rank > 1 ? run_from(l, 0) : 0;
  std::int64_t lanes = core::element_count(l.extents);
  for (int first = 1; first < rank && most < operands; ++first) {
    lanes /= std::max<std::int64_t>(l.extents[first - 1], 1);
    if (lanes < least_flattened) break;
    if (const int count = run_from(l, first); count > most) most = count, found = first;
  }
  return found;
}

constexpr std::int64_t least_in_rows = 48;

/// Whether blocks are rows of fewer elements than a whole block: where most operands lie in one piece along a row but not over
/// several, as slices of a volume. In nanoseconds of an element, about.
bool suits_rows(const jit::launch& l, int flat, int operands) {
  const int rank = l.extents.size();
  if (rank < 2 || l.extents[rank - 1] < least_in_rows || !l.wraps.empty()) return false;
  int pieces = 0;  // operands that a row reads or writes where they are
  for (const auto* some : {&l.inputs, &l.outputs})
    for (const jit::operand& o : *some) pieces += o.strides[rank - 1] == 0 || o.strides[rank - 1] == 1;
  const auto row = static_cast<double>(l.extents[rank - 1]);
  constexpr double block = 40, copied = 15, piece = 8;
  const double by_rows = (block + copied * (operands - pieces)) / row;
  const double whole =
      (block + (copied + piece * jit::block_lanes / row) * (operands - run_from(l, flat))) / jit::block_lanes;
  return by_rows < whole;
}

}  // namespace

// Along the innermost axis where it is long, so that operands that do not vary along it have one value in a block. The
// axis of transposed operands is the last outer one.
walk_axes element_axes(const jit::launch& l, bool row_reads) {
  walk_axes axes;
  const int rank = l.extents.size(), across = transposed_axis(l);
  const int operands = static_cast<int>(l.inputs.size() + l.outputs.size());
  const bool long_enough = rank > 0 && l.extents[rank - 1] >= (across < 0 ? long_axis : long_transposed_axis);
  int first = rank - 1;
  if (!long_enough) {
    const int flat = first_flattened(l, operands);
    if (!suits_rows(l, flat, operands)) first = flat;
  } else if (across < 0 && rank > 1 && l.extents[rank - 1] < repeating_block && !row_reads && l.wraps.empty()) {
    if (const int flat = first_flattened(l, operands); run_from(l, flat) == operands) first = flat;
  }
  const bool panels = long_enough && across >= 0;
  for (int a = 0; a < rank; ++a)
    if (a >= first) axes.block.push_back(a);
    else if (!panels || a != across) axes.outer.push_back(a);
  if (panels) axes.outer.push_back(across);
  return axes;
}

}  // namespace sinter::cpu
