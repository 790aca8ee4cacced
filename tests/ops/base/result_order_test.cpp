// Results of functions are in C order, as their strides say, whatever the strides of their arguments and the axis that
// they work along. Views are the exceptions, and are named. The list is compared with the headers.
#include <doctest/doctest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "ops/base/result_order.hpp"
#include "sinter/sinter.hpp"
#include "support/docs_page.hpp"
#include "support/linalg_checks.hpp"

using namespace sinter;
using namespace sinter::test::result_order;
using sinter::test::no_solvers;

TEST_CASE("results lie in C order: elementwise functions") {
  using idx::_;
  check_all({
      CALL(add(floats(), 1)),
      CALL(sinter::astype(floats(), int32)),
      CALL(subtract(floats(), floats())),
      CALL(multiply(floats(), 2)),
      CALL(divide(1, floats())),
      CALL(floor_divide(numbers(), 2)),
      CALL(remainder(numbers(), 2)),
      CALL(fmod(numbers(), 2)),
      CALL(power(numbers(), 2)),
      CALL(float_power(numbers(), 2)),
      CALL(negative(floats())),
      CALL(positive(floats())),
      CALL(absolute(floats())),
      CALL(fabs(floats())),
      CALL(sign(floats())),
      CALL(square(floats())),
      CALL(reciprocal(floats())),
      CALL(floor(floats())),
      CALL(ceil(floats())),
      CALL(trunc(floats())),
      CALL(rint(floats())),
      CALL(round(floats(), 1)),
      CALL(sqrt(floats())),
      CALL(cbrt(floats())),
      CALL(exp(floats())),
      CALL(exp2(floats())),
      CALL(expm1(floats())),
      CALL(log(floats())),
      CALL(log2(floats())),
      CALL(log10(floats())),
      CALL(log1p(floats())),
      CALL(logaddexp(floats(), 1)),
      CALL(logaddexp2(floats(), 1)),
      CALL(sinc(floats())),
      CALL(sin(floats())),
      CALL(cos(floats())),
      CALL(tan(floats())),
      CALL(arcsin(floats())),
      CALL(arccos(floats())),
      CALL(arctan(floats())),
      CALL(arctan2(floats(), 1)),
      CALL(sinh(floats())),
      CALL(cosh(floats())),
      CALL(tanh(floats())),
      CALL(arcsinh(floats())),
      CALL(arccosh(above_one())),
      CALL(arctanh(floats() * 0.5)),
      CALL(hypot(floats(), 1)),
      CALL(deg2rad(floats())),
      CALL(rad2deg(floats())),
      CALL(heaviside(floats(), 1)),
      CALL(copysign(floats(), -1)),
      CALL(nextafter(floats(), 1)),
      CALL(ldexp(floats(), numbers())),
      CALL(gcd(numbers(), 6)),
      CALL(lcm(numbers(), 6)),
      CALLS(two_of(divmod(numbers(), 2))),
      CALLS(two_of(modf(floats()))),
      CALLS(two_of(frexp(floats()))),
      CALL(conj(floats() * imaginary)),
      CALL(real(floats() * imaginary)),
      CALL(imag(floats() * imaginary)),
      CALL(angle(floats() * imaginary)),
      CALL(equal(floats(), 1)),
      CALL(not_equal(floats(), 1)),
      CALL(less(floats(), 1)),
      CALL(less_equal(floats(), 1)),
      CALL(greater(floats(), 1)),
      CALL(greater_equal(floats(), 1)),
      CALL(maximum(floats(), 1)),
      CALL(minimum(floats(), 1)),
      CALL(fmax(floats(), 1)),
      CALL(fmin(floats(), 1)),
      CALL(clip(floats(), 0.25, 0.5)),
      CALL(where(floats() > 0.5, floats(), 0)),
      CALL(isnan(floats())),
      CALL(isinf(floats())),
      CALL(isfinite(floats())),
      CALL(isposinf(floats())),
      CALL(isneginf(floats())),
      CALL(isreal(floats() * imaginary)),
      CALL(iscomplex(floats() * imaginary)),
      CALL(signbit(floats())),
      CALL(isclose(floats(), 0.5)),
      CALL(nan_to_num(floats())),
      CALL(logical_and(floats(), 1)),
      CALL(logical_or(floats(), 1)),
      CALL(logical_xor(floats(), 1)),
      CALL(logical_not(floats())),
      CALL(bitwise_and(numbers(), 1)),
      CALL(bitwise_or(numbers(), 1)),
      CALL(bitwise_xor(numbers(), 1)),
      CALL(invert(numbers())),
      CALL(bitwise_count(numbers())),
      CALL(left_shift(numbers(), 1)),
      CALL(right_shift(numbers(), 1)),
      CALL(floats().astype(float32)),
      CALL(floats().copy()),
      CALL(floats() + floats()(_, _, slice(_, _, -1))),
  });
}

