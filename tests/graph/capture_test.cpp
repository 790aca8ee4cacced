// Captured graphs, on the CPU, on a simulated GPU and on the GPU where there is one: a launch does what calling the
// function again would do.
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "graph/capture_cases.hpp"
#include "ops/base/access.hpp"
#include "sinter/grad.hpp"

using namespace capture_test;
using namespace sn::idx;

TEST_CASE("capture: nothing runs before the first launch, and each launch does it all again") {
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    sim::set_order(3);
    ndarray x = ramp(40, d), y = ramp(40, d) * 10;
    int calls = 0;
    const sn::launch_graph g = sn::capture(sn::default_stream(d), [&] {
      ++calls;
      x += y;
      x(slice(0, 4)) = -1;
    });
    CHECK(calls == 1);
    CHECK(g.defined());
    CHECK(g.device() == d);
    CHECK(g.size() >= 1);
    CHECK(values(x)[10] == 10);
    CHECK(values(x)[0] == 0);
    for (int k = 1; k <= 3; ++k) {
      g.launch();
      CHECK(values(x)[10] == 10 + 100 * k);
      CHECK(values(x)[0] == -1);
    }
    CHECK(calls == 1);
    // The input may change between launches, in place.
    y(_) = 1;
    g.launch();
    CHECK(values(x)[10] == 311);
  }
}

TEST_CASE("capture: arrays that were pending, shared with others or viewed before the capture") {
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    ndarray x = sn::zeros(20, {.dtype = sn::int64, .device = d});  // pending: belongs to no graph
    const ndarray copy = x.copy();
    const ndarray later = x + 5;  // pending all the while
    ndarray half = x(slice(0, 10));
    const ndarray y = copy.copy();
    const auto g = sn::capture(sn::default_stream(d), [&] {
      half += 1;
      x(slice(5, 20)) += 1;
      y(_) = x * 2;
    });
    CHECK(values(x) == list(20, 0));
    for (int k = 0; k < 3; ++k) g.launch();
    list expected(20, 3);
    for (std::size_t k = 5; k < 10; ++k) expected[k] = 6;
    CHECK(values(x) == expected);
    CHECK(values(half)[9] == 6);
    CHECK(values(copy) == list(20, 0));
    CHECK(values(later) == list(20, 5));
    CHECK(values(y)[7] == 12);
  }
}

TEST_CASE("capture: what is recorded from the graph's arrays keeps the elements that they had") {
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    ndarray x = ramp(8, d);
    const auto g = sn::capture(sn::default_stream(d), [&] { x += 1; });
    g.launch();
    const ndarray before = x * 100;  // pending
    g.launch();
    CHECK(values(before)[2] == 300);
    CHECK(values(x)[2] == 4);
    x(_) = 7;
    g.launch();
    CHECK(values(x)[2] == 8);
  }
}

TEST_CASE("capture: arrays made in the function get new elements in every launch") {
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    ndarray x = ramp(16, d);
    ndarray y, z, total, constant, raised;
    const auto g = sn::capture(sn::default_stream(d), [&] {
      y = x * 2;
      z = y(slice(_, _, -1)).copy() + 1;
      total = sn::sum(z);
      constant = sn::array({1, 2, 3}, {.device = d});
      constant(0) = x(3);
      raised = sn::array({1, 2, 3}, {.device = d});
      raised(slice(0, 2)) += 1;  // of the new array each time
      x += 1;
    });
    for (int k = 0; k < 3; ++k) {
      g.launch();
      CHECK(values(y)[4] == 2 * (4 + k));
      CHECK(values(z)[0] == 2 * (15 + k) + 1);
      CHECK(total.item<std::int64_t>() == 2 * 120 + 16 + 32 * k);
      CHECK(values(constant) == list{3 + k, 2, 3});
      CHECK(values(raised) == list{2, 3, 3});
    }
  }
}

TEST_CASE("capture: rebinding names inside does not repeat, writing in place does") {
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    ndarray u = ramp(10, d);
    const ndarray same = u;
    const auto g = sn::capture(sn::default_stream(d), [&] { u = same + 1; });
    for (int k = 0; k < 3; ++k) g.launch();
    CHECK(values(u)[0] == 1);
    CHECK(values(same)[0] == 0);
  }
}

