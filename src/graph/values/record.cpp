// Recording: makes nodes. The only work done here is bookkeeping that must be fixed when an operation is recorded.
#include "graph/values/record.hpp"

#include <algorithm>
#include <cassert>
#include <memory>

#include "core/shape.hpp"
#include "graph/values/limits.hpp"
#include "graph/values/record_pair.hpp"
#include "graph/values/record_part.hpp"
#include "graph/values/trace.hpp"

namespace sinter::graph {
namespace {

thread_local bool fast_math_on = false;
thread_local std::uint64_t last_order = 0;

/// Views and gathers select elements that exist: an intermediate one may span more than can be counted. Nodes of all
/// other kinds may be materialised.
constexpr bool must_be_countable(node_kind kind) { return kind != node_kind::view && kind != node_kind::gather; }

/// core::countable_elements; for shapes of few short axes, as nearly all are, without its tests for each axis.
[[gnu::always_inline]] inline std::int64_t elements_of(const dims& shape) noexcept {
  constexpr int bits = 19, most_axes = 3;
  if (shape.size() <= most_axes) [[likely]] {
    std::uint64_t all = 0, n = 1;
    for (const std::int64_t d : shape) {
      all |= static_cast<std::uint64_t>(d);
      n *= static_cast<std::uint64_t>(d);
    }
    static_assert(std::int64_t{1} << bits * most_axes <= core::most_elements);
    if (all >> bits == 0) [[likely]]
      return static_cast<std::int64_t>(n);
  }
  return core::countable_elements(shape);
}

/// What values over one of a kind depend on.
constexpr std::uint8_t shown_by(node_kind kind) {
  return kind == node_kind::reduce ? over_what::reduction : kind == node_kind::update ? over_what::write : 0;
}

/// itemsize() without its table, which is copied where the compiler does not know the dtype.
constexpr std::size_t bytes_of_one(dtype type) noexcept {
  constexpr std::uint64_t logarithms = 0x433'2113'2103'2100;  // four bits for each dtype
  return std::size_t{1} << (logarithms >> 4 * static_cast<int>(type) & 15);
}
constexpr bool knows_all_sizes() {
  for (int t = 0; t < dtype_count; ++t)
    if (bytes_of_one(static_cast<dtype>(t)) != itemsize(static_cast<dtype>(t))) return false;
  return true;
}
static_assert(knows_all_sizes());

/// Whether a value of a shape is large. Throws where it has too many elements to be materialised, if it may be.
[[gnu::always_inline]] inline bool is_large(node_kind kind, dtype type, const dims& shape) {
  const std::int64_t count = elements_of(shape);
  if (count < 0) [[unlikely]] {
    if (must_be_countable(kind)) core::checked_count(shape, "shape");
    return true;
  }
  return static_cast<std::size_t>(count) * bytes_of_one(type) >= limits().large_operand;
}

template <class Payload>
[[gnu::always_inline]] inline node* fresh(Payload&& what, dtype type, const dims& shape, runtime::device_id device,
                                          bool large) {
  node* n = new node(std::forward<Payload>(what), type, shape, device);
  const runtime::thread_state& mine = runtime::this_thread();
  if (device.kind != runtime::device_kind::mesh) [[likely]]
    n->memory = mine.kind[runtime::slot_of(device)];
  n->capture = mine.capture;
  n->order = ++last_order;
  n->large = large;
  n->shows = shown_by(std::remove_cvref_t<Payload>::kind) | (large ? over_what::large : 0);
  return n;
}
template <class Payload>
value fresh(Payload&& what, dtype type, const dims& shape, runtime::device_id device) {
  const bool large = is_large(std::remove_cvref_t<Payload>::kind, type, shape);
  return value::adopt(fresh(std::forward<Payload>(what), type, shape, device, large));
}

/// Bytes of operands that may be kept by values much smaller than they are, without its being noted.
constexpr std::size_t least_held = 4096;

[[gnu::noinline]] bool is_much_larger_in_bytes(const node& operand, const node& n) {
  return operand.bytes() >= least_held && 4 * n.bytes() <= operand.bytes();
}
/// Whether an operand is so much larger than a value that this should not be what keeps it. Each view asks, of small arrays mostly.
[[gnu::always_inline]] inline bool is_much_larger(const value& operand, const node& n) {
  constexpr std::int64_t least_elements = least_held / 16;
  return core::element_count(operand->shape) >= least_elements && is_much_larger_in_bytes(*operand, n);
}

/// What a value may depend on by an operand in memory.
constexpr std::uint8_t shown_by_leaves = over_what::large;

/// What a value depends on by an operand.
std::uint8_t shown_by(const node& operand) noexcept {
  const std::uint8_t all = operand.over | operand.shows;
  return operand.is_leaf() ? all & shown_by_leaves : all;
}

[[gnu::always_inline]] inline void note_operand(node& n, const node& operand) {
  std::uint8_t all = operand.over | operand.shows;
  if (operand.is_leaf()) {
    n.over |= all & shown_by_leaves;
    return;
  }
  if ((all & over_what::larger) != 0 && n.bytes() > 4 * operand.bytes()) [[unlikely]]
    all &= static_cast<std::uint8_t>(~over_what::larger);
  n.over |= all;
  if (operand.order >= n.order) [[unlikely]]
    n.order = last_order = operand.order + 1;  // recorded by another thread
  const unsigned longest = operand.depth + (operand.depth != 0xffff ? 1U : 0U);
  if (longest > n.depth) n.depth = static_cast<std::uint16_t>(longest);
}
/// The place of a new operand, which holds nothing.
[[gnu::always_inline]] inline void adopt_operand(node& n, value&& operand) {
  note_operand(n, *operand);
  std::construct_at(&n.args[n.nargs++], std::move(operand));
}
void adopt_operand(node& n, const value& operand) { adopt_operand(n, value(operand)); }

/// The shape without the reduced axes; `nothing`: a reduced extent is 0.
dims kept_shape(const value& v, std::span<const bool> reduced, bool& nothing) {
  dims kept;
  for (int a = 0; a < v->shape.size(); ++a) {
    if (reduced[static_cast<std::size_t>(a)]) nothing |= v->shape[a] == 0;
    else kept.push_back(v->shape[a]);
  }
  return kept;
}

/// A map over operands, which it takes.
[[gnu::always_inline]] inline value map_of_operands(jit::opcode op, dtype type, const dims& shape, bool large,
                                                    std::span<value> operands) {
  node* const n = fresh(payload::map{.op = op, .fast_math = fast_math_on}, type, shape, operands[0]->device, large);
  for (value& operand : operands) adopt_operand(*n, std::move(operand));
  value v = value::adopt(n);
  note_recorded(v);
  return v;
}

value reduce_node(jit::reduce_op op, dtype type, const value& v, const dims& kept, std::span<const bool> reduced,
                  const jit::user_reduction* combine, payload::whole_reduction whole = {}) {
  std::uint64_t axes = 0;
  for (int a = 0; a < v->shape.size(); ++a) axes |= std::uint64_t{reduced[static_cast<std::size_t>(a)]} << a;
  value n = fresh(payload::reduce{.op = op, .axes = axes, .combine = combine, .whole = whole}, type, kept, v->device);
  n->opaque = combine && !combine->value.opaque.empty();
  if (is_much_larger(v, *n)) n->over |= over_what::larger;
  adopt_operand(*n, v);
  link_reader(n.get());
  note_recorded(n);
  return n;
}

value call_node(const jit::user_function* f, int output, const dims& shape, std::vector<value> operands,
                runtime::device_id device) {
  const jit::user_parameter& result = f->outputs[static_cast<std::size_t>(output)];
  value n = fresh(payload::call{.function = f,
                                .operands = std::move(operands),
                                .output = output,
                                .for_effects = false,
                                .fast_math = fast_math_on},
                  result.type, shape, device);
  n->opaque = !result.opaque.empty();
  for (const value& operand : n->call().operands) note_operand(*n, *operand);
  note_recorded(n);
  return n;
}

/// The function that yields the result of a user's reduction over no elements.
const jit::user_function* identity_function(const jit::user_reduction& r) {
  jit::user_function f;
  f.name = r.name;
  f.types = r.types;
  f.preamble = r.preamble;
  f.body = "return " + r.identity + ";";
  f.returns = true;
  f.outputs.push_back(r.value);
  return jit::intern(std::move(f));
}

jit::scalar identity_of(jit::reduce_op op, dtype type) {
  jit::scalar s;
  s.type = type;
  const int neutral = jit::about(op).neutral;
  if (type == dtype::b1) {
    s.b = neutral != 0;
  } else if (is_inexact(type)) {
    s.f[0] = neutral;
    s.f[1] = 0;
  } else {
    s.i = neutral;
  }
  return s;
}

}  // namespace

std::uint64_t last_recorded() noexcept { return last_order; }

bool fast_math() noexcept { return fast_math_on; }
void set_fast_math(bool on) noexcept { fast_math_on = on; }

value record_scalar(const jit::scalar& v, dtype type, const dims& shape, runtime::device_id device) {
  assert(v.type == type);
  return fresh(payload::scalar{.constant = v}, type, shape, device);
}

value record_unset(dtype type, const dims& shape, runtime::device_id device) {
  jit::scalar zero;
  zero.type = type;
  return fresh(payload::scalar{.constant = zero, .unset = true}, type, shape, device);
}

value record_iota(const dims& shape, int axis, runtime::device_id device) {
  return fresh(payload::iota{.axis = axis}, dtype::i64, shape, device);
}

value record_map(jit::opcode op, dtype type, const dims& shape, std::span<const value> operands) {
  value n = fresh(payload::map{.op = op, .fast_math = fast_math_on}, type, shape, operands[0]->device);
  for (const value& operand : operands) adopt_operand(*n, operand);
  note_recorded(n);
  return n;
}

value record_map_moving(jit::opcode op, dtype type, const dims& shape, std::span<value> operands) {
  return map_of_operands(op, type, shape, is_large(node_kind::map, type, shape), operands);
}

/// The same for an operation of a value's shape. Nothing is counted again: what is not large has a number of elements.
[[gnu::always_inline]] inline bool is_large_like(dtype type, const node& of) {
  const bool known = !of.large && (of.type == type || bytes_of_one(of.type) >= bytes_of_one(type));
  return !known && is_large(node_kind::map, type, of.shape);
}

value record_map_like(jit::opcode op, dtype type, int like, std::span<value> operands) {
  const node& of = *operands[static_cast<std::size_t>(like)];
  return map_of_operands(op, type, of.shape, is_large_like(type, of), operands);
}

value record_pair(jit::opcode op, dtype type, const node& like, node* a, node* b) {
  node* n = nullptr;
  try {
    n = fresh(payload::map{.op = op, .fast_math = fast_math_on}, type, like.shape, like.device,
              is_large_like(type, like));
  } catch (...) {
    value::adopt(a);
    value::adopt(b);
    throw;
  }
  note_operand(*n, *a);
  note_operand(*n, *b);
  std::construct_at(&n->args[0], value::adopt(a));
  std::construct_at(&n->args[1], value::adopt(b));
  n->nargs = 2;
  value v = value::adopt(n);
  note_recorded(v);
  return v;
}

value record_scalar_like(const jit::scalar& v, const node& like) {
  assert(v.type == like.type);
  return value::adopt(fresh(payload::scalar{.constant = v}, like.type, like.shape, like.device, like.large));
}

value record_random(jit::opcode op, dtype type, const dims& shape, const random_stream& stream,
                    std::span<const value> operands, runtime::device_id device) {
  value n = fresh(payload::random{.op = op, .stream = stream}, type, shape, device);
  for (const value& operand : operands) adopt_operand(*n, operand);
  note_recorded(n);
  return n;
}

value record_cast(value v, dtype type) {
  if (v->type == type) return v;
  return record_map_like(jit::opcode::cast, type, 0, std::span(&v, 1));
}

value record_view(const value& v, const dims& shape, const dims& strides, std::int64_t offset) {
  if (offset == 0 && shape == v->shape && core::is_contiguous(shape, strides)) return v;
  if (v->kind.load(std::memory_order_acquire) == node_kind::scalar)
    return record_scalar(v->scalar().constant, v->type, shape, v->device);
  value n = fresh(payload::view{.strides = strides, .offset = offset}, v->type, shape, v->device);
  if (is_much_larger(v, *n)) n->over |= over_what::larger;
  adopt_operand(*n, v);
  note_recorded(n);
  return n;
}

value record_identity(const value& v) {
  value n =
      fresh(payload::view{.strides = core::contiguous_strides(v->shape), .offset = 0}, v->type, v->shape, v->device);
  adopt_operand(*n, v);
  note_recorded(n);
  return n;
}

value record_gather(const value& v, const value& index, int axis, const dims& shape, int reported_axis) {
  value n = fresh(payload::gather{.axis = axis, .reported_axis = reported_axis}, v->type, shape, v->device);
  if (is_much_larger(v, *n)) n->over |= over_what::larger;
  adopt_operand(*n, v);
  adopt_operand(*n, index);
  note_recorded(n);
  return n;
}

value record_roll(const value& v, std::int64_t by, int axis) {
  dims along;
  along.resize(v->shape.size(), 1);
  along[axis] = v->shape[axis];
  jit::scalar distance;
  distance.type = dtype::i64;
  distance.i = by;
  value places = fresh(payload::iota{.axis = axis}, dtype::i64, along, v->device);
  const bool large = places->large;
  value step = value::adopt(fresh(payload::scalar{.constant = distance}, dtype::i64, dims(), v->device, false));
  value both[] = {std::move(places), std::move(step)};
  value from = map_of_operands(jit::opcode::subtract, dtype::i64, along, large, both);
  value n = value::adopt(fresh(payload::gather{.axis = axis, .reported_axis = payload::gather::in_range}, v->type,
                               v->shape, v->device, v->large));
  adopt_operand(*n, v);
  adopt_operand(*n, std::move(from));
  note_recorded(n);
  return n;
}

value record_reduce(jit::reduce_op op, dtype type, const value& v, std::span<const bool> reduced) {
  bool nothing = false;
  const dims kept = kept_shape(v, reduced, nothing);
  if (nothing) return record_scalar(identity_of(op, type), type, kept, v->device);
  return reduce_node(op, type, v, kept, reduced, nullptr);
}

value record_part_of_reduce(jit::reduce_op op, const jit::user_reduction* combine, dtype type, const value& v,
                            std::span<const bool> reduced, payload::whole_reduction whole) {
  bool nothing = false;
  const dims kept = kept_shape(v, reduced, nothing);
  return reduce_node(op, type, v, kept, reduced, combine, whole);
}

value record_reduce(const jit::user_reduction* combine, const value& v, std::span<const bool> reduced) {
  bool nothing = false;
  const dims kept = kept_shape(v, reduced, nothing);
  if (nothing) return call_node(identity_function(*combine), 0, kept, {}, v->device);
  return reduce_node(jit::reduce_op::user, combine->value.type, v, kept, reduced, combine);
}

value record_call(const jit::user_function* f, int output, const dims& shape, std::vector<value> operands) {
  const runtime::device_id device = operands.empty() ? runtime::default_device() : operands[0]->device;
  return call_node(f, output, shape, std::move(operands), device);
}

value record_effect(const jit::user_function* f, const dims& shape, std::vector<value> operands,
                    std::vector<value> targets, runtime::device_id device) {
  value n = fresh(payload::call{.function = f,
                                .operands = std::move(operands),
                                .output = 0,
                                .for_effects = true,
                                .fast_math = fast_math_on,
                                .targets = std::move(targets)},
                  dtype::u8, shape, device);
  for (const value& operand : n->call().operands) n->over |= shown_by(*operand) & over_what::reduction;
  return n;
}

value record_update(const value& base, const dims& strides, std::int64_t offset, const value& rhs, bool in_place) {
  value n = fresh(payload::update{.strides = strides, .offset = offset, .in_place = in_place}, base->type, base->shape,
                  base->device);
  n->memory = base->kind_of_memory();
  adopt_operand(*n, base);
  adopt_operand(*n, rhs);
  n->writes = static_cast<std::uint16_t>(base->is_leaf() ? 1 : base->writes + 1);
  note_recorded(n);
  return n;
}

value make_leaf(runtime::buffer_ref buffer, std::int64_t offset, const dims& shape, dtype type) {
  value n = fresh(payload::leaf{}, type, shape, buffer->owner().id());
  n->buffer = std::move(buffer);
  n->buffer_offset = offset;
  return n;
}

value unset_leaf(const dims& shape, dtype type, runtime::device_id device, std::optional<memory_kind> kind) {
  const auto bytes = static_cast<std::size_t>(core::checked_count(shape, "shape")) * itemsize(type);
  runtime::backend& owner = runtime::get_backend(device);
  return make_leaf(
      kind ? std::make_shared<runtime::buffer>(owner, bytes, *kind) : std::make_shared<runtime::buffer>(owner, bytes),
      0, shape, type);
}

}  // namespace sinter::graph
