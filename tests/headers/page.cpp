// A page of code as users write it: every spelling of the public API that overload resolution could get wrong.
#include <cmath>
#include <complex>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "sinter/sinter.hpp"

namespace sn = sinter;
using sn::ndarray;
using namespace sn::idx;

ndarray nearest(const ndarray& p, const ndarray& q) {
  auto lat1 = p(_, newaxis, 0), lon1 = p(_, newaxis, 1);
  auto lat2 = q["None, :, 0"], lon2 = q["None, :, 1"];
  auto h =
      sn::square(sn::sin((lat2 - lat1) / 2)) + sn::cos(lat1) * sn::cos(lat2) * sn::square(sn::sin((lon2 - lon1) / 2));
  return sn::argmin(2 * 6371.0 * sn::arcsin(sn::sqrt(h)), 1);
}

void jacobi(ndarray u) { u["1:-1, 1:-1"] = 0.25 * (u["2:, 1:-1"] + u[":-2, 1:-1"] + u["1:-1, 2:"] + u["1:-1, :-2"]); }

ndarray softmax(const ndarray& x) {
  auto e = sn::exp(x - sn::max(x, -1, {.keepdims = true}));
  return e / sn::sum(e, -1, {.keepdims = true});
}

ndarray descend(const ndarray& b, double tolerance = 1e-6) {
  auto x = sn::zeros_like(b);
  auto r = b - x, p = r.copy(), rs = sn::sum(r * r);
  auto alpha = rs / sn::sum(p * p);
  x += alpha * p;
  r -= alpha * p;
  if (sn::sqrt(rs) < tolerance) return x;
  p = r + rs / rs * p;
  return x;
}

void writes(ndarray x, int i, std::size_t n) {
  x(0, _) = sn::array({1, 2.5, 3});
  x[ellipsis] = 7;
  auto row = x(i);
  row = row * 2;
  x(i, slice(n, _)) = 1;
  x(slice(i, i + 2)) += 1;
  x(i) -= 1;
  x(i) /= 2;
  x[i] = 2;
  x[slice(1, 3)] = 3;
  x() = 1;
#ifdef __cpp_multidimensional_subscript
  x[0, _] = 1;
  x[i, newaxis, ellipsis] *= 2;
#endif
}

std::vector<ndarray> creations(std::size_t n) {
  std::vector<ndarray> all{
      sn::zeros({n, 3}, {.dtype = sn::float32}),
      sn::zeros({n, 3}, sn::float32),
      sn::zeros(3),
      sn::zeros({}),
      sn::array({{1, 2}, {3, 4}}),
      sn::array({}),
      sn::array({true, false}),
      sn::array(3.0),
      sn::array({std::complex<double>(1, 2), std::complex<double>()}),
      sn::array(std::vector<float>{1, 2}),
      sn::arange(5),
      sn::arange(0, 5, {.dtype = sn::int32}),
      sn::arange(5, {.dtype = sn::float32}),
      sn::full({2, 2}, 7),
      sn::linspace(0, 1, 5, {.endpoint = false}),
      sn::eye(3, {.k = 1}),
      sn::eye(3, 4),
      sn::zeros(3, {.device = "cpu"}),
      sn::zeros(3, {.device = sn::cuda(0)}),
  };
  for (const auto& g : sn::meshgrid({all[10], all[11]}, {.indexing = "ij"})) all.push_back(g);
  return all;
}

void reads(const ndarray& x, int i) {
  auto s = sn::sum(x, sn::axes{0, 1}, {.keepdims = true}), t = sn::sum(x, {.axis = {0, 1}});
  auto w = sn::where(x > 0, x, 0.0);
  float total = float(sn::sum(x));
  for (float v : x.host<float>()) total += v;
  const auto c = std::complex<double>(s);
  const ndarray either = i ? x(0) : x;
  if (t == w && i < 3) jacobi(either);
  const bool same = x.shape() == sn::shape_t{1024, 3} && x.shape() == std::vector<std::int64_t>{1024, 3};
  std::cout << x << total << c << same << x.to_vector<float>().size() << x.shape() << x.device();
  std::cout << sn::explain(x, {.source = true}) << name(sn::result_type(x, 2.0));
  sn::fast_math_guard fast;
  sn::eval(-x, +x, x % 2, (x > 1) & (x < 2), ~(x == 1), softmax(x), descend(x), nearest(x, x));
}

void kernels(ndarray x, ndarray y, int n, std::size_t blocks) {
  const sn::raw_kernel axpy("source", "axpy<float>", {.options = {"-DN=4", "-Ifolder"}, .names = {"other<float>"}});
  axpy({.grid = {(n + 255) / 256}, .block = {256}}, 2.0f, x, sn::in(x + y), y(_, 0), n);
  axpy({.grid = blocks, .block = {32, 8}, .shared_mem = 100 << 10, .cooperative = true, .cluster = {2, 1, 1}});
  const sn::raw_module module("source", {.fast_math = true});
  struct point {
    float x, y;
  };
  float* address = nullptr;
  module.get("k")({.grid = 1}, sn::strided(x), sn::strided(sn::in(y)), sn::in(sn::strided(y)), point{1, 2}, nullptr,
                  address, static_cast<const void*>(address), true, 'a', 1ULL, std::complex<float>(1, 2),
                  sn::half(1.f));
  module.set_global("table", std::vector<float>{1, 2});
  module.set_global("table", std::span<const float>(address, 3), sn::cuda(1));
  module.set_global("table", x);
  module.set_global("scale", 2.5f);
  module.set_global("where", point{1, 2});
  const std::vector<bool> flags = module.get_global<bool>("flags");
  const std::vector<point> points = module.get_global<point>("points", "cuda:1");
  std::cout << axpy.attributes().registers << axpy.occupancy(256) << axpy.occupancy({32, 8}, 1024, sn::cuda(1))
            << axpy.name() << axpy.defined() << flags.size() << points.size();
}

