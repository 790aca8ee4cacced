// Plans that are found by walking a graph along what the plan knows that came next the last time: graphs that differ from the
// expected one in one thing each, in turns with it.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "graph/evaluated_work.hpp"
#include "graph/run/flush.hpp"
#include "ops/base/access.hpp"
#include "sinter/sinter.hpp"

namespace sn = sinter;
using namespace sinter;
using namespace sinter::idx;
using sinter::test::limits_guard;
using sinter::test::ramp;
using sn::ndarray;

namespace {

using arrays = std::vector<ndarray>;
/// What a round evaluates, with the arrays that are held meanwhile at its end.
struct work {
  arrays results, held;
};
using program = std::function<work(float)>;
using numbers = std::vector<std::vector<double>>;

struct outcome {
  numbers values;
  std::uint64_t made = 0;
};

outcome run(const program& p, float k) {
  const work w = p(k);
  const std::uint64_t before = graph::planning().made;
  std::vector<graph::value> roots;
  for (const ndarray& r : w.results) roots.push_back(sn::ops::value_of(r));
  graph::flush(roots);
  outcome o{{}, graph::planning().made - before};
  for (const arrays* all : {&w.results, &w.held})
    for (const ndarray& r : *all) o.values.push_back(sn::astype(r, sn::float64).to_vector<double>());
  return o;
}

/// `base` and what differs from it, in turns, give what plans give that are made anew; each is planned once.
void check_in_turns(const program& base, const std::vector<program>& others) {
  std::vector<program> all{base};
  all.insert(all.end(), others.begin(), others.end());
  constexpr float rounds = 7;
  std::vector<std::vector<numbers>> expected(all.size());
  {
    const limits_guard restore;
    graph::limits().cached_plans = 0;
    for (std::size_t p = 0; p < all.size(); ++p)
      for (float k = 3; k < rounds; ++k) expected[p].push_back(run(all[p], k).values);
  }
  for (const bool verify : {false, true}) {
    const limits_guard restore;
    graph::limits().verify_cached = verify;  // throws where a walk and a comparison of lists say different things
    for (float k = 3; k < rounds; ++k)
      for (std::size_t p = 1; p < all.size(); ++p)
        for (const std::size_t which : {std::size_t{0}, std::size_t{0}, p, std::size_t{0}, p, p}) {
          CAPTURE(which);
          const outcome o = run(all[which], k);
          CHECK(o.values == expected[which][static_cast<std::size_t>(k) - 3]);
          if (k > 3 && !verify) CHECK(o.made == 0);
        }
  }
}

}  // namespace

TEST_CASE("followed plans: graphs that differ in their last operation, in sharing, in places and in scalars") {
  const ndarray x = ramp(36), y = ramp(36) + 1, m = sn::reshape(x, {6, 6}) + 2;
  sn::eval(y, m);
  const auto chain = [&](float k) {
    ndarray z = x;
    for (int step = 0; step < 12; ++step) z = z * 0.5f + k;
    return z;
  };
  check_in_turns(
      [&](float k) {
        return work{{chain(k) * x + y}, {}};
      },
      {[&](float k) {
         return work{{chain(k) * x - y}, {}};
       },
       [&](float k) {
         return work{{chain(k) * y + x}, {}};
       },
       [&](float k) {
         return work{{chain(k) * x + x}, {}};
       },
       [&](float k) {
         return work{{chain(k) * x + y + k}, {}};
       },
       [&](float k) {
         return work{{chain(k) * x(slice(_, _, -1)) + y}, {}};
       },
       [&](float k) {
         return work{{chain(k) * x + y, chain(k) * y}, {}};
       }});
  check_in_turns(
      [&](float k) {
        return work{{sn::square(x * k) + sn::square(x * k)}, {}};
      },
      {[&](float k) {
        const ndarray s = sn::square(x * k);  // one value, which two did
        return work{{s + s}, {}};
      }});
  check_in_turns(
      [&](float k) {
        return work{{x * k + (k + 1)}, {}};
      },
      {[&](float k) {
        return work{{x * k + k}, {}};
      }});  // one scalar
  check_in_turns(
      [&](float k) {
        return work{{m(slice(_, 3)) * k + m(slice(1, 4))}, {}};
      },
      {[&](float k) {
         return work{{m(slice(_, 3)) * k + m(slice(2, 5))}, {}};
       },
       [&](float k) {
         return work{{m(slice(1, 4)) * k + m(slice(2, 5))}, {}};
       },
       [&](float k) {
         return work{{m(slice(1, 4)) * k + m(slice(1, 4))}, {}};
       }});
}

TEST_CASE("followed plans: a view of an array for which the expected plan has no place") {
  const auto square = [](float by) {
    ndarray x = reshape(ramp(64) * by, {8, 8});
    sn::eval(x);
    return x;
  };
  const ndarray a = square(1), b = square(3);
  const program among_many = [=](float k) {  // b comes behind more nodes than the other plans have
    ndarray y = a * k;
    for (int j = 0; j < 60; ++j) y = y + square(static_cast<float>(j));
    return work{{y + b}, {}};
  };
  check_in_turns(
      [=](float k) {
        return work{{(a.T() + a) * k}, {}};
      },
      {among_many, [=](float k) {
         return work{{(b.T() + a) * k}, {}};
       }});
}

