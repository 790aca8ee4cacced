// Arrays exchanged by streams on a real GPU: consumers' and producers' streams, pinned and managed memory of both
// sides.
#ifdef SINTER_HAS_CUDA

#include <cuda_runtime_api.h>

#include <optional>

#include "gpu/gpu.hpp"
#include "support/stream_cases.hpp"

using namespace stream_test;
using sinter::memory_kind;

namespace {

constexpr std::int64_t n = 1 << 20;
constexpr std::size_t bytes = n * sizeof(std::int64_t);

const sn::dlpack::tensor& tensor_of(const sn::dlpack_ptr& t) { return sn::dlpack::view(t.get())->dl_tensor; }
bool is_on(const sn::dlpack::device_info& d, std::int32_t type, int id) { return d.type == type && d.id == id; }
sn::stream beside() { return sn::stream({.non_blocking = true}); }

/// A foreign stream, which waits for no other one by itself.
struct other_stream {
  cudaStream_t handle = nullptr;
  other_stream() { REQUIRE(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking) == cudaSuccess); }
  ~other_stream() { (void)cudaStreamDestroy(handle); }
  other_stream(const other_stream&) = delete;
  std::intptr_t number() const { return reinterpret_cast<std::intptr_t>(handle); }
};

/// What a consumer finds at an address when its stream comes to it.
list consumed(const void* address, cudaStream_t on) {
  list seen(n);
  REQUIRE(cudaMemcpyAsync(seen.data(), address, bytes, cudaMemcpyDeviceToHost, on) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(on) == cudaSuccess);
  return seen;
}

/// Keeps the current stream busy for some 10 ms of a large GPU, far longer than the host takes to enqueue it.
void keep_busy(const ndarray& scratch) {
  ndarray y = scratch;
  for (int k = 0; k < 200; ++k) {
    y = sn::sin(y);
    sn::eval(y);
  }
}
ndarray scratch() {
  const ndarray x = sn::zeros(1 << 25, {.dtype = sn::float32}) + 0.5f;
  sn::eval(x);
  keep_busy(x);  // compiles
  sn::synchronize();
  return x;
}

/// A producer of n elements in memory that CUDA has allocated; its deleter passes it to code that writes there at once.
struct producer {
  void* memory = nullptr;
  std::int64_t shape[1] = {n};
  int deleted = 0;
  sn::dlpack::managed_tensor_versioned tensor{};

  producer(void* p, sn::dlpack::device_info where) : memory(p) {
    tensor.version = {1, 0};
    tensor.manager_ctx = this;
    tensor.deleter = [](sn::dlpack::managed_tensor_versioned* t) {
      auto* const self = static_cast<producer*>(t->manager_ctx);
      ++self->deleted;
      const other_stream at_once;
      CHECK(cudaMemsetAsync(self->memory, 0xff, bytes, at_once.handle) == cudaSuccess);
      CHECK(cudaStreamSynchronize(at_once.handle) == cudaSuccess);
    };
    tensor.dl_tensor = {memory, where, 1, {sn::dlpack::type_code::integer, 64, 1}, shape, nullptr, 0};
  }
  producer(const producer&) = delete;
  DLManagedTensorVersioned* give() { return sn::dlpack::give(&tensor); }
};

}  // namespace

TEST_CASE("gpu: a consumer's stream waits for what computes a tensor, the host does not") {
  if (gpu_test::no_gpu()) return;
  const sn::stream a = beside();
  const ndarray busy = scratch();
  const ndarray warm = sn::arange(n) * 3;
  sn::eval(warm);
  sn::synchronize();
  for (int round = 0; round < 4; ++round) {
    CAPTURE(round);
    const other_stream theirs;
    ndarray x;
    sn::dlpack_ptr t;
    {
      const sn::stream_guard on(a);
      keep_busy(busy);
      x = sn::arange(n) * (round + 3);  // memory that is used again holds other values
      sn::eval(x);
      if (round % 2 == 0) t = sn::to_dlpack(x, {.stream = theirs.number()});
    }
    if (round % 2 == 1) t = sn::to_dlpack(x, {.stream = theirs.number()});
    CHECK_FALSE(a.query());
    CHECK(cudaStreamQuery(theirs.handle) == cudaErrorNotReady);
    (void)cudaGetLastError();
    CHECK(consumed(tensor_of(t).data, theirs.handle) == counting(n, round + 3));
  }
}

