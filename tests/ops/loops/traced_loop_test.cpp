// Steps that are captured beside steps that are called: the same bits, and never where a call would do something else.
#include <vector>

#include "ops/vmap/beside_loop.hpp"
#include "sinter/grad.hpp"
#include "sinter/linalg.hpp"
#include "sinter/loops.hpp"
#include "support/simulated_gpu.hpp"

using namespace vmap_test;
using namespace sinter::idx;
using sinter_test::refuses;

namespace {

/// Calls of a step that need not be called again.
constexpr int few = 3;
bool on_host() { return default_device() == device(cpu); }
/// A simulated GPU captures no calls of libraries.
bool captures_calls() { return on_host() || !(default_device() == sim::first()); }

/// A scan by captured steps and by calls of each; `calls` of the first.
template <class F, class C, class X>
void check_scan(F f, const C& init, const X& xs, scan_loop_kw kw = {}, bool traced = true) {
  int calls = 0;
  const auto counted = [&](const auto& c, const auto& x) {
    ++calls;
    return f(c, x);
  };
  const auto a = scan(counted, init, xs, kw);
  const int first = calls;
  kw.call_each = true;
  const auto b = scan(counted, init, xs, kw);
  CHECK(calls - first > 3);
  const int most = calls - first;
  if (traced) CHECK(first == few);
  else {
    CAPTURE(first);
    CAPTURE(most);
    CHECK((first == most || first == most + 1));
  }
  std::vector<const ndarray*> left, right;
  auto l = a, r = b;
  detail::each_array(l, [&](ndarray& x) { left.push_back(&x); });
  detail::each_array(r, [&](ndarray& x) { right.push_back(&x); });
  REQUIRE(left.size() == right.size());
  for (std::size_t k = 0; k < left.size(); ++k) {
    CAPTURE(k);
    CHECK(same_bits(*left[k], *right[k]));
  }
}

}  // namespace

TEST_CASE("traced loops: the bits of steps that are called") {
  const ndarray x = numbers({100, 7});
  const auto add = [](const ndarray& c, const ndarray& e) {
    const ndarray n = sin(c) * 0.5 + e;
    return std::pair(n, n * n);
  };
  SUBCASE("elements") { check_scan(add, zeros(7), x); }
  SUBCASE("from the last one") { check_scan(add, zeros(7), x, {.reverse = true}); }
  SUBCASE("of a transposed view, and of every second") {
    check_scan(add, zeros(7), numbers({7, 100}).T());
    check_scan(add, zeros(7), numbers({100, 14})(_, slice(0, 14, 2)));
  }
  SUBCASE("of no axis") { check_scan(add, zeros({}), x(_, 3)); }
  SUBCASE("without elements") { check_scan(add, zeros({0}), zeros({20, 0})); }
  SUBCASE("nothing to scan over") {
    check_scan([](const ndarray& c, none_t) { return std::pair(c * 1.01, c(0)); }, ones(5), _, {.length = 40});
  }
  SUBCASE("reductions, and rows kept by them") {
    check_scan(
        [](const ndarray& c, const ndarray& e) {
          const ndarray n = exp(c - max(c)), s = n / sum(n);
          return std::pair(s + e, std::vector<ndarray>{sum(e), argmax(s), mean(c), c});
        },
        zeros(7), x);
  }
  SUBCASE("products") {
    const ndarray w = numbers({7, 7}) * 0.1, v = numbers({7, 3});
    check_scan(
        [&](const ndarray& c, const ndarray& e) {
          const ndarray n = tanh(matmul(w, c) + e(_, newaxis));
          return std::pair(n, matmul(n.mT(), e));
        },
        v, x);
  }
  SUBCASE("a carry whose arrays change places") {
    check_scan([](const std::pair<ndarray, ndarray>& c,
                  const ndarray& e) { return std::pair(std::pair(c.second, c.first), c.first + e); },
               std::pair(numbers({7}), numbers({7}, float64, 3)), x);
    check_scan(
        [](const std::tuple<ndarray, ndarray, ndarray>& c, const ndarray& e) {
          const auto& [p, q, r] = c;
          return std::pair(std::tuple(q, r, p + q + e), r);
        },
        std::tuple(numbers({7}), ones(7), zeros(7)), x);
  }
  SUBCASE("what is passed on as it is") {
    const ndarray w = numbers({3});
    check_scan([&](const ndarray& c, const ndarray& e) { return std::pair(c, std::tuple(e, c, w)); }, numbers({4}), x);
    check_scan([&](const ndarray&, const ndarray& e) { return std::pair(e, e); }, numbers({7}), x);
  }
  SUBCASE("writes to the carry and to arrays of the step") {
    check_scan(
        [](ndarray c, const ndarray& e) {
          ndarray n = zeros(7);
          n(slice(1, 5)) = e(slice(0, 4)) + c(slice(2, 6));
          c(2) = sum(e);
          c += n;
          return std::pair(c, n);
        },
        ones(7), x);
  }
  SUBCASE("indices that are computed") {
    const ndarray table = numbers({7});
    check_scan(
        [&](const ndarray& c, const ndarray& e) {
          const ndarray i = argsort(e);
          return std::pair(c + take(table, argmax(e + c)), take(e, i));
        },
        zeros({}), x, {}, captures_calls());
    check_scan(
        [&](const ndarray& c, const ndarray& e) { return std::pair(c + take(table, argmax(e + c)), roll(e, 2)); },
        zeros({}), x);
  }
  SUBCASE("arrays that each step makes of the same numbers") {
    check_scan(
        [](const ndarray& c, const ndarray& e) {
          return std::pair(c * array({0.5, 0.25}) + e(0), arange(3) + c(0));
        },
        zeros(2), x);
  }
  SUBCASE("a derivative in the step") {
    const auto loss = [](const ndarray& w) { return sum(square(sin(w) - 0.3)); };
    check_scan([&](const ndarray& c, const ndarray& e) { return std::pair(c - 0.1 * grad(loss)(c), sum(e)); },
               numbers({5}), x);
  }
  SUBCASE("gradients of products with data that no step changes") {
    const ndarray data = numbers({400, 16}), right = numbers({400, 4});
    const auto loss = [&](const ndarray& w) { return mean(square(tanh(matmul(data, w)) - right)); };
    check_scan([&](const ndarray& c, const ndarray& e) { return std::pair(c - 0.1 * grad(loss)(c), sum(e)); },
               numbers({16, 4}), x, {}, captures_calls());
  }
}

