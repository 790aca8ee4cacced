// Elements of what a step has recorded, as instructions.
#include "graph/plan/steps/step_lowering.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "core/few_terms.hpp"
#include "core/shape.hpp"
#include "graph/plan/forms/short_join.hpp"
#include "graph/plan/forms/short_sums.hpp"
#include "graph/values/node.hpp"
#include "jit/program/loop_runs.hpp"

namespace sinter::graph {

using jit::instr;
using jit::opcode;

namespace {

bool is_constant(const index_map& map, int row) noexcept {
  for (int v = 0; v < map.variables(); ++v)
    if (map.coefficient(row, v) != 0) return false;
  return true;
}

jit::scalar whole_number(std::int64_t n) {
  jit::scalar s;
  s.type = dtype::i64;
  s.i = n;
  return s;
}

template <class T>
T read_as(const void* from) {
  T x;
  std::memcpy(&x, from, sizeof x);
  return x;
}

/// An element in memory, of the dtypes that small matrices, indices and conditions have.
std::optional<jit::scalar> read_number(dtype type, const void* from) {
  jit::scalar s;
  s.type = type;
  switch (type) {
    case dtype::f64: s.f[0] = read_as<double>(from); break;
    case dtype::f32: s.f[0] = static_cast<double>(read_as<float>(from)); break;
    case dtype::i64: s.i = read_as<std::int64_t>(from); break;
    case dtype::i32: s.i = read_as<std::int32_t>(from); break;
    case dtype::b1: s.i = read_as<bool>(from) ? 1 : 0; break;  // where an adjoint has zeros
    default: return {};
  }
  return s;
}

/// The element that is read everywhere.
std::optional<jit::scalar> number_at(const node& leaf, const linear_form& at) {
  const auto moves = [](std::int64_t coefficient) { return coefficient != 0; };
  if (std::any_of(at.coefficients.begin(), at.coefficients.end(), moves)) return {};
  return number_in(leaf, at.offset);
}

}  // namespace

std::optional<jit::scalar> number_in(const node& leaf, std::int64_t at) {
  if (!leaf.buffer->owner().host_addressable() || leaf.buffer->has_faults()) return {};
  if (leaf.capture != 0 || runtime::this_thread().capture != 0) return {};  // each launch has others
  const auto size = static_cast<std::int64_t>(itemsize(leaf.type));
  const char* const from = static_cast<const char*>(leaf.buffer->data_to_read()) + (leaf.buffer_offset + at) * size;
  return read_number(leaf.type, from);
}

step_lowering::step_lowering(const recorded_step& step, core::dims extents)
    : step_(step), extents_(std::move(extents)) {
  runs_ = counter(integer(0));
}

// ---- instructions

step_lowering::reg step_lowering::emit(const instr& i) {
  if (const int equal = equal_.find(code_, i, 0); equal >= 0) return static_cast<reg>(equal);
  if (code_.size() >= most_instructions) return refuse();
  code_.push_back(i);
  return static_cast<reg>(code_.size() - 1);
}

// Numbers with the same bits are one parameter.
step_lowering::reg step_lowering::param(const jit::scalar& s, dtype type) {
  std::size_t k = 0;
  for (; k < params_.size(); ++k)
    if (!is_own(k) && param_types_[k] == type && params_[k].u == s.u &&
        (!is_complex(type) || std::memcmp(params_[k].f, s.f, sizeof s.f) == 0))
      break;
  if (k == params_.size()) {
    params_.push_back(s);
    param_types_.push_back(type);
  }
  return emit({opcode::param, type, type, 0, static_cast<reg>(k), 0, 0, 0});
}

/// An element of a constant as a parameter of its own, so that the program does not depend on which of them are equal.
step_lowering::reg step_lowering::constant(const jit::scalar& s, const value& leaf, std::int64_t at) {
  for (const own_number& n : own_numbers_)
    if (n.leaf == leaf && n.at == at) return n.reg;
  own_numbers_.push_back({leaf, at, static_cast<int>(params_.size()), 0});
  params_.push_back(s);
  param_types_.push_back(leaf->type);
  const auto k = static_cast<reg>(params_.size() - 1);
  return own_numbers_.back().reg = emit({opcode::param, leaf->type, leaf->type, 0, k, 0, 0, 0});
}

bool step_lowering::is_own(std::size_t param) const noexcept {
  if (static_cast<int>(param) == first_number_) return true;
  return std::any_of(own_numbers_.begin(), own_numbers_.end(),
                     [&](const own_number& n) { return n.param == static_cast<int>(param); });
}

step_lowering::reg step_lowering::integer(std::int64_t n) { return param(whole_number(n), dtype::i64); }

step_lowering::reg step_lowering::load(loop_kernel::input from, dtype type, bool moves) {
  std::size_t k = 0;
  for (; k < inputs_.size(); ++k) {
    const loop_kernel::input& in = inputs_[k];
    if (in.from == from.from && in.index == from.index && in.constant == from.constant &&
        in.at.offset == from.at.offset && in.at.coefficients == from.at.coefficients)
      break;
  }
  if (k == inputs_.size()) {
    if (k == most_inputs) return refuse();
    jit::input_desc d{type, 0, {0, 0}};
    if (moves) d.gather[d.gathers++] = runs_;
    inputs_.push_back(std::move(from));
    descriptions_.push_back(d);
  }
  return emit({opcode::load, type, type, 0, static_cast<reg>(k), 0, 0, 0});
}

step_lowering::reg step_lowering::carry(reg initial, std::size_t result, const index_map& map, dtype type) {
  if (carried_.size() == most_carried) return refuse();
  const reg at = emit({opcode::carried, type, type, 0, static_cast<reg>(carried_.size()), 0, 0, 0});
  carried_.push_back({at, initial, 0, result, map});
  return at;
}

step_lowering::reg step_lowering::counter(reg first) {
  const reg at = carry(first, no_result, {}, dtype::i64), one = integer(1);
  const reg next = emit({opcode::add, dtype::i64, dtype::i64, 0, at, one, 0, 0});
  carried_.back().next = next;
  return at;
}

// ---- values

step_lowering::reg step_lowering::element(const value& v, const index_map& map) {
  if (failed_) return 0;
  const auto find = [&]() -> const known* {
    for (const known& k : known_[v.get()])
      if (k.map == map) return &k;
    return nullptr;
  };
  if (const known* const k = find()) return k->at;
  const reg at = lower(v, map);
  if (!find()) known_[v.get()].push_back({map, at});
  return at;
}

step_lowering::reg step_lowering::lower(const value& v, const index_map& map) {
  if (!step_.list->has(v)) return lower_constant(v, map);
  const std::int32_t at = step_.list->entry_of(v);
  if (at < 0) {
    const auto inputs = step_.list->inputs();
    return lower_input(static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), v) - inputs.begin()), v, map);
  }
  const trace::entry& e = step_.list->entries()[static_cast<std::size_t>(at)];
  if (e.call) return lower_product(e, v, map);
  switch (e.kind) {
    case node_kind::map: return lower_map(e, map);
    case node_kind::view: return lower_view(e, map);
    case node_kind::update: return lower_update(e, map);
    case node_kind::reduce: return lower_short(e, map);
    default: return refuse();
  }
}

