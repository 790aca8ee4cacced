// DLPack: tensors of arrays, and arrays of tensors.
#include "sinter/dlpack.hpp"

#include "core/shape.hpp"
#include "interop/foreign.hpp"
#include "ops/device.hpp"
#include "ops/promotion_args.hpp"
#include "sinter/error.hpp"

namespace sinter::interop {
namespace {

using namespace dlpack;

static_assert(sizeof(tensor) == 48 && sizeof(managed_tensor) == 64 && sizeof(managed_tensor_versioned) == 80);

data_type type_of(dtype t) {
  const auto bits = static_cast<std::uint8_t>(8 * itemsize(t));
  if (is_bool(t)) return {type_code::boolean, bits, 1};
  if (is_unsigned_integer(t)) return {type_code::unsigned_integer, bits, 1};
  if (is_signed_integer(t)) return {type_code::integer, bits, 1};
  if (is_complex(t)) return {type_code::complex, bits, 1};
  return {t == dtype::bf16 ? type_code::bfloat : type_code::floating, bits, 1};
}

dtype dtype_of_tensor(const data_type& d) {
  for (int k = 0; k < dtype_count; ++k) {
    const data_type ours = type_of(static_cast<dtype>(k));
    if (ours.code == d.code && ours.bits == d.bits && d.lanes == 1) return static_cast<dtype>(k);
  }
  throw dtype_error("[from_dlpack] no array has elements of code " + std::to_string(static_cast<int>(d.code)) + ", " +
                    std::to_string(d.bits) + " bits and " + std::to_string(d.lanes) + " lanes");
}

device_info device_of(const runtime::device_id& id) {
  return id.kind == runtime::device_kind::cuda ? device_info{on_cuda, id.index} : device_info{on_cpu, 0};
}

runtime::device_id device_of_tensor(const device_info& d) {
  switch (d.type) {
    case on_cpu:
    case on_cuda_host: return {};
    case on_cuda:
    case on_cuda_managed: return {runtime::device_kind::cuda, d.id};
    default:
      throw device_error("[from_dlpack] tensors on devices of type " + std::to_string(d.type) + " are not known");
  }
}

/// What a tensor refers to while it lives.
template <class Tensor>
struct exported {
  Tensor tensor{};
  core::dims shape, strides;
  std::shared_ptr<graph::storage> store;
};

template <class Tensor>
void delete_exported(Tensor* t) {
  delete static_cast<exported<Tensor>*>(t->manager_ctx);
}

/// The array to be shared, and whether it is a copy for the consumer alone.
struct chosen_array {
  ndarray x;
  bool copied;
};

chosen_array choose(const ndarray& x, const to_dlpack_kw& kw, bool says_readonly, const char* function) {
  const graph::array_view& v = ops::view_of(x, function);
  const auto refuse = [&](const char* what) { throw value_error("[" + std::string(function) + "] " + what); };
  const bool moves = kw.device && ops::to_id(*kw.device) != v.device();
  if (moves && kw.copy == false) refuse("copy is false, but the tensor shall be on another device");
  const bool copies = moves || kw.copy == true;
  if (v.readonly && !says_readonly && !copies)
    refuse(
        "the array is read-only, which the old form of DLPack cannot say; ask for a copy, or use the versioned form");
  if (moves) return {x.to_device(*kw.device), true};
  return {copies ? x.copy() : x, copies};
}

void check_stream(const std::optional<std::intptr_t>& stream, const runtime::device_id& device, const char* function) {
  if (!stream) return;
  if (device.kind == runtime::device_kind::cpu)
    throw value_error("[" + std::string(function) + "] arrays on the CPU have no streams");
  if (*stream == 0 || *stream < -1)
    throw value_error("[" + std::string(function) + "] " + std::to_string(*stream) +
                      " is no stream; 1 is the default stream");
}

template <class Tensor>
std::unique_ptr<exported<Tensor>> export_array(const graph::array_view& v, const std::optional<std::intptr_t>& stream) {
  auto e = std::make_unique<exported<Tensor>>();
  e->shape = v.shape;
  e->strides = v.strides;
  e->store = v.store;
  tensor& t = e->tensor.dl_tensor;
  t.data = core::element_count(v.shape) == 0 ? nullptr : stream == -1 ? graph::pin(v) : graph::export_address(v);
  t.device = device_of(v.device());
  t.ndim = v.shape.size();
  t.dtype = type_of(v.type);
  t.shape = e->shape.data();
  t.strides = e->strides.data();
  e->tensor.manager_ctx = e.get();
  e->tensor.deleter = delete_exported<Tensor>;
  return e;
}

/// The array over a tensor's memory. `own`: nobody else has it.
template <class Tensor>
ndarray import_tensor(Tensor* managed, bool readonly, bool own, const from_dlpack_kw& kw) {
  const tensor& t = managed->dl_tensor;
  foreign_memory m{.function = "from_dlpack",
                   .data = nullptr,
                   .type = dtype_of_tensor(t.dtype),
                   .shape = {},
                   .strides = {},
                   .device = device_of_tensor(t.device),
                   .readonly = readonly,
                   .live = !kw.immutable || kw.copy == true};
  if (t.ndim < 0 || t.ndim > core::max_rank || (t.ndim > 0 && !t.shape))
    throw value_error("[from_dlpack] the tensor has " + std::to_string(t.ndim) + " axes");
  m.shape = core::dims(t.shape, t.ndim);
  core::checked_count(m.shape, m.function);
  m.strides = t.strides ? core::dims(t.strides, t.ndim) : core::contiguous_strides(m.shape);
  m.data = t.data ? static_cast<char*>(t.data) + t.byte_offset : nullptr;
  const bool moves = kw.device && ops::to_id(*kw.device) != m.device;
  if (moves && kw.copy == false)
    throw value_error("[from_dlpack] copy is false, but the array shall be on " +
                      runtime::to_string(ops::to_id(*kw.device)) + " and the tensor is on " +
                      runtime::to_string(m.device));
  auto call = [managed] {
    if (managed->deleter) managed->deleter(managed);
  };
  const auto release = std::make_shared<armed_release<decltype(call)>>(call);
  ndarray x = ops::ndarray_access::make(wrap_memory(m, release));
  if (own && !readonly && kw.copy != true) ops::view_of(x, m.function).store->pinned = false;
  ndarray result = moves ? x.to_device(*kw.device) : kw.copy == true ? ops::wrap(ops::value_of(x)) : x;
  if (moves || kw.copy == true) graph::evaluate(std::span(&ops::ndarray_access::ref(result), 1));
  release->arm();
  return result;
}

void check_version(const version_info& v) {
  if (v.major != 1)
    throw value_error("[from_dlpack] the tensor is of DLPack " + std::to_string(v.major) + "." +
                      std::to_string(v.minor) + "; 1.x is known");
}

}  // namespace
}  // namespace sinter::interop

