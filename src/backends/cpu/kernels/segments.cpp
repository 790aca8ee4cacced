// Which index registers are affine, and where they wrap.
#include "backends/cpu/kernels/segments.hpp"

#include <algorithm>
#include <optional>

#include "backends/cpu/kernels/kernels.hpp"
#include "backends/cpu/kernels/plain_reads.hpp"
#include "jit/program/monotone_tail.hpp"

namespace sinter::cpu {
namespace {

using jit::instr;
using jit::launch;
using jit::opcode;
using jit::program;

constexpr std::int64_t most_parts = 64, least_part = 1024;  // elements of a part, on average

/// slope * coordinate(axis) + start; without an axis a constant.
struct affine {
  int axis = -1;
  std::int64_t slope = 0, start = 0;
};

std::optional<affine> sum_of(const affine& a, const affine& b, std::int64_t sign) {
  if (a.axis >= 0 && b.axis >= 0 && a.axis != b.axis) return std::nullopt;
  affine r{std::max(a.axis, b.axis), 0, 0};
  std::int64_t slope = 0, start = 0;
  if (__builtin_mul_overflow(b.slope, sign, &slope) || __builtin_add_overflow(a.slope, slope, &r.slope) ||
      __builtin_mul_overflow(b.start, sign, &start) || __builtin_add_overflow(a.start, start, &r.start))
    return std::nullopt;
  return r;
}

std::optional<affine> affine_of(const launch& l, std::uint16_t reg) {
  const instr& i = l.code->code[reg];
  if (i.type != dtype::i64) return std::nullopt;
  if (i.op == opcode::coord) return i.a < l.extents.size() ? std::optional(affine{i.a, 1, 0}) : std::nullopt;
  if (i.op == opcode::param) return affine{-1, 0, number_of(l, i.a)};
  if ((i.op != opcode::add && i.op != opcode::subtract) || i.arg != dtype::i64) return std::nullopt;
  const auto a = affine_of(l, i.a), b = affine_of(l, i.b);
  return a && b ? sum_of(*a, *b, i.op == opcode::add ? 1 : -1) : std::nullopt;
}

/// An index of a gathered read: from coordinate `turn` on, `after` is added to it, before that `before`.
struct shifted_index {
  affine form;
  std::int64_t turn = 0, before = 0, after = 0;
};

std::optional<shifted_index> index_of(const launch& l, std::uint16_t reg) {
  const instr& i = l.code->code[reg];
  const bool checked = i.op == opcode::checked_index;
  const auto form = affine_of(l, checked ? i.a : reg);
  if (!form || form->axis < 0 || (form->slope != 1 && form->slope != -1)) return std::nullopt;
  shifted_index s{*form};
  if (!checked) return s;
  const std::int64_t extent = number_of(l, i.b), last = l.extents[form->axis] - 1;
  std::int64_t end = 0;
  if (__builtin_add_overflow(form->start, form->slope * last, &end)) return std::nullopt;
  const std::int64_t low = std::min(form->start, end), high = std::max(form->start, end);
  if (low < -extent || high >= extent) return std::nullopt;  // the check finds it
  // Negative before the turn where the index grows, from the turn on where it falls.
  const std::int64_t turn = form->slope > 0 ? -form->start : form->start + 1;
  s.turn = std::clamp<std::int64_t>(turn, 0, last + 1);
  (form->slope > 0 ? s.before : s.after) = extent;
  return s;
}

struct shifted_input {
  std::size_t input = 0;
  int count = 0;
  shifted_index index[2];
};

/// The gathered inputs whose indices are all affine.
std::vector<shifted_input> shifted_inputs(const launch& l) {
  std::vector<shifted_input> found;
  for (std::size_t k = 0; k < l.inputs.size() && k < 64; ++k) {
    const jit::input_desc& in = l.code->inputs[k];
    shifted_input s{k, in.gathers, {}};
    bool fits = in.gathers > 0;
    for (int g = 0; fits && g < in.gathers; ++g) {
      const auto index = index_of(l, in.gather[g]);
      fits = index.has_value();
      if (fits) s.index[g] = *index;
    }
    if (fits) found.push_back(s);
  }
  return found;
}

/// The coordinates along an axis at which parts begin, and the extent.
std::vector<std::int64_t> cuts_of(const launch& l, const std::vector<shifted_input>& inputs, int axis) {
  std::vector<std::int64_t> cuts{0, l.extents[axis]};
  for (const shifted_input& s : inputs)
    for (int g = 0; g < s.count; ++g)
      if (s.index[g].form.axis == axis && s.index[g].turn > 0 && s.index[g].turn < l.extents[axis])
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
      const std::int64_t wrap = begin[i.form.axis] < i.turn ? i.before : i.after;
      o.offset += o.gather_stride[g] * (i.form.start + wrap);
      o.strides[i.form.axis] += o.gather_stride[g] * i.form.slope;
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

/// The read without its gathers: o's strides and offset become those of the part without wraps.
wrapped_read unwrap(const shifted_input& s, jit::operand& o) {
  wrapped_read r{s.input, s.count, {}};
  for (int g = 0; g < s.count; ++g) {
    const shifted_index& i = s.index[g];
    const std::int64_t stride = o.gather_stride[g];
    o.offset += stride * i.form.start;
    o.strides[i.form.axis] += stride * i.form.slope;
    r.wraps[g] = {i.form.axis, i.turn, stride * i.before, stride * i.after};
    o.gather_stride[g] = 0;
  }
  return r;
}

/// Whether a read wraps at most once in a block of the walk, along its only axis.
bool fits_walk(const wrapped_reads& w) {
  const walk_axes axes = shape_of(w.plain, true).axes;
  const auto in_block = [&](const wrap& x) { return std::count(axes.block.begin(), axes.block.end(), x.axis) > 0; };
  const int most = axes.block.size() == 1 ? 1 : 0;
  return std::all_of(w.reads.begin(), w.reads.end(), [&](const wrapped_read& r) {
    return std::count_if(r.wraps, r.wraps + r.count, in_block) <= most;
  });
}

}  // namespace

std::optional<wrapped_reads> wrapped_reads_of(const launch& l) {
  const program& p = *l.code;
  const bool gathers = std::any_of(p.inputs.begin(), p.inputs.end(), [](auto& in) { return in.gathers != 0; });
  if (p.kind != jit::kernel_kind::reduce || !gathers || p.loop.end != 0 || !p.calls.empty() || !p.combines.empty() ||
      jit::has_tail(p) || core::element_count(l.extents) < least_part)
    return std::nullopt;
  wrapped_reads found{l, {}};
  std::uint64_t mask = 0;
  for (const shifted_input& s : shifted_inputs(l)) {
    if (!serves_elements(l, s.input)) continue;
    found.reads.push_back(unwrap(s, found.plain.inputs[s.input]));
    mask |= std::uint64_t{1} << s.input;
  }
  if (found.reads.empty()) return std::nullopt;
  found.plain.code = &plain_program(p, mask);
  found.plain.memo = nullptr;
  return fits_walk(found) ? std::optional(std::move(found)) : std::nullopt;
}

std::vector<launch> plain_parts_of(const launch& l) {
  const program& p = *l.code;
  const bool gathers = std::any_of(p.inputs.begin(), p.inputs.end(), [](auto& in) { return in.gathers != 0; });
  if (p.kind != jit::kernel_kind::elementwise || !gathers || !p.calls.empty()) return {};
  const std::int64_t elements = core::element_count(l.extents);
  if (elements < least_part) return {};
  const std::vector<shifted_input> inputs = shifted_inputs(l);
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
  const program& code = plain_program(p, mask);
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
