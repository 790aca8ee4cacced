// Checks and casts the arguments of a call; every error reports the function and the shapes or dtypes.
#include "ops/base/promotion_args.hpp"

#include <cmath>

#include "core/shape.hpp"
#include "sinter/dtype_info.hpp"

namespace sinter::ops {
namespace {

std::string text_of(const scalar& x) {
  return x.negative() ? std::to_string(x.as_int64()) : std::to_string(x.as_uint64());
}

[[noreturn]] void refuse(const scalar& x, dtype type, const char* function) {
  const std::string what = x.kind() == scalar_kind::complex    ? "a complex number"
                           : x.kind() == scalar_kind::floating ? std::to_string(x.real())
                                                               : "integer " + text_of(x);
  fail<dtype_error>(function, what, " does not fit dtype ", type);
}

/// dtype of an array together with a number (NEP 50).
dtype weak_promote(dtype array, scalar_kind kind) {
  switch (kind) {
    case scalar_kind::boolean: return array;
    case scalar_kind::integer: return array == dtype::b1 ? dtype::i64 : array;
    case scalar_kind::floating: return is_inexact(array) ? array : dtype::f64;
    case scalar_kind::complex: break;
  }
  if (is_complex(array)) return array;
  return is_real_floating(array) && array != dtype::f64 ? dtype::c64 : dtype::c128;
}

jit::scalar float_to_integer(const scalar& x, dtype type, const char* function) {
  jit::scalar s;
  s.type = type;
  const double v = std::trunc(x.real());
  if (is_unsigned_integer(type)) {
    if (!(v > -1.0 && v < 0x1p64)) refuse(x, type, function);
    s.u = static_cast<std::uint64_t>(v);
    if (s.u > iinfo(type).max) refuse(x, type, function);
  } else {
    if (!(v >= -0x1p63 && v < 0x1p63)) refuse(x, type, function);
    s.i = static_cast<std::int64_t>(v);
    if (s.i < iinfo(type).min || s.i > static_cast<std::int64_t>(iinfo(type).max)) refuse(x, type, function);
  }
  return s;
}

/// The first array if all arrays have its shape and device; null otherwise.
const graph::array_view* alike(operands x, const char* function) {
  const graph::array_view* first = nullptr;
  for (const operand* o : x) {
    if (!o->is_array()) continue;
    const graph::array_view& v = view_of(o->array(), function);
    if (!first) first = &v;
    else if (!(v.shape == first->shape && v.device() == first->device())) return nullptr;
  }
  return first;
}

}  // namespace

bool fits(const scalar& x, dtype type) {
  const iinfo_t range = iinfo(type);
  return x.negative() ? x.as_int64() >= range.min : x.as_uint64() <= range.max;
}

void promotion::add(const scalar& s) noexcept {
  if (s.kind() > kind_) kind_ = s.kind();
  if (s.kind() != scalar_kind::integer) return;
  std::optional<scalar>& extreme = s.negative() ? lowest_ : highest_;
  const bool further =
      !extreme || (s.negative() ? s.as_int64() < extreme->as_int64() : s.as_uint64() > extreme->as_uint64());
  if (further) extreme = s;
}

dtype promotion::result(const char* function) const {
  dtype type = weak_promote(arrays_.promoted(), kind_);
  if (arrays_.empty() && type == dtype::i64 && highest_ && !highest_->fits_int64()) type = dtype::u64;
  if (!is_integer(type)) return type;
  for (const auto& extreme : {lowest_, highest_})
    if (extreme && !fits(*extreme, type)) refuse(*extreme, type, function);
  return type;
}

dtype result_type_of(operands x, const char* function) {
  promotion p;
  for (const operand* o : x) {
    if (o->is_array()) p.add(view_of(o->array(), function).type);
    else p.add(o->number());
  }
  return p.result(function);
}

dtype promoted_dtype(std::span<const ndarray> arrays, const char* function) {
  core::dtype_set types;
  for (const ndarray& a : arrays) types.add(view_of(a, function).type);
  return types.promoted();
}

strong_pair strong_type_of(const operand& x, const operand& y, const char* function) {
  if (x.is_array() == y.is_array()) return {result_type_of({&x, &y}, function)};
  const scalar& number = x.is_array() ? y.number() : x.number();
  const dtype array = view_of(x.is_array() ? x.array() : y.array(), function).type, own = number.default_dtype();
  if (!is_integer(array) || !is_integer(own)) return {promote_types(array, own)};
  return {array, fits(number, array) ? 0 : number.negative() ? -1 : 1};
}

dims broadcast_shapes(operands x, const char* function) {
  dims shape;
  bool fit = true;
  for (const operand* o : x)
    if (o->is_array()) fit = fit && core::broadcast_into(shape, view_of(o->array(), function).shape);
  if (!fit || !core::is_countable(shape)) {
    std::array<const dims*, 8> shapes{};
    std::size_t n = 0;
    for (const operand* o : x)
      if (o->is_array() && n < shapes.size()) shapes[n++] = &view_of(o->array(), function).shape;
    broadcast_shapes(std::span<const dims* const>(shapes.data(), n), function);
  }
  return shape;
}

dims broadcast_shapes(std::span<const dims* const> shapes, const char* function) {
  dims shape;
  bool fit = true;
  for (const dims* s : shapes) fit = fit && core::broadcast_into(shape, *s);
  if (fit) {
    core::checked_count(shape, function);
    return shape;
  }
  std::string list;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (i > 0) list += i + 1 == shapes.size() ? " and " : ", ";
    list += core::to_string(*shapes[i]);
  }
  fail<shape_error>(function, "shapes ", list, " do not broadcast");
}