step_lowering::reg step_lowering::lower_constant(const value& v, const index_map& map) {
  if (v->kind.load(std::memory_order_acquire) == node_kind::scalar) return param(v->scalar().constant, v->type);
  if (!v->is_leaf()) return refuse();
  linear_form at = compose(map, core::contiguous_strides(v->shape), 0);
  if (const auto number = number_at(*v, at)) return constant(*number, v, at.offset);
  return load({loop_kernel::origin::constant, 0, v, std::move(at)}, v->type, false);
}

step_lowering::reg step_lowering::lower_input(std::size_t k, const value& v, const index_map& map) {
  linear_form at = compose(map, core::contiguous_strides(v->shape), 0);
  if (k < step_.carried) {
    for (int a = 0; a < v->shape.size(); ++a)
      if (v->shape[a] > 1 && is_constant(map, a)) wants_parts_ = true;
    const reg initial = load({loop_kernel::origin::carry, k, {}, std::move(at)}, v->type, false);
    return carry(initial, k, map, v->type);
  }
  if (!step_.is_numbered)
    return load({loop_kernel::origin::argument, k - step_.carried, {}, std::move(at)}, v->type, true);
  if (first_number_ < 0) {  // a parameter of its own, whatever number it has
    first_number_ = static_cast<int>(params_.size());
    params_.push_back(whole_number(0));
    param_types_.push_back(dtype::i64);
    number_ = counter(emit({opcode::param, dtype::i64, dtype::i64, 0, static_cast<reg>(first_number_), 0, 0, 0}));
  }
  return number_;
}

