// Inputs of a block: uniform values, lanes read in place, lanes copied, gather offsets, coordinates.
#include "backends/cpu/kernels/block_plan.hpp"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/panel.hpp"
#include "backends/cpu/strides/strided_loops.hpp"
#include "jit/program/loop_runs.hpp"
#include "jit/program/scalar.hpp"

namespace sinter::cpu {
namespace {

using jit::opcode;

core::dims at_axes(const core::dims& from, const core::dims& axes) {
  core::dims out;
  for (auto a : axes) out.push_back(from[static_cast<int>(a)]);
  return out;
}

/// By how much a coordinate grows along each axis.
core::dims coordinate_steps(const jit::launch& l, const walk_axes& axes, int axis) {
  core::dims steps(l.extents.size());
  if (axis < l.extents.size()) {
    steps[axis] = 1;
    return steps;
  }
  // Walks over results leave out the reduced axes, which are the last ones.
  const core::dims walked(l.extents.data(), axes.outer.size() + axes.block.size());
  const core::dims dense = core::contiguous_strides(walked);
  for (int a = 0; a < dense.size(); ++a) steps[a] = dense[a];
  return steps;
}

/// Where the last element in memory ends.
const char* end_of(const jit::operand& o, const core::dims& extents, const input_plan& in) {
  std::int64_t last = 0;
  for (int a = 0; a < extents.size(); ++a) last += std::max<std::int64_t>(0, (extents[a] - 1) * o.strides[a]);
  return in.base + (last + 1) * static_cast<std::int64_t>(itemsize(in.type));
}

constexpr std::int64_t most_period = 1024;

/// After how many lanes a coordinate repeats; 0: not, or too late. Each block of a short axis begins somewhere in it.
int coordinate_period(const lane_map& map) {
  if (map.constant) return 1;
  return map.extents.size() == 1 && map.extents[0] <= most_period ? static_cast<int>(map.extents[0]) : period_of(map);
}

}  // namespace

bool is_pure(const jit::program& p, std::size_t first, std::size_t last) {
  for (std::size_t k = first; k < last; ++k) {
    const jit::instr& i = p.code[k];
    const bool gathers = i.op == opcode::load && p.inputs[i.a].gathers != 0;
    const bool may_fault = i.op == opcode::power && !is_inexact(i.type);
    if (gathers || may_fault || i.op == opcode::user || i.op == opcode::checked_index || i.op == opcode::address ||
        jit::is_random(i.op))
      return false;
  }
  return true;
}

bool is_written(const jit::launch& l, const jit::operand& input) noexcept {
  return std::any_of(l.outputs.begin(), l.outputs.end(), [&](const jit::operand& o) { return o.base == input.base; });
}

int period_of(const lane_map& map) noexcept {
  if (map.extents.size() < 2 || map.strides[0] != 0) return 0;
  std::int64_t period = 1;
  for (int a = 1; a < map.extents.size() && period <= most_period; ++a) period *= map.extents[a];
  return period <= most_period ? static_cast<int>(period) : 0;
}

std::uint64_t uniform_inputs(const jit::launch& l, const walk_axes& axes) noexcept {
  std::uint64_t mask = 0;
  const std::size_t n = l.inputs.size() < 64 ? l.inputs.size() : 64;
  for (std::size_t k = 0; k < n; ++k) {
    const auto stays = [&](int a) { return l.inputs[k].strides[a] == 0 || l.extents[a] == 1; };
    if (std::all_of(axes.block.begin(), axes.block.end(), stays)) mask |= std::uint64_t{1} << k;
  }
  if (l.inputs.size() > jit::first_coordinate_bit) return mask;
  for (const jit::instr& i : l.code->code) {
    if (i.op != opcode::coord || i.a >= l.extents.size() || i.a >= 64 - jit::first_coordinate_bit) continue;
    const bool in_block = std::find(axes.block.begin(), axes.block.end(), i.a) != axes.block.end();
    if (!in_block || l.extents[i.a] == 1) mask |= std::uint64_t{1} << (jit::first_coordinate_bit + i.a);
  }
  return mask;
}

param_block::param_block(const jit::launch& l) : cells_(l.params.size()), pointers_(l.params.size()) {
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    jit::write_register(cells_[k].bytes, l.code->param_types[k], l.params[k]);
    pointers_[k] = cells_[k].bytes;
  }
}

