// Rules of transforms that no table of results shows: round trips, layouts, what happens to arguments, errors, plans,
// threads.
#include <cmath>
#include <complex>
#include <limits>
#include <thread>

#include "support/kernel_test.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using complex = std::complex<double>;
constexpr double pi = 3.14159265358979323846;

/// Complex noise, the same in every run.
ndarray noise(const shape_t& shape, dtype type = complex128) {
  random::generator g(12);
  if (!is_complex(type)) return g.standard_normal(shape).astype(type).copy();
  const ndarray re = g.standard_normal(shape), im = g.standard_normal(shape);
  return (re + im * complex(0, 1)).astype(type).copy();
}

double largest(const ndarray& x) { return x.size() == 0 ? 0 : max(absolute(x)).item<double>(); }
double length(const ndarray& x) { return std::sqrt(sum(square(absolute(x).astype(float64))).item<double>()); }
double eps(dtype t) { return t == complex64 || t == float32 ? 0x1p-23 : 0x1p-52; }

/// By the definition, in double.
std::vector<complex> plain_transform(const std::vector<complex>& x, bool inverse) {
  const std::size_t n = x.size();
  std::vector<complex> out(n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < n; ++j)
      out[k] += x[j] * std::polar(1.0, (inverse ? 2 : -2) * pi * double(j * k % n) / double(n));
  return out;
}

}  // namespace

TEST_CASE("fft: the definition, at lengths of every kind") {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 30, 31, 32, 33, 64, 97, 1000}) {
    CAPTURE(n);
    const ndarray x = noise(n);
    const auto elements = x.to_vector<complex>();
    CHECK(largest(fft::fft(x) - array(plain_transform(elements, false))) < 1e-13 * double(n));
    CHECK(largest(fft::ifft(x) * double(n) - array(plain_transform(elements, true))) < 1e-13 * double(n));
  }
}

TEST_CASE("fft: there and back, in both precisions, along every set of axes") {
  for (const dtype type : {complex128, complex64})
    for (const std::int64_t n : {1, 2, 3, 31, 32, 33, 1000}) {
      const ndarray x = noise({n, 3}, type);
      for (const int axis : {0, 1}) {
        const ndarray back = fft::ifft(fft::fft(x, {.axis = axis}), {.axis = axis});
        CHECK(back.dtype() == type);
        CHECK(length(back - x) < 20 * eps(type) * length(x));
      }
      const ndarray r = real(x);
      for (const int axis : {0, 1}) {
        const fft::fft_kw along{.n = r.shape(axis), .axis = axis};
        CHECK(length(fft::irfft(fft::rfft(r, {.axis = axis}), along) - r) < 20 * eps(type) * length(r));
        CHECK(length(fft::hfft(fft::ihfft(r, {.axis = axis}), along) - r) < 20 * eps(type) * length(r));
      }
    }
  const ndarray x = noise({3, 4, 5, 6});
  for (const axes& a : {axes{0, 1, 2, 3}, axes{3, 1}, axes{0, 2}, axes{2, 0, 3}, axes{1}}) {
    for (const char* norm : {"backward", "ortho", "forward"})
      CHECK(length(fft::ifftn(fft::fftn(x, {.axes = a, .norm = norm}), {.axes = a, .norm = norm}) - x) <
            1e-14 * length(x));
    const ndarray r = real(x);
    std::vector<std::int64_t> extents;
    for (const int k : a) extents.push_back(r.shape(k));
    CHECK(length(fft::irfftn(fft::rfftn(r, {.axes = a}), {.s = shape_t(extents), .axes = a}) - r) < 1e-14 * length(r));
  }
}

