// Arrays from rules: constants, ranges, diagonals, triangles, grids. All are recorded; none takes memory until
// evaluated.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/format_number.hpp"
#include "core/shape.hpp"
#include "ops/base/type_rules.hpp"
#include "ops/shape/memory_order.hpp"
#include "sinter/creation.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::inline v0 {
namespace {

using graph::value;
using jit::opcode;
using ops::dims;
using runtime::device_id;

value constant(const scalar& x, dtype type, const dims& shape, device_id device, const char* function) {
  return graph::record_scalar(ops::scalar_of(x, type, function), type, shape, device);
}
value map2(opcode op, dtype type, const dims& shape, const value& a, const value& b) {
  return graph::record_map(op, type, shape, {a, b});
}
value choose(const value& condition, const value& yes, const value& no, const dims& shape) {
  return graph::record_map(opcode::select, yes->type, shape, {condition, yes, no});
}

ndarray filled(const shape_t& shape, const operand& x, dtype type, const std::optional<device>& where,
               const char* function) {
  const dims extents = ops::to_dims(shape);
  core::checked_count(extents, function);
  if (!x.is_array()) return ops::wrap(constant(x.number(), type, extents, ops::chosen(where), function));
  const ndarray on_device = where ? x.array().to_device(*where) : x.array();
  const value v = graph::record_cast(ops::value_of(on_device, function), type);
  if (!core::broadcasts_to(v->shape, extents))
    ops::fail<shape_error>(function, "fill value of shape ", v->shape, " does not broadcast to shape ", extents);
  return ops::wrap(ops::broadcast_value(v, extents));
}

dtype type_of(const operand& x) { return x.is_array() ? x.array().dtype() : x.number().default_dtype(); }

ndarray unset(const shape_t& shape, dtype type, const std::optional<device>& where, const char* function) {
  const dims extents = ops::to_dims(shape);
  core::checked_count(extents, function);
  return ops::wrap(graph::record_unset(type, extents, ops::chosen(where)));
}

/// An array of a shape whose axes lie in memory in the order `axes`: make(shape in memory), seen from there.
template <class Make>
ndarray in_order(const shape_t& shape, const std::vector<int>& axes, const Make& make) {
  if (std::is_sorted(axes.begin(), axes.end())) return make(shape);
  dims in_memory;
  for (const int a : axes) in_memory.push_back(shape[static_cast<std::size_t>(a)]);
  return ops::seen_from_memory(make(ops::to_shape(in_memory)), axes);
}

ndarray filled_in_order(const shape_t& shape, const std::vector<int>& axes, const operand& v, dtype type,
                        const std::optional<device>& where, const char* function) {
  // An array broadcasts to the shape as it is written: it is permuted like it.
  if (v.is_array() && !std::is_sorted(axes.begin(), axes.end())) {
    const ndarray whole = filled(shape, v, type, where, function);
    return in_order(shape, axes, [&](const shape_t&) { return permute_dims(whole, sinter::axes(axes)).copy(); });
  }
  return in_order(shape, axes, [&](const shape_t& s) { return filled(s, v, type, where, function); });
}

ndarray filled(const shape_t& shape, const operand& v, dtype type, const create_kw& kw, const char* function) {
  const auto axes = ops::axes_in_memory(static_cast<int>(shape.size()), kw.order, function);
  return filled_in_order(shape, axes, v, type, kw.device, function);
}

/// The axes of an array like `x`.
std::vector<int> axes_like(const ndarray& x, const like_kw& kw, const char* function) {
  const int rank = static_cast<int>(kw.shape ? kw.shape->size() : x.shape().size());
  const bool keeps = kw.order != 'K' || rank == x.ndim();
  std::vector<int> axes = ops::axes_in_memory(x, keeps ? kw.order : 'C', function);
  if (rank == x.ndim()) return axes;
  const bool columns = kw.order == 'F' || (kw.order == 'A' && isfortran(x));
  return ops::axes_in_memory(rank, columns ? 'F' : 'C', function);
}

ndarray filled_like(const ndarray& x, const operand& v, const like_kw& kw, const char* function) {
  ops::view_of(x, function);
  return filled_in_order(kw.shape.value_or(x.shape()), axes_like(x, kw, function), v, kw.dtype.value_or(x.dtype()),
                         kw.device.value_or(x.device()), function);
}

}  // namespace