step_lowering::reg step_lowering::lower_map(const trace::entry& e, const index_map& map) {
  const node& n = e.made();
  reg operands[3] = {0, 0, 0};
  for (std::size_t k = 0; k < e.operands.size(); ++k)
    operands[k] = element(e.operands[k], broadcast(map, n.shape, e.operands[k]->shape));
  fast_math_ = fast_math_ || n.map().fast_math;
  return emit({n.map().op, n.type, e.operands.back()->type, 0, operands[0], operands[1], operands[2], 0});
}

step_lowering::reg step_lowering::lower_view(const trace::entry& e, const index_map& map) {
  const node& n = e.made();
  const value& base = e.operands[0];
  index_map inner;
  if (!decompose(base->shape, n.shape, n.view().strides, n.view().offset, inner)) return refuse();
  return element(base, substitute(inner, map));
}

namespace {

enum class where : std::uint8_t { inside, outside, unknown };

/// Whether the coordinate that `map` has in `row` is written by a region, in which it is `region`'s row; if so the
/// coordinate of the right side along the axis that varies there becomes that of `to`.
where place_in(const index_map& map, const index_map& region, int row, const core::dims& base, const core::dims& shape,
               index_map& to) {
  int axis = -1;
  for (int v = 0; v < region.variables(); ++v)
    if (region.coefficient(row, v) != 0) axis = axis < 0 ? v : region.variables();
  if (axis == region.variables()) return where::unknown;
  const std::int64_t first = region.offset(row), step = axis < 0 ? 1 : region.coefficient(row, axis);
  if (is_constant(map, row)) {
    const std::int64_t away = map.offset(row) - first;
    if (away % step != 0 || away / step < 0 || away / step >= (axis < 0 ? 1 : shape[axis])) return where::outside;
    if (axis >= 0) to.offset(axis) = away / step;
    return where::inside;
  }
  const bool all = axis >= 0 && shape[axis] == base[row];
  if (!all || (step == 1 ? first != 0 : step != -1 || first != base[row] - 1)) return where::unknown;
  to.copy_row(axis, map, row);
  if (step == 1) return where::inside;
  to.offset(axis) = first - to.offset(axis);
  for (int v = 0; v < to.variables(); ++v) to.coefficient(axis, v) = -to.coefficient(axis, v);
  return where::inside;
}

}  // namespace

step_lowering::reg step_lowering::lower_update(const trace::entry& e, const index_map& map) {
  const payload::update& what = e.made().update();
  const value &base = e.operands[0], &rhs = e.operands[1];
  index_map region;
  if (!decompose(base->shape, rhs->shape, what.strides, what.offset, region)) return refuse();
  index_map at(rhs->shape.size(), map.variables());
  bool is_known = true;
  for (int row = 0; row < map.rows(); ++row) {
    const where place = place_in(map, region, row, base->shape, rhs->shape, at);
    if (place == where::outside) return element(base, map);
    is_known = is_known && place == where::inside;
  }
  if (is_known) return element(rhs, at);
  wants_parts_ = true;
  return refuse();
}

step_lowering::reg step_lowering::lower_short(const trace::entry& e, const index_map& map) {
  const node& n = e.made();
  const value& x = e.operands[0];
  const payload::reduce& over = n.reduce();
  if (over.combine || !is_short(over, x->type, x->shape)) return refuse();
  index_map at(x->shape.size(), map.variables());
  for (int a = 0, kept = 0; a < x->shape.size(); ++a)
    if (!over.is_over(a)) at.copy_row(a, map, kept++);
  const dtype sum = joined_in(over.op, n.type);
  std::array<reg, most_short> elements{};
  const auto count = static_cast<std::size_t>(reduced_elements(over, x->shape));
  for (std::size_t k = 0; k < count; ++k) {
    const reg one = element(x, at);
    elements[k] = x->type == sum ? one : emit({opcode::cast, sum, x->type, 0, one, 0, 0, 0});
    for (int a = x->shape.size(); a-- > 0;) {  // the next one in C order
      if (!over.is_over(a)) continue;
      if (++at.offset(a) < x->shape[a]) break;
      at.offset(a) = 0;
    }
  }
  return join(over.op, n.type, std::span<const reg>(elements.data(), count));
}

