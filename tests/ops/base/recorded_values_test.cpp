// Results of operations are values without an array until they are used as one: nobody can tell.
#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "graph/values/node.hpp"
#include "ops/base/access.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;

namespace {

bool is_recorded(const ndarray& x) { return ops::ndarray_access::is_recorded(x); }
ndarray numbers() { return arange(12).reshape({3, 4}).astype(float32); }

}  // namespace

TEST_CASE("recorded values: operations leave them as they are, views, copies and evaluation make arrays") {
  const ndarray x = numbers();
  const ndarray sum_of = x + x, root = sqrt(x), larger = x > 2, chosen = where(x > 2, x, 0), moved = roll(x, 1, 0);
  for (const ndarray* each : {&sum_of, &root, &larger, &chosen, &moved}) CHECK(is_recorded(*each));
  const ndarray more = sum_of * root - 1.0f;
  CHECK(is_recorded(sum_of));
  CHECK(is_recorded(root));
  CHECK(more.defined());
  const ndarray copy = sum_of;
  CHECK(!is_recorded(sum_of));
  CHECK(!is_recorded(copy));
  const auto row = root(1);
  CHECK(!is_recorded(root));
  eval(more);
  CHECK(!is_recorded(more));
  CHECK(more.shape() == shape_t{3, 4});
  CHECK(copy.to_vector<float>() == sum_of.to_vector<float>());
  CHECK(moved.to_vector<float>() == std::vector<float>{8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("recorded values: copies of a handle see what is written through each other, whichever came first") {
  ndarray a = numbers() + 1;
  REQUIRE(is_recorded(a));
  ndarray b = a;
  b(0) = 0;
  CHECK(a.to_vector<float>() == std::vector<float>{0, 0, 0, 0, 5, 6, 7, 8, 9, 10, 11, 12});
  const ndarray before = a * 2;
  a += 1;
  CHECK(b.to_vector<float>() == a.to_vector<float>());
  CHECK(before.to_vector<float>() == std::vector<float>{0, 0, 0, 0, 10, 12, 14, 16, 18, 20, 22, 24});
  ndarray c = numbers() * 2;
  c(1) += c(0);
  CHECK(c.to_vector<float>() == std::vector<float>{0, 2, 4, 6, 8, 12, 16, 20, 16, 18, 20, 22});
}

TEST_CASE("recorded values: handles are moved, assigned, swapped and kept in containers") {
  ndarray a = numbers() + 1, b = numbers() + 2;
  std::swap(a, b);
  CHECK(a.to_vector<float>()[0] == 2);
  CHECK(b.to_vector<float>()[0] == 1);
  ndarray c = std::move(a);
  CHECK(!a.defined());
  CHECK_THROWS_AS(a + 1, value_error);
  a = c * 2;
  CHECK(a.to_vector<float>()[0] == 4);
  a = a * 2;
  CHECK(a.to_vector<float>()[0] == 8);
  ndarray& itself = a;
  a = itself;
  CHECK(a.to_vector<float>()[0] == 8);
  std::vector<ndarray> all;
  for (int k = 0; k < 40; ++k) all.push_back(numbers() + k);  // moves them as it grows
  const std::vector<ndarray> copies = all;
  all.erase(all.begin());
  CHECK(all[0].to_vector<float>()[0] == 1);
  CHECK(copies[39].to_vector<float>()[0] == 39);
  std::optional<ndarray> maybe;
  maybe = numbers() * 3;
  maybe.emplace(*maybe + 1);
  CHECK(maybe->to_vector<float>()[1] == 4);
}

TEST_CASE("recorded values: what nobody uses is given up, what was evaluated with others is in memory") {
  const ndarray x = numbers();
  { const ndarray unused = x + x; }
  ndarray sum_of = x + x;
  const graph::value v = ops::ndarray_access::recorded(sum_of);
  REQUIRE(v);
  CHECK(v->refs.load() == 2);
  const ndarray twice = sum_of * 2;
  eval(std::vector<ndarray>{twice, sum_of});
  CHECK(v->is_leaf());
  CHECK(sum_of.to_vector<float>()[11] == 22);
  sum_of = x;
  CHECK(v->refs.load() == 1);
}

TEST_CASE("recorded values: threads that use one handle at once see one array") {
  constexpr int threads = 4, rounds = 200;
  const ndarray x = numbers();
  for (int round = 0; round < rounds; ++round) {
    const ndarray shared = x + static_cast<float>(round);
    std::atomic<int> ready{0}, right{0};
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        ++ready;
        while (ready < threads) std::this_thread::yield();
        ndarray mine;
        if (t % 2 == 0) mine = shared * 2;
        else mine = ndarray(shared) + shared;
        right += mine.to_vector<float>()[1] == 2 * (1 + static_cast<float>(round));
      });
    for (std::thread& t : all) t.join();
    CHECK(right == threads);
    CHECK(shared.to_vector<float>()[1] == 1 + static_cast<float>(round));
  }
}

TEST_CASE("recorded values: one thread writes what another one reads") {
  const ndarray x = numbers();
  for (int round = 0; round < 200; ++round) {
    ndarray shared = x + 1;
    std::atomic<int> ready{0};
    float seen = 0;
    std::thread reader([&] {
      ++ready;
      while (ready < 2) std::this_thread::yield();
      const ndarray& r = shared;
      seen = (r * 1.0f).to_vector<float>()[0];
    });
    ++ready;
    while (ready < 2) std::this_thread::yield();
    shared += 10;
    reader.join();
    CHECK((seen == 1 || seen == 11));
    CHECK(shared.to_vector<float>()[0] == 11);
  }
}

TEST_CASE("recorded values: a capture works on the arrays of handles from before it") {
  ndarray x = numbers() + 1, y = x * 0;
  REQUIRE(is_recorded(x));
  const launch_graph g = capture([&] { y() = where(x > 2, x, -x) + sqrt(x); });
  x() = numbers() + 4;
  g.launch();
  CHECK(y.to_vector<float>() == (x + sqrt(x)).to_vector<float>());
}