ndarray zeros(const shape_t& shape, const create_kw& kw) {
  return filled(shape, 0, kw.dtype.value_or(float64), kw, "zeros");
}
ndarray ones(const shape_t& shape, const create_kw& kw) {
  return filled(shape, 1, kw.dtype.value_or(float64), kw, "ones");
}
ndarray empty(const shape_t& shape, const create_kw& kw) {
  const auto axes = ops::axes_in_memory(static_cast<int>(shape.size()), kw.order, "empty");
  return in_order(shape, axes,
                  [&](const shape_t& s) { return unset(s, kw.dtype.value_or(float64), kw.device, "empty"); });
}
ndarray full(const shape_t& shape, const operand& value, const create_kw& kw) {
  return filled(shape, value, kw.dtype.value_or(type_of(value)), kw, "full");
}
ndarray zeros_like(const ndarray& x, const like_kw& kw) { return filled_like(x, 0, kw, "zeros_like"); }
ndarray ones_like(const ndarray& x, const like_kw& kw) { return filled_like(x, 1, kw, "ones_like"); }
ndarray empty_like(const ndarray& x, const like_kw& kw) {
  ops::view_of(x, "empty_like");
  return in_order(kw.shape.value_or(x.shape()), axes_like(x, kw, "empty_like"), [&](const shape_t& s) {
    return unset(s, kw.dtype.value_or(x.dtype()), kw.device.value_or(x.device()), "empty_like");
  });
}
ndarray full_like(const ndarray& x, const operand& value, const like_kw& kw) {
  return filled_like(x, value, kw, "full_like");
}

namespace {

__int128 wide(const scalar& x) {
  return x.negative() ? static_cast<__int128>(x.as_int64()) : static_cast<__int128>(x.as_uint64());
}

/// ceil((stop - start) / step) for integers of up to 64 bits, without overflow.
std::int64_t integer_length(const scalar& start, const scalar& stop, const scalar& step) {
  const __int128 distance = wide(stop) - wide(start), by = wide(step);
  if ((distance > 0) != (by > 0) || distance == 0) return 0;
  const __int128 n = (distance + by + (by > 0 ? -1 : 1)) / by;
  if (n > std::numeric_limits<std::int64_t>::max()) throw value_error("[arange] the range has too many elements");
  return static_cast<std::int64_t>(n);
}

std::int64_t float_length(double start, double stop, double step) {
  const double n = std::ceil((stop - start) / step);
  if (std::isnan(n)) throw value_error("[arange] cannot compute the length: start, stop or step is NaN or infinite");
  if (n >= 0x1p63) throw value_error("[arange] the range has too many elements");
  return n > 0 ? static_cast<std::int64_t>(n) : 0;
}

/// dtype_error unless start + step fits the dtype.
void require_second(const scalar& start, const scalar& step, dtype type) {
  const __int128 second = wide(start) + wide(step);
  if (second < 0) ops::scalar_of(static_cast<std::int64_t>(second), type, "arange");
  else ops::scalar_of(static_cast<std::uint64_t>(second), type, "arange");
}

double rounded(double x, dtype type) { return core::rounded_to(ops::real_of(type), x); }

/// start + i * (next - start), as NumPy fills a range: start and next have the dtype `to`, the arithmetic is in float32
/// for narrow types, and element 1 is exactly `next`.
value float_range(double start, double step, dtype to, const dims& shape, device_id device) {
  const dtype type = to == float64 || to == complex128 ? float64 : float32;
  const double first = rounded(start, to), next = rounded(start + step, to), by = rounded(next - first, type);
  const value i = graph::record_cast(graph::record_iota(shape, 0, device), type);
  const value scaled = map2(opcode::multiply, type, shape, i, constant(by, type, shape, device, "arange"));
  const value sum = map2(opcode::add, type, shape, scaled, constant(first, type, shape, device, "arange"));
  if (rounded(rounded(by + first, type), to) == next || shape[0] < 2) return sum;
  const value second = map2(opcode::equal, dtype::b1, shape, i, constant(1, type, shape, device, "arange"));
  return choose(second, constant(next, type, shape, device, "arange"), sum, shape);
}

/// The same in wrapping integers; a float start or step is truncated first, as in NumPy.
value integer_range(const scalar& start, const scalar& step, dtype type, const dims& shape, device_id device) {
  const bool exact = start.kind() <= scalar_kind::integer && step.kind() <= scalar_kind::integer;
  std::uint64_t first, by;
  if (exact) {
    first = start.as_uint64();
    by = step.as_uint64();
  } else {
    const auto truncated = [type](double x) {
      return ops::scalar_of(std::trunc(x), type == dtype::u64 && x >= 0x1p63 ? dtype::u64 : dtype::i64, "arange").u;
    };
    first = truncated(start.real());
    by = truncated(start.real() + step.real()) - first;
  }
  const value i = graph::record_cast(graph::record_iota(shape, 0, device), type);
  const auto wrapped = [&](std::uint64_t x) {
    jit::scalar s;
    s.type = type;
    const int unused = 64 - 8 * static_cast<int>(itemsize(type));
    s.u = is_signed_integer(type) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(x << unused) >> unused)
                                  : (x << unused) >> unused;
    return graph::record_scalar(s, type, shape, device);
  };
  const value scaled = by == 1 ? i : map2(opcode::multiply, type, shape, i, wrapped(by));
  return first == 0 ? scaled : map2(opcode::add, type, shape, scaled, wrapped(first));
}

}  // namespace

