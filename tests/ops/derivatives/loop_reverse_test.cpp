// Derivatives of loops whose steps need not be called: loops themselves, beside those of steps that are called.
#include <tuple>
#include <vector>

#include "ops/derivatives/check.hpp"
#include "sinter/loops.hpp"
#include "sinter/vmap.hpp"

namespace {

using namespace sinter;
using namespace derivative_check;
using namespace sinter::idx;
using many = std::vector<ndarray>;

bool on_host() { return zeros(1).device() == device(cpu); }

/// What a loop of a test may do: `f` as a step of it that counts its calls, and whether each step is called.
struct way {
  bool call_each;
  int calls = 0;
};

/// Gradients of sum(cos(k) y) for the results of `loop(way, x)`, beside those where steps are called; and tangents.
template <class Loop>
void check_derivatives(const Loop& loop, const many& x, bool is_loop = true, double tolerance = 1e-12) {
  way known{false}, called{true};
  const auto total = [&](way& w) {
    return [&](const many& a) {
      ndarray all = zeros({});
      for (const ndarray& y : loop(w, a))
        all = all + sum(real(y) * cos(arange(double(y.size())).reshape(y.shape())).astype(real(y).dtype()));
      return all;
    };
  };
  const many right = grad(total(called))(x), mine = grad(total(known))(x);
  REQUIRE(mine.size() == right.size());
  for (std::size_t k = 0; k < mine.size(); ++k) {
    CAPTURE(k);
    CHECK(mine[k].dtype() == right[k].dtype());
    CHECK(mine[k].shape() == right[k].shape());
    CHECK(allclose(mine[k], right[k], tolerance, tolerance));
    CHECK(double(max(absolute(right[k]))) > 0);
  }
  CHECK(called.calls > 16);
  if (on_host() && is_loop) CHECK(known.calls == 3);
  else CHECK((known.calls >= called.calls || (!on_host() && known.calls == 3)));  // on a GPU where it is a kernel
  many directions;
  for (const ndarray& a : x)
    directions.push_back((sin(arange(double(a.size()))).reshape(a.shape()) + 0.3).astype(a.dtype()));
  const auto results = [&](way& w) { return [&](const many& a) { return loop(w, a); }; };
  const auto [y, t] = jvp(results(known), std::tuple{x}, std::tuple{directions});
  const auto [z, s] = jvp(results(called), std::tuple{x}, std::tuple{directions});
  for (std::size_t k = 0; k < y.size(); ++k) {
    CAPTURE(k);
    CHECK(array_equal(y[k], z[k]));
    CHECK(allclose(t[k], s[k], tolerance, tolerance));
  }
}

}  // namespace

TEST_CASE("derivatives of loops as loops: carry, scanned arrays and what the step reads, with products") {
  const many x{numbers({3}, -1, 1), numbers({40, 3}, -0.5, 0.5), numbers({3, 3}, -0.4, 0.4), numbers({6}, 0.5, 1)};
  for (const bool reverse : {false, true}) {
    CAPTURE(reverse);
    check_derivatives(
        [reverse](way& w, const many& a) {
          const auto [h, all] = scan(
              [&](const ndarray& h, const ndarray& e) {
                ++w.calls;
                const ndarray next = tanh(matmul(a[2], h) + e * a[3](slice(1, 4)));
                return std::pair(next, many{next * h, sum(next)});
              },
              a[0], a[1], {.reverse = reverse, .call_each = w.call_each});
          return many{h, all[0], all[1]};
        },
        x);
  }
}

TEST_CASE("derivatives of loops as loops: carry, scanned arrays and what the step reads") {
  const many x{numbers({3}, -1, 1), numbers({40, 3}, -0.5, 0.5), numbers({6}, 0.5, 1)};
  for (const bool reverse : {false, true}) {
    CAPTURE(reverse);
    check_derivatives(
        [reverse](way& w, const many& a) {
          const auto [h, all] = scan(
              [&](const ndarray& h, const ndarray& e) {
                ++w.calls;
                const ndarray next = tanh(h * a[2](0) + e * a[2](slice(1, 4)));
                return std::pair(next, many{next * h, sum(next)});
              },
              a[0], a[1], {.reverse = reverse, .call_each = w.call_each});
          return many{h, all[0], all[1]};
        },
        x);
  }
}

