// What special functions share: dtypes, shapes, errors, `out=`, fusion.
#include "sinter/special.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "sinter/sinter.hpp"
#include "support/message_of.hpp"
#include "support/shard.hpp"

using namespace sinter;
using namespace sinter::idx;
using sinter::test::sharded_suite;
using sinter::test::this_shard;
using sinter_test::message_of;

namespace {

struct unary_form {
  const char* name;
  ndarray (*plain)(const ndarray&);
  ndarray (*into)(const ndarray&, const out_kw&);
};
struct binary_form {
  const char* name;
  ndarray (*plain)(const operand&, const operand&);
  ndarray (*into)(const operand&, const operand&, const out_kw&);
};
struct ternary_form {
  const char* name;
  ndarray (*plain)(const operand&, const operand&, const operand&);
  ndarray (*into)(const operand&, const operand&, const operand&, const out_kw&);
};
#define FORM(f) {#f, special::f, special::f},
const unary_form unary_forms[] = {SINTER_SPECIAL_UNARY(FORM)};
const binary_form binary_forms[] = {SINTER_SPECIAL_BINARY(FORM)};
const ternary_form ternary_forms[] = {SINTER_SPECIAL_TERNARY(FORM)};
#undef FORM

/// Equal elements; NaN equals NaN.
bool same(const ndarray& a, const ndarray& b) { return array_equal(a, b, true); }

/// Calls `check` for the functions that this part of the suite takes: on a GPU each has several kernels, compiled one
/// after another.
template <class Forms, class F>
void each_of(const Forms& forms, F check) {
  int k = 0;
  for (const auto& f : forms) {
    if (!this_shard().takes(k++)) continue;
    CAPTURE(f.name);
    check(f);
  }
}

}  // namespace

TEST_CASE("special functions compute in float32 what float32 holds, and in float64 all else") {
  for (const dtype t : {bool_, int8, uint8, int16, uint16, float16, bfloat16, float32})
    CHECK(special::erf(ones({2}, t)).dtype() == float32);
  for (const dtype t : {int32, uint32, int64, uint64, float64}) CHECK(special::erf(ones({2}, t)).dtype() == float64);
  const ndarray narrow = ones({2}, float32);
  CHECK(special::xlogy(narrow, 2).dtype() == float32);
  CHECK(special::xlogy(2.5, narrow).dtype() == float32);
  CHECK(special::xlogy(narrow, ones({2}, int64)).dtype() == float64);
  CHECK(special::xlogy(2, 3).dtype() == float64);
  CHECK(special::xlogy(2, 3).item<double>() == doctest::Approx(2 * std::log(3.0)));
}

TEST_CASE("special functions refuse complex numbers and shapes that do not broadcast") {
  const ndarray z = ones({3, 2}, complex64), x = ones({3}), y = ones({2});
  CHECK(message_of<dtype_error>([&] { special::erf(z); }) == "[erf] complex64 of shape (3, 2) is not supported");
  CHECK_THROWS_AS(special::erf(z), dtype_error);
  CHECK_THROWS_AS(special::xlogy(x, z), dtype_error);
  CHECK_THROWS_AS(special::xlogy(x, std::complex<double>(1, 2)), dtype_error);
  CHECK(message_of<shape_error>([&] { special::xlogy(x, y); }) == "[xlogy] shapes (3,) and (2,) do not broadcast");
  for (const unary_form& f : unary_forms) CHECK_THROWS_AS_MESSAGE(f.plain(z), dtype_error, f.name);
}

