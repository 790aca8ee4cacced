// Times products, einsum and a step of conjugate gradients. peers.py --linalg prints the same rows for other libraries.
#include <cstdint>
#include <string>

#include "bench.hpp"

namespace bench {
namespace {

using namespace sinter::idx;

struct sizes {
  std::int64_t m, k, n, side, stack, dense;
};
constexpr sizes gpu_sizes{10000, 5000, 7000, 8192, 4096, 4096}, cpu_sizes{2000, 1000, 1400, 1000, 256, 2048};

/// Integers from -100 to 100, bools, or numbers between -0.5 and 0.5.
ndarray matrix(std::int64_t rows, std::int64_t columns, sn::dtype type) {
  const double scale = sn::is_inexact(type) ? 0.5 : 100;
  const ndarray drawn = numbers({rows, columns}, -scale, scale);
  const ndarray x = sn::is_bool(type) ? drawn > 0 : drawn.astype(type);
  sn::eval(x);
  return x;
}

std::string times(std::int64_t a, std::int64_t b, std::int64_t c) {
  return std::to_string(a) + " x " + std::to_string(b) + " x " + std::to_string(c);
}

double flops(std::int64_t m, std::int64_t k, std::int64_t n) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
}

void product_rows(const sizes& s) {
  for (const sn::dtype type : {sn::float32, sn::float64}) {
    const ndarray a = matrix(s.m, s.k, type), b = matrix(s.k, s.n, type);
    const std::string what = ", " + times(s.m, s.k, s.n) + ", " + std::string(sn::name(type));
    print_row("matmul" + what, steady_seconds([&] { return sn::matmul(a, b); }), flops(s.m, s.k, s.n), "Gflop/s");
    print_row("matmul, sum axis 0" + what, steady_seconds([&] { sn::eval(sn::sum(sn::matmul(a, b), 0)); }),
              flops(s.m, s.k, s.n), "Gflop/s");
  }
  const ndarray a = matrix(s.m, s.k, sn::float32), b = matrix(s.k, s.n, sn::float32);
  print_row("einsum ij,jk->k, " + times(s.m, s.k, s.n) + ", float32",
            steady_seconds([&] { sn::eval(sn::einsum("ij,jk->k", a, b)); }),
            4.0 * static_cast<double>(s.m * s.k + s.k * s.n), "GB/s");
}

void square_rows(const sizes& s) {
  const ndarray small = matrix(1000, 1000, sn::float32);
  print_row("dot 1000^2, float32", steady_seconds([&] { return sn::dot(small, small); }), 2e9, "Gflop/s");
  for (const sn::dtype type : {sn::float16, sn::bfloat16, sn::bool_, sn::int8, sn::int16, sn::int32, sn::int64}) {
    const std::int64_t n = sn::is_inexact(type) ? s.side : s.side / 4;
    const ndarray a = matrix(n, n, type);
    print_row("matmul " + std::to_string(n) + "^2, " + std::string(sn::name(type)),
              steady_seconds([&] { return sn::matmul(a, a); }), flops(n, n, n), "Gflop/s");
  }
  const ndarray stack = sn::reshape(matrix(s.stack * 128, 128, sn::float32), {s.stack, 128, 128});
  print_row("matmul of " + std::to_string(s.stack) + " matrices 128^2, float32",
            steady_seconds([&] { return sn::matmul(stack, stack); }),
            static_cast<double>(s.stack) * flops(128, 128, 128), "Gflop/s");
  const ndarray tiny = sn::reshape(matrix(s.stack * 64, 4, sn::float32), {s.stack * 16, 4, 4});
  print_row("matmul of " + std::to_string(s.stack * 16) + " matrices 4^2, float32",
            steady_seconds([&] { return sn::matmul(tiny, tiny); }));
}

void vector_rows(const sizes& s) {
  const ndarray a = matrix(s.dense, s.dense, sn::float64), x = matrix(1, s.dense, sn::float64)(0);
  const double bytes = 8.0 * static_cast<double>(s.dense) * static_cast<double>(s.dense);
  const std::string what = " " + std::to_string(s.dense) + "^2, float64";
  print_row("matrix times vector," + what, steady_seconds([&] { sn::eval(sn::matmul(a, x)); }), bytes, "GB/s");
  print_row("transpose times vector," + what, steady_seconds([&] { sn::eval(sn::matmul(a.T(), x)); }), bytes, "GB/s");
  ndarray p = x.copy(), r = x.copy(), y = sn::zeros_like(x), rr = sn::vdot(r, r);
  sn::eval(p, r, y, rr);
  print_row("step of conjugate gradients," + what, steady_seconds([&] {
              const ndarray q = sn::matmul(a, p), alpha = rr / sn::vdot(p, q);
              y = y + alpha * p;
              r = r - alpha * q;
              const ndarray next = sn::vdot(r, r);
              p = r + (next / rr) * p;
              rr = next;
              sn::eval(y, r, p, rr);
            }),
            bytes, "GB/s");
}

}  // namespace

void linalg_rows() {
  const sizes& s = sn::default_device().kind == sn::device_kind::cuda ? gpu_sizes : cpu_sizes;
  print_head();
  product_rows(s);
  square_rows(s);
  vector_rows(s);
}

}  // namespace bench
