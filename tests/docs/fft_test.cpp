// The code of docs/fft.md: every line of it is between the marks below, and does what the text says.

#include "support/docs_page.hpp"
#include "support/kernel_test.hpp"

namespace sn = sinter;

TEST_CASE("fft docs: every piece of code on the page is part of this file") {
  sinter_test::check_page("fft.md", "docs/fft_test.cpp", 4);
}

TEST_CASE("fft docs: the code works") {
  // clang-format off
  sn::ndarray x = sn::random::normal(0, 1, {64, 1000});
  sn::ndarray spectrum = sn::fft::rfft(x);                       // (64, 501), complex
  sn::ndarray back = sn::fft::irfft(spectrum, {.n = 1000});
  sn::ndarray columns = sn::fft::fft(x, {.axis = 0, .norm = "ortho"});
  sn::ndarray padded = sn::fft::fft(x, {.n = 1024});             // zeros at the end
  sn::ndarray plane = sn::fft::fft2(x);
  sn::ndarray some = sn::fft::fftn(x, {.s = sn::shape_t{32, 32}, .axes = {0, 1}});
  sn::ndarray frequency = sn::fft::rfftfreq(1000, 0.01);         // in hertz, of samples 10 ms apart
  sn::ndarray centred = sn::fft::fftshift(plane);
  // clang-format on
  CHECK(spectrum.shape() == sn::shape_t{64, 501});
  CHECK(sn::allclose(back, x));
  CHECK(columns.shape() == x.shape());
  CHECK(padded.shape() == sn::shape_t{64, 1024});
  CHECK(some.shape() == sn::shape_t{32, 32});
  CHECK(sn::max(frequency).item<double>() == 50);
  CHECK(sn::array_equal(centred(32, 500), plane(0, 0)));
  // clang-format off
  sn::ndarray smooth = sn::real(sn::fft::ifft(sn::fft::fft(x) * (sn::arange(1000) < 10))) + 1.0;   // kernels around two transforms
  // clang-format on
  CHECK(sn::test::kernels_of(smooth) == 1);
  // clang-format off
  sn::ndarray y = sn::fft::dct(x, {.type = 2, .norm = "ortho"});
  sn::ndarray kernel = sn::ones({1, 9}) / 9.0;
  sn::ndarray averaged = sn::fft::fftconvolve(x, kernel, "same", sn::axes{1});
  // clang-format on
  CHECK(y.shape() == x.shape());
  CHECK(averaged.shape() == x.shape());
  using namespace sn::idx;
  CHECK(averaged(5, 500).item<double>() == doctest::Approx(sn::mean(x(5, slice(496, 505))).item<double>()));
  // clang-format off
  sn::fft::plan_cache_info plans = sn::fft::plan_cache();
  sn::fft::clear_plan_cache();
  // clang-format on
  CHECK(plans.plans > 3);
  CHECK(sn::fft::plan_cache().plans == 0);
}
