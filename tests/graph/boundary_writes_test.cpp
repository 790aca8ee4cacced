// Partial writes whose right sides read other parts of the same array, as boundary conditions do: those that read nothing
// that the others write are one kernel, and all have the values of one statement after the other.
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "graph/evaluated_work.hpp"
#include "sinter/sinter.hpp"
#include "support/simulated_gpu.hpp"

namespace sn = sinter;
using namespace sinter;
using namespace sinter::idx;
using namespace sinter::test;
using sn::ndarray;

namespace {

ndarray field(const sn::shape_t& shape, const sn::device& on = sn::device("cpu")) {
  std::int64_t n = 1;
  for (const std::int64_t e : shape) n *= e;
  ndarray x = sn::reshape(sn::arange(n, {.dtype = sn::float64, .device = on}), shape);
  sn::eval(x);
  return x;
}

/// Evaluated after each statement.
numbers in_steps(const ndarray& x, const std::vector<std::function<void(ndarray&)>>& statements) {
  ndarray y = x * 1;
  for (const auto& s : statements) {
    s(y);
    sn::eval(y);
  }
  return values(y);
}

void check(const ndarray& x, const std::vector<std::function<void(ndarray&)>>& statements, work expected) {
  ndarray y = x * 1;
  sn::eval(y);
  for (const auto& s : statements) s(y);
  const work found = evaluate(y);
  CHECK(found.kernels == expected.kernels);
  CHECK(found.copied == expected.copied);
  CHECK(values(y) == in_steps(x, statements));
}

}  // namespace

TEST_CASE("boundary writes: opposite edges that show their neighbours are one kernel") {
  for (const auto& shape : {sn::shape_t{9, 7}, {6, 6}, {4, 4}, {5, 12}}) {
    const ndarray x = field(shape);
    check(x,
          {[](ndarray& y) { y(0) = y(1); }, [](ndarray& y) { y(-1) = y(-2); }, [](ndarray& y) { y(_, 0) = y(_, 1); },
           [](ndarray& y) { y(_, -1) = y(_, -2); }},
          {2, 0});
    check(x, {[](ndarray& y) { y(0) = -y(1); }, [](ndarray& y) { y(-1) = 2 * y(-2) + y(-3); }}, {1, 0});
    check(x, {[](ndarray& y) { y(0) = y(-2); }, [](ndarray& y) { y(-1) = y(1); }}, {1, 0});  // periodic
  }
  const ndarray faces = field({5, 5, 5});
  check(faces,
        {[](ndarray& y) { y(0) = y(1); }, [](ndarray& y) { y(-1) = y(-2); }, [](ndarray& y) { y(_, 0) = y(_, 1); },
         [](ndarray& y) { y(_, -1) = y(_, -2); }, [](ndarray& y) { y(_, _, 0) = y(_, _, 1); },
         [](ndarray& y) { y(_, _, -1) = y(_, _, -2); }},
        {3, 0});
  // Several of them: each reads the version that none of the kernel's writes has changed.
  check(field({8, 3}),
        {[](ndarray& y) { y(0) = y(4) + 1; }, [](ndarray& y) { y(1) = y(5) + 2; }, [](ndarray& y) { y(2) = y(6) + 3; },
         [](ndarray& y) { y(3) = y(7) + y(4); }},
        {1, 0});
}

TEST_CASE("boundary writes: the five-point step is three kernels, and its plan is found again") {
  const ndarray u = field({7, 9});
  ndarray v = field({7, 9}), expected = field({7, 9});
  const auto inner = slice(1, -1), before = slice(_, -2), after = slice(2, _);
  const std::function<void(ndarray&)> statements[] = {
      [&](ndarray& y) {
        y(inner, inner) = u(inner, inner) + 0.25 * (u(before, inner) + u(after, inner) + u(inner, before) +
                                                    u(inner, after) - 4 * u(inner, inner));
      },
      [](ndarray& y) { y(0) = y(1); }, [](ndarray& y) { y(-1) = y(-2); }, [](ndarray& y) { y(_, 0) = y(_, 1); },
      [](ndarray& y) { y(_, -1) = y(_, -2); }};
  for (const auto& s : statements) {
    s(expected);
    sn::eval(expected);
  }
  for (int step = 0; step < 3; ++step) {
    const graph::planning_counts known = graph::planning();
    for (const auto& s : statements) s(v);
    CHECK(evaluate(v) == work{3, 0});
    CHECK(graph::planning().made - known.made == (step == 0 ? 1 : 0));
    CHECK(values(v) == values(expected));
  }
}

