// Plans that are used again: the same results, kernels and errors as new ones, for graphs that are alike in everything
// that a plan follows from, and for no others.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "graph/evaluated_work.hpp"
#include "graph/run/flush.hpp"
#include "ops/base/access.hpp"
#include "sinter/sinter.hpp"
#include "support/simulated_gpu.hpp"

namespace sn = sinter;
using namespace sinter;
using namespace sinter::idx;
using sinter::test::limits_guard;
using sinter::test::ramp;
using sinter::test::values;
using sn::ndarray;

namespace {

using arrays = std::vector<ndarray>;
using program = std::function<arrays(int round)>;

/// How many plans evaluating the results of a program takes, and how many of them are those of earlier graphs.
struct used {
  std::uint64_t made, reused;
  friend bool operator==(const used&, const used&) = default;
};
used evaluate(const arrays& results) {
  const graph::planning_counts before = graph::planning();
  std::vector<graph::value> roots;
  for (const ndarray& r : results) roots.push_back(sn::ops::value_of(r));
  graph::flush(roots);
  return {graph::planning().made - before.made, graph::planning().reused - before.reused};
}
constexpr used one_made{1, 0}, one_reused{0, 1};

/// Programs of every kind of node, which end with pending values.
struct named {
  const char* name;
  program run;
};
const std::vector<named>& programs() {
  static const ndarray* x = new ndarray(ramp(48));
  static const ndarray* m = new ndarray(sn::reshape(*x, {6, 8}) * 0.25f + 1);
  sn::eval(*m);
  static const auto* all = new std::vector<named>{
      {"elementwise", [](int k) { return arrays{sn::sqrt(*x * (k + 1) + 0.5f) - *x}; }},
      {"scalars", [](int k) { return arrays{*x * k + 2 * (*x - k)}; }},
      {"complex scalars",
       [](int k) { return arrays{*x * std::complex<float>(1, static_cast<float>(k)) + std::complex<float>(2, 3)}; }},
      {"two outputs",
       [](int k) {
         const ndarray e = sn::exp(*x * -0.125f) + k;
         return arrays{e + 1, 1 / e};
       }},
      {"views", [](int k) { return arrays{sn::flip(*m * 2)(slice(1, _), slice(_, _, 2)) + k}; }},
      {"transposed", [](int k) { return arrays{(*m + k).T() * 3 + (*m).T()}; }},
      {"rolled",
       [](int k) {
         return arrays{sn::roll(*m + k, {1, -1}, {0, 1}) + sn::roll(*m, 1, 0)};
       }},
      {"reduced",
       [](int k) {
         return arrays{sn::sum(*m * k, 1), sn::max(*m + k, 0)};
       }},
      {"siblings",
       [](int k) {
         const ndarray y = *m * (k + 1), low = sn::min(y), high = sn::max(y);
         return arrays{(y - low) / (high - low), low};
       }},
      {"softmax",
       [](int k) {
         const ndarray e = sn::exp(*m * 0.125f + k - sn::max(*m, 1, {.keepdims = true}));
         return arrays{e / sn::sum(e, 1, {.keepdims = true})};
       }},
      {"moments",
       [](int k) {
         return arrays{sn::var(*m + (k + 0.3f), 0), sn::mean(*m + (k + 0.3f))};
       }},
      {"searched", [](int k) { return arrays{sn::argmin(sn::square(*m - k), 1)}; }},
      {"gathered",
       [](int k) {
         const ndarray index = sn::astype(sn::fmod(*x * 7 + k, 48), sn::int64);
         return arrays{sn::take(sn::sin(*x), index) + 1};
       }},
      {"drawn",
       [](int k) {
         sn::random::generator g(static_cast<std::uint64_t>(k));
         return arrays{g.random(40, {.dtype = sn::float32}) + g.normal(0, 1, 40)};
       }},
      {"written",
       [](int k) {
         ndarray y = *m * 2;
         y(slice(1, -1), slice(1, -1)) = (*m)(slice(2, _), slice(1, -1)) + (*m)(slice(_, -2), slice(1, -1)) * k;
         y(0, _) = k;
         y(_, -1) = 1;
         return arrays{y};
       }},
      {"written in place",
       [](int k) {
         ndarray y = (*m).copy();
         sn::eval(y);
         y(slice(_, _, 2)) += k;
         y(1, _) = y(2, _);
         return arrays{y};
       }},
      {"read before a write",
       [](int k) {
         ndarray y = (*m).copy();
         sn::eval(y);
         const ndarray before = y * 3;
         y(0, _) = k;
         return arrays{y, before};
       }},
      {"positions", [](int k) { return arrays{sn::arange(48, {.dtype = sn::float32}) * *x + sn::arange(k, 48 + k)}; }},
      {"steps",
       [](int k) {
         ndarray z = sn::zeros(48, {.dtype = sn::float32}), n = sn::zeros(48, {.dtype = sn::int32});
         for (int step = 0; step < 30; ++step) {
           const ndarray inside = z * z < 4;
           z = sn::where(inside, z * z + *x * 0.0625f - k, z);
           n += inside;
         }
         return arrays{n, z};
       }},
      {"many inputs",
       [](int k) {
         ndarray y = *x + (k + 0.3f);
         for (int a = 0; a < 40; ++a) y = y * 0.5f + sn::full(48, a, {.dtype = sn::float32}) + (*x)(slice(_, _, -1));
         return arrays{y};
       }},
      {"conditions",
       [](int k) {
         return arrays{sn::any(*m > k * 20), sn::count_nonzero(*m < k)};
       }},
      {"empty",
       [](int k) {
         return arrays{(*x)(slice(5, 5)) * k, sn::sum((*x)(slice(5, 5)))};
       }},
  };
  return *all;
}

std::vector<std::vector<double>> results(const program& p, int round) {
  const arrays found = p(round);
  evaluate(found);
  std::vector<std::vector<double>> all;
  for (const ndarray& r : found) all.push_back(values(is_complex(r.dtype()) ? sn::real(r) + sn::imag(r) : r));
  return all;
}

std::string plans(const program& p, int round) {
  std::string text;
  for (const ndarray& r : p(round)) text += sn::explain(r);
  return text;
}

}  // namespace

