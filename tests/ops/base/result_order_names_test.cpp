// Results of special functions with parameters, and of solvers of structured systems, lie in C order.
#include "ops/base/result_order.hpp"
#include "sinter/apply.hpp"

using namespace sinter;
using namespace sinter::test::result_order;

namespace {

ndarray p() { return floats() * 0.9; }
ndarray bands() { return reshape(arange(40), {8, 5}).T()(idx::slice(0, 3)) % 3 + 5.0 * ones({3, 8}); }
ndarray diagonals() { return concatenate({10.0 * ones({8, 1}), ones({8, 1})}, 1).T(); }
ndarray right() { return reshape(arange(16) * 0.25, {2, 8}).T(); }
ndarray hermitian() { return symmetric()(0); }

}  // namespace

TEST_CASE("results lie in C order: special functions with parameters") {
  check_all({
      CALL(special::beta(numbers(), p())),
      CALL(special::betaln(numbers(), p())),
      CALL(special::betainc(numbers(), 2, p())),
      CALL(special::betaincc(numbers(), 2, p())),
      CALL(special::betaincinv(numbers(), 2, p())),
      CALL(special::betainccinv(numbers(), 2, p())),
      CALL(special::gammaincinv(numbers(), p())),
      CALL(special::gammainccinv(numbers(), p())),
      CALL(special::bdtr(numbers(), 9, p())),
      CALL(special::bdtrc(numbers(), 9, p())),
      CALL(special::bdtri(numbers(), 9, p())),
      CALL(special::nbdtr(numbers(), 9, p())),
      CALL(special::nbdtrc(numbers(), 9, p())),
      CALL(special::nbdtri(numbers(), 9, p())),
      CALL(special::fdtr(numbers(), 9, p())),
      CALL(special::fdtrc(numbers(), 9, p())),
      CALL(special::fdtri(numbers(), 9, p())),
      CALL(special::gdtr(numbers(), 9, p())),
      CALL(special::gdtrc(numbers(), 9, p())),
      CALL(special::chdtri(numbers(), p())),
      CALL(special::pdtri(numbers(), p())),
      CALL(special::polygamma(2, p())),
      CALL(special::zeta(p() + 1.5)),
      CALL(special::zeta(p() + 1.5, numbers())),
      CALL(special::expn(numbers(), p())),
      CALL(special::loggamma(p())),
      CALL(special::loggamma(p() + imaginary * p())),
      CALL(special::lambertw(p())),
      CALL(special::lambertw(p(), -1)),
      CALL(special::jv(numbers(), p())),
      CALL(special::lpmv(1, numbers(), p())),
      CALL(special::sph_harm_y(numbers(), 1, p(), 0.5)),
  });
}

TEST_CASE("results lie in C order: structured systems, factors and functions of matrices") {
  check_all({
      CALL(linalg::solve_banded({1, 1}, bands(), right())),
      CALL(linalg::solveh_banded(diagonals(), right(), {.lower = true})),
      CALL(linalg::solve_toeplitz(arange(8, 0, -1) * 1.0, right())),
      CALL(linalg::sqrtm(hermitian())),
      CALL(linalg::logm(hermitian())),
      CALLS(three_of(linalg::ldl(hermitian()))),
      CALLS(three_of(linalg::qr_pivoted(square_matrix()(0)))),
      CALL(random::hypergeometric(numbers(), 5, 3)),
      CALL(apply_along_axis([](const ndarray& v) { return sort(v); }, 0, floats())),
      CALL(apply_over_axes([](const ndarray& x, std::int64_t axis) { return cumsum(x, axis); }, floats(), axes{0, 1})),
  });
}
