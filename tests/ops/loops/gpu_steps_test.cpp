// Steps of loops that a GPU runs by itself, a simulated one and the machine's own: the bits of steps that are called, few calls,
// and an enqueuing host.
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "ops/vmap/beside_loop.hpp"
#include "sinter/linalg.hpp"
#include "sinter/loops.hpp"
#include "support/simulated_gpu.hpp"
#include "support/simulated_libraries.hpp"

using namespace vmap_test;
using namespace sinter::idx;
using sinter_test::refuses;

namespace {

/// Calls of a step that is captured: two that are watched, and one more; in a while_loop others before.
constexpr int few = 3, few_of_while = 11;

void on_gpus(const std::function<void()>& f) {
  for (const device& where : {default_device(), sim::first()}) {
    if (where == device(cpu)) continue;
    const device_guard on(where);
    CAPTURE(where);
    f();
  }
}

/// A scan by captured and by called steps.
template <class F, class C, class X>
void check_scan(F f, const C& init, const X& xs, scan_loop_kw kw = {}) {
  int calls = 0;
  const auto counted = [&](const auto& c, const auto& x) {
    ++calls;
    return f(c, x);
  };
  auto got = scan(counted, init, xs, kw);
  CHECK(calls == few);
  kw.call_each = true;
  auto right = scan(f, init, xs, kw);
  std::vector<const ndarray*> a, b;
  detail::each_array(got, [&](ndarray& x) { a.push_back(&x); });
  detail::each_array(right, [&](ndarray& x) { b.push_back(&x); });
  REQUIRE(a.size() == b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    CAPTURE(k);
    CHECK(same_bits(*a[k], *b[k]));
  }
}

/// A step that no kernel of a loop can be: each element needs its neighbours.
ndarray mixed(const ndarray& c) { return sin(c + roll(c, 1)) * 0.5; }

}  // namespace

TEST_CASE("steps on a GPU: elements to scan over, forwards and backwards, and outputs of all sizes") {
  on_gpus([] {
    for (const std::int64_t n : {1, 3, 8, 257, 5000}) {
      CAPTURE(n);
      const ndarray x = numbers({37, n});
      for (const bool reverse : {false, true})
        check_scan([](const ndarray& c, const ndarray& e) { return std::pair(mixed(c) + e, sum(c)); }, zeros(n), x,
                   {.reverse = reverse});
      check_scan(
          [](const ndarray& c, const ndarray& e) { return std::pair(mixed(c) + e, (roll(e, 1) > 0).astype(uint8)); },
          zeros(n), x);
    }
    for (const int steps : {16, 17, 18, 19, 24, 26, 33}) {  // from the third one on: eights and what is left
      CAPTURE(steps);
      check_scan([](const ndarray& c, const ndarray& e) { return std::pair(mixed(c) + e, c); }, ones(6),
                 numbers({steps, 6}));
    }
  });
}

TEST_CASE("steps on a GPU: what a step passes on as it is, and arrays that change places") {
  on_gpus([] {
    const ndarray x = numbers({40, 7});
    using two = std::pair<ndarray, ndarray>;
    check_scan([](const two& c, const ndarray& e) { return std::pair(two(c.second, mixed(c.first) + e), c.first); },
               two(ones(7), numbers({7})), x);
    check_scan(
        [](const two& c, const ndarray& e) { return std::pair(two(e, mixed(c.first)), std::tuple(e, c.second)); },
        two(ones(7), numbers({7})), x);
    check_scan([](const two& c, const ndarray& e) { return std::pair(two(c.second, c.first), roll(c.first, 1) + e); },
               two(ones(7), numbers({7})), x);
    check_scan([](const two& c, const ndarray& e) { return std::pair(two(mixed(c.first + e), c.second), c); },
               two(ones(7), numbers({7})), x);
  });
}

TEST_CASE("steps on a GPU: numbers of steps, products and reductions") {
  on_gpus([] {
    const ndarray w = numbers({12, 12}) * 0.2;
    int calls = 0;
    const auto step = [&](const ndarray& i, const ndarray& v) {
      ++calls;
      const ndarray n = sum(w * v, 1) + i * 0.01;
      return n / sqrt(sum(n * n));
    };
    const ndarray got = fori_loop(-5, 60, step, ones(12));
    CHECK(calls == few);
    CHECK(same_bits(got, fori_loop(-5, 60, step, ones(12), {.call_each = true})));

    calls = 0;
    const auto product = [&](const ndarray&, const ndarray& v) {
      ++calls;
      const ndarray n = matmul(w, v);
      return n / sqrt(sum(n * n));
    };
    const ndarray power = fori_loop(0, 40, product, ones(12));
    CHECK(calls == few);
    CHECK(allclose(power, fori_loop(0, 40, product, ones(12), {.call_each = true}), 1e-12, 1e-12));
  });
}

