// Loops in functions that are recorded once: kernels, captured steps, conditions, derivatives.
#include <tuple>
#include <utility>
#include <vector>

#include "ops/vmap/beside_loop.hpp"
#include "runtime/backend.hpp"
#include "sinter/compile.hpp"
#include "sinter/grad.hpp"
#include "sinter/linalg.hpp"
#include "support/linalg_checks.hpp"

using namespace vmap_test;
using namespace sinter::test;
using namespace sinter::idx;

namespace {

bool on_host() { return zeros(1).device() == device(cpu); }

/// f(call_each, x) with steps that are called, and compiled with steps that need not be; of several arguments, twice.
template <class F>
void check_loop(const F& f, const shape_t& shape, double tolerance = 0, int calls_at_most = 0, int* calls = nullptr) {
  const auto compiled = compile([&](const ndarray& x) { return f(false, x); });
  std::vector<ndarray> all, right;
  for (const int salt : {0, 3, 7}) {
    all.push_back(numbers(shape, float64, salt) * 0.2);
    right.push_back(f(true, all.back()).copy());
  }
  if (calls) *calls = 0;
  for (int round = 0; round < 2; ++round)
    for (std::size_t k = 0; k < all.size(); ++k) {
      const ndarray got = compiled(all[k]);
      REQUIRE(got.shape() == right[k].shape());
      if (tolerance == 0) CHECK(same_bits(got, right[k]));
      else CHECK(allclose(got, right[k], tolerance, tolerance));
    }
  if (calls && on_host()) CHECK(*calls <= calls_at_most);
}

}  // namespace

TEST_CASE("compile: loops of elements are kernels of the program") {
  int calls = 0;
  const auto smoothed = [&](bool each, const ndarray& x) {
    const auto step = [&](const ndarray& h, const ndarray& e) {
      ++calls;
      const ndarray next = 0.9 * h + 0.1 * sin(e) * x(0);
      return std::pair(next, ndarray(next * next));
    };
    const auto [last, all] = scan(step, ndarray(x(1)), ndarray(x + 1), {.call_each = each});
    return concatenate({last.reshape({1}), all});
  };
  check_loop(smoothed, {40}, 0, 3, &calls);
  check_loop(
      [](bool each, const ndarray& x) {
        return fori_loop(3, 43, [&](const ndarray& k, const ndarray& h) { return h * 0.5 + k.astype(float64) * x; },
                         ndarray(x * 2), {.call_each = each});
      },
      {3, 2});
  const ndarray c = array({0.5, 2.0}),
                d = numbers({2, 2});  // numbers that are known, and some that the arguments decide
  check_loop(
      [&](bool each, const ndarray& x) {
        const ndarray e = d * x(0) + c;
        return fori_loop(0, 30,
                         [&](const ndarray&, const ndarray& h) { return ndarray(sin(h) * c(1) + e(1, 0) * d(0, 1)); },
                         ndarray(x + e(0, 0)), {.call_each = each});
      },
      {4});
  if (!on_host()) return;
  const auto f = compile([&](const ndarray& x) { return smoothed(false, x); });
  const ndarray x = numbers({40});
  f(x);
  const std::uint64_t before = runtime::get_backend({}).statistics().launches;
  f(x);
  CHECK(runtime::get_backend({}).statistics().launches - before < 8);
}