TEST_CASE("plans: used again, they are what planning anew gives") {
  for (const named& p : programs()) {
    CAPTURE(p.name);
    const limits_guard restore;
    graph::limits().cached_plans = 0;
    std::vector<std::vector<std::vector<double>>> expected;
    for (int k = 0; k < 4; ++k) expected.push_back(results(p.run, k));
    const std::string text = plans(p.run, 1);
    graph::limits() = restore.before;
    for (const bool verify : {false, true}) {
      graph::limits().verify_cached = verify;  // throws where a new plan would have been another one
      for (int k = 0; k < 4; ++k) CHECK(results(p.run, k) == expected[static_cast<std::size_t>(k)]);
    }
    CHECK(plans(p.run, 1) == text);
  }
}

TEST_CASE("plans: a program that runs again is not planned again, whatever its scalars, draws and memory are") {
  for (const named& p : programs()) {
    const std::string name = p.name;
    if (name == "gathered" || name == "scalars" || name == "positions") continue;  // scalars that become equal
    CAPTURE(name);
    for (int k = 3; k < 6; ++k) evaluate(p.run(k));
    for (int k = 6; k < 9; ++k) {
      const arrays found = p.run(k);
      const std::uint64_t lowered = graph::planning().lowered;
      const used plan = evaluate(found);
      CHECK(plan == one_reused);
      CHECK(graph::planning().lowered == lowered);
    }
  }
}

