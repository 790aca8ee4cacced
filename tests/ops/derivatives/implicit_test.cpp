// Derivatives of solutions by their equation, of sparse arrays by their elements, of quantiles by the quantile, of covariances; what is
// refused by name.
#include <cmath>
#include <string>

#include "ops/derivatives/check.hpp"
#include "ops/sparse_linalg/superlu.hpp"
#include "sinter/sparse_linalg.hpp"
#include "sinter/spatial.hpp"
#include "sinter/special_parameters.hpp"
#include "support/linalg_checks.hpp"
#include "support/message_of.hpp"

namespace {

using namespace sinter;
using namespace derivative_check;
using namespace sinter::idx;
namespace sl = sinter::sparse::linalg;

ndarray definite(const ndarray& x) { return matmul(x, x.T()) + 4 * eye(x.shape(0)); }

}  // namespace

TEST_CASE("derivatives of iterative solvers, by the right side and by the matrix") {
  if (sinter::test::no_solvers()) return;
  const ndarray s = numbers({5, 5}, -1, 1), b = numbers({5}, -1, 1, 3);
  const sl::solver_kw kw{.rtol = 1e-13};
  const sl::gmres_kw gmres_kw{.rtol = 1e-13};
  const sl::minres_kw minres_kw{.rtol = 1e-14, .shift = 0.3};
  const auto of_both = [](const auto& solve) {
    return subject([=](const arrays& a) { return solve(definite(a[0]), a[1]); });
  };
  const auto dense = [&](const auto& method) {
    return [&, method](const ndarray& a, const ndarray& right) { return method(a, right, kw).x; };
  };
  agrees_twice("cg", of_both(dense(&sl::cg)), {s, b});
  agrees_twice("cgs", of_both(dense(&sl::cgs)), {s, b});
  agrees_twice("bicgstab", of_both(dense(&sl::bicgstab)), {s, b});
  agrees_twice("minres", of_both([&](const ndarray& a, const ndarray& r) { return sl::minres(a, r, minres_kw).x; }),
               {s, b});
  const auto by_gmres = [&](const arrays& a) { return sl::gmres(a[0] + 4 * eye(5), a[1], gmres_kw).x; };
  agrees_twice("gmres", by_gmres, {s, b});
  const subject sparse_matrix = [&](const arrays& a) {
    return sl::gmres(sparse::csr_array(a[0] + 4 * eye(5)), a[1], gmres_kw).x;
  };
  agrees_twice("gmres of a sparse array", sparse_matrix, {s, b});
  const subject directly = [&](const arrays& a) { return sl::spsolve(sparse::csr_array(a[0] + 4 * eye(5)), a[1]); };
  if (!sinter::test::no_superlu()) {
    agrees_twice("spsolve", directly, {s, b});
    agrees_twice("spsolve, two columns", directly, {s, numbers({5, 2})});
  }
  // What a function of the user's refers to is followed.
  const subject captured = [&](const arrays& a) {
    const sl::linear_operator op({5, 5}, [=](const ndarray& v) { return matmul(definite(a[0]), v) + v; });
    return sl::cg(op, a[1] * a[0](0, 1), kw).x;
  };
  agrees_twice("cg of a function", captured, {s, b});
  const ndarray inverse = linalg::inv(definite(s));
  const subject helped = [&](const arrays& a) { return sl::cg(definite(a[0]), a[1], {.rtol = 1e-13, .M = inverse}).x; };
  agrees("cg with a preconditioner", helped, {s, b});
  const subject helped_gmres = [&](const arrays& a) {
    return sl::gmres(a[0] + 4 * eye(5), a[1], {.rtol = 1e-13, .M = numbers({5, 5}, -0.1, 0.1) + eye(5)}).x;
  };
  agrees("gmres with a preconditioner", helped_gmres, {s, b});
  const ndarray c = complex_numbers({4, 4}), d = complex_numbers({4}, 5);
  agrees("cg, complex", [&](const arrays& a) { return sl::cg(matmul(a[0], conj(a[0]).T()) + 4 * eye(4), a[1], kw).x; },
         {c, d});
  agrees("gmres, complex", [&](const arrays& a) { return sl::gmres(a[0] + 4 * eye(4), a[1], gmres_kw).x; }, {c, d});
}

