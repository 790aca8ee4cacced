// Several threads at once: recording on shared operands, evaluating the same pending value, dropping handles that other
// threads made. Writing one array from two threads needs the user's lock and is not tested.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "sinter/sinter.hpp"

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
