// Which launches copy rows, and the copies.
#include "backends/cpu/kernels/row_gather.hpp"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/kernels.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

using jit::instr;
using jit::launch;
using jit::opcode;
using jit::operand;

constexpr std::int64_t least_row = 16;  // bytes

/// The first of the innermost axes that make one row, and the row's elements.
struct row_axes {
  int first;
  std::int64_t elements = 1;
};
row_axes row_axes_of(const launch& l, const operand& source, const operand& indices, const operand& result) {
  row_axes r{l.extents.size()};
  for (; r.first > 0; --r.first) {
    const int a = r.first - 1;
    if (indices.strides[a] != 0 || source.strides[a] != r.elements || result.strides[a] != r.elements) break;
    r.elements *= l.extents[a];
  }
  return r;
}

lane_map map_of(const launch& l, const operand& o, int axes) {
  lane_map map;
  map.assign(core::dims(l.extents.data(), axes), core::dims(o.strides.data(), axes));
  return map;
}

void copy_rows(const row_gather& g, std::int64_t start, int n, int* fault) {
  std::int64_t index[jit::block_lanes], from[jit::block_lanes], to[jit::block_lanes];
  load_lanes(index, g.indices, dtype::i64, g.index_map, start, n, n);
  if (g.checked) jit::checked_lanes(index, index, &g.extent, &g.axis, n, fault);
  fill_offsets(from, 0, g.source_map, start, n, n);
  fill_offsets(to, 0, g.result_map, start, n, n);
  const auto bytes = static_cast<std::size_t>(g.row_bytes);
  for (int l = 0; l < n; ++l)
    copy_row(g.result + to[l] * g.size, g.source + (from[l] + index[l] * g.gather_stride) * g.size, bytes);
}

}  // namespace

std::optional<row_gather> row_gather_of(const launch& l) {
  const jit::program& p = *l.code;
  if (p.kind != jit::kernel_kind::elementwise || p.outputs.size() != 1 || p.loop.end != 0 || !p.calls.empty())
    return std::nullopt;
  const instr& read = p.code[p.outputs[0].reg];
  if (read.op != opcode::load || p.inputs[read.a].gathers != 1) return std::nullopt;
  const instr* place = &p.code[p.inputs[read.a].gather[0]];
  const instr* const check = place->op == opcode::checked_index ? place : nullptr;
  if (check) place = &p.code[check->a];
  if (place->op != opcode::load || place->type != dtype::i64 || p.inputs[place->a].gathers != 0) return std::nullopt;
  const operand &source = l.inputs[read.a], &indices = l.inputs[place->a], &result = l.outputs[0];
  if (result.base == source.base || result.base == indices.base) return std::nullopt;
  const auto size = static_cast<std::int64_t>(itemsize(read.type));
  const row_axes row = row_axes_of(l, source, indices, result);
  const std::int64_t rows = core::element_count(core::dims(l.extents.data(), row.first));
  // Where no element is read, no index is checked against an extent of 0.
  if (row.elements * size < least_row || rows == 0 || (check && number_of(l, check->b) <= 0)) return std::nullopt;
  row_gather g{
      static_cast<const char*>(source.base) + source.offset * size,
      static_cast<const char*>(indices.base) + indices.offset * static_cast<std::int64_t>(sizeof(std::int64_t)),
      static_cast<char*>(result.base) + result.offset * size,
      row.elements * size,
      size,
      source.gather_stride[0],
      rows,
      map_of(l, source, row.first),
      map_of(l, indices, row.first),
      map_of(l, result, row.first)};
  if (check) {
    g.checked = true;
    g.extent = number_of(l, check->b);
    g.axis = number_of(l, check->c);
  }
  return g;
}

void run_row_gather(const row_gather& g, int* fault) {
  const std::int64_t each = std::clamp<std::int64_t>((1 << 16) / g.row_bytes, 1, jit::block_lanes);
  const double time = static_cast<double>(g.rows) * (4 + 0.1 * static_cast<double>(g.row_bytes));
  runtime::parallel_for((g.rows + each - 1) / each, time, [&](std::int64_t task) {
    fault_record mine;
    const std::int64_t start = task * each;
    copy_rows(g, start, static_cast<int>(std::min(each, g.rows - start)), mine.words);
    merge_fault(fault, mine);
  });
}

}  // namespace sinter::cpu
