// Factorisations, each checked by what its factors multiply to; transforms and random numbers, by what they must be.
#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>

#include "linalg_tour/stops.hpp"

namespace linalg_tour {
namespace {

/// Numbers of a normal distribution, the same in every run.
ndarray normal(const sn::shape_t& shape, sn::dtype type, std::uint64_t seed) {
  sn::random::generator g(seed);
  ndarray x = g.standard_normal(shape).astype(type).copy();
  sn::eval(x);
  return x;
}

ndarray matrix(std::int64_t order, std::uint64_t seed) { return normal({order, order}, sn::float64, seed); }

ndarray symmetric(std::int64_t order) {
  const ndarray x = matrix(order, 3);
  ndarray s = (x + x.T()).copy();
  sn::eval(s);
  return s;
}

std::string title(const std::string& what, std::int64_t order) {
  return what + ", " + std::to_string(order) + " x " + std::to_string(order) + ", float64";
}

double size_of(const ndarray& x) { return sn::sqrt(sn::sum(sn::square(sn::abs(x)))).item<double>(); }

/// The difference of two, relative to the second; as many roundings of the order as LAPACK's tests allow.
examples::verdict compare(const ndarray& x, const ndarray& exact, std::int64_t order) {
  return {size_of(x - exact) / size_of(exact), 30 * 0x1p-52 * static_cast<double>(order)};
}

}  // namespace

stop qr_factors(std::int64_t order) {
  const ndarray a = matrix(order, 1);
  return {title("linalg::qr(a)", order), [=] { return sn::linalg::qr(a).q; }, bare_qr(a),
          [=](const ndarray& q) { return compare(sn::matmul(q, sn::linalg::qr(a).r), a, order); }};
}

stop solution(std::int64_t order) {
  const ndarray a = matrix(order, 1), b = normal({order}, sn::float64, 2);
  return {title("linalg::solve(a, b)", order), [=] { return sn::linalg::solve(a, b); }, bare_solve(a, b),
          [=](const ndarray& x) {
            // Backward stable: the residual is small beside the matrix times the solution.
            const double residual = size_of(sn::matmul(a, x) - b);
            return examples::verdict{residual / (size_of(a) * size_of(x)), 30 * 0x1p-52 * static_cast<double>(order)};
          }};
}

stop singular_vectors(std::int64_t order) {
  const ndarray a = matrix(order, 1);
  return {title("linalg::svd(a)", order), [=] { return sn::linalg::svd(a).u; }, bare_svd(a),
          [=](const ndarray&) {
            const auto [u, s, vh] = sn::linalg::svd(a);
            return compare(sn::matmul(u * s, vh), a, order);
          }};
}

stop eigenvectors(std::int64_t order) {
  const ndarray a = symmetric(order);
  return {title("linalg::eigh(a)", order), [=] { return sn::linalg::eigh(a).eigenvectors; }, bare_eigh(a),
          [=](const ndarray&) {
            const auto [w, v] = sn::linalg::eigh(a);
            return compare(sn::matmul(v * w, v.T()), a, order);
          }};
}

stop fourier(const sn::shape_t& shape) {
  const ndarray re = normal(shape, sn::float32, 5), im = normal(shape, sn::float32, 6);
  const ndarray x = (re + im * std::complex<float>(0, 1)).astype(sn::complex64).copy();
  sn::eval(x);
  const bool plane = shape.ndim() == 2;
  std::string name = plane ? "fft::fft2(x), " : "fft::fft(x), ";
  name += std::to_string(shape[0]) + (plane ? " x " + std::to_string(shape[1]) : "") + ", complex64";
  return {name, [=] { return sn::fft::fftn(x); }, bare_fft(x),
          [=](const ndarray& y) {
            // As in float64, but for a few roundings for each halving of the length.
            const ndarray exact = sn::fft::fftn(x.astype(sn::complex128));
            const double halvings = std::log2(static_cast<double>(x.size()) + 1);
            return examples::verdict{size_of(y.astype(sn::complex128) - exact) / size_of(exact),
                                     8 * 0x1p-23 * (halvings + 1)};
          }};
}

stop normal_numbers(std::int64_t count) {
  return {
      "generator.standard_normal, " + std::to_string(count) + ", float32",
      [=, g = std::make_shared<sn::random::generator>(7)] { return g->standard_normal(count, {.dtype = sn::float32}); },
      bare_normal(count),
      [=](const ndarray& x) {
        // The mean and the variance are those of the distribution, within six standard deviations of theirs.
        const ndarray wide = x.astype(sn::float64);
        const double mean = sn::mean(wide).item<double>(), square = sn::mean(sn::square(wide)).item<double>();
        const double deviations =
            std::max(std::abs(mean), std::abs(square - 1) / std::sqrt(2.0)) * std::sqrt(static_cast<double>(count));
        return examples::verdict{deviations, 6};
      }};
}

}  // namespace linalg_tour