namespace sinter {
inline namespace v0 {

void dlpack_deleter::operator()(DLManagedTensorVersioned* t) const noexcept {
  if (auto* const v = dlpack::view(t); v && v->deleter) v->deleter(v);
}
void dlpack_deleter::operator()(DLManagedTensor* t) const noexcept {
  if (auto* const v = dlpack::view(t); v && v->deleter) v->deleter(v);
}

dlpack_ptr to_dlpack(const ndarray& x, const to_dlpack_kw& kw) {
  const interop::chosen_array chosen = interop::choose(x, kw, true, "to_dlpack");
  const graph::array_view& v = ops::view_of(chosen.x, "to_dlpack");
  interop::check_stream(kw.stream, v.device(), "to_dlpack");
  auto e = interop::export_array<dlpack::managed_tensor_versioned>(v, kw.stream);
  e->tensor.version = dlpack::written_version;
  e->tensor.flags = (v.readonly ? dlpack::flag_read_only : 0) | (chosen.copied ? dlpack::flag_is_copied : 0);
  return dlpack_ptr(dlpack::give(&e.release()->tensor));
}

dlpack_legacy_ptr to_dlpack_legacy(const ndarray& x, const to_dlpack_kw& kw) {
  const interop::chosen_array chosen = interop::choose(x, kw, false, "to_dlpack_legacy");
  const graph::array_view& v = ops::view_of(chosen.x, "to_dlpack_legacy");
  interop::check_stream(kw.stream, v.device(), "to_dlpack_legacy");
  auto e = interop::export_array<dlpack::managed_tensor>(v, kw.stream);
  return dlpack_legacy_ptr(dlpack::give(&e.release()->tensor));
}

dlpack::device_info dlpack_device(const ndarray& x) {
  return interop::device_of(ops::view_of(x, "dlpack_device").device());
}

std::optional<std::intptr_t> dlpack_stream(const device& on) {
  if (on.kind == device_kind::cpu) return std::nullopt;
  return 1;
}

ndarray from_dlpack(DLManagedTensorVersioned* t, const from_dlpack_kw& kw) {
  dlpack::managed_tensor_versioned* const v = dlpack::view(t);
  if (!v) throw value_error("[from_dlpack] null pointer");
  interop::check_version(v->version);
  return interop::import_tensor(v, (v->flags & dlpack::flag_read_only) != 0, (v->flags & dlpack::flag_is_copied) != 0,
                                kw);
}

ndarray from_dlpack(DLManagedTensor* t, const from_dlpack_kw& kw) {
  dlpack::managed_tensor* const v = dlpack::view(t);
  if (!v) throw value_error("[from_dlpack] null pointer");
  return interop::import_tensor(v, false, false, kw);
}

ndarray from_dlpack(dlpack_ptr t, const from_dlpack_kw& kw) {
  ndarray x = from_dlpack(t.get(), kw);
  (void)t.release();
  return x;
}
ndarray from_dlpack(dlpack_legacy_ptr t, const from_dlpack_kw& kw) {
  ndarray x = from_dlpack(t.get(), kw);
  (void)t.release();
  return x;
}

}  // namespace v0
}  // namespace sinter
