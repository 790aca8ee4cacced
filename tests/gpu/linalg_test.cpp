// Factorisations on a GPU beyond what the tests of every device do: each of the ways that cuSOLVER offers, many small
// matrices at once, matrices that one way cannot take; without a GPU, whether the libraries have the functions used of
// them.
#ifdef SINTER_HAS_CUDA

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/driver/hooks.hpp"
#include "gpu/gpu.hpp"
#include "support/linalg_checks.hpp"

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
  CHECK(ratio(matmul(wide(left) * wide(expand_dims(s, -2)), wide(right)), a, norm_1(a), std::max(m, n), t) <
        allowed_ratio);
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
  const svd_by chosen(cuda::svd_method::by_polar);  // of small ones too, which take fewer launches
  for (const dtype t : solver_types) {
    CAPTURE(described({}, t));
    const ndarray few = matmul(normal({50, 5}, t, 211), normal({5, 40}, t, 212));
    const ndarray graded = normal({40, 40}, t, 213) * power(10.0, -0.4 * arange(40.0)).astype(real_type(t));
    for (const ndarray& a : {few, few.mT(), graded, zeros({40, 40}, t), ones({46, 40}, t)}) {
      CAPTURE(to_string(a.shape()));
      check_svd(a, false);
      check_svd(a, true);
    }
  }
}

TEST_CASE("gpu: svd of a large singular matrix") {
  if (gpu_test::no_gpu() || no_solvers()) return;
  check_svd(matmul(normal({230, 5}, float64, 216), normal({5, 210}, float64, 217)), false);
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

namespace {

/// Hermitian matrices that are hard in one way or another, a few of each.
ndarray hard_hermitian(std::int64_t n, dtype t) {
  const std::int64_t count = 12, half = std::max<std::int64_t>(1, n / 2);
  const ndarray h = hermitian({count, n, n}, t, 261), few = normal({count, n, half}, t, 262);
  const ndarray grades = power(10.0, -0.5 * arange(static_cast<double>(n))).astype(real_type(t));
  const ndarray none = zeros({count, n, n}, t);
  const bool narrow = real_type(t) == float32;
  const double small = narrow ? 1e-30 : 1e-250, large = narrow ? 1e30 : 1e250;
  return concatenate({h, matmul(few, adjoint(few)), h * grades * expand_dims(grades, -1), none + 1.0, none,
                      none + eye(n, {.dtype = t}) * 3.0, h * small, h * large},
                     0);
}

/// The largest of the errors, 1-norms in units of what LAPACK's tests count in, each relative to its matrix.
double worst(const ndarray& error, const ndarray& of, dtype t) {
  const ndarray errors = max(sum(absolute(error), -2), -1), norms = max(sum(absolute(of), -2), -1);
  return max(errors / maximum(norms, 1e-300)).item<double>() / (static_cast<double>(of.shape(-1)) * eps_of(t));
}

void check_eigh(const ndarray& h, const linalg::eigen_result& r, const ndarray& alone) {
  const dtype t = h.dtype();
  // Relative to the largest element of each matrix, so that products stay in range.
  const ndarray largest = max(absolute(wide(h)), axes{-2, -1}), unit = where(equal(largest, 0), 1.0, largest);
  const ndarray a = wide(h) / expand_dims(unit, {-2, -1}), w = wide(r.eigenvalues) / expand_dims(unit, -1);
  const ndarray v = wide(r.eigenvectors), values = wide(alone) / expand_dims(unit, -1);
  CHECK(worst(matmul(a, v) - v * expand_dims(w, -2), a, t) < allowed_ratio);
  CHECK(orthogonality(r.eigenvectors, t) < allowed_ratio);
  CHECK(all(greater_equal(diff(r.eigenvalues), 0)).item<bool>());
  const double n = static_cast<double>(h.shape(-1));
  CHECK(max(absolute(values - w)).item<double>() <= allowed_ratio * n * n * eps_of(t));
}

}  // namespace

TEST_CASE("gpu: many small Hermitian matrices of every order, hard ones too, from either triangle") {
  if (gpu_test::no_gpu() || no_solvers()) return;
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  for (const dtype t : solver_types)
    for (const std::int64_t n : {2, 3, 8, 31, 32}) {
      CAPTURE(described({n, n}, t));
      const ndarray h = hard_hermitian(n, t), other = zeros({n, n}, real_type(t)) + nothing;
      check_eigh(h, linalg::eigh(h), linalg::eigvalsh(h));
      const ndarray upper = triu(h) + tril(other, -1), lower = tril(h) + triu(other, 1);
      check_eigh(h, linalg::eigh(upper, {.uplo = 'U'}), linalg::eigvalsh(lower));
    }
}

TEST_CASE("gpu: one matrix of many that is not finite is named, by each way to decompose them") {
  if (gpu_test::no_gpu() || no_solvers()) return;
  const double infinite = std::numeric_limits<double>::infinity();
  const auto message = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const linalg_error& e) {
      return e.what();
    }
    return "";
  };
  for (const dtype t : solver_types)
    for (const std::int64_t n : {4, 32, 70}) {
      CAPTURE(described({n, n}, t));
      ndarray a = hermitian({3, 5, n, n}, t, 271);
      a(1, 2, n - 1, 0) = infinite;  // in the lower triangle
      CHECK(message([&] { linalg::eigh(a); }) == "[eigh] Eigenvalues did not converge at batch index (1, 2)");
      CHECK(message([&] { linalg::svd(a); }) == "[svd] SVD did not converge at batch index (1, 2)");
      CHECK(message([&] { linalg::svdvals(a(1, 2)); }) == "[svdvals] SVD did not converge");
      CHECK(message([&] { linalg::eig(a(1)); }) == "[eig] Array must not contain infs or NaNs at batch index (2,)");
      CHECK(message([&] { linalg::eigvalsh(a, {.uplo = 'U'}); }) == "");
      CHECK(all(isfinite(linalg::eigvalsh(a, {.uplo = 'U'}))).item<bool>());
    }
}

TEST_CASE("gpu: the first of many matrices without a factorisation is named") {
  if (gpu_test::no_gpu() || no_solvers()) return;
  for (const std::int64_t count : {2, 1000, 5000, 40000})
    for (const std::int64_t at : {std::int64_t{0}, count / 3, count - 1}) {
      CAPTURE(count);
      CAPTURE(at);
      ndarray a = zeros({count, 2, 2}) + eye(2) * 2.0;
      a(at) = 0.0;
      a(count - 1) = 0.0;
      const std::string index = " at batch index (" + std::to_string(at) + ",)";
      std::string found;
      try {
        linalg::solve(a, ones({2, 2}));
      } catch (const linalg_error& e) {
        found = e.what();
      }
      CHECK(found == "[solve] Singular matrix" + index);
      try {
        linalg::cholesky(a);
      } catch (const linalg_error& e) {
        found = e.what();
      }
      CHECK(found == "[cholesky] Matrix is not positive definite" + index);
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