TEST_CASE("compile: steps of several kernels and products run from lists within the program") {
  if (!on_host()) return;
  const ndarray w = numbers({4, 4}) * 0.1, u = numbers({3, 4});
  int calls = 0;
  check_loop(
      [&](bool each, const ndarray& x) {
        const auto step = [&](const ndarray& h, const ndarray& e) {
          ++calls;
          return std::pair(ndarray(tanh(matmul(h, w) + matmul(e, u))), ndarray(sum(h)));
        };
        const auto [last, all] =
            scan(step, ndarray(x(0, slice(0, 1)) + zeros({4})), x, {.reverse = true, .call_each = each});
        return concatenate({last, all});
      },
      {20, 3}, 0, 3, &calls);
  // A matrix that the arguments decide, and two arrays that change places.
  check_loop(
      [&](bool each, const ndarray& x) {
        const ndarray m = matmul(x, x.T()) * 0.1;
        const auto [a, b] = fori_loop(0, 60,
                                      [&](const ndarray&, const std::tuple<ndarray, ndarray>& s) {
                                        const auto& [p, q] = s;
                                        return std::tuple(q, ndarray(matmul(m, p) + sum(q) * 0.01));
                                      },
                                      std::tuple(ndarray(x(_, 0)), ndarray(x(_, 1))), {.call_each = each});
        return concatenate({a, b});
      },
      {6, 6});
  check_loop(
      [&](bool each, const ndarray& x) {
        const ndarray m = x * 0.5;  // read in all steps, and another in the next call
        const auto step = [&](const ndarray&, const ndarray& h) {
          const ndarray y = matmul(m, h);
          return ndarray(y / sqrt(sum(y * y)));
        };
        return fori_loop(0, 80, step, ndarray(x(0) + 0.1), {.call_each = each});
      },
      {16, 16});
  // What follows a loop reads what it has left; what came before has gone.
  check_loop(
      [&](bool each, const ndarray& x) {
        ndarray a = matmul(x, x.T());
        for (int k = 0; k < 3; ++k) {
          const ndarray b = matmul(a, a) * 0.01;
          a = fori_loop(0, 20, [&](const ndarray&, const ndarray& h) { return matmul(h, b) * 0.1 + a; }, ndarray(b + k),
                        {.call_each = each});
          a = a * 0.5 + matmul(b, a) * 0.01;
        }
        return a;
      },
      {5, 5});
}

TEST_CASE("compile: while_loop looks at its condition within the program") {
  if (!on_host()) return;
  int calls = 0;
  const auto roots = [&](const ndarray& a) {
    return while_loop([&](const ndarray& x) { return max(absolute(x * x - a)) > 1e-13; },
                      [&](const ndarray& x) {
                        ++calls;
                        return ndarray(0.5 * (x + a / x));
                      },
                      ndarray(a * 0 + 1));
  };
  const auto f = compile(roots);
  const ndarray a = array({2.0, 9.0, 0.25}), b = array({1e6, 3.0, 4.0}), c = ones({3});
  const ndarray right_a = roots(a).copy(), right_b = roots(b).copy();
  calls = 0;
  for (int round = 0; round < 2; ++round) {
    CHECK(same_bits(f(a), right_a));
    CHECK(same_bits(f(b), right_b));
    CHECK(same_bits(f(c), c));  // no step at all
  }
  CHECK(calls == 1);
  const auto followed = compile(grad([&](const ndarray& x) { return sum(roots(x)); }));
  CHECK_THROWS_AS(followed(a), device_error);
}

