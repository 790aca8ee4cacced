// Factorisations on a GPU beyond what the tests of every device do: each of the ways that cuSOLVER offers, many small
// matrices at once, matrices that one way cannot take; without a GPU, whether the libraries have what is wanted of them.
#ifdef SINTER_HAS_CUDA

#include <string>

#include "backends/cuda/cuda_solver_hooks.hpp"
#include "gpu/gpu.hpp"
#include "linalg_checks.hpp"

using namespace sinter;
using namespace sinter::idx;
using namespace sinter::test;

namespace {

struct svd_by {
  explicit svd_by(cuda::svd_method m) { cuda::set_svd_method(m); }
  ~svd_by() { cuda::set_svd_method(cuda::svd_method::chosen); }
  svd_by(const svd_by&) = delete;
  svd_by& operator=(const svd_by&) = delete;
};

void check_svd(const ndarray& a, bool full) {
  const dtype t = a.dtype();
  const std::int64_t m = a.shape(-2), n = a.shape(-1), k = std::min(m, n);
  const auto [u, s, vh] = linalg::svd(a, {.full_matrices = full});
  const ndarray left = u(ellipsis, slice(0, k)), right = vh(ellipsis, slice(0, k), _);
  CHECK(ratio(matmul(wide(left) * wide(expand_dims(s, -2)), wide(right)), a, norm_1(a), std::max(m, n), t) < allowed_ratio);
  CHECK(orthogonality(u, t) < allowed_ratio);
  CHECK(orthogonality(adjoint(vh), t) < allowed_ratio);
  CHECK(all(greater_equal(s, 0)).item<bool>());
  CHECK(all(less_equal(diff(s), 0)).item<bool>());
}

std::uint64_t launches() { return runtime::get_backend(runtime::default_device()).statistics().launches; }

/// Launches of a call whose kernels have been compiled.
template <class F>
std::uint64_t launches_of(F&& call) {
  call();
  const std::uint64_t before = launches();
  call();
  return launches() - before;
}

}  // namespace

TEST_CASE("gpu: cuSOLVER and cuBLAS have every function that factorisations call") {
  const std::string why = cuda::why_no_solver_libraries();
  if (!why.empty() && why.find("has no function") == std::string::npos) {
    MESSAGE("left out: " << why);
    return;
  }
  CHECK(why == "");
}

TEST_CASE("gpu: svd by QR iterations and by polar decomposition, of every shape and dtype") {
  if (gpu_test::no_gpu() || no_solvers()) return;
  for (const auto method : {cuda::svd_method::by_qr, cuda::svd_method::by_polar}) {
    const svd_by chosen(method);
    CAPTURE(static_cast<int>(method));
    for (const dtype t : solver_types)
      for (const shape_t& shape : {shape_t{40, 40}, {130, 130}, {200, 130}, {130, 200}, {3, 64, 40}, {300, 300}}) {
        CAPTURE(described(shape, t));
        const ndarray a = normal(shape, t, 201);
        check_svd(a, false);
        check_svd(a, true);
      }
  }
}

TEST_CASE("gpu: svd of singular matrices, which polar decomposition leaves to QR iterations") {
  if (gpu_test::no_gpu() || no_solvers()) return;
  for (const dtype t : solver_types) {
    CAPTURE(described({}, t));
    const ndarray few = matmul(normal({150, 5}, t, 211), normal({5, 140}, t, 212));
    const ndarray graded = normal({150, 150}, t, 213) * power(10.0, -0.1 * arange(150.0)).astype(real_type(t));
    for (const ndarray& a : {few, few.mT(), graded, zeros({140, 140}, t), ones({160, 130}, t)}) {
      CAPTURE(to_string(a.shape()));
      check_svd(a, false);
      check_svd(a, true);
    }
  }
}