TEST_CASE("the value of a solver is that without derivatives") {
  if (sinter::test::no_solvers()) return;
  const ndarray a = definite(numbers({6, 6}, -1, 1)), b = numbers({6});
  const sl::solution alone = sl::cg(a, b);
  std::int64_t info = -1;
  const auto [y, back] = vjp(
      [&](const ndarray& r) {
        const sl::solution s = sl::cg(a, r);
        info = s.info;
        return s.x;
      },
      b);
  CHECK(info == alone.info);
  CHECK(y.to_vector<double>() == alone.x.to_vector<double>());
}

TEST_CASE("derivatives by the elements of sparse arrays in every format") {
  if (sinter::test::no_solvers()) return;
  const ndarray data = numbers({7}), rows = array({0, 3, 1, 2, 0, 3, 1}), columns = array({1, 0, 2, 2, 0, 0, 1});
  const ndarray v = numbers({3}), m = numbers({3, 2});
  const auto coo = [=](const ndarray& d) { return sparse::coo_array(d, rows, columns, shape_t{4, 3}); };
  agrees_twice("coo", [&](const arrays& a) { return sparse::matmul(coo(a[0]), v); }, {data});
  agrees("coo, matrix", [&](const arrays& a) { return sparse::matmul(coo(a[0]), m); }, {data});
  agrees("csr of coo", [&](const arrays& a) { return sparse::matmul(coo(a[0]).tocsr(), v); }, {data});
  agrees("csc of coo", [&](const arrays& a) { return sparse::matmul(coo(a[0]).tocsc(), v); }, {data});
  agrees("csr of csc", [&](const arrays& a) { return sparse::matmul(coo(a[0]).tocsc().tocsr(), v); }, {data});
  agrees("dense", [&](const arrays& a) { return coo(a[0]).toarray(); }, {data});
  agrees("transpose", [&](const arrays& a) { return sparse::matmul(coo(a[0]).tocsr().T(), numbers({4})); }, {data});
  agrees("a part",
         [&](const arrays& a) { return sparse::matmul(coo(a[0]).tocsr()(slice(1, 4), slice(0, 2)), numbers({2})); },
         {data});
  agrees_twice("sums", [&](const arrays& a) { return coo(a[0]).sum(0); }, {data});
  agrees("sums of rows", [&](const arrays& a) { return coo(a[0]).tocsr().sum(1); }, {data});
}

TEST_CASE("derivatives of quantiles by the quantile") {
  const ndarray x = numbers({9}, -2, 2), q = array({0.13, 0.41, 0.77});
  for (const char* method :
       {"linear", "hazen", "weibull", "median_unbiased", "normal_unbiased", "interpolated_inverted_cdf", "lower",
        "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf"})
    agrees(method, [=](const arrays& a) { return quantile(a[0], a[1], {.method = method}); }, {x, q});
  agrees_twice("one of them", [](const arrays& a) { return percentile(a[0], 100 * a[1]); }, {x, array(0.3)});
  agrees("rows", [](const arrays& a) { return quantile(a[0], a[1], 1); }, {numbers({3, 5}), q});
  agrees("without NaN", [](const arrays& a) { return nanquantile(where(a[0] > 1.2, NAN, a[0]), a[1]); }, {x, q});
  const ndarray slope = grad([&](const ndarray& p) { return quantile(x, p); })(array(0.41));
  const std::vector<double> sorted = sort(x).to_vector<double>();
  CHECK(slope.item<double>() == doctest::Approx(8 * (sorted[4] - sorted[3])));
}

