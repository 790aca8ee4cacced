// Functions that are recorded once, beside ordinary calls.
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "ops/vmap/beside_loop.hpp"
#include "runtime/backend.hpp"
#include "sinter/compile.hpp"
#include "sinter/grad.hpp"
#include "sinter/linalg.hpp"
#include "sinter/random.hpp"

using namespace vmap_test;
using namespace sinter::idx;

namespace {

bool on_host() { return zeros(1).device() == device(cpu); }

struct affine {
  ndarray w, b;
  double scale = 1;
};
template <class Visit>
void arrays_of(affine& l, Visit visit) {
  visit(l.w);
  visit(l.b);
  visit(l.scale);
}

/// Simulated devices capture no products of the library's.
ndarray product(const ndarray& a, const ndarray& b) { return sum(a(_, _, newaxis) * b, 1); }

/// f as it is and compiled, of several arguments, twice.
template <class F>
void check_compiled(const F& f, const std::vector<ndarray>& all, double tolerance = 0) {
  const auto compiled = compile(f);
  for (int round = 0; round < 2; ++round)
    for (const ndarray& x : all) {
      const ndarray right = f(x).copy(), got = compiled(x);
      REQUIRE(got.shape() == right.shape());
      REQUIRE(got.dtype() == right.dtype());
      if (tolerance == 0) CHECK(same_bits(got, right));
      else CHECK(allclose(got, right, tolerance, tolerance));
    }
  CHECK(compiled.size() == 1);
}

std::vector<ndarray> several(const shape_t& shape) {
  return {numbers(shape) * 0.3, numbers(shape, float64, 3) * 0.2, numbers(shape, float64, 7) * 0.4};
}

}  // namespace

TEST_CASE("compile: a function is called once for each kind of arguments") {
  int calls = 0;
  const auto f = compile([&](const ndarray& x, int power) {
    ++calls;
    return pow(x, power) + 1;
  });
  const ndarray x = numbers({5}), y = numbers({5}, float64, 2);
  CHECK(same_bits(f(x, 2), ndarray(pow(x, 2) + 1)));
  CHECK(same_bits(f(y, 2), ndarray(pow(y, 2) + 1)));
  CHECK(calls == 1);
  CHECK(same_bits(f(y, 3), ndarray(pow(y, 3) + 1)));  // an integer belongs to the kind
  CHECK(calls == 2);
  CHECK(f(numbers({6}), 2).shape() == shape_t{6});
  CHECK(f(x.astype(float32), 2).dtype() == float32);
  CHECK(f(x.reshape({1, 5}), 2).shape() == shape_t{1, 5});
  CHECK(calls == 5);
  CHECK(f.size() == 5);
  const auto copy = f;
  copy(x, 2);
  CHECK(calls == 5);
  for (int n = 10; n < 90; ++n) f(zeros({n}), 1);
  CHECK(f.size() == 64);
}

TEST_CASE("compile: arguments and results are structures, numbers of floating-point type arrays") {
  int calls = 0;
  const auto f = compile([&](const affine& l, const std::tuple<ndarray, std::vector<ndarray>>& xs, double,
                             const std::optional<ndarray>& more) {
    ++calls;
    const auto& [x, list] = xs;
    std::map<std::string, ndarray> out{{"y", l.scale * (product(x, l.w) + l.b)}};
    for (const ndarray& a : list) out["y"] = out["y"] + a;
    if (more) out["z"] = *more * 2;
    return std::pair(out, affine{l.b, l.w, 3.0});
  });
  const ndarray w = numbers({3, 2}), b = numbers({2}), x = numbers({4, 3}), a = numbers({2}, float64, 4);
  auto [out, swapped] = f(affine{w, b, 2.0}, std::tuple(x, std::vector<ndarray>{a, a}), 0, std::nullopt);
  CHECK(allclose(out.at("y"), 2.0 * (product(x, w) + b) + a + a));
  CHECK(out.size() == 1);
  CHECK(same_bits(swapped.w, b));
  CHECK(same_bits(swapped.b, w));
  CHECK(swapped.scale == 3);
  auto [three, other] = f(affine{w, b, 3.0}, std::tuple(x, std::vector<ndarray>{a}), 0, b);
  CHECK(allclose(three.at("y"), 3.0 * (product(x, w) + b) + a));
  CHECK(same_bits(three.at("z"), ndarray(b * 2)));
  CHECK(calls == 2);
  f(affine{w, b, 3.0}, std::tuple(x, std::vector<ndarray>{w(0)}), 0, a);
  CHECK(calls == 2);
  int steps = 0;
  const auto g = compile([&](const ndarray& p, const ndarray& rate) {
    ++steps;
    return p * rate;
  });
  for (const double rate : {0.5, 0.25, 2.0}) CHECK(same_bits(g(b, rate), ndarray(b * rate)));
  CHECK(steps == 1);
}

