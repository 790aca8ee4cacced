// Rules of operations on elements, over broadcast shapes.
#include "ops/derivatives/check.hpp"
#include "sinter/special_more.hpp"

namespace {

using namespace sinter;
using namespace derivative_check;
using namespace sinter::special;

struct unary_case {
  const char* name;
  ndarray (*f)(const ndarray&);
  double low = 0.2, high = 0.8;
};

const unary_case unary_cases[] = {
    {"negative", negative},
    {"absolute", absolute, -1, -0.2},
    {"square", square},
    {"sqrt", sqrt},
    {"cbrt", cbrt},
    {"reciprocal", reciprocal},
    {"exp", exp},
    {"exp2", exp2},
    {"expm1", expm1},
    {"log", log},
    {"log2", log2},
    {"log10", log10},
    {"log1p", log1p},
    {"sin", sin},
    {"cos", cos},
    {"tan", tan},
    {"arcsin", arcsin},
    {"arccos", arccos},
    {"arctan", arctan},
    {"sinh", sinh},
    {"cosh", cosh},
    {"tanh", tanh},
    {"arcsinh", arcsinh},
    {"arccosh", arccosh, 1.2, 2},
    {"arctanh", arctanh},
    {"sinc", sinc},
    {"deg2rad", deg2rad},
    {"erf", erf},
    {"erfc", erfc},
    {"erfcx", erfcx},
    {"erfinv", erfinv},
    {"erfcinv", erfcinv},
    {"ndtr", ndtr},
    {"ndtri", ndtri},
    {"log_ndtr", log_ndtr},
    {"gamma", gamma},
    {"gammaln", gammaln},
    {"digamma", digamma},
    {"loggamma", loggamma},
    {"expit", expit},
    {"logit", logit},
    {"log_expit", log_expit},
    {"entr", entr},
    {"exprel", exprel},
    {"cosm1", cosm1},
    {"j0", j0},
    {"j1", j1},
    {"y0", y0},
    {"y1", y1},
    {"i0e", i0e},
    {"i1", i1},
    {"i1e", i1e},
    {"k0", k0},
    {"k0e", k0e},
    {"k1", k1},
    {"k1e", k1e},
    {"exp1", exp1},
    {"expi", expi},
    {"ellipk", ellipk},
    {"ellipe", ellipe},
};

struct binary_case {
  const char* name;
  ndarray (*f)(const operand&, const operand&);
};
const binary_case binary_cases[] = {
    {"add", add},
    {"subtract", subtract},
    {"multiply", multiply},
    {"divide", divide},
    {"power", power},
    {"arctan2", arctan2},
    {"hypot", hypot},
    {"logaddexp", logaddexp},
    {"maximum", maximum},
    {"minimum", minimum},
    {"fmax", fmax},
    {"fmin", fmin},
    {"remainder", remainder},
    {"fmod", fmod},
    {"copysign", copysign},
    {"xlogy", xlogy},
    {"xlog1py", xlog1py},
    {"rel_entr", rel_entr},
    {"kl_div", kl_div},
    {"beta", beta},
    {"betaln", betaln},
};

}  // namespace

TEST_CASE("derivatives of functions of one array") {
  for (const unary_case& c : unary_cases)
    for (const shape_t& shape : {shape_t{3, 4}, shape_t{}, shape_t{0, 2}})
      agrees(c.name, [&](const arrays& x) { return c.f(x[0]); }, {numbers(shape, c.low, c.high)});
}

TEST_CASE("second derivatives of functions of one array") {
  for (const unary_case& c : unary_cases)
    agrees_twice(
        c.name, [&](const arrays& x) { return c.f(x[0]); }, {numbers({3}, c.low, c.high)}, 1e-4);
}