TEST_CASE("fft: several axes at once are one axis after the other") {
  const ndarray x = noise({5, 4, 3, 2, 2});
  ndarray step = x;
  for (int a = 0; a < 5; ++a) step = fft::fft(step, {.axis = a});
  CHECK(length(fft::fftn(x) - step) < 1e-13 * length(step));
  ndarray half = fft::rfft(real(x), {.axis = 1});
  for (const int a : {0, 2, 3, 4}) half = fft::fft(half, {.axis = a});
  CHECK(length(fft::rfftn(real(x), {.axes = {0, 2, 3, 4, 1}}) - half) < 1e-13 * length(half));
  CHECK(length(fft::fftn(x, {.axes = {2, 2}}) - fft::fft(fft::fft(x, {.axis = 2}), {.axis = 2})) < 1e-12 * length(x));
}

TEST_CASE("fft: axes of one point") {
  const ndarray x = noise({1, 5, 1});
  CHECK(largest(fft::fftn(x) - fft::fft(x, {.axis = 1})) == 0);
  CHECK(largest(fft::fft(x, {.axis = 0}) - x) == 0);
  CHECK(fft::rfft(ones({3, 1}, float32)).dtype() == complex64);
  CHECK(largest(fft::rfft2(real(x), {.axes = {1, 2}}) - fft::fft(real(x), {.axis = 1})) < 1e-15);
  const ndarray y = fft::irfftn(x, {.s = shape_t{5, 1}, .axes = {1, 2}});
  CHECK(y.dtype() == float64);
  CHECK(largest(y - real(fft::ifft(x, {.axis = 1}))) < 1e-15);
  CHECK(fft::irfft(ones(3), {.n = 1}).to_vector<double>() == std::vector<double>{1});
  CHECK(fft::fft(array({2, 3}), {.n = 1}).to_vector<complex>() == std::vector<complex>{2});
}

TEST_CASE("fft: the sum of squares is kept by orthogonal transforms, and real ones are half of complex ones") {
  const ndarray x = noise({20, 30});
  CHECK(length(fft::fft2(x, {.norm = "ortho"})) == doctest::Approx(length(x)));
  const ndarray r = real(x), whole = fft::fft2(r), half = fft::rfft2(r);
  CHECK(half.shape() == shape_t{20, 16});
  CHECK(length(whole(_, slice(0, 16)) - half) < 1e-13 * length(half));
  for (int type = 1; type <= 4; ++type) {
    CHECK(length(fft::dct(r, {.type = type, .norm = "ortho"})) == doctest::Approx(length(r)));
    CHECK(length(fft::dst(r, {.type = type, .norm = "ortho"})) == doctest::Approx(length(r)));
    CHECK(length(fft::idct(fft::dct(r, {.type = type}), {.type = type}) - r) < 1e-13 * length(r));
    CHECK(length(fft::idstn(fft::dstn(r, {.type = type}), {.type = type}) - r) < 1e-13 * length(r));
  }
}

TEST_CASE("fft: results do not depend on how the argument lies in memory, nor on whether it is evaluated") {
  const ndarray x = noise({12, 10, 8});
  const auto check = [&](const ndarray& view) {
    const ndarray dense = view.copy();
    eval(dense);
    for (const int axis : {0, 1, 2})
      CHECK(length(fft::fft(view, {.axis = axis}) - fft::fft(dense, {.axis = axis})) < 1e-13 * length(dense));
    CHECK(length(fft::fftn(view, {.axes = {0, 2}}) - fft::fftn(dense, {.axes = {0, 2}})) < 1e-13 * length(dense));
    CHECK(length(fft::rfft(real(view), {.axis = 1}) - fft::rfft(real(dense), {.axis = 1})) < 1e-13 * length(dense));
  };
  check(x.T());
  check(x(slice(_, _, 2), _, slice(1, _)));
  check(x(_, slice(_, _, -1)));
  check(broadcast_to(x(0), {4, 10, 8}));
  check(x * 2.0 + 1.0);
  check(x(slice(1, 5)));
  check(noise({4, 7, 9}).astype(complex64).copy()(slice(1, _)));
}