TEST_CASE("gradients of draws by their covariance are those of expectations") {
  if (sinter::test::no_solvers()) return;
  const ndarray cov = array({{1.0, 0.3, 0.0}, {0.3, 2.0, 0.5}, {0.0, 0.5, 1.0}}), w = array({1.0, -2.0, 0.5});
  const auto mean_square = [&](const ndarray& c) {
    random::generator g(5);
    return mean(square(matmul(g.multivariate_normal(zeros({3}), c, 200000), w)));
  };
  // E (w' x)^2 = w' C w; equal eigenvalues have slopes as well.
  for (const ndarray& c : {cov, ndarray(eye(3))}) {
    const ndarray g = grad(mean_square)(c);
    CHECK(allclose((g + g.T()) / 2, outer(w, w), 0.02, 0.02));
    CHECK(mean_square(c).item<double>() == value_and_grad(mean_square)(c).first.item<double>());
  }
}

TEST_CASE("derivatives of distances of pairs, square forms and unique elements") {
  const ndarray x = numbers({5, 3}, -1, 1);
  for (const char* metric : {"euclidean", "cityblock", "chebyshev", "cosine", "correlation", "canberra"})
    agrees(metric, [=](const arrays& a) { return spatial::pdist(a[0], metric); }, {x});
  agrees_twice("squareform", [](const arrays& a) { return spatial::squareform(square(spatial::pdist(a[0]))); }, {x});
  const ndarray repeated = array({3.0, 1.0, 3.0, 2.0, 1.0});
  const auto f = [](const ndarray& a) { return sum(unique_values(a) * array({1.0, 10.0, 100.0})); };
  CHECK(grad(f)(repeated).to_vector<double>() == std::vector<double>{100, 1, 0, 10, 0});
  const auto inverse = [](const ndarray& a) {
    const unique_inverse_result r = unique_inverse(a);
    return sum(r.values(r.inverse_indices) * arange(5.0));
  };
  CHECK(grad(inverse)(repeated).to_vector<double>() == std::vector<double>{2, 5, 0, 3, 0});
  CHECK(grad([](const ndarray& a) { return sum(histogram(a, 3).hist * 1.0) + sum(a); })(repeated).to_vector<double>() ==
        std::vector<double>(5, 1));
}

TEST_CASE("functions of the host without a rule are refused by name") {
  const ndarray s = definite(numbers({4, 4}, -1, 1)), b = numbers({4});
  const auto named = [](const char* name, const auto& f, const ndarray& x) {
    CAPTURE(name);
    const std::string message =
        sinter_test::message_of<derivative_error>([&] { grad([&](const ndarray& a) { return sum(f(a)); })(x); });
    CAPTURE(message);
    CHECK(message.find(std::string("by ") + name) != std::string::npos);
  };
  named(
      "sqrtm", [](const ndarray& a) { return linalg::sqrtm(a); }, s);
  named(
      "logm", [](const ndarray& a) { return linalg::logm(a); }, s);
  named(
      "ldl", [](const ndarray& a) { return linalg::ldl(a).d; }, s);
  named(
      "qr_pivoted", [](const ndarray& a) { return linalg::qr_pivoted(a).r; }, s);
  named(
      "solve_toeplitz", [&](const ndarray& a) { return linalg::solve_toeplitz(a, b); }, s(0));
  named(
      "polydiv",
      [&](const ndarray& a) {
        return polydiv(a, array({1.0, 2.0})).quotient;
      },
      b);
  named(
      "gdtrib", [](const ndarray& a) { return special::gdtrib(1.0, a, 2.0); }, b);
  named(
      "lsqr", [&](const ndarray& a) { return sl::lsqr(a, b).x; }, s);
  named(
      "lsmr", [&](const ndarray& a) { return sl::lsmr(s, a).x; }, b);
  named(
      "eigsh", [&](const ndarray& a) { return sl::eigsh(a, 1).eigenvalues; }, s);
}