TEST_CASE("compile: a while_loop in a vmap ends for each example by its own condition within the program") {
  if (!on_host()) return;
  int calls = 0;
  const auto root = [&](const ndarray& a) {
    return while_loop([&](const ndarray& x) { return absolute(x * x - a) > 1e-12; },
                      [&](const ndarray& x) {
                        ++calls;
                        return x * 0.75 + 0.25 * (a / x);
                      },
                      ones({}));
  };
  const auto all = [&](const ndarray& a) { return vmap(root)(a); };
  const auto pairs = [&](const ndarray& a) {
    return vmap([&](const ndarray& row) { return vmap(root)(row * 2); })(a.reshape({2, 3}));
  };
  const auto f = compile(all);
  const auto g = compile(pairs);
  const ndarray a = arange(6.0) * 0.3 + 2.0, b = arange(6.0) * 5.0 + 40.0, c = ones({6});
  for (const ndarray& x : {a, b, c, a}) {
    const ndarray right = all(x).copy(), of_pairs = pairs(x).copy();
    CHECK(same_bits(f(x), right));
    CHECK(same_bits(g(x), of_pairs));
    calls = 0;
    f(x);
    CHECK(calls == 0);
  }
  CHECK(f.size() == 1);
  const ndarray by_hand = root(ndarray(b(3)));
  CHECK(same_bits(f(b)(3), by_hand));
  // Bounds that all examples share until the step has seen what is theirs, and a loop that no example has part in.
  using carry = std::pair<ndarray, ndarray>;
  const auto bisected = [](const ndarray& y) {
    return while_loop([](const carry& c) { return c.second - c.first > 1e-9; },
                      [&](const carry& c) {
                        const ndarray middle = 0.5 * (c.first + c.second), low = middle * middle < y;
                        return carry(where(low, middle, c.first), where(low, c.second, middle));
                      },
                      carry(zeros({}), full({}, 16.0)))
        .first;
  };
  const auto with_other = [&](const ndarray& y) {
    return vmap([&](const ndarray& one) { return one + root(full({}, 3.0)); })(y);
  };
  const auto all_bisected = [&](const ndarray& y) { return vmap(bisected)(y); };
  const auto h = compile(all_bisected);
  const auto k = compile(with_other);
  for (const ndarray& x : {a, b, c}) {
    CHECK(same_bits(h(x), all_bisected(x)));
    CHECK(same_bits(k(x), with_other(x)));
  }
}

TEST_CASE("compile: loops in loops") {
  if (!on_host()) return;
  check_loop(
      [](bool each, const ndarray& x) {
        const auto inner = [&](const ndarray& m) {
          return fori_loop(0, 17, [&](const ndarray&, const ndarray& v) { return matmul(m, v) * 0.2 + x(_, 0); },
                           ndarray(x(_, 1)), {.call_each = each});
        };
        return fori_loop(0, 18,
                         [&](const ndarray& k, const ndarray& m) {
                           return m * 0.9 + inner(m)(_, newaxis) * 0.01 * k.astype(float64);
                         },
                         x, {.call_each = each});
      },
      {4, 4});
  const auto nested = [](const ndarray& x) {
    return fori_loop(
        0, 16,
        [](const ndarray&, const ndarray& y) {
          return while_loop([](const ndarray& z) { return max(z) > 1; },
                            [](const ndarray& z) { return ndarray(z * 0.7); }, ndarray(y * 1.9 + sum(y) * 0.01));
        },
        x);
  };
  const auto f = compile(nested);
  for (const int salt : {0, 4}) {
    const ndarray x = absolute(numbers({5}, float64, salt)) + 0.1;
    CHECK(same_bits(f(x), nested(x)));
  }
}

TEST_CASE("compile: derivatives of loops") {
  const ndarray w = numbers({3, 3}) * 0.2;
  const auto recurrent = [](bool each, const ndarray& w, const ndarray& x) {
    const auto step = [&](const ndarray& h, const ndarray& e) {
      return std::pair(ndarray(tanh(matmul(h, w) + e)), ndarray(sum(h * h)));
    };
    const auto [last, all] = scan(step, zeros({3}), x, {.call_each = each});
    return ndarray(sum(last) + sum(all));
  };
  check_loop(
      [&](bool each, const ndarray& x) {
        const auto [by_w, by_x] =
            grad([&](const ndarray& w, const ndarray& x) { return recurrent(each, w, x); }, argnums<0, 1>)(w, x);
        return concatenate({by_w, by_x});
      },
      {20, 3}, 1e-12);
  const auto decay = [](bool each, const ndarray& p) {
    const auto step = [&](const ndarray& h, const ndarray& e) {
      const ndarray next = h - 0.1 * p(0) * h + p(1) * e;
      return std::pair(next, ndarray(square(next)));
    };
    return ndarray(sum(scan(step, ndarray(p(2)), linspace(0, 1, 50), {.call_each = each}).second));
  };
  check_loop([&](bool each, const ndarray& p) { return grad([&](const ndarray& q) { return decay(each, q); })(p); },
             {3}, 1e-12);
  check_loop([&](bool each, const ndarray& p) { return hessian([&](const ndarray& q) { return decay(each, q); })(p); },
             {3}, 1e-11);
  check_loop(
      [&](bool each, const ndarray& p) { return vmap(grad([&](const ndarray& q) { return decay(each, q); }))(p); },
      {4, 3}, 1e-12);
  // An optimiser within the function that is differentiated.
  const ndarray a = numbers({12, 4}), b = numbers({12}, float64, 2);
  const auto inner = [&](const ndarray& v) { return ndarray(mean(square(matmul(a, v) - b))); };
  check_loop(
      [&](bool each, const ndarray& rate) {
        return grad([&](const ndarray& r) {
          return inner(fori_loop(0, 30, [&](const ndarray&, const ndarray& v) { return v - r * grad(inner)(v); },
                                 zeros({4}), {.call_each = each}));
        })(ndarray(absolute(rate)));
      },
      {}, 1e-12);
}

