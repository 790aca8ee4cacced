// Memory of functions that are recorded once: what they need besides arguments and results, and which of those are copied.
#include <doctest/doctest.h>

#include <span>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "backends/cpu/kernels_of.hpp"
#include "graph/capture/step_work.hpp"
#include "graph/values/storage.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/vmap/beside_loop.hpp"
#include "runtime/backend.hpp"
#include "sinter/compile.hpp"
#include "sinter/linalg.hpp"
#include "sinter/memory.hpp"

using namespace vmap_test;
using namespace sinter::idx;

namespace {

constexpr std::int64_t many = 1 << 16;  // float64: half a megabyte

bool on_host() { return zeros(1).device() == device("cpu"); }

/// Twenty steps, each of which reads all of the one before.
ndarray diffuse(ndarray u) {
  for (int k = 0; k < 20; ++k) u = u + 0.1 * (roll(u, 1) + roll(u, -1) - 2 * u);
  return u;
}

template <class F>
std::size_t peak_of(const F& f) {
  const memory_pool pool;
  const std::size_t before = pool.figures().used;
  pool.reset_peak();
  f();
  return pool.figures().peak - before;
}

using access = runtime::moving_work::access;

/// A function of one argument as a program, and whether its argument and its results may lie elsewhere.
struct moving {
  bool argument;
  std::vector<bool> results;
};
template <class F>
moving moved(const F& f, const shape_t& shape = {many}, dtype type = float64) {
  runtime::stream& on = runtime::get_backend({}).current_stream();
  graph::step_session session(on, graph::step_of::function);
  const graph::value in = graph::unset_leaf(core::dims(shape.data(), static_cast<int>(shape.size())), type, {});
  std::vector<graph::value> given;
  for (const ndarray& y : f(ops::wrap(in))) given.push_back(ops::value_of(y, "moved"));
  session.give(std::move(given));
  const auto work = session.finish();
  REQUIRE(work);
  moving m{work->let_move(in, access::reads), {}};
  for (const graph::value& r : work->results()) m.results.push_back(work->let_move(r, access::writes));
  return m;
}

using arrays = std::vector<ndarray>;

/// A function of two arguments as it is and compiled, for arguments that lie in other places and are other ones' parts, and for
/// its own results; what earlier calls have given stays as it is.
template <class F>
void check_calls(const F& f, const shape_t& shape = {many}, dtype type = float64) {
  const auto compiled = compile(f);
  std::vector<std::int64_t> longer(shape.begin(), shape.end());
  longer[0] += 3;
  const ndarray whole = (arange(zeros(longer).size()) % 1013 - 300).astype(type).reshape(longer);
  const ndarray x = whole(slice(0, shape[0])).copy(), y = whole(slice(3, shape[0] + 3)).copy();
  const std::vector<std::pair<ndarray, ndarray>> all{
      {x, y}, {y, x}, {x, x}, {whole(slice(1, shape[0] + 1)), whole(slice(2, shape[0] + 2))}, {flip(x, 0), y}};
  std::vector<arrays> right, got;
  for (const auto& [a, b] : all) {
    right.push_back(f(a, b));
    for (ndarray& r : right.back()) r = r.copy();
    got.push_back(compiled(a, b));
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    REQUIRE(got[k].size() == right[k].size());
    for (std::size_t j = 0; j < right[k].size(); ++j) {
      CAPTURE(k);
      CAPTURE(j);
      REQUIRE(got[k][j].dtype() == right[k][j].dtype());
      CHECK(same_bits(got[k][j], right[k][j]));
    }
  }
  got[0][0](0) = 7;  // an array of the caller's
  const arrays again = compiled(all[0].first, all[0].second);
  CHECK(same_bits(again[0], right[0][0]));
  CHECK(compiled.size() == 1);
}

}  // namespace

TEST_CASE("compiled memory: results in between take turns in their memory") {
  if (!on_host()) return;  // the pool's figures below are the host's
  const ndarray u = numbers({many});
  eval(u);
  const std::size_t array = many * sizeof(double);
  const auto f = compile(diffuse);
  CHECK(peak_of([&] { f(u); }) <= 5 * array);
  CHECK(peak_of([&] { f(u); }) <= 2 * array);
  CHECK(same_bits(f(u), diffuse(u)));
}