void tools(ndarray x, ndarray y, int n) {
  auto timed = sn::benchmark([&] { return x + y; }, {.repeat = 5, .warmup = 1, .name = "add", .device = sn::cuda(1)});
  std::cout << timed << timed.device.median << timed.host.spread() << sn::benchmark(std::abort);
  const sn::range outer("outer"), inner(std::string("inner"));
  sn::progress bar(n), named(n, {.name = "rows", .unit = "rows"});
  bar.tick();
  bar.tick(n);
  const auto space = sn::cartesian({{"BLOCK", {64, 128}}, {"TYPE", {"float", "double"}}, {"FAST", {true, false}}},
                                   [=](const sn::macros& m) -> std::optional<sn::launch> {
                                     if (m["TYPE"] == "double") return {};
                                     return sn::launch{.grid = n / m.integer("BLOCK"), .block = m.integer("BLOCK")};
                                   });
  const sn::autotune tune("source", "axpy", space, {.options = {"-DN=4"}, .rtol = 1e-6, .repeat = 5});
  const sn::tuned best = tune(2.0f, sn::in(x), y, n);
  best(2.0f, sn::in(x), y, n);
  std::cout << best << sn::to_string(best.best().config) << best.best().time.median << best.kernel.name();
  const sn::autotune listed("source", "axpy", {{.macros = {{"BLOCK", 64}}, .launch = {.grid = n, .block = 64}}, {}});
}

std::vector<ndarray> draws() {
  sn::random::generator g(1), other(7u);
  return {g.random(),
          g.random(3),
          g.random({3, 4}),
          g.random({}, {.dtype = sn::float32}),
          g.integers(6),
          g.integers(0, 6, {2, 3}, {.endpoint = true}),
          g.integers(6, _, 5),
          g.normal(0, 1, 5),
          g.normal(0.0, 2.0),
          g.normal(sn::zeros(3), 1, {2, 3}, {.dtype = sn::float32}),
          g.choice(10, 3, {.replace = false}),
          g.choice(sn::arange(4), {2, 2}, {.p = sn::full(4, 0.25)}),
          g.permutation(5),
          g.permutation(sn::arange(4)),
          sn::random::uniform(-1, 1, 4),
          sn::random::standard_normal({2, 2}),
          other.poisson(3.5, 4)};
}

std::vector<ndarray> transforms(const ndarray& x) {
  return {sn::fft::fft(x),
          sn::fft::fft(x, {.n = 8, .axis = 0, .norm = "ortho"}),
          sn::fft::fft2(x, {.axes = {0, 1}}),
          sn::fft::rfftn(x, {.s = sn::shape_t{4, 4}}),
          sn::fft::dct(x, {.type = 4}),
          sn::fft::fftfreq(8, 0.5),
          sn::fft::fftshift(x),
          sn::fft::fftshift(x, 1),
          sn::fft::fftconvolve(x, x, "same")};
}

void linear_algebra(ndarray a, ndarray b) {
  const ndarray x = sn::linalg::solve(a, b), inverse = sn::linalg::inv(a);
  auto [q, r] = sn::linalg::qr(a);
  auto [u, s, vh] = sn::linalg::svd(a, {.full_matrices = false});
  auto [w, v] = sn::linalg::eigh(a, {.uplo = 'U'});
  auto [sign, logabsdet] = sn::linalg::slogdet(a);
  auto [p, l, upper] = sn::linalg::lu(a, {.p_indices = true});
  auto [fit, residuals, rank, sizes] = sn::linalg::lstsq(a, b, {.rcond = 1e-8});
  const auto factors = sn::linalg::lu_factor(a);
  std::cout << sn::linalg::lu_solve(factors, b) << sn::linalg::lu_solve({factors.lu, factors.piv}, b, {.trans = 2})
            << sn::linalg::qr(a, "complete").q << sn::linalg::qr(a, {.mode = "r"}).r << rank;
  std::cout << sn::linalg::norm(a) << sn::linalg::norm(a, 2) << sn::linalg::norm(a, -INFINITY)
            << sn::linalg::norm(a, "nuc")
            << sn::linalg::norm(a, {.ord = sn::idx::_, .axis = sn::axes{0, 1}, .keepdims = true})
            << sn::linalg::vector_norm(a, {.axis = 0, .ord = 0.5}) << sn::linalg::matrix_norm(a, {.ord = 1})
            << sn::linalg::cond(a) << sn::linalg::cond(a, "fro") << sn::linalg::matrix_rank(a, {.tol = 1e-3})
            << sn::linalg::pinv(a, {.rcond = b, .hermitian = true}) << sn::linalg::cholesky(a, {.upper = true})
            << sn::linalg::solve_triangular(a, b, {.lower = true, .trans = 1}) << sn::linalg::expm(a)
            << sn::linalg::tensorsolve(a, b, {.axes = {0, 2}}) << sn::linalg::tensorinv(a, 1) << sn::linalg::det(a)
            << sn::linalg::diagonal(a, {.offset = 1}) << sn::diagonal(a, 1, 0, 2) << sn::trace(a, {.offset = -1})
            << sn::linalg::trace(a, {.dtype = sn::float32}) << sn::cross(a, b) << sn::linalg::cross(a, b, {.axis = 0});
}