TEST_CASE("traced loops: dtypes") {
  for (const dtype t :
       {float16, bfloat16, float32, float64, complex64, complex128, int8, int32, int64, uint8, uint64}) {
    CAPTURE(t);
    const ndarray x = (numbers({40, 5}) * 3).astype(t);
    check_scan([](const ndarray& c, const ndarray& e) { return std::pair(c + e * e, sum(c)); }, zeros(5, {.dtype = t}),
               x);
  }
  const ndarray b = numbers({40, 5}) > 0;
  check_scan([](const ndarray& c, const ndarray& e) { return std::pair(c ^ e, any(c)); }, zeros(5, {.dtype = bool_}),
             b);
}

TEST_CASE("traced loops: numbers and conditions") {
  int calls = 0;
  const auto step = [&](const ndarray& i, const ndarray& v) {
    ++calls;
    return v * 0.75 + sin(i.astype(float64));
  };
  const ndarray a = fori_loop(-3, 200, step, ones(4));
  CHECK(calls == few);
  CHECK(same_bits(a, fori_loop(-3, 200, step, ones(4), {.call_each = true})));

  const ndarray n = array({2.0, 30.0, 500.0});
  const auto halved = [&](const loop_kw& kw) {
    return while_loop([&](const std::pair<ndarray, ndarray>& c) { return any(c.second - c.first > 1e-12); },
                      [&](const std::pair<ndarray, ndarray>& c) {
                        const ndarray m = (c.first + c.second) * 0.5, low = m * m < n;
                        return std::pair(where(low, m, c.first), where(low, c.second, m));
                      },
                      std::pair(zeros(3), n), {.call_each = kw.call_each});
  };
  const auto l = halved({}), r = halved({.call_each = true});
  CHECK(same_bits(l.first, r.first));
  CHECK(same_bits(l.second, r.second));
  for (const int last : {0, 1, 5, 6, 7, 8, 9, 10, 30}) {
    CAPTURE(last);
    const ndarray k = while_loop([&](const ndarray& c) { return c < last; }, [](const ndarray& c) { return c + 1; },
                                 zeros({}, {.dtype = int64}));
    CHECK(k.item<std::int64_t>() == last);
  }
}

