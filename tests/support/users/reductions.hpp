// Users' reductions on a device: their order is that of sums, so a user's sum has the bits of the library's.
#pragma once
#include <numeric>

#include "support/users/values.hpp"

namespace user_test {

inline const extras& pairs() {
  static const extras& x = *new extras{.preamble = "struct pair { float v; long long i; };\n"};
  return x;
}
/// The index and the value of the least element, by a struct.
struct least_of {
  value index, low;
  least_of(const value& x, const std::vector<int>& kept, runtime::device_id d) {
    const auto* make = function("make_pair", {par("x", dtype::f32), par("i", dtype::i64)}, {opaque("p", "pair")},
                                "p = pair{x, i};", pairs());
    const auto* lesser = reduction("lesser", opaque("", "pair"), "(b.v < a.v || (b.v == a.v && b.i < a.i)) ? b : a",
                                   "{1e30f, 1ll << 60}", pairs());
    const auto* at = function("index_of", {opaque("p", "pair")}, {par("k", dtype::i64)}, "k = p.i;", pairs());
    const auto* of = function("value_of", {opaque("p", "pair")}, {par("v", dtype::f32)}, "v = p.v;", pairs());
    // Positions along the reduced axes: i counts all elements, so only reductions of the last axes are tested.
    value r = reduce(lesser, call(make, x->shape, {x, position(x->shape, d)}), kept);
    index = call(at, r->shape, {r});
    low = call(of, r->shape, {r});
    const value roots[] = {index, low};
    graph::flush(roots);
  }
};

template <class T>
void check_sums(const dims& shape, const std::vector<std::vector<int>>& kept_sets, runtime::device_id d) {
  const dtype t = dtype_for<T>();
  const auto* total = reduction("total", par("", t), "a + b", "0");
  std::vector<T> x;
  for (double v : numbers<double>(core::element_count(shape), 7)) x.push_back(static_cast<T>(v * 1.1));
  const value in = stored(x, shape, d);
  for (const auto& kept : kept_sets) {
    CAPTURE(core::to_string(shape));
    CAPTURE(kept.size());
    CHECK(elements<T>(reduce(total, in, kept)) == elements<T>(reduce(jit::reduce_op::sum, in, kept)));
    // Mapped and finished.
    value mapped = plus(times(in, 2), 1);
    CHECK(elements<T>(times(reduce(total, mapped, kept), 3)) ==
          elements<T>(times(reduce(jit::reduce_op::sum, mapped, kept), 3)));
  }
}

inline void check_reduction_order(runtime::device_id d) {
  check_sums<float>({1}, {{}}, d);
  check_sums<float>({1001}, {{}}, d);
  check_sums<float>({3000001}, {{}}, d);  // in two stages on a GPU
  check_sums<double>({100003}, {{}}, d);
  check_sums<float>({67, 331}, {{}, {0}, {1}}, d);
  check_sums<float>({3, 70001}, {{0}, {1}}, d);
  check_sums<float>({70001, 3}, {{0}, {1}}, d);
  check_sums<float>({20000, 130}, {{0}, {1}}, d);
  check_sums<float>({130, 20000}, {{0}, {1}}, d);
  check_sums<double>({13, 17, 19, 23}, {{}, {0}, {3}, {1, 2}, {0, 3}, {0, 1, 3}}, d);
  check_sums<std::int64_t>({67, 331}, {{}, {0}, {1}}, d);
  check_sums<std::int8_t>({67, 331}, {{}, {0}, {1}}, d);

  // Half types accumulate in float and round once.
  const auto* total = reduction("total", par("", dtype::f16), "a + b", "0");
  value h = graph::record_cast(stored(numbers(40 * 50), {40, 50}, d), dtype::f16);
  for (const auto& kept : {std::vector<int>{}, {0}, {1}})
    CHECK(elements<std::uint16_t>(reduce(total, h, kept)) ==
          elements<std::uint16_t>(reduce(jit::reduce_op::sum, h, kept)));
  // Views, strides and fusion change no bit.
  const auto* sum = reduction("total", par("", dtype::f32), "a + b", "0");
  value x = stored(numbers(300 * 200), {300, 200}, d), turned = graph::record_view(x, {200, 300}, {1, 200}, 0);
  CHECK(elements<float>(reduce(sum, turned, {0})) == elements<float>(reduce(jit::reduce_op::sum, turned, {0})));
  CHECK(elements<float>(reduce(sum, turned, {1})) == elements<float>(reduce(jit::reduce_op::sum, turned, {1})));
  // Beside other reductions of the same value, and read again.
  value y = times(x, 3), s = reduce(sum, y, {0}), m = reduce(jit::reduce_op::max, y, {0});
  const auto both = elements<float>(add(s, m));
  CHECK(both == elements<float>(add(reduce(jit::reduce_op::sum, y, {0}), reduce(jit::reduce_op::max, y, {0}))));
}

inline void check_reduction_kinds(runtime::device_id d) {
  const auto x = numbers(50 * 60);
  const value in = stored(x, {50, 60}, d);
  // A mapping and a finishing call in one kernel: the Euclidean norm of rows.
  const auto* square = function("square", {par("x", dtype::f32)}, {par("y", dtype::f64)}, "y = double(x) * x;");
  const auto* total = reduction("total", par("", dtype::f64), "a + b", "0.0");
  const auto* root = function("root", {par("s", dtype::f64)}, {par("r", dtype::f32)}, "r = sqrt(s);");
  value s = reduce(total, call(square, {50, 60}, {in}), {0});
  CHECK(elements<float>(call(root, {50}, {s})) == made<float>(50, [&](auto k) {
          double sum = 0;  // exact: multiples of 2^-10
          for (std::int64_t j = 0; j < 60; ++j) sum += double(x[at(k * 60 + j)]) * x[at(k * 60 + j)];
          return std::sqrt(sum);
        }));
  // The greatest common divisor, with a loop that runs as long as it must, in warps whose lanes part ways.
  const auto* divisor =
      reduction("divisor", par("", dtype::i64), "gcd(a, b)", "0",
                {.preamble = "static __device__ long long gcd(long long a, long long b) {\n"
                             "  while (b != 0) { long long r = a % b; a = b; b = r; }\n  return a;\n}\n"});
  auto k = whole_numbers<std::int64_t>(70 * 1000, 1000);
  for (std::size_t j = 0; j < k.size(); ++j) k[j] = (k[j] + 1) * (2 + static_cast<std::int64_t>(j / 1000));
  const value whole = stored(k, {70, 1000}, d), turned = graph::record_view(whole, {1000, 70}, {1, 1000}, 0);
  std::vector<std::int64_t> rows(70), columns(1000);
  for (std::size_t j = 0; j < k.size(); ++j) {
    rows[j / 1000] = std::gcd(rows[j / 1000], k[j]);
    columns[j % 1000] = std::gcd(columns[j % 1000], k[j]);
  }
  CHECK(elements<std::int64_t>(reduce(divisor, whole, {0})) == rows);
  CHECK(elements<std::int64_t>(reduce(divisor, whole, {1})) == columns);
  CHECK(elements<std::int64_t>(reduce(divisor, turned, {1})) == rows);
  CHECK(elements<std::int64_t>(reduce(divisor, turned, {0})) == columns);
  // Few columns: one warp holds several, and some lanes have none.
  const value narrow = graph::record_view(whole, {7000, 10}, {10, 1}, 0);
  std::vector<std::int64_t> tens(10);
  for (std::size_t j = 0; j < k.size(); ++j) tens[j % 10] = std::gcd(tens[j % 10], k[j]);
  CHECK(elements<std::int64_t>(reduce(divisor, narrow, {1})) == tens);

  const auto* product = reduction("product", par("", dtype::c64), "a * b", "1", {.types = "typedef complex64 T;"});
  std::vector<std::complex<float>> units;
  for (int j = 0; j < 1000; ++j) units.emplace_back(j % 3 == 0 ? 0.0f : -1.0f, j % 3 == 0 ? 1.0f : 0.0f);
  // 334 factors i and 666 factors -1: i^334 = -1.
  CHECK(elements<std::complex<float>>(reduce(product, stored(units, d))) == std::vector<std::complex<float>>{{-1, 0}});
  const auto* any = reduction("any", par("", dtype::b1), "a || b", "false");
  CHECK(elements<std::uint8_t>(reduce(any, stored_bool({0, 0, 1, 0}, {2, 2}, d), {0})) ==
        std::vector<std::uint8_t>{0, 1});

  // Nothing to reduce: the identity, finished; no results: nothing.
  value none = reduce(total, stored(std::vector<double>{}, {3, 0}, d), {0});
  CHECK(elements<float>(call(root, {3}, {none})) == std::vector<float>(3, 0.0f));
  CHECK(elements<double>(reduce(total, stored(std::vector<double>{}, {0, 3}, d), {0})).empty());
}

inline void check_opaque_reductions(runtime::device_id d) {
  for (const dims& shape : {dims{5}, dims{2000003}, dims{37, 41}, dims{900, 1100}, dims{3, 5, 7000}}) {
    const std::int64_t n = core::element_count(shape), last = shape[shape.size() - 1];
    auto x = numbers(n, 11);
    if (n > 100) x[at(n / 3)] = -100;
    const value in = stored(x, shape, d);
    const auto lowest = std::min_element(x.begin(), x.end());
    least_of all(plus(in, 1), {}, d);
    CHECK(elements<std::int64_t>(all.index) == std::vector<std::int64_t>{lowest - x.begin()});
    CHECK(elements<float>(all.low) == std::vector<float>{*lowest + 1});
    if (shape.size() < 2) continue;
    std::vector<int> kept;
    for (int a = 0; a + 1 < shape.size(); ++a) kept.push_back(a);
    least_of rows(in, kept, d);
    CHECK(elements<std::int64_t>(rows.index) == made<std::int64_t>(n / last, [&](auto r) {
            return std::min_element(x.begin() + r * last, x.begin() + (r + 1) * last) - x.begin();
          }));
    least_of columns(in, {shape.size() - 1}, d);
    const auto low = elements<float>(columns.low);
    const auto index = elements<std::int64_t>(columns.index);
    for (std::int64_t c = 0; c < last; ++c) {
      std::int64_t best = c;
      for (std::int64_t k = c; k < n; k += last)
        if (x[at(k)] < x[at(best)]) best = k;
      REQUIRE(index[at(c)] == best);
      REQUIRE(low[at(c)] == x[at(best)]);
    }
  }
  // 32 bytes, the most there is.
  const extras wide{.preamble =
                        "struct four { double s[4]; };\nstatic __device__ four plus(four a, four b) {\n"
                        "  for (int k = 0; k < 4; ++k) a.s[k] += b.s[k];\n  return a;\n}\n"};
  const auto* powers =
      function("powers", {par("x", dtype::f64)}, {opaque("p", "four")}, "p = four{{1, x, x * x, x * x * x}};", wide);
  const auto* sums = reduction("sums", opaque("", "four"), "plus(a, b)", "four{{0, 0, 0, 0}}", wide);
  const auto* third = function("spread", {opaque("p", "four"), par("k", dtype::f64)}, {par("z", dtype::f64)},
                               "z = p.s[3] + p.s[2] + p.s[1] + k * p.s[0];", wide);
  for (const dims& shape : {dims{300, 400}, dims{4000, 20}}) {
    const std::int64_t n = core::element_count(shape), last = shape[1];
    const auto x = whole_numbers<double>(n, 10);
    value r = reduce(sums, call(powers, shape, {stored(x, shape, d)}), {1});
    CHECK(elements<double>(call(third, {last}, {r, number(2, dtype::f64, {}, d)})) == made<double>(last, [&](auto c) {
            double sum = 0;
            for (std::int64_t k = c; k < n; k += last) sum += x[at(k)] * (1 + x[at(k)] * (1 + x[at(k)])) + 2;
            return sum;
          }));
  }
}

}  // namespace user_test