TEST_CASE("plans: not used for graphs that differ in anything that matters") {
  const ndarray x = ramp(60), y = ramp(60) + 1, wide = sn::reshape(ramp(60), {6, 10}),
                ints = sn::astype(ramp(60), sn::int32);
  sn::eval(y, wide, ints);
  const auto fresh = [](const char* name, const program& p) {
    CAPTURE(name);
    const arrays found = p(0);
    CHECK(evaluate(found) == one_made);
    const arrays again = p(0);
    CHECK(evaluate(again) == one_reused);
    for (std::size_t k = 0; k < found.size(); ++k) CHECK(values(found[k]) == values(again[k]));
  };
  // 7.5f and the like: no other case of this program has these shapes and operations.
  fresh("base", [&](int) { return arrays{(x * 7.5f + y) / 3.5f}; });
  fresh("equal scalars", [&](int) { return arrays{(x * 7.5f + y) / 7.5f}; });
  fresh("one operand twice", [&](int) { return arrays{(x * 7.5f + x) / 3.5f}; });
  fresh("order of operands", [&](int) { return arrays{(y + x * 7.5f) / 3.5f}; });
  fresh("dtype", [&](int) { return arrays{(ints * 7.5f + y) / 3.5f}; });
  fresh("shape", [&](int) { return arrays{(x(slice(_, 59)) * 7.5f + y(slice(_, 59))) / 3.5f}; });
  fresh("distance of parts", [&](int) { return arrays{(x(slice(1, _)) * 7.5f + x(slice(_, 59))) / 3.5f}; });
  fresh("other distance", [&](int) { return arrays{(x(slice(_, 59)) * 7.5f + x(slice(1, _))) / 3.5f}; });
  fresh("no part", [&](int) { return arrays{(x * 7.5f + sn::sum(x(slice(1, 7)))) / 3.5f}; });
  fresh("another part than before", [&](int) { return arrays{(x * 7.5f + sn::sum(x(slice(2, 8)))) / 3.5f}; });
  fresh("stride", [&](int) { return arrays{(x(slice(_, _, 2)) * 7.5f + y(slice(_, 30))) / 3.5f}; });
  fresh("other stride", [&](int) { return arrays{(x(slice(_, _, -2)) * 7.5f + y(slice(_, 30))) / 3.5f}; });
  fresh("an operation more", [&](int) { return arrays{sn::abs((x * 7.5f + y) / 3.5f)}; });
  fresh("two results", [&](int) { return arrays{(x * 7.5f + y) / 3.5f, x * 7.5f}; });
  fresh("results in another order", [&](int) {
    const ndarray t = x * 7.5f;
    return arrays{t, (t + y) / 3.5f};
  });
  fresh("the same value twice", [&](int) {
    const ndarray t = x * 7.5f, r = (t + y) / 3.5f;
    return arrays{r, t};
  });
  fresh("fast_math", [&](int) {
    const sn::fast_math_guard on;
    return arrays{(x * 7.5f + y) / 3.5f};
  });
  fresh("reduced axis", [&](int) { return arrays{sn::sum(wide * 7.5f, 0)}; });
  fresh("other reduced axis", [&](int) { return arrays{sn::sum(wide * 7.5f, 1)}; });
  fresh("other reduction", [&](int) { return arrays{sn::prod(wide * 7.5f, 1)}; });
  // Limits, and whether fusion is on.
  const limits_guard restore;
  const auto base = [&] { return arrays{(x * 7.5f + y) / 3.5f}; };
  graph::limits().fuse = false;
  CHECK(evaluate(base()) == one_made);
  graph::limits() = restore.before;
  CHECK(evaluate(base()) == one_reused);
  graph::limits().instructions = 20;
  CHECK(evaluate(base()) == one_made);
}