TEST_CASE("compiled memory: a step of a loop uses its memory again, but for what is the same in each") {
  if (!on_host()) return;
  const ndarray w = numbers({many + 8}, float64, 5);  // of another shape, or both would be made by one kernel
  eval(w);
  const memory_pool pool;
  // Arrays that the step's work has besides its carry.
  const auto taken = [&](const auto& step) {
    const graph::value carry = graph::unset_leaf(core::dims{many}, float64, {});
    const std::size_t before = pool.figures().used;
    graph::step_session session(runtime::get_backend({}).current_stream(), graph::step_of::loop, std::span(&carry, 1));
    session.give({ops::value_of(step(ops::wrap(carry)), "taken")});
    const auto work = session.finish();
    REQUIRE(work);
    return (pool.figures().used - before) / (many * sizeof(double));
  };
  CHECK(taken([](const ndarray& x) { return diffuse(x); }) <= 3);
  // Each of the twenty stays where it is: nobody computes them again.
  const std::size_t with_constant = taken([&](const ndarray& x) { return ndarray(diffuse(x) + sum(diffuse(w))); });
  CHECK(with_constant >= 20);
  CHECK(with_constant <= 30);  // forty and more if none were used again
}

TEST_CASE("compiled memory: in the steps of a loop all stays but the carry and what the step itself computes") {
  if (!on_host()) return;
  const auto leaf = [] { return graph::unset_leaf(core::dims{8}, float64, {}); };
  const auto stream = []() -> runtime::stream& { return runtime::get_backend({}).current_stream(); };
  const graph::value before = leaf();
  graph::step_session function(stream(), graph::step_of::function);
  const graph::value around = leaf();
  CHECK_FALSE(function.stays(*before));  // it is run whole each time
  CHECK_FALSE(function.stays(*around));
  const graph::value carry = leaf(), argument = leaf();
  const graph::step_session step(stream(), graph::step_of::loop, std::span(&carry, 1), std::span(&argument, 1));
  const graph::value own = leaf();
  CHECK(step.stays(*before));
  CHECK(step.stays(*around));  // the function computes it once for all steps
  CHECK_FALSE(step.stays(*carry));
  CHECK_FALSE(step.stays(*argument));
  CHECK_FALSE(step.stays(*own));
}

TEST_CASE("compiled memory: an index out of range of a large argument is refused; later calls do not notice") {
  if (!on_host()) return;
  const auto f = compile(
      [](const ndarray& x, const ndarray& at) { return std::pair(ndarray(take(x, at, 0) * 2), ndarray(x + 1)); });
  const ndarray x = numbers({many}), good = (arange(many) * 7) % many, bad = where(good == 21, many, good);
  eval(x, good, bad);
  const auto right = [&] { return ndarray(take(x, good, 0) * 2); };
  CHECK(same_bits(f(x, good).first, right()));
  CHECK_THROWS_AS(f(x, bad), index_error);
  const auto [looked_up, moved] = f(x, good);
  CHECK(same_bits(looked_up, right()));
  CHECK(same_bits(moved, x + 1));
  CHECK_THROWS_AS(f(x(slice(0, many - 1)), good), index_error);
  CHECK(same_bits(f(x, good).first, right()));
}

TEST_CASE("compiled memory: what launches read and write need not be copied") {
  if (!on_host()) return;
  const auto plain = moved([](const ndarray& x) { return arrays{x * 2 + 1, sum(x)}; });
  CHECK(plain.argument);
  CHECK(plain.results == std::vector<bool>{true, true});
  CHECK(moved([](const ndarray& x) { return arrays{take(x, arange(9) * 5, 0)}; }).argument);
  const auto looked_up = moved([](const ndarray& x) {
    const ndarray y = exp(x);
    return arrays{y, take(y, (arange(many) * 7) % many, 0)};
  });
  CHECK(looked_up.results == std::vector<bool>{true, true});
  const auto written = moved([](const ndarray& x) {
    ndarray y = x.copy();
    y(slice(1, 9)) = y(slice(11, 19)) * 2;
    return arrays{y};
  });
  CHECK(written.argument);
  CHECK(written.results[0]);
}

