// Streams on a real GPU: order, reuse of memory, foreign streams, events, several GPUs.
#ifdef SINTER_HAS_CUDA

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "gpu/gpu.hpp"
#include "gpu/ordered_allocator.hpp"
#include "support/stream_cases.hpp"

using namespace stream_test;

namespace {

sn::stream beside(int priority = 0) { return sn::stream({.priority = priority, .non_blocking = true}); }

/// Holds a stream back until it is opened (for half a minute at most), so that nothing depends on how fast things are.
class gate {
 public:
  explicit gate(const sn::stream& s) : on_(s) {
    REQUIRE(cudaLaunchHostFunc(static_cast<cudaStream_t>(s.native_handle()), &wait, open_.get()) == cudaSuccess);
  }
  ~gate() {
    open();
    (void)cudaStreamSynchronize(static_cast<cudaStream_t>(on_.native_handle()));
  }
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;
  void open() { *open_ = true; }

 private:
  static void wait(void* open) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!*static_cast<std::atomic<bool>*>(open) && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  sn::stream on_;
  std::unique_ptr<std::atomic<bool>> open_ = std::make_unique<std::atomic<bool>>(false);
};

/// An array that many passes over memory have gone into: 16 MiB read and written by each.
ndarray slow(const ndarray& x, int passes) {
  ndarray y = x;
  for (int k = 0; k < passes; ++k) {
    y = sn::sin(y);
    sn::eval(y);
  }
  return y;
}

ndarray large(float value) {
  ndarray x = sn::zeros(1 << 22, {.dtype = sn::float32}) + value;
  sn::eval(x);
  return x;
}

}  // namespace

TEST_CASE("gpu: random programs on streams that run beside each other compute what the CPU computes") {
  if (gpu_test::no_gpu()) return;
  const auto streams = some_streams(sn::default_device(), 5);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const auto expected = random_program(seed, sn::cpu, {});
    for (int run = 0; run < 5; ++run) CHECK(random_program(seed, sn::default_device(), streams) == expected);
  }
}

TEST_CASE("gpu: threads with streams of their own free blocks that others reuse, and values stay right") {
  if (gpu_test::no_gpu()) return;
  const sn::device d = sn::default_device();
  constexpr int threads = 8, rounds = 40;
  constexpr std::int64_t n = 1 << 17;
  std::vector<ndarray> shared;
  for (int k = 0; k < 3; ++k) {
    shared.push_back(ramp(n, d) * (k + 1));
    sn::eval(shared.back());
  }
  std::vector<ndarray> passed(threads);
  std::atomic<int> wrong{0};
  for (int round = 0; round < rounds; ++round) {
    std::vector<ndarray> next(threads);
    std::vector<std::thread> pool;
    for (int t = 0; t < threads; ++t)
      pool.emplace_back([&, t] {
        const sn::stream own = beside();
        const sn::stream_guard on(own);
        ndarray mine = std::move(passed[static_cast<std::size_t>((t + 1) % threads)]);
        ndarray x = shared[static_cast<std::size_t>(round % 3)] + t;
        for (int k = 0; k < 6; ++k) {
          x = x + 1;
          sn::eval(x);
        }
        if (mine.defined() &&
            values(mine(slice(n - 2, n))) != list{(round - 1) % 3 * (n - 2) + n - 2 + (t + 1) % threads + 6,
                                                  (round - 1) % 3 * (n - 1) + n - 1 + (t + 1) % threads + 6})
          ++wrong;
        mine = ndarray();
        next[static_cast<std::size_t>(t)] = x;
      });
    for (auto& t : pool) t.join();
    passed = std::move(next);
  }
  CHECK(wrong == 0);
  for (int t = 0; t < threads; ++t)
    CHECK(values(passed[static_cast<std::size_t>(t)]) == counting(n, (rounds - 1) % 3 + 1, t + 6));
}

TEST_CASE("gpu: race checker: random programs and threads in memory of CUDA's stream-ordered allocator") {
  if (gpu_test::no_gpu() || gpu_test::no_ordered_allocator()) return;
  const sn::device d = sn::default_device();
  const auto theirs = std::make_shared<gpu_test::ordered_allocator>();
  sn::set_allocator(d, theirs);
  struct reset {
    sn::device of;
    ~reset() { sn::set_allocator(of, nullptr); }
  };
  {
    const reset at_end{d};
    const auto streams = some_streams(d, 4);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      CAPTURE(seed);
      CHECK(random_program(seed, d, streams) == random_program(seed, sn::cpu, {}));
    }
    const ndarray shared = ramp(3000, d);
    std::vector<ndarray> made(4);
    std::vector<std::thread> pool;
    for (std::size_t t = 0; t < made.size(); ++t)
      pool.emplace_back([&, t] {
        const sn::stream own = beside();
        const sn::stream_guard on(own);
        for (int k = 0; k < 20; ++k) {
          made[t] = shared + static_cast<std::int64_t>(t);  // frees what the stream from before has made
          sn::eval(made[t]);
        }
      });
    for (auto& t : pool) t.join();
    for (std::size_t t = 0; t < made.size(); ++t) CHECK(values(made[t])[2999] == 2999 + static_cast<std::int64_t>(t));
  }
  sn::synchronize();
  CHECK(theirs->live == 0);
}

