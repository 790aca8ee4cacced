// Queues of closures, drawn from in random order; see simulated_gpu.hpp.
#include "support/simulated_gpu.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/backend.hpp"
#include "runtime/backend.hpp"
#include "runtime/hooks.hpp"
#include "runtime/pool.hpp"
#include "sinter/error.hpp"
#include "support/simulated/graph.hpp"
#include "support/simulated_libraries.hpp"

namespace sim {
namespace {

using sinter::memory_kind;

constexpr std::size_t total_memory = std::size_t{1} << 32;

class sim_stream;

/// All queues of all devices.
class scheduler {
 public:
  static scheduler& instance() {
    static auto* s = new scheduler;
    return *s;
  }
  void add(sim_stream& s);
  void push(sim_stream& s, step what);
  void run_until_empty(sim_stream& s);
  void run_until(const mark_ref& m);
  bool is_empty(sim_stream& s);
  void seed(std::uint64_t n, bool eager) {
    const std::lock_guard lock(mutex_);
    random_.seed(n);
    eager_ = eager;
  }
  tally take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(tally_, {});
  }
  std::size_t queued();
  void run_what_can() {
    const std::lock_guard lock(mutex_);
    while (run_one()) {
    }
  }
  /// The stream of a device that has the handle; throws device_error where none has.
  sim_stream& find(runtime::backend& device, void* native);
  std::atomic<std::size_t> memory{0};

 private:
  template <class Done>
  void run(Done done);
  bool run_one();

  std::mutex mutex_;
  std::mt19937_64 random_{1};
  bool eager_ = false;
  tally tally_;
  std::vector<sim_stream*> streams_;
};

class sim_stream final : public runtime::stream {
 public:
  sim_stream(runtime::backend& owner, int number) : stream(owner, number, false) { scheduler::instance().add(*this); }
  void* native() const noexcept override { return number() == 0 ? nullptr : const_cast<sim_stream*>(this); }
  void synchronize() override { scheduler::instance().run_until_empty(*this); }
  bool is_idle() override { return scheduler::instance().is_empty(*this); }
  void enqueue(std::function<void()> work) { push({nullptr, std::move(work), nullptr}); }
  void push(step what) {
    if (captured) captured->push_back(std::move(what));
    else scheduler::instance().push(*this, std::move(what));
  }
  std::deque<step> queue;
  std::unique_ptr<std::vector<step>> captured;  // while work is captured
  mark_ref recorded;

 protected:
  void record_event() override {
    recorded = std::make_shared<mark>();
    push({nullptr, nullptr, recorded});
  }
  void wait_event(stream& of) override { push({static_cast<sim_stream&>(of).recorded, nullptr, nullptr}); }
  void await_event() override {
    if (recorded) scheduler::instance().run_until(recorded);
  }
  void hold_at_event(void* theirs) override;
};

void scheduler::add(sim_stream& s) {
  const std::lock_guard lock(mutex_);
  streams_.push_back(&s);
}

void scheduler::push(sim_stream& s, step what) {
  const std::lock_guard lock(mutex_);
  tally_.waits += what.needs != nullptr;
  tally_.events += what.reaches != nullptr;
  s.queue.push_back(std::move(what));
  if (eager_ && random_() % 2) run_one();
}

/// The first step of a stream drawn from those that can go on; whether there was one.
bool scheduler::run_one() {
  std::vector<sim_stream*> ready;
  for (sim_stream* s : streams_)
    if (!s->queue.empty() && (!s->queue.front().needs || s->queue.front().needs->reached)) ready.push_back(s);
  if (ready.empty()) return false;
  sim_stream& s = *ready[random_() % ready.size()];
  const step now = std::move(s.queue.front());
  s.queue.pop_front();
  if (now.work) now.work();
  if (now.reaches) now.reaches->reached = true;
  return true;
}

template <class Done>
void scheduler::run(Done done) {
  const std::lock_guard lock(mutex_);
  ++tally_.host_waits;
  while (!done())
    if (!run_one()) throw sinter::device_error("[simulated] streams wait for each other in a circle");
}

void scheduler::run_until_empty(sim_stream& s) {
  run([&] { return s.queue.empty(); });
}
void scheduler::run_until(const mark_ref& m) {
  run([&] { return m->reached.load(); });
}
bool scheduler::is_empty(sim_stream& s) {
  const std::lock_guard lock(mutex_);
  return s.queue.empty();
}
std::size_t scheduler::queued() {
  const std::lock_guard lock(mutex_);
  std::size_t n = 0;
  for (const sim_stream* s : streams_) n += s->queue.size();
  return n;
}

sim_stream& scheduler::find(runtime::backend& device, void* native) {
  const std::lock_guard lock(mutex_);
  for (sim_stream* s : streams_)
    if (&s->owner() == &device && s->native() == native) return *s;
  throw sinter::device_error("[simulated] there is no such stream");
}
void sim_stream::hold_at_event(void* theirs) {
  scheduler::instance().find(owner(), theirs).push({recorded, nullptr, nullptr});
}

class sim_event final : public runtime::event {
 public:
  void record(runtime::stream& s) override {
    point_ = std::make_shared<mark>();
    static_cast<sim_stream&>(s).push({nullptr, [] { ++now; }, point_});
    at_ = now;
  }
  bool is_done() override { return !point_ || point_->reached; }
  void synchronize() override {
    if (point_) scheduler::instance().run_until(point_);
  }
  void hold(runtime::stream& s) override {
    if (s.is_host()) return synchronize();
    static_cast<sim_stream&>(s).push({point_, nullptr, nullptr});
  }
  double seconds_since(runtime::event& begin) override { return at_ - static_cast<sim_event&>(begin).at_; }