TEST_CASE("capture: a stencil in place, an exchange of two arrays, and several versions of one") {
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    for (int versions = 1; versions <= 3; ++versions) {
      const ndarray u = ramp(12, d) * ramp(12, d), v = ramp(12, d), w = ramp(12, d) + 100;
      const ndarray cu = u.to_device(sn::cpu) + 0, cv = v.to_device(sn::cpu) + 0, cw = w.to_device(sn::cpu) + 0;
      const auto step = [&](const ndarray& a, const ndarray& b, const ndarray& c) {
        for (int k = 0; k < versions; ++k) a(slice(1, -1)) += a(slice(2, _)) + a(slice(_, -2)) - 2 * a(slice(1, -1));
        const ndarray held = b.copy();
        b(_) = c;
        c(_) = held;
        b(slice(0, 2)) += a(slice(0, 2));
      };
      const auto g = sn::capture(sn::default_stream(d), [&] { step(u, v, w); });
      for (int k = 0; k < 5; ++k) {
        g.launch();
        step(cu, cv, cw);
        CHECK(values(u) == values(cu));
        CHECK(values(v) == values(cv));
        CHECK(values(w) == values(cw));
      }
    }
  }
}

TEST_CASE("capture: random functions, launched, do what calling them does") {
  const auto program = [](std::uint64_t seed, std::vector<ndarray>& x, std::vector<ndarray>& made) {
    std::mt19937_64 random(seed);
    const auto draw = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    std::vector<ndarray> local;
    const auto any = [&]() -> const ndarray& {
      const std::size_t k = draw(x.size() + local.size());
      return k < x.size() ? x[k] : local[k - x.size()];
    };
    for (int step = 0; step < 14; ++step) {
      const ndarray &a = any(), &b = any();
      const ndarray& target = any();
      const auto first = static_cast<std::int64_t>(draw(12));
      switch (draw(8)) {
        case 0: target(_) = (a + b) % 100003; break;
        case 1: target(slice(first, first + 6)) += b(slice(first + 2, first + 8)) % 11; break;
        case 2: local.push_back(a * 3 - b); break;
        case 3: target(_) = b; break;
        case 4: local.push_back(target.copy()); break;
        case 5: local.push_back(sn::roll(a, first)); break;
        case 6: target(slice(_, _, 2)) = sn::sum(b) % 17; break;
        default: local.push_back(b % 1009); sn::eval(local.back());
      }
      if (local.size() > 4) local.erase(local.begin());
    }
    made = local;
  };
  for (const sn::device& d : devices()) {
    const sn::stream other({.device = d});
    for (std::uint64_t seed = 0; seed < 80; ++seed) {
      CAPTURE(d);
      CAPTURE(seed);
      sim::set_order(seed, seed % 2 == 0);
      std::vector<ndarray> x, expected, made, expected_made;
      for (int k = 0; k < 4; ++k) {
        x.push_back(ramp(20, d) * (k + 1));
        expected.push_back(ramp(20, sn::cpu) * (k + 1));
        if (seed % 3 == 0) sn::eval(x.back());
      }
      x.push_back(x[1].copy());
      expected.push_back(expected[1].copy());
      const auto g = sn::capture(sn::default_stream(d), [&] { program(seed, x, made); });
      for (std::size_t k = 0; k < x.size(); ++k) CHECK(values(x[k]) == values(expected[k]));
      for (int launch = 0; launch < 4; ++launch) {
        launch % 2 ? g.launch(other) : g.launch();
        if (launch % 3 == 0) continue;  // also several in a row
      }
      for (int launch = 0; launch < 4; ++launch) program(seed, expected, expected_made);
      for (std::size_t k = 0; k < x.size(); ++k) CHECK(values(x[k]) == values(expected[k]));
      REQUIRE(made.size() == expected_made.size());
      for (std::size_t k = 0; k < made.size(); ++k) CHECK(values(made[k]) == values(expected_made[k]));
    }
  }
}

TEST_CASE("capture: launches on several streams are in order with each other and with everything else") {
  const sn::device d = sim::first();
  const sn::stream a({.device = d}), b({.device = d});
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    sim::set_order(seed, seed % 2 == 0);
    ndarray x = ramp(100, d), input = ramp(100, d);
    ndarray square;
    const auto g = sn::capture(a, [&] {
      square = input * input;
      x += square % 10;
    });
    ndarray expected = ramp(100, sn::cpu);
    for (int k = 0; k < 6; ++k) {
      g.launch(k % 2 ? a : b);
      if (k == 2) {
        const sn::stream_guard on(b);
        input(_) = input + 1;
      }
      const std::int64_t offset = k > 2;
      const ndarray host = ramp(100, sn::cpu) + offset;
      expected = expected + host * host % 10;
    }
    CHECK(values(x) == values(expected));
    CHECK(values(square)[3] == 16);
  }
}