TEST_CASE("compile: faults in steps are thrown, and the next call is right") {
  if (!on_host()) return;
  const auto f = compile([](const ndarray& x, const ndarray& at) {
    return fori_loop(
        0, 20, [&](const ndarray&, const ndarray& h) { return matmul(h[at], x) * 0.1 + sum(h); }, x);
  });
  const ndarray x = numbers({3, 3}), good = array({2, 0, 1});
  const ndarray right = f(x, good);
  CHECK_THROWS_AS(eval(f(x, array({0, 1, 3}))), index_error);
  CHECK(same_bits(f(x, good), right));
}

TEST_CASE("compile: steps that turn, factorise and make arrays of their own are run from lists within the program") {
  if (!on_host() || no_solvers()) return;
  const ndarray h = numbers({2, 4}), f = eye(4) + numbers({4, 4}) * 0.1, q = matmul(f, f.T());
  int calls = 0;
  const auto filter = [&](bool each, const ndarray& x) {
    const ndarray noise = diag(exp(x(0)));
    const auto step = [&](const ndarray& p, const ndarray& e) {
      ++calls;
      const ndarray root = linalg::cholesky(q), scale = array({0.5, 0.25});
      const ndarray s = matmul(matmul(h, p), h.T()) + noise, k = linalg::solve(s, matmul(h, p)).T();
      const ndarray next = matmul(matmul(f, p - matmul(matmul(k, h), p)), f.T()) + 0.1 * root;
      return std::pair(next, ndarray(sum(scale * e) + linalg::slogdet(s).logabsdet));
    };
    const auto [last, all] = scan(step, ndarray(eye(4)), x, {.call_each = each});
    return concatenate({all, ravel(last)});
  };
  check_loop(filter, {20, 2}, 0, 3, &calls);
  // What is turned depends on the argument, and its derivative follows the loop.
  check_loop(
      [&](bool each, const ndarray& x) {
        const ndarray m = x * 0.5 + 2 * eye(4);
        const auto last = [&](const ndarray& c) {
          const auto step = [&](const ndarray&, const ndarray& p) {
            ++calls;
            return matmul(matmul(m, p), m.T()) * 0.2 + linalg::inv(m) + c;
          };
          return sum(square(fori_loop(0, 20, step, ndarray(x), {.call_each = each})));
        };
        return grad(last)(array(0.1));
      },
      {4, 4}, 1e-12, 3, &calls);
  // Another array in each step, and another number: these are called.
  check_loop(
      [&](bool each, const ndarray& x) {
        double t = 0;
        return fori_loop(0, 20,
                         [&](const ndarray&, const ndarray& p) {
                           t += 0.125;
                           return matmul(x, p) * 0.2 + array({t, 1.0, 2.0, 3.0}) + matmul(h.T(), array({t, 1.0}));
                         },
                         ndarray(x(0)), {.call_each = each});
      },
      {4, 4});
}
