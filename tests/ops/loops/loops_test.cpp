// scan, fori_loop, while_loop beside loops written out.
#include "ops/vmap/beside_loop.hpp"
#include "sinter/loops.hpp"
#include "support/simulated_gpu.hpp"
#include "support/simulated_libraries.hpp"

using namespace vmap_test;
using sinter::idx::_;
using sinter_test::refuses;

TEST_CASE("fori_loop: the steps of a loop") {
  const ndarray x = numbers({5}, float32);
  const auto step = [](const ndarray& i, const ndarray& a) { return sin(a) * 0.9 + i.astype(float32); };
  for (const int n : {0, 1, 2, 7, 300, 2000}) {
    CAPTURE(n);
    ndarray right = x;
    for (int k = 3; k < 3 + n; ++k) right = sin(right) * 0.9 + full({}, k, {.dtype = int64}).astype(float32);
    CHECK(same_bits(fori_loop(3, 3 + n, step, x), right));
  }
  CHECK(same_bits(fori_loop(5, 2, step, x), x));
}

TEST_CASE("fori_loop: structures, indices, and results of indexing as the carry") {
  const ndarray x = numbers({6, 4});
  const auto [total, last] = fori_loop(
      0, 6, [&](const ndarray& i, const std::pair<ndarray, ndarray>& c) { return std::pair(c.first + x(i), x(i)); },
      std::pair(zeros(4), zeros(4)));
  ndarray right = zeros(4);
  for (int k = 0; k < 6; ++k) right = right + x(k);
  CHECK(same_bits(total, right));
  CHECK(same_bits(last, x(5)));
  CHECK(same_bits(fori_loop(
                      0, 3, [](const ndarray&, const ndarray& a) { return a * 2; }, x(1)),
                  x(1) * 8));
  // Fibonacci numbers in place.
  const ndarray f = fori_loop(
      2, 30,
      [](const ndarray& i, ndarray a) {
        a(i) = a(i - 1) + a(i - 2);
        return a;
      },
      ones(30, {.dtype = int64}));
  CHECK(f(29).item<std::int64_t>() == 832040);
}

TEST_CASE("fori_loop: captured steps") {
  const ndarray x = numbers({500}, float32), y = x.copy();
  const auto step = [](const ndarray& i, const std::pair<ndarray, ndarray>& c) {
    return std::pair(c.second, c.first + c.second * 0.5f + i.astype(float32));
  };
  const auto recorded = fori_loop(1, 20, step, std::pair(x, y));
  const auto captured = fori_loop(1, 20, step, std::pair(x, y), {.capture = true});
  CHECK(same_bits(captured.first, recorded.first));
  CHECK(same_bits(captured.second, recorded.second));
  CHECK(same_bits(x, y));
  refuses<value_error>(
      [&] {
        fori_loop(0, 3, [](const ndarray&, const std::pair<ndarray, int>& c) { return c; }, std::pair(x, 1),
                  {.capture = true});
      },
      "numbers of the host");
}

TEST_CASE("while_loop: Newton's iteration, conditions of the host, and no step at all") {
  const ndarray a = array({2.0, 3.0, 10.0});
  const auto far = [&](const ndarray& x) { return any(absolute(x * x - a) > 1e-12); };
  const auto newton = [&](const ndarray& x) { return (x + a / x) * 0.5; };
  CHECK(allclose(while_loop(far, newton, ones(3)), sqrt(a), 1e-13, 0));
  CHECK(same_bits(while_loop([](const ndarray&) { return false; }, newton, a), a));
  const auto [n, v] =
      while_loop([](const std::pair<ndarray, ndarray>& c) { return c.first < 10; },
                 [](const std::pair<ndarray, ndarray>& c) { return std::pair(c.first + 1, c.second * 2); },
                 std::pair(array(0), ones(2)));
  CHECK(n.item<std::int64_t>() == 10);
  CHECK(same_bits(v, full({2}, 1024.0)));
  const int steps = while_loop([](int k) { return k < 5; }, [](int k) { return k + 1; }, 0);
  CHECK(steps == 5);
}