ndarray arange(const scalar& start, const scalar& stop, const scalar& step, const create_kw& kw) {
  for (const scalar* x : {&start, &stop, &step})
    if (x->kind() == scalar_kind::complex) throw dtype_error("[arange] complex numbers have no order");
  if (step.real() == 0) throw value_error("[arange] the step is zero");
  const bool integers = start.kind() <= scalar_kind::integer && stop.kind() <= scalar_kind::integer &&
                        step.kind() <= scalar_kind::integer;
  const std::int64_t n =
      integers ? integer_length(start, stop, step) : float_length(start.real(), stop.real(), step.real());
  const bool fit = start.fits_int64() && stop.fits_int64() && step.fits_int64();
  const dtype type = kw.dtype.value_or(integers && fit ? int64 : float64);
  const dims shape{n};
  core::checked_count(shape, "arange");
  const device_id device = ops::chosen(kw.device);
  // As NumPy, which writes down the first two elements, and goes on from there.
  if (is_integer(type) && integers && n > 0) {
    ops::scalar_of(start, type, "arange");
    if (n > 1) require_second(start, step, type);
  }
  if (is_integer(type)) return ops::wrap(integer_range(start, step, type, shape, device));
  if (type == dtype::b1) {
    if (n > 2) throw dtype_error("[arange] dtype bool holds at most two elements");
    return ops::wrap(graph::record_cast(integer_range(start, step, int64, shape, device), type));
  }
  return ops::wrap(graph::record_cast(float_range(start.real(), step.real(), type, shape, device), type));
}
ndarray arange(const scalar& start, const scalar& stop, const create_kw& kw) { return arange(start, stop, 1, kw); }
ndarray arange(const scalar& stop, const create_kw& kw) { return arange(0, stop, 1, kw); }

ndarray linspace(const scalar& start, const scalar& stop, std::int64_t count, const linspace_kw& kw) {
  if (count < 0) ops::fail<value_error>("linspace", "the number of samples is negative: ", count);
  const bool complex = start.kind() == scalar_kind::complex || stop.kind() == scalar_kind::complex;
  const dtype inner = complex ? complex128 : float64, type = kw.dtype.value_or(inner);
  if (complex && !is_complex(type)) ops::fail<dtype_error>("linspace", "complex numbers do not fit dtype ", type);
  const dims shape{count};
  core::checked_count(shape, "linspace");
  const device_id device = ops::chosen(kw.device);
  const auto number = [&](std::complex<double> x) {
    return complex ? constant(x, inner, shape, device, "linspace")
                   : constant(x.real(), inner, shape, device, "linspace");
  };
  const std::complex<double> first(start.real(), start.imag()), last(stop.real(), stop.imag()), delta = last - first;
  const std::int64_t intervals = kw.endpoint ? count - 1 : count;
  const value i = graph::record_iota(shape, 0, device);
  value y = graph::record_cast(i, inner);
  // As in NumPy, the division comes first if the step underflows to zero.
  const std::complex<double> step = intervals > 0 ? delta / static_cast<double>(intervals) : delta;
  if (intervals > 0 && step == 0.0) {
    y = map2(opcode::divide, inner, shape, y, number(static_cast<double>(intervals)));
    y = map2(opcode::multiply, inner, shape, y, number(delta));
  } else {
    y = map2(opcode::multiply, inner, shape, y, number(step));
  }
  y = map2(opcode::add, inner, shape, y, number(first));
  if (kw.endpoint && count > 1) {
    const value end = constant(count - 1, int64, shape, device, "linspace");
    y = choose(map2(opcode::equal, dtype::b1, shape, i, end), number(last), y, shape);
  }
  if (is_integer(type)) y = graph::record_map(opcode::floor, inner, shape, std::span(&y, 1));
  return ops::wrap(graph::record_cast(y, type));
}

