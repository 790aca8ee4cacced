// Times factorisations and solvers, QR beside the bare calls of cuSOLVER, SVD and stacks of Hermitian
// matrices in each of their ways.
// solver_peers.py prints the same rows for other libraries. Usage: sinter_bench_solvers [--device NAME] [--small]
#include <cstdint>
#include <cstring>
#include <string>

#include "bench.hpp"

#ifdef SINTER_HAS_CUDA
#include "backends/cuda/driver/hooks.hpp"
#include "backends/cuda/linalg/cusolver_library.hpp"
#endif

namespace bench {
namespace {

using namespace sinter;

/// Of full rank: some ways are much faster then.
ndarray matrix(const sn::shape_t& shape, sn::dtype type) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  const ndarray k = sn::arange(count);
  ndarray x = (sn::reshape(k * k % 65521, shape) / 65521.0 - 0.5).astype(type);
  sn::eval(x);
  return x;
}

std::string named(const std::string& what, const sn::ndarray& a) {
  return what + " " + sn::to_string(a.shape()) + " " + std::string(sn::name(a.dtype()));
}

#ifdef SINTER_HAS_GPU_SOLVERS

/// geqrf and orgqr as cuSOLVER's manual calls them, with everything allocated beforehand.
double bare_qr_seconds(const ndarray& a) {
  const auto& api = cuda::cusolver("bench");
  const int n = static_cast<int>(a.shape(0));
  // Arrays whose addresses are out stay where they are.
  const ndarray memory = a.T().copy(), tau = sn::zeros(n), info = sn::zeros(1, sn::int32);
  double *at = memory.data<double>(), *factors = tau.data<double>();
  int* wrong = info.data<std::int32_t>();
  cusolverDnHandle_t handle = nullptr;
  if (api.cusolverDnCreate(&handle) != CUSOLVER_STATUS_SUCCESS) return 0;
  int first = 0, second = 0;
  api.cusolverDnDgeqrf_bufferSize(handle, n, n, at, n, &first);
  api.cusolverDnDorgqr_bufferSize(handle, n, n, n, at, n, factors, &second);
  const int size = first > second ? first : second;
  const ndarray work = sn::zeros(size);
  double* scratch = work.data<double>();
  return steady_seconds([&] {
    api.cusolverDnDgeqrf(handle, n, n, at, n, factors, scratch, size, wrong);
    api.cusolverDnDorgqr(handle, n, n, n, at, n, factors, scratch, size, wrong);
  });
}

void qr_rows(const ndarray& a, bool gpu) {
  print_row(named("qr", a), steady_seconds([&] { sn::linalg::qr(a); }));
  if (gpu) print_row(named("qr, bare geqrf and orgqr", a), bare_qr_seconds(a));
}

void svd_rows(const ndarray& a, bool gpu) {
  const auto vectors = [&] { sn::linalg::svd(a, {.full_matrices = false}); };
  print_row(named("svdvals", a), steady_seconds([&] { sn::linalg::svdvals(a); }));
  print_row(named("svd", a), steady_seconds(vectors));
  if (!gpu) return;
  // QR iterations may take longer one way round.
  const ndarray turned = a.T();
  print_row(named("svdvals of the transpose", a), steady_seconds([&] { sn::linalg::svdvals(turned); }));
  for (const auto& [method, name] :
       {std::pair(cuda::svd_method::by_qr, "svd by gesvd"), std::pair(cuda::svd_method::by_polar, "svd by gesvdp")}) {
    cuda::set_svd_method(method);
    print_row(named(name, a), steady_seconds(vectors));
  }
  cuda::set_svd_method(cuda::svd_method::chosen);
}

void eigh_rows(const ndarray& a, bool gpu) {
  print_row(named("eigh", a), steady_seconds([&] { sn::linalg::eigh(a); }));
  if (!gpu || a.shape(-1) > 32) return;
  cuda::set_eigh_method(cuda::eigh_method::by_batches);
  print_row(named("eigh by XsyevBatched", a), steady_seconds([&] { sn::linalg::eigh(a); }));
  cuda::set_eigh_method(cuda::eigh_method::chosen);
}

#else

void eigh_rows(const ndarray& a, bool) {
  print_row(named("eigh", a), steady_seconds([&] { sn::linalg::eigh(a); }));
}
void qr_rows(const ndarray& a, bool) {
  print_row(named("qr", a), steady_seconds([&] { sn::linalg::qr(a); }));
}
void svd_rows(const ndarray& a, bool) {
  print_row(named("svdvals", a), steady_seconds([&] { sn::linalg::svdvals(a); }));
  print_row(named("svd", a), steady_seconds([&] { sn::linalg::svd(a, {.full_matrices = false}); }));
}

#endif

void single_rows(std::int64_t large, std::int64_t middle, bool gpu) {
  const ndarray a = matrix({large, large}, sn::float64), b = matrix({large}, sn::float64);
  const ndarray positive = sn::matmul(a, a.T()) + static_cast<double>(large) * sn::eye(large);
  sn::eval(positive);
  qr_rows(a, gpu);
  print_row(named("solve, one vector", a), steady_seconds([&] { sn::linalg::solve(a, b); }));
  print_row(named("inv", a), steady_seconds([&] { sn::linalg::inv(a); }));
  print_row(named("cholesky", a), steady_seconds([&] { sn::eval(sn::linalg::cholesky(positive)); }));
  print_row(named("eigh", a), steady_seconds([&] { sn::linalg::eigh(positive); }));
  for (const std::int64_t n : {std::int64_t{64}, std::int64_t{128}, std::int64_t{192}, std::int64_t{256}, middle}) {
    const ndarray c = matrix({n, n}, sn::float64);
    svd_rows(c, gpu);
    print_row(named("eigh", c), steady_seconds([&] { sn::linalg::eigh(c + c.T()); }));
  }
  const ndarray c = matrix({middle, middle}, sn::float64);
  print_row(named("eig", c), steady_seconds([&] { sn::linalg::eig(c); }));
  print_row(named("expm", c), steady_seconds([&] { sn::eval(sn::linalg::expm(c)); }));
}

void stack_rows(std::int64_t count, bool gpu) {
  for (const std::int64_t n : {8, 32, 128}) {
    const ndarray a = matrix({count * 8 / n, n, n}, sn::float64) + static_cast<double>(n) * sn::eye(n);
    sn::eval(a);
    print_row(named("solve", a), steady_seconds([&] { sn::linalg::solve(a, a); }));
    print_row(named("qr", a), steady_seconds([&] { sn::linalg::qr(a); }));
    print_row(named("svd", a), steady_seconds([&] { sn::linalg::svd(a); }));
    eigh_rows(a, gpu);
    print_row(named("cholesky", a), steady_seconds([&] { sn::eval(sn::linalg::cholesky(a)); }));
  }
}

}  // namespace
}  // namespace bench

int main(int count, char** words) try {
  bool small = false;
  for (int k = 1; k < count; ++k) {
    if (std::strcmp(words[k], "--small") == 0) {
      small = true;
    } else if (std::strcmp(words[k], "--device") == 0 && k + 1 < count) {
      sinter::set_default_device(sinter::device(words[++k]));
    } else {
      std::fprintf(stderr, "usage: %s [--device NAME] [--small]\n", words[0]);
      return 2;
    }
  }
  const bool gpu = sinter::default_device().kind == sinter::device_kind::cuda;
  bench::print_head();
  bench::single_rows(gpu && !small ? 4096 : 512, gpu && !small ? 1024 : 300, gpu);
  bench::stack_rows(gpu && !small ? 10000 : 500, gpu);
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
