// Several threads at once: recording on shared operands, evaluating the same pending value, dropping handles that other
// threads made, writing parts of one array.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "graph/run/flush.hpp"
#include "sinter/sinter.hpp"
#include "support/docs_page.hpp"

namespace sn = sinter;
using namespace sn::idx;
using sn::ndarray;

namespace {

constexpr int threads = 8;

template <class F>
void in_parallel(F work) {
  std::atomic<bool> go{false};
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&, t] {
      while (!go) std::this_thread::yield();
      work(t);
    });
  go = true;
  for (auto& t : pool) t.join();
}

}  // namespace

TEST_CASE("threads that record on one pending array and evaluate what they recorded get what one thread gets") {
  for (int round = 0; round < 20; ++round) {
    ndarray x = sn::sin(sn::arange(0, 500, 1, {.dtype = sn::float32}));  // pending
    std::vector<double> sums(threads);
    in_parallel([&](int t) {
      ndarray y = x * (t + 1.0);
      for (int k = 0; k < 5; ++k) y = y(slice(_, _, -1)) + x;
      sums[static_cast<std::size_t>(t)] = sn::sum(y).item<double>();
    });
    for (int t = 0; t < threads; ++t) {
      ndarray y = x * (t + 1.0);
      for (int k = 0; k < 5; ++k) y = y(slice(_, _, -1)) + x;
      CHECK(sums[static_cast<std::size_t>(t)] == sn::sum(y).item<double>());
    }
  }
}

TEST_CASE("threads that evaluate the same pending value at once all see it evaluated") {
  for (int round = 0; round < 20; ++round) {
    ndarray x = sn::arange(0, 1000, 1, {.dtype = sn::float64});
    ndarray shared = sn::sqrt(x) + 1.0;
    ndarray least = sn::min(shared), total = sn::sum(shared);
    std::vector<double> seen(threads);
    in_parallel([&](int t) {
      seen[static_cast<std::size_t>(t)] = t % 2 ? least.item<double>() : shared.to_vector<double>()[16];
      if (t % 3 == 0) sn::eval(total);
    });
    for (int t = 0; t < threads; ++t) CHECK(seen[static_cast<std::size_t>(t)] == (t % 2 ? 1.0 : 5.0));
  }
}

TEST_CASE("handles may die on other threads than the one that made them") {
  std::vector<ndarray> made(threads * 50);
  in_parallel([&](int t) {
    for (int k = 0; k < 50; ++k) made[static_cast<std::size_t>(t * 50 + k)] = sn::ones({64}) * double(k);
  });
  in_parallel([&](int t) {
    for (int k = 0; k < 50; ++k) {
      ndarray& mine = made[static_cast<std::size_t>(((t + 1) % threads) * 50 + k)];
      CHECK(mine.to_vector<double>()[63] == k);
      mine = ndarray();
    }
  });
}

TEST_CASE("each thread may write its own array while all read a common one") {
  ndarray common = sn::arange(0, 256, 1, {.dtype = sn::int64}) * 2;
  std::vector<std::int64_t> results(threads);
  in_parallel([&](int t) {
    ndarray own = common.copy();
    for (int k = 0; k < 20; ++k) own(slice(k, k + 10)) += common(slice(_, 10)) + t;
    results[static_cast<std::size_t>(t)] = sn::sum(own).item<std::int64_t>();
  });
  for (int t = 0; t < threads; ++t) CHECK(results[static_cast<std::size_t>(t)] == 256 * 255 + 20 * (90 + 10 * t));
}

TEST_CASE("threads that update rows of one array lose nothing") {
  const auto bump = [](const ndarray& x, int t, int k) {
    if (k % 3 == 0) x(t) += 1;
    else if (k % 3 == 1) x(t, _) = x(t, _) + 1;
    else x[sn::array({t})] += 1;
  };
  for (int round = 0; round < 20; ++round) {
    const ndarray x = sn::zeros({threads, 100}, sn::int64);
    in_parallel([&](int t) {
      for (int k = 0; k < 60; ++k) {
        bump(x, t, k);
        if (k % 16 == 15) CHECK(x(t, 7).item<std::int64_t>() == k + 1);
      }
    });
    CHECK(sn::all(x == 60).item<bool>());
  }
}

TEST_CASE("threads that write by disjoint masks and indices of one array lose nothing") {
  for (int round = 0; round < 20; ++round) {
    const ndarray x = sn::zeros({64, 3}, sn::int64), number = sn::arange(64);
    in_parallel([&](int t) {
      const ndarray mine = number % threads == t, where = sn::flatnonzero(mine);
      for (int k = 0; k < 6; ++k) {
        if ((t + k) % 3 == 0) x[mine] += 1;
        else if ((t + k) % 3 == 1) sn::add_at(x[where], 1);
        else sn::putmask(x, sn::broadcast_to(sn::expand_dims(mine, 1), {64, 3}), x + 1);
      }
    });
    CHECK(sn::all(x == 6).item<bool>());
  }
}

TEST_CASE("of overlapping writes by several threads one is the last") {
  for (int round = 0; round < 60; ++round) {
    const ndarray x = sn::zeros(100, sn::int64);
    in_parallel([&](int t) {
      if (t > 1) return;
      if (t == 0) x(slice(_, 60)) = 1;
      else x(slice(40, _)) = 2;
    });
    const auto v = x.to_vector<std::int64_t>();
    const std::set<std::int64_t> shared(v.begin() + 40, v.begin() + 60);
    CHECK(shared.size() == 1);
    CHECK(v[0] == 1);
    CHECK(v[39] == 1);
    CHECK(v[60] == 2);
    CHECK(v[99] == 2);
  }
}