TEST_CASE("plans: what is held outside of the graph is part of it") {
  const ndarray x = ramp(72);
  const auto chain = [&](bool keep, arrays& kept) {
    const ndarray t = sn::exp(x * 0.125f);
    if (keep) kept.push_back(t);
    return arrays{t * 2.25f};
  };
  arrays kept;
  CHECK(evaluate(chain(false, kept)) == one_made);
  CHECK(evaluate(chain(true, kept)) == one_made);
  CHECK(evaluate(chain(true, kept)) == one_reused);
  CHECK(evaluate(chain(false, kept)) == one_reused);
  for (const ndarray& t : kept) CHECK(values(t) == values(sn::exp(x * 0.125f)));
  // A value that was computed on the way before is stored this time.
  const ndarray held = sn::exp(x * 0.375f);
  const ndarray first = held + 1;
  CHECK(evaluate({first}) == one_made);
  const ndarray second = held + 1;
  CHECK(evaluate({second}) == one_made);
  CHECK(values(first) == values(second));
  // A reduction over the same value that something else holds is computed in the same pass.
  const ndarray square = sn::square(x) * 1.75f;
  const auto total = [&](bool other, ndarray& largest) {
    const ndarray v = square + 1;
    if (other) largest = sn::max(v);
    return arrays{sn::sum(v)};
  };
  ndarray largest;
  sn::eval(square);
  CHECK(evaluate(total(false, largest)) == one_made);
  CHECK(evaluate(total(true, largest)) == one_made);
  CHECK(evaluate({largest}) == used{0, 0});  // is in memory
  largest = ndarray();
  CHECK(evaluate(total(false, largest)) == one_reused);
  CHECK(evaluate(total(true, largest)) == one_reused);
  CHECK(evaluate({largest}) == used{0, 0});
  CHECK(largest.item<float>() == 71 * 71 * 1.75f + 1);
}

TEST_CASE("plans: whether a write is done in place is decided each time") {
  const auto step = [](ndarray& x, const ndarray& addend) {
    x(slice(1, -1)) = x(slice(1, -1)) + addend(slice(1, -1));
    x(0) = -1;
  };
  ndarray x = ramp(33);
  const ndarray one = sn::ones(33, {.dtype = sn::float32});
  sn::eval(one);
  std::vector<double> expected = values(x);
  for (int k = 0; k < 8; ++k) {
    CAPTURE(k);
    ndarray before;  // reads the old version, in every other round after it has been replaced
    if (k % 2) before = x + 0.5f;
    ndarray alias;
    if (k % 3 == 2) {
      alias = x(slice(_, _));
      alias = sn::asarray(alias);
    }
    step(x, one);
    evaluate({x});
    std::vector<double> old = expected;
    for (std::size_t i = 1; i + 1 < expected.size(); ++i) expected[i] += 1;
    expected[0] = -1;
    CHECK(values(x) == expected);
    if (k % 2) {
      for (double& v : old) v += 0.5;
      CHECK(values(before) == old);
    }
  }
}

TEST_CASE("plans: leaves at other places in memory") {
  const ndarray x = ramp(40);
  std::vector<double> expected(30);
  for (int first = 0; first < 6; ++first) {
    const ndarray part = x(slice(first, first + 30)).copy();
    sn::eval(part);
    const ndarray r = part * 1.125f + part;
    const used plan = evaluate({r});
    if (first > 1) CHECK(plan == one_reused);
    for (int i = 0; i < 30; ++i) expected[static_cast<std::size_t>(i)] = (first + i) * 1.125 + first + i;
    CHECK(values(r) == expected);
  }
}

TEST_CASE("plans: a bounded number is kept, the ones used last") {
  const limits_guard restore;
  const ndarray x = ramp(80);
  const auto graph_of = [&](int k) { return arrays{x(slice(_, 20 + k)) * 1.375f}; };
  graph::limits().cached_plans = 8;
  CHECK(evaluate(graph_of(0)) == one_made);
  for (int k = 1; k < 40; ++k) {
    CHECK(evaluate(graph_of(k)) == one_made);
    CHECK(evaluate(graph_of(0)) == one_reused);  // in use all the while
  }
  CHECK(evaluate(graph_of(2)) == one_made);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{4000}, std::size_t{100000}}) {
    graph::limits().cached_bytes = bytes;
    for (int k = 0; k < 30; ++k) {
      const arrays r = graph_of(k);
      evaluate(r);
      CHECK(values(r[0]).back() == (19 + k) * 1.375);
    }
  }
  graph::limits().cached_plans = 0;
  CHECK(evaluate(graph_of(0)) == one_made);
  CHECK(evaluate(graph_of(0)) == one_made);
}

