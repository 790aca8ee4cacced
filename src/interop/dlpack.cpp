// DLPack: arrays to tensors, and tensors to arrays.
#include "sinter/dlpack.hpp"

#include <mutex>
#include <utility>

#include "core/shape.hpp"
#include "graph/capture/capture.hpp"
#include "interop/foreign.hpp"
#include "ops/base/promotion_args.hpp"
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
  ops::fail<dtype_error>("from_dlpack", "no array has elements of code ", static_cast<int>(d.code), ", ", d.bits,
                         " bits and ", d.lanes, " lanes");
}

/// The DLPack device of an evaluated array's memory.
device_info place_of(const graph::array_view& v) {
  const runtime::device_id id = v.device();
  switch (v.store->now()->kind_of_memory()) {
    case memory_kind::pinned: return {on_cuda_host, 0};
    case memory_kind::managed: return {on_cuda_managed, id.index};
    case memory_kind::device: break;
  }
  return id.kind == runtime::device_kind::cuda ? device_info{on_cuda, id.index} : device_info{on_cpu, 0};
}

/// The DLPack device that a consumer has requested; it may support no other types.
device_info place_of(const device& asked) {
  return asked.kind == device_kind::cuda ? device_info{on_cuda, asked.index} : device_info{on_cpu, 0};
}

/// The device and kind of memory of an array over a tensor's memory, if no copy is needed.
std::pair<runtime::device_id, memory_kind> place_of_tensor(const device_info& d, const std::optional<device>& asked) {
  switch (d.type) {
    case on_cpu: return {{}, memory_kind::device};
    case on_cuda: return {{runtime::device_kind::cuda, d.id}, memory_kind::device};
    case on_cuda_managed:  // accessible from every GPU
      if (asked && asked->kind == device_kind::cuda) return {ops::to_id(*asked), memory_kind::managed};
      return {{runtime::device_kind::cuda, d.id}, memory_kind::managed};
    case on_cuda_host:
      try {
        runtime::get_backend({}).memory_pool(memory_kind::pinned);
        return {{}, memory_kind::pinned};
      } catch (const device_error&) {  // without a GPU pinned memory is ordinary memory
        return {{}, memory_kind::device};
      }
    default: ops::fail<device_error>("from_dlpack", "tensors on devices of type ", d.type, " are not known");
  }
}

/// The objects that an exported tensor keeps alive.
template <class Tensor>
struct exported {
  Tensor tensor{};
  core::dims shape, strides;
  std::shared_ptr<graph::storage> store;
  runtime::stream* owner_stream = nullptr;  // of GPU memory, which is reused in this stream's order; else null
};

/// Orders later uses of the memory after the work that a consumer has enqueued on the default stream. The consumer's
/// work on other streams must be complete, since their handles may no longer exist.
void come_after_consumer(runtime::stream& owner_stream) noexcept {
  runtime::stream& theirs = owner_stream.owner().default_stream();
  try {
    if (owner_stream.is_closed() || owner_stream.notes())
      return theirs.await(runtime::unknown_value);  // nothing may be enqueued on the stream
    const std::lock_guard lock(runtime::order_mutex());
    owner_stream.wait_for(theirs, runtime::unknown_value);
  } catch (...) {  // a failed device executes nothing
  }
}

template <class Tensor>
void delete_exported(Tensor* t) {
  const std::unique_ptr<exported<Tensor>> e(static_cast<exported<Tensor>*>(t->manager_ctx));
  if (e->owner_stream) come_after_consumer(*e->owner_stream);
}

/// The array to export, and whether it is a copy for the consumer alone.
struct chosen_array {
  ndarray x;
  bool copied;
};

void check_stream(const std::optional<std::intptr_t>& stream, const runtime::device_id& device, const char* function) {
  if (!stream) return;
  const auto refuse = [&](const char* what) { ops::fail<value_error>(function, "stream ", *stream, what); };
  if (device.kind == runtime::device_kind::cpu) refuse(" of an array on the CPU, where there are no streams");
  if (*stream == 0) refuse(" is ambiguous: 1 is the legacy default stream, 2 the per-thread one");
  if (*stream < -1) refuse(" is no stream");
}

chosen_array choose(const ndarray& x, const to_dlpack_kw& kw, bool says_readonly, const char* function) {
  const graph::array_view& v = ops::view_of(x, function);
  const auto refuse = [&](const char* what) { ops::fail<value_error>(function, what); };
  if (graph::is_capturing()) ops::fail<device_error>(function, "arrays cannot be handed to others in a capture");
  const bool moves = kw.device && ops::to_id(*kw.device) != v.device();
  if (moves && kw.copy == false) refuse("copy is false, but the tensor shall be on another device");
  const bool copies = moves || kw.copy == true;
  if (v.readonly && !says_readonly && !copies)
    refuse(
        "the array is read-only, which the old form of DLPack cannot express; request a copy, or use the versioned "
        "form");
  check_stream(kw.stream, moves ? ops::to_id(*kw.device) : v.device(), function);
  if (moves) return {x.to_device(*kw.device), true};
  return {copies ? x.copy() : x, copies};
}

/// The address, after ordering pending work before the consumer: before the host, if it can access the memory, or
/// before a stream.
void* shared_address(const graph::array_view& v, const device_info& place, std::optional<std::intptr_t> stream) {
  if (stream == -1) return graph::pin(v);
  if (!stream && place.type == on_cuda) stream = 1;
  if (!stream) return graph::export_to_host(v);
  return graph::hand_over(v, *stream == 1 ? nullptr : reinterpret_cast<void*>(*stream));
}