TEST_CASE("gpu: the default streams as a consumer's, by number and without one") {
  if (gpu_test::no_gpu()) return;
  const sn::stream a = beside();
  const sn::stream_guard on(a);
  const ndarray busy = scratch();
  for (const int number : {0, 1, 2}) {
    CAPTURE(number);
    keep_busy(busy);
    const ndarray x = sn::arange(n) * (number + 5);
    const sn::dlpack_ptr t =
        number == 0 ? sn::to_dlpack(x) : sn::to_dlpack(x, {.stream = static_cast<std::intptr_t>(number)});
    CHECK(is_on(tensor_of(t).device, sn::dlpack::on_cuda, sn::default_device().index));
    const cudaStream_t theirs = number == 2 ? cudaStreamPerThread : cudaStreamLegacy;
    CHECK(consumed(tensor_of(t).data, theirs) == counting(n, number + 5));
  }
  CHECK(sn::dlpack_stream(sn::default_device()) == reinterpret_cast<std::intptr_t>(a.native_handle()));
  const sn::stream_guard back(sn::default_stream());
  CHECK(sn::dlpack_stream(sn::default_device()) == 1);
}

TEST_CASE("gpu: what a producer still computes is used after it, and its memory goes back when all is done") {
  if (gpu_test::no_gpu()) return;
  const sn::device d = sn::default_device();
  const sn::stream a = beside(), b = beside();
  const ndarray busy = scratch();
  const other_stream theirs;
  void *memory = nullptr, *source = nullptr;
  REQUIRE(cudaMalloc(&memory, bytes) == cudaSuccess);
  REQUIRE(cudaMalloc(&source, bytes) == cudaSuccess);
  const list late = counting(n, 7);
  REQUIRE(cudaMemcpy(source, late.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess);
  cudaEvent_t done = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&done, cudaEventDisableTiming) == cudaSuccess);
  for (int round = 0; round < 6; ++round) {
    CAPTURE(round);
    producer p(memory, {sn::dlpack::on_cuda, d.index});
    REQUIRE(cudaMemsetAsync(memory, 0, bytes, theirs.handle) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(theirs.handle) == cudaSuccess);
    ndarray x;
    {
      const sn::stream_guard on(a);
      const auto asked = reinterpret_cast<cudaStream_t>(*sn::dlpack_stream(d));
      for (int k = 0; k < 200; ++k)  // then the producer works on this for a while
        REQUIRE(cudaMemsetAsync(memory, k, bytes, theirs.handle) == cudaSuccess);
      REQUIRE(cudaMemcpyAsync(memory, source, bytes, cudaMemcpyDeviceToDevice, theirs.handle) == cudaSuccess);
      REQUIRE(cudaEventRecord(done, theirs.handle) == cudaSuccess);
      REQUIRE(cudaStreamWaitEvent(asked, done, 0) == cudaSuccess);
      x = sn::from_dlpack(p.give(), {.immutable = round % 2 == 0});
    }
    ndarray y;
    {
      const sn::stream_guard on(b);
      if (round >= 2) keep_busy(busy);  // so that the read comes late
      y = x + 1;
      sn::eval(y);
      CHECK(p.deleted == 0);
    }
    x = ndarray();
    CHECK(p.deleted == 1);
    CHECK(values(y) == counting(n, 7, 1));
  }
  (void)cudaEventDestroy(done);
  (void)cudaFree(memory);
  (void)cudaFree(source);
}

TEST_CASE("gpu: memory is not used again before what a consumer has enqueued on the default stream") {
  if (gpu_test::no_gpu()) return;
  const sn::stream a = beside();
  const ndarray busy = scratch();
  void* seen = nullptr;
  REQUIRE(cudaMallocHost(&seen, bytes) == cudaSuccess);
  for (int round = 0; round < 10; ++round) {
    void* address = nullptr;
    sn::dlpack_ptr t;
    {
      const sn::stream_guard on(a);
      t = sn::to_dlpack(sn::arange(n) * 6 + round);
      address = tensor_of(t).data;
    }
    keep_busy(busy);  // the default stream
    REQUIRE(cudaMemcpyAsync(seen, address, bytes, cudaMemcpyDeviceToHost, cudaStreamLegacy) == cudaSuccess);
    t.reset();
    {
      const sn::stream_guard on(a);
      const ndarray next = sn::zeros(n, {.dtype = sn::int64}) - 5;
      sn::eval(next);
    }
    REQUIRE(cudaStreamSynchronize(cudaStreamLegacy) == cudaSuccess);
    const auto* const found = static_cast<const std::int64_t*>(seen);
    CHECK(list(found, found + n) == counting(n, 6, round));
  }
  (void)cudaFreeHost(seen);
}