block_plan::block_plan(const jit::launch& l, const walk_axes& axes, std::size_t first, std::size_t last,
                       const param_block& p)
    : launch(&l), outer(at_axes(l.extents, axes.outer)), block(at_axes(l.extents, axes.block)), params(&p) {
  outer_count = core::element_count(outer);
  block_count = core::element_count(block);
  const auto& code = *l.code;
  const std::uint64_t uniform = uniform_inputs(l, axes);
  pure = is_pure(code, first, last);
  inputs.resize(code.inputs.size());
  for (std::size_t k = first; k < last; ++k) {
    const jit::instr& i = code.code[k];
    if (i.op == opcode::coord) {
      bool known = false;
      for (auto& c : coordinates) known = known || c.axis == i.a;
      if (known) continue;
      const core::dims steps = coordinate_steps(l, axes, i.a);
      coordinate_plan c{i.a, at_axes(steps, axes.outer), {}, 0, false, {}};
      c.map.assign(block, at_axes(steps, axes.block));
      c.period = coordinate_period(c.map);
      c.uniform = jit::is_uniform_coordinate(uniform, i.a);
      coordinates.push_back(std::move(c));
    }
    const bool whole = i.op == opcode::address;
    if ((i.op != opcode::load && !whole) || inputs[i.a].access != input_plan::how::unused) continue;
    input_plan& in = inputs[i.a];
    const jit::operand& o = l.inputs[i.a];
    in.type = code.inputs[i.a].type;
    in.source = &o;
    in.outer = at_axes(o.strides, axes.outer);
    in.map.assign(block, at_axes(o.strides, axes.block));
    in.base = static_cast<const char*>(o.base) + o.offset * static_cast<std::int64_t>(itemsize(in.type));
    const bool one_place = i.a < 64 && (jit::without_coordinates(uniform, code.inputs.size()) >> i.a & 1);
    if (whole) {
      in.access = input_plan::how::whole;
    } else if (code.inputs[i.a].gathers) {
      in.access = input_plan::how::gathered;
      in.one_offset = one_place && !jit::moves_with_runs(code, i.a);
      in.base = static_cast<const char*>(o.base);
    } else if (one_place) {
      in.access = input_plan::how::uniform;
    } else {
      in.access = input_plan::how::copied;
      in.in_place = in.map.contiguous && !is_half(in.type);
      const bool read_only = !is_written(l, o);
      in.ahead = in.map.contiguous && pure && read_only;
      in.ahead_apart = pure && read_only;
      in.end = end_of(o, l.extents, in);
      in.period = read_only ? period_of(in.map) : 0;
    }
  }
}

bool block_plan::read_through_panels(int rows) {
  bool any = false;
  for (std::size_t k = 0; k < inputs.size() && !outer.empty(); ++k) {
    input_plan& in = inputs[k];
    if (in.access != input_plan::how::copied || in.map.strides.size() != 1 || in.wrapped) continue;
    bool suits = suits_panel(in.map.strides[0], in.outer.back(), outer.back(), itemsize(in.type));
    for (const jit::operand& o : launch->outputs) suits = suits && o.base != in.source->base;
    if (suits) in.panel_rows = rows > 0 ? rows : cpu::panel_rows(itemsize(in.type));
    any = any || suits;
  }
  return any;
}

void block_plan::read_records() {
  records = input_records(inputs);
  for (const record_group& g : records)
    for (const int k : g.member)
      if (k >= 0) inputs[static_cast<std::size_t>(k)].in_record = true;
}

void block_plan::read_rows(const std::vector<row_read>& reads) {
  for (const row_read& r : reads) {
    input_plan& in = inputs[r.input];
    if (in.access != input_plan::how::copied) continue;
    in.rows = &r;
    in.in_place = in.ahead = false;
    in.period = 0;
  }
}

void block_plan::read_wrapped(const std::vector<jit::wrapped_read>& reads, const walk_axes& axes) {
  for (const jit::wrapped_read& r : reads) {
    input_plan& in = inputs[r.input];
    in.wrapped = true;
    in.ahead = false;
    for (const jit::wrap* w = r.wraps; w != r.wraps + r.count; ++w) {
      const auto at = std::find(axes.outer.begin(), axes.outer.end(), w->axis);
      if (at == axes.outer.end()) {
        in.block_wrap = *w;
        continue;
      }
      in.outer_wraps[in.wraps] = *w;
      in.outer_wraps[in.wraps++].axis = static_cast<int>(at - axes.outer.begin());
    }
    if (in.block_wrap.axis >= 0) in.in_place = false, in.period = 0;
  }
}