namespace {

/// The number of a diagonal of matrices in the last two axes, clamped to their range, so that adding a row number
/// cannot overflow: all diagonals outside of the matrix are equivalent.
std::int64_t near_diagonal(std::int64_t k, const dims& shape) {
  return std::clamp(k, -shape[shape.size() - 2], shape[shape.size() - 1]);
}

}  // namespace

ndarray eye(std::int64_t rows, const eye_kw& kw) {
  const dims shape{rows, kw.columns.value_or(rows)};
  core::checked_count(shape, "eye");
  const device_id device = ops::chosen(kw.device);
  const value diagonal = map2(opcode::add, int64, shape, graph::record_iota(shape, 0, device),
                              constant(near_diagonal(kw.k, shape), int64, shape, device, "eye"));
  const value on = map2(opcode::equal, dtype::b1, shape, graph::record_iota(shape, 1, device), diagonal);
  return ops::laid_out(ops::wrap(graph::record_cast(on, kw.dtype.value_or(float64))), kw.order, "eye");
}
ndarray eye(std::int64_t rows, std::int64_t columns, const eye_kw& kw) {
  eye_kw both = kw;
  both.columns = columns;
  return eye(rows, both);
}
ndarray identity(std::int64_t n, const create_kw& kw) {
  return eye(n, eye_kw{.dtype = kw.dtype, .device = kw.device, .order = kw.order});
}

namespace {

ndarray triangle(const ndarray& x, std::int64_t k, opcode keep, const char* function) {
  value v = ops::value_of(x, function);
  dims shape = v->shape;
  if (shape.empty()) ops::fail<shape_error>(function, "an array of shape () has no triangle");
  if (shape.size() == 1) shape.insert(0, shape[0]);
  core::checked_count(shape, function);
  const int row = shape.size() - 2;
  const device_id device = v->device;
  const value diagonal = map2(opcode::add, int64, shape, graph::record_iota(shape, row, device),
                              constant(near_diagonal(k, shape), int64, shape, device, function));
  const value inside = map2(keep, dtype::b1, shape, graph::record_iota(shape, row + 1, device), diagonal);
  return ops::wrap(choose(inside, v, constant(false, v->type, shape, device, function), shape));
}

}  // namespace

ndarray tril(const ndarray& x, std::int64_t k) { return triangle(x, k, opcode::less_equal, "tril"); }
ndarray triu(const ndarray& x, std::int64_t k) { return triangle(x, k, opcode::greater_equal, "triu"); }

std::vector<ndarray> meshgrid(const std::vector<ndarray>& vectors, const meshgrid_kw& kw) {
  if (kw.indexing != "xy" && kw.indexing != "ij")
    ops::fail<value_error>("meshgrid", "indexing is 'xy' or 'ij', not '", kw.indexing, "'");
  const int n = static_cast<int>(vectors.size());
  // The axis of the grid along which each vector varies.
  const auto axis_of = [&](int i) { return kw.indexing == "xy" && n > 1 && i < 2 ? 1 - i : i; };
  std::vector<value> values;
  dims shape(n, 1);
  for (int i = 0; i < n; ++i) {
    values.push_back(ops::value_of(vectors[static_cast<std::size_t>(i)], "meshgrid"));
    if (values.back()->shape.size() > 1)
      ops::fail<shape_error>("meshgrid", "argument ", i, " has shape ", values.back()->shape, ", not a vector's");
    shape[axis_of(i)] = values.back()->size();
  }
  if (!kw.sparse) core::checked_count(shape, "meshgrid");
  std::vector<ndarray> grids;
  for (int i = 0; i < n; ++i) {
    dims strides(n, 0);
    strides[axis_of(i)] = 1;
    dims own(n, 1);
    own[axis_of(i)] = shape[axis_of(i)];
    const ndarray grid =
        ops::wrap(graph::record_view(values[static_cast<std::size_t>(i)], kw.sparse ? own : shape, strides, 0));
    grids.push_back(kw.copy ? grid.copy() : grid);
  }
  return grids;
}

}  // namespace sinter::inline v0
