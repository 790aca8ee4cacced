// The library through C functions, for Python's ctypes: arrays made here and there, exchanged as DLPack tensors.
// Functions that can fail give null or -1, and sinter_error() then returns the reason.
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "sinter/sinter.hpp"

namespace {

thread_local std::string message;

template <class F>
auto guarded(F&& f) -> decltype(f()) {
  try {
    message.clear();
    return f();
  } catch (const std::exception& e) {
    message = e.what();
  }
  if constexpr (std::is_pointer_v<decltype(f())>) return nullptr;
  else return static_cast<decltype(f())>(-1);
}

sinter::ndarray& of(void* array) { return *static_cast<sinter::ndarray*>(array); }
void* hold(sinter::ndarray x) { return new sinter::ndarray(std::move(x)); }

sinter::device device_of(int type, int id) {
  const bool gpu = type == sinter::dlpack::on_cuda || type == sinter::dlpack::on_cuda_managed;
  return gpu ? sinter::cuda(id) : sinter::cpu;
}
sinter::memory_kind kind_of(int type) {
  if (type == sinter::dlpack::on_cuda_host) return sinter::memory_kind::pinned;
  return type == sinter::dlpack::on_cuda_managed ? sinter::memory_kind::managed : sinter::memory_kind::device;
}

/// A stream that is current while it lives.
struct own_stream {
  sinter::stream stream{{.non_blocking = true}};
  sinter::stream_guard guard{stream};
};
thread_local std::unique_ptr<own_stream> chosen;

/// `stream`: its number, or INT64_MIN for none; `copy`: 1, 0, or -1 for none; `to_type`: 0 for no device.
sinter::to_dlpack_kw keywords(std::int64_t stream, int copy, int to_type, int to_id) {
  sinter::to_dlpack_kw kw;
  if (stream != INT64_MIN) kw.stream = static_cast<std::intptr_t>(stream);
  if (copy >= 0) kw.copy = copy == 1;
  if (to_type != 0) kw.device = device_of(to_type, to_id);
  return kw;
}

}  // namespace

extern "C" {

const char* sinter_error() { return message.c_str(); }
int sinter_gpu_count() { return sinter::device_count(sinter::device_kind::cuda); }

/// From here on the calling thread works on a stream of its own on the GPU; 0: on the default stream again.
int sinter_own_stream(int wanted) {
  return guarded([&] {
    chosen.reset();
    if (wanted) chosen = std::make_unique<own_stream>();
    return 0;
  });
}

/// 0, 1, 2, ... as rows x columns of a dtype, by its number, on a device of a type of DLPack's.
void* sinter_make(int rows, int columns, int dtype, int device_type, int device_id) {
  return guarded([&] {
    const auto type = static_cast<sinter::dtype>(dtype);
    const sinter::memory_scope scope(kind_of(device_type), device_of(device_type, device_id));
    const sinter::ndarray x =
        sinter::reshape(sinter::arange(rows * columns, {.device = device_of(device_type, device_id)}), {rows, columns});
    return hold(type == sinter::bool_ ? (x % 2).astype(type) : x.astype(type));
  });
}
void sinter_free(void* array) { delete static_cast<sinter::ndarray*>(array); }

void* sinter_export(void* array, std::int64_t stream, int copy, int to_type, int to_id) {
  return guarded(
      [&]() -> void* { return sinter::to_dlpack(of(array), keywords(stream, copy, to_type, to_id)).release(); });
}
void* sinter_export_legacy(void* array, std::int64_t stream, int copy, int to_type, int to_id) {
  return guarded(
      [&]() -> void* { return sinter::to_dlpack_legacy(of(array), keywords(stream, copy, to_type, to_id)).release(); });
}
void sinter_delete(void* tensor) { sinter::dlpack_deleter()(static_cast<DLManagedTensorVersioned*>(tensor)); }
void sinter_delete_legacy(void* tensor) { sinter::dlpack_deleter()(static_cast<DLManagedTensor*>(tensor)); }

void* sinter_import(void* tensor, int copy) {
  return guarded(
      [&] { return hold(sinter::from_dlpack(static_cast<DLManagedTensorVersioned*>(tensor), {.copy = copy == 1})); });
}
void* sinter_import_legacy(void* tensor, int copy) {
  return guarded([&] { return hold(sinter::from_dlpack(static_cast<DLManagedTensor*>(tensor), {.copy = copy == 1})); });
}
/// The number to pass to a producer as `stream`; INT64_MIN for none.
std::int64_t sinter_stream(int device_type, int device_id) {
  return sinter::dlpack_stream(device_of(device_type, device_id)).value_or(INT64_MIN);
}
int sinter_device(void* array, int* id) {
  return guarded([&] {
    const auto d = sinter::dlpack_device(of(array));
    *id = d.id;
    return static_cast<int>(d.type);
  });
}

/// "float32 (2, 3)"
const char* sinter_describe(void* array) {
  thread_local std::string text;
  return guarded([&] {
    text = std::string(sinter::name(of(array).dtype())) + " " + to_string(of(array).shape());
    return text.c_str();
  });
}
void* sinter_transpose(void* array) {
  return guarded([&] { return hold(of(array).T()); });
}
/// 2 x + 1, recorded.
void* sinter_compute(void* array) {
  return guarded([&] { return hold(of(array) * 2 + 1); });
}
int sinter_add_in_place(void* array, double v) {
  return guarded([&] {
    of(array) += sinter::scalar(v);
    return 0;
  });
}
/// Elements (real parts) as float64, C order, at most `room`; how many there are.
std::int64_t sinter_elements(void* array, double* to, std::int64_t room) {
  return guarded([&] {
    const sinter::ndarray& x = of(array);
    const auto view = (sinter::is_complex(x.dtype()) ? sinter::real(x) : x).host<double>();
    const auto n = static_cast<std::int64_t>(view.size());
    if (n <= room) std::memcpy(to, view.data(), sizeof(double) * view.size());
    return n;
  });
}
/// .npy and .npz files, so that each side reads what the other has written.
int sinter_save(void* array, const char* path) {
  return guarded([&] {
    sinter::save(path, of(array));
    return 0;
  });
}
void* sinter_load(const char* path) {
  return guarded([&] { return hold(sinter::load(path, {.device = sinter::cpu})); });
}
int sinter_savez(void* array, const char* path, int compressed, int copies) {
  return guarded([&] {
    const std::vector<sinter::ndarray> all(static_cast<std::size_t>(copies), of(array));
    compressed ? sinter::savez_compressed(path, all) : sinter::savez(path, all);
    return 0;
  });
}
void* sinter_load_npz(const char* path, const char* name) {
  return guarded([&] { return hold(sinter::load_npz(path).load(name, {.device = sinter::cpu})); });
}

}  // extern "C"