// Memory that is read as well is written from a private buffer: a program may read it again after it has written.
output_plan::output_plan(const jit::launch& l, std::size_t k, const walk_axes& axes) {
  const jit::operand& o = l.outputs[k];
  type = l.code->outputs[k].type;
  base = static_cast<char*>(o.base) + o.offset * static_cast<std::int64_t>(itemsize(type));
  outer = at_axes(o.strides, axes.outer);
  map.assign(at_axes(l.extents, axes.block), at_axes(o.strides, axes.block));
  in_runs = jit::is_in_each_run(l.code->outputs[k]);
  const auto elsewhere = [&](const jit::operand& in) { return in.base != o.base; };
  may_place = map.contiguous && !in_runs && std::all_of(l.inputs.begin(), l.inputs.end(), elsewhere);
  in_place = may_place && !is_half(type);
}

void output_plan::write_over(const block_plan& plan, std::size_t k) {
  const jit::launch& l = *plan.launch;
  const jit::operand& o = l.outputs[k];
  if (in_place || !map.contiguous || is_half(type) || in_runs) return;
  for (std::size_t i = 0; i < l.inputs.size(); ++i) {
    const jit::operand& in = l.inputs[i];
    if (in.base != o.base) continue;
    const input_plan& how = plan.inputs[i];
    const bool same = in.offset == o.offset && in.strides == o.strides && how.type == type;
    const bool elsewhere = how.wrapped || how.period || how.panel_rows || how.rows;
    if (!same || elsewhere || how.access != input_plan::how::copied || !how.in_place) return;
  }
  in_place = over_input = true;
}

block_walker::block_walker(const block_plan& plan, arena& memory, int outputs, int extra, int* fault) : plan_(plan) {
  const std::size_t n = plan.inputs.size(), rank = static_cast<std::size_t>(plan.launch->extents.size());
  coordinate_ = memory.take_array<std::int64_t>(static_cast<std::size_t>(plan.outer.size()));
  base_ = memory.take_array<const char*>(n);
  outer_offset_ = memory.take_array<std::int64_t>(n);
  lanes_ = memory.take_array<void*>(n);
  repeated_ = memory.take_array<const char*>(n);
  panels_ = memory.take_array<panel>(n);
  const std::size_t places = n + (jit::stores_in_runs(*plan.launch->code) ? static_cast<std::size_t>(outputs) : 0);
  offsets_ = memory.take_array<std::int64_t*>(places);
  inputs_ = memory.take_array<const void*>(n + static_cast<std::size_t>(extra));
  outputs_ = memory.take_array<void*>(static_cast<std::size_t>(outputs));
  coords_ = memory.take_array<std::int64_t*>(rank + 1);
  auto* strides = memory.take_array<std::int64_t[2]>(places);
  for (std::size_t k = n; k < places; ++k) {
    const bool in_runs = jit::is_in_each_run(plan.launch->code->outputs[k - n]);
    offsets_[k] = in_runs ? memory.take_array<std::int64_t>(static_cast<std::size_t>(plan.lanes)) : nullptr;
    strides[k][0] = plan.launch->outputs[k - n].gather_stride[0];
    strides[k][1] = 0;
  }
  for (std::size_t k = 0; k < n; ++k) {
    const input_plan& in = plan.inputs[k];
    inputs_[k] = nullptr;
    panels_[k] = {};
    offsets_[k] = nullptr;
    repeated_[k] = nullptr;
    strides[k][0] = strides[k][1] = 0;
    if (in.access == input_plan::how::unused) continue;
    if (in.access == input_plan::how::gathered) {
      offsets_[k] = memory.take_array<std::int64_t>(static_cast<std::size_t>(plan.lanes));
      inputs_[k] = in.base;
      for (int g = 0; g < 2; ++g) strides[k][g] = in.source->gather_stride[g];
    } else if (in.access == input_plan::how::whole) {
      inputs_[k] = in.base;
    } else {
      const int lanes = in.access == input_plan::how::uniform ? 1 : plan.lanes + in.period;
      lanes_[k] = memory.take(static_cast<std::size_t>(lanes * jit::lane_bytes(in.type)));
      const std::size_t row = panel_pitch(itemsize(in.type)) * itemsize(in.type);
      if (in.panel_rows)
        panels_[k].rows = static_cast<char*>(memory.take(static_cast<std::size_t>(in.panel_rows) * row));
    }
  }
  for (std::size_t a = 0; a <= rank; ++a) coords_[a] = nullptr;
  counted_ = memory.take_array<std::int64_t*>(plan.coordinates.size());
  counted_from_ = memory.take_array<std::int64_t>(plan.coordinates.size());
  for (std::size_t k = 0; k < plan.coordinates.size(); ++k) {
    counted_[k] = memory.take_array<std::int64_t>(static_cast<std::size_t>(plan.lanes + plan.coordinates[k].period));
    counted_from_[k] = -1;
  }
  args_.inputs = inputs_;
  args_.offsets = offsets_;
  args_.gather_strides = strides;
  args_.params = plan.params->pointers();
  args_.coords = coords_;
  args_.outputs = outputs_;
  args_.fault = fault;
  args_.halves = plan.halves ? 1 : 0;
  args_.in_patterns = plan.in_patterns;
}