TEST_CASE("steps on a GPU: conditions that the device looks at") {
  on_gpus([] {
    for (const bool by_device : {true, false}) {
      sim::repeats_work = by_device;
      for (const int last : {3, 9, 10, 11, 12, 17, 18, 19, 40, 75}) {
        CAPTURE(last);
        using state = std::pair<ndarray, ndarray>;
        int calls = 0;
        const auto on = [&](const state& s) { return max(s.second) < last; };
        const auto step = [&](const state& s) {
          ++calls;
          return state(mixed(s.first) + 0.1, s.second + 1);
        };
        const state start(numbers({9}), zeros(3, {.dtype = int64}));
        const state got = while_loop(on, step, start);
        CHECK(calls == std::min(last, few_of_while));
        const state right = while_loop(on, step, start, {.call_each = true});
        CHECK(same_bits(got.first, right.first));
        CHECK(same_bits(got.second, full({3}, last, {.dtype = int64})));
      }
    }
    sim::repeats_work = true;
    // The condition is what a step takes from another array as it is.
    using flags = std::tuple<ndarray, ndarray, ndarray>;
    const auto [v, now, next] = while_loop([](const flags& f) { return std::get<1>(f); },
                                           [](const flags& f) {
                                             const auto& [c, a, b] = f;
                                             return flags(roll(c, 1) + 1, b, any(c < 30));
                                           },
                                           flags(zeros(4), full({}, true), full({}, true)));
    CHECK(same_bits(v, full({4}, 32.0)));
    CHECK(!bool(now));
    CHECK(!bool(next));
  });
}

TEST_CASE("steps on a GPU: the host does not wait for them") {
  const device_guard on(sim::first());
  const ndarray x = numbers({100, 8});
  const auto f = [](const ndarray& c, const ndarray& e) { return std::pair(mixed(c) + e, c); };
  (void)scan(f, zeros(8), x);
  const ndarray start = zeros(8);
  eval(start, x);
  synchronize();
  (void)sim::take_tally();
  const auto [last, all] = scan(f, start, x);
  CHECK(sim::take_tally().host_waits == 0);
  CHECK(same_bits(all(99), scan(f, start, x, {.call_each = true}).second(99)));
}

TEST_CASE("steps on a GPU: arrays from before stay as they are, and results are the loop's own") {
  on_gpus([] {
    ndarray w = numbers({6}), start = ones(6);
    const ndarray x = numbers({30, 6});
    const auto f = [&](const ndarray& c, const ndarray& e) { return std::pair(mixed(c) * w + e, c); };
    const auto [c, y] = scan(f, start, x);
    const auto [d, z] = scan(f, start, x);
    const ndarray before = c.copy(), outputs = y.copy();
    CHECK(same_bits(d, before));
    w += 1;
    start += 1;
    CHECK(same_bits(w, numbers({6}) + 1));
    ndarray more = c;
    more += 1;
    CHECK(same_bits(y, outputs));
    CHECK(same_bits(z, outputs));
    CHECK(same_bits(d, before));
  });
}

TEST_CASE("steps on a GPU: steps that do something else, wrong data, and large carries are called or reported") {
  on_gpus([] {
    const ndarray x = numbers({40, 6});
    int calls = 0;
    std::vector<ndarray> kept;
    const auto keeps = [&](const ndarray& c, const ndarray& e) {
      ++calls;
      kept.push_back(mixed(c) + e);
      return std::pair(kept.back(), _);
    };
    const ndarray last = scan(keeps, zeros(6), x).first;
    CHECK(calls == 40);
    CHECK(same_bits(last, kept.back()));

    ndarray total = zeros(6);
    const auto writes = [&](const ndarray&, const ndarray& c) {
      total += c;
      return mixed(c) + 1;
    };
    (void)fori_loop(0, 30, writes, ones(6));
    const ndarray right = total.copy();
    total() = 0.0;
    (void)fori_loop(0, 30, writes, ones(6), {.call_each = true});
    CHECK(same_bits(total, right));

    const ndarray table = numbers({7});
    const auto reads = [&](const ndarray& i, const ndarray& c) { return mixed(c) + take(table, floor_divide(i, 5)); };
    CHECK(same_bits(fori_loop(0, 35, reads, ones(6)), fori_loop(0, 35, reads, ones(6), {.call_each = true})));
    refuses<index_error>([&] { (void)fori_loop(0, 40, reads, ones(6)).to_vector<double>(); },
                         "index 7 is out of range");
    const auto again = [&](const std::pair<ndarray, ndarray>& s) {
      return std::pair(mixed(s.first) + take(table, floor_divide(s.second, 5)), s.second + 1);
    };
    // 35 steps: a 36th would find an error.
    const auto ends =
        while_loop([](const auto& s) { return s.second < 35; }, again, std::pair(ones(6), zeros({}, {.dtype = int64})));
    CHECK(same_bits(ends.first, fori_loop(0, 35, reads, ones(6), {.call_each = true})));

    calls = 0;
    const ndarray large = fori_loop(
        0, 20, [&](const ndarray&, const ndarray& c) { return ++calls, roll(c, 1) + 1; }, zeros(1 << 20));
    CHECK(calls == 20);
    CHECK(double(large(5)) == 20);
  });
}
