// Streams, events and guards: the API on the CPU, and the order of work on simulated GPUs that run what is queued as
// late and in as random an order as they may. Values are those of the same operations on the CPU, bit for bit.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "runtime/backend.hpp"
#include "support/simulated_gpu.hpp"
#include "support/stream_cases.hpp"

using namespace stream_test;

namespace {

/// Blocks that other cases have freed come with the record of their pending uses, for which a caller would wait.
void forget_earlier_cases(const sn::device& d) {
  sn::synchronize(d);
  sn::memory_pool(d).trim();
}

}  // namespace

TEST_CASE("streams on the CPU: the functions exist, work is done at once, events have happened") {
  const sn::device d = sn::cpu;
  const sn::stream s({.device = d, .priority = -1, .non_blocking = true}), other = s;
  CHECK(s == other);
  CHECK_FALSE(s == sn::stream({.device = d}));
  CHECK(s.device() == d);
  CHECK(s.priority() == -1);
  CHECK(s.native_handle() == nullptr);
  CHECK(sn::current_stream(d) == sn::default_stream(d));
  sn::event begin, end({.timing = true}), untimed({.timing = false});
  CHECK(begin.query());
  begin.synchronize();
  s.record(begin);
  ndarray x;
  {
    const sn::stream_guard on(s);
    CHECK(sn::current_stream(d) == s);
    {
      const sn::stream_guard inner(sn::default_stream(d));
      CHECK(sn::current_stream(d) == sn::default_stream(d));
    }
    CHECK(sn::current_stream(d) == s);
    x = sn::arange(10, {.device = d}) * 2;
    sn::eval(x);
  }
  CHECK(sn::current_stream(d) == sn::default_stream(d));
  CHECK(values(x + 1) == counting(10, 2, 1));
  end.record(s);
  untimed.record(s);
  sn::default_stream(d).wait(end);
  CHECK(s.query());
  s.synchronize();
  CHECK(end.query());
  CHECK(sn::elapsed(begin, end) >= 0);
  CHECK(message_of<sn::value_error>([&] { (void)sn::elapsed(begin, untimed); }).find("timing = false") !=
        std::string::npos);
  CHECK(message_of<sn::value_error>([&] { (void)sn::elapsed(begin, sn::event()); }).find("not been recorded") !=
        std::string::npos);
  CHECK_THROWS_AS(sn::stream::external(&x, d), sn::device_error);
}

TEST_CASE("a handle of the current stream keeps it, also after the guard and the other handles are gone") {
  sn::stream kept = sn::default_stream(sim::first());
  void* native = nullptr;
  {
    const sn::stream s({.device = sim::first(), .priority = -3});
    const sn::stream_guard on(s);
    kept = sn::current_stream(sim::first());
    native = s.native_handle();
  }
  CHECK(kept.priority() == -3);
  CHECK(kept.native_handle() == native);
  CHECK_FALSE(kept == sn::stream({.device = sim::first()}));  // or two would share a queue
}

TEST_CASE("each thread has its own current stream and its own default device") {
  const sn::device d = sim::first();
  const sn::stream s({.device = d});
  const sn::stream_guard on(s);
  const sn::device before = sn::default_device();
  const sn::device_guard there(d);
  CHECK(sn::default_device() == d);
  CHECK(sn::zeros(3).device() == d);
  {
    const sn::device_guard back(sn::cpu);
    CHECK(sn::zeros(3).device() == sn::cpu);
  }
  CHECK(sn::default_device() == d);
  std::thread([&] {
    CHECK(sn::current_stream(d) == sn::default_stream(d));
    CHECK(sn::default_device() == before);
  }).join();
  CHECK_THROWS_AS((void)sn::device_guard(sn::cuda(61)), sn::device_error);
  CHECK(sn::default_device() == d);
}

TEST_CASE("properties: a device says what it is") {
  const auto host = sn::properties(sn::cpu);
  CHECK(host.name.size() > 0);
  CHECK(host.total_memory > (std::size_t{64} << 20));
  CHECK(host.multiprocessors >= 1);
  CHECK(sn::properties(sim::first()).compute_major == 9);
  CHECK_THROWS_AS(sn::properties(sn::cuda(61)), sn::device_error);
  CHECK_FALSE(sn::can_access_peer(sn::cpu, sn::cpu));
}

TEST_CASE("one stream: nothing is waited for and nothing marked") {
  const sn::device d = sim::first();
  forget_earlier_cases(d);
  sim::set_order(1);
  ndarray x = ramp(100, d);
  (void)sim::take_tally();
  for (int k = 0; k < 20; ++k) {
    x = x + 1;
    sn::eval(x);
    x(slice(0, 5)) += 3;
    sn::eval(x);
  }
  const auto t = sim::take_tally();
  CHECK(t.waits == 0);
  CHECK(t.events == 0);
  CHECK(t.host_waits == 0);
  CHECK(values(x)[99] == 119);
}