TEST_CASE("gpu: many small matrices take a few launches, whatever their number") {
  if (gpu_test::no_gpu() || no_solvers()) return;
  const ndarray a = positive_definite({2000, 12, 12}, float64, 221), b = normal({2000, 12, 3}, float64, 222);
  eval(a, b);
  CHECK(launches_of([&] { linalg::solve(a, b); }) < 30);
  CHECK(launches_of([&] { linalg::inv(a); }) < 30);
  CHECK(launches_of([&] { eval(linalg::cholesky(a)); }) < 30);
  CHECK(launches_of([&] { eval(linalg::qr(a).q); }) < 30);
  CHECK(launches_of([&] { linalg::svd(a); }) < 30);
  CHECK(launches_of([&] { linalg::eigh(a); }) < 30);
  CHECK(launches_of([&] { linalg::solve_triangular(a, b); }) < 30);
  CHECK(launches_of([&] { eval(linalg::det(a)); }) < 30);
}

TEST_CASE("gpu: thousands of small matrices by their residuals") {
  if (gpu_test::no_gpu() || no_solvers()) return;
  for (const dtype t : solver_types)
    for (const shape_t& shape : {shape_t{3000, 4, 4}, {70, 70, 16, 16}, {500, 32, 20}, {500, 20, 32}, {100, 64, 64}}) {
      CAPTURE(described(shape, t));
      const ndarray a = normal(shape, t, 231);
      const std::int64_t m = a.shape(-2), n = a.shape(-1);
      check_svd(a, false);
      check_svd(a, true);
      for (const char* mode : {"reduced", "complete"}) {
        const auto [q, r] = linalg::qr(a, mode);
        CHECK(ratio(matmul(wide(q), wide(r)), a, norm_1(a), std::max(m, n), t) < allowed_ratio);
        CHECK(orthogonality(q, t) < allowed_ratio);
      }
      if (m != n) continue;
      const ndarray h = (a + adjoint(a)) * 0.5;
      const auto [w, v] = linalg::eigh(h);
      CHECK(ratio(matmul(wide(h), wide(v)), wide(v) * wide(expand_dims(w, -2)), norm_1(h), n, t) < allowed_ratio);
      CHECK(orthogonality(v, t) < allowed_ratio);
      const ndarray x = linalg::solve(a, a + 1.0);
      CHECK(ratio(matmul(wide(a), wide(x)), a + 1.0, norm_1(a) * norm_1(x), n, t) < allowed_ratio);
    }
}

TEST_CASE("gpu: stacks of matrices that are too large for batched routines") {
  if (gpu_test::no_gpu() || no_solvers()) return;
  for (const dtype t : {float32, complex128}) {
    CAPTURE(described({}, t));
    const ndarray a = normal({3, 300, 300}, t, 241), h = hermitian({2, 600, 600}, t, 242);
    const ndarray x = linalg::solve(a, a(_, _, slice(0, 2)) + 1.0);
    CHECK(ratio(matmul(wide(a), wide(x)), a(_, _, slice(0, 2)) + 1.0, norm_1(a) * norm_1(x), 300, t) < allowed_ratio);
    const auto [q, r] = linalg::qr(a);
    CHECK(ratio(matmul(wide(q), wide(r)), a, norm_1(a), 300, t) < allowed_ratio);
    check_svd(a, false);
    const auto [w, v] = linalg::eigh(h);
    CHECK(ratio(matmul(wide(h), wide(v)), wide(v) * wide(expand_dims(w, -2)), norm_1(h), 600, t) < allowed_ratio);
    const ndarray p = positive_definite({2, 300, 300}, t, 243), l = linalg::cholesky(p);
    CHECK(ratio(matmul(wide(l), adjoint(wide(l))), p, norm_1(p), 300, t) < allowed_ratio);
    const ndarray triangle = tril(a) + 300.0 * eye(300), y = linalg::solve_triangular(triangle, a, {.lower = true});
    CHECK(ratio(matmul(wide(triangle), wide(y)), a, norm_1(triangle) * norm_1(y), 300, t) < allowed_ratio);
  }
}

TEST_CASE("gpu: factorisations return their scratch memory") {
  if (gpu_test::no_gpu() || no_solvers()) return;
  const ndarray a = normal({500, 500}, float64, 251);
  eval(a);
  runtime::backend& device = runtime::get_backend(runtime::default_device());
  const auto once = [&] {
    linalg::svd(a);
    linalg::qr(a);
    linalg::eigh(a);
    linalg::inv(a);
    linalg::eigvals(a);
  };
  once();
  const std::size_t used = device.memory().used;
  for (int k = 0; k < 3; ++k) once();
  CHECK(device.memory().used == used);
}

#endif