 private:
  static inline std::atomic<int> now{0};
  mark_ref point_;
  int at_ = 0;
};

/// Ordinary memory, as much as the device has. Freed memory is overwritten: it may have no pending uses.
class sim_memory final : public runtime::memory_source {
 public:
  /// waits_for: whose work ends before memory goes back, as a driver waits for one device only; null: everybody's.
  explicit sim_memory(runtime::backend* waits_for = nullptr, bool limited = false)
      : waits_for_(waits_for), limited_(limited) {}
  void* allocate(std::size_t bytes) noexcept override {
    if (bytes > available()) return nullptr;
    void* p = nullptr;
    if (posix_memalign(&p, 256, bytes) != 0) return nullptr;
    std::memset(p, 0xA5, bytes);
    held_ += bytes;
    return p;
  }
  void release(void* p, std::size_t bytes) noexcept override {
    held_ -= bytes;
    std::memset(p, 0x5A, bytes);
    std::free(p);
  }
  std::size_t available() const noexcept override {
    const std::size_t all = limited_ ? scheduler::instance().memory.load() : 0;
    return all == 0 ? std::size_t{1} << 32 : all - std::min(all, held_);
  }
  void synchronize() noexcept override { waits_for_ ? waits_for_->synchronize() : runtime::synchronize_gpus(); }

 private:
  runtime::backend* waits_for_;
  bool limited_;
  std::size_t held_ = 0;
};

std::unique_ptr<runtime::memory_source> pinned_source() { return std::make_unique<sim_memory>(); }

/// Launches that the thread puts off.
thread_local std::optional<std::vector<std::function<void()>>> list_of_thread;
std::atomic<int> failing_lists{0};
std::atomic<std::uint64_t> copied{0};

class gpu final : public runtime::backend {
 public:
  explicit gpu(int index)
      : index_(index),
        default_(*this, 0),
        device_pool_(std::make_unique<sim_memory>(this, index == 63), device_options(index)),
        managed_pool_(std::make_unique<sim_memory>(this), options_of("managed memory", memory_kind::managed)),
        pinned_pool_(std::make_unique<sim_memory>(this), options_of("pinned memory", memory_kind::pinned)) {
    start({runtime::device_kind::cuda, index}, default_, device_pool_);
    faults().use_slots(faults_found_, faults_found_, fault_slots, *this);
  }
  runtime::device_id id() const override { return {runtime::device_kind::cuda, index_}; }
  std::string description() const override { return "simulated GPU"; }
  std::string identity() const override { return "simulated"; }
  bool host_addressable() const override { return false; }
  runtime::pool& memory_pool(memory_kind kind) override {
    return kind == memory_kind::device ? device_pool_ : kind == memory_kind::managed ? managed_pool_ : pinned_pool_;
  }