TEST_CASE("results lie in C order: reductions, scans, sorting, searching, sets") {
  check_all({
      CALL(sum(floats(), 1)),
      CALL(prod(floats(), 0)),
      CALL(min(floats(), 1)),
      CALL(max(floats(), 1)),
      CALL(ptp(floats(), 1)),
      CALL(argmin(floats(), 0)),
      CALL(argmax(floats(), 0)),
      CALL(any(floats(), 0)),
      CALL(all(floats(), 0)),
      CALL(count_nonzero(floats(), 1)),
      CALL(mean(floats(), 1)),
      CALL(var(floats(), 1)),
      CALL(sinter::std(floats(), 1)),
      CALL(sum(floats(), {.axis = 1, .keepdims = true})),
      CALL(cumulative_sum(floats(), 0)),
      CALL(cumulative_prod(floats(), 0)),
      CALL(cumsum(floats(), 0)),
      CALL(cumprod(floats(), 1)),
      CALL(nancumsum(floats(), 0)),
      CALL(nancumprod(floats(), 0)),
      CALL(cummax(floats(), 0)),
      CALL(cummin(floats(), 0)),
      CALL(logcumsumexp(floats(), 0)),
      CALL(sort(floats(), 0)),
      CALL(sort(floats(), 1)),
      CALL(sort(floats())),
      CALL(sort(floats(), {.axis = 0, .descending = true})),
      CALL(argsort(floats(), 0)),
      CALL(argsort(floats(), 1)),
      CALL(msort(floats())),
      CALL(lexsort({floats(), floats()}, 0)),
      CALL(lexsort(floats(), 0)),
      CALL(partition(floats(), 1, 0)),
      CALL(argpartition(floats(), 1, 0)),
      CALL(topk(floats(), 2, {.axis = 0}).values, topk(floats(), 2, {.axis = 0}).indices),
      CALL(searchsorted(sort(ravel(floats())), floats())),
      CALL(digitize(floats(), array({0.25, 0.5}))),
      CALL(unique_values(floats())),
      CALLS(two_of(unique_counts(floats()))),
      CALLS(two_of(unique_inverse(floats()))),
      CALLS(four_of(unique_all(floats()))),
      CALLS(four_of(unique(floats(), {.return_index = true, .return_inverse = true, .return_counts = true}))),
      CALL(unique(floats(), {.axis = 1}).values),
      CALLS(three_of(intersect1d(floats(), array({0.5}), {.return_indices = true}))),
      CALL(union1d(floats(), floats())),
      CALL(setdiff1d(floats(), array({0.5}))),
      CALL(setxor1d(floats(), array({0.5}))),
      CALL(isin(floats(), array({0.5}))),
      CALL(take(floats(), places(), 1)),
      CALL(take_along_axis(floats(), argsort(floats(), 0), 0)),
      CALL(argwhere(floats())),
      CALLS(nonzero(floats())),
      CALLS(unravel_index(places(), {3, 3})),
      CALLS(ix_(places()(0), places()(1))),
      CALL(flatnonzero(floats())),
      CALL(compress(array({true, false, true}), floats(), 1)),
      CALL(extract(floats() > 0.5, floats())),
      CALL(choose(places() % 2, {places(), places() + 1})),
      CALL(bincount(ravel(numbers()))),
      CALL(histogram_bin_edges(floats())),
      CALLS(two_of(histogram(floats(), 4))),
      CALL(histogramdd(floats()(0), 3).hist),
      CALL(histogram2d(line(), line(), 3).hist),
      CALL(ravel_multi_index({places(), places()}, {3, 3})),
      CALL(floats()(idx::_, places())),
      CALL(floats()[floats() > 0.5]),
      CALL(floats()(places(), idx::_, 0)),
  });
}

