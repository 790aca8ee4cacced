// Which index registers are affine, and where they wrap.
#include "jit/program/rewrite/wrapped_reads.hpp"

#include <algorithm>
#include <optional>

#include "jit/program/rewrite/plain_reads.hpp"
#include "jit/program/scalar.hpp"

namespace sinter::jit {
namespace {

/// slope * coordinate(axis) + start; without an axis a constant.
struct affine {
  int axis = -1;
  std::int64_t slope = 0, start = 0;
};

std::int64_t number_of(const launch& l, std::uint16_t param) {
  std::int64_t n = 0;
  write_register(&n, dtype::i64, l.params[param]);
  return n;
}

std::optional<affine> sum_of(const affine& a, const affine& b, std::int64_t sign) {
  if (a.axis >= 0 && b.axis >= 0 && a.axis != b.axis) return std::nullopt;
  affine r{std::max(a.axis, b.axis), 0, 0};
  std::int64_t slope = 0, start = 0;
  if (__builtin_mul_overflow(b.slope, sign, &slope) || __builtin_add_overflow(a.slope, slope, &r.slope) ||
      __builtin_mul_overflow(b.start, sign, &start) || __builtin_add_overflow(a.start, start, &r.start))
    return std::nullopt;
  return r;
}

std::optional<affine> product_of(const affine& a, const affine& b) {
  if (a.axis >= 0 && b.axis >= 0) return std::nullopt;
  const affine& varies = a.axis >= 0 ? a : b;
  const std::int64_t factor = (a.axis >= 0 ? b : a).start;
  affine r{varies.axis, 0, 0};
  if (__builtin_mul_overflow(varies.slope, factor, &r.slope) || __builtin_mul_overflow(varies.start, factor, &r.start))
    return std::nullopt;
  return r;
}

std::optional<affine> affine_of(const launch& l, std::uint16_t reg) {
  const instr& i = l.code->code[reg];
  if (i.type != dtype::i64) return std::nullopt;
  if (i.op == opcode::coord) return i.a < l.extents.size() ? std::optional(affine{i.a, 1, 0}) : std::nullopt;
  if (i.op == opcode::param) return affine{-1, 0, number_of(l, i.a)};
  if (i.arg != dtype::i64 || (i.op != opcode::add && i.op != opcode::subtract && i.op != opcode::multiply))
    return std::nullopt;
  const auto a = affine_of(l, i.a), b = affine_of(l, i.b);
  if (!a || !b) return std::nullopt;
  return i.op == opcode::multiply ? product_of(*a, *b) : sum_of(*a, *b, i.op == opcode::add ? 1 : -1);
}

/// The least and the greatest number of a form along its axis; nothing where they do not fit.
struct bounds {
  std::int64_t low, high;
};
std::optional<bounds> bounds_of(const launch& l, const affine& form) {
  std::int64_t end = 0;
  if (__builtin_add_overflow(form.start, form.slope * (l.extents[form.axis] - 1), &end)) return std::nullopt;
  return bounds{std::min(form.start, end), std::max(form.start, end)};
}
bool is_index(const launch& l, const affine& form, std::int64_t extent) {
  const auto b = bounds_of(l, form);
  return b && b->low >= -extent && b->high < extent;
}

/// What an index into `extent` elements is up to multiples of the extent, where it is made of one that was checked and a constant,
/// as a roll of a roll is.
std::optional<affine> index_form_of(const launch& l, std::uint16_t reg, std::int64_t extent) {
  const instr& i = l.code->code[reg];
  const auto is_checked = [&](std::uint16_t r) { return l.code->code[r].op == opcode::checked_index; };
  const bool moves = i.type == dtype::i64 && i.arg == dtype::i64 && (i.op == opcode::add || i.op == opcode::subtract);
  if (!moves || !is_checked(i.a)) return affine_of(l, reg);
  const instr& inner = l.code->code[i.a];
  const auto by = affine_of(l, i.b);
  if (!by || by->axis >= 0 || number_of(l, inner.b) != extent) return std::nullopt;
  // Of a number from 0 to extent - 1, so that the sum is an index again.
  const std::int64_t shift = i.op == opcode::add ? by->start : -by->start;
  if (shift > 0 || shift < -extent) return std::nullopt;
  auto form = index_form_of(l, inner.a, extent);
  if (!form || form->axis < 0 || (form->slope != 1 && form->slope != -1) || !is_index(l, *form, extent))
    return std::nullopt;
  form->start += shift;
  if (!is_index(l, *form, extent)) form->start += extent;
  return form;
}

std::optional<shifted_index> index_of(const launch& l, std::uint16_t reg) {
  const instr& i = l.code->code[reg];
  const bool checked = i.op == opcode::checked_index;
  const auto form = checked ? index_form_of(l, i.a, number_of(l, i.b)) : affine_of(l, reg);
  if (!form || form->axis < 0 || (form->slope != 1 && form->slope != -1)) return std::nullopt;
  shifted_index s{form->axis, form->slope, form->start};
  if (!checked) return s;
  const std::int64_t extent = number_of(l, i.b), last = l.extents[form->axis] - 1;
  if (!is_index(l, *form, extent)) return std::nullopt;  // the check finds it
  // Negative before the turn where the index grows, from the turn on where it falls.
  const std::int64_t turn = form->slope > 0 ? -form->start : form->start + 1;
  s.turn = std::clamp<std::int64_t>(turn, 0, last + 1);
  (form->slope > 0 ? s.before : s.after) = extent;
  return s;
}

}  // namespace

std::vector<shifted_input> shifted_inputs(const launch& l) {
  std::vector<shifted_input> found;
  if (!l.code->calls.empty() || l.code->loop.end != 0) return found;
  for (std::size_t k = 0; k < l.inputs.size() && k < 64; ++k) {
    const input_desc& in = l.code->inputs[k];
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

void unwrap(const launch& l, const std::vector<shifted_input>& inputs, launch& to) {
  to = l;
  to.memo = nullptr;
  to.wraps.clear();
  std::uint64_t mask = 0;
  for (const shifted_input& s : inputs) {
    operand& o = to.inputs[s.input];
    wrapped_read read{s.input, s.count, {}};
    for (int g = 0; g < s.count; ++g) {
      const shifted_index& i = s.index[g];
      const std::int64_t stride = o.gather_stride[g];
      o.offset += stride * i.start;
      o.strides[i.axis] += stride * i.slope;
      read.wraps[g] = {i.axis, i.turn, stride * i.before, stride * i.after};
      o.gather_stride[g] = 0;
    }
    to.wraps.push_back(read);
    mask |= std::uint64_t{1} << s.input;
  }
  to.code = &plain_program(*l.code, mask);
}

}  // namespace sinter::jit