TEST_CASE("derivatives of loops as loops: numbered steps, whole numbers and bools in the carry") {
  check_derivatives(
      [](way& w, const many& a) {
        const many r = fori_loop(3, 50,
                                 [&](const ndarray& i, const many& c) {
                                   ++w.calls;
                                   const ndarray k = i.astype(float64);
                                   return many{c[0] + a[1] * sin(c[0] * k) / (k + 1), c[1] + 1, c[0] > c[2],
                                               c[2] * 0.9 + c[1].astype(float64)};
                                 },
                                 many{a[0], zeros({}, {.dtype = int64}), zeros({5}, {.dtype = bool_}), a[0] * 2},
                                 {.call_each = w.call_each});
        return many{r[0], r[3]};
      },
      {numbers({5}, 0.1, 1), full({}, 0.3)});
}

TEST_CASE("derivatives of loops as loops: writes, choices, reductions, sorted steps and steps without elements") {
  const many x{numbers({4}, -1, 1), numbers({4, 4}, -0.3, 0.3)};
  check_derivatives(
      [](way& w, const many& a) {
        const auto [last, all] = scan(
            [&](const ndarray& c, none_t) {
              ++w.calls;
              ndarray next = where(c > 0, c * 0.99, c * 0.5 + 0.1);
              next(0) = sum(c * a[1](1)) * 0.2;
              next(slice(2, 4)) += c(slice(0, 2)) * 0.1;
              return std::pair(next, exp(next - max(next)) / sum(exp(next - max(next))));
            },
            a[0], _, {.length = 30, .call_each = w.call_each});
        return many{last, all};
      },
      x);
}

TEST_CASE("derivatives of loops as loops: what a step takes for constant") {
  check_derivatives(
      [](way& w, const many& a) {
        const auto [last, all] = scan(
            [&](const ndarray& c, const ndarray& e) {
              ++w.calls;
              const ndarray fixed = stop_gradient(c);
              const ndarray next = sin(c * a[1]) + fixed * 0.3 + sign(c) * floor(a[1] * 3) * c * 0.1 + stop_gradient(e);
              return std::pair(next, many{fixed * c, stop_gradient(next * a[1]) * a[1], rint(c) * e});
            },
            a[0], a[2], {.call_each = w.call_each});
        return many{last, all[0], all[1], all[2]};
      },
      {numbers({3}, -1, 1), numbers({3}, 0.2, 0.9), numbers({30, 3}, -1, 1)});
  // All of it: nothing is left.
  const ndarray none = grad([](const ndarray& x) {
    return fori_loop(
        0, 20, [](const ndarray&, const ndarray& c) { return stop_gradient(sin(c)); }, x);
  })(full({}, 0.5));
  CHECK(double(none) == 0);
}

TEST_CASE(
    "derivatives of loops as loops: products of matrices and of vectors, with arrays that are followed and others") {
  const ndarray fixed = numbers({4, 4}, -0.4, 0.4);
  check_derivatives(
      [&](way& w, const many& a) {
        const many r = scan(
                           [&](const many& c, const ndarray& e) {
                             ++w.calls;
                             const ndarray h = tanh(matmul(fixed, c[0]) + matmul(c[0], a[0]) + e);
                             const ndarray p = matmul(matmul(a[0], c[1]), a[0].T()) * 0.5 + outer(h, h);
                             return std::pair(many{h, p}, many{});
                           },
                           many{a[1], matmul(a[0], fixed)}, a[2], {.call_each = w.call_each})
                           .first;
        return r;
      },
      {numbers({4, 4}, -0.5, 0.5), numbers({4}, -1, 1), numbers({30, 4}, -0.5, 0.5)});
}

TEST_CASE("derivatives of loops as loops: products of many rows and few terms") {
  check_derivatives(
      [&](way& w, const many& a) {
        return scan(
                   [&](const many& c, const ndarray& e) {
                     ++w.calls;
                     const ndarray h = tanh(matmul(c[0], a[0]) + e);
                     return std::pair(many{matmul(matmul(h, a[0]), a[0].T()) * 0.5}, many{});
                   },
                   many{a[1]}, a[2], {.call_each = w.call_each})
            .first;
      },
      {numbers({3, 3}, -0.5, 0.5), numbers({2048, 3}, -1, 1), numbers({20, 3}, -0.5, 0.5)}, true, 1e-11);
}