TEST_CASE("an input that several streams share costs each of them one wait, and no stream waits for readers") {
  const sn::device d = sim::first();
  forget_earlier_cases(d);
  const auto streams = some_streams(d, 4);
  sim::set_order(2);
  const ndarray x = ramp(100, d);
  std::vector<ndarray> results;
  (void)sim::take_tally();
  for (int round = 0; round < 5; ++round)
    for (std::size_t k = 1; k < streams.size(); ++k) {
      const sn::stream_guard on(streams[k]);
      results.push_back(x + static_cast<std::int64_t>(k));
      sn::eval(results.back());
    }
  const auto t = sim::take_tally();
  CHECK(t.waits == 3);
  CHECK(t.events == 1);
  for (std::size_t k = 0; k < results.size(); ++k)
    CHECK(values(results[k])[7] == 7 + static_cast<std::int64_t>(k % 3) + 1);
}

TEST_CASE("what one stream writes another reads, and what one reads another overwrites, in order") {
  const sn::device d = sim::first();
  const sn::stream a({.device = d}), b({.device = d});
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    sim::set_order(seed, seed % 2 == 0);
    ndarray x, y;
    {
      const sn::stream_guard on(a);
      x = sn::arange(64, {.device = d}) * 3;
      sn::eval(x);
    }
    {
      const sn::stream_guard on(b);
      y = x + 1;  // read after write
      sn::eval(y);
    }
    {
      const sn::stream_guard on(a);
      x(_) = x * 0 - 5;  // x is alone, so this may be in place: write after read
      x(slice(0, 3)) += 1;
      sn::eval(x);
    }
    CHECK(values(y) == counting(64, 3, 1));
    CHECK(values(x)[2] == -4);
    CHECK(values(x)[3] == -5);
  }
}

TEST_CASE("memory that is freed on one stream is not reused by another stream's work before it is safe") {
  const sn::device d = sim::first();
  const sn::stream a({.device = d}), b({.device = d});
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    sim::set_order(seed, seed % 3 == 0);
    std::vector<ndarray> results;
    for (int k = 0; k < 6; ++k) {
      ndarray x;
      {
        const sn::stream_guard on(a);
        x = sn::arange(500, {.device = d}) + k;
        sn::eval(x);
      }
      const sn::stream_guard on(b);
      results.push_back(x * 2);  // reads x on b; x's memory goes back to a's list, and a makes the next x in it
      sn::eval(results.back());
    }
    for (int k = 0; k < 6; ++k) CHECK(values(results[static_cast<std::size_t>(k)]) == counting(500, 2, 2 * k));
  }
}

TEST_CASE("random programs on random streams compute what they compute without streams") {
  const auto streams = some_streams(sim::first(), 4);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const auto expected = random_program(seed, sn::cpu, {});
    sim::set_order(seed * 7 + 1, seed % 2 == 0);
    CHECK(random_program(seed, sim::first(), streams) == expected);
  }
}

TEST_CASE("threads with streams of their own share inputs, and free what others have read") {
  const sn::device d = sim::first();
  sim::set_order(99, true);
  constexpr int threads = 4, rounds = 25;
  std::vector<ndarray> shared;
  for (int k = 0; k < 3; ++k) shared.push_back(ramp(300, d) * (k + 1));
  sn::eval(shared[0], shared[1], shared[2]);
  std::vector<ndarray> passed(threads);
  std::atomic<int> wrong{0};
  for (int round = 0; round < rounds; ++round) {
    std::vector<ndarray> next(threads);
    std::vector<std::thread> pool;
    for (int t = 0; t < threads; ++t)
      pool.emplace_back([&, t] {
        const sn::stream own({.device = d});
        const sn::stream_guard on(own);
        // Made by another thread on its stream, which has been destroyed; the last handle ends here.
        ndarray mine = std::move(passed[static_cast<std::size_t>((t + 1) % threads)]);
        ndarray x = shared[static_cast<std::size_t>(round % 3)] + t;
        for (int k = 0; k < 4; ++k) {
          x = x + 1;
          sn::eval(x);
        }
        if (mine.defined()) x = x + mine % 5 * 0;
        sn::eval(x);
        mine = ndarray();
        if (t % 2 == 0 && values(x) != counting(300, round % 3 + 1, t + 4)) ++wrong;
        next[static_cast<std::size_t>(t)] = x;
      });
    for (auto& t : pool) t.join();
    passed = std::move(next);
  }
  CHECK(wrong == 0);
  for (int t = 0; t < threads; ++t)
    CHECK(values(passed[static_cast<std::size_t>(t)]) == counting(300, (rounds - 1) % 3 + 1, t + 4));
}

