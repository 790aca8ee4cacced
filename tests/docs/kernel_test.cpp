// The code of docs/kernels_functions.md: every line of it is between the marks below, and does what the text says.
#include <cmath>

#include "support/docs_page.hpp"
#include "support/kernel_test.hpp"

namespace sn = sinter;

TEST_CASE("kernel docs: every piece of code on the page is part of this file") {
  sinter_test::check_page("kernels_functions.md", "docs/kernel_test.cpp", 7);
}

TEST_CASE("kernel docs: elementwise kernels") {
  const auto x = sn::arange(6, {.dtype = sn::float32}), y = x * 2;
  // clang-format off
  const sn::elementwise_kernel sqdiff("T x, T y", "T z", "z = (x - y) * (x - y)", "sqdiff");
  auto z = sqdiff(x, y);                     // recorded, like x + y
  auto distance = sn::sqrt(sqdiff(x, 2.5));  // one kernel
  // clang-format on
  CHECK(sn::array_equal(z, x * x));
  CHECK(sn::test::kernels_of(distance) == 1);
  CHECK(sn::array_equal(distance, sn::abs(x - 2.5)));
  // clang-format off
  const sn::elementwise_kernel both("T x, T y", "T s, T d", "s = x + y; d = x - y;", "sum_difference");
  auto [s, d] = both.outputs<2>(x, y);
  // clang-format on
  CHECK(sn::array_equal(s, x + y));
  CHECK(sn::array_equal(d, x - y));
  const auto bins = sn::array({3, 1, 3, 9, 3});
  // clang-format off
  const sn::elementwise_kernel smooth("raw T x", "T z", "z = (x[i > 0 ? i - 1 : 0] + x[i] + x[i + 1 < n ? i + 1 : i]) / 3",
                                      "smooth");
  auto smoothed = smooth(x, {.size = x.size()});

  const sn::elementwise_kernel count("int64 bin", "raw int32 histogram", "atomic_add(histogram, bin, 1)", "count");
  auto histogram = sn::zeros({10}, {.dtype = sn::int32});
  count(bins, {.out = {histogram}});
  // clang-format on
  CHECK(smoothed(3).item<float>() == 3);
  CHECK(smoothed(5).item<float>() == doctest::Approx(14.0f / 3));
  CHECK(histogram.to_vector<int>() == std::vector<int>{0, 1, 0, 3, 0, 0, 0, 0, 0, 1});
}

TEST_CASE("kernel docs: reductions") {
  const auto x = sn::arange(6, {.dtype = sn::float32});
  // clang-format off
  const sn::reduction_kernel l2("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2");
  auto norms = l2(x - 1, 0);  // one kernel; also l2(m, sn::axes{0, 1}, {.keepdims = true})
  // clang-format on
  CHECK(sn::test::kernels_of(norms) == 1);
  CHECK(norms.item<float>() == doctest::Approx(std::sqrt(31.0)));
  const auto m = sn::reshape(x, {2, 3});
  CHECK(l2(m, sn::axes{0, 1}, {.keepdims = true}).shape() == sn::shape_t{1, 1});
  // clang-format off
  const sn::reduction_kernel extremes(
      "T x", "T low, T high", "range{x, x}", "range{min(a.low, b.low), max(a.high, b.high)}",
      "low = a.low; high = a.high", "range{T(1e30), T(-1e30)}", "extremes",
      {.reduce_type = "range", .preamble = "struct range { T low, high; };"});
  auto [low, high] = extremes.outputs<2>(x);
  // clang-format on
  CHECK(low.item<float>() == 0);
  CHECK(high.item<float>() == 5);
}

TEST_CASE("kernel docs: sub-arrays and functions") {
  const auto vectors = sn::reshape(sn::arange(15), {5, 3}), axis = sn::array({0, 0, 1});
  // clang-format off
  const sn::generalized_kernel cross("(3),(3)->(3)", "T x, T y", "T z",
                                     "z(0) = x(1) * y(2) - x(2) * y(1);"
                                     "z(1) = x(2) * y(0) - x(0) * y(2);"
                                     "z(2) = x(0) * y(1) - x(1) * y(0);",
                                     "cross");
  auto normals = cross(vectors, axis);  // (5, 3) and (3,) give (5, 3)
  // clang-format on
  CHECK(normals.shape() == sn::shape_t{5, 3});
  CHECK(normals(1).to_vector<std::int64_t>() == std::vector<std::int64_t>{4, -3, 0});
  const auto x = sn::arange(6, {.dtype = sn::float32}), y = sn::zeros({6}, {.dtype = sn::float32});
  // clang-format off
  const sn::function damped("T damped(T x, T y)", "return x * exp(-y);");
  auto total = sn::sum(damped(x, y) + 1);  // one kernel
  // clang-format on
  CHECK(sn::test::kernels_of(total) == 1);
  CHECK(total.item<float>() == 21);
}