TEST_CASE("special functions of views, broadcasts, scalars and nothing give the elements of the contiguous array" *
          doctest::test_suite(sharded_suite)) {
  const ndarray x = linspace(0.05, 0.95, 37), twice = reshape(stack({x, 1 - x}, 1), {74});
  each_of(unary_forms, [&](const unary_form& f) {
    const ndarray whole = f.plain(x).copy();
    CHECK(same(f.plain(twice(slice(none_t{0}, none_t{0}, 2))), whole));
    CHECK(same(f.plain(x(slice(none_t{0}, none_t{0}, -1))), whole(slice(none_t{0}, none_t{0}, -1))));
    CHECK(same(f.plain(x(5)), whole(5)));
    CHECK(f.plain(zeros({0, 3})).shape() == shape_t{0, 3});
    CHECK(std::isnan(f.plain(array({std::nan("")})).to_vector<double>()[0]));
    ndarray out = zeros({37}, float32);
    f.into(x, {.out = out});
    CHECK(same(out, whole.astype(float32)));
  });
  each_of(binary_forms, [&](const binary_form& f) {
    const ndarray table = f.plain(reshape(x, {37, 1}), x);
    CHECK(table.shape() == shape_t{37, 37});
    CHECK(same(table(3), f.plain(x(3), x)));
    ndarray out = zeros({37});
    f.into(x, 0.5, {.out = out});
    CHECK(same(out, f.plain(x, 0.5)));
  });
  each_of(ternary_forms, [&](const ternary_form& f) {
    const ndarray y = arange(1, 4), table = f.plain(reshape(y, {3, 1}), 5, x);
    CHECK(table.shape() == shape_t{3, 37});
    CHECK(same(table(1), f.plain(2, y(2) + 2, x)));
    ndarray out = zeros({37});
    f.into(1, y(2), x, {.out = out});
    CHECK(same(out, f.plain(ones({37}), 3, x)));
  });
}

TEST_CASE("special functions fuse, and have the bits that they have alone" * doctest::test_suite(sharded_suite)) {
  const ndarray x = linspace(0.01, 0.99, 1000), y = linspace(-3, 3, 1000).astype(float32);
  each_of(unary_forms, [&](const unary_form& f) {
    const ndarray alone = f.plain(x).copy();
    const ndarray fused = sum(f.plain(x * 1.0) * 2.0 + 1.0), steps = sum(alone * 2.0 + 1.0);
    CHECK(fused.item<double>() == steps.item<double>());
    CHECK(same(f.plain(abs(y)) + 0.5f, f.plain(abs(y).copy()).copy() + 0.5f));
  });
}

TEST_CASE("special functions of masked elements are computed for these") {
  const ndarray x = linspace(-2, 2, 101);
  const ndarray some = x(x > 0.5);
  CHECK(same(special::ndtr(x(x > 0.5)) * 2, special::ndtr(some.copy()) * 2));
}

TEST_CASE("special functions of complex numbers: dtypes, branches, and what they are for real ones") {
  CHECK(special::loggamma(ones({2}, float32)).dtype() == float32);
  CHECK(special::loggamma(ones({2}, complex64)).dtype() == complex64);
  CHECK(special::lambertw(ones({2}, float32)).dtype() == complex64);
  CHECK(special::lambertw(ones({2}, int32), -1).dtype() == complex128);
  CHECK(special::sph_harm_y(2, 1, ones({2}, float32), 0.5).dtype() == complex64);
  CHECK(std::isnan(special::loggamma(array({-0.5})).item<double>()));
  const std::complex<double> half =
      special::loggamma(array({std::complex<double>(-0.5, 0)})).item<std::complex<double>>();
  CHECK(half.real() == doctest::Approx(1.2655121234846454));
  CHECK(half.imag() == doctest::Approx(-3.141592653589793));
  const ndarray z = array({{std::complex<double>(1, 2), std::complex<double>(-3, 0.25)}});
  for (int k = -2; k <= 2; ++k) {
    const ndarray w = special::lambertw(z, k);
    CHECK(w.shape() == shape_t{1, 2});
    CHECK(allclose(w * exp(w), z, 1e-14, 0.0));
  }
  CHECK(special::sph_harm_y(reshape(arange(3), {3, 1}), arange(2), 0.5, 0.25).shape() == shape_t{3, 2});
  CHECK(message_of<shape_error>([&] { special::lambertw(z, arange(3)); }) ==
        "[lambertw] shapes (1, 2), (1, 2) and (3,) do not broadcast");
  CHECK_THROWS_AS(special::lambertw(z, std::complex<double>(0, 1)), dtype_error);
  CHECK_THROWS_AS(special::sph_harm_y(2, 1, z, 0.5), dtype_error);
}

TEST_CASE("inverses of distributions give back what they are inverses of") {
  const ndarray p = linspace(0.001, 0.999, 999);
  CHECK(allclose(special::betainc(2.5, 0.75, special::betaincinv(2.5, 0.75, p)), p, 1e-14, 0.0));
  CHECK(allclose(special::gammaincc(3.25, special::gammainccinv(3.25, p)), p, 1e-13, 0.0));
  CHECK(allclose(special::fdtr(3, 7, special::fdtri(3, 7, p)), p, 1e-13, 0.0));
  CHECK(allclose(special::bdtr(3, 7, special::bdtri(3, 7, p)), p, 1e-13, 0.0));
  CHECK(allclose(special::pdtr(3, special::pdtri(3, p)), p, 1e-13, 0.0));
}