TEST_CASE("plans: each device has its own, and streams and captures share them") {
  for (const sn::device& d : {sim::first(), sim::second()}) {
    sim::set_order(5);
    const ndarray x = ramp(52, d);
    const auto line = [&] { return arrays{x * 1.625f + 2}; };  // its temporaries are gone when it returns
    CHECK(evaluate(line()) == one_made);
    CHECK(evaluate(line()) == one_reused);
    const sn::stream s({.device = d});
    arrays other;
    {
      const sn::stream_guard on(s);
      other = line();
      CHECK(evaluate(other) == one_reused);
    }
    ndarray to = sn::zeros(52, {.dtype = sn::float32, .device = d});
    sn::eval(to);
    const sn::launch_graph g = sn::capture(sn::default_stream(d), [&] { to(_) = x * 1.625f + 2; });
    CHECK(evaluate(line()) == one_reused);
    for (int k = 0; k < 3; ++k) {
      x(_) = k;
      evaluate(line());
      g.launch();
      CHECK(values(to)[7] == k * 1.625 + 2);
    }
    CHECK(values(other[0])[7] == 7 * 1.625 + 2);
  }
}

TEST_CASE("plans: threads that evaluate graphs of one form at once") {
  constexpr int threads = 6, rounds = 60;
  std::atomic<int> wrong{0};
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&, t] {
      const ndarray x = ramp(64) + t;
      for (int k = 0; k < rounds; ++k) {
        ndarray y = sn::square(x * 0.5f + k);
        const ndarray high = sn::max(y), total = sn::sum(y);
        y(slice(_, 8)) = high;
        if (k % 3 == 0) sn::eval(y);
        double expected = 0;
        for (int i = 0; i < 64; ++i) expected += std::pow((i + t) * 0.5 + k, 2);
        if (std::abs(total.item<double>() / expected - 1) > 1e-5) ++wrong;
        if (values(y)[3] != std::pow((63 + t) * 0.5 + k, 2)) ++wrong;
      }
    });
  for (std::thread& t : pool) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("plans: errors in data and failing allocations are those of a new plan") {
  const ndarray x = ramp(24);
  const auto taken = [&](std::int64_t at) {
    ndarray index = sn::full(5, at, {.dtype = sn::int64});
    sn::eval(index);
    return sn::take(x, index) * 2.875f;
  };
  for (int round = 0; round < 3; ++round) {
    CHECK(values(taken(3))[0] == 3 * 2.875);
    CHECK_THROWS_AS(values(taken(24)), sn::index_error);
    CHECK(values(taken(23))[4] == 23 * 2.875);
  }
  const limits_guard restore;
  for (int round = 0; round < 3; ++round) {
    const ndarray y = sn::sqrt(x) * 4.125f;
    graph::limits().fail_allocation = 0;
    CHECK_THROWS_AS(sn::eval(y), sn::memory_error);
    graph::limits().fail_allocation = -1;
    CHECK(values(y)[4] == 2 * 4.125);
  }
}

TEST_CASE("plans: the order of recording is part of graphs whose plans depend on it") {
  const ndarray x = ramp(44), y = ramp(44) + 1;
  sn::eval(y);
  const auto two = [&](bool in_turn) {
    ndarray a = x, b = y;
    for (int k = 0; k < 100; ++k) {
      a = a * 0.875f + y;
      if (in_turn) b = b * 0.625f - x;
    }
    for (int k = 0; k < 100 && !in_turn; ++k) b = b * 0.625f - x;
    return arrays{a, b};
  };
  const limits_guard restore;
  graph::limits().depth = 1000;  // nothing is evaluated on the way
  const arrays first = two(true), second = two(false);
  CHECK(evaluate(first) == one_made);
  CHECK(evaluate(second) == one_made);
  CHECK(evaluate(two(true)) == one_reused);
  CHECK(evaluate(two(false)) == one_reused);
  for (int k = 0; k < 2; ++k)
    CHECK(values(first[static_cast<std::size_t>(k)]) == values(second[static_cast<std::size_t>(k)]));
}