TEST_CASE("derivatives of loops as loops: other dtypes") {
  const auto rotate = [](way& w, const many& a) {
    const auto [last, all] = scan(
        [&](const ndarray& c, const ndarray& e) {
          ++w.calls;
          const ndarray next = c * a[1] * exp(e * 0.01);
          return std::pair(next, next * next);
        },
        a[0], a[2], {.call_each = w.call_each});
    return many{last, all};
  };
  check_derivatives(rotate, {complex_numbers({3}), complex_numbers({3}) * 0.4, complex_numbers({20, 3})}, true, 1e-11);
  many singles;
  for (const ndarray& a : many{numbers({3}), numbers({3}), numbers({20, 3})}) singles.push_back(a.astype(float32));
  check_derivatives(rotate, singles, true, 2e-5);
}

TEST_CASE("derivatives of loops as loops: differences and second derivatives") {
  const ndarray w = numbers({3, 3}, -0.5, 0.5), xs = numbers({20, 3});
  const subject recurrent = [](const arrays& a) {
    const auto [h, all] = scan(
        [&](const ndarray& h, const ndarray& x) {
          const ndarray next = tanh(matmul(a[0], h) + x);
          return std::pair(next, next * next);
        },
        zeros({3}), a[1]);
    return sum(all, 0) + h;
  };
  agrees_twice("scan", recurrent, {w, xs});
  const subject powers = [](const arrays& a) {
    return fori_loop(
        0, 20, [&](const ndarray& i, const ndarray& y) { return sin(y * a[0]) + i * 0.1; }, a[0]);
  };
  agrees_twice("fori_loop", powers, {numbers({4})});
  const subject nested = [](const arrays& a) {
    return fori_loop(
        0, 18,
        [&](const ndarray& i, const ndarray& y) {
          return fori_loop(
              0, 17, [&](const ndarray& j, const ndarray& z) { return sin(z * a[0]) + (i + j) * 0.01; }, y);
        },
        a[0]);
  };
  agrees("a loop in a loop", nested, {numbers({2})});
  CHECK(allclose(hessian([&](const ndarray& x) { return sum(powers({x})); })(numbers({2})),
                 jacfwd(jacrev([&](const ndarray& x) { return sum(powers({x})); }))(numbers({2})), 1e-9));
}

TEST_CASE("derivatives of loops as loops: carries of which a part is kept at a time") {
  check_derivatives(
      [](way& w, const many& a) {
        const auto [last, all] = scan(
            [&](const many& c, const ndarray& e) {
              ++w.calls;
              const ndarray next = c[0] + 0.01 * sin(c[0] * e) * c[1];
              return std::pair(many{next, c[1] * 0.99}, next(slice(0, 2)));
            },
            many{broadcast_to(a[0], {100000}).copy(), a[2]}, a[1], {.reverse = true, .call_each = w.call_each});
        return many{mean(last[0]), last[1], all};
      },
      {full({1}, 0.7), numbers({101}), ones({})}, true, 1e-11);
}

TEST_CASE("derivatives of loops: steps that must be called are called") {
  if (!on_host()) return;
  const auto step = [](const ndarray& a, const ndarray& c) { return sin(c * a) + c; };
  const auto of = [&](const auto& body) {
    return double(grad([&](const ndarray& a) {
      return fori_loop(
          0, 30, [&](const ndarray&, const ndarray& c) { return body(a, c); }, a);
    })(full({}, 0.4)));
  };
  int calls = 0;
  const double right = of([&](const ndarray& a, const ndarray& c) { return ++calls, step(a, c); });
  CHECK(calls == 3);
  double t = 0;
  calls = 0;
  of([&](const ndarray& a, const ndarray& c) { return ++calls, t += 0.1, step(a, c) + t; });
  CHECK(calls == 30);
  many kept;
  calls = 0;
  CHECK(of([&](const ndarray& a, const ndarray& c) {
          ++calls;
          kept.push_back(step(a, c));
          return kept.back();
        }) == doctest::Approx(right).epsilon(1e-13));
  CHECK(calls == 30);
  CHECK(kept.size() == 30);
  calls = 0;
  const auto branching = [&](const ndarray& a, const ndarray& c) {
    ++calls;
    return double(stop_gradient(c)) > 1 ? c * 0.5 : step(a, c);
  };
  of(branching);
  CHECK(calls == 30);
}

