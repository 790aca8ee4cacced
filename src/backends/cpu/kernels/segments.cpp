// Launches in parts, and reductions with wraps.
#include "backends/cpu/kernels/segments.hpp"

#include <algorithm>
#include <optional>

#include "backends/cpu/kernels/kernels.hpp"
#include "backends/cpu/kernels/lanes.hpp"
#include "jit/program/monotone_tail.hpp"
#include "jit/program/rewrite/parts.hpp"
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

constexpr std::int64_t most_parts = 64, least_in_all = 1024;  // elements, below which parts take longer to begin
constexpr std::int64_t least_part = 256;                      // elements of a part, on average
constexpr std::int64_t least_in_parts = 8192;                 // for which patterns are looked for (patterns.cpp)

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

/// The part of `l` from `begin` on, with these extents. `in_rows`: along the last axis, which it has whole, reads wrap
/// (launch::wraps).
launch part_of(const launch& l, const program* code, const std::vector<shifted_input>& inputs, const core::dims& begin,
               const core::dims& extents, bool in_rows = false) {
  launch part = l;
  part.code = code;
  part.extents = extents;
  const int last = extents.size() - 1;
  for (const shifted_input& s : inputs) {
    jit::operand& o = part.inputs[s.input];
    for (int g = 0; g < s.count; ++g) {
      const shifted_index& i = s.index[g];
      const std::int64_t step = std::exchange(o.gather_stride[g], 0);
      o.strides[i.axis] += step * i.slope;
      o.offset += step * i.start;
      if (in_rows && i.axis == last && i.turn > 0 && i.turn < extents[last])
        part.wraps.push_back({s.input, 1, {{last, i.turn, step * i.before, step * i.after}}});
      else o.offset += step * (begin[i.axis] < i.turn ? i.before : i.after);
    }
  }
  const auto move = [&](jit::operand& o) {
    for (int a = 0; a < begin.size(); ++a) o.offset += o.strides[a] * begin[a];
  };
  for (jit::operand& o : part.inputs) move(o);
  for (jit::operand& o : part.outputs) move(o);
  return part;
}

/// Axes of one place are left out, and neighbouring ones that every operand has one after the other are one: less to find out for
/// a part of few elements, and one run of lanes for the largest one.
void merge_axes(launch& l) {
  core::dims order;  // axes that stay, from the innermost one on
  const auto along = [&](const jit::operand& o, int a) { return o.strides[a]; };
  core::dims extents;
  for (int a = l.extents.size() - 1; a >= 0; --a) {
    if (l.extents[a] == 1 && (l.wraps.empty() || !order.empty())) continue;
    bool merges = !order.empty() && (l.wraps.empty() || order.size() > 1);
    for (const auto* some : {&l.inputs, &l.outputs})
      for (const jit::operand& o : *some)
        merges = merges && along(o, a) == along(o, static_cast<int>(order.back())) * extents.back();
    if (merges) {
      extents[extents.size() - 1] *= l.extents[a];
    } else {
      order.push_back(a);
      extents.push_back(l.extents[a]);
    }
  }
  if (order.empty()) order.push_back(0), extents.push_back(1);
  const auto keep = [&](core::dims& of, const core::dims& values) {
    core::dims kept;
    for (int k = values.size() - 1; k >= 0; --k) kept.push_back(values[k]);
    of = kept;
  };
  for (auto* some : {&l.inputs, &l.outputs})
    for (jit::operand& o : *some) {
      core::dims strides;
      for (const std::int64_t a : order) strides.push_back(along(o, static_cast<int>(a)));
      keep(o.strides, strides);
    }
  keep(l.extents, extents);
  l.kept = l.extents.size();
  for (jit::wrapped_read& r : l.wraps) r.wraps[0].axis = l.kept - 1;
}

