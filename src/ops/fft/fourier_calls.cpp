// From a value to the libraries' layouts: transformed axes moved to the end, operands that a call may overwrite,
// several calls where one cannot express the transform.
#include "ops/fft/fourier_calls.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/shape.hpp"
#include "graph/run/flush.hpp"
#include "graph/values/faults.hpp"
#include "ops/base/opaque_call.hpp"

namespace sinter::ops {
namespace {

using runtime::fourier_kind;
using runtime::fourier_layout;

constexpr int most_axes = 3;            // of one library call
constexpr std::int64_t most_calls = 8;  // above, a transposition is cheaper
constexpr std::int64_t alignment = 16;  // bytes

struct evaluated_operand {
  value leaf;
  bool own = false;  // exclusively owned memory
};

/// Evaluates. The memory can be exclusively owned only if the argument is the last reference to the value.
evaluated_operand evaluate_operand(value v) {
  graph::flush(std::span(&v, 1));
  const auto begin = reinterpret_cast<std::intptr_t>(v->buffer->address());
  if ((begin + v->buffer_offset * static_cast<std::int64_t>(itemsize(v->type))) % alignment != 0)
    return {own_memory(v), true};
  const bool own = v->refs.load() == 1 && v->buffer.use_count() == 1 && v->buffer_offset == 0;
  return {std::move(v), own};
}

evaluated_operand owned(value v) {
  evaluated_operand s = evaluate_operand(std::move(v));
  if (!s.own) s = {own_memory(s.leaf), true};
  return s;
}

/// One transform over at most three axes, which are the last ones in this order.
struct pass {
  const char* function;
  fourier_kind kind;
  bool inverse;
  dtype real;

  dtype in_type() const { return kind == fourier_kind::real_to_complex ? real : complex_of(real); }
  dtype out_type() const { return kind == fourier_kind::complex_to_real ? real : complex_of(real); }
  fourier_layout layout() const {
    fourier_layout l;
    l.kind = kind;
    l.inverse = inverse;
    l.wide = real == float64;
    return l;
  }
  std::int64_t in_extent(std::int64_t points) const {
    return kind == fourier_kind::complex_to_real ? points / 2 + 1 : points;
  }
  std::int64_t out_extent(std::int64_t points) const {
    return kind == fourier_kind::real_to_complex ? points / 2 + 1 : points;
  }