runtime::device_id common_device(operands x, const char* function) {
  const runtime::device_id* found = nullptr;
  for (const operand* o : x) {
    if (!o->is_array()) continue;
    const runtime::device_id& d = view_of(o->array(), function).device();
    if (found) require_one_device(function, *found, d);
    found = &d;
  }
  return found ? *found : runtime::default_device();
}

runtime::device_id common_device(const ndarray& x, const ndarray& y, const char* function) {
  const runtime::device_id& device = view_of(x, function).device();
  require_one_device(function, device, view_of(y, function).device());
  return device;
}

jit::scalar scalar_of(const scalar& x, dtype type, const char* function) {
  jit::scalar s;
  s.type = type;
  if (type == dtype::b1) {
    s.b = x.real() != 0 || x.imag() != 0;
  } else if (is_integer(type)) {
    if (x.kind() == scalar_kind::complex) refuse(x, type, function);
    if (x.kind() == scalar_kind::floating) return float_to_integer(x, type, function);
    if (!fits(x, type)) refuse(x, type, function);
    s.u = x.as_uint64();
  } else {
    if (x.kind() == scalar_kind::complex && !is_complex(type)) refuse(x, type, function);
    s.f[0] = x.real();
    s.f[1] = x.imag();
  }
  return s;
}

graph::value to_value(const operand& x, dtype loop, const dims& shape, runtime::device_id device,
                      const char* function) {
  if (x.is_array()) {
    graph::value v = value_of(x.array(), function);
    if (v->type != loop) v = graph::record_cast(std::move(v), loop);
    return v;
  }
  return graph::record_scalar(scalar_of(x.number(), loop, function), loop, shape, device);
}

resolved resolve_as(operands x, dtype loop, const char* function) {
  resolved r;
  r.loop = loop;
  if (const graph::array_view* v = alike(x, function)) {
    r.shape = v->shape;
    r.device = v->device();
  } else {
    r.shape = broadcast_shapes(x, function);
    r.device = common_device(x, function);
  }
  for (const operand* o : x) {
    r.args[static_cast<std::size_t>(r.count)] = to_value(*o, loop, r.shape, r.device, function);
    ++r.count;
  }
  return r;
}

graph::value broadcast_value(const graph::value& v, const dims& shape) {
  if (v->shape == shape) return v;
  return graph::record_view(v, shape, core::broadcast_strides(v->shape, core::contiguous_strides(v->shape), shape), 0);
}

int normalize_axis(std::int64_t axis, const dims& shape, const char* function) {
  const int n = shape.size();
  if (axis < -n || axis >= n) fail<index_error>(function, "axis ", axis, " is out of range for shape ", shape);
  return static_cast<int>(axis < 0 ? axis + n : axis);
}

}  // namespace sinter::ops

namespace sinter::inline v0 {

dtype detail::result_type(std::span<const typed_operand> operands) {
  ops::promotion p;
  for (const typed_operand& o : operands) {
    if (o.array) p.add(ops::view_of(*o.array, "result_type").type);
    else if (o.type) p.add(*o.type);
    else p.add(o.number);
  }
  return p.result("result_type");
}

}  // namespace sinter::inline v0
