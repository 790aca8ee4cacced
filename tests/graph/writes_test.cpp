// Chains of partial writes: which run in one kernel, and which need no copy of what was there before.
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "graph/evaluated_work.hpp"
#include "graph/run/flush.hpp"
#include "graph/values/limits.hpp"
#include "graph/values/regions.hpp"
#include "runtime/backend.hpp"
#include "sinter/sinter.hpp"
#include "support/simulated_gpu.hpp"

namespace sn = sinter;
using namespace sinter;
using namespace sinter::idx;
using namespace sinter::test;
using sn::ndarray;

namespace {

using key = std::vector<sn::index>;

ndarray field(std::int64_t rows, std::int64_t columns, const sn::device& d = sn::device("cpu")) {
  ndarray x = sn::reshape(sn::arange(rows * columns, {.dtype = sn::float32, .device = d}), {rows, columns});
  sn::eval(x);
  return x;
}

/// The five-point step as a user writes it.
ndarray step(const ndarray& u) {
  ndarray n = u.copy();
  n(slice(1, -1), slice(1, -1)) = 0.25f * (u(slice(2, _), slice(1, -1)) + u(slice(_, -2), slice(1, -1)) +
                                           u(slice(1, -1), slice(2, _)) + u(slice(1, -1), slice(_, -2)));
  n(0, _) = 1;
  n(-1, _) = 2;
  n(_, 0) = 3;
  n(_, -1) = 4;
  return n;
}
numbers expected_step(const numbers& u, int rows, int columns) {
  const auto at = [&](int i, int j) { return u[static_cast<std::size_t>(i * columns + j)]; };
  numbers n;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      n.push_back(j == columns - 1 ? 4
                  : j == 0         ? 3
                  : i == rows - 1  ? 2
                  : i == 0         ? 1
                                   : 0.25 * (at(i + 1, j) + at(i - 1, j) + at(i, j + 1) + at(i, j - 1)));
  return n;
}

}  // namespace

TEST_CASE("writes: the five-point step copies nothing, and opposite edges are one kernel") {
  for (const std::pair<int, int>& extents : {std::pair{9, 7}, {6, 6}, {3, 3}, {4, 12}}) {
    const int rows = extents.first, columns = extents.second;
    CAPTURE(rows);
    ndarray u = field(rows, columns);
    numbers expected = values(u);
    for (int k = 0; k < 4; ++k) {
      u = step(u);
      CHECK(evaluate(u) == work{3, 0});
      expected = expected_step(expected, rows, columns);
      CHECK(values(u) == expected);
    }
  }
}

TEST_CASE("writes: what is read, held or overlaps is written separately or copied") {
  const ndarray x = field(6, 6);
  const numbers old = values(x);
  const auto run = [&](const std::function<void(ndarray&)>& writes) {
    ndarray y = x * 1;
    sn::eval(y);
    writes(y);
    return evaluate(y);
  };
  const auto edges = [](ndarray& y) { y(0, _) = 7, y(-1, _) = 8; };
  CHECK(run(edges) == work{1, 0});
  CHECK(run([](ndarray& y) { y(0, _) = 7, y(_, 0) = 8; }) == work{2, 0});              // they cross
  CHECK(run([](ndarray& y) { y(0, _) = y(1, _), y(1, _) = y(3, _); }) == work{1, 0});  // each reads before it writes
  CHECK(run([](ndarray& y) { y(0, _) = y(1, slice(_, _, -1)), y(1, _) = y(3, _); }) ==
        work{2, 0});                                                                 // reads what may change
  CHECK(run([](ndarray& y) { y(0, _) = 7, y(1, slice(1, _)) = 8; }) == work{2, 0});  // other extents
  CHECK(run([](ndarray& y) { y(slice(_, _, 2)) = 1, y(slice(1, _, 2)) = 2; }) == work{1, 0});
  CHECK(run([](ndarray& y) { y(_, slice(_, _, 2)) = 1, y(_, slice(1, _, 2)) = 2; }) == work{1, 0});
  const work held = run([](ndarray& y) {
    y(0, _) = 7;
    const ndarray between = y * 2;
    y(1, _) = 8;
    CHECK(values(between)[6] == 12);
  });
  CHECK(held.kernels >= 1);
  // The old version is still referred to: the whole of it is copied unless all of it is written.
  ndarray y = x.copy();
  edges(y);
  CHECK(evaluate(y) == work{1, 36 * sizeof(float)});
  CHECK(values(x) == old);
  y = x.copy();
  y(slice(_, 3)) = 1;
  y(slice(3, _)) = 2;
  CHECK(evaluate(y) == work{1, 0});
  CHECK(values(x) == old);
  CHECK(values(y)[17] == 1);
  CHECK(values(y)[18] == 2);
  // A version in between that something holds shows the rest of the array.
  y = x.copy();
  y(slice(_, 3)) = 1;
  const ndarray between = y.copy();
  y(slice(3, _)) = 2;
  sn::eval(y);
  CHECK(values(between)[18] == 18);
  CHECK(values(between)[0] == 1);
}

