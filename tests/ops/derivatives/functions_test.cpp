// grad and its relatives: arguments of all types, errors, memory, bits.
#include <map>
#include <string>

#include "ops/derivatives/check.hpp"
#include "graph/values/limits.hpp"
#include "sinter/compile.hpp"
#include "sinter/vmap.hpp"

namespace {

using namespace sinter;
using namespace derivative_check;
using namespace sinter::special;
using namespace sinter::idx;

struct layer {
  ndarray weights, bias;
};
template <class Visit>
void arrays_of(layer& l, Visit visit) {
  visit(l.weights, l.bias);
}

}  // namespace

TEST_CASE("gradients have the types of arguments") {
  const ndarray x = numbers({5, 3});
  std::vector<layer> network{{numbers({3, 4}), numbers({4})}, {numbers({4, 1}), numbers({1})}};
  const auto loss = [](const std::vector<layer>& n, const ndarray& x) {
    ndarray y = x;
    for (const layer& l : n) y = tanh(matmul(y, l.weights) + l.bias);
    return mean(square(y));
  };
  const std::vector<layer> g = grad(loss)(network, x);
  REQUIRE(g.size() == 2);
  CHECK(g[0].weights.shape() == shape_t{3, 4});
  CHECK(g[1].bias.shape() == shape_t{1});
  const double h = 1e-6;
  std::vector<layer> near = network;
  near[0].bias = network[0].bias + h;
  const double slope = (loss(near, x).item<double>() - loss(network, x).item<double>()) / h;
  CHECK(sum(g[0].bias).item<double>() == doctest::Approx(slope).epsilon(1e-4));

  const auto [gn, gx] = grad(loss, argnums<0, 1>)(network, x);
  CHECK(gx.shape() == x.shape());
  CHECK(bool(all(equal(gn[0].weights, g[0].weights))));
  const auto of_map = grad([](const std::map<std::string, ndarray>& m) { return sum(m.at("a") * m.at("b")); });
  const std::map<std::string, ndarray> named{{"a", array({1.0, 2.0})}, {"b", array({3.0, 4.0})}};
  CHECK(of_map(named).at("a").to_vector<double>() == std::vector<double>{3, 4});
  const auto pair = grad([](const std::pair<ndarray, double>& p) { return sum(p.first * p.second); })(
      std::pair<ndarray, double>(array({1.0}), 3.0));
  CHECK(pair.first.item<double>() == 3);
  CHECK(grad([](const ndarray& a) { return a * a; })(3.0).item<double>() == 6);
}

TEST_CASE("values, aux, argnums") {
  const ndarray x = array({1.0, 2.0}), y = array({3.0, 4.0});
  const auto f = [](const ndarray& a, const ndarray& b) { return sum(a * b); };
  const auto [value, g] = value_and_grad(f)(x, y);
  CHECK(value.item<double>() == 11);
  CHECK(g.to_vector<double>() == std::vector<double>{3, 4});
  const std::vector<ndarray> both = grad(f, {.argnums = {1, 0}})(x, y);
  CHECK(both[0].to_vector<double>() == std::vector<double>{1, 2});
  CHECK(both[1].to_vector<double>() == std::vector<double>{3, 4});
  CHECK_THROWS_AS(grad(f, {.argnums = {2}})(x, y), index_error);
  const auto with_aux = [](const ndarray& a) { return std::make_pair(sum(a * a), std::string("aux")); };
  const auto [ga, aux] = grad(with_aux)(x);
  CHECK(aux == "aux");
  CHECK(ga.to_vector<double>() == std::vector<double>{2, 4});
  const auto [va, ga2] = value_and_grad(with_aux)(x);
  CHECK(va.first.item<double>() == 5);
}

