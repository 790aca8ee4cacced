// Sparse systems on the GPU, by whichever library is there, against the CPU's.
#include "sinter/sparse_linalg.hpp"

#include <complex>

#include "gpu/gpu.hpp"
#include "ops/sparse_linalg/superlu.hpp"
#include "sinter/sparse.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using gpu_test::no_gpu;
using sparse::sparse_array;
namespace sl = sinter::sparse::linalg;

/// The 5-point Laplacian of side^2 points with something along one diagonal that makes it no symmetric matrix.
sparse_array grid(std::int64_t side, dtype type) {
  const ndarray one = ones(side, {.device = cpu});
  const sparse_array line =
      sparse::diags({-1.0 * one(slice(1, _)), 2.0 * one, -1.2 * one(slice(1, _))}, {-1, 0, 1}).tocsr();
  const sparse_array whole = sparse::kronsum(line, line).tocsr();
  return is_complex(type) ? (whole * std::complex<double>(1, 0.25)).astype(type) : whole.astype(type);
}
ndarray sides(const shape_t& shape, dtype type) {
  std::int64_t n = 1;
  for (const std::int64_t e : shape) n *= e;
  const ndarray x = cos(arange(n, {.dtype = float64, .device = cpu})).reshape(shape);
  return (is_complex(type) ? x * std::complex<double>(0.5, -1) : x).astype(type);
}
double length(const ndarray& x) { return linalg::norm(ravel(x)).item<double>(); }

}  // namespace

TEST_CASE("GPU: spsolve has the solutions of the CPU's, of one and several right-hand sides") {
  if (no_gpu() || test::no_superlu()) return;
  const device gpu = default_device();
  for (const dtype type : {float32, float64, complex64, complex128}) {
    CAPTURE(name(type));
    const double near = type == float32 || type == complex64 ? 2e-4 : 1e-11;
    for (const std::int64_t side : {1, 2, 9, 30}) {
      CAPTURE(side);
      const sparse_array a = grid(side, type);
      for (const std::int64_t k : {0, 1, 4}) {
        const ndarray b = k == 0 ? sides({side * side}, type) : sides({side * side, k}, type);
        for (const sparse_array& there : {a.to_device(gpu), a.tocsc().to_device(gpu)}) {
          const ndarray x = sl::spsolve(there, b.to_device(gpu));
          CHECK(x.device() == gpu);
          CHECK(x.shape() == b.shape());
          CHECK(x.dtype() == type);
          CHECK(length(sparse::matmul(a, x.to_host()) - b) <= near * length(b));
          // Deterministic, in what goes before it in the stream and after it.
          CHECK(array_equal(sl::spsolve(there, 2 * b.to_device(gpu) - b.to_device(gpu)), x));
          CHECK(length((2 * x).to_host() - 2 * sl::spsolve(a, b)) <= 100 * near * length(b));
        }
      }
    }
  }
}

TEST_CASE("GPU: spsolve refuses singular matrices, and solves badly scaled ones") {
  if (no_gpu() || test::no_superlu()) return;
  const device gpu = default_device();
  const auto there = [&](const ndarray& m) { return sparse::csr_array(m.to_host()).to_device(gpu); };
  const ndarray b = ones({2}, {.device = gpu});
  CHECK_THROWS_AS((void)sl::spsolve(there(array({{1.0, 1.0}, {1.0, 1.0}})), b), linalg_error);
  CHECK_THROWS_AS((void)sl::spsolve(there(array({{1.0, 0.0}, {1.0, 0.0}})), b), linalg_error);
  CHECK_THROWS_AS((void)sl::spsolve(there(zeros({2, 2})), b), linalg_error);
  CHECK(allclose(sl::spsolve(there(array({{1e30, 0.0}, {0.0, 1e-30}})), b).to_host(),
                 array({1e-30, 1e30}, {.device = cpu}), 1e-12, 0));
  // A permutation, whose diagonal is empty.
  const ndarray right = array({1.0, 2.0, 3.0}).to_device(gpu);
  const ndarray x = sl::spsolve(there(array({{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}})), right);
  CHECK(allclose(x.to_host(), array({3.0, 1.0, 2.0}, {.device = cpu})));
}
