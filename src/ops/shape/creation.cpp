// Arrays from host data: nested braces, containers, pointers, single numbers.
#include "sinter/creation.hpp"

#include <cstring>

#include "core/shape.hpp"
#include "ops/base/promotion_args.hpp"
#include "ops/shape/memory_order.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::inline v0 {
namespace {

using ops::dims;

template <class T>
void put(std::byte*& to, T v) {
  std::memcpy(to, &v, sizeof v);
  to += sizeof v;
}

/// Appends a number in the memory representation of its dtype.
void put_scalar(std::byte*& to, const jit::scalar& s) {
  switch (s.type) {
    case dtype::b1: return put(to, s.b);
    case dtype::f16: return put(to, half(static_cast<float>(s.f[0])));
    case dtype::bf16: return put(to, bfloat(static_cast<float>(s.f[0])));
    case dtype::f32: return put(to, static_cast<float>(s.f[0]));
    case dtype::f64: return put(to, s.f[0]);
    case dtype::c64: put(to, static_cast<float>(s.f[0])); return put(to, static_cast<float>(s.f[1]));
    case dtype::c128: put(to, s.f[0]); return put(to, s.f[1]);
    default: break;
  }
  switch (itemsize(s.type)) {
    case 1: return put(to, static_cast<std::uint8_t>(s.u));
    case 2: return put(to, static_cast<std::uint16_t>(s.u));
    case 4: return put(to, static_cast<std::uint32_t>(s.u));
    default: return put(to, s.u);
  }
}

/// Parses a brace list as an array: its shape from the first elements, checked for the others, and the widest kind.
struct list_reader {
  dims shape;
  scalar_kind kind = scalar_kind::boolean;
  bool wide = false, negative = false;  // an integer above INT64_MAX, below 0

  explicit list_reader(const std::initializer_list<list_node>& list) {
    shape.push_back(static_cast<std::int64_t>(list.size()));
    for (const list_node* n = list.size() ? list.begin() : nullptr; n && n->is_list();
         n = n->size() ? n->begin() : nullptr)
      shape.push_back(static_cast<std::int64_t>(n->size()));
    if (shape.size() > core::max_rank) throw shape_error("[array] braces nest deeper than 64 levels");
    for (const list_node& n : list) check(n, 1);
  }

  void check(const list_node& n, int depth) {
    if (n.is_list() != (depth < shape.size()) || (n.is_list() && static_cast<std::int64_t>(n.size()) != shape[depth]))
      ops::fail<shape_error>("array", "ragged braces: an element at depth ", depth, " does not fit shape ", shape);
    if (n.is_list()) {
      for (const list_node& inner : n) check(inner, depth + 1);
      return;
    }
    const scalar& x = n.number();
    if (x.kind() > kind) kind = x.kind();
    if (x.kind() == scalar_kind::integer) {
      wide = wide || !x.fits_int64();
      negative = negative || x.negative();
    }
  }

  dtype type() const {
    switch (kind) {
      case scalar_kind::boolean: return core::element_count(shape) == 0 ? dtype::f64 : dtype::b1;
      case scalar_kind::integer: return !wide ? dtype::i64 : negative ? dtype::f64 : dtype::u64;
      case scalar_kind::floating: return dtype::f64;
      case scalar_kind::complex: break;
    }
    return dtype::c128;
  }
};

void put_list(std::byte*& to, const list_node* first, const list_node* last, dtype type) {
  for (; first != last; ++first) {
    if (first->is_list()) put_list(to, first->begin(), first->end(), type);
    else put_scalar(to, ops::scalar_of(first->number(), type, "array"));
  }
}

}  // namespace

ndarray array(std::initializer_list<list_node> list, const create_kw& kw) {
  const list_reader reader(list);
  const dtype type = kw.dtype.value_or(reader.type());
  std::vector<std::byte> bytes(static_cast<std::size_t>(core::element_count(reader.shape)) * itemsize(type));
  std::byte* to = bytes.data();
  put_list(to, list.begin(), list.end(), type);
  const ndarray x =
      ops::ndarray_access::make(graph::from_host(bytes.data(), reader.shape, type, ops::chosen(kw.device)));
  return ops::laid_out(x, kw.order, "array");
}

ndarray detail::from_memory(const void* elements, dtype type, const shape_t& shape, const create_kw& kw) {
  const dims extents = ops::to_dims(shape);
  if (core::checked_count(extents, "array") > 0 && !elements)
    ops::fail<value_error>("array", "null pointer for shape ", extents);
  ndarray x = ops::ndarray_access::make(graph::from_host(elements, extents, type, ops::chosen(kw.device)));
  return ops::laid_out(kw.dtype && *kw.dtype != type ? x.astype(*kw.dtype) : x, kw.order, "array");
}

ndarray array(const std::vector<bool>& bits, const create_kw& kw) {
  const auto bytes = std::make_unique<bool[]>(bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i) bytes[i] = bits[i];
  return detail::from_memory(bytes.get(), dtype::b1, shape_t(bits.size()), kw);
}

ndarray detail::from_scalar(const scalar& value, const create_kw& kw) {
  const dtype type = kw.dtype.value_or(value.default_dtype());
  return ops::wrap(graph::record_scalar(ops::scalar_of(value, type, "array"), type, {}, ops::chosen(kw.device)));
}

ndarray asarray(const ndarray& x, const create_kw& kw) {
  ndarray moved = kw.device ? x.to_device(*kw.device) : x;
  ndarray out = moved.astype(kw.dtype.value_or(x.dtype()), false);
  return kw.order == 'F' ? asfortranarray(out) : ops::laid_out(out, kw.order, "asarray");
}
ndarray asarray(std::initializer_list<list_node> list, const create_kw& kw) { return array(list, kw); }

ndarray array(const ndarray& x, const create_kw& kw) {
  const bool moves = kw.device && !(*kw.device == x.device());
  const ndarray out = (moves ? x.to_device(*kw.device) : x).astype(kw.dtype.value_or(x.dtype()), true);
  return ops::laid_out(out, kw.order, "array");
}

}  // namespace sinter::inline v0