TEST_CASE("memory of a stream without handles is used by others, in order") {
  const sn::device d = sim::first();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    sim::set_order(seed);
    ndarray result;
    {
      const sn::stream gone({.device = d});
      const sn::stream_guard on(gone);
      const ndarray x = sn::arange(700, {.device = d}) + 1;
      sn::eval(x);
      result = x * 3;
      sn::eval(result);
    }
    // On the default stream, in x's memory if the pool does what it should.
    const ndarray y = sn::arange(700, {.device = d}) * 0 - 9;
    sn::eval(y);
    CHECK(values(result) == counting(700, 3, 3));
    CHECK(values(y) == list(700, -9));
  }
  const std::size_t reserved = sn::memory_pool(d).figures().reserved;
  for (int k = 0; k < 50; ++k) {
    const sn::stream s({.device = d});
    const sn::stream_guard on(s);
    const ndarray x = sn::arange(5000, {.device = d}) + 1;
    sn::eval(x);
  }
  CHECK(sn::memory_pool(d).figures().reserved <= reserved + 3 * 65536);
}

TEST_CASE("an address that is asked for outside of submissions is in order all the same") {
  using namespace sinter;
  const sn::device d = sim::first();
  runtime::backend& gpu = runtime::get_backend({runtime::device_kind::cuda, d.index});
  const sn::stream a({.device = d}), b({.device = d});
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    sim::set_order(seed, seed % 2 == 0);
    std::vector<std::int64_t> ones(64, 1), got(64);
    std::unique_ptr<runtime::buffer> source, copy;
    {
      const sn::stream_guard home(seed % 4 < 2 ? a : seed % 4 == 2 ? b : sn::default_stream(d));
      source = std::make_unique<runtime::buffer>(gpu, 512);
      copy = std::make_unique<runtime::buffer>(gpu, 512);
    }
    const ndarray x = ramp(64, d);
    {
      const sn::stream_guard on(a);
      gpu.copy(source->data(), x.data<std::int64_t>(), 512);
    }
    {
      const sn::stream_guard on(b);
      gpu.copy(copy->data(), source->data_to_read(), 512);
    }
    {
      const sn::stream_guard on(a);
      gpu.copy(source->data(), copy->data_to_read(), 256);  // after b has read it
    }
    source.reset();
    gpu.copy_to_host(got.data(), copy->data_to_read(), 512);
    CHECK(got == counting(64));
  }
}

TEST_CASE("a mark that was set while a submission was open does not cover what that submission enqueues later") {
  namespace runtime = sinter::runtime;
  const sn::device d = sim::first();
  runtime::backend& gpu = runtime::get_backend({runtime::device_kind::cuda, d.index});
  const sn::stream a({.device = d}), b({.device = d});
  constexpr std::size_t bytes = 64 * sizeof(std::int64_t);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    sim::set_order(seed);
    const auto number = static_cast<std::int64_t>(seed);
    const list ones(64, number), twos(64, -number);
    const sn::stream_guard on_b(b);
    const runtime::buffer got_first(gpu, bytes), got_second(gpu, bytes);
    const sn::stream_guard on(a);
    const runtime::buffer first(gpu, bytes), second(gpu, bytes);
    const auto fetch = [&](const runtime::buffer& to, const runtime::buffer& from) {
      const sn::stream_guard there(b);
      runtime::submission work(gpu);
      const void* const source = work.reads(from);
      gpu.copy(work.writes(to), source, bytes);
    };
    {
      runtime::submission early(gpu);
      void* const target = early.writes(first);
      {
        runtime::submission late(gpu);  // as another thread's on the same stream
        gpu.copy(late.writes(second), twos.data(), bytes);
      }
      fetch(got_second, second);  // b waits for `late` while `early` has nothing enqueued yet
      gpu.copy(target, ones.data(), bytes);
    }
    fetch(got_first, first);
    list host(64);
    const sn::stream_guard back(b);
    gpu.copy_to_host(host.data(), got_first.data_to_read(), bytes);
    CHECK(host == ones);
    gpu.copy_to_host(host.data(), got_second.data_to_read(), bytes);
    CHECK(host == twos);
  }
}

TEST_CASE("memory of others: it belongs to the stream that it was taken over on, after what that waits for") {
  const sn::device d = sim::first();
  sinter::runtime::backend& gpu = sinter::runtime::get_backend({sinter::runtime::device_kind::cuda, d.index});
  const sn::stream a({.device = d}), b({.device = d});
  const list theirs = counting(64, 3);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    sim::set_order(seed);
    list memory(64, -1);
    ndarray x;
    {
      const sn::stream_guard on(a);
      gpu.copy(memory.data(), theirs.data(), 64 * sizeof(std::int64_t));  // the owner's work, after which a comes
      x = sn::from_pointer(memory.data(), {64}, sn::int64, {.device = d});
    }
    const sn::stream_guard on(b);
    CHECK(values(x + 1) == counting(64, 3, 1));
    sn::synchronize(d);
  }
}

