// Sums and products of floating-point numbers on the CPU have the bits of the one order of additions, whatever the extents,
// the layout, the fusion, the tier and the threads.
#include <doctest/doctest.h>

#include <complex>
#include <string>
#include <vector>

#include "backends/cpu/addition_order.hpp"
#include "support/cpu_harness.hpp"

using namespace cpu_test;

namespace {

struct extents {
  std::int64_t results, reduced;
};

template <class T>
T sample(std::size_t k) {
  const double low = static_cast<double>(k * 2654435761u % 1000003) / 1000003.0;
  // Of very different magnitudes, so that no two orders agree by chance.
  const double x = (low - 0.4) * static_cast<double>(1 << (k * 7 % 11));
  if constexpr (requires(T v) { v.real(); }) {
    using part = typename T::value_type;
    return {static_cast<part>(x), static_cast<part>(0.3 - x * low)};
  } else {
    return static_cast<T>(x);
  }
}
/// Near 1, so that no product ends.
template <class T>
T factor(std::size_t k) {
  return T(1) + static_cast<T>(static_cast<double>(k * 2654435761u % 1000003) / 1000003.0 - 0.5) / T(64);
}

template <class T>
std::vector<T> data_of(reduce_op op, const extents& e) {
  std::vector<T> data(static_cast<std::size_t>(e.results * e.reduced));
  for (std::size_t k = 0; k < data.size(); ++k) {
    if constexpr (std::is_floating_point_v<T>) data[k] = op == reduce_op::prod ? factor<T>(k) : sample<T>(k);
    else data[k] = sample<T>(k);
  }
  return data;
}

template <class T>
T both(reduce_op op, T a, T b) {
  return op == reduce_op::prod ? a * b : a + b;
}

/// What the order says, of the elements f(0), f(1), ... of each result.
template <class T, class F>
std::vector<T> expected(reduce_op op, const extents& e, bool rows, F element) {
  const jit::addition_order order = jit::order_of_additions(rows, e.results, e.reduced);
  std::vector<T> out, x(static_cast<std::size_t>(e.reduced));
  for (std::int64_t r = 0; r < e.results; ++r) {
    for (std::int64_t k = 0; k < e.reduced; ++k) x[static_cast<std::size_t>(k)] = element(r, k);
    out.push_back(*order_test::joined(x, order, [op](T a, T b) { return both(op, a, b); }));
  }
  return out;
}

template <class T>
void check(reduce_op op, const extents& e, bool rows, bool thoroughly) {
  const std::string type(name(dtype_of<T>));
  CAPTURE(type);
  CAPTURE(e.results);
  CAPTURE(e.reduced);
  CAPTURE(rows);
  CAPTURE(static_cast<int>(op));
  const auto data = data_of<T>(op, e);
  const auto at_rows = [&](std::int64_t r, std::int64_t k) {
    return data[static_cast<std::size_t>(r * e.reduced + k)];
  };
  const auto right = expected<T>(op, e, rows, at_rows);

  builder b;
  b.reduce(op, dtype_of<T>, b.load(dtype_of<T>));
  program p = b.reductions();
  std::vector<T> out(static_cast<std::size_t>(e.results));
  jit::launch l = space(p, {e.results, e.reduced}, 1, rows);
  l.outputs = {at(out, {1, 0})};
  const auto matches = [&](const char* layout) {
    CAPTURE(layout);
    run(l);
    CHECK(same_bits(out, right));
  };
  l.inputs = {at(data, {e.reduced, 1})};
  matches("elements of a result are neighbours");
  if (thoroughly) CHECK(same_bits(in_all_ways(l, out), right));
  std::vector<T> spaced(2 * data.size() + 2), transposed(data.size());
  for (std::size_t k = 0; k < data.size(); ++k) {
    spaced[2 * k + 1] = data[k];
    const std::size_t reduced = static_cast<std::size_t>(e.reduced);
    transposed[k % reduced * static_cast<std::size_t>(e.results) + k / reduced] = data[k];
  }
  l.inputs = {at(spaced, {2 * e.reduced, 2}, 1)};
  matches("every second element");
  l.inputs = {at(transposed, {1, e.results})};
  matches("results are neighbours");
  if (thoroughly) CHECK(same_bits(in_all_ways(l, out), right));
  for (std::int64_t inner : {6, 50}) {
    if (e.reduced % inner != 0) continue;
    jit::launch s = space(p, {e.results, e.reduced / inner, inner}, 1, rows);
    s.outputs = {at(out, {1, 0, 0})};
    s.inputs = {at(spaced, {2 * e.reduced, 2 * inner, 2}, 1)};
    run(s);
    CHECK(same_bits(out, right));
  }
}

/// A sum of products, a sum of what is computed, and an extremum of the same elements in one kernel.
template <class T>
void check_fused(const extents& e, bool rows, bool thoroughly) {
  const std::string type(name(dtype_of<T>));
  CAPTURE(type);
  CAPTURE(e.results);
  CAPTURE(e.reduced);
  CAPTURE(rows);
  const auto data = data_of<T>(reduce_op::sum, e);
  std::vector<T> weights(static_cast<std::size_t>(e.reduced));
  for (std::size_t k = 0; k < weights.size(); ++k) weights[k] = sample<T>(3 * k + 1);
  const auto product = [&](std::int64_t r, std::int64_t k) {
    return data[static_cast<std::size_t>(r * e.reduced + k)] * weights[static_cast<std::size_t>(k)];
  };
  const auto more = [&](std::int64_t r, std::int64_t k) {
    return product(r, k) - data[static_cast<std::size_t>(r * e.reduced + k)];
  };
  const auto products = expected<T>(reduce_op::sum, e, rows, product),
             sums = expected<T>(reduce_op::sum, e, rows, more);

  const auto layouts = [&](const program& p, const std::vector<std::vector<T>>& right, bool all) {
    std::vector<std::vector<T>> out(p.outputs.size(), std::vector<T>(static_cast<std::size_t>(e.results)));
    jit::launch l = space(p, {e.results, e.reduced}, 1, rows);
    for (auto& o : out) l.outputs.push_back(at(o, {1, 0}));
    std::vector<T> transposed(data.size());
    for (std::size_t k = 0; k < data.size(); ++k)
      transposed[k % weights.size() * static_cast<std::size_t>(e.results) + k / weights.size()] = data[k];
    for (bool across : {false, true}) {
      CAPTURE(across);
      l.inputs = {across ? at(transposed, {1, e.results}) : at(data, {e.reduced, 1}), at(weights, {0, 1})};
      if (all) in_all_ways(l, out[0]);
      run(l);
      for (std::size_t k = 0; k < right.size(); ++k) CHECK(same_bits(out[k], right[k]));
    }
  };
  builder a;
  const auto x = a.load(dtype_of<T>), w = a.load(dtype_of<T>);
  a.reduce(reduce_op::sum, dtype_of<T>, a.binary(opcode::multiply, dtype_of<T>, x, w));
  layouts(a.reductions(), {products}, thoroughly);
  builder b;
  const auto y = b.load(dtype_of<T>), v = b.load(dtype_of<T>);
  const auto z = b.binary(opcode::multiply, dtype_of<T>, y, v);
  b.reduce(reduce_op::sum, dtype_of<T>, b.binary(opcode::subtract, dtype_of<T>, z, y));
  b.reduce(reduce_op::sum, dtype_of<T>, z);
  b.reduce(reduce_op::max, dtype_of<T>, z);
  layouts(b.reductions(), {sums, products}, thoroughly);
  b.p.code.resize(b.p.epilogue), b.p.outputs.clear();
  b.reduce(reduce_op::moment2, dtype_of<T>, z);  // follows an order of its own
  layouts(b.reductions(), {sums, products}, false);
}

std::vector<extents> row_extents() {
  std::vector<extents> all;
  for (std::int64_t n = 1; n <= 300; ++n) all.push_back({n % 7 == 0 ? 37 : 3, n});
  for (const extents& e : std::initializer_list<extents>{
           {1030, 256}, {1030, 299}, {1024, 300}, {1023, 260},  {1, 1000},    {2, 1000},  {1100, 1000},
           {1, 4095},   {1, 4096},   {3, 4097},   {1025, 4097}, {1, 16383},   {1, 16384}, {2, 20000},
           {5, 30001},  {1, 65535},  {1, 65536},  {1, 65537},   {1, 1 << 20}, {3, 100003}})
    all.push_back(e);
  return all;
}
std::vector<extents> column_extents() {
  std::vector<extents> all;
  for (std::int64_t n = 1; n <= 300; n += 1 + n / 40) all.push_back({n % 5 == 0 ? 290 : 2 + n % 60, n});
  for (const extents& e : std::initializer_list<extents>{{2, 1000},
                                                         {3, 4097},
                                                         {31, 999},
                                                         {32, 1000},
                                                         {33, 1001},
                                                         {128, 129},
                                                         {129, 2000},
                                                         {1000, 300},
                                                         {1001, 301},
                                                         {5, 100003},
                                                         {2, 1 << 19},
                                                         {300, 10007},
                                                         {4096, 63},
                                                         {2600, 513},
                                                         {40000, 33}})
    all.push_back(e);
  return all;
}

}  // namespace