TEST_CASE("derivatives of functions of two arrays, which broadcast") {
  const std::vector<std::pair<shape_t, shape_t>> shapes{
      {{3, 4}, {3, 4}}, {{3, 1}, {4}}, {{}, {2, 3}}, {{2, 1, 3}, {4, 1}}};
  for (const binary_case& c : binary_cases)
    for (const auto& [a, b] : shapes)
      agrees(c.name, [&](const arrays& x) { return c.f(x[0], x[1]); }, {numbers(a), numbers(b, 0.3, 1.9, 3)});
}

TEST_CASE("derivatives with respect to the last parameter of special functions") {
  const ndarray x = numbers({4}, 0.3, 0.8), a = numbers({4}, 1.2, 2.5, 1), b = numbers({4}, 1.5, 3, 2);
  agrees("gammainc", [&](const arrays& t) { return gammainc(a, t[0]); }, {x});
  agrees("gammaincc", [&](const arrays& t) { return gammaincc(a, t[0]); }, {x});
  agrees("gammaincinv", [&](const arrays& t) { return gammaincinv(a, t[0]); }, {x});
  agrees("betainc", [&](const arrays& t) { return betainc(a, b, t[0]); }, {x});
  agrees("betaincinv", [&](const arrays& t) { return betaincinv(a, b, t[0]); }, {x});
  agrees("pdtr", [&](const arrays& t) { return pdtr(a, t[0]); }, {x});
  agrees("pdtri", [&](const arrays& t) { return pdtri(a, t[0]); }, {x});
  agrees("chdtr", [&](const arrays& t) { return chdtr(a, t[0]); }, {x});
  agrees("chdtri", [&](const arrays& t) { return chdtri(a, t[0]); }, {x});
  agrees("bdtr", [&](const arrays& t) { return bdtr(1, 4, t[0]); }, {x});
  agrees("bdtri", [&](const arrays& t) { return bdtri(1, 4, t[0]); }, {x});
  agrees("nbdtr", [&](const arrays& t) { return nbdtr(2, 3, t[0]); }, {x});
  agrees("nbdtri", [&](const arrays& t) { return nbdtri(2, 3, t[0]); }, {x});
  agrees("fdtr", [&](const arrays& t) { return fdtr(a, b, t[0]); }, {x});
  agrees("fdtri", [&](const arrays& t) { return fdtri(a, b, t[0]); }, {x});
  agrees("gdtr", [&](const arrays& t) { return gdtr(t[0], 2.0, t[1]); }, {x, a});
  agrees("expn", [&](const arrays& t) { return expn(2, t[0]); }, {x});
  agrees("polygamma", [&](const arrays& t) { return polygamma(1, t[0]); }, {x});
  agrees("zeta", [&](const arrays& t) { return zeta(2.5, t[0]); }, {x});
  agrees("jv", [&](const arrays& t) { return jv(1.5, t[0]); }, {x});
  agrees("lpmv", [&](const arrays& t) { return lpmv(1, 2, t[0]); }, {x});
  CHECK_THROWS_AS(grad([&](const ndarray& t) { return sum(zeta(t + 1, x)); })(a), derivative_error);
}

