// Arrays to and from other libraries through DLPack, without a copy: PyTorch, JAX, CuPy, NumPy, TensorFlow, MXNet and
// others speak it. Both forms of its C interface are here, the versioned one (1.0 and later) and the one before.
//
// Functions take and give the types of <dlpack/dlpack.h>, which is not needed: names of types are enough. Who has no
// such header finds the same layout in namespace sinter::dlpack.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace sinter::inline v0 {

/// The layout of DLPack 1.x, as its specification gives it.
namespace dlpack {

inline constexpr std::int32_t on_cpu = 1, on_cuda = 2, on_cuda_host = 3, on_cuda_managed = 13;
struct device_info {
  std::int32_t type, id;
};
enum class type_code : std::uint8_t {
  integer = 0,
  unsigned_integer = 1,
  floating = 2,
  bfloat = 4,
  complex = 5,
  boolean = 6
};
struct data_type {
  type_code code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct tensor {
  void* data;
  device_info device;
  std::int32_t ndim;
  data_type dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: C order
  std::uint64_t byte_offset;
};
struct managed_tensor {
  tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(managed_tensor* self);
};
struct version_info {
  std::uint32_t major, minor;
};
inline constexpr version_info written_version{1, 0};
inline constexpr std::uint64_t flag_read_only = 1, flag_is_copied = 2;
struct managed_tensor_versioned {
  version_info version;
  void* manager_ctx;
  void (*deleter)(managed_tensor_versioned* self);
  std::uint64_t flags;
  tensor dl_tensor;
};

}  // namespace dlpack

/// Calls a tensor's own deleter.
struct dlpack_deleter {
  void operator()(DLManagedTensorVersioned* t) const noexcept;
  void operator()(DLManagedTensor* t) const noexcept;
};
using dlpack_ptr = std::unique_ptr<DLManagedTensorVersioned, dlpack_deleter>;
using dlpack_legacy_ptr = std::unique_ptr<DLManagedTensor, dlpack_deleter>;

struct to_dlpack_kw {
  kwonly _kw{};
  /// The stream on which the consumer will work, as Python's protocol numbers it: 1 the legacy default stream, 2 the
  /// per-thread default stream, -1 none (no stream waits), anything else a cudaStream_t. What is enqueued there from
  /// now on comes after whatever this library does with the elements; the host does not wait. Without one: the legacy
  /// default stream; of pinned and managed memory, which the host may read, the host waits. Only of arrays on a GPU.
  std::optional<std::intptr_t> stream{};
  /// true: the tensor is a separate copy. false: value_error where only a copy could be given. Else a copy where
  /// needed.
  std::optional<bool> copy{};
  /// Where the tensor shall be; another device than the array's takes a copy. The tensor then is of type on_cpu or
  /// on_cuda, whatever kind of memory it is in, for consumers that support no others.
  std::optional<sinter::device> device{};
};
/// The array as a tensor that shares its memory: writes by either side are visible to the other. Evaluates the array;
/// from then on its reads and writes happen at once, as after data(). The tensor keeps the memory until it is deleted:
/// give `release()` to a consumer, which calls the tensor's deleter when its work on streams of its own is done (work
/// that it has enqueued on the default stream may still be running). Arrays in pinned memory go out as on_cuda_host, in
/// managed memory as on_cuda_managed. The versioned form says of a read-only array that it is one; the old form cannot,
/// so it is refused there (value_error) unless a copy is asked for. value_error too for a stream of 0, which is
/// ambiguous, below -1, or of an array on the CPU; device_error in a capture. What kernels find wrong in data is
/// reported where the host next waits.
dlpack_ptr to_dlpack(const ndarray& x, const to_dlpack_kw& kw = {});
dlpack_legacy_ptr to_dlpack_legacy(const ndarray& x, const to_dlpack_kw& kw = {});
/// What Python's __dlpack_device__ gives: where the array's memory is. Evaluates the array.
dlpack::device_info dlpack_device(const ndarray& x);
/// What to give to a producer as `stream`, so that its work comes before this library's: the calling thread's current
/// stream of the device, 1 where that is the legacy default stream; nothing on the CPU. Import on the same thread,
/// while that stream is current. device_error where the device is missing, and in a capture.
std::optional<std::intptr_t> dlpack_stream(const device& on);

struct from_dlpack_kw {
  kwonly _kw{};
  std::optional<bool> copy{};  // true: always, and the tensor is deleted at once; false: never
  /// Where the array shall be; another one than the tensor's takes a copy. Managed memory is every GPU's.
  std::optional<sinter::device> device{};
  bool immutable = false;  // the caller guarantees that the elements do not change, as in from_pointer
};
/// An array over a tensor's memory, read-only where the tensor says so. Takes the tensor over: its deleter is called
/// when nothing refers to the memory any more and the streams that have worked on it are done, which the host waits
/// for. Where the function throws the tensor is still the caller's. The elements are taken to be ready in the order of
/// the calling thread's current stream (dlpack_stream). Elements that other code may change are copied when an
/// expression of them is recorded, unless the tensor says that it is a separate copy. Tensors of type on_cuda_host
/// become arrays on the CPU, in pinned memory where there is a GPU; on_cuda_managed arrays in managed memory of a GPU.
/// Throws dtype_error for elements that no array has (several lanes, other widths), device_error for devices that are
/// not there or not known, value_error for sizes, strides and addresses that do not fit, for versions above 1.x, and
/// where copy = false cannot be satisfied.
ndarray from_dlpack(DLManagedTensorVersioned* t, const from_dlpack_kw& kw = {});
ndarray from_dlpack(DLManagedTensor* t, const from_dlpack_kw& kw = {});
ndarray from_dlpack(dlpack_ptr t, const from_dlpack_kw& kw = {});
ndarray from_dlpack(dlpack_legacy_ptr t, const from_dlpack_kw& kw = {});

namespace dlpack {
/// The same tensor by the types of this header, and back.
inline managed_tensor_versioned* view(DLManagedTensorVersioned* t) noexcept {
  return reinterpret_cast<managed_tensor_versioned*>(t);
}
inline managed_tensor* view(DLManagedTensor* t) noexcept { return reinterpret_cast<managed_tensor*>(t); }
inline DLManagedTensorVersioned* give(managed_tensor_versioned* t) noexcept {
  return reinterpret_cast<DLManagedTensorVersioned*>(t);
}
inline DLManagedTensor* give(managed_tensor* t) noexcept { return reinterpret_cast<DLManagedTensor*>(t); }
}  // namespace dlpack

}  // namespace sinter::inline v0