TEST_CASE("results lie in C order: creation, joining, rearranging") {
  check_all({
      CALL(array({{1, 2}, {3, 4}})),
      CALL(asarray({1, 2})),
      CALL(zeros({2, 3})),
      CALL(ones({2, 3})),
      CALL(empty({2, 3})),
      CALL(full({2, 3}, places()(0, 0))),
      CALL(zeros_like(floats())),
      CALL(ones_like(floats())),
      CALL(empty_like(floats())),
      CALL(full_like(floats(), 2)),
      CALL(arange(5)),
      CALL(linspace(0, 1, 5)),
      CALL(eye(3)),
      CALL(identity(3)),
      CALLS(meshgrid({line(), line()})),
      CALLS(diag_indices(3)),
      CALLS(tril_indices(3)),
      CALLS(triu_indices(3)),
      CALL(tril(floats())),
      CALL(triu(floats())),
      CALL(flatten(floats())),
      CALL(roll(floats(), 1)),
      CALL(roll(floats(), 1, 0)),
      CALL(concatenate({floats(), floats()}, 1)),
      CALL(concat({floats(), floats()})),
      CALL(stack({floats(), floats()}, 2)),
      CALL(vstack({floats(), floats()})),
      CALL(hstack({floats(), floats()})),
      CALL(dstack({floats(), floats()})),
      CALL(column_stack({floats()(0), floats()(1)})),
      CALL(tile(floats(), {2, 1})),
      CALL(repeat(floats(), 2, 1)),
      CALL(diff(floats(), 1, 0)),
      CALL(array(floats())),
      CALL(reshape(floats(), {6, 4})),
      CALL(ravel(floats())),
  });
}

TEST_CASE("results lie in C order: draws") {
  using namespace sinter::random;
  const auto draw = [](const char* text, auto f) { return call{text, [=] { return list_of(f()); }}; };
#define DRAW(expression) draw(#expression, [] { return sinter::random::expression; })
  check_all({
      DRAW(random({3, 2})),
      DRAW(uniform(floats(), 2)),
      DRAW(standard_normal({3, 2})),
      DRAW(normal(floats(), 1)),
      DRAW(lognormal(floats(), 1)),
      DRAW(standard_exponential({3, 2})),
      DRAW(exponential(floats())),
      DRAW(laplace(floats(), 1)),
      DRAW(standard_gamma(floats())),
      DRAW(gamma(floats())),
      DRAW(beta(floats(), floats())),
      DRAW(chisquare(floats())),
      DRAW(noncentral_chisquare(floats(), 1)),
      DRAW(f(floats(), floats())),
      DRAW(noncentral_f(floats(), floats(), 1)),
      DRAW(gumbel(floats(), 1)),
      DRAW(logistic(floats(), 1)),
      DRAW(pareto(floats())),
      DRAW(power(floats())),
      DRAW(rayleigh(floats())),
      DRAW(standard_cauchy({3, 2})),
      DRAW(standard_t(floats())),
      DRAW(triangular(0, floats(), 2)),
      DRAW(vonmises(floats(), floats())),
      DRAW(wald(floats(), 1)),
      DRAW(weibull(floats())),
      DRAW(dirichlet(line() + 1.0, {3, 2})),
      DRAW(multivariate_normal(line()(slice(0, 4)), symmetric()(0), {3, 2})),
      DRAW(integers(numbers(), 20)),
      DRAW(geometric(floats())),
      DRAW(logseries(floats() * 0.5)),
      DRAW(negative_binomial(numbers(), floats())),
      DRAW(zipf(above_one())),
      DRAW(multinomial(5, line() * 0.25, {3, 2})),
      DRAW(poisson(floats())),
      DRAW(binomial(numbers(), 0.5)),
      DRAW(choice(floats(), {2}, {.axis = 1})),
      DRAW(permutation(floats(), 1)),
      DRAW(permuted(floats(), 0)),
  });
#undef DRAW
}