TEST_CASE("derivatives of incomplete gamma functions with respect to their parameter") {
  const ndarray a = numbers({5}, 0.3, 4, 1), x = numbers({5}, 0.2, 6), p = numbers({5}, 0.1, 0.9, 2);
  agrees("gammainc", [](const arrays& t) { return gammainc(t[0], t[1]); }, {a, x});
  agrees("gammaincc", [](const arrays& t) { return gammaincc(t[0], t[1]); }, {a, x});
  agrees("gammaincinv", [](const arrays& t) { return gammaincinv(t[0], t[1]); }, {a, p});
  agrees("gammainccinv", [](const arrays& t) { return gammainccinv(t[0], t[1]); }, {a, p});
  agrees("chdtr", [](const arrays& t) { return chdtr(t[0], t[1]); }, {a, x});
  agrees("chdtrc", [](const arrays& t) { return chdtrc(t[0], t[1]); }, {a, x});
  agrees("chdtri", [](const arrays& t) { return chdtri(t[0], t[1]); }, {a, p});
  agrees("gdtr", [](const arrays& t) { return gdtr(2.0, t[0], t[1]); }, {a, x});
  agrees("gdtrc", [](const arrays& t) { return gdtrc(0.5, t[0], t[1]); }, {a, x});
  agrees("gammainc, twice",
         [&](const arrays& t) {
           return grad([&](const ndarray& s) { return ndarray(sum(gammainc(s, x) * t[1])); })(t[0]);
         },
         {a, x});
  // mpmath, 50 digits.
  struct {
    double a, x, slope;
  } const known[] = {{0.5, 0.3, -0.77057035137535192},   {0.001, 0.002, -5.6093041268282995},
                     {3, 2.5, -0.24711735748326824},     {3, 9, -0.0086954664197425259},
                     {100, 100, -0.039927497857786052},  {100, 130, -0.0008101300285622899},
                     {2.5, 40, -2.5267860704828765e-15}, {20, 0.5, -9.0473370548224757e-25}};
  for (const auto& k : known) {
    CAPTURE(k.a);
    CAPTURE(k.x);
    const double mine = double(grad([&](const ndarray& s) { return gammainc(s, k.x); })(array(k.a)));
    CHECK(std::abs(mine / k.slope - 1) < 2e-13 * std::max(1.0, k.a / 10));
    const double single = double(grad([&](const ndarray& s) { return gammainc(s, float(k.x)); })(array(float(k.a))));
    CHECK(std::abs(single / k.slope - 1) < 1e-4);
  }
  for (const double at : {0.0, std::numeric_limits<double>::infinity()})
    CHECK(double(grad([&](const ndarray& s) { return gammainc(s, at); })(array(1.5))) == 0);
  CHECK(std::isnan(double(grad([&](const ndarray& s) { return gammainc(s, 1.0); })(array(-1.0)))));
}

TEST_CASE("derivatives of incomplete beta functions with respect to their parameters") {
  const ndarray a = numbers({5}, 0.3, 4, 1), b = numbers({5}, 0.4, 6, 2), x = numbers({5}, 0.05, 0.95, 3);
  const ndarray p = numbers({5}, 0.1, 0.9, 4), f = numbers({5}, 0.2, 4, 5);
  agrees("betainc", [](const arrays& t) { return betainc(t[0], t[1], t[2]); }, {a, b, x});
  agrees("betaincc", [](const arrays& t) { return betaincc(t[0], t[1], t[2]); }, {a, b, x});
  agrees("betaincinv", [](const arrays& t) { return betaincinv(t[0], t[1], t[2]); }, {a, b, p});
  agrees("betainccinv", [](const arrays& t) { return betainccinv(t[0], t[1], t[2]); }, {a, b, p});
  agrees("fdtr", [](const arrays& t) { return fdtr(t[0], t[1], t[2]); }, {a, b, f});
  agrees("fdtrc", [](const arrays& t) { return fdtrc(t[0], t[1], t[2]); }, {a, b, f});
  agrees("fdtri", [](const arrays& t) { return fdtri(t[0], t[1], t[2]); }, {a, b, p});
  agrees("stdtr", [](const arrays& t) { return special::stdtr(t[0], t[1]); }, {a, f});
  agrees("broadcast", [](const arrays& t) { return betainc(t[0], t[1], t[2]); },
         {numbers({3, 1}, 0.3, 4, 1), numbers({2}, 0.4, 6, 2), numbers({}, 0.2, 0.3, 3)});
  agrees(
      "betainc, twice",
      [&](const arrays& t) { return grad([&](const ndarray& s) { return ndarray(sum(betainc(s, t[1], x))); })(t[0]); },
      {a, b});
}

