// Captured graphs and their surroundings: memory in other use or of other owners, other streams, devices and threads.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "graph/capture_cases.hpp"

using namespace capture_test;
using namespace sn::idx;

TEST_CASE("capture: memory that another stream was still reading when it was captured is safe on every stream") {
  const sn::device d = sim::first();
  const sn::stream a({.device = d}), b({.device = d}), c({.device = d});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    sim::set_order(seed);
    ndarray result, out = ramp(900, d);
    sn::eval(out);
    sn::synchronize(d);
    sn::launch_graph g;
    {
      const sn::stream_guard on(a);
      ndarray x = ramp(900, d) * 7;
      sn::eval(x);
      {
        const sn::stream_guard there(b);
        result = x + 1;
        sn::eval(result);
      }
      x = ndarray();  // its memory is free, and b has not read it yet
      g = sn::capture(a, [&] {
        ndarray t = out * 0 - 3;
        sn::eval(t);
        out(_) = t + 1;
      });
    }
    g.launch(c);
    CHECK(values(out)[5] == -2);
    CHECK(values(result)[5] == 36);
  }
}

TEST_CASE("capture: what is left of memory that never changes is an array with memory of its own") {
  for (const sn::device& d : {sn::device(sn::cpu), sim::first()}) {
    std::vector<float> memory(64, 3);
    ndarray left;
    const auto g = sn::capture(sn::stream({.device = d}), [&] {
      left = sn::from_pointer(memory.data(), {64}, sn::float32, {.device = d, .immutable = true}).copy();
    });
    g.launch();
    left(0) = 7;
    CHECK(values(left)[0] == 7);
    CHECK(values(left)[1] == 3);
    CHECK(memory[0] == 3);
  }
}

TEST_CASE("capture: what other streams do with an array's memory from before is done before a launch writes there") {
  const sn::device d = sim::first();
  const sn::stream a({.device = d}), b({.device = d}), c({.device = d});
  const auto rotate = [](const ndarray& x) {  // leaves its memory and comes back
    const ndarray t = sn::roll(x, 1) * 2;
    sn::eval(t);
    x(_) = sn::roll(t, 1);
  };
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    sim::set_order(seed);
    ndarray x = ramp(600, d), read;
    sn::eval(x);
    {
      const sn::stream_guard on(b);
      read = x + 1;  // b has not read it yet
      sn::eval(read);
    }
    const auto g = sn::capture(a, [&] { rotate(x); });
    g.launch(c);
    CHECK(values(read)[9] == 10);
    CHECK(values(x)[9] == 14);
  }
  // What another stream has yet to write there is seen by all: without a launch, and where the capture fails.
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    sim::set_order(seed);
    ndarray x;
    {
      const sn::stream_guard on(b);
      x = sn::arange(600, {.device = d}) * 3;
      sn::eval(x);
    }
    sn::launch_graph g;
    if (seed % 2 == 0) g = sn::capture(a, [&] { rotate(x); });
    else CHECK_THROWS_AS((void)sn::capture(a, [&]() -> void { rotate(x), throw 1; }), int);
    const sn::stream_guard on(c);
    CHECK(values(x)[9] == 27);
  }
}

TEST_CASE("capture: copies to and from other devices cannot be captured, on either side") {
  for (const sn::device& d : {sn::device(sn::cpu), sim::first()}) {
    CAPTURE(d);
    const sn::device other = d == sn::cpu ? sim::first() : sim::second();
    const sn::stream s({.device = d});
    ndarray x = ramp(30, d), outside = ramp(30, other);
    const std::string away = device_error_of([&] { (void)sn::capture(s, [&] { x += 1, (void)x.to_device(other); }); });
    CHECK_MESSAGE(away.find("cannot be captured together") != std::string::npos, away);
    const std::string here = device_error_of([&] { (void)sn::capture(s, [&] { x += outside.to_device(d); }); });
    CHECK_MESSAGE(here.find("cannot be captured together") != std::string::npos, here);
    CHECK(values(x)[3] == 3);
    CHECK(values(x.to_device(other))[3] == 3);
  }
}

TEST_CASE("capture: memory of others cannot be chosen within, only around") {
  struct plain final : sn::allocator {
    std::atomic<int> live{0};
    void* allocate(std::size_t bytes, void*) override {
      ++live;
      return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    }
    void deallocate(void* p, std::size_t, void*) noexcept override {
      --live;
      std::free(p);
    }
    std::string name() const override { return "plain"; }
  };
  const auto mine = std::make_shared<plain>();
  const auto live = [&] { return mine->live.load(); };
  const sn::stream s = sn::default_stream(sn::cpu);
  ndarray x = ramp(30, sn::cpu), y;
  sn::eval(x);
  CHECK(device_error_of([&] {
          (void)sn::capture(s, [&] { const sn::allocator_scope scope(sn::cpu, mine); });
        }).find("around the capture") != std::string::npos);
  {
    sn::launch_graph g;
    {
      const sn::allocator_scope scope(sn::cpu, mine);
      g = sn::capture(s, [&] { y = x * 2; });
    }
    CHECK(live() == 1);
    for (int k = 0; k < 2; ++k) {
      g.launch();
      CHECK(values(y)[4] == 8);
    }
    y = ndarray();
    CHECK(live() == 1);  // a launch writes there
    g.launch();
  }
  CHECK(live() == 0);
}

