// Extremes of integers in linear algebra, transforms, random numbers and users' kernels.
#include "hostile/extreme_integers.hpp"

using namespace hostile;
using sinter::axes;

namespace {

ndarray cube() { return sn::reshape(sn::arange(24, {.dtype = sn::float64}), {2, 3, 4}); }
ndarray row() { return sn::arange(6); }
ndarray square() { return sn::eye(3) * 2; }

}  // namespace

TEST_CASE("extreme integers: products and linear algebra") {
  check_extremes({
      {"vecdot_kw.axis", [](int64_t k) { return sn::vecdot(cube(), cube(), {.axis = k}); }},
      {"tensordot", [](int64_t k) { return sn::tensordot(cube(), cube(), k); }},
      {"tensordot axes", [](int64_t k) { return sn::tensordot(cube(), cube(), axes{k}, axes{k}); }},
      {"diagonal", [](int64_t k) { return sn::diagonal(cube(), k); }},
      {"diagonal axes", [](int64_t k) { return sn::diagonal(cube(), 0, k, 0); }},
      {"diagonal second axis", [](int64_t k) { return sn::diagonal(cube(), 0, 0, k); }},
      {"trace_kw.offset", [](int64_t k) { return sn::trace(cube(), {.offset = k}); }},
      {"trace_kw.axis1", [](int64_t k) { return sn::trace(cube(), {.axis1 = k, .axis2 = 2}); }},
      {"trace_kw.axis2", [](int64_t k) { return sn::trace(cube(), {.axis1 = 0, .axis2 = k}); }},
      {"diagonal_kw.offset", [](int64_t k) { return sn::linalg::diagonal(cube(), {.offset = k}); }},
      {"matrix_trace_kw.offset", [](int64_t k) { return sn::linalg::trace(cube(), {.offset = k}); }},
      {"norm_kw.axis",
       [](int64_t k) {
         return sn::linalg::norm(cube(), {.axis = axes{k, 0}});
       }},
      {"vector_norm_kw.axis", [](int64_t k) { return sn::linalg::vector_norm(cube(), {.axis = k}); }},
      {"norm order", [](int64_t k) { return sn::linalg::norm(row(), k); }},
      {"cross_kw.axis",
       [](int64_t k) {
         return sn::cross(sn::zeros({3, 3}), sn::ones({3, 3}), {.axis = k});
       }},
      {"matrix_power", [](int64_t k) { return sn::linalg::matrix_power(square(), k); }},
      {"solve_banded",
       [](int64_t k) {
         return sn::linalg::solve_banded({k, 1}, sn::ones({3, 4}), sn::ones({4}));
       }},
      {"solve_banded above",
       [](int64_t k) {
         return sn::linalg::solve_banded({1, k}, sn::ones({3, 4}), sn::ones({4}));
       }},
      {"solve_banded both",
       [](int64_t k) {
         return sn::linalg::solve_banded({k, k}, sn::ones({3, 4}), sn::ones({4}));
       }},
      {"tensorinv", [](int64_t k) { return sn::linalg::tensorinv(square(), k); }},
      {"tensorsolve_kw.axes", [](int64_t k) { return sn::linalg::tensorsolve(square(), sn::ones({3}), {.axes = k}); }},
      {"lu_solve_kw.trans",
       [](int64_t k) { return sn::linalg::lu_solve(sn::linalg::lu_factor(square()), sn::ones({3}), {.trans = k}); }},
      {"solve_triangular_kw.trans",
       [](int64_t k) { return sn::linalg::solve_triangular(square(), sn::ones({3}), {.trans = k}); }},
      {"einsum path",
       [](int64_t k) {
         return sn::einsum("ij,jk,kl->il", square(), square(), square(),
                           {.path = {{static_cast<int>(std::clamp<int64_t>(k, INT32_MIN, INT32_MAX)), 1}, {0, 1}}});
       }},
  });
}