TEST_CASE("gpu: pinned memory goes out and comes in as such, and copies to it run beside the host") {
  if (gpu_test::no_gpu()) return;
  const sn::device d = sn::default_device();
  ndarray on_gpu, on_host;
  {
    const sn::memory_scope here(memory_kind::pinned), there(memory_kind::pinned, sn::cpu);
    on_gpu = sn::arange(n) * 3;
    on_host = sn::arange(n, {.device = sn::cpu}) * 3;
  }
  for (const ndarray& x : {on_gpu, on_host}) {
    CHECK(is_on(sn::dlpack_device(x), sn::dlpack::on_cuda_host, 0));
    const sn::dlpack_ptr t = sn::to_dlpack(x);
    CHECK(is_on(tensor_of(t).device, sn::dlpack::on_cuda_host, 0));
    CHECK(static_cast<const std::int64_t*>(tensor_of(t).data)[n - 1] == 3 * (n - 1));
  }
  CHECK(is_on(tensor_of(sn::to_dlpack(on_gpu, {.device = d})).device, sn::dlpack::on_cuda, d.index));
  CHECK(is_on(tensor_of(sn::to_dlpack(on_host, {.device = sn::cpu})).device, sn::dlpack::on_cpu, 0));

  void* memory = nullptr;
  REQUIRE(cudaMallocHost(&memory, bytes) == cudaSuccess);
  auto* const elements = static_cast<std::int64_t*>(memory);
  for (std::int64_t k = 0; k < n; ++k) elements[k] = 2 * k;
  {
    producer p(memory, {sn::dlpack::on_cuda_host, 0});
    ndarray x = sn::from_dlpack(p.give(), {.immutable = true});
    CHECK(x.device() == sn::cpu);
    CHECK(x.memory_kind() == memory_kind::pinned);
    const sn::stream copies = beside();
    const ndarray there = x.to_device(d, copies);
    x = ndarray();
    CHECK(p.deleted == 1);
    CHECK(elements[5] == -1);
    CHECK(values(there) == counting(n, 2));
  }
  const ndarray y = sn::from_pointer(elements, {n}, {.kind = memory_kind::pinned});
  const ndarray again = y.to_device(d);
  y(slice(0, 10)) = 4;
  CHECK(values(again)[3] == -1);
  CHECK(elements[3] == 4);
  (void)cudaFreeHost(memory);
}

TEST_CASE("gpu: managed memory goes out and comes in as such, and the host sees the same bytes") {
  if (gpu_test::no_gpu()) return;
  const sn::device d = sn::default_device();
  if (!sn::properties().managed_memory) {
    MESSAGE("left out: the GPU has no managed memory");
    return;
  }
  const bool beside_the_host = sn::properties().concurrent_managed_access;
  ndarray ours;
  {
    const sn::memory_scope scope(memory_kind::managed);
    ours = sn::arange(n) * 4;
  }
  CHECK(is_on(sn::dlpack_device(ours), sn::dlpack::on_cuda_managed, d.index));
  {
    std::optional<sn::host_mdview<const std::int64_t, 1>> seen(ours);
    CHECK((*seen)(9) == 36);
    const void* const at = seen->data_handle();
    seen.reset();
    CHECK((static_cast<const void*>(ours.host_data<std::int64_t>()) == at) == beside_the_host);
  }
  const sn::dlpack_ptr t = sn::to_dlpack(ours);
  CHECK(is_on(tensor_of(t).device, sn::dlpack::on_cuda_managed, d.index));
  CHECK(static_cast<const std::int64_t*>(tensor_of(t).data)[n - 1] == 4 * (n - 1));
  const sn::host_mdview<std::int64_t, 1> view(ours);
  CHECK(view.data_handle() == ours.host_data<std::int64_t>());
  view(1) = 77;
  ours += 1;
  sn::synchronize();
  CHECK(view(1) == 78);

  void* memory = nullptr;
  REQUIRE(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal) == cudaSuccess);
  auto* const elements = static_cast<std::int64_t*>(memory);
  for (std::int64_t k = 0; k < n; ++k) elements[k] = 2 * k;
  {
    producer p(memory, {sn::dlpack::on_cuda_managed, d.index});
    ndarray x = sn::from_dlpack(p.give());
    CHECK(x.device() == d);
    CHECK(x.memory_kind() == memory_kind::managed);
    CHECK(x.host_data<std::int64_t>() == elements);
    x += 1;
    CHECK(values(x) == counting(n, 2, 1));
    x = ndarray();
    CHECK(p.deleted == 1);
  }
  sn::synchronize();
  CHECK(elements[7] == -1);
  (void)cudaFree(memory);
}

#endif