  evaluated_operand input(value v) const {
    v = graph::record_cast(std::move(v), in_type());
    return kind == fourier_kind::complex_to_real ? owned(std::move(v)) : evaluate_operand(std::move(v));
  }
  value output(const evaluated_operand& in, const dims& shape) const {
    if (kind == fourier_kind::complex && in.own) return in.leaf;
    return unset_leaf(shape, out_type(), in.leaf->device);
  }
  void run(const fourier_layout& l, const value& in, std::int64_t in_at, const value& out, std::int64_t out_at) const {
    // The library overwrites its input, which the call owns exclusively.
    const bool spoilt = kind == fourier_kind::complex_to_real;
    void* const from = spoilt ? address_to_write(in, in_at) : const_cast<void*>(address_to_read(in, in_at));
    runtime::get_backend(in->device).fourier().run(l, from, address_to_write(out, out_at), function);
    if (!(in == out)) graph::inherit_faults(out, {&in});
  }
};

/// The last axes, in order: one call.
value along_last(const pass& p, value x, std::span<const fourier_axis> axes) {
  dims shape = x->shape;
  const int lead = shape.size() - static_cast<int>(axes.size());
  fourier_layout l = p.layout();
  l.rank = static_cast<int>(axes.size());
  for (int a = 0; a < lead; ++a) l.batch *= shape[a];
  for (int a = 0; a < l.rank; ++a) {
    l.length[a] = axes[static_cast<std::size_t>(a)].points;
    l.in_step *= shape[lead + a];
    if (a == l.rank - 1) shape[lead + a] = p.out_extent(l.length[a]);
    l.out_step *= shape[lead + a];
  }
  const evaluated_operand in = p.input(std::move(x));
  const value out = p.output(in, shape);
  if (out->size() != 0) p.run(l, in.leaf, 0, out, 0);
  return out;
}

/// The element counts of the axes before and after one.
struct surroundings {
  std::int64_t outer = 1, inner = 1;
  surroundings(const dims& shape, int axis) {
    for (int a = 0; a < axis; ++a) outer *= shape[a];
    for (int a = axis + 1; a < shape.size(); ++a) inner *= shape[a];
  }
};

/// The layout along an axis in place, for one index of its leading axes.
fourier_layout inner_layout(const pass& p, const fourier_axis& axis, std::int64_t inner) {
  fourier_layout l = p.layout();
  l.length[0] = axis.points;
  l.in_stride = l.out_stride = l.batch = inner;
  return l;
}

/// Transforms an axis in place: one call per index of its leading axes.
value along_inner(const pass& p, value x, const fourier_axis& axis) {
  dims shape = x->shape;
  const auto [outer, inner] = surroundings(shape, axis.axis);
  const std::int64_t in_block = shape[axis.axis] * inner;
  shape[axis.axis] = p.out_extent(axis.points);
  const fourier_layout l = inner_layout(p, axis, inner);
  const evaluated_operand in = p.input(std::move(x));
  const value out = p.output(in, shape);
  for (std::int64_t k = 0; k < outer && out->size() != 0; ++k)
    p.run(l, in.leaf, k * in_block, out, k * shape[axis.axis] * inner);
  return out;
}

/// Whether along_inner needs few calls, each on aligned memory, and the library is fast with that layout.
bool suits_inner(const pass& p, const value& x, const fourier_axis& axis) {
  const dims& shape = x->shape;
  const surroundings other(shape, axis.axis);
  const std::int64_t outer = other.outer, inner = other.inner;
  if (runtime::get_backend(x->device).fourier().prefers_rows(inner_layout(p, axis, inner))) return false;
  const auto bytes = [&](dtype t, std::int64_t extent) {
    return inner * extent * static_cast<std::int64_t>(itemsize(t));
  };
  const bool aligned = bytes(p.in_type(), shape[axis.axis]) % alignment == 0 &&
                       bytes(p.out_type(), p.out_extent(axis.points)) % alignment == 0;
  return outer == 1 || (outer <= most_calls && aligned);
}

/// The untransformed axes, then the transformed ones.
std::vector<int> order_for(int rank, std::span<const fourier_axis> axes) {
  std::vector<int> order;
  for (int a = 0; a < rank; ++a)
    if (std::none_of(axes.begin(), axes.end(), [a](auto& t) { return t.axis == a; })) order.push_back(a);
  for (const fourier_axis& t : axes) order.push_back(t.axis);
  return order;
}

bool stays(const std::vector<int>& order) { return std::is_sorted(order.begin(), order.end()); }

value reordered(const value& v, const std::vector<int>& order) {
  return graph::record_view(v, core::at_axes(v->shape, order), core::at_axes(core::contiguous_strides(v->shape), order),
                            0);
}

/// A leaf whose axes are in this order, as an array in the original order: a recorded view, so that the next reader
/// does the transposition.
ndarray restored(const value& leaf, const std::vector<int>& order) {
  if (stays(order)) return wrap(leaf);
  const dims dense = core::contiguous_strides(leaf->shape);
  dims shape(leaf->shape.size()), strides(leaf->shape.size());
  for (int k = 0; k < leaf->shape.size(); ++k) {
    shape[order[static_cast<std::size_t>(k)]] = leaf->shape[k];
    strides[order[static_cast<std::size_t>(k)]] = dense[k];
  }
  return wrap(graph::record_view(leaf, shape, strides, 0));
}

ndarray run_pass(const pass& p, value x, std::span<const fourier_axis> axes) {
  const std::vector<int> order = order_for(x->shape.size(), axes);
  if (stays(order)) return wrap(along_last(p, std::move(x), axes));
  if (axes.size() == 1 && suits_inner(p, x, axes[0])) return wrap(along_inner(p, std::move(x), axes[0]));
  value moved = reordered(x, order);
  x = value();
  return restored(along_last(p, std::move(moved), axes), order);
}

/// In as many passes as necessary. The pass with the real side is the first or the last one.
ndarray run_passes(const pass& p, value x, std::span<const fourier_axis> axes) {
  if (axes.size() <= most_axes) return run_pass(p, std::move(x), axes);
  const pass others{p.function, fourier_kind::complex, p.inverse, p.real};
  const auto rest = axes.first(axes.size() - most_axes), last = axes.last(most_axes);
  const bool ends = p.kind == fourier_kind::complex_to_real;
  const ndarray half = ends ? run_passes(others, std::move(x), rest) : run_pass(p, std::move(x), last);
  value between = value_of(half, p.function);
  return ends ? run_pass(p, std::move(between), last) : run_passes(others, std::move(between), rest);
}

/// A transform along an axis with one point only changes the dtype.
ndarray without_single_points(pass p, value x, std::span<const fourier_axis> axes) {
  const bool gives_real = p.kind == fourier_kind::complex_to_real;
  if (axes.back().points == 1) p.kind = fourier_kind::complex;
  std::vector<fourier_axis> kept;
  for (const fourier_axis& a : axes)
    if (a.points != 1) kept.push_back(a);
  x = graph::record_cast(std::move(x), p.in_type());
  const ndarray y = kept.empty() ? wrap(std::move(x)) : run_passes(p, std::move(x), kept);
  if (!gives_real || p.kind != fourier_kind::complex) return y;
  const value z = value_of(y, p.function);
  return wrap(graph::record_map(opcode::real, p.real, z->shape, std::span(&z, 1)));
}

/// Announced as "fft" with the kind (0 complex, 1 real to complex, 2 complex to real), whether it is inverse, then axis
/// and points of each transformed axis. The operand has the right extents and dtype; nothing is scaled.
std::optional<std::vector<ndarray>> announced(const pass& p, const value& sized, std::span<const fourier_axis> axes) {
  const std::int64_t kind = p.kind == fourier_kind::complex ? 0 : p.kind == fourier_kind::real_to_complex ? 1 : 2;
  const std::vector<fourier_axis> all(axes.begin(), axes.end());
  opaque_call call{"fft", {wrap(sized)}, {kind, p.inverse}, {}, [p, all](std::span<const ndarray> a) {
                     return results_of(transformed(p.function, value_of(a[0]), p.kind, p.inverse, all));
                   }};
  for (const fourier_axis& a : all) {
    call.numbers.push_back(a.axis);
    call.numbers.push_back(a.points);
  }
  return run_intercepted(call);
}

}  // namespace

dtype fourier_real(dtype t) noexcept {
  switch (t) {
    case dtype::f16:
    case dtype::bf16:
    case dtype::f32:
    case dtype::c64: return float32;
    default: return float64;
  }
}

dtype complex_of(dtype real) noexcept { return real == float32 ? complex64 : complex128; }

std::vector<int> fourier_axes(bool given, std::vector<int> listed, const std::optional<shape_t>& s, const dims& shape,
                              const char* function) {
  if (!given) {
    const int count = s ? s->ndim() : shape.size();
    if (count > shape.size())
      fail<shape_error>(function, "s has ", count, " extents, more than shape ", shape, " has axes");
    for (int a = shape.size() - count; a < shape.size(); ++a) listed.push_back(a);
  }
  if (s && s->size() != listed.size())
    fail<value_error>(function, "s and axes must have the same length, not ", s->size(), " and ", listed.size());
  return listed;
}

double fourier_scale(std::string_view norm, bool inverse, double points, const char* function) {
  if (norm == "ortho") return 1 / std::sqrt(points);
  if (norm != "backward" && norm != "forward")
    fail<value_error>(function, "norm must be backward, ortho or forward, not '", norm, "'");
  return (norm == "backward") == inverse ? 1 / points : 1;
}

value resized(const value& x, int axis, std::int64_t length) {
  const std::int64_t now = x->shape[axis];
  if (now == length) return x;
  dims shape = x->shape;
  const dims strides = core::contiguous_strides(x->shape);
  shape[axis] = length;
  if (length < now) return graph::record_view(x, shape, strides, 0);
  const value zeros = graph::record_scalar(scalar_of(0, x->type, "fft"), x->type, shape, x->device);
  if (x->size() == 0) return zeros;
  return graph::record_update(zeros, core::contiguous_strides(shape), 0, x);
}

ndarray transformed(const char* function, const value& x, fourier_kind kind, bool inverse,
                    std::span<const fourier_axis> axes) {
  dims asked = x->shape;
  for (const fourier_axis& a : axes) asked[a.axis] = a.points;
  core::checked_count(asked, function);
  const pass p{function, kind, inverse, fourier_real(x->type)};
  value sized = x;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::int64_t points = axes[k].points;
    sized = resized(sized, axes[k].axis, k + 1 == axes.size() ? p.in_extent(points) : points);
  }
  if (is_intercepting()) {
    if (auto r = announced(p, graph::record_cast(sized, p.in_type()), axes)) return (*r)[0];
  }
  return without_single_points(p, std::move(sized), axes);
}

}  // namespace sinter::ops
