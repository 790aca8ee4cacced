// Solutions with SuperLU's factors for any number of right-hand sides, and systems that a GPU solves by a library of its own.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "ops/sparse_linalg/superlu.hpp"
#include "support/simulated_gpu.hpp"
#include "support/simulated_libraries.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
namespace sl = sinter::sparse::linalg;
using sparse::sparse_array;

double length(const ndarray& x) { return linalg::norm(ravel(x)).item<double>(); }

ndarray numbers(const shape_t& shape, double seed, dtype type) {
  std::int64_t n = 1;
  for (const std::int64_t e : shape) n *= e;
  const ndarray t = arange(n, {.dtype = float64}) + seed, x = sin(t * t * 0.37 + 1).reshape(shape);
  return (is_complex(type) ? x + std::complex<double>(0, 1) * cos(t * t * 0.53).reshape(shape) : x).astype(type);
}

/// Matrices whose factors have supernodes of one column, of a few, of all, and of many rows below a few columns.
std::vector<ndarray> matrices(dtype type) {
  const ndarray i = arange(60)(_, newaxis), j = arange(60), full_one = numbers({60, 60}, 3, type),
                heavy = eye(60, {.dtype = type}) * 7;
  const auto kept = [&](const ndarray& where_to) { return where(where_to, full_one, 0).astype(type) + heavy; };
  return {kept(abs(i - j) <= 1),
          kept(abs(i - j) <= 5),
          full_one,
          kept((i % 7 == 0) | (j % 9 == 0)),
          kept((i >= 55) | (j >= 57) | (abs(i - j) % 13 == 2)),
          heavy};
}

}  // namespace

TEST_CASE("lu.solve: supernodes of all forms, right-hand sides of all numbers, both turned forms, four dtypes") {
  if (test::no_superlu()) return;
  for (const dtype type : {float32, float64, complex64, complex128}) {
    const double near = type == float32 || type == complex64 ? 2e-4 : 1e-11;
    for (const ndarray& m : matrices(type)) {
      const auto lu = sl::splu(sparse::csc_array(m));
      for (const std::int64_t k : {0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 21}) {
        const ndarray b = k == 0 ? numbers({60}, 5, type) : numbers({60, k}, 5, type);
        CHECK(lu.solve(b).shape() == b.shape());
        CHECK(length(matmul(m, lu.solve(b)) - b) <= near * length(b) * 100);
        CHECK(length(matmul(m.T(), lu.solve(b, 'T')) - b) <= near * length(b) * 100);
        CHECK(length(matmul(conj(m.T()), lu.solve(b, 'H')) - b) <= near * length(b) * 100);
      }
    }
  }
  // A right-hand side of other strides, and one whose dtype is wider.
  const ndarray m = matrices(float64)[1], b = numbers({9, 60}, 2, float64);
  const auto lu = sl::splu(sparse::csr_array(m));
  CHECK(length(matmul(m, lu.solve(b.T())) - b.T()) < 1e-11);
  CHECK(length(matmul(m, lu.solve(b(3, slice(_, _, -1)))) - b(3, slice(_, _, -1))) < 1e-11);
  const ndarray wide = numbers({60, 5}, 4, complex128);
  CHECK(length(matmul(m, lu.solve(wide)) - wide) < 1e-11);
  CHECK(length(matmul(m, sl::splu(sparse::csr_array(m.astype(float32))).solve(b.T())) - b.T()) < 1e-3);
}

TEST_CASE("incomplete factors solve as their product says") {
  if (test::no_superlu()) return;
  const ndarray m = matrices(float64)[4];
  const auto ilu = sl::spilu(sparse::csc_array(m), {.drop_tol = 0.05, .fill_factor = 2});
  const ndarray rows = argsort(ilu.perm_r()), l = ilu.L().toarray(), u = ilu.U().toarray();
  const ndarray product = matmul(l, u)(ilu.perm_r(), _)(_, ilu.perm_c());
  for (const std::int64_t k : {1, 6}) {
    const ndarray b = numbers({60, k}, 1, float64);
    CHECK(length(matmul(product, ilu.solve(b)) - b) < 1e-10);
    CHECK(length(matmul(product.T(), ilu.solve(b, 'T')) - b) < 1e-10);
  }
}