TEST_CASE("readers beside a writer see its rows as they are between two writes") {
  for (int round = 0; round < 10; ++round) {
    const ndarray x = sn::zeros({4, 200}, sn::int64), fixed = x(3).copy();
    std::atomic<bool> done{false};
    in_parallel([&](int t) {
      if (t == 0) {
        for (int k = 1; k <= 100; ++k) x(k % 3) = k;
        done = true;
        return;
      }
      while (!done) {
        const ndarray now = x.copy();
        CHECK(sn::array_equal(sn::min(now, 1), sn::max(now, 1)));
        CHECK(sn::sum(x(3)).item<std::int64_t>() == 0);  // which no thread writes
        CHECK(sn::max(x(t % 3) + x(3)).item<std::int64_t>() <= 100);
      }
    });
    CHECK(sn::array_equal(x(3), fixed));
    CHECK(x(_, 0).to_vector<std::int64_t>() == std::vector<std::int64_t>{99, 100, 98, 0});
  }
}

TEST_CASE("threads that write rows of an array whose address is out leave it where it is") {
  for (int round = 0; round < 10; ++round) {
    const ndarray x = sn::zeros({threads, 50}, sn::int64);
    const std::int64_t* const at = x.data<std::int64_t>();
    in_parallel([&](int t) {
      for (int k = 0; k < 20; ++k) {
        x(t) = x(t) + 1;
        if (k % 7 == t % 7) CHECK(x(t, 49).item<std::int64_t>() == k + 1);
      }
    });
    CHECK(x.data<std::int64_t>() == at);
    CHECK(sn::all(x == 20).item<bool>());
  }
}

TEST_CASE("an address may be taken while other threads read") {
  for (int round = 0; round < 40; ++round) {
    const ndarray x = sn::arange(64) + round;
    sn::eval(x);
    std::vector<ndarray> before(threads);
    in_parallel([&](int t) {
      if (t == 0) (void)x.data<std::int64_t>();
      else
        before[static_cast<std::size_t>(t)] =
            x + t;  // recorded before or after, never evaluated before the write below
    });
    if (sn::default_device().kind == sn::device_kind::cpu) x.data<std::int64_t>()[5] = -1;
    for (int t = 1; t < threads; ++t)
      CHECK(before[static_cast<std::size_t>(t)](5).item<std::int64_t>() == round + 5 + t);
  }
}

TEST_CASE("results of products may go into parts of one array from several threads") {
  const ndarray a = sn::reshape(sn::arange(36), {6, 6}) % 5, b = a.T().copy();
  sn::eval(a, b);
  for (int round = 0; round < 10; ++round) {
    const ndarray x = sn::zeros({threads, 6, 6}, sn::int64);
    in_parallel([&](int t) {
      for (int k = 0; k < 4; ++k) {
        if ((t + k) % 2 == 0) sn::matmul(a, b, {.out = x(t)});
        else x(t) = sn::matmul(a, b);
      }
    });
    CHECK(sn::array_equal(x, sn::broadcast_to(sn::matmul(a, b), {threads, 6, 6})));
  }
}

TEST_CASE("explain beside evaluation of the same pending values") {
  for (int round = 0; round < 40; ++round) {
    const ndarray x = sn::arange(500) + round, y = sn::sum(x * x), z = sn::cumsum(x)(3) + y;
    in_parallel([&](int t) {
      if (t % 2) {
        for (int k = 0; k < 3; ++k) CHECK_FALSE(sn::explain(sn::sum(x + t) * y + z).empty());
      } else {
        CHECK((sn::sum(x + t) * 2).item<std::int64_t>() == 2 * (124750 + 500 * (round + t)));
        (void)z.item<std::int64_t>();
      }
    });
  }
}

TEST_CASE("explain waits for an evaluation in progress, whose marks are on the nodes that it would look at") {
  const ndarray x = sn::sum(sn::arange(500) * 2);
  std::atomic<bool> begun{false}, done{false};
  std::unique_lock evaluation(sn::graph::flush_mutex());
  std::thread reader([&] {
    begun = true;
    CHECK_FALSE(sn::explain(x).empty());
    done = true;
  });
  while (!begun) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK_FALSE(done);
  evaluation.unlock();
  reader.join();
}

TEST_CASE("a selection that has not been read may be read by several threads") {
  for (int round = 0; round < 20; ++round) {
    const ndarray x = sn::arange(100) * 2, picked = x[x % 3 == 0];
    in_parallel([&](int t) {
      CHECK(picked.size() == 34);
      CHECK((picked + t)(1).item<std::int64_t>() == 6 + t);
    });
  }
}

TEST_CASE("threads that draw from one generator share its numbers out") {
  sn::random::generator g(7);
  std::vector<ndarray> drawn(threads);
  in_parallel([&](int t) { drawn[static_cast<std::size_t>(t)] = g.random({256}); });
  CHECK(sn::unique_values(sn::concatenate(drawn)).size() == threads * 256);
}

TEST_CASE("the code on the page about threads") {
  sinter_test::check_page("threads.md", "graph/thread_test.cpp", 1);
  sn::ndarray table = sn::zeros({4, 1000});
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) workers.emplace_back([&table, i] { table(i) = sn::sqrt(sn::arange(1000.0)) * i; });
  for (std::thread& w : workers) w.join();
  double sum = sn::sum(table).item<double>();
  CHECK(std::abs(sum - 6 * sn::sum(sn::sqrt(sn::arange(1000.0))).item<double>()) < 1e-6);
}