TEST_CASE("fft: arguments stay as they are") {
  const ndarray x = noise({6, 8}), r = real(x).copy(), h = noise({6, 5});
  const auto before = x.to_vector<complex>(), half = h.to_vector<complex>();
  const auto real_before = r.to_vector<double>();
  const ndarray pending = x * 3.0;
  const auto keep = {fft::fft(x),  fft::ifft2(x),     fft::rfft(r),        fft::irfft(h),           fft::irfft2(h),
                     fft::hfft(h), fft::fft(pending), fft::irfft(pending), fft::fft(x(slice(1, 3)))};
  for (const ndarray& y : keep) eval(y);
  CHECK(x.to_vector<complex>() == before);
  CHECK(h.to_vector<complex>() == half);
  CHECK(r.to_vector<double>() == real_before);
  CHECK(largest(pending - x * 3.0) == 0);
  // A write to the argument afterwards does not reach the result.
  const ndarray y = fft::fft(x), wanted = y.copy();
  eval(wanted);
  x(_) = 0;
  CHECK(largest(y - wanted) == 0);
}

TEST_CASE("fft: a scale is recorded and fuses") {
  const ndarray x = noise(64);
  CHECK(test::is_evaluated(fft::fft(x)));
  const ndarray y = real(fft::ifft(x)) * 2.0 + 1.0;
  CHECK(test::kernels_of(y) == 1);
}

TEST_CASE("fft: dtypes") {
  for (const dtype t : {float16, bfloat16, float32}) {
    CHECK(fft::fft(ones(4, t)).dtype() == complex64);
    CHECK(fft::irfft(ones(4, t)).dtype() == float32);
    CHECK(fft::dct(ones(4, t)).dtype() == float32);
  }
  for (const dtype t : {bool_, int8, uint64, float64}) {
    CHECK(fft::rfft(ones(4, t)).dtype() == complex128);
    CHECK(fft::hfft(ones(4, t)).dtype() == float64);
  }
  CHECK(fft::ifft(ones(4, complex64)).dtype() == complex64);
  CHECK(fft::fft(array({true, false, true, true})).to_vector<complex>()[0] == complex(3, 0));
  CHECK(fft::fftfreq(4, {.dtype = float32}).dtype() == float32);
  CHECK(fft::dst(ones(4, complex64)).dtype() == complex64);
}

TEST_CASE("fft: arrays without elements, and errors") {
  CHECK(fft::fft(zeros({0, 4})).shape() == shape_t{0, 4});
  CHECK(fft::rfft(zeros({0, 4})).shape() == shape_t{0, 3});
  CHECK(fft::fft(zeros({4, 0}), {.n = 3}).shape() == shape_t{4, 3});
  CHECK(largest(fft::fft(zeros({4, 0}), {.n = 3})) == 0);
  CHECK_THROWS_WITH_AS(fft::fft(zeros({4, 0})), doctest::Contains("[fft] the number of points (0)"), value_error);
  CHECK_THROWS_AS(fft::fft(ones(4), {.n = -1}), value_error);
  CHECK_THROWS_AS(fft::irfft(ones(1)), value_error);
  CHECK_THROWS_AS(fft::fft(array(3.0)), index_error);
  CHECK_THROWS_AS(fft::fft(ones(3), {.axis = 1}), index_error);
  CHECK_THROWS_AS(fft::fft(ones(3), {.norm = "half"}), value_error);
  CHECK_THROWS_AS(fft::rfft(ones(3, complex64)), dtype_error);
  CHECK_THROWS_AS(fft::ihfft(ones(3, complex128)), dtype_error);
  CHECK_THROWS_AS(fft::fftn(ones({2, 3}), {.s = shape_t{2}, .axes = {0, 1}}), value_error);
  CHECK_THROWS_AS(fft::fftn(ones({2, 3}), {.s = shape_t{2, 2, 2}}), shape_error);
  CHECK_THROWS_AS(fft::rfftn(ones({2, 3}), {.axes = axes(std::vector<int>{})}), index_error);
  CHECK_THROWS_AS(fft::dct(ones(3), {.type = 5}), value_error);
  CHECK_THROWS_AS(fft::dct(ones(1), {.type = 1}), value_error);
  CHECK_THROWS_AS(fft::fftfreq(0), value_error);
  CHECK_THROWS_AS(fft::rfftfreq(4, {.dtype = int32}), dtype_error);
  CHECK_THROWS_AS(fft::next_fast_len(-1), value_error);
  CHECK_THROWS_AS(fft::next_fast_len(std::numeric_limits<std::int64_t>::max()), value_error);
  CHECK(fft::next_fast_len((std::int64_t{1} << 62) - 1, true) == std::int64_t{1} << 62);
  for (const std::int64_t n : {std::int64_t{1} << 40, std::int64_t{1} << 60})
    CHECK_THROWS_AS(fft::fft(ones({1 << 24, 2}), {.n = n}), shape_error);
  CHECK_THROWS_AS(fft::fftconvolve(ones(3), ones({3, 1})), shape_error);
  CHECK_THROWS_AS(fft::fftconvolve(ones({3, 4}), ones({2, 3}), "full", axes{1}), shape_error);
  CHECK_THROWS_AS(fft::fftconvolve(ones({3, 2}), ones({2, 3}), "valid"), value_error);
  CHECK_THROWS_AS(fft::fftconvolve(ones(3), ones(2), "half"), value_error);
  CHECK(fft::fftconvolve(zeros(0), ones(2)).shape() == shape_t{0});
}