TEST_CASE("compiled memory: what libraries, other results or several names stand in the way of is copied") {
  if (!on_host()) return;
  const auto itself = moved([](const ndarray& x) { return arrays{x, x * 2}; });
  CHECK_FALSE(itself.argument);
  CHECK(itself.results == std::vector<bool>{false, true});
  const auto twice = moved([](const ndarray& x) {
    const ndarray y = x * 2;
    return arrays{y, y};
  });
  CHECK(twice.argument);
  CHECK(twice.results == std::vector<bool>{false, false});
  const ndarray before = numbers({many});
  CHECK_FALSE(moved([&](const ndarray& x) { return arrays{before, x * 2}; }).results[0]);
  CHECK_FALSE(moved([](const ndarray& x) { return arrays{sort(x)}; }).argument);
  const auto product = moved([](const ndarray& x) { return arrays{matmul(x, x)}; }, {300, 300});
  CHECK_FALSE(product.argument);
}

TEST_CASE("compiled memory: calls have the bits of plain ones wherever arguments and results lie") {
  check_calls([](const ndarray& x, const ndarray& y) { return arrays{x * 2 + roll(y, 3), maximum(x, y)}; });
  check_calls([](const ndarray& x, const ndarray& y) { return arrays{diffuse(x) - diffuse(y), x - sum(x)}; });
  check_calls([](const ndarray& x, const ndarray& y) { return arrays{x, y, x}; });
  check_calls([](const ndarray& x, const ndarray& y) {
    const ndarray z = x + y;
    return arrays{z, z, z(slice(5, 50)), z * 1};
  });
  check_calls([](const ndarray& x, const ndarray& y) {
    ndarray z = x.copy();
    z(slice(2, many, 2)) += y(slice(2, many, 2));
    return arrays{z, sum(z), where(z > y, z, y)};
  });
  check_calls([](const ndarray& x, const ndarray& y) {
    return arrays{take(x, (arange(many) * 7) % many, 0) + y, flip(y, 0), concatenate(std::vector<ndarray>{x, y}, 0)};
  });
  check_calls(
      [](const ndarray& x, const ndarray& y) {
        return arrays{sum(x * y, 1), x - mean(x, 1)(_, newaxis), x + y};
      },
      {300, 220}, float32);
  check_calls(
      [](const ndarray& x, const ndarray& y) {
        return arrays{transpose(x) + transpose(y), x(0) + 1};
      },
      {300, 220});
  check_calls(
      [](const ndarray& x, const ndarray& y) {
        return arrays{(x & y).astype(int16), x == y, x * y};
      },
      {many * 2}, int32);
  check_calls([](const ndarray& x, const ndarray& y) { return arrays{x + y, x * 2}; }, {many * 4}, float16);
  if (on_host())
    check_calls(
        [](const ndarray& x, const ndarray& y) {
          return arrays{matmul(x, y), sort(x, 1) + y, cumsum(x, 1)};
        },
        {150, 150});
}

TEST_CASE("compiled memory: small parts of large arguments are those of the call after many calls as well") {
  if (!on_host()) return;
  const test::kernels_of compiled(cpu::tier::compiled);
  const auto f = compile([](const ndarray& x) { return arrays{x * 2, x(slice(3, 11)) + 1, sum(x(slice(0, 40)))}; });
  arrays kept;  // so that each lies elsewhere
  for (int k = 0; k < 100; ++k) {
    const ndarray x = numbers({many}, float64, k + 1).copy();
    kept.push_back(x);
    const arrays got = f(x);
    kept.insert(kept.end(), got.begin(), got.end());
    CHECK(same_bits(got[0], x * 2));
    CHECK(same_bits(got[1], x(slice(3, 11)) + 1));
    CHECK(same_bits(got[2], sum(x(slice(0, 40)))));
  }
}

TEST_CASE("compiled memory: results are the next call's arguments, by several threads") {
  const auto f =
      compile([](const ndarray& x, const ndarray& v) { return std::pair(ndarray(x + 0.1 * v), ndarray(v - 0.1 * x)); });
  const auto run = [&](int from) {
    ndarray x = numbers({many}, float64, from), v = zeros({many}), y = x.copy(), w = v.copy();
    bool same = true;
    for (int k = 0; k < 20; ++k) {
      std::tie(x, v) = f(x, v);
      std::tie(y, w) = std::pair(ndarray(y + 0.1 * w), ndarray(w - 0.1 * y));
      eval(y, w);
      same = same && same_bits(x, y) && same_bits(v, w);
    }
    return same;
  };
  bool first = false, second = false;
  std::thread other([&] { first = run(2); });
  second = run(7);
  other.join();
  CHECK(first);
  CHECK(second);
  CHECK(f.size() == 1);
}