TEST_CASE("jacobians and hessians") {
  const ndarray x = numbers({2, 3});
  const auto f = [](const ndarray& a) { return sum(sin(a) * a, 0); };
  const ndarray forward = jacfwd(f)(x), reverse = jacrev(f)(x);
  CHECK(forward.shape() == shape_t{3, 2, 3});
  CHECK(bool(all(isclose(forward, reverse))));
  CHECK(bool(all(isclose(jacobian(f)(x), reverse))));
  const auto g = [](const ndarray& a) { return sum(a * a * a); };
  const ndarray v = array({1.0, 2.0, 3.0}), h = hessian(g)(v);
  CHECK(bool(all(isclose(h, 6 * diag(v)))));
  CHECK(bool(all(isclose(hvp(g, v, ones({3})), 6 * v))));
  CHECK(jacfwd(f)(zeros({2, 0})).shape() == shape_t{0, 2, 0});
  // Third order.
  const auto cube = [](const ndarray& a) { return a * a * a; };
  CHECK(grad(grad(grad(cube)))(2.0).item<double>() == 6);
}

TEST_CASE("a pull-back may be called again") {
  const auto [y, back] =
      vjp([](const ndarray& a, const ndarray& b) { return a * b; }, array({1.0, 2.0}), array({3.0, 4.0}));
  for (int k = 0; k < 2; ++k) {
    const auto [ga, gb] = back(array({1.0, 10.0}));
    CHECK(ga.to_vector<double>() == std::vector<double>{3, 40});
    CHECK(gb.to_vector<double>() == std::vector<double>{1, 20});
  }
  CHECK_THROWS_AS(back(array({1.0})), shape_error);
}

TEST_CASE("constants, checkpoints and derivatives of one's own") {
  const ndarray x = array({1.0, 2.0});
  CHECK(grad([](const ndarray& a) { return sum(stop_gradient(a) * a); })(x).to_vector<double>() ==
        std::vector<double>{1, 2});
  const auto inner = checkpoint([](const ndarray& a) { return sin(a) * a; });
  const auto plain = [](const ndarray& a) { return sum(square(sin(a) * a)); };
  const auto again = [&](const ndarray& a) { return sum(square(inner(a))); };
  CHECK(grad(again)(x).to_vector<double>() == grad(plain)(x).to_vector<double>());
  CHECK(bool(all(isclose(hessian(again)(x), hessian(plain)(x)))));

  const elementwise_kernel cubed("float64 x", "float64 y", "y = x * x * x", "cubed");
  const auto raw = [&](const ndarray& a) { return cubed(a); };
  CHECK_THROWS_AS(grad([&](const ndarray& a) { return sum(raw(a)); })(x), derivative_error);
  const auto by_vjp = custom_derivative(
      raw, {.vjp = [](const arrays& a, const arrays&, const arrays& g) { return arrays{3 * a[0] * a[0] * g[0]}; }});
  const auto by_jvp = custom_derivative(
      raw, {.jvp = [](const arrays& a, const arrays&, const arrays& t) { return arrays{3 * a[0] * a[0] * t[0]}; }});
  for (const auto& f : {subject([&](const arrays& a) { return by_vjp(a[0]); }),
                        subject([&](const arrays& a) { return by_jvp(a[0]); })}) {
    agrees("custom", f, {numbers({4})});
    CHECK(bool(all(isclose(hessian([&](const ndarray& a) { return sum(f({a})); })(x), 6 * diag(x)))));
  }
  CHECK_THROWS_AS(custom_derivative(raw, {}), value_error);
}

