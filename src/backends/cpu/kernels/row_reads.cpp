// Which gathered inputs are rows.
#include "backends/cpu/kernels/row_reads.hpp"

#include <algorithm>

#include "backends/cpu/kernels/kernels.hpp"
#include "jit/program/rewrite/plain_reads.hpp"

namespace sinter::cpu {
namespace {

using jit::instr;
using jit::launch;
using jit::opcode;
using jit::operand;

constexpr std::int64_t least_row = 16;  // bytes

/// Elements of the innermost axes that have one index and lie side by side.
std::int64_t row_of(const launch& l, const operand& source, const operand& indices) {
  std::int64_t elements = 1;
  for (int a = l.extents.size(); a-- > 0;) {
    if (indices.strides[a] != 0 || source.strides[a] != elements) break;
    elements *= l.extents[a];
  }
  return elements;
}

bool is_written(const launch& l, const void* base) {
  return std::any_of(l.outputs.begin(), l.outputs.end(), [&](const operand& o) { return o.base == base; });
}

std::optional<row_read> row_read_of(const launch& l, std::size_t input) {
  const jit::program& p = *l.code;
  if (p.inputs[input].gathers != 1) return std::nullopt;
  const instr* place = &p.code[p.inputs[input].gather[0]];
  const instr* const check = place->op == opcode::checked_index ? place : nullptr;
  if (check) place = &p.code[check->a];
  if (place->op != opcode::load || place->type != dtype::i64 || p.inputs[place->a].gathers != 0) return std::nullopt;
  const operand &source = l.inputs[input], &indices = l.inputs[place->a];
  const auto size = static_cast<std::int64_t>(itemsize(p.inputs[input].type));
  const std::int64_t elements = row_of(l, source, indices);
  if (elements < 2 || elements * size < least_row || is_written(l, source.base) || is_written(l, indices.base))
    return std::nullopt;
  row_read r{input, static_cast<const std::int64_t*>(indices.base) + indices.offset, source.gather_stride[0],
             indices.strides};
  if (check) {
    r.checked = true;
    r.extent = number_of(l, check->b);
    r.axis = number_of(l, check->c);
    if (r.extent <= 0) return std::nullopt;
  }
  return r;
}

core::dims along(const core::dims& from, const core::dims& axes) {
  core::dims out;
  for (const std::int64_t a : axes) out.push_back(from[static_cast<int>(a)]);
  return out;
}

/// Completes a read, of which `outer` has the strides of the indices along all axes, for a walk. False where a block has
/// other parts than one row, or rows equally far apart.
bool fits_walk(row_read& r, const launch& l, const walk_axes& axes) {
  const core::dims block = along(l.extents, axes.block);
  lane_map source, index;
  source.assign(block, along(l.inputs[r.input].strides, axes.block));
  index.assign(block, along(r.outer, axes.block));
  const int rank = source.extents.size();
  if (rank < 1 || rank > 2 || source.strides[rank - 1] != 1) return false;
  if (rank == 1 ? !index.constant : !(index.extents == source.extents) || index.strides[1] != 0) return false;
  r.width = source.extents[rank - 1];
  if (rank == 2) r.index_step = index.strides[0], r.step = source.strides[0];
  r.outer = along(r.outer, axes.outer);
  return true;
}

}  // namespace

std::optional<row_reads> row_reads_of(const launch& l) {
  const jit::program& p = *l.code;
  if (p.kind != jit::kernel_kind::elementwise || p.loop.end != 0 || !p.calls.empty()) return std::nullopt;
  std::vector<row_read> reads;
  std::uint64_t mask = 0;
  for (std::size_t k = 0; k < p.inputs.size() && k < 64; ++k) {
    const auto r = row_read_of(l, k);
    if (!r) continue;
    reads.push_back(*r);
    mask |= std::uint64_t{1} << k;
  }
  if (reads.empty()) return std::nullopt;
  row_reads found{l, std::move(reads)};
  found.plain.code = &jit::plain_program(p, mask);
  for (const row_read& r : found.reads) found.plain.inputs[r.input].gather_stride[0] = 0;
  const walk_axes axes = element_axes(found.plain, true);
  for (row_read& r : found.reads)
    if (!fits_walk(r, found.plain, axes)) return std::nullopt;
  return found;
}

}  // namespace sinter::cpu
