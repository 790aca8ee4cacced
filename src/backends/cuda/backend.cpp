// The CUDA backend as runtime::backend: copies, launches, faults; memory, streams and graphs are in separate files. The
// default stream is the legacy one, so that work of user code on it is ordered with sinter's.
#include "backends/cuda/backend.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "backends/cuda/algorithms/algorithms.hpp"
#include "backends/cuda/code.hpp"
#include "backends/cuda/kernel_list.hpp"
#include "backends/cuda/ready_launch.hpp"
#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/driver/identity.hpp"
#include "backends/cuda/driver/stream.hpp"
#include "backends/cuda/fft/fourier.hpp"
#include "backends/cuda/sparse/sparse.hpp"
#include "backends/cuda/linalg/products.hpp"
#include "backends/cuda/linalg/solvers.hpp"
#include "backends/cuda/memory/memory.hpp"
#include "backends/cuda/raw/module.hpp"
#include "backends/cuda/timer.hpp"
#include "jit/cuda/nvrtc.hpp"
#include "jit/cuda/schedule/choose.hpp"
#include "jit/cuda/units.hpp"
#include "platform/per_thread.hpp"
#include "runtime/pool.hpp"
#include "runtime/trace.hpp"
#include "sinter/error.hpp"

namespace sinter::cuda {
namespace {

using jit::launch;
using runtime::prepared;

/// The workspace size of a cuBLAS handle, as documented for cublasSetWorkspace.
std::size_t blas_workspace_bytes(int arch) { return (arch >= 90 ? std::size_t{32} : std::size_t{4}) << 20; }

class cuda_backend final : public runtime::backend {
 public:
  explicit cuda_backend(int index)
      : index_(index),
        streams_(*this, index),
        pool_(make_pool(index, memory_kind::device, streams_)),
        arch_(compute_capability(index)),
        kernels_(index, arch_),
        multiprocessors_(device_attribute(cudaDevAttrMultiProcessorCount, index)) {
    backend::start({runtime::device_kind::cuda, index}, streams_.default_stream(), *pool_);
    jit::warm_up_nvrtc();
    void* host = nullptr;
    constexpr int record = runtime::fault_log::slot_words;  // the device's record, then those of launches
    check(cudaHostAlloc(&host, sizeof(int) * record * (1 + fault_slots), cudaHostAllocMapped | cudaHostAllocPortable),
          "cudaHostAlloc");
    fault_ = static_cast<int*>(host);
    std::fill_n(fault_, record, 0);
    void* device = nullptr;
    check(cudaHostGetDevicePointer(&device, host, 0), "cudaHostGetDevicePointer");
    device_fault_ = static_cast<int*>(device);
    faults().use_slots(fault_ + record, device_fault_ + record, fault_slots, *this);
    algorithms_ = make_algorithms({index, multiprocessors_, &launches_});
    const auto give_back = [this] { pool_->trim(); };
    products_ = make_products({index, multiprocessors_, &launches_, this, blas_workspace_bytes(arch_), give_back});
    solvers_ = make_solvers({this, index, multiprocessors_, &launches_, give_back});
    fourier_ = make_fourier(*this, index);
    sparse_ = make_sparse({index, multiprocessors_, &launches_, give_back});
  }

  runtime::device_id id() const override { return {runtime::device_kind::cuda, index_}; }
  std::string description() const override {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, index_), "cudaGetDeviceProperties");
    return properties.name;
  }
  std::string identity() const override { return identity_of(index_); }
  bool host_addressable() const override { return false; }

  runtime::pool& memory_pool(memory_kind kind) override {
    check_usable();
    if (kind == memory_kind::device) return *pool_;
    const std::lock_guard lock(pools_mutex_);
    auto& slot = kind == memory_kind::managed ? managed_ : pinned_;
    if (!slot) {
      begin();
      slot = make_pool(index_, kind, streams_);
    }
    return *slot;
  }