TEST_CASE("followed plans: values that are held from outside, or have been") {
  const ndarray x = ramp(40), m = sn::reshape(ramp(48), {6, 8});
  sn::eval(m);
  const auto inner = [&](float k) { return sn::exp(x * (k * 0.0625f)) + 1; };
  check_in_turns(
      [&](float k) {
        return work{{1 / inner(k)}, {}};
      },
      {[&](float k) {
        const ndarray e = inner(k);
        return work{{1 / e}, {e}};
      }});
  // Reductions that are no part of what is evaluated, and come with those that are.
  check_in_turns(
      [&](float k) {
        return work{{sn::max(m * k, 1)}, {}};
      },
      {[&](float k) {
         const ndarray s = m * k, total = sn::sum(s, 1);
         return work{{sn::max(s, 1)}, {total}};
       },
       [&](float k) {
         const ndarray s = m * k, total = sn::sum(s, 1), low = sn::min(s, 0);
         return work{{sn::max(s, 1), low}, {total}};
       }});
}

TEST_CASE("followed plans: reductions that are there or not, of values that are held in any case") {
  const ndarray m = sn::reshape(ramp(48), {6, 8});
  sn::eval(m);
  const auto reduced = [&](int others) {
    return [&m, others](float k) {
      const ndarray s = m * k, high = sn::max(s, 1), total = others > 0 ? sn::sum(s, 1) : s;
      const ndarray low = others > 1 ? sn::min(s, 1) : s;
      return work{{high}, {s, total, low}};
    };
  };
  check_in_turns(reduced(0), {reduced(1), reduced(2)});
}

TEST_CASE("followed plans: what is held and stays pending keeps what it is computed from") {
  for (int round = 0; round < 4; ++round) {
    ndarray u = ramp(48) + round;
    sn::eval(u);
    const ndarray held = u * 2;
    u(slice(1, -1)) = held(slice(1, -1)) + 0.5f;
    CHECK(run([&](float) { return work{{u}, {}}; }, 0).values[0][5] == 2 * (5 + round) + 0.5);
    CHECK(run([&](float) { return work{{held}, {}}; }, 0).values[0][5] == 2 * (5 + round));
  }
}

TEST_CASE("followed plans: results keep memory that others still refer to") {
  const auto steps = [](bool hold) {
    return [hold](float k) {
      ndarray a = ramp(64) + k, b = ramp(64) * k, kept = a;
      sn::eval(a, b);
      if (!hold) kept = b;
      const ndarray p = sn::exp(a * 0.0078125f), q = p / sn::sum(p), r = q * b + sn::max(q), t = r / sn::sum(r);
      a = q;
      b = sn::flip(t);
      return work{{a, b, r}, {kept}};
    };
  };
  check_in_turns(steps(false), {steps(true)});
}

TEST_CASE("followed plans: writes in place and out of place") {
  const auto written = [](bool hold) {
    return [hold](float k) {
      ndarray u = sn::reshape(ramp(48), {6, 8}) + k;
      sn::eval(u);
      const ndarray before = hold ? u * 2 : u;
      u(slice(1, -1), slice(1, -1)) = u(slice(2, _), slice(1, -1)) * 0.5f + k;
      u(0) = u(1);
      return work{{u}, {before}};
    };
  };
  check_in_turns(written(false), {written(true)});
}

TEST_CASE("followed plans: the order of recording, where plans depend on it") {
  const ndarray x = ramp(44), y = ramp(44) + 1;
  sn::eval(y);
  const auto two = [&](bool in_turn) {
    return [=](float k) {
      ndarray a = x, b = y;
      for (int step = 0; step < 30; ++step) {
        a = a * 0.875f + k;
        if (in_turn) b = b * 0.625f - x;
      }
      for (int step = 0; step < 30 && !in_turn; ++step) b = b * 0.625f - x;
      return work{{a, b}, {}};
    };
  };
  check_in_turns(two(true), {two(false)});
}

TEST_CASE("followed plans: threads with programs of their own, whose graphs are the same in part") {
  constexpr int threads = 4, rounds = 50;
  std::atomic<int> wrong{0};
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&, t] {
      const ndarray x = ramp(32) + t;
      sn::eval(x);
      for (int k = 0; k < rounds; ++k) {
        ndarray a = x;
        for (int step = 0; step < 8 + (k + t) % 3; ++step) a = a * 0.5f + k;
        const ndarray b = sn::sum(a * 2);
        sn::eval(a);
        if (t % 2 == 0) sn::eval(b);
        double one = 5 + t, total = 0;
        for (int step = 0; step < 8 + (k + t) % 3; ++step) one = one * 0.5 + k;
        for (int i = 0; i < 32; ++i) {
          double e = i + t;
          for (int step = 0; step < 8 + (k + t) % 3; ++step) e = e * 0.5 + k;
          total += 2 * e;
        }
        if (std::abs(sn::astype(a, sn::float64).to_vector<double>()[5] - one) > 1e-4) ++wrong;
        if (std::abs(b.item<double>() / total - 1) > 1e-5) ++wrong;
      }
    });
  for (std::thread& t : pool) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("followed plans: a plan that has been dropped is not expected") {
  const limits_guard restore;
  const ndarray x = ramp(72);
  graph::limits().cached_plans = 4;
  for (int round = 0; round < 3; ++round)
    for (int k = 0; k < 12; ++k) {
      const ndarray part = x(slice(_, 30 + k)) * 1.1875f;
      CHECK(run([&](float) { return work{{part}, {}}; }, 0).values[0].back() == (29 + k) * 1.1875);
    }
}