  void copy_from_host(void* to, const void* from, std::size_t bytes) override {
    refuse_in_capture("bringing elements from the host");
    copy(to, from, bytes);
    here().synchronize();
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    refuse_in_capture("reading elements on the host");
    copy(to, from, bytes);
    here().synchronize();
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    if (list_of_thread) throw sinter::device_error("[simulated] a copy between the launches of a list");
    copy_on(here(), to, from, bytes);
  }
  void enqueue_from_host(void* to, const void* from, std::size_t bytes) override {
    refuse_in_capture("bringing elements from the host");
    copy(to, from, bytes);
  }
  void enqueue_to_host(void* to, const void* from, std::size_t bytes) override {
    refuse_in_capture("copying elements to the host");
    copy(to, from, bytes);
  }
  bool keeps_rows(const sinter::jit::program& p, std::int64_t rows, std::int64_t elements) const override {
    return cpu().keeps_rows(p, rows, elements);
  }
  void copy_from_peer(void* to, backend&, const void* from, std::size_t bytes, runtime::stream& on) override {
    copy_on(static_cast<sim_stream&>(on), to, from, bytes);
  }
  bool can_access_peer(backend&) override { return true; }
  void prefetch(const void*, std::size_t bytes, const backend*) override {
    refuse_in_capture("prefetching managed memory");
    require_bytes(bytes, "prefetch");
    here().enqueue([] {});
  }
  void advise(const void*, std::size_t bytes, runtime::memory_hint, const backend*, bool) override {
    require_bytes(bytes, "advise");
  }

  void prepare(std::span<const sinter::jit::launch> launches, std::span<const runtime::prepared*> results) override {
    cpu().prepare(launches, results);
  }
  std::size_t scratch_bytes(const runtime::prepared& p, const sinter::jit::launch& l) const override {
    return cpu().scratch_bytes(p, l);
  }
  void run(const runtime::prepared& p, const sinter::jit::launch& l, void* scratch) override {
    ++launches_;
    auto code = std::make_shared<sinter::jit::program>(*l.code);
    auto own = std::make_shared<sinter::jit::launch>(l);
    own->code = code.get();
    auto work = [code, own, &p, scratch] { cpu().run(p, *own, scratch); };
    if (list_of_thread) list_of_thread->push_back(std::move(work));
    else here().enqueue(std::move(work));
  }
  void begin_list(std::unique_ptr<sinter::jit::launch_list>&) override { list_of_thread.emplace(); }
  void end_list() override {
    const auto all = std::exchange(list_of_thread, std::nullopt);
    if (failing_lists > 0 && failing_lists-- == 1) throw sinter::device_error("[simulated] a list failed");
    for (const auto& work : *all) here().enqueue(work);
  }
  runtime::algorithms& algorithms() override { return algorithms_; }
  runtime::products& products() override { return products_; }
  runtime::solvers& solvers() override { return solvers_; }
  runtime::fourier& fourier() override { return fourier_; }
  runtime::sparse& sparse() override { return sparse_; }
  void synchronize() override {
    std::vector<sim_stream*> all{&default_};
    {
      const std::lock_guard lock(mutex_);
      for (const auto& s : streams_) all.push_back(s.get());
    }
    for (sim_stream* s : all) s->synchronize();
  }
  runtime::data_fault take_fault(runtime::bad_index* index) override {
    refuse_in_capture("waiting for the device");
    here().synchronize();
    return cpu().take_fault(index);
  }
  std::string source(const sinter::jit::launch& l) override { return cpu().source(l); }
  sinter::jit::schedule schedule(const sinter::jit::launch& l) override { return cpu().schedule(l); }
  runtime::counters statistics() const override { return {launches_, 0, 0, device_pool_.allocations()}; }
  std::unique_ptr<runtime::timer> make_timer() override { return cpu().make_timer(); }

  runtime::stream& open_stream(const runtime::stream_options&) override {
    const std::lock_guard lock(mutex_);
    for (const auto& s : streams_)
      if (s->is_closed()) {
        s->set_closed(false);
        return *s;
      }
    streams_.push_back(std::make_unique<sim_stream>(*this, static_cast<int>(streams_.size()) + 1));
    return *streams_.back();
  }
  runtime::stream& wrap_stream(void* native) override {
    if (!native) return default_;
    throw sinter::device_error("[simulated] only the library makes streams here");
  }
  void close_stream(runtime::stream& s) noexcept override {
    close(s);
    for (runtime::pool* p : {&device_pool_, &managed_pool_, &pinned_pool_}) p->orphan_blocks(s);
  }
  std::unique_ptr<runtime::event> make_event(bool) override { return std::make_unique<sim_event>(); }