/// Whether elements may be computed with operands of others first, and then again with their own.
bool may_compute_again(const program& p) {
  if (!is_pure(p, 0, p.code.size()) || p.loop.end != 0) return false;
  return p.outputs.size() != 1 || p.code[p.outputs[0].reg].op != opcode::load;  // else rows are copied
}

/// Whether results take the place of an operand.
bool writes_over(const launch& l) {
  return std::any_of(l.outputs.begin(), l.outputs.end(), [&](const jit::operand& o) {
    return std::any_of(l.inputs.begin(), l.inputs.end(),
                       [&](const jit::operand& in) { return in.base && in.base == o.base; });
  });
}

/// Whether each of those operands is read at the place of the result alone.
bool writes_over_own(const launch& l) {
  for (std::size_t k = 0; k < l.outputs.size(); ++k)
    for (std::size_t i = 0; i < l.inputs.size(); ++i) {
      const jit::operand &in = l.inputs[i], &o = l.outputs[k];
      if (!in.base || in.base != o.base) continue;
      const bool same = in.offset == o.offset && in.strides == o.strides && l.code->inputs[i].gathers == 0;
      if (!same || itemsize(l.code->inputs[i].type) != itemsize(l.code->outputs[k].type)) return false;
    }
  return true;
}

/// The last axes of a part as one, from its first element to its last one, in a space of `whole`: the elements in between that are
/// none of its own are computed with operands of their neighbours, and belong to parts that come after it. A row then costs
/// nothing, where a block for each would take longer to begin than to compute.
void flatten(launch& part, const core::dims& whole) {
  constexpr std::int64_t most_more = 4;  // a part of the elements
  const int rank = part.extents.size();
  if (rank < 2) return;
  std::int64_t own = part.extents[rank - 1], step = 1, length = own;
  int first = rank - 1;
  std::int64_t taken = length;
  for (int a = rank - 2; a >= 0; --a) {
    const auto follows = [&](const jit::operand& o) { return o.strides[a] == o.strides[a + 1] * whole[a + 1]; };
    if (!std::all_of(part.inputs.begin(), part.inputs.end(), follows) ||
        !std::all_of(part.outputs.begin(), part.outputs.end(), follows))
      break;
    own *= part.extents[a];
    step *= whole[a + 1];
    length += (part.extents[a] - 1) * step;
    if ((length - own) * most_more <= own) first = a, taken = length;
  }
  if (first == rank - 1) return;
  for (int a = first; a < rank - 1; ++a) part.extents[a] = 1;
  part.extents[rank - 1] = taken;
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
      core::element_count(l.extents) < least_in_all)
    return std::nullopt;
  std::vector<shifted_input> reads = jit::shifted_inputs(l);
  std::erase_if(reads, [&](const shifted_input& s) { return !serves_elements(l, s.input); });
  if (reads.empty()) return std::nullopt;
  launch plain;
  jit::unwrap(l, reads, plain);
  return fits_walk(plain) ? std::optional(std::move(plain)) : std::nullopt;
}

