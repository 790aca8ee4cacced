#include "backends/cpu/constant_steps.hpp"

#include <algorithm>

#include "backends/cpu/kernels/kernels.hpp"
#include "backends/cpu/stream.hpp"
#include "jit/program/loop_runs.hpp"

namespace sinter::cpu {
namespace {

using memory = runtime::unchanged_memory;

bool any_overlap(std::span<const memory> some, std::span<const memory> others) noexcept {
  return std::any_of(some.begin(), some.end(), [&](const memory& a) {
    return std::any_of(others.begin(), others.end(), [&](const memory& b) { return overlap(a, b); });
  });
}

memory memory_of(const jit::operand& o, const core::dims& extents, std::size_t size) {
  std::int64_t first = o.offset, last = o.offset;
  for (int a = 0; a < extents.size(); ++a) (o.strides[a] < 0 ? first : last) += (extents[a] - 1) * o.strides[a];
  const auto bytes = static_cast<std::int64_t>(size);
  return {static_cast<const char*>(o.base) + first * bytes, static_cast<std::size_t>((last - first + 1) * bytes)};
}

/// Whether a launch reads and writes at the places that its operands' strides give.
bool has_plain_places(const recorded_step& s) {
  const jit::program& p = s.code;
  if (s.prepared->steps || !p.calls.empty() || jit::stores_in_runs(p)) return false;
  return std::none_of(p.code.begin(), p.code.end(), [](const jit::instr& i) { return i.op == jit::opcode::address; });
}

}  // namespace

bool overlap(const memory& a, const memory& b) noexcept {
  const auto *from = static_cast<const char*>(a.begin), *other = static_cast<const char*>(b.begin);
  return from < other + b.bytes && other < from + a.bytes;
}

step_memory memory_of(const recorded_step& s) {
  step_memory m;
  if (!s.prepared) {
    if (s.call) return s.of_call;
    m.reads.push_back({s.from, s.bytes});
    m.writes.push_back({s.to, s.bytes});
    m.knows_reads = m.knows_writes = true;
    return m;
  }
  const jit::program& p = s.code;
  const jit::launch& l = s.how;
  if (core::element_count(l.extents) == 0) {
    m.knows_writes = l.kept == l.extents.size();
    return m;
  }
  if (!has_plain_places(s)) return m;
  m.knows_writes = m.knows_reads = true;
  for (std::size_t k = 0; k < l.outputs.size(); ++k)
    m.writes.push_back(memory_of(l.outputs[k], l.extents, itemsize(p.outputs[k].type)));
  if (p.kind == jit::kernel_kind::reduce)
    if (const std::size_t bytes = reduce_scratch(l)) m.writes.push_back({s.to, bytes});
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    if (p.inputs[k].gathers != 0) m.knows_reads = false;
    m.reads.push_back(memory_of(l.inputs[k], l.extents, itemsize(p.inputs[k].type)));
  }
  return m;
}

std::vector<std::size_t> steps_to_repeat(std::span<const step_memory> steps, std::span<const memory> changing) {
  const std::size_t n = steps.size();
  std::vector<char> varies(n, 0);
  std::vector<std::size_t> found;
  bool all = false;
  for (const step_memory& s : steps) all = all || !s.knows_writes;
  // What a step reads must not be written by itself or by a later one, nor by an earlier one that varies.
  const auto must_vary = [&](std::size_t k) {
    const step_memory& s = steps[k];
    if (all || !s.knows_reads || any_overlap(s.reads, changing) || any_overlap(s.writes, changing)) return true;
    for (std::size_t j = 0; j < n; ++j) {
      if ((j >= k || varies[j]) && any_overlap(s.reads, steps[j].writes)) return true;
      if (j != k && any_overlap(s.writes, steps[j].writes)) return true;
    }
    return false;
  };
  for (bool more = true; more;) {
    more = false;
    for (std::size_t k = 0; k < n; ++k)
      if (!varies[k] && must_vary(k)) varies[k] = 1, more = true;
  }
  for (std::size_t k = 0; k < n; ++k)
    if (varies[k]) found.push_back(k);
  return found;
}

}  // namespace sinter::cpu