void block_walker::forget() noexcept {
  at_ = -1;
  for (std::size_t k = 0; k < plan_.inputs.size(); ++k) {
    repeated_[k] = nullptr;
    panels_[k].origin = nullptr;
  }
}

void block_walker::move_to(std::int64_t outer_index) {
  if (outer_index == at_) return;
  const int last = plan_.outer.size() - 1;
  const bool next = at_ >= 0 && outer_index == at_ + 1 && last >= 0 && coordinate_[last] + 1 < plan_.outer[last];
  at_ = outer_index;
  if (next) ++coordinate_[last];
  else unravel(outer_index, plan_.outer, coordinate_);
  for (std::size_t k = 0; k < plan_.inputs.size(); ++k) {
    const input_plan& in = plan_.inputs[k];
    if (in.access == input_plan::how::unused || in.access == input_plan::how::whole) continue;
    std::int64_t offset = next ? outer_offset_[k] + in.outer[last] : 0;
    for (int a = 0; a <= last && !next; ++a) offset += in.outer[a] * coordinate_[a];
    outer_offset_[k] = offset;
    for (int w = 0; w < in.wraps; ++w) {
      const jit::wrap& x = in.outer_wraps[w];
      offset += coordinate_[x.axis] < x.turn ? x.before : x.after;
    }
    base_[k] = in.base + offset * static_cast<std::int64_t>(itemsize(in.type));
    if (in.access != input_plan::how::uniform) continue;
    inputs_[k] = base_[k];
    if (is_half(in.type)) {
      load_lanes(lanes_[k], base_[k], in.type, in.map, 0, 1, 1);
      inputs_[k] = lanes_[k];
    }
  }
}

namespace {

/// The first `done` of `all` lanes again and again. What has been copied is copied again: the source may be as long as what follows
/// is far.
void repeat_lanes(void* lanes, int done, int all, std::size_t bytes) {
  auto* const to = static_cast<char*>(lanes);
  while (done < all) {
    const int more = std::min(done, all - done);
    std::memcpy(to + static_cast<std::size_t>(done) * bytes, to, static_cast<std::size_t>(more) * bytes);
    done += more;
  }
}

}  // namespace

/// As many as blocks reach.
int block_walker::repeated_lanes(int period) const noexcept {
  const std::int64_t last = plan_.block_count + plan_.multiple;
  return static_cast<int>(std::min<std::int64_t>(period + plan_.lanes, std::max<std::int64_t>(last, period)));
}