TEST_CASE("gpu: memory freed while another stream has yet to read it is not written before") {
  if (gpu_test::no_gpu()) return;
  const sn::stream a = beside(), b = beside();
  for (int round = 0; round < 8; ++round) {
    const auto value = static_cast<float>(round + 1);
    std::vector<ndarray> results;
    std::unique_ptr<gate> held;
    if (round > 0) held = std::make_unique<gate>(b);  // the first round compiles and takes memory
    for (int k = 0; k < 4; ++k) {
      ndarray x;
      {
        const sn::stream_guard on(a);
        x = large(value + static_cast<float>(k));  // from the second on in the memory of the one before
      }
      const sn::stream_guard on(b);
      results.push_back(x * 2.0f);
      sn::eval(results.back());
    }
    if (round > 0) CHECK_FALSE(b.query());
    held.reset();
    for (int k = 0; k < 4; ++k) {
      const ndarray& r = results[static_cast<std::size_t>(k)];
      CHECK(sn::min(r).item<float>() == 2 * (value + static_cast<float>(k)));
      CHECK(sn::max(r).item<float>() == 2 * (value + static_cast<float>(k)));
    }
  }
}

/// Whether the stream becomes idle while others are held back.
bool becomes_idle(const sn::stream& s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (!s.query() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return s.query();
}

TEST_CASE("gpu: streams that do not block run beside each other, and results come without waiting for the other") {
  if (gpu_test::no_gpu()) return;
  const sn::stream a = beside();
  const ndarray small = ramp(100, sn::default_device());
  const auto next_on = [&](const sn::stream& s) {
    const sn::stream_guard on(s);
    const ndarray y = small + 1;
    sn::eval(y);
    return y;
  };
  bool beside_each_other = false;
  std::vector<sn::stream> others;  // all kept: a GPU has a few queues, which streams share
  for (int k = 0; k < 12 && !beside_each_other; ++k) {
    const sn::stream b = others.emplace_back(beside(-(k % 2)));
    CHECK(values(next_on(b))[9] == 10);  // compiled, and b has its memory
    sn::synchronize();
    CHECK(a.query());
    sn::event e;
    gate held(a);
    const ndarray y = next_on(a);
    CHECK_FALSE(a.query());
    const ndarray z = next_on(b);
    if (!becomes_idle(b)) continue;
    {
      const sn::stream_guard on(b);
      CHECK(values(z)[9] == 10);
    }
    CHECK_FALSE(a.query());
    beside_each_other = true;
    a.record(e);
    CHECK_FALSE(e.query());
    b.wait(e);
    CHECK_FALSE(b.query());
    held.open();
    b.synchronize();
    CHECK(e.query());
    CHECK(becomes_idle(a));
    CHECK(values(y)[9] == 10);
  }
  CHECK(beside_each_other);
}

TEST_CASE("gpu: events measure seconds, and refuse what they cannot measure") {
  if (gpu_test::no_gpu()) return;
  const sn::stream s = beside();
  const ndarray x = large(0.5f);
  const sn::stream_guard on(s);
  slow(x, 1);
  s.synchronize();
  sn::event begin, middle, end, untimed({.timing = false});
  double least_first = 1e9, least_second = 1e9;
  for (int round = 0; round < 10; ++round) {  // others may have the GPU in between
    const auto start = std::chrono::steady_clock::now();
    s.record(begin);
    slow(x, 20);
    s.record(middle);
    slow(x, 200);
    s.record(end);
    const double first = sn::elapsed(begin, middle), second = sn::elapsed(middle, end);
    const double on_host = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    CHECK(first + second < 1.01 * on_host + 1e-4);  // both lie within
    CHECK(sn::elapsed(begin, end) == doctest::Approx(first + second).epsilon(0.01));
    least_first = std::min(least_first, first);
    least_second = std::min(least_second, second);
  }
  CHECK(least_first > 20e-6);
  CHECK(least_second > 2 * least_first);
  s.record(untimed);
  CHECK_THROWS_AS((void)sn::elapsed(begin, untimed), sn::value_error);
}

TEST_CASE("gpu: a stream made outside of the library") {
  if (gpu_test::no_gpu()) return;
  const ndarray x = ramp(1000, sn::default_device());
  sn::eval(x);
  ndarray y;
  for (int round = 0; round < 3; ++round) {  // later ones may get the same handle
    cudaStream_t theirs = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&theirs, cudaStreamNonBlocking) == cudaSuccess);
    {
      const sn::stream s = sn::stream::external(theirs);
      CHECK(s.native_handle() == theirs);
      CHECK(s.device() == sn::default_device());
      const sn::stream_guard on(s);
      y = x * 2 + round;
      sn::eval(y);
    }
    REQUIRE(cudaStreamDestroy(theirs) == cudaSuccess);       // the work goes on
    const ndarray z = ramp(1000, sn::default_device()) * 3;  // may get memory of the destroyed stream
    sn::eval(z);
    CHECK(values(y) == counting(1000, 2, round));
    CHECK(values(z) == counting(1000, 3));
  }
  CHECK(sn::stream::external(nullptr) == sn::default_stream());
  CHECK_THROWS_AS((void)sn::stream::external(cudaStreamPerThread), sn::value_error);
  CHECK(sn::default_stream().native_handle() == nullptr);
  CHECK(beside().native_handle() != nullptr);
}