template <class Tensor>
std::unique_ptr<exported<Tensor>> export_array(const ndarray& x, const to_dlpack_kw& kw) {
  const graph::view_ref view = ops::ndarray_access::ref(x);
  const graph::array_view& v = *view;
  graph::evaluate(std::span(&view, 1));
  auto e = std::make_unique<exported<Tensor>>();
  e->shape = v.shape;
  e->strides = v.strides;
  e->store = v.store;
  tensor& t = e->tensor.dl_tensor;
  t.device = kw.device ? place_of(*kw.device) : place_of(v);
  const bool empty = core::element_count(v.shape) == 0;
  t.data = empty ? nullptr : shared_address(v, t.device, kw.stream);
  if (!empty && v.device().kind == runtime::device_kind::cuda)
    e->owner_stream = &v.store->now()->buffer->owner_stream();
  t.ndim = v.shape.size();
  t.dtype = type_of(v.type);
  t.shape = e->shape.data();
  t.strides = e->strides.data();
  e->tensor.manager_ctx = e.get();
  e->tensor.deleter = delete_exported<Tensor>;
  return e;
}

/// The array over a tensor's memory. `own`: the memory is exclusively owned.
template <class Tensor>
ndarray import_tensor(Tensor* managed, bool readonly, bool own, const from_dlpack_kw& kw) {
  const tensor& t = managed->dl_tensor;
  const auto [device, kind] = place_of_tensor(t.device, kw.device);
  foreign_memory m{.function = "from_dlpack",
                   .data = nullptr,
                   .type = dtype_of_tensor(t.dtype),
                   .shape = {},
                   .strides = {},
                   .device = device,
                   .kind = kind,
                   .readonly = readonly,
                   .live = !kw.immutable || kw.copy == true};
  if (t.ndim < 0 || t.ndim > core::max_rank || (t.ndim > 0 && !t.shape))
    ops::fail<value_error>("from_dlpack", "the tensor has ", t.ndim, " axes");
  m.shape = core::dims(t.shape, t.ndim);
  core::checked_count(m.shape, m.function);
  m.strides = t.strides ? core::dims(t.strides, t.ndim) : core::contiguous_strides(m.shape);
  m.data = t.data ? static_cast<char*>(t.data) + t.byte_offset : nullptr;
  const bool moves = kw.device && ops::to_id(*kw.device) != m.device;
  if (moves && kw.copy == false)
    ops::fail<value_error>("from_dlpack", "copy is false, but the array shall be on ", ops::to_id(*kw.device),
                           " and the tensor is on ", m.device);
  auto call = [managed] {
    if (managed->deleter) managed->deleter(managed);
  };
  const auto release = std::make_shared<armed_release<decltype(call)>>(call);
  ndarray x = ops::ndarray_access::make(wrap_memory(m, release));
  if (own && !readonly && kw.copy != true) ops::view_of(x, m.function).store->set_pinned(false);
  ndarray result = moves ? x.to_device(*kw.device) : kw.copy == true ? ops::wrap(ops::value_of(x)) : x;
  if (moves || kw.copy == true) graph::evaluate(std::span(&ops::ndarray_access::ref(result), 1));
  release->arm();
  return result;
}

void check_version(const version_info& v) {
  if (v.major != 1)
    ops::fail<value_error>("from_dlpack", "the tensor is of DLPack ", v.major, ".", v.minor, "; 1.x is known");
}

}  // namespace
}  // namespace sinter::interop

namespace sinter::inline v0 {

void dlpack_deleter::operator()(DLManagedTensorVersioned* t) const noexcept {
  if (auto* const v = dlpack::view(t); v && v->deleter) v->deleter(v);
}
void dlpack_deleter::operator()(DLManagedTensor* t) const noexcept {
  if (auto* const v = dlpack::view(t); v && v->deleter) v->deleter(v);
}

dlpack_ptr to_dlpack(const ndarray& x, const to_dlpack_kw& kw) {
  const interop::chosen_array chosen = interop::choose(x, kw, true, "to_dlpack");
  const bool readonly = ops::view_of(chosen.x, "to_dlpack").readonly;
  auto e = interop::export_array<dlpack::managed_tensor_versioned>(chosen.x, kw);
  e->tensor.version = dlpack::written_version;
  e->tensor.flags = (readonly ? dlpack::flag_read_only : 0) | (chosen.copied ? dlpack::flag_is_copied : 0);
  return dlpack_ptr(dlpack::give(&e.release()->tensor));
}

dlpack_legacy_ptr to_dlpack_legacy(const ndarray& x, const to_dlpack_kw& kw) {
  const interop::chosen_array chosen = interop::choose(x, kw, false, "to_dlpack_legacy");
  auto e = interop::export_array<dlpack::managed_tensor>(chosen.x, kw);
  return dlpack_legacy_ptr(dlpack::give(&e.release()->tensor));
}

dlpack::device_info dlpack_device(const ndarray& x) {
  ops::view_of(x, "dlpack_device");
  const graph::view_ref view = ops::ndarray_access::ref(x);
  graph::evaluate(std::span(&view, 1));
  return interop::place_of(*view);
}

std::optional<std::intptr_t> dlpack_stream(const device& on) {
  if (on.kind == device_kind::cpu) return std::nullopt;
  const runtime::stream& mine = runtime::get_backend(ops::to_id(on)).current_stream();
  if (mine.notes()) throw device_error("[dlpack_stream] nothing can be taken from others in a capture");
  return mine.native() ? reinterpret_cast<std::intptr_t>(mine.native()) : 1;
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

}  // namespace sinter::inline v0