  void copy_from_host(void* to, const void* from, std::size_t bytes) override {
    refuse_in_capture("bringing elements from the host");
    copy_and_wait(to, from, bytes);
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    refuse_in_capture("reading elements on the host");
    copy_and_wait(to, from, bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes) override { enqueue_copy(to, from, bytes); }
  void enqueue_from_host(void* to, const void* from, std::size_t bytes) override {
    refuse_in_capture("bringing elements from the host");
    enqueue_copy(to, from, bytes);
  }
  void enqueue_to_host(void* to, const void* from, std::size_t bytes) override {
    refuse_in_capture("copying elements to the host");
    enqueue_copy(to, from, bytes);
  }
  void copy_from_peer(void* to, backend& peer, const void* from, std::size_t bytes, runtime::stream& on) override {
    refuse_in_capture("copying between GPUs");
    begin();
    (void)can_access_peer(peer);  // enables direct copies
    static_cast<gpu_stream&>(on).enter();
    check(cudaMemcpyPeerAsync(to, index_, from, peer.id().index, bytes, static_cast<gpu_stream&>(on).handle()),
          "cudaMemcpyPeerAsync");
  }
  bool can_access_peer(backend& peer) override {
    if (peer.id().kind != runtime::device_kind::cuda || peer.id().index == index_) return false;
    const std::lock_guard lock(pools_mutex_);
    auto& known = peers_[static_cast<std::size_t>(peer.slot())];
    if (known == peer_access::unknown) known = enable_peer(peer.id().index) ? peer_access::yes : peer_access::no;
    return known == peer_access::yes;
  }
  void prefetch(const void* p, std::size_t bytes, const backend* to) override {
    refuse_in_capture("prefetching managed memory");
    begin();
    cuda::prefetch(index_, p, bytes, to ? to->id().index : -1);
  }
  void advise(const void* p, std::size_t bytes, runtime::memory_hint hint, const backend* where, bool on) override {
    begin();
    cuda::advise(index_, p, bytes, hint, where ? where->id().index : -1, on);
  }

  bool keeps_rows(const jit::program& p, std::int64_t rows, std::int64_t elements) const override {
    return cuda::keeps_rows(p, rows, elements);
  }
  void prepare(std::span<const launch> launches, std::span<const prepared*> results) override {
    check_usable();
    auto& found = platform::per_thread<std::vector<const kernel*>, kernel_table>::get();
    found.resize(launches.size());
    bool all = true;
    for (std::size_t k = 0; k < launches.size() && all; ++k) {
      const ready_launch* const known = ready(launches[k]);
      all = known != nullptr;
      if (all) found[k] = known->code();
    }
    if (!all) kernels_.find(launches, found);
    for (std::size_t k = 0; k < launches.size(); ++k) results[k] = reinterpret_cast<const prepared*>(found[k]);
  }
  std::size_t scratch_bytes(const prepared& code, const launch& l) const override {
    return cuda::scratch_bytes(l, of(code).variant);
  }
  void run(const prepared& code, const launch& recorded, void* scratch) override {
    if (kept_count(recorded) == 0 ||
        (recorded.code->kind == jit::kernel_kind::elementwise && core::element_count(recorded.extents) == 0))
      return;
    begin();
    const kernel& k = of(code);
    int* const fault = recorded.fault ? recorded.fault : device_fault_;
    if (ready_launch* const known = ready(recorded); known && known->code() == &k && !runtime::tracing())
      return start(k, known->how(), known->words(recorded, fault, scratch));
    std::uint64_t parameters[parameter_capacity / sizeof(std::uint64_t)];
    const launch& l = lowered(recorded, platform::per_thread<launch, cuda_backend>::get());
    auto& pointers = platform::per_thread<std::vector<pointer_word>, cuda_backend>::get();
    pointers.clear();
    const call c =
        build_call(l, k.variant, k.layout, multiprocessors_, fault, scratch, parameters, k.unroll, &pointers);
    if (runtime::tracing()) [[unlikely]]
      trace_launch(l, k, c);
    const std::span<const std::uint64_t> used(parameters, (k.parameter_bytes + 7) / 8);
    if (kernel_table::is_best(recorded, &k)) {
      if (!recorded.memo->state) recorded.memo->state = std::make_unique<ready_launch>();
      static_cast<ready_launch&>(*recorded.memo->state).note(recorded, l, k, c, used, pointers);
    }
    start(k, c, used);
  }
  void begin_list(std::unique_ptr<jit::launch_list>& kept) override {
    if (!kept) kept = std::make_unique<kernel_list>();
    kernel_list& list = static_cast<kernel_list&>(*kept);
    list.begin();
    list_of_thread() = &list;
  }
  void end_list() override {
    kernel_list* const list = std::exchange(list_of_thread(), nullptr);
    if (!list || list->size() == 0) return;
    begin();
    list->launch(cuda::current_stream(index_));
  }

  void synchronize() override {
    begin();
    streams_.synchronize();
  }
  runtime::data_fault take_fault(runtime::bad_index* index) override {
    refuse_in_capture("waiting for the device");
    begin();
    current_stream().synchronize();
    std::atomic_ref<int> flag(*fault_);
    if (flag.load() == 0) return runtime::data_fault::none;
    const runtime::data_fault found = runtime::read_fault(fault_, index);
    flag.store(0);
    return found;
  }
  std::string source(const launch& l) override {
    jit::cuda_variant v;
    launch plain;
    const launch& one = lowered(l, plain);
    classify(one, v);
    return jit::cuda_source(*one.code, v);
  }
  jit::schedule schedule(const launch& l) override {
    launch plain;
    return describe(lowered(l, plain));
  }
  runtime::counters statistics() const override {
    return {launches_, kernels_.compilations(), kernels_.disk_hits(), pool_->allocations()};
  }
  std::unique_ptr<runtime::timer> make_timer() override {
    refuse_in_capture("measuring time");
    begin();
    return cuda::make_timer(index_, cuda::current_stream(index_));
  }

  std::shared_ptr<runtime::raw_module> load_module(const runtime::module_source& source) override {
    begin();
    return cuda::load_module(source, {index_, arch_, &launches_});
  }
  runtime::algorithms& algorithms() override { return *algorithms_; }
  runtime::products& products() override { return *products_; }
  runtime::solvers& solvers() override { return *solvers_; }
  runtime::fourier& fourier() override { return *fourier_; }
  runtime::sparse& sparse() override { return *sparse_; }

  runtime::stream& open_stream(const runtime::stream_options& o) override {
    begin();
    return streams_.open(o);
  }
  runtime::stream& wrap_stream(void* native) override {
    begin();
    return streams_.wrap(native);
  }
  void close_stream(runtime::stream& s) noexcept override {
    streams_.close(s);
    const std::lock_guard lock(pools_mutex_);
    for (runtime::pool* p : {pool_.get(), managed_.get(), pinned_.get()})
      if (p) p->orphan_blocks(s);
  }
  std::unique_ptr<runtime::event> make_event(bool timing) override {
    begin();
    return cuda::make_event(index_, timing);
  }

  runtime::stream& begin_capture() override {
    begin();
    runtime::stream& s = streams_.open({.priority = 0, .non_blocking = true, .for_capture = true});
    try {
      cuda::begin_capture(s);
    } catch (...) {
      streams_.close(s);
      throw;
    }
    return s;
  }
  std::unique_ptr<runtime::recorded_work> end_capture(runtime::stream& s) override {
    const closer always{streams_, s};
    begin();
    return cuda::end_capture(s, index_);
  }
  void abandon_capture(runtime::stream& s) noexcept override {
    cuda::abandon_capture(s);
    streams_.close(s);
  }
  device_properties properties() override {
    begin();
    return properties_of(index_);
  }

 private:
  enum class peer_access : std::uint8_t { unknown, yes, no };
  struct closer {
    gpu_streams& streams;
    runtime::stream& s;
    ~closer() { streams.close(s); }
  };
  static const kernel& of(const prepared& p) { return reinterpret_cast<const kernel&>(p); }
  /// What a launch that recurs became, if it would become the same again; else null.
  static ready_launch* ready(const launch& l) {
    auto* const known = l.memo ? static_cast<ready_launch*>(l.memo->state.get()) : nullptr;
    return known && known->fits(l) && kernel_table::is_best(l, known->code()) ? known : nullptr;
  }

  void begin() const {
    check_usable();
    make_current(index_);
  }
  void trace_launch(const launch& l, const kernel& k, const call& c) const {
    const auto shape = [](const grid& g) {
      return core::to_string({g.x, g.y, g.z}) + " of " + core::to_string({g.block_x, g.block_y});
    };
    std::string line = "launch " + jit::cuda_kernel_name(*l.code, k.variant) + " " + core::to_string(l.extents) +
                       (k.variant.baseline ? ", baseline" : "") + ", blocks " + shape(c.first);
    if (c.second_stage) line += ", then " + shape(c.second);
    trace(index_, line);
  }
  /// The list that the calling thread's launches go to; null: they are launched at once.
  static kernel_list*& list_of_thread() {
    struct thread_list {
      kernel_list* list = nullptr;
    };
    return platform::per_thread<thread_list, cuda_backend>::get().list;
  }
  void start(const kernel& k, const call& c, std::span<const std::uint64_t> parameters) {
    start(k.main, c.first, k.shared_bytes, parameters);
    if (c.second_stage) start(k.second, c.second, 0, parameters);
  }
  void start(CUfunction f, const grid& g, unsigned shared_bytes, std::span<const std::uint64_t> parameters) {
    launches_.fetch_add(1, std::memory_order_relaxed);
    if (kernel_list* const list = list_of_thread())
      return list->add({f, {g.x, g.y, g.z}, {g.block_x, g.block_y}, shared_bytes}, parameters);
    void* arguments[] = {const_cast<std::uint64_t*>(parameters.data())};
    launch_kernel(f, g, shared_bytes, arguments, cuda::current_stream(index_));
  }

  // The driver determines the kind of each address: an array's memory may be host memory.
  void enqueue_copy(void* to, const void* from, std::size_t bytes) {
    begin();
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, cuda::current_stream(index_)), "cudaMemcpyAsync");
  }
  void copy_and_wait(void* to, const void* from, std::size_t bytes) {
    begin();
    cudaStream_t s = cuda::current_stream(index_);
    if (!s) return check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(s), "cudaStreamSynchronize");
  }
  bool enable_peer(int other) const {
    int possible = 0;
    check(cudaDeviceCanAccessPeer(&possible, index_, other), "cudaDeviceCanAccessPeer");
    if (!possible) return false;
    make_current(index_);
    const cudaError_t status = cudaDeviceEnablePeerAccess(other, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled) {
      (void)cudaGetLastError();
      return true;
    }
    check(status, "cudaDeviceEnablePeerAccess");
    return true;
  }

  int index_;
  gpu_streams streams_;
  std::unique_ptr<runtime::pool> pool_;
  std::mutex pools_mutex_;
  std::unique_ptr<runtime::pool> managed_, pinned_;
  std::array<peer_access, runtime::device_slots> peers_{};
  int arch_;
  kernel_table kernels_;
  int multiprocessors_;
  static constexpr int fault_slots = 256;
  int* fault_ = nullptr;  // pinned host memory, which kernels write through device_fault_
  int* device_fault_ = nullptr;
  std::atomic<std::uint64_t> launches_{0};
  std::unique_ptr<runtime::algorithms> algorithms_;
  std::unique_ptr<runtime::products> products_;
  std::unique_ptr<runtime::solvers> solvers_;
  std::unique_ptr<runtime::fourier> fourier_;
  std::unique_ptr<runtime::sparse> sparse_;
};