TEST_CASE("traced loops: a step that does not do the same each time is called") {
  const ndarray x = numbers({50, 3});
  SUBCASE("a number of the host") {
    double t = 0;
    const auto f = [&](const ndarray& c, const ndarray& e) {
      t += 0.1;
      return std::pair(c + std::sin(t) * e, c);
    };
    const auto a = scan(f, zeros(3), x);
    t = 0;
    CHECK(same_bits(a.first, scan(f, zeros(3), x, {.call_each = true}).first));
    CHECK(t == doctest::Approx(5));
  }
  SUBCASE("every second step") {
    int k = 0;
    const ndarray v = fori_loop(
        0, 41, [&](const ndarray&, const ndarray& c) { return k++ % 2 == 0 ? c + 1 : c * 2; }, zeros({}));
    double right = 0;
    for (int j = 0; j < 41; ++j) right = j % 2 == 0 ? right + 1 : right * 2;
    CHECK(double(v) == right);
  }
  SUBCASE("the first step") {
    bool first = true;
    const ndarray v = fori_loop(
        0, 30, [&](const ndarray&, const ndarray& c) { return std::exchange(first, false) ? c + 100 : c + 1; },
        zeros({}));
    CHECK(double(v) == 129);
  }
  SUBCASE("elements that are read") {
    const auto f = [](const ndarray&, const ndarray& c) { return double(sum(c)) > 10 ? c - 5 : c + 1; };
    CHECK(same_bits(fori_loop(0, 40, f, zeros(3)), fori_loop(0, 40, f, zeros(3), {.call_each = true})));
  }
  SUBCASE("draws") {
    random::generator g(3), h(3);
    const ndarray a = fori_loop(
        0, 20, [&](const ndarray&, const ndarray& c) { return c + g.normal(0, 1, {3}); }, zeros(3));
    const ndarray b = fori_loop(0, 20, [&](const ndarray&, const ndarray& c) { return c + h.normal(0, 1, {3}); },
                                zeros(3), {.call_each = true});
    CHECK(same_bits(a, b));
    CHECK(same_bits(g.normal(0, 1, {5}), h.normal(0, 1, {5})));
  }
  SUBCASE("a name that keeps the last value") {
    ndarray last, before;
    const ndarray v = fori_loop(
        0, 30,
        [&](const ndarray&, const ndarray& c) {
          before = c;
          last = c * 0.5 + 1;
          return last;
        },
        zeros(3));
    CHECK(same_bits(last, v));
    CHECK(same_bits(before * 0.5 + 1, v));
  }
  SUBCASE("a list") {
    std::vector<ndarray> all;
    const auto f = [&](const ndarray& c, const ndarray& e) {
      all.push_back(c + e);
      return std::pair(all.back(), _);
    };
    const auto last = scan(f, zeros(3), x).first;
    REQUIRE(all.size() == 50);
    ndarray right = zeros(3);
    for (int k = 0; k < 50; ++k) {
      right = right + x(k);
      REQUIRE(same_bits(all[static_cast<std::size_t>(k)], right));
    }
    CHECK(same_bits(last, right));
  }
  SUBCASE("arrays from before that are written") {
    ndarray count = zeros({}, {.dtype = int64}), total = zeros(3), row = zeros({50, 3}), out = zeros({3, 3});
    const ndarray w = numbers({3, 3});
    int k = 0;
    const auto f = [&](const ndarray& c, const ndarray& e) {
      count += 1;
      total += e;
      row(k++) = c;
      matmul(w, w, {.out = out});
      return std::pair(c + e, c);
    };
    const auto r = scan(f, zeros(3), x);
    CHECK(count.item<std::int64_t>() == 50);
    CHECK(same_bits(total, r.first));
    CHECK(same_bits(row, r.second));
  }
  SUBCASE("only a counter") {
    ndarray count = zeros({}, {.dtype = int64});
    fori_loop(
        0, 33,
        [&](const ndarray&, const ndarray& c) {
          count += 1;
          return c + 1;
        },
        zeros(3));
    CHECK(count.item<std::int64_t>() == 33);
    ndarray done = zeros(3);
    (void)done.data<double>();  // its address is known
    fori_loop(
        0, 33,
        [&](const ndarray&, const ndarray& c) {
          done += 1;
          return c + 1;
        },
        zeros(3));
    CHECK(same_bits(done, full({3}, 33.0)));
  }
}

TEST_CASE("traced loops: what is left as it was") {
  ndarray w = numbers({3, 3});
  const ndarray x = numbers({40, 3}), start = ones(3);
  const auto f = [&](const ndarray& c, const ndarray& e) {
    const ndarray n = tanh(matmul(w, c)) + e;
    return std::pair(n, n);
  };
  const auto [c, y] = scan(f, start, x);
  const ndarray kept_c = c.copy(), kept_y = y.copy(), kept_w = w.copy();
  w += 1;
  CHECK(same_bits(start, ones(3)));
  CHECK(same_bits(c, kept_c));
  CHECK(same_bits(y, kept_y));
  CHECK(same_bits(w, kept_w + 1));
  ndarray more = c;
  more += 1;
  CHECK(same_bits(y, kept_y));
  CHECK(same_bits(y(39) + 1, more));
}

