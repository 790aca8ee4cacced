// Launches in parts, and reductions with wraps.
#include "backends/cpu/kernels/segments.hpp"

#include <algorithm>
#include <optional>

#include "backends/cpu/kernels/kernels.hpp"
#include "jit/program/monotone_tail.hpp"
#include "jit/program/rewrite/plain_reads.hpp"
#include "jit/program/rewrite/wrapped_reads.hpp"

namespace sinter::cpu {
namespace {

using jit::instr;
using jit::launch;
using jit::opcode;
using jit::program;
using jit::shifted_index;
using jit::shifted_input;

constexpr std::int64_t most_parts = 64, least_part = 1024;  // elements of a part, on average

/// The coordinates along an axis at which parts begin, and the extent.
std::vector<std::int64_t> cuts_of(const launch& l, const std::vector<shifted_input>& inputs, int axis) {
  std::vector<std::int64_t> cuts{0, l.extents[axis]};
  for (const shifted_input& s : inputs)
    for (int g = 0; g < s.count; ++g)
      if (s.index[g].axis == axis && s.index[g].turn > 0 && s.index[g].turn < l.extents[axis])
        cuts.push_back(s.index[g].turn);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

/// The part of `l` from `begin` on, with these extents.
launch part_of(const launch& l, const program* code, const std::vector<shifted_input>& inputs, const core::dims& begin,
               const core::dims& extents) {
  launch part = l;
  part.code = code;
  part.extents = extents;
  for (const shifted_input& s : inputs) {
    jit::operand& o = part.inputs[s.input];
    for (int g = 0; g < s.count; ++g) {
      const shifted_index& i = s.index[g];
      const std::int64_t wrap = begin[i.axis] < i.turn ? i.before : i.after;
      o.offset += o.gather_stride[g] * (i.start + wrap);
      o.strides[i.axis] += o.gather_stride[g] * i.slope;
      o.gather_stride[g] = 0;
    }
  }
  const auto move = [&](jit::operand& o) {
    for (int a = 0; a < begin.size(); ++a) o.offset += o.strides[a] * begin[a];
  };
  for (jit::operand& o : part.inputs) move(o);
  for (jit::operand& o : part.outputs) move(o);
  return part;
}

/// Whether coordinates would still take part.
bool reads_coordinates(const program& p) {
  return std::any_of(p.code.begin(), p.code.end(), [](const instr& i) { return i.op == opcode::coord; });
}

/// Whether an input is read for the elements only, and nothing writes its memory.
bool serves_elements(const launch& l, std::size_t input) {
  const program& p = *l.code;
  for (std::size_t k = p.epilogue; k < p.code.size(); ++k)
    if (p.code[k].op == opcode::load && p.code[k].a == input) return false;
  return std::none_of(l.outputs.begin(), l.outputs.end(), [&](const jit::operand& o) {
    return o.base && o.base == l.inputs[input].base;
  });  // null where nothing runs
}

/// Whether a read wraps at most once in a block of the walk, along its only axis.
bool fits_walk(const launch& l) {
  const walk_axes axes = shape_of(l).axes;
  const auto in_block = [&](const jit::wrap& x) {
    return std::count(axes.block.begin(), axes.block.end(), x.axis) > 0;
  };
  const int most = axes.block.size() == 1 ? 1 : 0;
  return std::all_of(l.wraps.begin(), l.wraps.end(), [&](const jit::wrapped_read& r) {
    return std::count_if(r.wraps, r.wraps + r.count, in_block) <= most;
  });
}

}  // namespace

std::optional<launch> without_wrapped_gathers(const launch& l) {
  const program& p = *l.code;
  if (p.kind != jit::kernel_kind::reduce || !has_gathers(p) || !p.combines.empty() || jit::has_tail(p) ||
      core::element_count(l.extents) < least_part)
    return std::nullopt;
  std::vector<shifted_input> reads = jit::shifted_inputs(l);
  std::erase_if(reads, [&](const shifted_input& s) { return !serves_elements(l, s.input); });
  if (reads.empty()) return std::nullopt;
  launch plain;
  jit::unwrap(l, reads, plain);
  return fits_walk(plain) ? std::optional(std::move(plain)) : std::nullopt;
}

std::vector<launch> plain_parts_of(const launch& l) {
  const program& p = *l.code;
  if (p.kind != jit::kernel_kind::elementwise || !has_gathers(p)) return {};
  const std::int64_t elements = core::element_count(l.extents);
  if (elements < least_part) return {};
  const std::vector<shifted_input> inputs = jit::shifted_inputs(l);
  if (inputs.empty()) return {};
  std::vector<std::vector<std::int64_t>> cuts;
  std::int64_t parts = 1;
  for (int a = 0; a < l.extents.size(); ++a) {
    cuts.push_back(cuts_of(l, inputs, a));
    parts *= static_cast<std::int64_t>(cuts.back().size()) - 1;
    if (parts > most_parts || parts * least_part > elements) return {};
  }
  std::uint64_t mask = 0;
  for (const shifted_input& s : inputs) mask |= std::uint64_t{1} << s.input;
  const program& code = jit::plain_program(p, mask);
  if (reads_coordinates(code)) return {};
  std::vector<launch> out;
  core::dims begin = l.extents, extents = l.extents;
  for (std::int64_t k = 0; k < parts; ++k) {
    std::int64_t rest = k;
    for (int a = l.extents.size() - 1; a >= 0; --a) {
      const auto& c = cuts[static_cast<std::size_t>(a)];
      const auto pieces = static_cast<std::int64_t>(c.size()) - 1;
      const auto at = static_cast<std::size_t>(rest % pieces);
      rest /= pieces;
      begin[a] = c[at];
      extents[a] = c[at + 1] - c[at];
    }
    out.push_back(part_of(l, &code, inputs, begin, extents));
  }
  return out;
}

}  // namespace sinter::cpu