TEST_CASE("derivatives of incomplete beta functions near their ends, for small and for large parameters") {
  // mpmath, 60 digits.
  struct {
    double a, b, x, by_a, by_b;
  } const known[] = {
      {0.5, 0.5, 0.3, -0.6428114811572838, 0.46874458391550544},
      {2, 3, 0.9, -0.0037206817498923414, 0.007619564844077965},
      {0.001, 0.5, 0.25, -2.623998322157984, 0.004627162541509023},
      {0.75, 0.002, 0.5, -0.003803033390155015, 1.0466865973724953},
      {100, 100, 0.5, -0.028268341193576664, 0.028268341193576664},
      {3, 250, 0.03125, -0.01800903655409112, 0.0003488824720641555},
      {40, 2, 0.9990234375, -3.716166894641642e-05, 0.0031509659947378003},
      {1.5, 2, 9.094947017729282e-13, -5.925357258320317e-17, 1.4753222635435836e-18},
      {20, 0.5, 0.125, -2.437621204998828e-19, 5.598909306631269e-19},
      {0.25, 300, 0.03125, -2.2999663253847438e-05, 1.1947725745914457e-07},
  };
  for (const auto& k : known) {
    CAPTURE(k.a);
    CAPTURE(k.b);
    CAPTURE(k.x);
    const double bound = 1e-12 * std::max(1.0, std::max(k.a, k.b) / 10);
    const auto by_a = [&](const ndarray& s) { return betainc(s, k.b, k.x); };
    const auto by_b = [&](const ndarray& s) { return betainc(k.a, s, k.x); };
    CHECK(std::abs(double(grad(by_a)(array(k.a))) / k.by_a - 1) < bound);
    CHECK(std::abs(double(grad(by_b)(array(k.b))) / k.by_b - 1) < bound);
    const double single = double(grad(by_a)(array(float(k.a))));
    CHECK(std::abs(single / k.by_a - 1) < 1e-3);
  }
  for (const double at : {0.0, 1.0}) {
    CHECK(double(grad([&](const ndarray& s) { return betainc(s, 2.0, at); })(array(1.5))) == 0);
    CHECK(double(grad([&](const ndarray& s) { return betainc(2.0, s, at); })(array(1.5))) == 0);
  }
  CHECK(std::isnan(double(grad([&](const ndarray& s) { return betainc(s, 1.0, 0.5); })(array(-1.5)))));
  CHECK(std::isnan(double(
      grad([&](const ndarray& s) { return betainc(2.0, s, std::numeric_limits<double>::quiet_NaN()); })(array(1.5)))));
}

TEST_CASE(
    "draws of gamma distributions move with their shape as JAX's do: at a fixed value of the distribution function") {
  const ndarray shape = numbers({6}, 0.2, 5);
  const auto draws = [](const ndarray& s) { return random::generator(3).gamma(s, 2.0); };
  const ndarray z = draws(shape) / 2, p = gammainc(shape, z);
  const double h = 1e-5;
  const ndarray moved = (gammaincinv(shape + h, p) - gammaincinv(shape - h, p)) / h;
  CHECK(allclose(grad([&](const ndarray& s) { return ndarray(sum(draws(s))); })(shape), moved, 1e-6, 1e-8));
  CHECK(allclose(jvp(draws, shape, ones({6})).second, moved, 1e-6, 1e-8));
}

TEST_CASE("derivatives of complex functions") {
  const ndarray z = complex_numbers({5});
  const auto check = [&](const char* name, const subject& f) { agrees(name, f, {z}); };
  check("exp", [](const arrays& x) { return exp(x[0]); });
  check("log", [](const arrays& x) { return log(x[0]); });
  check("sin", [](const arrays& x) { return sin(x[0]); });
  check("tanh", [](const arrays& x) { return tanh(x[0]); });
  check("sqrt", [](const arrays& x) { return sqrt(x[0]); });
  check("square", [](const arrays& x) { return square(x[0]); });
  check("absolute", [](const arrays& x) { return absolute(x[0]); });
  check("sign", [](const arrays& x) { return sign(x[0]); });
  check("conj", [](const arrays& x) { return conj(x[0]) * x[0]; });
  check("real", [](const arrays& x) { return real(x[0]); });
  check("imag", [](const arrays& x) { return imag(x[0]); });
  check("divide", [](const arrays& x) { return 1 / (x[0] * x[0]); });
  check("lambertw", [](const arrays& x) { return lambertw(x[0]); });
  agrees("mixed", [](const arrays& x) { return x[0] * exp(x[1]); }, {z, numbers({5})});
  agrees("angle", [](const arrays& x) { return angle(x[0]); }, {z});
}