TEST_CASE("writes: the parts of a stack are one kernel, whatever they read") {
  const ndarray x = field(6, 5), z = field(6, 5) * 2;
  sn::eval(z);
  const numbers a = values(x);
  std::vector<ndarray> rolled;
  for (std::int64_t k = 0; k < 5; ++k) rolled.push_back(sn::roll(x, {k, -k}, {0, 1}));
  // Last axis and first.
  for (const int axis : {0, 2}) {
    const ndarray y = sn::stack(rolled, axis);
    CHECK(evaluate(y) == work{1, 0});
    for (int k = 0; k < 5; ++k)
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 5; ++j) {
          const ndarray one = axis == 0 ? y(k, i, j) : y(i, j, k);
          CHECK(one.item<float>() == a[static_cast<std::size_t>((i - k + 12) % 6 * 5 + (j + k) % 5)]);
        }
  }
  // Padding, repetitions and constant indices cannot fail either; indices in arrays can.
  CHECK(evaluate(sn::stack({sn::pad(x, 1, {.mode = "edge"}), sn::pad(z, 1, {.mode = "edge"})})) == work{1, 0});
  CHECK(evaluate(sn::stack({x(list{1, 3, 5}) + 1, z(list{0, 2, 4})})) == work{1, 0});
  const ndarray some = sn::array(std::vector<std::int64_t>{1, 9}).to_device("cpu");
  ndarray bad = sn::zeros({2, 2, 5}, {.dtype = sn::float32, .device = "cpu"});
  sn::eval(bad);
  bad(0) = sn::take(z, some, 0);
  bad(1) = x(slice(2));
  CHECK_THROWS_AS(values(bad), sn::index_error);
}

namespace {

/// Sums and differences of two parts, written over them; of the second part, `other` is read.
void butterfly(ndarray& y, const key& first, const key& second, const key& other) {
  const ndarray sum = y(first) + y(other), difference = y(first) - y(other);
  y(first) = sum;
  y(second) = difference;
}

}  // namespace

TEST_CASE("writes: parts that are computed from each other are one kernel, in place") {
  for (const std::int64_t n : {8, 600, 200000}) {
    CAPTURE(n);
    const std::int64_t half = n / 2;
    const std::pair<key, key> parts[] = {{{slice(_, half)}, {slice(half, _)}},
                                         {{slice(_, _, 2)}, {slice(1, _, 2)}},
                                         {{slice(half, _)}, {slice(_, half)}}};
    for (const auto& [first, second] : parts) {
      ndarray y = sn::arange(n, {.dtype = sn::float32, .device = sn::device("cpu")}) * 1;
      sn::eval(y);
      const ndarray a = y(first) * 1, b = y(second) * 1;
      sn::eval(a, b);
      butterfly(y, first, second, second);
      CHECK(evaluate(y) == work{1, 0});
      CHECK(values(y(first)) == values(a + b));
      CHECK(values(y(second)) == values(a - b));
    }
  }
  ndarray m = field(8, 6);  // columns of a matrix
  const ndarray left = m(_, slice(_, 3)) * 1, right = m(_, slice(3, _)) * 1;
  sn::eval(left, right);
  butterfly(m, {_, slice(_, 3)}, {_, slice(3, _)}, {_, slice(3, _)});
  CHECK(evaluate(m) == work{1, 0});
  CHECK(values(m) == values(sn::concatenate({left + right, left - right}, 1)));
}