TEST_CASE("order of additions: sums and products of rows have its bits on the CPU") {
  for (const extents& e : row_extents()) {
    const bool thoroughly = e.reduced % 13 == 0 || e.reduced > 300;
    check<float>(reduce_op::sum, e, true, thoroughly && e.results * e.reduced < 70000);
    check<double>(reduce_op::sum, e, true, false);
    if (e.results * e.reduced > 200000 || e.reduced % 3 == 0) continue;
    check<float>(reduce_op::prod, e, true, false);
    check<std::complex<float>>(reduce_op::sum, e, true, false);
    check<std::complex<double>>(reduce_op::sum, e, true, false);
  }
}

TEST_CASE("order of additions: sums and products of columns have its bits on the CPU") {
  for (const extents& e : column_extents()) {
    const bool thoroughly = e.reduced % 3 == 0 && e.results * e.reduced < 70000;
    check<float>(reduce_op::sum, e, false, thoroughly);
    check<double>(reduce_op::sum, e, false, false);
    if (e.results * e.reduced > 200000) continue;
    check<double>(reduce_op::prod, e, false, false);
    check<std::complex<float>>(reduce_op::sum, e, false, false);
  }
}

TEST_CASE("order of additions: fused sums have its bits on the CPU, whatever else the kernel reduces") {
  for (bool rows : {true, false})
    for (const extents& e : std::initializer_list<extents>{{40, 3},
                                                           {70, 16},
                                                           {70, 17},
                                                           {300, 50},
                                                           {90, 64},
                                                           {33, 100},
                                                           {50, 130},
                                                           {20, 299},
                                                           {4, 1000},
                                                           {1100, 300},
                                                           {2, 5000},
                                                           {1, 40003},
                                                           {300, 2003}}) {
      const bool thoroughly = e.reduced == 100 || e.reduced == 5000;
      check_fused<float>(e, rows, thoroughly);
      check_fused<double>(e, rows, false);
    }
}