TEST_CASE("capture: addresses that are out stay where they are, whatever else holds the memory") {
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    ndarray x = ramp(20, d);
    std::int64_t* const address = x.data<std::int64_t>();
    const sn::dlpack_ptr shared = sn::to_dlpack(x);
    const ndarray pending = x * 10;
    const auto picked = x[sn::list{1, 2}];
    const auto g = sn::capture(sn::default_stream(d), [&] {
      x += 1;
      const ndarray t = x * 2;
      x(slice(0, 5)) = t(slice(5, 10));
    });
    CHECK(x.data<std::int64_t>() == address);
    for (int k = 0; k < 2; ++k) g.launch();
    CHECK(x.data<std::int64_t>() == address);
    CHECK(values(x)[0] == 14);
    CHECK(values(x)[7] == 9);
    CHECK(values(pending)[7] == 70);
    CHECK(values(picked) == list{1, 2});
    const auto h = sn::capture(sn::default_stream(d), [&] { x(_) = x * 3; });
    CHECK(x.data<std::int64_t>() == address);
    h.launch();
    g.launch();
    CHECK(values(x)[7] == 28);
  }
}

TEST_CASE("capture: memory of others is read and written where it lies") {
  for (const sn::device& d : {sn::device(sn::cpu), sim::first()}) {
    CAPTURE(d);
    list memory(20, 5);
    {
      ndarray x = sn::from_pointer(memory.data(), {20}, sn::int64, {.device = d}), made;
      const auto g = sn::capture(sn::default_stream(d), [&] {
        x += 1;
        x(slice(0, 3)) = x(slice(3, 6)) * 2;
        made = x + 100;
      });
      CHECK(memory[10] == 5);
      for (int k = 0; k < 2; ++k) g.launch();
      sn::synchronize(d);
      CHECK(memory[10] == 7);
      CHECK(memory[0] == 14);
      CHECK(values(made)[10] == 107);
      x(_) = 1;  // still in place
      sn::synchronize(d);
      CHECK(memory[10] == 1);
      g.launch();
      CHECK(values(x)[10] == 2);
      CHECK(values(x)[1] == 4);
      CHECK_THROWS_AS((void)sn::capture(sn::default_stream(d), [&]() -> void { x += 5, throw 1; }), int);
      x += 1;
      sn::synchronize(d);
      CHECK(memory[10] == 3);
    }
    sn::synchronize(d);
  }
}

TEST_CASE("capture: threads capture side by side; an array is in one capture at a time") {
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    std::atomic<int> wrong{0};
    std::vector<std::thread> pool;
    for (int t = 0; t < 4; ++t)
      pool.emplace_back([&, t] {
        const sn::stream own({.device = d});
        const sn::stream_guard on(own);
        const ndarray x = ramp(200, d);
        ndarray y = ramp(200, d) + t, z;
        for (int round = 0; round < 8; ++round) {
          const auto g = sn::capture(own, [&] {
            z = x + y;
            sn::eval(z);
            y += 1;
          });
          g.launch();
          g.launch();
          if (values(z)[100] != 200 + t + 2 * round + 1) ++wrong;
        }
      });
    for (auto& t : pool) t.join();
    CHECK(wrong == 0);

    ndarray x = ramp(20, d);
    const sn::stream s({.device = d}), other({.device = d});
    std::string message;
    const auto g = sn::capture(s, [&] {
      x += 1;
      std::thread([&] { message = device_error_of([&] { (void)sn::capture(other, [&] { x += 2; }); }); }).join();
    });
    CHECK_MESSAGE(message.find("another thread's capture") != std::string::npos, message);
    g.launch();
    CHECK(values(x)[3] == 4);
    const auto h = sn::capture(other, [&] { x += 2; });
    h.launch();
    CHECK(values(x)[3] == 6);
    // One that has failed releases its arrays.
    CHECK_THROWS_AS((void)sn::capture(s, [&]() -> void { x += 5, throw 1; }), int);
    std::thread([&] {
      const auto k = sn::capture(other, [&] { x += 2; });
      k.launch();
      if (values(x)[3] != 8) ++wrong;
    }).join();
    CHECK(wrong == 0);
  }
}

TEST_CASE("capture: graphs and arrays go in any order, also within another capture and in the middle of launches") {
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      sim::set_order(seed, seed % 2 == 0);
      ndarray x = ramp(300, d), y, kept;
      auto g = std::make_unique<sn::launch_graph>(sn::capture(sn::default_stream(d), [&] {
        const ndarray t = x * 2;
        sn::eval(t);
        y = t + 1;
        x += 1;
      }));
      g->launch();
      g->launch();
      kept = y;
      y = ndarray();
      const auto h = sn::capture(sn::default_stream(d), [&] {
        g.reset();  // its launches may still be running
        x += 10;
      });
      const ndarray others = ramp(300, d) * 0 - 7;
      sn::eval(others);
      h.launch();
      CHECK(values(x)[5] == 17);
      CHECK(values(kept)[5] == 2 * 6 + 1);
      CHECK(values(others)[5] == -7);
      x = ndarray();  // before its graph
      h.launch();
      sn::synchronize(d);
      CHECK(values(kept)[299] == 2 * 300 + 1);
    }
  }
}

TEST_CASE("capture: without memory for it the error says so, and afterwards it can be captured") {
  const sn::device d = sim::first();
  sim::set_order(12);
  const sn::memory_pool pool(d);
  ndarray x = ramp(1 << 18, d), y;
  sn::synchronize(d);
  pool.trim();
  pool.set_limit(pool.figures().used + (std::size_t{5} << 20));
  const auto work = [&] {
    const ndarray t = sn::roll(x, 1) + 1;
    sn::eval(t);
    y = sn::concatenate({t, t, t});
    x(_) = t;
  };
  CHECK_THROWS_AS((void)sn::capture(sn::default_stream(d), work), sn::memory_error);
  CHECK(values(x)[9] == 9);
  pool.set_limit(0);
  const auto g = sn::capture(sn::default_stream(d), work);
  g.launch();
  CHECK(values(x)[9] == 9);
  CHECK(values(y)[(1 << 18) + 9] == 9);
}