TEST_CASE("writes: parts that are read in another order than they are written are not one kernel in place") {
  for (const std::int64_t n : {8, 600, 200000}) {
    CAPTURE(n);
    const std::int64_t half = n / 2;
    ndarray y = sn::arange(n, {.dtype = sn::float32, .device = sn::device("cpu")}) * 1;
    sn::eval(y);
    const ndarray a = y(slice(_, half)) * 1, b = y(slice(half, _)) * 1, back = b(slice(_, _, -1)) * 1;
    sn::eval(a, b, back);
    butterfly(y, {slice(_, half)}, {slice(half, _)}, {slice(_, half - 1, -1)});
    CHECK(values(y) == values(sn::concatenate({a + back, a - back})));
    // Neighbours: what a part reads is another element's.
    ndarray z = sn::concatenate({a, b});
    sn::eval(z);
    {
      const ndarray next = z(slice(_, -1)) + z(slice(1, _)), first = z(slice(_, 1)) * 3;
      z(slice(1, _)) = next;
      z(slice(_, 1)) = first;
    }
    const ndarray whole = sn::concatenate({a, b});
    CHECK(values(z) == values(sn::concatenate({a(slice(_, 1)) * 3, whole(slice(_, -1)) + whole(slice(1, _))})));
  }
}

TEST_CASE("writes: large parts are one kernel if they read the same array") {
  const std::int64_t n = (1 << 20) + 3;
  ndarray x = sn::zeros({n, 2}, {.dtype = sn::uint8, .device = "cpu"}), y = x + 1;
  sn::eval(x, y);
  const ndarray a = x(_, 0), b = x(_, 1), c = y(_, 1);
  CHECK(evaluate(sn::stack({a + b, a ^ b, b}, -1)) == work{1, 0});
  CHECK(evaluate(sn::stack({a, c})) == work{2, 0});
  CHECK(evaluate(sn::stack({a, c}, -1)) == work{1, 0});  // they write the same sectors
}

TEST_CASE("writes: a pending array that is overwritten piece by piece is not computed") {
  const ndarray x = field(6, 6);
  ndarray y = sn::exp(x * 3);
  y(slice(_, 2)) = x(slice(_, 2)) + 1;
  y(slice(2, _), slice(_, 4)) = 5;
  y(slice(2, _), slice(4, _)) = 6;
  CHECK(evaluate(y) == work{3, 0});
  CHECK(values(y)[0] == 1);
  CHECK(values(y)[12] == 5);
  CHECK(values(y)[16] == 6);
  // Without one element of it.
  y = x * 3;
  y(slice(_, 2)) = 4;
  y(slice(2, _), slice(_, 4)) = 5;
  y(slice(2, 5), slice(4, _)) = 6;
  sn::eval(y);
  CHECK(values(y)[35] == 105);
}

TEST_CASE("writes: errors in what is overwritten piece by piece are reported as ever") {
  const ndarray x = field(4, 4);
  for (const bool at_once : {false, true}) {
    ndarray bad = sn::take(sn::ravel(x), sn::array(std::vector<std::int64_t>{3, 99, 1, 2}).to_device("cpu")) * 2;
    if (at_once) sn::eval(bad);
    ndarray y = bad + 1;
    y(slice(_, 2)) = 5;
    y(slice(2, _)) = 6;
    CHECK_THROWS_AS(values(y), sn::index_error);
    CHECK_THROWS_AS(values(y), sn::index_error);
  }
}

