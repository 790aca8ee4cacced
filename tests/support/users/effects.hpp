// Users' functions that write by index, have several outputs or text around their loop, on a device: what they write,
// and what others still see.
#pragma once
#include "support/users/values.hpp"

namespace user_test {

inline graph::view_ref array_of(const value& v) { return graph::make_array(v); }
template <class T>
graph::view_ref new_array(const std::vector<T>& x, const dims& shape, runtime::device_id d) {
  return graph::from_host(x.data(), shape, dtype_for<T>(), d);
}
template <class T>
graph::view_ref new_array(const std::vector<T>& x, runtime::device_id d) {
  return new_array(x, dims{static_cast<std::int64_t>(x.size())}, d);
}

template <class T>
void check_atomics_of(runtime::device_id d, bool ordered = true) {
  constexpr std::int64_t n = 20000, bins = 13;
  const auto k = whole_numbers<std::int64_t>(n, bins, 3);
  const dtype t = dtype_for<T>();
  std::vector<T> sums(bins), low(bins, T(50)), high(bins, T(0));
  for (std::int64_t j = 0; j < n; ++j) {
    T& s = sums[at(k[at(j)])];
    s = static_cast<T>(s + T(1));
    const T v = static_cast<T>((j * 7919 + 13) % 100);
    low[at(k[at(j)])] = std::min(low[at(k[at(j)])], v);
    high[at(k[at(j)])] = std::max(high[at(k[at(j)])], v);
  }
  auto s = new_array(std::vector<T>(bins), d), l = new_array(std::vector<T>(bins, T(50)), d),
       h = new_array(std::vector<T>(bins), d);
  const auto* f =
      function("histogram", {par("k", dtype::i64), par("i", dtype::i64)}, {raw("s", t), raw("l", t), raw("h", t)},
               "const long long v = (i * 7919 + 13) % 100; atomic_add(s, k, 1); atomic_min(l, k, v);"
               "atomic_max(h, k, v);");
  run(f, {n}, {stored(k, d), position({n}, d)}, {s, l, h});
  CHECK(elements<T>(*s) == sums);
  if (!ordered) return;
  CHECK(elements<T>(*l) == low);
  CHECK(elements<T>(*h) == high);
}

inline void check_atomics(runtime::device_id d) {
  check_atomics_of<std::int64_t>(d);
  check_atomics_of<std::int32_t>(d);
  check_atomics_of<std::int16_t>(d);
  check_atomics_of<std::int8_t>(d);  // sums wrap
  check_atomics_of<std::uint8_t>(d);
  check_atomics_of<float>(d);
  check_atomics_of<double>(d);

  constexpr std::int64_t n = 4000;
  const auto k = whole_numbers<std::int64_t>(n, 5, 8);
  std::vector<double> counts(5);
  for (auto j : k) ++counts[at(j)];
  // float16 counts exactly to 2048, bfloat16 to 256.
  for (dtype t : {dtype::f16, dtype::bf16}) {
    const double step = t == dtype::f16 ? 1 : 4, most = t == dtype::f16 ? 2048 : 1024;
    value zeros = graph::record_cast(stored(std::vector<float>(5), d), t);
    graph::flush(std::span(&zeros, 1));
    auto h = array_of(zeros);
    zeros = value();
    const auto* f = function("half_histogram", {par("k", dtype::i64)}, {raw("h", t)},
                             t == dtype::f16 ? "atomic_add(h, k, 1);" : "atomic_add(h, k, 4);");
    run(f, {n}, {stored(k, d)}, {h});
    const auto found = elements<float>(graph::record_cast(graph::read(*h), dtype::f32));
    for (std::size_t j = 0; j < 5; ++j) CHECK(found[j] == std::min(counts[j] * step, most));
  }
  auto c = new_array(std::vector<std::complex<double>>(5), d);
  const auto* f = function("complex_histogram", {par("k", dtype::i64)}, {raw("c", dtype::c128)},
                           "atomic_add(c, k, complex128(1, 2));");
  run(f, {n}, {stored(k, d)}, {c});
  std::vector<std::complex<double>> expected;
  for (double v : counts) expected.emplace_back(v, 2 * v);
  CHECK(elements<std::complex<double>>(*c) == expected);
  const std::uint8_t none[5] = {};
  auto b = graph::from_host(none, {5}, dtype::b1, d);
  const auto* g = function("seen", {par("k", dtype::i64)}, {raw("b", dtype::b1)}, "if (k % 2) atomic_add(b, k, true);");
  run(g, {n}, {stored(k, d)}, {b});
  CHECK(elements<std::uint8_t>(*b) == std::vector<std::uint8_t>{0, 1, 0, 1, 0});
}

inline void check_raw_outputs(runtime::device_id d) {
  constexpr std::int64_t n = 1000;
  const auto x = numbers(n);
  // A pending input is fused in; the written array is reversed in place; a regular output beside it.
  auto y = new_array(std::vector<float>(n, -1), d), z = new_array(std::vector<double>(n), d);
  const auto* f = function("reverse", {par("x", dtype::f32), par("i", dtype::i64), par("n", dtype::i64)},
                           {raw("y", dtype::f32), par("z", dtype::f64)}, "y[n - 1 - i] = x; z = 2.0 * x;");
  run(f, {n}, {plus(stored(x, d), 1), position({n}, d), number(n, dtype::i64, {}, d)}, {y, z});
  CHECK(elements<float>(*y) == made<float>(n, [&](auto k) { return x[at(n - 1 - k)] + 1; }));
  CHECK(elements<double>(*z) == made<double>(n, [&](auto k) { return 2.0 * (x[at(k)] + 1); }));
  // Intermediate results are not lost, and elements that are not written stay.
  const auto* g = function("corner", {par("i", dtype::i64)}, {raw("m", dtype::f32, 2)}, "m(i, m.shape(1) - 1) = i;");
  auto m = new_array(std::vector<float>(12, 7), {3, 4}, d);
  run(g, {3}, {position({3}, d)}, {m});
  CHECK(elements<float>(*m) == std::vector<float>{7, 7, 7, 0, 7, 7, 7, 1, 7, 7, 7, 2});
  // Stores to half types round to nearest.
  for (dtype t : {dtype::f16, dtype::bf16}) {
    value zeros = graph::record_cast(stored(std::vector<float>(n), d), t);
    auto h = array_of(zeros);
    zeros = value();
    const auto* s =
        function("store", {par("x", dtype::f32), par("i", dtype::i64)}, {raw("h", t)}, "h[i] = x / 3; h[i] *= 1;");
    run(s, {n}, {stored(x, d), position({n}, d)}, {h});
    const auto thirds = made<float>(n, [&](auto k) { return x[at(k)] / 3; });
    CHECK(elements<std::uint16_t>(*h) == elements<std::uint16_t>(graph::record_cast(stored(thirds, d), t)));
  }
  // No elements: nothing runs, nothing changes.
  run(g, {0}, {position({0}, d)}, {m});
  CHECK(elements<float>(*m)[3] == 0);
}

/// Adds 1 to every element that is written by index.
inline const user_function* increment() {
  return function("increment", {par("i", dtype::i64)}, {raw("y", dtype::f32)}, "y[i] += 1;");
}

inline void check_versions(runtime::device_id d) {
  const std::vector<float> start{1, 2, 3, 4, 5, 6};
  auto bump = [&](const graph::view_ref& v) {
    const std::int64_t n = core::element_count(v->shape);
    run(increment(), {n}, {position({n}, d)}, {v});
  };
  auto x = new_array(start, d);
  // A pending reader keeps what it saw, whether recorded before or between.
  value before = times(graph::read(*x), 10);
  bump(x);
  value between = times(graph::read(*x), 10);
  bump(x);
  CHECK(elements<float>(*x) == std::vector<float>{3, 4, 5, 6, 7, 8});
  CHECK(elements<float>(before) == std::vector<float>{10, 20, 30, 40, 50, 60});
  CHECK(elements<float>(between) == std::vector<float>{20, 30, 40, 50, 60, 70});
  // An operand that is the written array is read as it was.
  auto y = new_array(start, d);
  const auto* f =
      function("shift", {raw("x", dtype::f32), par("i", dtype::i64)}, {raw("y", dtype::f32)}, "y[i] = x[(i + 1) % 6];");
  run(f, {6}, {graph::read(*y), position({6}, d)}, {y});
  CHECK(elements<float>(*y) == std::vector<float>{2, 3, 4, 5, 6, 1});
  // Views of the storage see the writing, through whole and partial views, dense or with gaps.
  auto z = new_array(start, d);
  auto middle = graph::make_view(*z, {3}, {1}, 2), even = graph::make_view(*z, {3}, {2}, 0),
       matrix = graph::make_view(*z, {2, 3}, {3, 1}, 0);
  bump(middle);
  CHECK(elements<float>(*z) == std::vector<float>{1, 2, 4, 5, 6, 6});
  bump(even);
  CHECK(elements<float>(*z) == std::vector<float>{2, 2, 5, 5, 7, 6});
  CHECK(elements<float>(*matrix) == std::vector<float>{2, 2, 5, 5, 7, 6});
  CHECK(elements<float>(*middle) == std::vector<float>{5, 5, 7});
  // Two views of one storage in one call.
  const auto* both = function("both_ends", {par("i", dtype::i64)}, {raw("a", dtype::f32), raw("b", dtype::f32)},
                              "a[i] = 100 + i; b[i] = 200 + i;");
  run(both, {2}, {position({2}, d)}, {graph::make_view(*z, {2}, {1}, 0), graph::make_view(*z, {2}, {1}, 4)});
  CHECK(elements<float>(*z) == std::vector<float>{100, 101, 5, 5, 200, 201});
  // A pending array is evaluated first; lazy work goes on afterwards.
  auto p = array_of(plus(stored(start, d), 1));
  bump(p);
  value after = times(graph::read(*p), 2);
  CHECK(elements<float>(after) == std::vector<float>{6, 8, 10, 12, 14, 16});
  // Regular outputs: whole, partial, shared with a reader, in place with a sole owner.
  const auto* three =
      function("three", {par("i", dtype::i64)}, {par("u", dtype::f32), par("v", dtype::f32)}, "u = i; v = -i;");
  auto u = new_array(start, d), w = new_array(start, d);
  value reader = plus(graph::read(*u), 0.5);
  run(three, {3}, {position({3}, d)}, {graph::make_view(*u, {3}, {2}, 1), graph::make_view(*w, {3}, {1}, 3)});
  CHECK(elements<float>(*u) == std::vector<float>{1, 0, 3, 1, 5, 2});
  CHECK(elements<float>(*w) == std::vector<float>{1, 2, 3, 0, -1, -2});
  CHECK(elements<float>(reader) == std::vector<float>{1.5, 2.5, 3.5, 4.5, 5.5, 6.5});
  auto own = new_array(start, d), shared = new_array(start, d);
  const void* own_memory = own->store->now()->buffer->data();
  value held = graph::read(*shared);
  run(three, {6}, {position({6}, d)}, {own, shared});
  CHECK(own->store->now()->buffer->data() == own_memory);
  CHECK(elements<float>(*own) == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(elements<float>(*shared) == std::vector<float>{0, -1, -2, -3, -4, -5});
  CHECK(elements<float>(held) == start);
}

inline void check_pinned(runtime::device_id d) {
  const std::vector<float> start{1, 2, 3, 4};
  auto x = new_array(start, d);
  const void* address = graph::export_address(*x);
  value before = graph::read(*x);
  run(increment(), {4}, {position({4}, d)}, {x});
  CHECK(graph::export_address(*x) == address);
  CHECK(elements<float>(*x) == std::vector<float>{2, 3, 4, 5});
  CHECK(elements<float>(before) == start);
  const auto* f = function("count", {par("i", dtype::i64)}, {par("z", dtype::f32), raw("y", dtype::f32)}, "z = i;");
  auto other = new_array(start, d);
  run(f, {4}, {position({4}, d)}, {x, other});
  CHECK(graph::export_address(*x) == address);
  CHECK(elements<float>(*x) == std::vector<float>{0, 1, 2, 3});
}

inline void check_loop_text(runtime::device_id d) {
  const extras text{.preamble = "struct tally { double sum; long long count; };\n#define STEP 2\n",
                    .loop_prep = "tally mine{0, 0};\nconst float a = scale; // a comment",
                    .after_loop = "atomic_add(sum, 0, mine.sum);\natomic_add(count, 0, mine.count)\n;"};
  const auto* f = function("tallied", {par("x", dtype::f32), par("scale", dtype::f32)},
                           {par("z", dtype::f32), raw("sum", dtype::f64), raw("count", dtype::i64)},
                           "mine.sum += x * a; mine.count += STEP; z = x * a;", text);
  for (const dims& shape : {dims{5}, dims{100000}, dims{300, 70}, dims{1, 7, 90, 11}}) {
    const std::int64_t n = core::element_count(shape);
    const auto x = numbers(n);
    auto z = new_array(std::vector<float>(at(n)), shape, d);
    auto sum = new_array(std::vector<double>{1}, d);
    auto count = new_array(std::vector<std::int64_t>{0}, d);
    run(f, shape, {plus(stored(x, shape, d), 1), number(0.5, dtype::f32, {}, d)}, {z, sum, count});
    double expected = 1;
    for (float v : x) expected += double((v + 1) * 0.5f);
    CHECK(elements<float>(*z) == made<float>(n, [&](auto k) { return (x[at(k)] + 1) * 0.5f; }));
    CHECK(elements<double>(*sum)[0] == expected);  // multiples of 1/64: exact in any order
    CHECK(elements<std::int64_t>(*count)[0] == 2 * n);
  }
  // Transposed, lazily, with another call in front.
  const auto* g = function("plain", {par("x", dtype::f32)}, {par("z", dtype::f32)}, "z = x + k;",
                           {.loop_prep = "const float k = 3;"});
  const auto* before = function("negated", {par("x", dtype::f32)}, {par("z", dtype::f32)}, "z = -x;");
  const auto x = numbers(33 * 21);
  value turned = graph::record_view(stored(x, {33, 21}, d), {21, 33}, {1, 21}, 0);
  value z = call(g, {21, 33}, {call(before, {21, 33}, {turned})});
  CHECK(elements<float>(times(z, 2)) ==
        made<float>(33 * 21, [&](auto k) { return 2 * (3 - x[at(k % 33 * 21 + k / 33)]); }));
}

}  // namespace user_test