TEST_CASE("gradients of complex arguments are those of JAX") {
  // |z|^2: 2 conj(z)
  const ndarray z = complex_numbers({3});
  const ndarray g = grad([](const ndarray& x) { return sum(real(x * conj(x))); })(z);
  CHECK(bool(all(isclose(g, 2 * conj(z)))));
  CHECK_THROWS_AS(grad([](const ndarray& x) { return sum(x * x); })(z), dtype_error);
  const ndarray h = grad([](const ndarray& x) { return sum(x * x); }, argnums<0>, {.holomorphic = true})(z);
  CHECK(bool(all(isclose(h, 2 * z))));
}

TEST_CASE("ties and kinks") {
  const ndarray x = array({1.0, 2.0}), y = array({1.0, 1.0});
  const ndarray g = grad([&](const ndarray& a) { return sum(maximum(a, y)); })(x);
  CHECK(g.to_vector<double>() == std::vector<double>{0.5, 1});
  CHECK(grad([](const ndarray& a) { return sum(absolute(a)); })(array({0.0, -2.0})).to_vector<double>() ==
        std::vector<double>{1, -1});
  CHECK(grad([](const ndarray& a) { return sum(power(a, 0.0)); })(array({0.0})).item<double>() == 0);
  CHECK(grad([](const ndarray& a) { return sum(power(a, 2)); })(array({0.0})).item<double>() == 0);
  CHECK(grad([](const ndarray& a) { return sum(floor(a)); })(array({0.5, 1.5})).to_vector<double>() ==
        std::vector<double>{0, 0});
}

TEST_CASE("casts, selections and narrow dtypes") {
  agrees("cast", [](const arrays& x) { return x[0].astype(complex128) * std::complex<double>(2, 1); }, {numbers({3})});
  agrees("where", [](const arrays& x) { return where(x[0] > 0.8, x[0] * 2, x[1]); }, {numbers({3, 4}), numbers({4})});
  agrees("clip", [](const arrays& x) { return clip(x[0], 0.5, 1.2); }, {numbers({9})});
  for (const dtype t : {float16, bfloat16, float32, complex64}) {
    const ndarray x = numbers({4}).astype(t);
    const ndarray g = grad([](const ndarray& a) { return sum(real(a * a)).astype(float32); })(x);
    CHECK(g.dtype() == t);
    CHECK(bool(all(isclose(g.astype(complex128), 2 * x.astype(complex128), 1e-2))));
  }
}

TEST_CASE("draws of beta distributions move with both parameters at a fixed value of the distribution function") {
  const ndarray a = numbers({6}, 0.3, 5), b = numbers({6}, 0.4, 4, 1);
  const auto draws = [](const ndarray& s, const ndarray& t) { return random::generator(3).beta(s, t); };
  const ndarray p = betainc(a, b, draws(a, b)), one = ones({6});
  const double h = 1e-5;
  const ndarray by_a = (betaincinv(a + h, b, p) - betaincinv(a - h, b, p)) / (2 * h);
  const ndarray by_b = (betaincinv(a, b + h, p) - betaincinv(a, b - h, p)) / (2 * h);
  const auto total = [&](const ndarray& s, const ndarray& t) { return ndarray(sum(draws(s, t))); };
  const auto [first, second] = grad(total, argnums<0, 1>)(a, b);
  CHECK(allclose(first, by_a, 1e-6, 1e-8));
  CHECK(allclose(second, by_b, 1e-6, 1e-8));
  CHECK(allclose(jvp(draws, std::tuple(a, b), std::tuple(one, one)).second, by_a + by_b, 1e-6, 1e-8));
}