TEST_CASE("writes: regions") {
  using graph::box;
  using graph::dims;
  const dims shape{4, 1, 5};
  box b;
  const dims strides{5, 1}, extents{2, 3}, one{1, 1}, two{10, 1}, across{6, 1}, back{-5, -1};
  CHECK(graph::find_box(shape, {6, strides, extents}, b));
  CHECK(b.first == dims{1, 0, 1});
  CHECK(b.end == dims{3, 1, 4});
  CHECK(graph::find_box(shape, {13, back, extents}, b));
  CHECK(b.first == dims{1, 0, 1});
  CHECK(b.end == dims{3, 1, 4});
  CHECK(graph::find_box(shape, {6, across, one}, b));
  CHECK_FALSE(graph::find_box(shape, {6, two, extents}, b));      // every second row
  CHECK_FALSE(graph::find_box(shape, {6, across, extents}, b));   // a diagonal band
  CHECK_FALSE(graph::find_box(shape, {8, strides, extents}, b));  // would go on in the next row
  graph::uncovered left(shape);
  CHECK_FALSE(left.empty());
  left.remove({dims{0, 0, 1}, dims{4, 1, 5}});
  CHECK_FALSE(left.empty());
  left.remove({dims{1, 0, 0}, dims{4, 1, 2}});
  CHECK_FALSE(left.empty());
  left.remove({dims{0, 0, 0}, dims{1, 1, 1}});
  CHECK(left.empty());
  CHECK(graph::uncovered(dims{3, 0}).empty());

  const dims cube{4, 5, 6}, face{4, 6}, along{30, 1}, odd{2, 2}, by_two{60, 2};
  CHECK(graph::are_disjoint(cube, {0, along, face}, {24, along, face}));  // the first and the last row of each plane
  CHECK_FALSE(graph::are_disjoint(cube, {0, along, face}, {1, along, face}));
  CHECK(graph::are_disjoint(cube, {0, by_two, odd}, {1, by_two, odd}));
  CHECK(graph::are_disjoint(cube, {0, by_two, odd}, {30, by_two, odd}));
  CHECK_FALSE(graph::are_disjoint(cube, {0, by_two, odd}, {62, by_two, odd}));
  // Halves of the rows of a matrix that was a vector before.
  const dims line{48}, rows{6, 1}, half{8, 3}, longer{8, 4};
  CHECK(graph::are_disjoint(line, {0, rows, half}, {3, rows, half}));
  CHECK_FALSE(graph::are_disjoint(line, {0, rows, half}, {2, rows, half}));
  CHECK_FALSE(graph::are_disjoint(line, {0, rows, longer}, {3, rows, half}));
  // Every pair of small regions of an array, and of its elements in a row.
  for (int code = 0; code < 12 * 12 * 16; ++code) {
    const std::int64_t first = code % 12, other = code / 12 % 12;
    const dims sa{code / 144 % 2 ? 4 : 5, 1}, sb{4, code / 288 % 2 ? 2 : 1};
    const dims ea{1 + code / 576 % 2, 2}, eb{2, 1 + code / 1152 % 2};
    if (first + sa[0] * (ea[0] - 1) + 1 > 11 || other + 4 + sb[1] * (eb[1] - 1) > 11) continue;
    bool meet = false;
    for (int i = 0; i < ea[0] * 2; ++i)
      for (int j = 0; j < 2 * eb[1]; ++j)
        meet = meet || first + i / 2 * sa[0] + i % 2 == other + j / eb[1] * 4 + j % eb[1] * sb[1];
    if (!meet) continue;
    CHECK_FALSE(graph::are_disjoint({3, 4}, {first, sa, ea}, {other, sb, eb}));
    CHECK_FALSE(graph::are_disjoint({12}, {first, sa, ea}, {other, sb, eb}));
  }
}

namespace {

/// A random program of writes, with its results as NumPy's rules give them.
class random_writes {
 public:
  random_writes(std::uint64_t seed, const sn::device& d) : random_(seed), device_(d) {
    for (int a = 0, rank = 1 + pick(3); a < rank; ++a) shape_.push_back(1 + pick(5));
    for (const int n : shape_) size_ *= n;
    for (int k = 0; k < 2; ++k) {
      expected_.emplace_back();
      for (int i = 0; i < size_; ++i) expected_.back().push_back(pick(50));
      arrays_.push_back(sn::reshape(sn::array(expected_.back(), {.device = device_}), extents()));
    }
  }

  void run(int statements) {
    for (int s = 0; s < statements; ++s) one();
    for (std::size_t k = 0; k < arrays_.size(); ++k) CHECK(values(arrays_[k]) == expected_[k]);
    for (std::size_t k = 0; k < held_.size(); ++k) CHECK(values(held_[k]) == expected_held_[k]);
  }

 private:
  struct selected {
    key where;
    std::vector<int> elements;  // C order
    std::vector<int> shape;
  };
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  sn::shape_t extents() const { return sn::shape_t(std::vector<std::int64_t>(shape_.begin(), shape_.end())); }

  selected region() {
    selected s{{}, {0}, {}};
    for (const int n : shape_) {
      std::vector<int> along;
      const int kind = pick(6);
      if (kind == 0) {
        along = {pick(n)};
        s.where.emplace_back(along[0]);
      } else if (kind == 1 || n == 1) {
        for (int i = 0; i < n; ++i) along.push_back(i);
        s.where.emplace_back(_);
        s.shape.push_back(n);
      } else {
        const int first = pick(n), last = first + 1 + pick(n - first), by = kind == 5 ? 2 : 1;
        for (int i = first; i < last; i += by) along.push_back(i);
        s.where.emplace_back(slice(first, last, by));
        s.shape.push_back(static_cast<int>(along.size()));
      }
      std::vector<int> more;
      for (const int e : s.elements)
        for (const int i : along) more.push_back(e * n + i);
      s.elements = std::move(more);
    }
    return s;
  }