plain_parts plain_parts_of(const launch& l) {
  const program& p = *l.code;
  if (p.kind != jit::kernel_kind::elementwise) return {};
  if (!has_gathers(p)) {
    if (core::element_count(l.extents) < least_in_parts) return {};
    std::optional<launch> real = jit::in_parts(l);
    return real ? plain_parts{{std::move(*real)}} : plain_parts{};
  }
  const std::int64_t elements = core::element_count(l.extents);
  if (elements < least_in_all) return {};
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
  plain_parts found;
  std::vector<launch>& out = found.all;
  const int last = l.extents.size() - 1;
  core::dims begin = l.extents, extents = l.extents;
  const auto take = [&](int axis, std::size_t piece) {
    const auto& c = cuts[static_cast<std::size_t>(axis)];
    begin[axis] = c[piece];
    extents[axis] = c[piece + 1] - c[piece];
  };
  const std::size_t pieces = cuts.back().size() - 1;
  const auto take_rows = [&](std::int64_t number) {
    for (int a = last - 1; a >= 0; --a) {
      const auto along = static_cast<std::int64_t>(cuts[static_cast<std::size_t>(a)].size()) - 1;
      take(a, static_cast<std::size_t>(number % along));
      number /= along;
    }
  };
  const std::int64_t groups = parts / static_cast<std::int64_t>(pieces);
  std::int64_t most = 0, most_at = 0;  // elements of the rows with most
  for (std::int64_t k = 0; k < groups; ++k) {
    take_rows(k);
    std::int64_t rows = 1;
    for (int a = 0; a < last; ++a) rows *= extents[a];
    if (rows > most) most = rows, most_at = k;
  }
  const bool over = writes_over(l);
  const bool again = may_compute_again(code) && (!over || (parts > 1 && writes_over_own(l)));
  const bool once = std::all_of(inputs.begin(), inputs.end(), [&](const shifted_input& s) {
    return std::count_if(s.index, s.index + s.count, [&](const shifted_index& i) { return i.axis == last; }) < 2;
  });
  for (std::int64_t k = 0; k < groups; ++k) {
    take_rows(k);
    if (again && once && k != most_at && pieces > 1) {
      begin[last] = 0, extents[last] = l.extents[last];
      launch rows = part_of(l, &code, inputs, begin, extents, true);
      merge_axes(rows);
      if (element_axes(rows).block.size() == 1) {
        out.push_back(std::move(rows));
        continue;
      }
    }
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      take(last, piece);
      out.push_back(part_of(l, &code, inputs, begin, extents));
    }
  }
  const auto largest = std::max_element(out.begin(), out.end(), [](const launch& a, const launch& b) {
    return core::element_count(a.extents) < core::element_count(b.extents);
  });
  if (again && largest->wraps.empty()) flatten(*largest, l.extents);
  std::rotate(out.begin(), largest, largest + 1);
  for (launch& part : out)
    if (part.wraps.empty()) merge_axes(part);
  found.others_aside = over && again;
  return found;
}

namespace {

/// An unsigned integer, or a complex number, of as many bytes.
dtype bits_of(dtype type) noexcept {
  switch (itemsize(type)) {
    case 1: return dtype::u8;
    case 2: return dtype::u16;
    case 4: return dtype::u32;
    case 8: return dtype::u64;
    default: return dtype::c128;
  }
}

}  // namespace

parts_aside::parts_aside(std::span<launch> parts) {
  constexpr std::size_t together = 64;
  std::size_t bytes = 0;
  for (launch& part : parts)
    for (std::size_t k = 0; k < part.outputs.size(); ++k) {
      stored_.push_back({&part, part.outputs[k], part.code->outputs[k].type, bytes});
      const std::size_t own =
          static_cast<std::size_t>(core::element_count(part.extents)) * itemsize(stored_.back().type);
      bytes += (own + together - 1) / together * together;
    }
  memory_.resize(bytes);
  std::size_t next = 0;
  for (launch& part : parts)
    for (jit::operand& o : part.outputs) {
      o.base = memory_.data() + stored_[next++].at;
      o.offset = 0;
      o.strides = core::contiguous_strides(part.extents);
    }
}

void parts_aside::store() const {
  for (const result& r : stored_) {
    lane_map map;
    map.assign(r.of->extents, r.to.strides);
    const auto size = static_cast<std::int64_t>(itemsize(r.type));
    char* const to = static_cast<char*>(r.to.base) + r.to.offset * size;
    const std::int64_t all = core::element_count(r.of->extents);
    constexpr std::int64_t most = 1 << 20;
    for (std::int64_t start = 0; start < all; start += most)
      store_lanes(to, bits_of(r.type), map, start, static_cast<int>(std::min(most, all - start)),
                  memory_.data() + r.at + static_cast<std::size_t>(start * size));
  }
}

}  // namespace sinter::cpu