void block_walker::bind_copied(std::size_t k, std::int64_t start, int n, int padded) {
  const input_plan& in = plan_.inputs[k];
  if (in.ahead && base_[k] + (start + padded) * static_cast<std::int64_t>(itemsize(in.type)) <= in.end) n = padded;
  if (in.in_place && padded == n) {
    inputs_[k] = base_[k] + start * static_cast<std::int64_t>(itemsize(in.type));
  } else if (in.period && (padded == n || plan_.pure)) {
    const int bytes = jit::lane_bytes(in.type);
    if (repeated_[k] != base_[k]) {
      load_lanes(lanes_[k], base_[k], in.type, in.map, 0, in.period, in.period);
      repeat_lanes(lanes_[k], in.period, repeated_lanes(in.period), static_cast<std::size_t>(bytes));
      repeated_[k] = base_[k];
    }
    inputs_[k] = static_cast<const char*>(lanes_[k]) + start % in.period * bytes;
  } else {
    load_lanes(lanes_[k], base_[k], in.type, in.map, start, n, padded);
    inputs_[k] = lanes_[k];
    repeated_[k] = nullptr;
  }
}

void block_walker::bind_records(const record_group& g, std::int64_t start, int n, int padded) {
  void* to[most_components] = {};
  const auto first = static_cast<std::size_t>(g.member[0]);
  const std::size_t size = itemsize(plan_.inputs[first].type);
  for (int c = 0; c < g.components; ++c)
    if (const int k = g.member[static_cast<std::size_t>(c)]; k >= 0) to[c] = lanes_[k];
  const char* const from = base_[first] + start * g.components * static_cast<std::int64_t>(size);
  loops_over_strides().take_apart[size / 8](to, from, g.components, n);
  for (int c = 0; c < g.components; ++c) {
    if (!to[c]) continue;
    auto* const lanes = static_cast<char*>(to[c]);
    for (int l = n; l < padded; ++l)
      std::memcpy(lanes + static_cast<std::size_t>(l) * size, lanes + static_cast<std::size_t>(n - 1) * size, size);
    inputs_[g.member[static_cast<std::size_t>(c)]] = lanes;
  }
}

void block_walker::bind_rows(std::size_t k, std::int64_t start, int n, int padded) {
  const input_plan& in = plan_.inputs[k];
  const row_read& r = *in.rows;
  const auto size = static_cast<std::int64_t>(itemsize(in.type));
  alignas(64) std::uint16_t bits[jit::block_lanes];
  char* const to = is_half(in.type) ? reinterpret_cast<char*>(bits) : static_cast<char*>(lanes_[k]);
  std::int64_t row = start / r.width, column = start - row * r.width;
  const std::int64_t* at = r.indices + row * r.index_step;
  for (int a = 0; a < r.outer.size(); ++a) at += r.outer[a] * coordinate_[a];
  for (int lane = 0; lane < n; column = 0, ++row, at += r.index_step) {
    std::int64_t index = *at;
    if (r.checked && static_cast<std::uint64_t>(index) >= static_cast<std::uint64_t>(r.extent))
      jit::checked_lanes(&index, &index, &r.extent, &r.axis, 1, args_.fault);
    const int count = static_cast<int>(std::min<std::int64_t>(r.width - column, n - lane));
    const char* const from = base_[k] + (row * r.step + column + index * r.row_stride) * size;
    if (count == padded && !is_half(in.type)) {  // the whole block, where it lies
      inputs_[k] = from;
      return;
    }
    copy_row(to + lane * size, from, static_cast<std::size_t>(count * size));
    lane += count;
  }
  for (int l = n; l < padded; ++l) std::memcpy(to + l * size, to + (n - 1) * size, static_cast<std::size_t>(size));
  inputs_[k] = lanes_[k];
  if (is_half(in.type))
    (in.type == dtype::f16 ? jit::widen_f16 : jit::widen_bf16)(static_cast<float*>(lanes_[k]), bits, padded);
}

void block_walker::bind_wrapped(std::size_t k, std::int64_t start, int n, int padded) {
  const input_plan& in = plan_.inputs[k];
  const jit::wrap& w = in.block_wrap;
  const auto size = static_cast<std::int64_t>(itemsize(in.type));
  const auto before = static_cast<int>(std::clamp<std::int64_t>(w.turn - start, 0, n));
  if ((before == 0 || before == n) && padded == n && in.map.contiguous && !is_half(in.type)) {
    inputs_[k] = base_[k] + (start + (before == 0 ? w.after : w.before)) * size;
    return;
  }
  auto* const to = static_cast<char*>(lanes_[k]);
  if (before > 0)
    load_lanes(to, base_[k] + w.before * size, in.type, in.map, start, before, before == n ? padded : before);
  if (before < n)
    load_lanes(to + before * jit::lane_bytes(in.type), base_[k] + w.after * size, in.type, in.map, start + before,
               n - before, padded - before);
  inputs_[k] = lanes_[k];
}