TEST_CASE("results lie in C order: products and linear algebra") {
  if (no_solvers()) return;
  using namespace sinter::linalg;
  const auto with = [](const auto& r, auto... member) { return list_of(r.*member...); };
  check_all({
      CALL(matmul(square_matrix(), square_matrix())),
      CALL(dot(floats(), ones({2, 5}))),
      CALL(inner(floats(), floats())),
      CALL(outer(floats(), floats())),
      CALL(vdot(floats(), floats())),
      CALL(vecdot(floats(), floats(), {.axis = 0})),
      CALL(matvec(square_matrix(), ones(4))),
      CALL(vecmat(ones(4), square_matrix())),
      CALL(tensordot(floats(), floats().T(), 1)),
      CALL(kron(floats(), floats())),
      CALL(einsum("ijk->ki", floats())),
      CALL(einsum("ijk,ljk->li", floats(), floats())),
      CALL(multi_dot({square_matrix()(0), square_matrix()(1), square_matrix()(0)})),
      CALL(matrix_power(square_matrix(), 1)),
      CALL(matrix_power(square_matrix(), -1)),
      CALL(matrix_power(square_matrix(), 3)),
      CALL(cholesky(symmetric())),
      CALL(cholesky(symmetric(), {.upper = true})),
      CALL(svdvals(square_matrix())),
      CALL(eigvalsh(symmetric())),
      CALL(eigvals(square_matrix())),
      CALL(norm(floats(), {.axis = 1})),
      CALL(vector_norm(floats(), {.axis = 0})),
      CALL(matrix_norm(floats())),
      CALL(cond(square_matrix())),
      CALL(matrix_rank(square_matrix())),
      CALL(cross(floats().T()(idx::_, idx::_, slice(0, 3)), array({1.0, 2.0, 3.0}))),
      CALL(solve(square_matrix(), square_matrix())),
      CALL(inv(square_matrix())),
      CALL(det(square_matrix())),
      CALLS(two_of(slogdet(square_matrix()))),
      CALL(lu_solve(lu_factor(square_matrix()), square_matrix())),
      CALL(solve_triangular(square_matrix(), square_matrix())),
      CALL(pinv(square_matrix())),
      CALL(tensorsolve(eye(4) + 1.0, ones(4))),
      CALL(tensorinv(reshape(eye(4) + 1.0, {2, 2, 2, 2}))),
      CALL(expm(square_matrix())),
      CALL(block_diag({square_matrix()(0), floats()(0)})),
      CALL(toeplitz(line())),
      CALL(toeplitz(line(), line())),
      CALL(hankel(line(), line())),
      CALL(circulant(line())),
      CALL(null_space(floats()(idx::_, 0, idx::_).T())),
      CALL(orth(floats()(idx::_, 0, idx::_))),
      CALL(cho_factor(symmetric()).c),
      CALL(cho_solve(cho_factor(symmetric(), {.lower = true}), square_matrix())),
      CALL(sinter::trace(floats())),
      CALL(linalg::trace(square_matrix())),
      {"qr", [=] { return with(qr(square_matrix()), &qr_result::q, &qr_result::r); }},
      {"qr complete", [=] { return with(qr(floats().T(), {.mode = "complete"}), &qr_result::q, &qr_result::r); }},
      {"lu", [=] { return with(lu(square_matrix()), &lu_result::p, &lu_result::l, &lu_result::u); }},
      {"svd", [=] { return with(svd(square_matrix()), &svd_result::u, &svd_result::s, &svd_result::vh); }},
      {"svd wide", [=] { return with(svd(floats().T()), &svd_result::u, &svd_result::s, &svd_result::vh); }},
      {"svd tall", [=] { return with(svd(floats()), &svd_result::u, &svd_result::s, &svd_result::vh); }},
      {"svd hermitian",
       [=] { return with(svd(symmetric(), {.hermitian = true}), &svd_result::u, &svd_result::s, &svd_result::vh); }},
      {"eigh", [=] { return with(eigh(symmetric()), &eigen_result::eigenvalues, &eigen_result::eigenvectors); }},
      {"eigh complex",
       [=] {
         return with(eigh(symmetric() + 0.0 * imaginary), &eigen_result::eigenvalues, &eigen_result::eigenvectors);
       }},
      {"eig", [=] { return with(eig(square_matrix()), &eigen_result::eigenvalues, &eigen_result::eigenvectors); }},
      {"eig complex",
       [=] { return with(eig(square_matrix() + imaginary), &eigen_result::eigenvalues, &eigen_result::eigenvectors); }},
      {"lstsq",
       [=] {
         return list_of(lstsq(floats()(0), ones({3, 2})).x, lstsq(floats()(0), ones({3, 2})).s);
       }},
  });
}