  runtime::stream& begin_capture() override {
    auto& s = capturing();
    s.captured = std::make_unique<std::vector<step>>();
    return s;
  }
  std::unique_ptr<runtime::recorded_work> end_capture(runtime::stream& s) override {
    auto steps = std::move(static_cast<sim_stream&>(s).captured);
    close(s);
    const auto push = [this](step what) { static_cast<sim_stream&>(current_stream()).push(std::move(what)); };
    return std::make_unique<sim_graph>(std::move(*steps), push, repeats_work);
  }
  void abandon_capture(runtime::stream& s) noexcept override {
    static_cast<sim_stream&>(s).captured.reset();
    close(s);
  }
  sinter::device_properties properties() override {
    sinter::device_properties f;
    f.name = "simulated GPU";
    f.compute_major = 9;
    f.total_memory = total_memory;
    f.multiprocessors = 1;
    f.greatest_priority = -5;
    f.managed_memory = true;
    f.concurrent_managed_access = index_ == 62;
    return f;
  }

 private:
  void close(runtime::stream& s) {
    const std::lock_guard lock(mutex_);
    s.set_closed(true);
  }
  /// A stream that nothing else is enqueued on.
  sim_stream& capturing() {
    const std::lock_guard lock(mutex_);
    for (const auto& s : capture_streams_)
      if (s->is_closed()) {
        s->set_closed(false);
        return *s;
      }
    const auto number = static_cast<int>(1000 + capture_streams_.size());
    capture_streams_.push_back(std::make_unique<sim_stream>(*this, number));
    return *capture_streams_.back();
  }
  static runtime::backend& cpu() { return runtime::get_backend({}); }
  static runtime::pool::options options_of(const char* name, memory_kind kind) {
    runtime::pool::options o;
    o.name = name;
    o.kind = kind;
    o.large = std::size_t{1} << 20;
    return o;
  }
  static runtime::pool::options device_options(int index) {
    runtime::pool::options o = options_of("GPU memory", memory_kind::device);
    if (index == 59) o.limit = runtime::gpu_memory_limit(total_memory);
    return o;
  }
  /// As CUDA does.
  static void require_bytes(std::size_t bytes, const char* function) {
    if (bytes == 0) throw sinter::device_error("[" + std::string(function) + "] simulated: invalid value");
  }
  sim_stream& here() const { return static_cast<sim_stream&>(current_stream()); }
  static void copy_on(sim_stream& s, void* to, const void* from, std::size_t bytes) {
    copied += bytes;
    if (bytes != 0) s.enqueue([=] { std::memmove(to, from, bytes); });
  }

  int index_;
  static constexpr int fault_slots = 8;  // few, so that tests use them up
  int faults_found_[fault_slots * runtime::fault_log::slot_words];
  sim_stream default_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<sim_stream>> streams_, capture_streams_;
  runtime::pool device_pool_, managed_pool_, pinned_pool_;
  sim_algorithms algorithms_{*this};
  sim_products products_{*this};
  sim_solvers solvers_{*this};
  sim_fourier fourier_{*this};
  sim_sparse sparse_{*this, index_ == 62};  // the second device transposes
  std::atomic<std::uint64_t> launches_{0};
};

sinter::device install(int index) {
  runtime::install_gpu_for_tests(index, std::make_unique<gpu>(index), &pinned_source);
  return sinter::cuda(index);
}

}  // namespace

sinter::device first() {
  static const sinter::device d = install(63);
  return d;
}
sinter::device second() {
  static const sinter::device d = install(62);
  return d;
}

sinter::device third() {
  static const sinter::device d = install(60);
  return d;
}
sinter::device limited() {
  static const sinter::device d = install(59);
  return d;
}

namespace {
sim_stream& stream_of(const sinter::device& on, void* native) {
  return scheduler::instance().find(runtime::get_backend({runtime::device_kind::cuda, on.index}), native);
}
}  // namespace

void enqueue(const sinter::device& on, void* stream, std::function<void()> work) {
  stream_of(on, stream).enqueue(std::move(work));
}
void order(const sinter::device& first, void* before, const sinter::device& second, void* after) {
  const auto point = std::make_shared<mark>();
  stream_of(first, before).push({nullptr, nullptr, point});
  stream_of(second, after).push({point, nullptr, nullptr});
}
std::function<void()> hold(const sinter::device& on, void* stream) {
  const auto point = std::make_shared<mark>();
  stream_of(on, stream).push({point, nullptr, nullptr});
  return [point] { point->reached = true; };
}

void set_order(std::uint64_t seed, bool eager) { scheduler::instance().seed(seed, eager); }
tally take_tally() { return scheduler::instance().take(); }
std::size_t queued() { return scheduler::instance().queued(); }
void run_what_can() { scheduler::instance().run_what_can(); }
std::uint64_t copied_bytes() { return copied; }
void fail_list(int which) { failing_lists = which; }
void set_memory(std::size_t bytes) { scheduler::instance().memory = bytes; }

}  // namespace sim