TEST_CASE("capture: memory that the function uses is not handed to others, and comes back with the graph") {
  const sn::device d = sim::first();
  sim::set_order(4);
  const sn::memory_pool pool(d);
  ndarray x = ramp(4000, d);
  sn::eval(x);
  sn::synchronize(d);
  const std::size_t before = pool.figures().used;
  {
    ndarray kept;
    {
      auto g = sn::capture(sn::default_stream(d), [&] {
        ndarray t = x * 2;
        sn::eval(t);
        t = t + 1;
        sn::eval(t);
        kept = t * 3;
      });
      CHECK(g.nbytes() >= 2 * 32000);
      CHECK(pool.figures().used >= before + 2 * 32000);
      for (int round = 0; round < 3; ++round) {
        std::vector<ndarray> others;
        for (int k = 0; k < 5; ++k) {
          others.push_back(ramp(4000, d) - k);
          sn::eval(others.back());
        }
        g.launch();
        for (int k = 0; k < 5; ++k) CHECK(values(others[static_cast<std::size_t>(k)])[9] == 9 - k);
        CHECK(values(kept)[9] == 57);
      }
    }
    CHECK(values(kept)[9] == 57);  // outlives the graph
    kept(_) = kept + 1;
    CHECK(values(kept)[9] == 58);
  }
  sn::synchronize(d);
  CHECK(pool.figures().used == before);
}

TEST_CASE("capture: what cannot be captured says so, leaves arrays as they were, and the stream works on") {
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    const sn::stream s({.device = d});
    ndarray x = ramp(30, d);
    ndarray made;
    const auto fails = [&](const std::string& part, const std::function<void()>& f) {
      const std::string message = device_error_of([&] {
        (void)sn::capture(s, [&] {
          x += 100;
          sn::eval(x);
          made = x * 2;
          f();
        });
      });
      CHECK(message.find("[capture]") != std::string::npos);
      CHECK_MESSAGE(message.find(part) != std::string::npos, message);
      CHECK(values(x)[3] == 3);
      CHECK(values(made) == list(30, 0));
      const sn::stream_guard on(s);
      CHECK(values(x + 1)[3] == 4);
    };
    fails("reading elements on the host", [&] { (void)x(0).item<std::int64_t>(); });
    fails("reading elements on the host", [&] { (void)values(made); });
    fails("cannot be captured", [&] { sn::synchronize(d); });
    fails("cannot be captured", [&] { (void)x.data<std::int64_t>(); });
    fails("going on", [&] { (void)sn::capture(s, [&] { x += 1; }); });
    fails("capture", [&] { (void)sn::stack({x(x > 3), x(x < 3)}); });
    if (d == sn::cpu) {
      fails("capture", [&] { (void)sn::unique_values(x); });
      fails("cuda:63", [&] { sn::eval(ramp(3, sim::first())); });
    } else {
      fails("cpu", [&] { sn::eval(ramp(3, sn::cpu)); });
    }
    CHECK(device_error_of([&] { (void)sn::capture(s, [&] { s.synchronize(); }); }).find("[synchronize]") !=
          std::string::npos);
    CHECK(device_error_of([&] {
            (void)sn::capture(s, [&] { const sn::stream_guard on(s); });
          }).find("[stream_guard]") != std::string::npos);
    const auto g = sn::capture(s, [&] { x += 1; });
    CHECK(device_error_of([&] { (void)sn::capture(s, [&] { g.launch(); }); }).find("captured") != std::string::npos);
    g.launch();
    CHECK(values(x)[3] == 4);
    CHECK_THROWS_AS((void)sn::capture(s, [&]() -> void { x += 5, throw 42; }), int);
    CHECK(values(x)[3] == 4);
    g.launch();  // the earlier graph refers to x's memory
    CHECK(values(x)[3] == 5);
  }
  CHECK_THROWS_AS(sn::launch_graph().launch(), sn::value_error);
  const auto g = sn::capture(sn::default_stream(sn::cpu), [] {});
  CHECK(g.size() == 0);
  g.launch();
  CHECK_THROWS_AS(g.launch(sn::default_stream(sim::first())), sn::device_error);
}