TEST_CASE("extreme integers: transforms") {
  namespace fft = sn::fft;
  const ndarray x = cube();
  check_extremes({
      {"fft_kw.n", [=](int64_t k) { return fft::fft(x, {.n = k}); }},
      {"fft_kw.n inverse", [=](int64_t k) { return fft::irfft(x, {.n = k}); }},
      {"fft_kw.axis", [=](int64_t k) { return fft::rfft(x, {.axis = k}); }},
      {"fftn_kw.s",
       [=](int64_t k) {
         return fft::fftn(x, {.s = sn::shape_t{k, k}});
       }},
      {"fftn_kw.axes",
       [=](int64_t k) {
         return fft::irfftn(x, {.axes = axes{0, k}});
       }},
      {"fft2_kw.s",
       [=](int64_t k) {
         return fft::rfft2(x, {.s = sn::shape_t{2, k}});
       }},
      {"fft2_kw.axes",
       [=](int64_t k) {
         return fft::fft2(x, {.axes = axes{k, 1}});
       }},
      {"fftfreq", [](int64_t k) { return fft::fftfreq(k); }},
      {"rfftfreq", [](int64_t k) { return fft::rfftfreq(k); }},
      {"fftshift", [=](int64_t k) { return fft::fftshift(x, k); }},
      {"ifftshift",
       [=](int64_t k) {
         return fft::ifftshift(x, axes{k, 0});
       }},
      {"next_fast_len", [](int64_t k) { return fft::next_fast_len(k); }},
      {"next_fast_len real", [](int64_t k) { return fft::next_fast_len(k, true); }},
      {"dct_kw.type", [=](int64_t k) { return fft::dct(x, {.type = k}); }},
      {"dct_kw.n", [=](int64_t k) { return fft::dst(x, {.n = k}); }},
      {"dct_kw.n of type 1", [=](int64_t k) { return fft::dct(x, {.type = 1, .n = k}); }},
      {"dct_kw.axis", [=](int64_t k) { return fft::idct(x, {.axis = k}); }},
      {"dctn_kw.type", [=](int64_t k) { return fft::dctn(x, {.type = k}); }},
      {"dctn_kw.s", [=](int64_t k) { return fft::dctn(x, {.s = sn::shape_t{k}}); }},
      {"dctn_kw.axes", [=](int64_t k) { return fft::idctn(x, {.axes = k}); }},
      {"fftconvolve", [=](int64_t k) { return fft::fftconvolve(x, x, "full", k); }},
  });
}