TEST_CASE("derivatives of loops as loops: each example, and a pull-back that outlives what the step refers to") {
  const auto f = [](const ndarray& x) {
    return fori_loop(
        0, 20, [&](const ndarray&, const ndarray& y) { return sin(y * x) + 0.1; }, x);
  };
  const ndarray x = numbers({5});
  const ndarray each = vmap(grad(f))(x);
  for (int k = 0; k < 5; ++k) CHECK(double(each(k)) == doctest::Approx(double(grad(f)(x(k).copy()))).epsilon(1e-13));
  const auto late = [](const ndarray& a) {
    return vjp(
        [](const ndarray& b) {
          const ndarray factor = b * 2.0;
          return scan([&](const ndarray& c, const ndarray& e) { return std::pair(c * 0.9 + factor * e, c); }, b,
                      ones(20))
              .second;
        },
        a);
  };
  auto [y, pull] = late(full({}, 3.0));
  CHECK(y.size() == 20);
  // y(k) = 0.9^k b + 2 b (1 - 0.9^k) / 0.1
  double right = 0, power = 1;
  for (int k = 0; k < 20; ++k, power *= 0.9) right += power + 20 * (1 - power);
  CHECK(double(pull(ones(20))) == doctest::Approx(right).epsilon(1e-13));
}

TEST_CASE("derivatives of loops as loops: selections from what the step reads, by scanned indices") {
  const ndarray at = reshape(arange(40 * 4) * 7 % 6, {40, 4}), one = arange(40) % 6;
  const many x{numbers({4, 3}, -1, 1), numbers({6, 3}, -0.5, 0.5), numbers({3, 3}, -0.4, 0.4)};
  using reader = ndarray (*)(const ndarray& table, const ndarray& at, const ndarray& h);
  const reader readers[] = {
      [](const ndarray& t, const ndarray& at, const ndarray&) -> ndarray { return t(at); },
      [](const ndarray& t, const ndarray& at, const ndarray& h) -> ndarray { return t(at) * h; },
      [](const ndarray& t, const ndarray& at, const ndarray&) -> ndarray { return (t * 2)(at(slice(_, _, -1))); },
      [](const ndarray& t, const ndarray& at, const ndarray&) -> ndarray { return t(at % 6, at % 3)(_, newaxis); },
      [](const ndarray& t, const ndarray& at, const ndarray&) -> ndarray {
        return t(_, at % 3).T()(slice(0, 4), slice(0, 3));
      },
      [](const ndarray& t, const ndarray& at, const ndarray&) -> ndarray { return take(t, at, 0); },
      [](const ndarray& t, const ndarray&, const ndarray&) -> ndarray { return roll(t, 2, {.axis = 0})(slice(0, 4)); },
      [](const ndarray& t, const ndarray&, const ndarray&) -> ndarray {
        return pad(t, 1, "reflect")(slice(0, 4), slice(0, 3));
      },
      [](const ndarray& t, const ndarray& at, const ndarray& h) -> ndarray {
        ndarray y = t * 1.0;
        y(at) = h;
        return y(slice(0, 4));
      },
      [](const ndarray& t, const ndarray& at, const ndarray& h) -> ndarray {
        ndarray y = t * 1.0;
        add_at(y(at), h);
        return y(slice(0, 4));
      },
  };
  int k = 0;
  for (const reader read : readers) {
    CAPTURE(k);
    ++k;
    check_derivatives(
        [&](way& w, const many& a) {
          const auto [h, all] = scan(
              [&](const ndarray& h, const ndarray& t) {
                ++w.calls;
                const ndarray next = tanh(matmul(h, a[2]) + read(a[1], t, h));
                return std::pair(next, sum(next * next));
              },
              a[0], at, {.call_each = w.call_each});
          return many{h, all};
        },
        x);
  }
  check_derivatives(
      [&](way& w, const many& a) {  // one row of each step
        const auto [h, all] = scan(
            [&](const ndarray& h, const ndarray& t) {
              ++w.calls;
              const ndarray next = 0.5 * h + a[1](t) * a[2](0);
              return std::pair(next, next);
            },
            a[0](0), one, {.call_each = w.call_each});
        return many{h, all};
      },
      x);
}