TEST_CASE("memory is not given back to the system while a copy of another device still reads it") {
  const sn::device d = sim::first(), other = sim::second();
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    sim::set_order(seed);
    ndarray there;
    {
      const ndarray x = ramp(300, d);
      there = x.to_device(other);  // on the other device's stream
    }
    sn::memory_pool(d).trim();
    CHECK(values(there) == counting(300));
  }
}

TEST_CASE("events: a stream waits for a point of another, and the host for a point") {
  const sn::device d = sim::first();
  const sn::stream a({.device = d}), b({.device = d});
  sim::set_order(5);
  sn::event e;
  ndarray x;
  {
    const sn::stream_guard on(a);
    x = ramp(50, d);
  }
  a.record(e);
  CHECK_FALSE(e.query());
  CHECK_FALSE(a.query());
  b.wait(e);
  CHECK_FALSE(b.query());
  e.synchronize();
  CHECK(e.query());
  CHECK(a.query());
  b.synchronize();
  CHECK(b.query());
  b.wait(sn::event());  // never recorded: nothing to wait for
  CHECK(b.query());
}

TEST_CASE("arrays of two devices: an error that names both, and copies in order on either one's stream") {
  const sn::device d = sim::first(), other = sim::second();
  const ndarray x = ramp(10, d), y = ramp(10, other), z = ramp(10, sn::cpu);
  const std::string message = message_of<sn::device_error>([&] { (void)(x + y); });
  CHECK(message.find("cuda:63") != std::string::npos);
  CHECK(message.find("cuda:62") != std::string::npos);
  CHECK_THROWS_AS(x + z, sn::device_error);
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    sim::set_order(seed, seed % 2 == 0);
    const sn::stream here({.device = d}), there({.device = other});
    const sn::stream_guard on_here(here), on_there(there);
    ndarray v = sn::arange(200, {.device = d}) * 2;
    sn::eval(v);
    const ndarray w = seed % 3 == 0 ? v.to_device(other) : v.to_device(other, seed % 3 == 1 ? here : there);
    CHECK(w.device() == other);
    v(_) = v * 0;  // after the copy has read it
    sn::eval(v);
    const ndarray back = (w + 1).to_device(d);
    CHECK(values(back) == counting(200, 2, 1));
    CHECK(values(v) == list(200, 0));
  }
  CHECK_THROWS_AS(x.to_device(other, sn::default_stream(sn::cpu)), sn::device_error);
  CHECK(values(x.to_device(d)) == counting(10));
}

TEST_CASE("copies between a GPU and pinned memory do not wait, and users of the result wait by themselves") {
  const sn::device d = sim::first();
  const sn::stream copies({.device = d});
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    sim::set_order(seed);
    ndarray host;
    {
      const sn::memory_scope pinned(sn::memory_kind::pinned, sn::cpu);
      host = sn::arange(400, {.device = sn::cpu}) * 5;
      sn::eval(host);
    }
    CHECK(host.memory_kind() == sn::memory_kind::pinned);
    (void)sim::take_tally();
    const ndarray there = host.to_device(d, copies);
    CHECK(sim::take_tally().host_waits == 0);
    host(_) = host * 0 - 1;  // waits until the copy has read it
    sn::eval(host);
    ndarray twice = there * 2;
    const ndarray back = twice.to_host(copies);
    twice = ndarray();
    CHECK(back.device() == sn::cpu);
    CHECK(back.memory_kind() == sn::memory_kind::pinned);
    CHECK(sim::queued() > 0);
    const ndarray other = sn::zeros(400, {.dtype = sn::int64, .device = d}) + 1;  // may get the memory of `twice`
    sn::eval(other);
    CHECK(values(back) == counting(400, 10));
    CHECK(values(back + 1) == counting(400, 10, 1));
    CHECK(values(host) == list(400, -1));
    CHECK(values(other) == list(400, 1));
  }
  // The result's memory is free before the copy is done: its next use waits.
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    sim::set_order(seed);
    const ndarray x = ramp(400, d);
    (void)x.to_host(copies);
    const sn::memory_scope pinned(sn::memory_kind::pinned, sn::cpu);
    const ndarray y = sn::arange(400, {.device = sn::cpu}) + 7;
    sn::eval(y);
    sn::synchronize(d);
    CHECK(values(y) == counting(400, 1, 7));
  }
  CHECK(values(ramp(5, d).to_host()) == counting(5));
}