/// The number of devices, or the reason why there is none.
struct probe {
  int count = 0;
  std::string reason;
};

probe look_for_devices() {
  probe p;
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    (void)cudaGetLastError();
    p.reason = "no NVIDIA driver is installed";
    return p;
  }
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    (void)cudaGetLastError();
    p.reason = std::string("the CUDA runtime reports ") + cudaGetErrorName(status) + " (" + cudaGetErrorString(status) +
               ") with driver version " + std::to_string(driver);
    return p;
  }
  p.count = count;
  if (count == 0) p.reason = "the NVIDIA driver offers no GPU";
  return p;
}

const probe& devices() {
  static const probe& found = *new probe(look_for_devices());
  return found;
}

}  // namespace
}  // namespace sinter::cuda

namespace sinter::runtime {

std::unique_ptr<memory_source> make_cuda_pinned_source() { return cuda::make_pinned_source(); }
int cuda_device_count() noexcept { return cuda::devices().count; }
std::string cuda_unavailable_reason() { return cuda::devices().reason; }

std::unique_ptr<backend> make_cuda_backend(int index) {
  if (index < 0 || index >= cuda_device_count())
    throw device_error("[device] there is no GPU " + std::to_string(index) + ": " +
                       (cuda_device_count() == 0 ? cuda_unavailable_reason()
                                                 : "the driver offers " + std::to_string(cuda_device_count())));
  cuda::make_current(index);
  return std::make_unique<cuda::cuda_backend>(index);
}

}  // namespace sinter::runtime