TEST_CASE("spsolve of a GPU with a library takes it, and SuperLU where that does not tell") {
  if (test::no_superlu()) return;
  const device_guard on_host(cpu);
  const device gpu = sim::first();
  sim::solves_systems = true;
  const auto asked = [](auto f) {
    const int before = sim::systems_solved;
    f();
    return sim::systems_solved - before;
  };
  for (const dtype type : {float32, float64, complex64, complex128}) {
    const double near = type == float32 || type == complex64 ? 1e-2 : 1e-9;
    for (const ndarray& m : matrices(type)) {
      for (const auto f : {sparse::format::csr, sparse::format::csc, sparse::format::coo})
        for (const std::int64_t k : {0, 1, 3}) {
          const ndarray b = k == 0 ? numbers({60}, 5, type) : numbers({60, k}, 5, type);
          const sparse_array a = sparse::csr_array(m).asformat(f).to_device(gpu);
          ndarray x;
          CHECK(asked([&] { x = sl::spsolve(a, b.to_device(gpu)); }) == 1);
          CHECK(x.device() == gpu);
          CHECK(x.shape() == b.shape());
          CHECK(x.dtype() == type);
          CHECK(length(matmul(m, x.to_host()) - b) <= near * length(b));
        }
    }
  }
  // Places that are there twice, in no order, with wide indices; A and b of two dtypes.
  const ndarray row = array({1, 0, 1, 0, 1}), col = array({1, 1, 0, 0, 1}), data = array({1.0, 2.0, 3.0, 4.0, 5.0}),
                right = array({1.0f, 2.0f}).to_device(gpu);
  const sparse_array twice =
      sparse::csr_array(data, array({1, 0, 1, 0, 1}), array({0, 2, 5}), shape_t{2, 2}, {.index_dtype = int64})
          .to_device(gpu);
  ndarray x;
  CHECK(asked([&] { x = sl::spsolve(twice, right); }) == 1);
  CHECK(x.dtype() == float64);
  CHECK(allclose(matmul(twice.toarray(), x).to_host(), array({1.0, 2.0})));
  CHECK(twice.nnz() == 5);
  // Singular ones: exactly, by rounding, and one whose rows differ in size only.
  const auto on_gpu = [&](const ndarray& m) { return sparse::csr_array(m).to_device(gpu); };
  const ndarray ones_there = ones({2}).to_device(gpu);
  CHECK_THROWS_AS((void)sl::spsolve(on_gpu(array({{1.0, 1.0}, {1.0, 1.0}})), ones_there), linalg_error);
  CHECK_THROWS_AS((void)sl::spsolve(on_gpu(array({{1.0, 0.0}, {1.0, 0.0}})), ones_there), linalg_error);
  CHECK(asked([&] { x = sl::spsolve(on_gpu(array({{1e30, 0.0}, {0.0, 1e-30}})), ones_there); }) == 1);
  CHECK(allclose(x.to_host(), array({1e-30, 1e30}), 1e-12, 0));
  // A library that loses digits: of one right-hand side, and of the last one alone where the others are 0.
  sim::error_of_solutions = 1 + 1e-9;
  const ndarray m = matrices(float64)[1], last = numbers({60, 3}, 5, float64) * array({0.0, 0.0, 1e-20});
  for (const ndarray& b : {numbers({60}, 5, float64), last}) {
    CHECK(asked([&] { x = sl::spsolve(on_gpu(m), b.to_device(gpu)); }) == 1);
    CHECK(x.device() == gpu);
    CHECK(length(matmul(m, x.to_host()) - b) <= 1e-12 * length(b));
  }
  sim::error_of_solutions = 1;
  // What no library is asked about.
  const ndarray good = matrices(float64)[0];
  CHECK(asked([&] {
          CHECK(length(matmul(good, sl::spsolve(sparse::csr_array(good), numbers({60}, 5, float64))) -
                       numbers({60}, 5, float64)) < 1e-10);
          CHECK_THROWS_AS((void)sl::spsolve(on_gpu(ones({2, 3})), ones_there), shape_error);
          CHECK_THROWS_AS((void)sl::spsolve(on_gpu(eye(3)), ones_there), shape_error);
          CHECK_THROWS_AS((void)sl::spsolve(on_gpu(eye(2)), ones_there, {.permc_spec = "amd"}), value_error);
          CHECK(sl::spsolve(on_gpu(zeros({0, 0})), zeros({0}).to_device(gpu)).size() == 0);
          CHECK_THROWS_AS((void)sl::spsolve(on_gpu(zeros({2, 2})), ones_there), linalg_error);
          const auto infinite = array({{std::numeric_limits<double>::infinity(), 0.0}, {0.0, 1.0}});
          (void)sl::spsolve(on_gpu(infinite), ones_there);
        }) == 0);
  sim::solves_systems = false;
  CHECK(asked([&] { (void)sl::spsolve(on_gpu(eye(2)), ones_there); }) == 0);
}
