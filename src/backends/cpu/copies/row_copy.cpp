// Which launches copy rows, and the copies.
#include "backends/cpu/copies/row_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/cpu/kernels/block_plan.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

using jit::instr;
using jit::launch;
using jit::opcode;
using jit::operand;

constexpr std::int64_t short_row = 64;     // bytes, below which a call costs as much as blocks of lanes do
constexpr std::int64_t piece = 128 << 10;  // bytes of a long row that are copied at a time
constexpr std::int64_t task_bytes = 1 << 16;
constexpr double byte_time = 0.1, row_time = 5;  // nanoseconds

/// From some kilobytes on the C library moves bytes by the processor's string instruction. Where both sides lie at almost the same
/// place of a page, as in a roll, that takes several times as long as loads and stores, which serve less.
void copy_bytes(char* to, const char* from, std::int64_t n) {
  constexpr std::int64_t by_loads = 1984;
  const auto apart =
      static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from));
  const std::int64_t each = apart % 64 == 0 ? n : by_loads;
  for (std::int64_t at = 0; at < n; at += each)
    std::memcpy(to + at, from + at, static_cast<std::size_t>(std::min(each, n - at)));
}

}  // namespace

bool copies_rows(const launch& l) noexcept {
  const jit::program& p = *l.code;
  if (p.kind != jit::kernel_kind::elementwise || p.outputs.size() != 1 || p.loop.end != 0) return false;
  const instr& read = p.code[p.outputs[0].reg];
  if (read.op != opcode::load || p.inputs[read.a].gathers != 0 || p.outputs[0].type != p.inputs[read.a].type)
    return false;
  const operand &source = l.inputs[read.a], &result = l.outputs[0];
  const int last = l.extents.size() - 1;
  if (!p.calls.empty() || !l.wraps.empty() || source.base == result.base || last < 0) return false;
  if (source.strides[last] != 1 || result.strides[last] != 1) return false;
  return l.extents[last] * static_cast<std::int64_t>(itemsize(p.outputs[0].type)) >= short_row;
}

std::optional<row_copy> row_copy_of(const launch& l) {
  if (!copies_rows(l)) return std::nullopt;
  const jit::program& p = *l.code;
  const operand &source = l.inputs[p.code[p.outputs[0].reg].a], &result = l.outputs[0];
  const int last = l.extents.size() - 1;
  const auto size = static_cast<std::int64_t>(itemsize(p.outputs[0].type));
  row_copy c{static_cast<const char*>(source.base) + source.offset * size,
             static_cast<char*>(result.base) + result.offset * size,
             l.extents[last] * size,
             {},
             {},
             {}};
  for (int a = 0; a < last; ++a) {
    c.outer.push_back(l.extents[a]);
    c.outer_in.push_back(source.strides[a] * size);
    c.outer_out.push_back(result.strides[a] * size);
  }
  return c;
}

void run_row_copy(const row_copy& c) {
  const std::int64_t along = (c.bytes + piece - 1) / piece, pieces = core::element_count(c.outer) * along;
  const std::int64_t each = std::max<std::int64_t>(1, task_bytes / std::min(c.bytes, piece));
  const double time = static_cast<double>(pieces) * (row_time + byte_time * static_cast<double>(c.bytes / along));
  runtime::parallel_for((pieces + each - 1) / each, time, [&](std::int64_t task) {
    for (std::int64_t k = task * each; k < std::min(pieces, (task + 1) * each); ++k) {
      std::int64_t place[core::max_rank + 1];
      unravel(k / along, c.outer, place);
      const std::int64_t first = k % along * piece;
      std::int64_t in = first, out = first;
      for (int a = 0; a < c.outer.size(); ++a) in += place[a] * c.outer_in[a], out += place[a] * c.outer_out[a];
      copy_bytes(c.result + out, c.source + in, std::min(piece, c.bytes - first));
    }
  });
}

}  // namespace sinter::cpu