TEST_CASE("special: distributions with huge parameters have their limits away from the mean") {
  const auto number = [](const ndarray& x) { return x.item<double>(); };
  const auto of = [](double x) { return array(x); };
  for (const double a : {1e20, 1e25, 1e50, 1e200, 1e308}) {
    CAPTURE(a);
    for (const double x : {1e-300, 3.0, 1e10}) {
      CHECK(number(special::gammainc(of(a), of(x))) == 0);
      CHECK(number(special::gammaincc(of(a), of(x))) == 1);
      CHECK(number(special::gammainc(of(x), of(a))) == 1);
      CHECK(number(special::gammaincc(of(x), of(a))) == 0);
    }
    if (a < 1e300) CHECK(number(special::gammaincc(of(a), of(2 * a))) == 0);
    for (const double b : {0.5, 13.0, 1e5}) {
      CHECK(number(special::betainc(of(b), of(a), of(0.4))) == 1);
      CHECK(number(special::betaincc(of(b), of(a), of(0.4))) == 0);
      CHECK(number(special::betainc(of(a), of(b), of(0.4))) == 0);
      CHECK(number(special::betaincc(of(a), of(b), of(0.4))) == 1);
    }
  }
}

TEST_CASE("the sine and the cosine integral are one call") {
  const auto [si, ci] = special::sici(array({1.0, -1.0}));
  CHECK(si.to_vector<double>()[0] == doctest::Approx(0.946083070367183));
  CHECK(si.to_vector<double>()[1] == -si.to_vector<double>()[0]);
  CHECK(ci.to_vector<double>()[0] == ci.to_vector<double>()[1]);
}

TEST_CASE("logsumexp keeps what is small, and the axes that it is told to") {
  const ndarray x = array({{0.0, 1.0, 2.0}, {-3.0, 0.5, 800.0}});
  const auto rows = special::logsumexp(x, 1).to_vector<double>();
  CHECK(rows[0] == doctest::Approx(2.40760596444438));
  CHECK(rows[1] == 800);
  CHECK(special::logsumexp(x, 1, {.keepdims = true}).shape() == shape_t{2, 1});
  CHECK(special::logsumexp(x).shape() == shape_t{});
  CHECK(special::logsumexp(x, axes{0, 1}).item<double>() == 800);
  CHECK(special::logsumexp(array({0.0, -50.0})).item<double>() == doctest::Approx(std::exp(-50.0)).epsilon(1e-15));
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(special::logsumexp(array({-inf, -inf})).item<double>() == -inf);
  CHECK(special::logsumexp(array({1.0, inf})).item<double>() == inf);
  CHECK(std::isnan(special::logsumexp(array({1.0, std::nan("")})).item<double>()));
  CHECK(special::logsumexp(zeros({0})).item<double>() == -inf);
  CHECK(special::logsumexp(array({1.0, 2.0}), {.b = array({2.0, 0.0})}).item<double>() ==
        doctest::Approx(1 + std::log(2.0)));
  CHECK(special::logsumexp(ones({3}, float32)).dtype() == float32);
  CHECK(special::logsumexp(ones({3}, int32)).dtype() == float64);
  CHECK_THROWS_AS(special::logsumexp(ones({3}, complex64)), dtype_error);
  CHECK(message_of<index_error>([&] { special::logsumexp(x, 2); }) ==
        "[logsumexp] axis 2 is out of range for shape (2, 3)");
}

TEST_CASE("softmax and log_softmax sum to one without overflow") {
  const ndarray x = array({{0.0, 1.0, 2.0}, {-3.0, 0.5, 800.0}});
  const ndarray p = special::softmax(x, 1);
  CHECK(allclose(sum(p, 1), 1.0, 1e-15, 0.0));
  CHECK(allclose(special::log_softmax(x, 1)(0), log(p(0)), 1e-14, 0.0));
  CHECK(special::log_softmax(x, 1)(1, 0).item<double>() == -803);
  CHECK(allclose(sum(special::softmax(x)), 1.0, 1e-15, 0.0));
  CHECK(special::softmax(ones({2, 0}), 1).shape() == shape_t{2, 0});
}
