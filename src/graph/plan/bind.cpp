// Merging of iteration axes: the fewer axes, the fewer layouts that kernels must be compiled for.
#include "graph/plan/bind.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "graph/plan/forms/magnitude.hpp"
#include "jit/program/rewrite/narrow.hpp"
#include "jit/program/rewrite/narrow_sums.hpp"
#include "jit/program/scalar.hpp"
#include "jit/program/stages.hpp"

namespace sinter::graph {
namespace {

void bind_operands(const kernel_plan& plan, jit::launch& out) {
  int rank = plan.extents.size();
  out.inputs.resize(plan.inputs.size());
  for (std::size_t k = 0; k < plan.inputs.size(); ++k) {
    const input_slot& s = plan.inputs[k];
    jit::operand& o = out.inputs[k];
    o.base = nullptr;
    o.offset = s.at.offset;
    o.strides = s.at.coefficients;
    o.strides.resize(rank);
    int used = 0;
    for (int v = rank; v < s.at.coefficients.size(); ++v)
      if (s.at.coefficients[v] != 0) o.gather_stride[used++] = s.at.coefficients[v];
  }
  const auto outputs = static_cast<std::size_t>(outputs_of(plan));
  out.outputs.resize(plan.results.size() * outputs);
  dims kept(plan.extents.data(), plan.kept);
  dims dense = core::contiguous_strides(plan.apart < 0 ? kept : plan.results[0]->shape);
  if (plan.apart >= 0) dense.erase(plan.apart);
  const dims whole = core::contiguous_strides(plan.extents);
  for (std::size_t k = 0; k < out.outputs.size(); ++k) {
    jit::operand& o = out.outputs[k];
    const payload::update* update = plan.kind == plan_kind::update ? &plan.results[k]->update() : nullptr;
    o.base = nullptr;
    o.offset = update ? update->offset : static_cast<std::int64_t>(k % outputs) * between_outputs(plan);
    const bool elements = plan.kind == plan_kind::staged && !jit::is_per_row(plan.code, plan.code.outputs[k].reg);
    o.strides = update ? update->strides : elements ? whole : dense;
    o.strides.resize(rank, 0);
  }
}

template <class F>
void each_operand(jit::launch& l, F f) {
  for (auto& o : l.inputs) f(o.strides);
  for (auto& o : l.outputs) f(o.strides);
}

/// The position in the merged space: with one axis, its coordinate.
std::uint16_t bound_position(const dims& extents, int axes) {
  int found = 0, count = 0;
  for (int a = 0; a < axes; ++a)
    if (extents[a] != 1) found = a, ++count;
  return static_cast<std::uint16_t>(count > 1 ? extents.size() : found);
}

bool reads_position(const jit::program& p) {
  return std::any_of(p.code.begin(), p.code.end(),
                     [](auto& i) { return i.op == jit::opcode::coord && i.a == jit::flat_axis; });
}

/// Brings the axes of an update into the order of the region's memory, the contiguous one last, so that a transposed
/// region is written as any other.
void follow_memory(jit::launch& l, dims& extents, dims& origin) {
  const auto swap = [](dims& d, int a) { std::swap(d[a], d[a + 1]); };
  for (int n = extents.size() - 1; n > 0; --n)
    for (int a = 0; a < n; ++a) {
      const dims& strides = l.outputs.front().strides;
      if (std::abs(strides[a]) >= std::abs(strides[a + 1])) continue;
      swap(extents, a);
      swap(origin, a);
      each_operand(l, [&](dims& s) { swap(s, a); });
    }
}

/// Whether the values of a reduction depend on the operands' elements alone, not on where in the space they are.
bool asks_for_no_place(const kernel_plan& plan) {
  return plan.apart < 0 && plan.code.calls.empty() &&
         std::none_of(plan.inputs.begin(), plan.inputs.end(), [](const input_slot& s) { return s.raw; }) &&
         std::none_of(plan.code.inputs.begin(), plan.code.inputs.end(), [](auto& in) { return in.gathers != 0; }) &&
         std::none_of(plan.code.code.begin(), plan.code.code.end(), [](const jit::instr& i) {
           return i.op == jit::opcode::coord || i.op == jit::opcode::address || jit::is_random(i.op);
         });
}

/// Brings the kept axes of a reduction on the host into the order in which what it reads lies in memory, the nearest one last, as
/// far as all operands agree: rows that are short, and columns, are then read in pieces. The order of the results does not matter
/// to any of them.
void follow_operands(jit::launch& l, dims& extents, dims& origin, int kept) {
  constexpr std::int64_t least = 1 << 14;
  if (kept < 2 || core::element_count(extents) < least) return;
  const auto is_nearer = [&](int a, int b) {  // axis a for some operand, and no other one
    bool any = false;
    for (const jit::operand& o : l.inputs) {
      const std::int64_t left = std::abs(o.strides[a]), right = std::abs(o.strides[b]);
      if (left == 0 || right == 0) {
        if (left != right) return false;
        continue;
      }
      if (right < left) return false;
      any = any || left < right;
    }
    return any;
  };
  for (int n = kept - 1; n > 0; --n)
    for (int a = 0; a < n; ++a) {
      if (!is_nearer(a, a + 1)) continue;
      std::swap(extents[a], extents[a + 1]);
      std::swap(origin[a], origin[a + 1]);
      each_operand(l, [&](dims& s) { std::swap(s[a], s[a + 1]); });
    }
}

/// Coordinates, and what is made of them, in 32 bits where they fit; on the host what is made of narrow numbers too, and their sums.
void narrow(kernel_plan& plan) {
  std::vector<jit::number_range> ranges(plan.params.size());
  for (std::size_t k = 0; k < ranges.size(); ++k) {
    if (plan.code.param_types[k] != dtype::i64) continue;
    if (k < plan.sources.size() && plan.sources[k].n) {
      const node& n = *plan.sources[k].n;
      if (n.kind.load(std::memory_order_relaxed) == node_kind::scalar) ranges[k] = range_of_magnitude(magnitude_of(n));
    } else {  // it follows from shapes
      std::int64_t v = 0;
      jit::write_register(&v, dtype::i64, plan.params[k]);
      ranges[k] = {v, v};
    }
  }
  constexpr std::int64_t least = 8192;  // elements, below which another kernel costs more
  const bool on_host = !plan.results.empty() && plan.results[0]->device.kind == runtime::device_kind::cpu;
  const bool widen = on_host && core::element_count(plan.extents) >= least;
  jit::narrow_integers(plan.code, plan.extents, ranges, widen);
  if (!widen || plan.kind != plan_kind::reduce) return;
  std::int64_t count = 1;
  for (int a = plan.kept; a < plan.extents.size(); ++a) count *= plan.extents[a];
  jit::narrow_sums(plan.code, count);
}

}  // namespace

void bind(kernel_plan& plan, jit::launch& out) {
  narrow(plan);
  bind_operands(plan, out);
  out.code = &plan.code;
  out.params = plan.params;
  out.reduces_last = plan.reduces_last;
  out.all_results = plan.whole.results;
  out.split_lanes = plan.whole.split_lanes;
  int rank = plan.extents.size();
  std::uint64_t coordinates = 0;  // axes whose coordinate the program reads
  bool any_coord = false;
  for (const jit::instr& i : plan.code.code) {
    if (i.op != jit::opcode::coord) continue;
    any_coord = true;
    if (i.a != jit::flat_axis) coordinates |= std::uint64_t{1} << i.a;
  }

  dims extents = plan.extents;
  dims origin(rank);  // the planned axis that a merged one came from
  for (int a = 0; a < rank; ++a) origin[a] = a;
  if (plan.kind == plan_kind::update && plan.code.calls.empty() && !reads_position(plan.code))
    follow_memory(out, extents, origin);
  if (plan.kind == plan_kind::reduce && plan.results[0]->device.kind == runtime::device_kind::cpu &&
      asks_for_no_place(plan))
    follow_operands(out, extents, origin, plan.kept);
  int kept = plan.kept;
  auto erase = [&](int a) {
    extents.erase(a);
    origin.erase(a);
    each_operand(out, [a](dims& s) { s.erase(a); });
    if (a < kept) --kept;
  };
  auto named = [&](int a) { return (coordinates >> origin[a] & 1) != 0; };
  for (int a = extents.size() - 1; a >= 0; --a)
    if (extents[a] == 1 && !named(a)) erase(a);
  for (int a = extents.size() - 2; a >= 0; --a) {
    if (a + 1 == kept || named(a) || named(a + 1)) continue;
    bool mergeable = true;
    each_operand(out, [&](dims& s) { mergeable = mergeable && s[a] == s[a + 1] * extents[a + 1]; });
    if (!mergeable) continue;
    extents[a + 1] *= extents[a];
    erase(a);
  }
  const bool over_rows = plan.kind == plan_kind::reduce || plan.kind == plan_kind::staged;
  if (extents.empty() || (over_rows && kept == extents.size())) {
    // Backends expect at least one axis to iterate over, and a reduction an axis to reduce.
    extents.push_back(1);
    origin.push_back(-1);
    each_operand(out, [](dims& s) { s.push_back(0); });
    if (!over_rows) kept = extents.size();
  }
  if (over_rows && kept == 0) {
    extents.insert(0, 1);
    origin.insert(0, -1);
    each_operand(out, [](dims& s) { s.insert(0, 0); });
    kept = 1;
  }
  for (std::size_t k = 0; any_coord && k < plan.code.code.size(); ++k) {
    jit::instr& i = plan.code.code[k];
    if (i.op != jit::opcode::coord) continue;
    if (i.a == jit::flat_axis) {
      const bool of_results = plan.kind == plan_kind::reduce && k >= plan.code.epilogue;
      i.a = bound_position(extents, of_results ? kept : extents.size());
      continue;
    }
    for (int a = 0; a < origin.size(); ++a)
      if (origin[a] == i.a) {
        i.a = static_cast<std::uint16_t>(a);
        break;
      }
  }
  out.extents = std::move(extents);
  out.kept = kept;
}

}  // namespace sinter::graph