TEST_CASE("fft: a long transform, and a convolution that must be exact but for rounding") {
  const std::int64_t n = std::int64_t{1} << 20;
  const ndarray k = arange(n, {.dtype = float64});
  const ndarray f = fft::fft(cos(k * (2 * pi * 1000 / double(n))) + 0.5 * sin(k * (2 * pi * 77777 / double(n))));
  CHECK(std::abs(f(1000).item<complex>() - complex(double(n) / 2, 0)) < 1e-5);
  CHECK(std::abs(f(n - 77777).item<complex>() - complex(0, double(n) / 4)) < 1e-5);
  CHECK(std::abs(f(5).item<complex>()) < 1e-5);
  const ndarray c = fft::fftconvolve(ones(1000), ones(500), "valid");
  CHECK(c.shape() == shape_t{501});
  CHECK(largest(c - 500.0) < 1e-10);
}

TEST_CASE("fft: plans are kept up to a limit, and let go on request") {
  fft::clear_plan_cache();
  CHECK(fft::plan_cache().plans == 0);
  const ndarray x = noise(300);
  const auto limit = static_cast<std::int64_t>(fft::plan_cache().limit);
  CHECK(limit >= 16);
  CHECK(limit <= 64);
  for (int repeat = 0; repeat < 3; ++repeat) eval(fft::fft(x(slice(0, 50)).copy()));
  CHECK(fft::plan_cache().plans <= 2);  // memory of either alignment
  for (std::int64_t n = 2; n < 2 * limit; ++n) eval(fft::fft(x, {.n = n}));
  CHECK(fft::plan_cache().plans == static_cast<std::size_t>(limit));
  fft::clear_plan_cache();
  CHECK(fft::plan_cache().plans == 0);
}

TEST_CASE("fft: threads share plans") {
  const ndarray x = noise({8, 128});
  eval(x);
  std::vector<ndarray> wanted;
  for (std::int64_t n = 100; n < 120; ++n) wanted.push_back(fft::fft(x, {.n = n}).copy());
  for (const ndarray& w : wanted) eval(w);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int& bad : wrong)
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 10; ++repeat)
        for (std::size_t k = 0; k < wanted.size(); ++k) {
          const ndarray y = fft::fft(x, {.n = 100 + static_cast<std::int64_t>(k)});
          bad += !array_equal(y, wanted[k]);
          if (repeat == 5 && k == 7) fft::clear_plan_cache();
        }
    });
  for (auto& t : threads) t.join();
  for (const int bad : wrong) CHECK(bad == 0);
}