TEST_CASE("boundary writes: what reads what another one writes comes after it or before it") {
  const ndarray x = field({6, 6});
  // The same element reads what it writes: before that.
  check(x, {[](ndarray& y) { y(0) = y(1); }, [](ndarray& y) { y(1) = y(2); }}, {1, 0});
  check(x, {[](ndarray& y) { y(0) = sn::flip(y(1)); }, [](ndarray& y) { y(1) = y(2); }}, {2, 0});
  check(x, {[](ndarray& y) { y(0) = y(2); }, [](ndarray& y) { y(1) = y(0); }}, {2, 0});
  check(x, {[](ndarray& y) { y(0) = y(2); }, [](ndarray& y) { y(1) = y(3) + y(0); }}, {2, 0});
  check(x, {[](ndarray& y) { y(0) = y(2); }, [](ndarray& y) { y(1) = y(3); }, [](ndarray& y) { y(2) = y(0); }}, {2, 0});
  check(x, {[](ndarray& y) { y(0) = y(_, 0); }, [](ndarray& y) { y(-1) = y(_, 1); }}, {2, 36 * sizeof(double) * 2});
  check(x, {[](ndarray& y) { y(0) = y(0) + 1; }, [](ndarray& y) { y(1) = y(1) + 1; }}, {1, 0});
  // A sum of more elements than are added up where they are read is a kernel.
  check(field({12, 6}), {[](ndarray& y) { y(0) = y(1); }, [](ndarray& y) { y(-1) = sn::sum(y, 0); }}, {3, 0});
  // What is read by index may be anywhere.
  check(x, {[](ndarray& y) { y(0) = y(1); }, [](ndarray& y) { y(-1) = sn::roll(y(2), 1); }}, {2, 36 * sizeof(double)});
}

TEST_CASE("boundary writes: versions in between that something else needs stay") {
  const ndarray x = field({6, 4});
  ndarray y = x * 1;
  sn::eval(y);
  y(0) = y(1);
  const ndarray between = y + 0;
  y(-1) = y(-2);
  CHECK(values(y(-1)) == values(x(-2)));
  CHECK(values(between(-1)) == values(x(-1)));
  CHECK(values(between(0)) == values(x(1)));
  // A right side that a handle holds, too.
  y = x * 1;
  sn::eval(y);
  y(0) = y(1);
  const ndarray side = y(-2) * 2;
  y(-1) = side;
  y(-2) = 7;
  CHECK(values(y(-1)) == values(x(-2) * 2));
  CHECK(values(side) == values(x(-2) * 2));
  // The version before them as well.
  y = x * 1;
  sn::eval(y);
  const ndarray old = y.copy();
  y(0) = y(1);
  y(-1) = y(-2);
  CHECK(evaluate(y) == work{1, 24 * sizeof(double)});
  CHECK(values(old) == values(x));
  CHECK(values(y(0)) == values(x(1)));
}

TEST_CASE("boundary writes: pending arrays, and arrays without elements") {
  const ndarray x = field({6, 4});
  ndarray y = x * 3 + 1;
  y(0) = y(1);
  y(-1) = y(-2);
  const numbers expected = values(x * 3 + 1);
  const numbers found = values(y);
  for (int j = 0; j < 4; ++j) {
    CHECK(found[static_cast<std::size_t>(j)] == expected[static_cast<std::size_t>(4 + j)]);
    CHECK(found[static_cast<std::size_t>(20 + j)] == expected[static_cast<std::size_t>(16 + j)]);
  }
  ndarray empty = sn::zeros({3, 0}, {.device = "cpu"});
  empty(0) = empty(1);
  empty(-1) = empty(1);
  sn::eval(empty);
  CHECK(empty.size() == 0);
}