TEST_CASE("order of additions: float16 sums in float32, in the same order") {
  for (bool rows : {true, false})
    for (const extents& e : std::initializer_list<extents>{{40, 7}, {300, 100}, {3, 1000}, {1, 20001}, {1100, 300}}) {
      CAPTURE(e.results);
      CAPTURE(e.reduced);
      std::vector<half> data(static_cast<std::size_t>(e.results * e.reduced)), out(static_cast<std::size_t>(e.results));
      for (std::size_t k = 0; k < data.size(); ++k) data[k] = half(sample<float>(k) / 64);
      const auto right = expected<float>(reduce_op::sum, e, rows, [&](std::int64_t r, std::int64_t k) {
        return static_cast<float>(data[static_cast<std::size_t>(r * e.reduced + k)]);
      });
      builder b;
      b.reduce(reduce_op::sum, dtype::f16, b.load(dtype::f16));
      program p = b.reductions();
      jit::launch l = space(p, {e.results, e.reduced}, 1, rows);
      l.inputs = {at(data, {e.reduced, 1})};
      l.outputs = {at(out, {1, 0})};
      run(l);
      for (std::size_t r = 0; r < out.size(); ++r)
        REQUIRE(static_cast<float>(out[r]) == static_cast<float>(half(right[r])));
    }
}

TEST_CASE("order of additions: lanes and splits follow from the extents, as they always have") {
  struct expectation {
    bool rows;
    std::int64_t results, elements, lanes, chunk, splits, split_lanes;
  };
  for (const expectation& w : std::initializer_list<expectation>{{true, 20000, 7, 1, 2, 1, 1},
                                                                 {true, 5, 31, 4, 8, 1, 1},
                                                                 {true, 5000, 333, 32, 84, 1, 1},
                                                                 {true, 1023, 333, 256, 84, 1, 1},
                                                                 {true, 1500, 4100, 256, 1025, 1, 1},
                                                                 {true, 3, 700001, 256, 3072, 57, 32},
                                                                 {true, 1, 1 << 24, 256, 2048, 2048, 256},
                                                                 {false, 1024, 2000, 8, 128, 4, 4},
                                                                 {false, 5, 60000, 32, 512, 30, 16},
                                                                 {false, 40, 5, 2, 2, 1, 1}}) {
    CAPTURE(w.results);
    CAPTURE(w.elements);
    const jit::addition_order o = jit::order_of_additions(w.rows, w.results, w.elements);
    CHECK(o.rows == w.rows);
    CHECK(o.lanes == w.lanes);
    CHECK(o.chunk == w.chunk);
    CHECK(o.splits == w.splits);
    CHECK(o.split_lanes == w.split_lanes);
  }
  CHECK(jit::order_of_additions(false, 1, 1000).rows);
}