TEST_CASE("compile: elements of arguments may be views, pending, of no axes or none at all") {
  const auto twice = [](const ndarray& x) { return x * 2 + 1; };
  const ndarray x = numbers({6, 4});
  const auto f = compile(twice);
  CHECK(same_bits(f(x(slice(_, _, 2)).T()), ndarray(x(slice(_, _, 2)).T() * 2 + 1)));
  CHECK(same_bits(f(flip(x, 0)), ndarray(flip(x, 0) * 2 + 1)));
  CHECK(same_bits(f(ndarray(x + 1)), ndarray((x + 1) * 2 + 1)));
  CHECK(f(array(3.0)).item<double>() == 7);
  CHECK(f(zeros({0, 3})).shape() == shape_t{0, 3});
  CHECK(same_bits(f(x.astype(bool_)), ndarray(x.astype(bool_) * 2 + 1)));
  CHECK(compile([] { return arange(3) + 1; })().to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("compile: results are arrays of their own") {
  const auto f = compile([](const ndarray& x) {
    const ndarray y = x + 1;
    return std::tuple(x, y, y, ndarray(y(slice(1, 3))), ndarray(y.T()));
  });
  const ndarray a = numbers({4}), b = numbers({4}, float64, 5);
  auto first = f(a);
  const auto second = f(b);
  CHECK(same_bits(std::get<0>(first), a));
  CHECK(same_bits(std::get<1>(first), ndarray(a + 1)));
  CHECK(same_bits(std::get<3>(first), ndarray((a + 1)(slice(1, 3)))));
  std::get<1>(first) += 10;
  CHECK(same_bits(std::get<2>(first), ndarray(a + 1)));
  std::get<0>(first) += 1;
  CHECK(same_bits(a, numbers({4})));
  CHECK(same_bits(std::get<2>(second), ndarray(b + 1)));
  CHECK(same_bits(std::get<4>(f(a)), ndarray(a + 1)));
}

TEST_CASE("compile: arrays besides the arguments are constants until they change") {
  ndarray w = numbers({3});
  eval(w);
  int calls = 0;
  const auto f = compile([&](const ndarray& x) {
    ++calls;
    return x * w;
  });
  const ndarray x = numbers({3}, float64, 6);
  CHECK(same_bits(f(x), ndarray(x * w)));
  CHECK(same_bits(f(x), ndarray(x * w)));
  CHECK(calls == 1);
  w += 1;
  CHECK(same_bits(f(x), ndarray(x * w)));
  w(0) = 5;
  CHECK(same_bits(f(x), ndarray(x * w)));
  if (!on_host()) return;  // a captured graph reads what is in the array's memory
  CHECK(calls == 3);
  w = w * 2;
  CHECK(same_bits(f(x), ndarray(x * w)));
  CHECK(same_bits(f(x), ndarray(x * w)));
  CHECK(calls == 4);
}

TEST_CASE("compile: values from before that no array has keep elements of their own, also where there is no program") {
  const ndarray a = numbers({5}) * 0.3, g = numbers({5}, float64, 2), h = numbers({5}, float64, 4);
  const auto f = [](const ndarray& x) { return ndarray(x * exp(x(0)) / sum(exp(x))); };
  const ndarray right = f(a).copy();
  const auto [of_g, of_h] = [&] {
    const auto back = vjp(f, a).second;
    return std::pair(back(g).copy(), back(h).copy());
  }();
  struct own_error {};
  const auto [y, back] = vjp(f, a);  // what it keeps of f is pending
  const auto fails = compile([&, pull = back](const ndarray& c) -> ndarray {
    eval(pull(c));
    throw own_error();
  });
  CHECK_THROWS_AS(fails(g), own_error);
  CHECK(same_bits(y, right));
  CHECK(same_bits(back(g), of_g));
  const auto second = vjp(f, a);
  {
    const auto pulls = compile([pull = second.second](const ndarray& c) { return pull(c); });
    CHECK(same_bits(pulls(g), of_g));
    CHECK(same_bits(pulls(h), of_h));
    CHECK(pulls.size() == 1);
  }
  CHECK(same_bits(second.first, right));
  CHECK(same_bits(second.second(h), of_h));
}

TEST_CASE("compile: derivatives, maps and steps of an optimiser") {
  const ndarray x = numbers({20, 3}), y = numbers({20}, float64, 2);
  const auto loss = [](const affine& l, const ndarray& x, const ndarray& y) {
    return mean(square(tanh(sum(x * l.w, 1)) + l.b - y));
  };
  const auto step = [&](const affine& l, const ndarray& x, const ndarray& y) {
    auto [value, slope] = value_and_grad(loss)(l, x, y);
    return std::pair(value, affine{l.w - 0.1 * slope.w, l.b - 0.1 * slope.b, l.scale});
  };
  const auto fast = compile(step);
  affine one{numbers({3}), zeros({}), 1}, two = one;
  for (int k = 0; k < 20; ++k) {
    auto [v, next] = step(one, x, y);
    eval(v, next.w, next.b);
    auto [u, other] = fast(two, x, y);
    CHECK(same_bits(u, v));
    CHECK(same_bits(other.w, next.w));
    one = next, two = other;
  }
  const auto f = [](const ndarray& a) { return ndarray(sum(sin(a) * exp(a(0)) * a)); };
  check_compiled(grad(f), several({4}));
  check_compiled(hessian(f), several({4}), 1e-14);
  check_compiled(vmap(grad(f)), several({5, 4}), 1e-14);
}

TEST_CASE("compile: where a derivative, a map, a capture or another such function follows, it is a call") {
  int calls = 0;
  const auto f = compile([&](const ndarray& x) {
    ++calls;
    return sum(x * x * x);
  });
  const ndarray x = numbers({4});
  CHECK(allclose(grad([&](const ndarray& a) { return f(a); })(x), 3 * x * x));
  CHECK(allclose(hessian([&](const ndarray& a) { return f(a); })(x), diag(6 * x)));
  CHECK(allclose(vmap([&](const ndarray& a) { return f(a); })(x.reshape({2, 2})), sum((x * x * x).reshape({2, 2}), 1)));
  CHECK(f.size() == 0);
  const auto g = compile([&](const ndarray& a) { return f(a) * 2; });
  const int before = calls;
  CHECK(allclose(g(x), 2 * sum(x * x * x)));
  CHECK(allclose(g(x + 1), 2 * sum((x + 1) * (x + 1) * (x + 1))));
  CHECK(calls == before + 1);
}

TEST_CASE("compile: what a program cannot know throws, and nothing has happened") {
  const ndarray x = numbers({4});
  const auto reads = compile([](const ndarray& a) { return a(0).item<double>() > 100 ? a : ndarray(a * 2); });
  CHECK_THROWS_WITH_AS(reads(x), doctest::Contains("[compile] the function cannot become a program"), device_error);
  CHECK(reads.size() == 0);
  random::generator numbers_of(3);
  const auto draws = compile([&](const ndarray& a) { return a + numbers_of.normal({4}); });
  CHECK_THROWS_WITH_AS(draws(x), doctest::Contains("[compile] the function draws random numbers"), value_error);
  if (on_host()) {
    ndarray sum_of = zeros({4}), kept;
    const auto writes = compile([&](const ndarray& a) {
      sum_of += a;
      return a * 2;
    });
    CHECK_THROWS_WITH_AS(writes(x), doctest::Contains("[compile] the function writes arrays"), value_error);
    CHECK(same_bits(sum_of, zeros({4})));
    const auto leaves = compile([&](const ndarray& a) {
      kept = a * 3;
      return a * 2;
    });
    CHECK_THROWS_AS(leaves(x), value_error);
    CHECK_THROWS_AS(compile([](const ndarray& a) { return unique_values(a); })(x), device_error);
  }
  struct own_error {};
  const auto fails = compile([](const ndarray& a) -> ndarray {
    eval(ndarray(a + 1));
    throw own_error();
  });
  CHECK_THROWS_AS(fails(x), own_error);
  CHECK(same_bits(ndarray(x * 2), ndarray(numbers({4}) * 2)));
  CHECK_THROWS_AS(compile([](const ndarray& a) { return matmul(a, a.reshape({2, 2})); })(x), shape_error);
  CHECK_THROWS_AS(compile([](const ndarray& a) { return a; })(ndarray()), value_error);
}

TEST_CASE("compile: sorts, order statistics, prefix sums and bins are parts of a program") {
  if (!on_host()) return;
  using one = ndarray (*)(const ndarray&);
  const one all[] = {
      [](const ndarray& a) { return sort(a * 2); },
      [](const ndarray& a) { return ndarray(argsort(a, {.axis = 0}) + 1); },
      [](const ndarray& a) { return partition(a, 2); },
      [](const ndarray& a) { return median(a, 1); },
      [](const ndarray& a) { return quantile(a, 0.3, 0); },
      [](const ndarray& a) { return ndarray(topk(a, 3).values * 2); },
      [](const ndarray& a) { return ndarray(cumsum(a * a, 1) - a); },
      [](const ndarray& a) { return cumprod(a, 0); },
      [](const ndarray& a) { return ndarray(take_along_axis(a, argsort(-a, {.axis = 1}), 1)); },
      [](const ndarray& a) { return histogram(a, 7, {.range = std::pair(-1.0, 1.0)}).hist; },
      [](const ndarray& a) { return ndarray(searchsorted(sort(ravel(a)), a)); },
  };
  int k = 0;
  for (const one f : all) {
    CAPTURE(k++);
    check_compiled(f, several({9, 12}));
    check_compiled(f, several({3, 300}));
  }
  const auto weights = [](const ndarray& a) { return ndarray(sum(cumsum(sort(a, {.axis = 1}), 1) * a)); };
  check_compiled(grad(weights), several({5, 8}), 1e-13);
  check_compiled(vmap(grad([](const ndarray& a) { return ndarray(median(a * a)); })), several({5, 8}), 1e-13);
}

TEST_CASE("compile: data errors are those of a call") {
  const auto f = compile([](const ndarray& x, const ndarray& at) { return x[at] * 2; });
  const ndarray x = numbers({4});
  CHECK(same_bits(f(x, array({3, 0})), ndarray(x[array({3, 0})] * 2)));
  CHECK_THROWS_AS((eval(f(x, array({1, 4}))), synchronize()), index_error);  // a GPU says so when it is waited for
  CHECK(same_bits(f(x, array({1, -1})), ndarray(x[array({1, -1})] * 2)));
}

TEST_CASE("compile: what is wrong with an argument's elements is wrong with the results") {
  if (!on_host()) return;  // a GPU says so once, when it is waited for
  const auto f = compile([](const ndarray& x) { return x * 2; });
  const ndarray x = numbers({4});
  const ndarray wrong = x[array({1, 4})];
  const ndarray doubled = wrong * 2, compiled = f(wrong);
  for (const ndarray& y : {wrong, doubled, compiled}) CHECK_THROWS_AS(y.to_vector<double>(), index_error);
  CHECK(same_bits(f(x), ndarray(x * 2)));
}

TEST_CASE("compile: programs that are used stay, the others give way to new ones; fast_math has its own") {
  int calls = 0;
  const auto f = compile([&](const ndarray& x) {
    ++calls;
    return x + 1;
  });
  const ndarray used = numbers({3, 2});
  f(used);
  for (int n = 1; n <= 100; ++n) {
    f(zeros({n}));
    f(used);
  }
  CHECK(calls == 101);
  CHECK(f.size() == 64);
  f(zeros({100}));
  CHECK(calls == 101);
  f(zeros({1}));
  CHECK(calls == 102);
  const auto g = compile([](const ndarray& x) { return exp(x) * 3; });
  g(used);
  {
    const fast_math_guard on;
    CHECK(same_bits(g(used), ndarray(exp(used) * 3)));
    CHECK(g.size() == 2);
  }
  CHECK(same_bits(g(used), ndarray(exp(used) * 3)));
  CHECK(g.size() == 2);
}

TEST_CASE("compile: threads share programs") {
  int calls = 0;
  const auto f = compile([&](const ndarray& x) {
    ++calls;
    return sin(x) * 2 + sum(x);
  });
  const ndarray x = numbers({300});
  f(x);
  std::vector<int> wrong(4);
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&, t] {
      const ndarray mine = ndarray(x + t).copy(), right = ndarray(sin(mine) * 2 + sum(mine)).copy();
      for (int k = 0; k < 50; ++k) wrong[static_cast<std::size_t>(t)] += same_bits(f(mine), right) ? 0 : 1;
    });
  for (std::thread& t : all) t.join();
  for (const int w : wrong) CHECK(w == 0);
  CHECK(calls == 1);
}