TEST_CASE("boundary writes: a launch that fails leaves what is pending to be evaluated") {
  const limits_guard restore;
  const ndarray x = field({7, 5});
  const auto write = [](ndarray& y) { y(0) = y(1), y(-1) = y(-2), y(_, 0) = y(_, 1), y(_, -1) = y(_, -2); };
  ndarray z = x * 1;
  write(z);
  const numbers expected = values(z);
  for (int fails = 0; fails < 2; ++fails) {
    CAPTURE(fails);
    ndarray y = x * 1;
    sn::eval(y);
    write(y);
    graph::limits().fail_launch = fails;
    CHECK_THROWS_AS(sn::eval(y), sn::memory_error);
    graph::limits().fail_launch = -1;
    CHECK(values(y) == expected);
  }
}

namespace {

/// Slabs of an array, written from other slabs of it; the versions in between are held now and then.
void random_slabs(std::uint64_t seed, const sn::device& on) {
  std::mt19937_64 random(seed);
  const auto pick = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  const int rank = 1 + static_cast<int>(pick(3));
  const std::int64_t side = 3 + pick(4);
  const sn::shape_t shape(std::vector<std::int64_t>(static_cast<std::size_t>(rank), side));
  ndarray y = field(shape, on);
  numbers expected = values(y);
  std::vector<std::pair<ndarray, numbers>> held;
  const auto element = [&](std::int64_t axis, std::int64_t at, std::size_t k) {  // the k-th of a slab
    std::size_t inner = 1;
    for (std::int64_t a = axis + 1; a < rank; ++a) inner *= static_cast<std::size_t>(side);
    return (k / inner * static_cast<std::size_t>(side) + static_cast<std::size_t>(at)) * inner + k % inner;
  };
  const auto slab = [&](std::int64_t axis, std::int64_t at) {
    std::vector<sn::index> key(static_cast<std::size_t>(axis), sn::index(_));
    key.emplace_back(at);
    return key;
  };
  std::int64_t axis = pick(rank), from_axis = axis;
  for (int statement = 0; statement < 14; ++statement) {
    if (pick(4) == 0) axis = pick(rank);
    from_axis = pick(8) == 0 ? pick(rank) : axis;
    const std::int64_t to = pick(static_cast<int>(side)), from = pick(static_cast<int>(side)), more = pick(9);
    const numbers before = expected;
    const std::size_t count = expected.size() / static_cast<std::size_t>(side);
    if (more < 2) y(slab(axis, to)) = y(slab(from_axis, from));
    else y(slab(axis, to)) = y(slab(from_axis, from)) + static_cast<double>(more);
    for (std::size_t k = 0; k < count; ++k)
      expected[element(axis, to, k)] = before[element(from_axis, from, k)] + (more < 2 ? 0 : static_cast<double>(more));
    const std::int64_t then = pick(16);
    if (then == 0) held.emplace_back(y + 0, expected);
    if (then == 1) held.emplace_back(y.copy(), expected);
    if (then == 2) sn::eval(y);
  }
  if (pick(2) == 0) CHECK(values(y) == expected);
  for (const auto& [array, numbers] : held) CHECK(values(array) == numbers);
  CHECK(values(y) == expected);
}

}  // namespace

TEST_CASE("boundary writes: random slabs") {
  const limits_guard restore;
  for (const bool verify : {false, true}) {
    graph::limits().verify_cached = verify;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
      CAPTURE(seed);
      random_slabs(seed, sn::device("cpu"));
    }
  }
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    sim::set_order(seed);
    random_slabs(seed, sim::first());
  }
}