TEST_CASE("results lie in C order: transforms along any axis") {
  using namespace sinter::fft;
  try {
    eval(fft::fft(ones(4)));
  } catch (const device_error& e) {
    MESSAGE("left out: ", e.what());
    return;
  }
  check_all({
      CALL(fft::fft(floats(), {.axis = 0})),
      CALL(fft::fft(floats(), {.axis = 1})),
      CALL(ifft(floats(), {.axis = 0})),
      CALL(rfft(floats(), {.axis = 0})),
      CALL(irfft(floats(), {.axis = 0})),
      CALL(hfft(floats(), {.axis = 0})),
      CALL(ihfft(floats(), {.axis = 0})),
      CALL(fft2(floats(), {.axes = axes{0, 1}})),
      CALL(ifft2(floats(), {.axes = axes{0, 2}})),
      CALL(rfft2(floats(), {.axes = axes{2, 0}})),
      CALL(irfft2(floats(), {.axes = axes{0, 1}})),
      CALL(fftn(floats(), {.axes = axes{0, 2}})),
      CALL(ifftn(floats(), {.axes = axes{1, 0}})),
      CALL(rfftn(floats(), {.axes = axes{0, 1}})),
      CALL(irfftn(floats(), {.axes = axes{2, 1}})),
      CALL(fftfreq(8)),
      CALL(rfftfreq(8)),
      CALL(fftshift(floats())),
      CALL(ifftshift(floats(), axes{0})),
      CALL(dct(floats(), {.axis = 0})),
      CALL(idct(floats(), {.axis = 0})),
      CALL(dst(floats(), {.axis = 0})),
      CALL(idst(floats(), {.axis = 0})),
      CALL(dctn(floats(), {.axes = axes{0, 1}})),
      CALL(idctn(floats(), {.axes = axes{0, 1}})),
      CALL(dstn(floats(), {.axes = axes{0, 1}})),
      CALL(idstn(floats(), {.axes = axes{0, 1}})),
      CALL(fftconvolve(floats(), floats())),
      CALL(fftconvolve(floats(), floats(), "same", axes{0})),
  });
}

TEST_CASE("what is written through a reshaped result is written to the result") {
  for (const int axis : {0, 1}) {
    const ndarray s = sort(reshape(arange(6), {3, 2}), axis);
    ndarray r = reshape(s, {-1});
    r(0) = 99;
    CHECK(s(0, 0).item<std::int64_t>() == 99);
  }
}

TEST_CASE("results lie in C order: every function of the headers that returns an array is here, or gives a view") {
  const std::set<std::string> views{"transpose",   "permute_dims",     "matrix_transpose",
                                    "moveaxis",    "rollaxis",         "swapaxes",
                                    "expand_dims", "squeeze",          "broadcast_to",
                                    "atleast_1d",  "atleast_2d",       "atleast_3d",
                                    "flip",        "fliplr",           "flipud",
                                    "rot90",       "diagonal",         "trim_zeros",
                                    "as_strided",  "unstack",          "split",
                                    "array_split", "vsplit",           "hsplit",
                                    "dsplit",      "broadcast_arrays", "sliding_window_view"};
  const std::set<std::string> names{
      // other names of functions that are here
      "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "atan2", "pow", "mod", "true_divide", "conjugate",
      "around", "fix", "radians", "degrees", "bitwise_not", "bitwise_invert", "bitwise_left_shift",
      "bitwise_right_shift", "amin", "amax", "open_mesh",
      // what takes addresses or reads files, and what gives the place that it is given
      "from_memory", "from_scalar", "from_pointer", "from_dlpack", "to_memory", "load", "loadtxt", "genfromtxt", "into",
      "frombuffer", "fromfile", "asarray_chkfinite",
      // what puts parts together
      "from_local",
      // times
      "benchmark", "run_benchmark",
      // Fortran order is what it is for; behind gradient
      "asfortranarray", "gradient_at",
      // what templates of derivatives and loops call
      "arrays_in", "chosen_arrays", "call_again_for_derivatives", "call_with_derivatives", "call_with_list",
      "gradient_of", "jacobian_of", "pull_back", "element_of", "next_number", "stacked_steps", "step_number",
      "step_of_examples", "rows_along", "in_place_of_axis", "with_same_rank"};
  const std::filesystem::path root = SINTER_SOURCE_DIR;
  std::string here;
  for (const auto& file : std::filesystem::directory_iterator(root / "tests/ops/base"))
    if (file.path().filename().string().find("result_order") == 0)
      here += sinter_test::whole_file(file.path().string());
  const std::regex function(
      "(^|\\n)(?:inline )?(?:ndarray|std::vector<ndarray>|[a-z_0-9]+_result|cho_factors) ([a-z_0-9]+)\\(");
  int found = 0;
  for (const auto& header : std::filesystem::directory_iterator(root / "include/sinter")) {
    const std::string text = sinter_test::whole_file(header.path().string());
    for (std::sregex_iterator at(text.begin(), text.end(), function), end; at != end; ++at) {
      const std::string name = (*at)[2];
      ++found;
      if (views.count(name) != 0 || names.count(name) != 0) continue;
      const bool called =
          here.find("(" + name + "(") != std::string::npos || here.find("::" + name + "(") != std::string::npos;
      CHECK_MESSAGE(called, name, " of ", header.path().filename().string());
    }
  }
  CHECK(found > 500);
}