TEST_CASE("while_loop: captured steps, looked at by the device and by the host") {
  for (const device& where : {default_device(), cpu, sim::first()})
    for (const bool by_device : {true, false}) {
      CAPTURE(by_device);
      sim::repeats_work = by_device;
      const ndarray x = numbers({40}, float64).to_host().to_device(where),
                    none = zeros({}, {.dtype = int64, .device = where});
      // Ends after as many steps as the number says, none and one included, and beyond eights.
      for (const int most : {0, 1, 7, 8, 9, 16, 17, 50}) {
        CAPTURE(most);
        const auto step = [](const std::pair<ndarray, ndarray>& c) {
          return std::pair(sin(c.first) * 0.9 + c.second.astype(float64), c.second + 1);
        };
        const auto on = [&](const std::pair<ndarray, ndarray>& c) { return c.second < most; };
        int calls = 0;
        const auto counted = [&](const std::pair<ndarray, ndarray>& c) {
          ++calls;
          return step(c);
        };
        const auto captured = while_loop(on, counted, std::pair(x, none), {.capture = true});
        const auto called = while_loop(on, step, std::pair(x, none), {.call_each = true});
        CHECK(calls == 1);
        CHECK(captured.second.item<std::int64_t>() == most);
        CHECK(same_bits(captured.first.to_host(), called.first.to_host()));
      }
      // A condition that would hold again for what a step makes of the last carry.
      const ndarray third = while_loop([](const ndarray& c) { return c % 5 != 3; },
                                       [](const ndarray& c) { return c + 1; }, none, {.capture = true});
      CHECK(third.item<std::int64_t>() == 3);
      // A condition of shape (1, 1), and what two arrays of the carry exchange.
      const auto [a, b] = while_loop(
          [](const auto& c) {
            return reshape(max(c.first) < 100, {1, 1});
          },
          [](const auto& c) { return std::pair(c.second, c.first + c.second); },
          std::pair(ones(3, {.device = where}), ones(3, {.device = where})), {.capture = true});
      CHECK(same_bits(a.to_host(), full({3}, 144.0, {.device = cpu})));
      CHECK(same_bits(b.to_host(), full({3}, 233.0, {.device = cpu})));
    }
  sim::repeats_work = true;
  const ndarray x = ones(3);
  const auto same = [](const ndarray& c) { return c; };
  refuses<value_error>([&] { while_loop([](const ndarray&) { return false; }, same, x, {.capture = true}); },
                       "has to be an array");
  refuses<shape_error>([&] { while_loop([](const ndarray& c) { return c > 0; }, same, x, {.capture = true}); },
                       "not one element");
  refuses<dtype_error>([&] { while_loop([](const ndarray& c) { return sum(c); }, same, x, {.capture = true}); },
                       "not bool");
  refuses<value_error>(
      [&] {
        while_loop([](const std::pair<ndarray, int>& c) { return any(c.first > 2); },
                   [](const std::pair<ndarray, int>& c) { return c; }, std::pair(x, 1), {.capture = true});
      },
      "numbers of the host");
}

TEST_CASE("scan: outputs are stacked") {
  const ndarray x = numbers({50, 3});
  const auto add = [](const ndarray& c, const ndarray& e) {
    const ndarray next = c + e;
    return std::pair(next, next * 2);
  };
  const auto [last, all] = scan(add, zeros(3), x);
  ndarray sum_so_far = zeros(3);
  for (int k = 0; k < 50; ++k) {
    sum_so_far = sum_so_far + x(k);
    REQUIRE(same_bits(all(k), sum_so_far * 2));
  }
  CHECK(same_bits(last, sum_so_far));
  const auto [back, from_behind] = scan(add, zeros(3), x, {.reverse = true});
  CHECK(same_bits(from_behind(49), x(49) * 2 + 0.0));
  CHECK(same_bits(from_behind(0), back * 2));
}

TEST_CASE("scan: structures to scan over, outputs of several arrays, none, and lengths") {
  const ndarray x = numbers({4, 3}), y = numbers({4}, float64, 2);
  const auto f = [](const std::tuple<ndarray, ndarray>& c, const std::pair<ndarray, ndarray>& e) {
    const auto& [s, p] = c;
    return std::tuple(std::tuple(s + e.first, p * e.second), std::vector<ndarray>{e.first * e.second, p});
  };
  const auto [last, outputs] = scan(f, std::tuple(zeros(3), ones({})), std::pair(x, y), {.length = 4});
  CHECK(same_bits(outputs[0], x * expand_dims(y, 1)));
  CHECK(outputs[1].shape() == shape_t{4});
  CHECK(allclose(std::get<1>(last), prod(y)));
  const auto [n, none] = scan([](const ndarray& c, none_t) { return std::pair(c * 2, _); }, ones({}), _, {.length = 5});
  CHECK(double(n) == 32.0);
  static_assert(std::is_same_v<std::remove_cv_t<decltype(none)>, none_t>);
}

TEST_CASE("scan: nothing to scan over") {
  const ndarray c = ones(3);
  const auto f = [](const ndarray& s, const ndarray& e) { return std::pair(s + e, sum(s * e)); };
  const auto [last, all] = scan(f, c, zeros({0, 3}));
  CHECK(same_bits(last, c));
  CHECK(all.shape() == shape_t{0});
  const auto [same, rows] = scan([](const ndarray& s, none_t) { return std::pair(s, s); }, c, _, {.length = 0});
  CHECK(rows.shape() == shape_t{0, 3});
}