step_lowering::reg step_lowering::join(jit::reduce_op op, dtype type, std::span<const reg> elements) {
  const dtype sum = joined_in(op, type);
  const auto emit_one = [this](const instr& i) { return emit(i); };
  const reg joined = join_short(joining(op, sum), elements, emit_one);
  return type == sum ? joined : emit({opcode::cast, type, sum, 0, joined, 0, 0, 0});
}

/// Products of few terms have the bits of short sums: on the host floating-point ones are computed so
/// (backends/cpu/linalg/few_terms.hpp), and the terms of whole numbers may be joined in any order.
step_lowering::reg step_lowering::lower_product(const trace::entry& e, const value& result, const index_map& map) {
  const dtype type = result->type;
  const int rank = result->shape.size();
  const value &a = e.operands[0], &b = e.operands[1];
  const std::int64_t terms = a->shape[a->shape.size() - 1];
  const bool few = core::has_few_terms(result->shape[rank - 2], result->shape[rank - 1], terms) &&
                   result->device.kind == runtime::device_kind::cpu;
  const bool suits = is_integer(type) ? terms <= most_short : few && (type == dtype::f32 || type == dtype::f64);
  if (!suits || a->type != type || b->type != type) return refuse();
  const auto matrix_at = [&](const value& v) {  // of which the rows and columns are set below
    const int axes = v->shape.size();
    index_map at(axes, map.variables());
    for (int k = 0; k + 2 < axes; ++k)
      if (v->shape[k] != 1) at.copy_row(k, map, rank - axes + k);
    return at;
  };
  index_map row = matrix_at(a), column = matrix_at(b);
  row.copy_row(row.rows() - 2, map, rank - 2);
  column.copy_row(column.rows() - 1, map, rank - 1);
  std::array<reg, most_short> products{};
  for (std::int64_t k = 0; k < terms; ++k) {
    row.offset(row.rows() - 1) = column.offset(column.rows() - 2) = k;
    const reg x = element(a, row), y = element(b, column);
    products[static_cast<std::size_t>(k)] = emit({opcode::multiply, type, type, 0, x, y, 0, 0});
  }
  return join(jit::reduce_op::sum, type, std::span<const reg>(products.data(), static_cast<std::size_t>(terms)));
}

// ---- results

void step_lowering::add(std::size_t result, const index_map& map) {
  requested_.push_back({result, map, element(step_.results[result], map)});
}

/// Every element computes the condition for itself, from elements at places that are the same for all.
void step_lowering::find_condition() {
  const value& v = step_.results.back();
  condition_ = carry(param(whole_number(1), dtype::b1), no_result, {}, dtype::b1);
  if (failed_) return;
  code_[condition_].spare2 = jit::while_it_holds;
  const std::size_t at = code_[condition_].a;
  const reg next = element(v, index_map(v->shape.size(), extents_.size()));
  carried_[at].next = next;
}

/// The next values of what is carried, which may need more to be carried.
void step_lowering::find_next() {
  for (std::size_t c = 0; c < carried_.size() && !failed_; ++c) {
    if (carried_[c].result == no_result) continue;
    const index_map map = carried_[c].map;
    const reg next = element(step_.results[carried_[c].result], map);
    carried_[c].next = next;
  }
}

/// What never changes has its first value.
void step_lowering::find_unchanged() {
  same_.resize(code_.size());
  for (std::size_t r = 0; r < same_.size(); ++r) same_[r] = static_cast<reg>(r);
  for (const carried& c : carried_)
    if (c.next == c.at) same_[c.at] = c.initial;
}

namespace {

template <class F>
void each_operand(const instr& i, F f) {
  const std::uint16_t regs[3] = {i.a, i.b, i.c};
  for (int k = 0; k < jit::operand_count(i.op); ++k) f(regs[k]);
}

}  // namespace

void step_lowering::mark_varying() {
  varies_.assign(code_.size(), 0);
  for (std::size_t r = 0; r < code_.size(); ++r) {
    const instr& i = code_[r];
    bool varies = i.op == opcode::carried ? same_[r] == r : i.op == opcode::load && descriptions_[i.a].gathers != 0;
    each_operand(i, [&](reg o) { varies = varies || varies_[same_[o]]; });
    varies_[r] = varies;
  }
}

