// Launches as kernels are made for: with other programs or other axes than they were recorded with, and the same values.
#include <algorithm>
#include <cstdlib>

#include "jit/cuda/schedule/choose.hpp"
#include "jit/cuda/schedule/legal.hpp"
#include "jit/program/rewrite/apart.hpp"
#include "jit/program/rewrite/common_factor.hpp"
#include "jit/program/rewrite/wrapped_reads.hpp"

namespace sinter::cuda {
namespace {

using jit::launch;
using jit::opcode;

/// Under fast_math: reductions over columns, whose operands depend on the row or on the column.
const launch& without_common_factors(const launch& l, launch& to) {
  if (l.kept != 1 || l.extents.size() != 2 || l.inputs.size() > 64) return l;
  std::uint64_t rows = 0;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const bool over_rows = l.inputs[k].strides[0] != 0, over_columns = l.inputs[k].strides[1] != 0;
    if (over_rows && over_columns) return l;
    if (over_rows) rows |= std::uint64_t{1} << k;
  }
  const jit::program& code = jit::without_common_factors(*l.code, rows);
  if (&code == l.code) return l;
  to = l;
  to.code = &code;
  return to;
}

// --- the order of kept axes

/// Fewer elements than this take the time of a launch, and axes with fewer places share no sectors worth the trouble.
constexpr std::int64_t many_elements = std::int64_t{1} << 16, least_extent = 8;

/// Whether the program's values depend on the operands' elements alone, not on where in the space they are.
bool asks_for_no_place(const jit::program& p) noexcept {
  return p.calls.empty() && std::none_of(p.code.begin(), p.code.end(), [](const jit::instr& i) {
           return i.op == opcode::coord || i.op == opcode::address || jit::is_random(i.op);
         });
}

/// Bytes of sectors that the operands of one element take where neighbouring threads have neighbours along an axis.
std::int64_t sectors_along(const launch& l, int axis) noexcept {
  std::int64_t bytes = 0;
  for (std::size_t k = 0; k < l.inputs.size(); ++k)
    if (in_prologue(*l.code, k))
      bytes += std::min<std::int64_t>(
          std::abs(l.inputs[k].strides[axis]) * static_cast<std::int64_t>(size_of_input(l, k)), 32);
  return bytes;
}

/// The kept axis along which neighbouring results read neighbouring memory, as the first axis of a transposed array does,
/// where neither the last kept axis nor the last reduced one does; -1: there is none.
int nearest_axis(const launch& l) noexcept {
  const std::int64_t now = std::min(sectors_along(l, l.kept - 1), sectors_along(l, l.extents.size() - 1));
  int found = -1;
  std::int64_t least = now / 2;
  for (int j = 0; j + 1 < l.kept; ++j) {
    if (l.extents[j] < least_extent) continue;
    if (const std::int64_t bytes = sectors_along(l, j); bytes <= least) found = j, least = bytes - 1;
  }
  return found;
}

void move_axis(core::dims& of, int from, int to) noexcept {
  std::rotate(of.begin() + from, of.begin() + from + 1, of.begin() + to + 1);
}

/// The order of the results does not matter to any of them: the axis that suits the operands best becomes the last one.
const launch& with_near_results(const launch& l, launch& to) {
  if (l.kept < 2 || l.extents.size() == l.kept || core::element_count(l.extents) < many_elements || !l.wraps.empty() ||
      jit::has_gathers(*l.code) || !asks_for_no_place(*l.code))
    return l;
  const int axis = nearest_axis(l);
  if (axis < 0) return l;
  to = l;
  move_axis(to.extents, axis, l.kept - 1);
  for (auto* operands : {&to.inputs, &to.outputs})
    for (jit::operand& o : *operands) move_axis(o.strides, axis, l.kept - 1);
  return to;
}

// --- a few places beside each other

/// Places, and bytes of them for the four neighbours that a thread has; instructions and operands of a program that are copied for
/// each place; the least extent along which vectors pay.
constexpr std::int64_t most_places = 4, most_bytes_of_places = 48, most_stride_of_places = 8, least_row = 64;
constexpr std::size_t most_copied = 96, most_operands = 16;

/// Whether the elements of some input along this axis lie beside each other, and those along the last one behind them.
bool has_places(const launch& l, int axis) noexcept {
  const int inner = l.extents.size() - 1;
  const std::int64_t places = l.extents[axis];
  if (places < 2 || places > most_places) return false;
  bool any = false;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const std::int64_t along = l.inputs[k].strides[axis], next = l.inputs[k].strides[inner];
    if (std::abs(along) != 1 || next < places || next > most_stride_of_places) continue;
    if (4 * next * static_cast<std::int64_t>(size_of_input(l, k)) > most_bytes_of_places) return false;
    any = true;
  }
  return any;
}

/// Elementwise: what a thread reads by vectors, such as whole pixels, are several results of its.
const launch& with_places_apart(const launch& l, launch& to) {
  const int rank = l.extents.size();
  if (rank < 2 || l.extents[rank - 1] < least_row || core::element_count(l.extents) < many_elements ||
      !l.wraps.empty() || l.code->loop.end != 0 || l.inputs.size() > most_operands || !asks_for_no_place(*l.code))
    return l;
  for (int axis = 0; axis + 1 < rank; ++axis) {
    const auto places = static_cast<std::size_t>(l.extents[axis]);
    if (!has_places(l, axis) || places * l.code->code.size() > most_copied ||
        places * (l.inputs.size() + l.outputs.size()) > most_operands)
      continue;
    jit::take_apart(l, axis, to);
    return to;
  }
  return l;
}

}  // namespace

const launch& lowered(const launch& l, launch& to) {
  if (l.code->kind == jit::kernel_kind::reduce) {
    if (l.code->flags.fast_math) {
      const launch& other = without_common_factors(l, to);
      if (&other != &l) return other;
    }
    return with_near_results(l, to);
  }
  if (l.code->kind != jit::kernel_kind::elementwise) return l;
  if (!jit::has_gathers(*l.code)) return with_places_apart(l, to);
  const std::vector<jit::shifted_input> shifted = jit::shifted_inputs(l);
  if (shifted.empty()) return l;
  jit::unwrap(l, shifted, to);
  to.memo = l.memo;
  return to;
}

}  // namespace sinter::cuda