TEST_CASE("gpu: properties and priorities") {
  if (gpu_test::no_gpu()) return;
  const auto p = sn::properties();
  CHECK(p.name == sn::description(sn::default_device()));
  CHECK(p.compute_major >= 7);
  CHECK(p.total_memory > (std::size_t{1} << 30));
  CHECK(p.multiprocessors > 0);
  CHECK(p.clock_rate > 1e8);
  CHECK(p.warp_size == 32);
  CHECK(p.greatest_priority <= p.least_priority);
  CHECK(p.shared_memory_per_block_optin >= p.shared_memory_per_block);
  CHECK(p.pci_bus_id.size() >= 7);
  CHECK(beside(p.greatest_priority).priority() == p.greatest_priority);
}

TEST_CASE("gpu: copies to pinned memory run beside kernels, and the host waits for the one that it reads") {
  if (gpu_test::no_gpu()) return;
  const sn::device d = sn::default_device();
  const sn::stream copies = beside();
  for (int round = 0; round < 5; ++round) {
    ndarray host;
    {
      const sn::memory_scope pinned(sn::memory_kind::pinned, sn::cpu);
      host = sn::arange(1 << 20, {.device = sn::cpu}) + round;
      sn::eval(host);
    }
    ndarray there = host.to_device(d, copies);
    host(_) = host * 0;  // waits for the copy
    sn::eval(host);
    ndarray twice = there * 2;
    const ndarray back = twice.to_host(copies);
    twice = there = ndarray();
    const ndarray other = ramp(1 << 20, d) * 0 - 5;
    sn::eval(other);
    CHECK(back.memory_kind() == sn::memory_kind::pinned);
    CHECK(values(back) == counting(1 << 20, 2, 2 * round));
    CHECK(values(other)[77] == -5);
  }
}

TEST_CASE("gpu: two GPUs copy to each other in order, and do not mix") {
  if (gpu_test::no_gpu()) return;
  if (sn::device_count(sn::device_kind::cuda) < 2) {
    MESSAGE("left out: there is one GPU");
    return;
  }
  const sn::device one = sn::cuda(0), two = sn::cuda(1);
  MESSAGE("peer access: " << sn::can_access_peer(one, two));
  for (int round = 0; round < 20; ++round) {
    const sn::stream here({.device = one, .non_blocking = true}), there({.device = two, .non_blocking = true});
    const sn::stream_guard on_here(here), on_there(there);
    ndarray v = sn::arange(1 << 18, {.device = one}) * 2 + round;
    sn::eval(v);
    const ndarray w = round % 3 == 0 ? v.to_device(two) : v.to_device(two, round % 3 == 1 ? here : there);
    v(_) = v * 0;
    sn::eval(v);
    CHECK(values((w + 1).to_device(one)) == counting(1 << 18, 2, round + 1));
    CHECK(sn::max(v).item<std::int64_t>() == 0);
  }
  const std::string message = message_of<sn::device_error>([&] { (void)(ramp(3, one) + ramp(3, two)); });
  CHECK(message.find("cuda:0") != std::string::npos);
  CHECK(message.find("cuda:1") != std::string::npos);
}

#endif
