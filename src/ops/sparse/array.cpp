// The handle: what it says of itself, its parts, other elements in the same places, other devices.
#include "ops/sparse/parts.hpp"
#include "sinter/elementwise.hpp"

namespace sinter::ops {
namespace {

/// A handle's parts after f.
template <class F>
state_ref with_parts(const sparse_state& s, F&& f) {
  const state_ref r = make_state(s.format, s.rows, s.columns, f(s.data), f(s.first), f(s.second), s.order);
  return r;
}

ndarray compressed_part(const sparse_array& a, const char* function, bool ends) {
  const state_ref& s = state_of(a, function);
  if (!is_compressed(*s)) fail<value_error>(function, "a coo array has row and col, no ", function);
  note_handed_out(s);
  return snapshot_of(ends ? s->first : s->second);
}

}  // namespace
}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace sparse {

std::string_view name(format f) noexcept {
  constexpr std::string_view names[] = {"csr", "csc", "coo"};
  return names[static_cast<int>(f)];
}

sparse::format sparse_array::format() const { return ops::state_of(*this, "format")->format; }
shape_t sparse_array::shape() const {
  const auto& s = *ops::state_of(*this, "shape");
  return {s.rows, s.columns};
}
std::int64_t sparse_array::shape(std::int64_t axis) const {
  if (axis < -2 || axis > 1) ops::fail<index_error>("shape", "axis ", axis, " is out of range for shape ", shape());
  const auto& s = *ops::state_of(*this, "shape");
  return axis == 0 || axis == -2 ? s.rows : s.columns;
}
sinter::dtype sparse_array::dtype() const { return ops::state_of(*this, "dtype")->data.dtype(); }
sinter::dtype sparse_array::index_dtype() const { return ops::index_of(*ops::state_of(*this, "index_dtype")); }
sinter::device sparse_array::device() const { return ops::state_of(*this, "device")->data.device(); }
std::int64_t sparse_array::nnz() const { return ops::entries_of(*ops::state_of(*this, "nnz")); }
std::int64_t sparse_array::nbytes() const {
  const auto& s = *ops::state_of(*this, "nbytes");
  return s.data.nbytes() + s.first.nbytes() + s.second.nbytes();
}

ndarray sparse_array::data() const { return ops::snapshot_of(ops::state_of(*this, "data")->data); }
ndarray sparse_array::indices() const { return ops::compressed_part(*this, "indices", false); }
ndarray sparse_array::indptr() const { return ops::compressed_part(*this, "indptr", true); }
ndarray sparse_array::row() const { return ops::snapshot_of(ops::rows_of_entries(*ops::state_of(*this, "row"))); }
ndarray sparse_array::col() const { return ops::snapshot_of(ops::columns_of_entries(*ops::state_of(*this, "col"))); }

sparse_array sparse_array::with_data(const ndarray& data) const {
  const auto& s = *ops::state_of(*this, "with_data");
  if (data.ndim() != 1 || data.size() != ops::entries_of(s))
    ops::fail<shape_error>("with_data", "elements of shape ", data.shape(), " for ", ops::entries_of(s), " entries");
  ops::require_one_device("with_data", ops::device_of(s), ops::to_id(data.device()));
  const sinter::dtype type = ops::element_dtype(data.dtype());
  return ops::sparse_access::make(ops::with_elements(s, ops::snapshot_of(data).astype(type, /*copy=*/false)));
}

sparse_array sparse_array::astype(sinter::dtype to) const {
  auto s = ops::state_of(*this, "astype");
  to = ops::element_dtype(to);
  if (s->data.dtype() != to && (is_bool(s->data.dtype()) || !can_cast(s->data.dtype(), to))) s = ops::canonical(s);
  return ops::sparse_access::make(ops::with_elements(*s, s->data.astype(to, /*copy=*/false)));
}
sparse_array sparse_array::conj() const {
  const auto& s = *ops::state_of(*this, "conj");
  return is_complex(s.data.dtype()) ? ops::sparse_access::make(ops::with_elements(s, s.data.conj())) : *this;
}
sparse_array sparse_array::real() const {
  const auto& s = *ops::state_of(*this, "real");
  return ops::sparse_access::make(ops::with_elements(s, sinter::real(s.data).copy()));
}
sparse_array sparse_array::imag() const {
  const auto& s = *ops::state_of(*this, "imag");
  return ops::sparse_access::make(ops::with_elements(s, sinter::imag(s.data).copy()));
}
sparse_array sparse_array::copy() const {
  return ops::sparse_access::make(
      ops::with_parts(*ops::state_of(*this, "copy"), [](const ndarray& x) { return x.copy(); }));
}
sparse_array sparse_array::to_device(const sinter::device& to) const {
  return ops::sparse_access::make(
      ops::with_parts(*ops::state_of(*this, "to_device"), [&](const ndarray& x) { return x.to_device(to); }));
}
sparse_array sparse_array::to_host() const {
  return ops::sparse_access::make(
      ops::with_parts(*ops::state_of(*this, "to_host"), [](const ndarray& x) { return x.to_host(); }));
}

}  // namespace sparse
}  // namespace sinter::inline v0