TEST_CASE("errors name what has no derivative, and where it was asked for") {
  const ndarray x = numbers({3});
  const auto message = [](const auto& f) {
    try {
      f();
    } catch (const error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK_THROWS_AS(grad([](const ndarray& a) { return a; })(x), shape_error);
  CHECK_THROWS_AS(grad([](const ndarray& a) { return sum(a); })(arange(3)), dtype_error);
  CHECK_THROWS_AS(grad([](const ndarray& a) { return argmax(a); })(x), dtype_error);
  const std::string integers = message([&] { grad([](const ndarray& a) { return sum(a); })(arange(3)); });
  CHECK(integers.find("int64") != std::string::npos);
  CHECK(integers.find("functions_test.cpp") != std::string::npos);
  const std::string address = message([&] {
    grad([](const ndarray& a) {
      const ndarray b = a * 2;
      b.data<double>();
      return sum(b);
    })(x);
  });
  CHECK(address.find("address") != std::string::npos);
  CHECK_THROWS_AS(grad([](const ndarray& a) { return sum(linalg::lu_factor(a).lu); })(eye(3)), derivative_error);
  CHECK_THROWS_AS(jacobian([](const ndarray& a) { return argsort(a); })(x), dtype_error);
  CHECK_THROWS_AS(jvp([](const ndarray& a) { return a; }, x, ones({4})), shape_error);
  // After an error nothing is traced any more.
  CHECK(grad([](const ndarray& a) { return sum(a * a); })(x).shape() == x.shape());
}

TEST_CASE("what the function does not depend on has a gradient of zeros") {
  const auto [ga, gb] =
      grad([](const ndarray& a, const ndarray&) { return sum(a); }, argnums<0, 1>)(numbers({2}), numbers({3}));
  CHECK(gb.to_vector<double>() == std::vector<double>{0, 0, 0});
  CHECK(grad([](const ndarray&) { return array(1.0); })(numbers({2})).to_vector<double>() == std::vector<double>{0, 0});
}

TEST_CASE("gradients of draws with respect to location, scale and shape") {
  const auto f = [](const ndarray& loc, const ndarray& scale) {
    random::generator g(7);
    return mean(g.normal(loc, scale, {1000}));
  };
  const auto [of_loc, of_scale] = grad(f, argnums<0, 1>)(array(1.0), array(2.0));
  random::generator g(7);
  CHECK(of_loc.item<double>() == doctest::Approx(1));
  CHECK(of_scale.item<double>() == doctest::Approx(mean(g.standard_normal({1000})).item<double>()));
  // With respect to a shape parameter: at a fixed value of the distribution function.
  const auto shaped = [](const ndarray& a) {
    random::generator g(7);
    return sum(g.beta(a, 2.0, {3}));
  };
  random::generator h(7);
  const ndarray p = special::betainc(2.0, 2.0, h.beta(2.0, 2.0, {3}));
  const auto moved = [&](double a) { return sum(special::betaincinv(a, 2.0, p)).item<double>(); };
  const double slope = (moved(2.0 + 1e-5) - moved(2.0 - 1e-5)) / 2e-5;
  CHECK(grad(shaped)(array(2.0)).item<double>() == doctest::Approx(slope).epsilon(1e-7));
}

TEST_CASE("the gradient of a broadcast reduction stores no array of its size") {
  const std::int64_t m = 3000, n = 2000;
  const ndarray p = numbers({m, 2}), q = numbers({n, 2}, 0.2, 1.7, 5);
  eval(p, q);
  const auto haversine = [&](const ndarray& p) {
    const ndarray lat1 = p(_, newaxis, 0), lon1 = p(_, newaxis, 1), lat2 = q(_, 0), lon2 = q(_, 1);
    const ndarray h = square(sin((lat2 - lat1) / 2)) + cos(lat1) * cos(lat2) * square(sin((lon2 - lon1) / 2));
    return 2 * arcsin(sqrt(minimum(h, 1)));
  };
  const auto pairs = [&](const ndarray& x) {
    const ndarray dx = x(_, newaxis, 0) - q(_, 0), dy = x(_, newaxis, 1) - q(_, 1);
    return sum(1 / (1 + dx * dx + dy * dy));
  };
  const auto attention = [&](const ndarray& x) {
    const ndarray s = x(_, newaxis, 0) * q(_, 0) + x(_, newaxis, 1) * q(_, 1);
    const ndarray e = exp(s - max(s, 1, {.keepdims = true}));
    return sum(sum(e * q(_, 1), 1) / sum(e, 1));
  };
  const std::vector<std::pair<const char*, std::function<ndarray(const ndarray&)>>> all{
      {"sum of distances", [&](const ndarray& x) { return sum(haversine(x)); }},
      {"nearest", [&](const ndarray& x) { return sum(min(haversine(x), 1)); }},
      {"pairwise energy", pairs},
      {"attention", attention}};
  for (const auto& one : all) {
    const auto& f = one.second;
    INFO(std::string(one.first));
    memory_pool pool;
    pool.trim();
    pool.reset_peak();
    const std::size_t before = pool.figures().used;
    const ndarray g = grad(f)(p);
    eval(g);
    synchronize();
    CHECK(pool.figures().peak - before < static_cast<std::size_t>(m * n));  // an eighth of M x N numbers
  }
}

TEST_CASE("gradients have the same bits each time, fused and not") {
  const ndarray x = numbers({40, 30}), at = array({3, 3, 1, 0, 7});
  const auto f = [&](const ndarray& a) {
    return sum(square(softmax(a, axes{1})(at))) + sum(sort(a, 1)(_, 0)) + mean(var(a, 0));
  };
  const std::vector<double> first = grad(f)(x).to_vector<double>();
  CHECK(grad(f)(x).to_vector<double>() == first);
  bool& fuses = graph::limits().fuse;
  fuses = false;
  const std::vector<double> unfused = grad(f)(x).to_vector<double>();
  fuses = true;
  CHECK(unfused == first);
}

TEST_CASE("checkpoint: a pull-back holds the arguments of what it computes again, and nothing in between") {
  constexpr std::size_t blocks = 6, layers = 4;
  const ndarray x = numbers({128, 128}), w = numbers({128, 128}, -0.1, 0.1);
  eval(x, w);
  const auto block = [](const ndarray& a, const ndarray& by) {
    ndarray h = a;
    for (std::size_t k = 0; k < layers; ++k) h = tanh(matmul(h, by));
    return h;
  };
  const auto run = [&](const auto& f) {
    memory_pool pool;
    synchronize();
    const std::size_t before = pool.figures().used;
    const auto [y, pull] = vjp(
        [&](const ndarray& a) {
          ndarray h = a;
          for (std::size_t k = 0; k < blocks; ++k) h = f(h, w);
          return sum(h);
        },
        x);
    eval(y);
    synchronize();
    const std::size_t held = pool.figures().used - before;
    const ndarray slopes = pull(ones({}));
    eval(slopes);  // pending ones hold what they are computed from
    return std::pair(held, slopes);
  };
  const auto [all, right] = run(block);
  const auto [few, again] = run(checkpoint(block));
  constexpr std::size_t one = 128 * 128 * sizeof(double);
  CHECK(all >= blocks * layers * one);  // a product each
  CHECK(few <= (blocks + 2) * one);
  CHECK(array_equal(right, again));
}

TEST_CASE("functions may take numbers as numbers, and as arrays") {
  const ndarray x = array({1.0, 2.0});
  const auto plain = [](const ndarray& a, double rate, int times) {
    return sum(a * a) * (rate > 1 ? rate : 0.0) * times;
  };
  CHECK(grad(plain)(x, 3.0, 2).to_vector<double>() == std::vector<double>{12, 24});
  CHECK(value_and_grad(plain)(x, 0.5, 2).second.to_vector<double>() == std::vector<double>{0, 0});
  CHECK(jacobian([](const ndarray& a, float s) { return a * static_cast<double>(s); })(x, 2.0F).shape() ==
        shape_t{2, 2});
  CHECK(allclose(hessian(plain)(x, 3.0, 2), 12 * eye(2)));
  CHECK(checkpoint(plain)(x, 3.0, 1).item<double>() == 15);
  const auto arrays_only = [](const ndarray& a, const ndarray& rate) { return sum(a * a) * rate; };
  const auto [ga, gr] = grad(arrays_only, argnums<0, 1>)(x, 3.0);
  CHECK(ga.to_vector<double>() == std::vector<double>{6, 12});
  CHECK(gr.item<double>() == 5);
  // A direction of a number is that of an array.
  const auto [y, t] = jvp(arrays_only, std::tuple(x, 2.0), std::tuple(zeros(2), 1.0));
  CHECK(t.item<double>() == 5);
  CHECK(allclose(compile(hessian(plain))(x, 3.0, 2), 12 * eye(2)));
  CHECK(allclose(vmap(grad(checkpoint(plain)), {.in_axes = {0, _, _}})(expand_dims(x, 0), 3.0, 2)(0),
                 array({12.0, 24.0})));
  const auto compiled = compile(plain);
  CHECK(compiled(x, 3.0, 1).item<double>() == 15);
  CHECK(compiled(x, 4.0, 1).item<double>() == 20);
  CHECK(compiled.size() == 2);
}
