// Solvers of sparse systems on the GPU against the CPU, and against what they solve.
#include <vector>

#include "gpu/gpu.hpp"
#include "sinter/sparse.hpp"
#include "sinter/sparse_linalg.hpp"

namespace {

using namespace sinter;
using gpu_test::no_gpu;
using sparse::sparse_array;
namespace sl = sparse::linalg;

double length(const ndarray& x) { return linalg::norm(x.to_host()).item<double>(); }

/// The 5-point Laplacian of n^2 with a wind, not symmetric, on the CPU.
sparse_array with_wind(std::int64_t n, dtype type) {
  const auto line = [&](double below, double above) {
    return sparse::diags({full(n - 1, below), full(n, 2.1), full(n - 1, above)}, {-1, 0, 1});
  };
  const sparse_array one = sparse::identity(n);
  return (sparse::kron(one, line(-1.2, -0.8)) + sparse::kron(line(-1, -1), one)).astype(type);
}

}  // namespace

TEST_CASE("GPU: lsmr and lsqr of long rows take the CPU's steps, and have the same bits again") {
  if (no_gpu()) return;
  const device gpu = default_device();
  const device_guard on_host(cpu);
  for (const dtype type : {float32, float64}) {
    CAPTURE(name(type));
    random::generator g(3);
    // Around 0: one singular value far above the others would make rounding errors grow from step to step.
    const sparse_array positive = sparse::random_array({3000, 2800}, 0.15, {.dtype = type, .device = cpu, .rng = &g});
    const sparse_array a =
        sparse::csr_array(positive.data() - 0.5, positive.indices(), positive.indptr(), shape_t{3000, 2800});
    const sparse_array there = a.to_device(gpu);
    const ndarray b = g.normal(0, 1, {3000}).astype(type), far = b.to_device(gpu);
    const double near = type == float32 ? 1e-3 : 1e-9;
    for (const double damp : {0.0, 2.0}) {
      const auto m = sl::lsmr(a, b, {.damp = damp, .maxiter = 21}),
                 m2 = sl::lsmr(there, far, {.damp = damp, .maxiter = 21});
      const auto q = sl::lsqr(a, b, {.damp = damp, .iter_lim = 21, .calc_var = true}),
                 q2 = sl::lsqr(there, far, {.damp = damp, .iter_lim = 21, .calc_var = true});
      CHECK(m2.itn == m.itn);
      CHECK(q2.itn == q.itn);
      CHECK(length(m2.x.to_host() - m.x) <= near * length(m.x));
      CHECK(length(q2.x.to_host() - q.x) <= near * length(q.x));
      CHECK(length(q2.var.to_host() - q.var) <= near * length(q.var));
      CHECK(std::abs(m2.normr - m.normr) <= near * m.normr);
      CHECK(array_equal(sl::lsmr(there, far, {.damp = damp, .maxiter = 21}).x, m2.x));
      CHECK(array_equal(sl::lsqr(there, far, {.damp = damp, .iter_lim = 21}).x, q2.x));
    }
  }
}

TEST_CASE("GPU: spsolve by the library that there is") {
  if (no_gpu()) return;
  const device gpu = default_device();
  const device_guard on_host(cpu);
  const auto left_to_host = [](const auto& f) {
    try {
      f();
    } catch (const device_error& e) {
      if (std::string(e.what()).find("SuperLU") == std::string::npos) throw;
      MESSAGE("left out: " << e.what());
    }
  };
  for (const dtype type : {float32, float64, complex64, complex128})
    for (const dtype index : {int32, int64})
      for (const std::int64_t k : {0, 1, 3}) {
        CAPTURE(name(type));
        CAPTURE(k);
        const sparse_array a = sparse::csr_array(with_wind(24, type), {.index_dtype = index});
        random::generator g(5);
        const ndarray b = (k == 0 ? g.normal(0, 1, {576}) : g.normal(0, 1, {576, k})).astype(type);
        left_to_host([&] {
          const ndarray x = sl::spsolve(a.to_device(gpu), b.to_device(gpu));
          CHECK(x.device() == gpu);
          CHECK(x.dtype() == type);
          CHECK(x.shape() == b.shape());
          CHECK(length(a.dot(x.to_host()) - b) <= (type == float32 || type == complex64 ? 1e-4 : 1e-12) * length(b));
          CHECK(array_equal(sl::spsolve(a.to_device(gpu), b.to_device(gpu)), x));
        });
      }
  // The Laplacian of a cycle, whose rows add up to 0.
  const ndarray around = 2 * eye(40) - roll(eye(40), 1, 0) - roll(eye(40), -1, 0);
  left_to_host([&] {
    bool refused = false;
    try {
      (void)sl::spsolve(sparse::csr_array(around).to_device(gpu), arange(40.0).to_device(gpu));
    } catch (const linalg_error&) {
      refused = true;
    }
    CHECK(refused);
  });
}