void block_walker::bind_input(std::size_t k, std::int64_t start, int n, int padded) {
  const input_plan& in = plan_.inputs[k];
  if (in.access == input_plan::how::gathered) {
    if (in.one_offset && plan_.compiled) n = padded = 1;
    return fill_offsets(offsets_[k], in.source->offset + outer_offset_[k], in.map, start, n, padded);
  }
  if (in.access != input_plan::how::copied) return;
  if (in.pattern.what != jit::lane_pattern::kind::dense) bind_pattern(k, start, n, padded);
  else if (in.rows) bind_rows(k, start, n, padded);
  else if (in.block_wrap.axis >= 0) bind_wrapped(k, start, n, padded);
  else if (in.panel_rows) inputs_[k] = panel_row(k, start, n, padded);
  else bind_copied(k, start, n, padded);
}

void block_walker::bind_again(std::size_t k, std::int64_t start, int n) {
  repeated_[k] = nullptr;
  panels_[k].origin = nullptr;
  bind_input(k, start, n, pad_lanes(n));
}

void block_walker::bind(std::int64_t start, int n) {
  const int padded = plan_.pad(n);
  args_.n = padded;
  args_.lanes = n;
  for (std::size_t k = 0; k < plan_.inputs.size(); ++k)
    if (!plan_.inputs[k].in_record) bind_input(k, start, n, padded);
  for (const record_group& g : plan_.records) bind_records(g, start, n, padded);
  for (std::size_t k = 0; k < plan_.coordinates.size(); ++k) bind_coordinate(k, start, n, padded);
}

void block_walker::bind_coordinate(std::size_t k, std::int64_t start, int n, int padded) {
  const coordinate_plan& c = plan_.coordinates[k];
  std::int64_t* const lanes = counted_[k];
  std::int64_t base = 0;
  for (int a = 0; a < c.outer.size(); ++a) base += c.outer[a] * coordinate_[a];
  coords_[c.axis] = lanes;
  const bool counted = c.pattern.what == jit::lane_pattern::kind::counted;
  if ((c.uniform && plan_.compiled) || counted || c.pattern.what == jit::lane_pattern::kind::periodic) {
    *lanes = base + (counted ? start : 0);
    return;
  }
  if (c.period == 0 || (padded != n && !plan_.pure)) {
    counted_from_[k] = -1;
    return fill_offsets(lanes, base, c.map, start, n, padded);
  }
  if (counted_from_[k] != base) {
    fill_offsets(lanes, base, c.map, 0, c.period, c.period);
    repeat_lanes(lanes, c.period, repeated_lanes(c.period), sizeof *lanes);
    counted_from_[k] = base;
  }
  coords_[c.axis] += start % c.period;
}

const void* block_walker::panel_row(std::size_t k, std::int64_t start, int n, int padded) {
  const input_plan& in = plan_.inputs[k];
  panel& p = panels_[k];
  const int last = plan_.outer.size() - 1;
  const std::int64_t row = coordinate_[last], stride = in.map.strides[0], step = in.outer[last];
  const auto size = static_cast<std::int64_t>(itemsize(in.type));
  const char* const origin = base_[k] - row * step * size;
  if (p.origin != origin || p.start != start || p.n != n || row < p.first || row >= p.first + p.count) {
    const std::int64_t left = plan_.outer[last] - row;
    p = {p.rows, origin, row, start, static_cast<int>(std::min<std::int64_t>(in.panel_rows, left)), n};
    fill_panel(p.rows, base_[k] + start * stride * size, p.count, n, padded, step, stride, itemsize(in.type));
  }
  const char* const lanes = p.rows + (row - p.first) * panel_pitch(itemsize(in.type)) * size;
  if (!is_half(in.type)) return lanes;
  (in.type == dtype::f16 ? jit::widen_f16 : jit::widen_bf16)(static_cast<float*>(lanes_[k]),
                                                             reinterpret_cast<const std::uint16_t*>(lanes), padded);
  return lanes_[k];
}

}  // namespace sinter::cpu