TEST_CASE("capture: reductions from before that read the same array do not ride along") {
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    ndarray x = ramp(50, d);
    sn::eval(x);
    const ndarray least = sn::min(x);  // pending
    ndarray most;
    const auto g = sn::capture(sn::default_stream(d), [&] { most = sn::max(x); });
    CHECK(least.item<std::int64_t>() == 0);
    g.launch();
    CHECK(most.item<std::int64_t>() == 49);
  }
  // Nor does what one thread captures ride along with what another evaluates.
  const ndarray x = ramp(50, sn::cpu);
  sn::eval(x);
  const ndarray captured = sn::min(x), evaluated = sn::max(x), rides = sn::sum(x);
  const auto node_of = [](const ndarray& a) { return sn::ops::view_of(a, "test").store->now(); };
  node_of(captured)->capture = 12345;
  sn::eval(evaluated);
  CHECK_FALSE(node_of(captured)->is_leaf());
  CHECK(node_of(rides)->is_leaf());
}

TEST_CASE("capture: values from before that no array has are computed before it") {
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    ndarray x = ramp(8, d).astype(sn::float64);
    sn::eval(x);
    const auto f = [](const ndarray& a) { return ndarray(a * sn::exp(-0.1 * a(1)) / sn::sum(sn::exp(-0.1 * a))); };
    const auto right = values(f(x).copy());
    const auto [y, back] = sn::vjp(f, x);  // keeps the sum, which is pending
    const ndarray ones = sn::ones({8}, {.device = d}), slope = back(ones).copy();
    const auto expected = values(slope);
    const auto [again, pull] = sn::vjp(f, x);
    ndarray z = sn::zeros({8}, {.device = d});
    sn::eval(z, ones);
    const auto g = sn::capture(sn::default_stream(d), [&z, &ones, &pull = pull] { z() = pull(ones); });
    CHECK(values(again) == right);  // before any launch
    g.launch();
    CHECK(values(z) == expected);
    g.launch();
    CHECK(values(z) == expected);
    CHECK(values(y) == right);
  }
}

TEST_CASE("capture: two graphs over the same arrays") {
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    const ndarray a = ramp(10, d), b = ramp(10, d) * 0;
    const auto forth = sn::capture(sn::default_stream(d), [&] { b(_) = a + 1; });
    const auto back = sn::capture(sn::default_stream(d), [&] { a(_) = b * 2; });
    for (int k = 0; k < 3; ++k) {
      forth.launch();
      back.launch();
    }
    CHECK(values(a)[1] == 22);
    CHECK(values(b)[1] == 11);
  }
}

TEST_CASE("capture: selections by index lists belong to the graph, and those from before do not") {
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    ndarray x = ramp(10, d) * 5;
    const auto before = x[sn::list{1, 2}], masked = x[x > 30];
    ndarray inside, outside, chosen;
    const auto g = sn::capture(sn::default_stream(d), [&] {
      inside = x[sn::list{3, 4}];
      outside = before + 1;
      chosen = masked + 1;  // how many they are is known from before
      x += 1;
      x[sn::list{0, 9}] = -1;
    });
    for (int k = 0; k < 3; ++k) {
      g.launch();
      CHECK(values(inside) == list{15 + k, 20 + k});
      CHECK(values(outside) == list{6, 11});
      CHECK(values(chosen) == list{36, 41, 46});
      CHECK(values(x)[9] == -1);
    }
  }
}

TEST_CASE("capture: arrays made in the function are arrays of their own, whose readers keep what they have read") {
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    const sn::stream other({.device = d});
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      sim::set_order(seed, seed % 2 == 0);
      ndarray x = ramp(50, d), y, z;
      const auto g = sn::capture(sn::default_stream(d), [&] {
        y = x * 2;
        z = y.copy();
        x += 1;
      });
      g.launch();
      ndarray later = y * 100, read;  // later: pending
      {
        const sn::stream_guard on(other);
        read = y + 1;
        sn::eval(read);
      }
      g.launch();
      CHECK(values(read)[3] == 7);
      CHECK(values(later)[3] == 600);
      CHECK(values(y)[3] == 8);
      y(_) = -1;
      CHECK(values(z)[3] == 8);
      CHECK(values(y)[3] == -1);
      g.launch();
      CHECK(values(y)[3] == 10);
    }
  }
}