TEST_CASE("loops: a carry that changes is refused by name") {
  const ndarray x = numbers({4, 3});
  refuses<shape_error>(
      [&] {
        fori_loop(
            0, 2, [](const ndarray&, const ndarray& a) { return sum(a, 0); }, x);
      },
      "[fori_loop] array 0 of the carry has shape (4, 3) before the step and (3,) after it");
  refuses<dtype_error>(
      [&] { while_loop([](const ndarray&) { return true; }, [](const ndarray& a) { return a > 0; }, x); },
      "[while_loop] array 0 of the carry is float64 before the step and bool after it");
  refuses<shape_error>(
      [&] {
        scan(
            [](const std::pair<ndarray, ndarray>& c, const ndarray& e) {
              return std::pair(std::pair(c.first, concatenate({c.second, e})), e);
            },
            std::pair(x, x(0)), x);
      },
      "[scan] array 1 of the carry");
  refuses<value_error>(
      [&] {
        fori_loop(
            0, 2,
            [](const ndarray&, std::vector<ndarray> a) {
              a.push_back(a[0]);
              return a;
            },
            std::vector<ndarray>{x});
      },
      "1 arrays before the step and 2 after it");
  refuses<shape_error>(
      [&] { while_loop([](const ndarray& a) { return a > 0; }, [](const ndarray& a) { return a; }, x); },
      "the condition has shape (4, 3)");
  refuses<dtype_error>(
      [&] { while_loop([](const ndarray& a) { return sum(a); }, [](const ndarray& a) { return a; }, x); },
      "the condition is float64");
  const auto f = [](const ndarray& c, const std::pair<ndarray, ndarray>&) { return std::pair(c, c); };
  refuses<shape_error>([&] { scan(f, x, std::pair(x, zeros(5))); }, "5 elements, and not 4 as the first one");
  refuses<shape_error>([&] { scan(f, x, std::pair(x, zeros({}))); }, "no elements to scan over");
  const auto g = [](const ndarray& c, none_t) { return std::pair(c, c); };
  refuses<value_error>([&] { scan(g, x, _); }, ".length is not given");
  refuses<value_error>([&] { scan(g, x, _, {.length = -1}); }, "length (-1) is negative");
  refuses<shape_error>(
      [&] { scan([](const ndarray& c, const ndarray&) { return std::pair(c, c); }, x, x, {.length = 3}); },
      "4 elements, and not 3 (length)");
  refuses<shape_error>(
      [&] {
        int n = 0;
        scan([&](const ndarray& c, const ndarray&) { return std::pair(c, zeros(++n)); }, x, x);
      },
      "[stack]");
}

TEST_CASE("loops: in vmap") {
  const ndarray x = numbers({5, 3});
  check_bits(
      [](const ndarray& a) {
        return fori_loop(
            0, 700, [&](const ndarray& i, const ndarray& c) { return sin(c) + a * 0.1 + i; }, zeros(3));
      },
      x);
  check_bits(
      [](const ndarray& a) {
        return scan([](const ndarray& c, const ndarray& e) { return std::pair(c * 0.5 + e, c); }, zeros({}), a).second;
      },
      x);
  // Examples that take different numbers of steps.
  const ndarray n = array({3, 0, 7, 1, 12});
  const auto count = [](const ndarray& k) {
    return while_loop(
               [&](const std::pair<ndarray, ndarray>& c) { return c.first < k; },
               [](const std::pair<ndarray, ndarray>& c) { return std::pair(c.first + 1, c.second * 2 + c.first); },
               std::pair(zeros({}, {.dtype = int64}), ones(2)))
        .second;
  };
  check_bits(count, n);
  const ndarray two = vmap(vmap(count))(stack({n, n + 1, n * 0}));
  CHECK(same_bits(two, stack({in_turn(count, n), in_turn(count, n + 1), in_turn(count, n * 0)})));
  // A condition that is the same for all.
  check_bits(
      [](const ndarray& a) {
        return while_loop([](const std::pair<ndarray, ndarray>& c) { return c.first < 3; },
                          [](const std::pair<ndarray, ndarray>& c) { return std::pair(c.first + 1, c.second * 2); },
                          std::pair(zeros({}), a))
            .second;
      },
      x);
  const auto newton = [](const ndarray& a) {
    return while_loop([&](const ndarray& r) { return absolute(r * r - a) > 1e-10; },
                      [&](const ndarray& r) { return (r + a / r) * 0.5; }, ones({}));
  };
  check_bits(newton, array({2.0, 9.0, 1.0, 1e6}));
}