void step_lowering::mark_needed() {
  needed_.assign(code_.size(), 0);
  std::vector<reg> work{runs_};
  if (step_.is_conditional) work.push_back(condition_);
  for (const requested& r : requested_) work.push_back(r.at);
  while (!work.empty()) {
    const reg r = same_[work.back()];
    work.pop_back();
    if (std::exchange(needed_[r], 1)) continue;
    const instr& i = code_[r];
    each_operand(i, [&](reg o) { work.push_back(o); });
    if (i.op != opcode::carried) continue;
    work.push_back(carried_[i.a].initial);
    work.push_back(carried_[i.a].next);
  }
}

/// What a carried register becomes is a register of the loop, and of other carried ones one of a lower number: what is not
/// is copied there.
void step_lowering::write_carried(loop_kernel& out) {
  jit::program& p = out.code;
  for (std::size_t k = 0; k < p.carried.size(); ++k) {
    jit::carried_desc& d = p.carried[k];
    const carried& c = carried_[static_cast<std::size_t>(d.initial)];
    const reg next = same_[c.next], at = place_[next];
    const bool later = code_[next].op == opcode::carried && p.code[at].a >= k;
    d = {place_[c.at], place_[same_[c.initial]], at};
    if (varies_[next] && !later) continue;
    const dtype type = code_[c.at].type;
    d.next = static_cast<reg>(p.code.size());
    p.code.push_back({opcode::cast, type, type, 0, at, 0, 0, 0});
  }
}

void step_lowering::write(loop_kernel& out) {
  jit::program& p = out.code;
  p.clear();
  p.flags.fast_math = fast_math_;
  place_.assign(code_.size(), 0);
  const auto put = [&](std::size_t r) {
    instr i = code_[r];
    reg* const operands[3] = {&i.a, &i.b, &i.c};
    for (int k = 0; k < jit::operand_count(i.op); ++k) *operands[k] = place_[same_[*operands[k]]];
    place_[r] = static_cast<reg>(p.code.size());
    p.code.push_back(i);
  };
  const auto put_all = [&](auto suits) {
    for (std::size_t r = 0; r < code_.size(); ++r)
      if (needed_[r] && suits(r)) put(r);
  };
  put_all([&](std::size_t r) { return !varies_[r]; });
  p.loop.begin = static_cast<reg>(p.code.size());
  put_all([&](std::size_t r) { return varies_[r] && code_[r].op == opcode::carried; });
  for (std::size_t k = p.loop.begin; k < p.code.size(); ++k) {
    p.carried.push_back({static_cast<reg>(k), p.code[k].a, 0});  // for now: which one it is
    p.code[k].a = static_cast<reg>(k - p.loop.begin);
  }
  put_all([&](std::size_t r) { return varies_[r] && code_[r].op != opcode::carried; });
  write_carried(out);
  p.loop.end = static_cast<reg>(p.code.size());
  p.epilogue = p.loop.end;
}

bool step_lowering::finish(loop_kernel& out) {
  if (step_.is_conditional) find_condition();
  find_next();
  if (failed_) return false;
  find_unchanged();
  mark_varying();
  mark_needed();
  write(out);
  jit::program& p = out.code;
  for (jit::input_desc& d : descriptions_)
    if (d.gathers != 0) d.gather[0] = place_[runs_];
  p.inputs = std::move(descriptions_);
  p.param_types = std::move(param_types_);
  out.params = std::move(params_);
  for (own_number& n : own_numbers_)
    out.numbers.push_back({static_cast<std::size_t>(n.param), std::move(n.leaf), 0, n.at});
  out.first_number = first_number_;
  p.loop.count = static_cast<reg>(out.params.size());
  out.params.push_back(whole_number(0));
  p.param_types.push_back(dtype::i64);
  p.params = static_cast<reg>(out.params.size());
  out.extents = extents_;
  out.inputs = std::move(inputs_);
  for (const requested& r : requested_) {
    const value& v = step_.results[r.result];
    out.outputs.push_back({r.result, compose(r.map, core::contiguous_strides(v->shape), 0)});
    const std::uint8_t when = step_.is_last(r.result) ? std::uint8_t{0} : jit::in_each_run;
    p.outputs.push_back({v->type, when, place_[same_[r.at]]});
  }
  return true;
}

}  // namespace sinter::graph