  void one() {
    const auto to = static_cast<std::size_t>(pick(2));
    ndarray& y = arrays_[to];
    numbers& e = expected_[to];
    const selected r = region();
    const int kind = pick(12);
    if (kind < 6) {
      const int v = pick(100);
      y(r.where) = v;
      for (const int i : r.elements) e[static_cast<std::size_t>(i)] = v;
    } else if (kind < 8) {  // the same region, or another of the same shape, of either array
      const auto from = static_cast<std::size_t>(pick(2));
      selected source = r;
      for (int k = 0; k < 4; ++k)
        if (selected other = region(); other.shape == r.shape) source = other;
      const numbers before = expected_[from];
      y(r.where) = arrays_[from](source.where) + 1;
      for (std::size_t k = 0; k < r.elements.size(); ++k)
        e[static_cast<std::size_t>(r.elements[k])] = before[static_cast<std::size_t>(source.elements[k])] + 1;
    } else if (kind == 8) {
      y(r.where) += 2;
      for (const int i : r.elements) e[static_cast<std::size_t>(i)] += 2;
    } else if (kind == 9) {
      held_.push_back(pick(2) ? y.copy() : y + 0);
      expected_held_.push_back(e);
    } else if (kind == 10) {
      sn::eval(arrays_[static_cast<std::size_t>(pick(2))]);
    } else {
      y = arrays_[1 - to] * 1;
      e = expected_[1 - to];
    }
  }

  std::mt19937_64 random_;
  sn::device device_;
  std::vector<int> shape_;
  int size_ = 1;
  std::vector<ndarray> arrays_, held_;
  std::vector<numbers> expected_, expected_held_;
};

}  // namespace

TEST_CASE("writes: random programs") {
  const limits_guard restore;
  for (const bool verify : {false, true}) {
    graph::limits().verify_cached = verify;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      CAPTURE(seed);
      random_writes(seed, sn::device("cpu")).run(6 + static_cast<int>(seed % 20));
    }
  }
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    sim::set_order(seed);
    random_writes(seed, sim::first()).run(12);
  }
}

TEST_CASE("writes: a launch that fails leaves what later writes complete") {
  const limits_guard restore;
  for (int fails = 0; fails < 4; ++fails) {
    CAPTURE(fails);
    const ndarray u = field(5, 8);
    const ndarray n = step(u);
    graph::limits().fail_launch = fails;
    if (fails < 3) CHECK_THROWS_AS(sn::eval(n), sn::memory_error);
    else sn::eval(n);
    graph::limits().fail_launch = -1;
    CHECK(values(n) == expected_step(values(u), 5, 8));
  }
  for (int fails = 0; fails < 2; ++fails) {
    const ndarray u = field(5, 8);
    const ndarray n = step(u);
    graph::limits().fail_allocation = fails;
    if (fails < 1) CHECK_THROWS_AS(sn::eval(n), sn::memory_error);
    else sn::eval(n);
    graph::limits().fail_allocation = -1;
    CHECK(values(n) == expected_step(values(u), 5, 8));
  }
}

TEST_CASE("writes: plans are used for the same regions only") {
  const ndarray u = field(7, 7);
  const auto edges = [&](int row, int column, bool keep, ndarray& kept) {
    ndarray n = u.copy();
    n(slice(1, -1), slice(1, -1)) = 5.5f;
    n(0, _) = 1;
    if (keep) kept = n.copy();
    n(row, _) = 2;
    n(_, 0) = 3;
    n(_, column) = 4;
    return n;
  };
  const auto plans = [&](const ndarray& n) {
    const graph::planning_counts before = graph::planning();
    sn::eval(n);
    return std::pair(graph::planning().made - before.made, graph::planning().reused - before.reused);
  };
  using counted = std::pair<std::uint64_t, std::uint64_t>;
  ndarray kept;
  CHECK(plans(edges(-1, -1, false, kept)) == counted{1, 0});
  CHECK(plans(edges(-1, -1, false, kept)) == counted{0, 1});
  const ndarray inner = edges(-2, -1, false, kept);  // the last row is not written
  CHECK(plans(inner) == counted{1, 0});
  CHECK(values(inner)[6 * 7 + 3] == 45);
  const ndarray held = edges(-1, -1, true, kept);  // the version in between is read
  CHECK(plans(held) == counted{1, 0});
  CHECK(values(kept)[6 * 7 + 3] == 45);
  CHECK(values(held)[6 * 7 + 3] == 2);
  CHECK(plans(edges(-1, -1, false, kept)) == counted{0, 1});
}