TEST_CASE("traced loops: loops in loops, derivatives, vmap, and large steps") {
  const ndarray x = numbers({30, 4});
  const auto inner = [](const ndarray& v) {
    return fori_loop(
        0, 20, [](const ndarray& i, const ndarray& c) { return c * 0.5 + i; }, v);
  };
  check_scan([&](const ndarray& c, const ndarray& e) { return std::pair(inner(c) + e, c); }, zeros(4), x);
  const auto root = [](const ndarray& a) {  // reads its condition: the outer steps are called
    return while_loop([&](const ndarray& r) { return any(absolute(r * r - a) > 1e-10); },
                      [&](const ndarray& r) { return (r + a / r) * 0.5; }, ones(4));
  };
  check_scan([&](const ndarray& c, const ndarray& e) { return std::pair(root(absolute(e) + 1) + c, c); }, zeros(4), x,
             {}, false);

  const auto last = [&](const loop_kw& kw) {
    return [&, kw](const ndarray& a) {
      return sum(scan([&](const ndarray& c, const ndarray& e) { return std::pair(sin(c * a) + e, c); }, zeros(4), x,
                      {.call_each = kw.call_each})
                     .second);
    };
  };
  CHECK(same_bits(grad(last({}))(ones(4)), grad(last({.call_each = true}))(ones(4))));
  CHECK(same_bits(vmap(last({}))(numbers({3, 4})), vmap(last({.call_each = true}))(numbers({3, 4}))));

  int calls = 0;
  const auto halve = [&](const ndarray&, const ndarray& c) {
    ++calls;
    return c * 0.5 + 1;
  };
  const ndarray large = fori_loop(0, 20, halve, zeros(100000));
  CHECK(calls == 3);  // a kernel, in which each element goes through all steps
  CHECK(same_bits(large, fori_loop(0, 20, halve, zeros(100000), {.call_each = true})));
  CHECK(double(large(99999)) == doctest::Approx(2).epsilon(1e-5));
  calls = 0;
  const ndarray rolled = fori_loop(
      0, 20, [&](const ndarray&, const ndarray& c) { return ++calls, roll(c, 1) * 0.5 + 1; }, zeros(700000));
  CHECK(calls == 20);  // elements need each other, and a large step is not captured
  CHECK(double(rolled(699999)) == doctest::Approx(2).epsilon(1e-5));
}

TEST_CASE("traced loops: errors") {
  const ndarray x = numbers({50, 3});
  // An index that is out of range in a late step.
  const ndarray i = arange(50);
  const auto read = [&] {
    return scan([&](const ndarray& c, const ndarray& k) { return std::pair(c + take(x(0), floor_divide(k, 10)), c); },
                zeros({}), i)
        .second;
  };
  refuses<index_error>([&] { (void)read().to_vector<double>(); }, "index 3 is out of range for axis 0 with extent 3");
  // One that was out of range before the loop.
  for (const bool each : {false, true}) {
    CAPTURE(each);
    const ndarray bad = take(x(0), array({0, 9, 1}));
    const auto y = [&] {
      return scan([&](const ndarray& c, const ndarray& e) { return std::pair(c + e * bad, c); }, zeros(3), x,
                  {.call_each = each})
          .second;
    };
    refuses<index_error>([&] { (void)y().to_vector<double>(); }, "index 9 is out of range");
  }
  // What the step throws.
  int calls = 0;
  CHECK_THROWS_AS(fori_loop(
                      0, 40,
                      [&](const ndarray&, const ndarray& c) {
                        if (++calls == 3) throw std::runtime_error("third");
                        return c + 1;
                      },
                      zeros(3)),
                  std::runtime_error);
  CHECK(calls == 3);
  // Afterwards everything is as ever.
  CHECK(same_bits(fori_loop(
                      0, 40, [](const ndarray&, const ndarray& c) { return c + 1; }, zeros(3)),
                  full({3}, 40.0)));
  int n = 0;
  refuses<shape_error>(
      [&] {
        fori_loop(
            0, 40, [&](const ndarray&, const ndarray& c) { return ++n >= 3 ? sum(c) : c + 1; }, zeros(3));
      },
      "[fori_loop] array 0 of the carry has shape (3,) before the step and () after it");
}