TEST_CASE("extreme integers: random numbers") {
  namespace random = sn::random;
  check_extremes({
      {"random", [](int64_t k) { return random::random(k); }},
      {"uniform",
       [](int64_t k) {
         return random::uniform(0, 1, {k, 2});
       }},
      {"uniform limits", [](int64_t k) { return random::uniform(k, most, 3); }},
      {"standard_normal",
       [](int64_t k) {
         return random::standard_normal({k, k});
       }},
      {"normal", [](int64_t k) { return random::normal(k, 1, k); }},
      {"lognormal", [](int64_t k) { return random::lognormal(0, 1, k); }},
      {"standard_exponential", [](int64_t k) { return random::standard_exponential(k); }},
      {"exponential", [](int64_t k) { return random::exponential(k, 3); }},
      {"exponential size", [](int64_t k) { return random::exponential(1, k); }},
      {"laplace", [](int64_t k) { return random::laplace(0, 1, k); }},
      {"standard_gamma", [](int64_t k) { return random::standard_gamma(2, k); }},
      {"standard_gamma shape", [](int64_t k) { return random::standard_gamma(k, 3); }},
      {"gamma", [](int64_t k) { return random::gamma(2, 1, k); }},
      {"beta", [](int64_t k) { return random::beta(1, 2, k); }},
      {"beta of the number", [](int64_t k) { return random::beta(k, 2, 3); }},
      {"multivariate_normal", [](int64_t k) { return random::multivariate_normal(sn::zeros({2}), sn::eye(2), k); }},
      {"integers", [](int64_t k) { return random::integers(k, most, 3); }},
      {"integers high", [](int64_t k) { return random::integers(least, k, 3); }},
      {"integers endpoint", [](int64_t k) { return random::integers(least, k, 3, {.endpoint = true}); }},
      {"integers size", [](int64_t k) { return random::integers(0, 5, k); }},
      {"poisson", [](int64_t k) { return random::poisson(1, k); }},
      {"poisson mean", [](int64_t k) { return random::poisson(k, 3); }},
      {"binomial", [](int64_t k) { return random::binomial(k, 0.5, 3); }},
      {"binomial size", [](int64_t k) { return random::binomial(3, 0.5, k); }},
      {"choice", [](int64_t k) { return random::choice(k, 3); }},
      {"choice size", [](int64_t k) { return random::choice(3, k); }},
      {"choice without replacement", [](int64_t k) { return random::choice(k, 3, {.replace = false}); }},
      {"choice_kw.axis", [](int64_t k) { return random::choice(cube(), 1, {.axis = k}); }},
      {"permutation", [](int64_t k) { return random::permutation(k); }},
      {"permutation axis", [](int64_t k) { return random::permutation(cube(), k); }},
      {"permuted", [](int64_t k) { return random::permuted(cube(), k); }},
      {"shuffle",
       [](int64_t k) {
         const ndarray x = cube().copy();
         random::shuffle(x, k);
         return x;
       }},
      {"draw_size",
       [](int64_t k) { return random::random(std::vector<std::uint64_t>{static_cast<std::uint64_t>(k)}); }},
      {"seed", [](int64_t k) { random::generator().seed(k); }},
      {"generator", [](int64_t k) { return random::generator(k).random(2); }},
      {"default_rng", [](int64_t k) { return random::default_rng(static_cast<std::uint64_t>(k)).random(2); }},
      {"advance",
       [](int64_t k) {
         random::generator g(1);
         g.advance(k);
         return g.random(3);
       }},
      {"jump",
       [](int64_t k) {
         random::generator g(1);
         g.jump(static_cast<std::uint32_t>(k));
         return g.jumped(static_cast<std::uint32_t>(k)).random(3);
       }},
      {"jumped", [](int64_t k) { return random::generator(1).jumped(static_cast<std::uint32_t>(k)).random(3); }},
      {"spawn", [](int64_t k) { random::generator(1).spawn(static_cast<std::size_t>(k)); }},
  });
}

TEST_CASE("extreme integers: kernels of users") {
  const sn::elementwise_kernel indexed("raw T x", "T z", "z = x[i % 6];", "extreme_indexed");
  const sn::reduction_kernel total("T x", "T y", "x", "a + b", "y = a", "0", "extreme_total");
  check_extremes({
      {"kernel_kw.size", [=](int64_t k) { return indexed(row(), {.size = k}); }},
      {"reduction_kernel_call_kw.axis", [=](int64_t k) { return total(cube(), {.axis = k}); }},
      {"reduction_kernel_call_kw.axis in second place", [=](int64_t k) { return total(cube(), k); }},
      {"dims",
       [](int64_t k) {
         const sn::raw_kernel nothing("extern \"C\" __global__ void nothing() {}", "nothing");
         nothing({.grid = {k, k, k}, .block = {k}, .shared_mem = static_cast<std::size_t>(k)});
       }},
      {"occupancy",
       [](int64_t k) {
         const sn::raw_kernel nothing("extern \"C\" __global__ void nothing() {}", "nothing");
         return nothing.occupancy({k, k}, static_cast<std::size_t>(k));
       }},
      {"macros.integer",
       [](int64_t k) {
         return sn::macros{{"N", k}}.integer("N");
       }},
  });
}
