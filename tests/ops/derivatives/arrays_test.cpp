// Rules of views, partial writes, selections, reductions, sorts, scans.
#include "ops/derivatives/check.hpp"

namespace {

using namespace sinter;
using namespace derivative_check;
using namespace sinter::special;
using namespace sinter::idx;

}  // namespace

TEST_CASE("derivatives of views") {
  const auto check = [](const char* name, const subject& f, const shape_t& shape = {4, 6}) {
    agrees_twice(name, [&](const arrays& x) { return square(f(x)); }, {numbers(shape)});
  };
  check("transpose", [](const arrays& x) { return x[0].T(); });
  check("slice", [](const arrays& x) { return x[0](slice(1, 3), slice(2, _)); });
  check("steps", [](const arrays& x) { return x[0](slice(_, _, 2), slice(1, _, 3)); });
  check("backwards", [](const arrays& x) { return x[0](slice(_, _, -1), slice(4, 0, -2)); });
  check("element", [](const arrays& x) { return x[0](2, _); });
  check("number", [](const arrays& x) { return x[0](2, 3); });
  check("newaxis", [](const arrays& x) { return x[0](_, newaxis, 1); });
  check("reshape", [](const arrays& x) { return x[0].reshape(3, 8); });
  check("reshape and slice", [](const arrays& x) { return x[0].reshape(2, 3, 4)(1, slice(1, _), slice(_, _, 2)); });
  check("ravel and step", [](const arrays& x) { return ravel(x[0])(slice(1, _, 5)); });
  check("slice over rows", [](const arrays& x) { return ravel(x[0])(slice(3, 17)); });
  check("broadcast", [](const arrays& x) { return broadcast_to(x[0], {3, 4, 6}); });
  check("diagonal", [](const arrays& x) { return diagonal(x[0]); });
  check("flip", [](const arrays& x) { return flip(x[0], axes{1}); });
  check("roll", [](const arrays& x) { return roll(x[0], 2, axes{1}); });
  check("roll flat", [](const arrays& x) { return roll(x[0], -3); });
  check("pad", [](const arrays& x) { return pad(x[0], 2); });
  check("repeat", [](const arrays& x) { return repeat(x[0], 3, 1); });
  check("tile", [](const arrays& x) { return tile(x[0], {2, 3}); });
  check("empty slice", [](const arrays& x) { return x[0](slice(2, 2)); });
  check("diff", [](const arrays& x) { return diff(x[0], 1); });
  check("windows", [](const arrays& x) { return sliding_window_view(ravel(x[0]), {5}); });
  check("tril", [](const arrays& x) { return tril(x[0]); });
  check("concatenate", [](const arrays& x) { return concatenate({x[0], 2 * x[0](slice(0, 2))}, 0); });
  check("stack", [](const arrays& x) { return stack({x[0], sin(x[0])}, 1); });
}

TEST_CASE("second derivatives of rolls of a dtype whose sums by position are sorted first on every device") {
  // The gradient is a roll backwards, which the outer derivative sees as a read by indices, some of them from the end.
  const auto first = [](const ndarray& x) {
    return sum(grad([](const ndarray& v) { return sum(square(roll(v, 2, axes{1})) * 3); })(x) * 2);
  };
  const ndarray x = (reshape(arange(24), {4, 6}) % 5).astype(float16);
  CHECK(all(grad(first)(x) == 12).item<bool>());
}

TEST_CASE("derivatives of arguments that are views") {
  const ndarray x = numbers({6, 8});
  for (const ndarray& view :
       {ndarray(x(slice(1, 5), slice(_, _, 2))), x.T(), ndarray(x(3, _)), broadcast_to(x(0, _), {3, 8})})
    agrees("view", [](const arrays& a) { return exp(a[0]) * a[0]; }, {view});
}

TEST_CASE("derivatives of partial writes") {
  agrees_twice("row",
               [](const arrays& x) {
                 const ndarray y = x[0].copy();
                 y(1, _) = x[1] * 3;
                 return y * y;
               },
               {numbers({3, 4}), numbers({4})});
  agrees_twice("steps",
               [](const arrays& x) {
                 const ndarray y = sin(x[0]);
                 y(_, slice(0, _, 2)) += x[1];
                 y(0, 0) = 5.0;
                 return y * y;
               },
               {numbers({3, 4}), numbers({1, 2})});
  agrees("into constants",
         [](const arrays& x) {
           const ndarray y = zeros({3, 4});
           y(slice(1, _), slice(1, 3)) = x[0];
           return y * 2;
         },
         {numbers({2, 2})});
  agrees("argument in place",
         [](const arrays& x) {
           ndarray y = x[0];
           y *= x[0];
           y(0) = x[0](1) * 2;
           return y;
         },
         {numbers({4})});
}

TEST_CASE("an argument that is written to in the function stays as it was") {
  const ndarray x = numbers({4});
  const std::vector<double> before = x.to_vector<double>();
  grad([](const ndarray& a) {
    ndarray b = a;
    b *= 2;
    return sum(b * b);
  })(x);
  CHECK(x.to_vector<double>() == before);
}

TEST_CASE("derivatives of selections by index") {
  const ndarray at = array({2, 0, 2, 1}), rows = array({0, 3, 1}), columns = array({1, 1, -2});
  const ndarray x = numbers({4, 5});
  const auto check = [&](const char* name, const subject& f) {
    agrees_twice(name, [&](const arrays& a) { return square(f(a)); }, {x});
  };
  check("rows", [&](const arrays& a) { return a[0](at); });
  check("columns", [&](const arrays& a) { return a[0](_, at); });
  check("pairs", [&](const arrays& a) { return a[0](rows, columns); });
  check("take", [&](const arrays& a) { return take(a[0], at, 1); });
  check("take flat", [&](const arrays& a) { return take(a[0], array({{3, 19}, {3, 0}})); });
  check("take_along_axis", [&](const arrays& a) { return take_along_axis(a[0], argsort(a[0], 1), 1); });
  check("one along an axis",
        [&](const arrays& a) { return take_along_axis(a[0], argmin(a[0], 1, {.keepdims = true}), 1); });
  check("rows along axis 0", [&](const arrays& a) { return take_along_axis(a[0], array({{0, 1, 2, 3, 3}}), 0); });
  check("mask", [&](const arrays& a) { return a[0](a[0] > 0.9); });
  check("mask of rows", [&](const arrays& a) { return a[0](array({true, false, true, true})); });
  check("repeat by counts", [&](const arrays& a) { return repeat(a[0], array({2, 0, 1, 3}), 0); });
  agrees("nothing", [&](const arrays& a) { return a[0](array(std::vector<std::int64_t>{})); }, {x});
}

TEST_CASE("derivatives of writes by index") {
  const ndarray at = array({2, 0, 2});
  const auto check = [&](const char* name, const subject& f) {
    agrees(name, f, {numbers({4, 2}), numbers({3, 2}, 2, 3)});
  };
  check("set", [&](const arrays& a) {
    const ndarray y = a[0].copy();
    y(at) = a[1];
    return y * y;
  });
  check("add_at", [&](const arrays& a) {
    const ndarray y = a[0].copy();
    add_at(y(at), a[1]);
    return y * y;
  });
  check("maximum", [&](const arrays& a) {
    const ndarray y = a[0].copy();
    scatter_max(y(at), a[1]);
    return y * y;
  });
  check("add once", [&](const arrays& a) {
    const ndarray y = a[0].copy();
    y(array({1, 3, 0})) += a[1];
    return y * y;
  });
  check("masked", [&](const arrays& a) {
    const ndarray y = a[0].copy();
    y(y > 1) *= 3;
    return y;
  });
  check("put", [&](const arrays& a) {
    const ndarray y = a[0].copy();
    put(y, array({0, 3, 5}), a[1](_, 0));
    return y * y;
  });
}

TEST_CASE("derivatives of reductions") {
  const auto check = [](const char* name, const subject& f, bool twice = true) {
    for (const shape_t& shape : {shape_t{3, 4}, shape_t{1, 5}}) {
      if (twice) agrees_twice(name, f, {numbers(shape)});
      else agrees(name, f, {numbers(shape)});
    }
  };
  check("sum", [](const arrays& x) { return square(sum(x[0], 1)); });
  check("sum of all", [](const arrays& x) { return square(sum(x[0])); });
  check("keepdims", [](const arrays& x) { return x[0] / sum(x[0], 0, {.keepdims = true}); });
  check("mean", [](const arrays& x) { return square(mean(x[0], 0)); });
  check("prod", [](const arrays& x) { return prod(x[0], 1); });
  check("prod of all", [](const arrays& x) { return prod(x[0]); });
  check("max", [](const arrays& x) { return square(max(x[0], 1)); });
  check("min", [](const arrays& x) { return square(min(x[0])); });
  check("var", [](const arrays& x) { return var(x[0], 1); });
  agrees_twice("std", [](const arrays& x) { return sinter::std(x[0], 1, {.ddof = 1}); }, {numbers({3, 4})});
  check("ptp", [](const arrays& x) { return square(ptp(x[0], axes{1})); });
  check("logsumexp", [](const arrays& x) { return logsumexp(x[0], 1); });
  check("softmax", [](const arrays& x) { return softmax(x[0], axes{1}); });
  check("norm", [](const arrays& x) { return linalg::norm(x[0]); });
  agrees("median", [](const arrays& x) { return median(x[0], 1); }, {numbers({3, 5})});
  agrees("quantile", [](const arrays& x) { return quantile(x[0], 0.3); }, {numbers({3, 5})});
  agrees("variance of complex numbers", [](const arrays& x) { return var(x[0], 1); }, {complex_numbers({3, 4})});
  agrees("where", [](const arrays& x) { return sum(x[0], {.where = x[0] > 0.8}); }, {numbers({3, 4})});
}

TEST_CASE("extremes that are shared, and products with zeros") {
  const ndarray x = array({3.0, 1.0, 3.0});
  CHECK(grad([](const ndarray& a) { return max(a); })(x).to_vector<double>() == std::vector<double>{0.5, 0, 0.5});
  const auto product = [](const ndarray& a) { return prod(a); };
  CHECK(grad(product)(array({2.0, 0.0, 5.0})).to_vector<double>() == std::vector<double>{0, 10, 0});
  CHECK(grad(product)(array({0.0, 0.0, 5.0})).to_vector<double>() == std::vector<double>{0, 0, 0});
  const ndarray h = hessian(product)(array({0.0, 0.0, 5.0}));
  CHECK(h.to_vector<double>() == std::vector<double>{0, 5, 0, 5, 0, 0, 0, 0, 0});
  CHECK(grad([](const ndarray& a) { return sum(cumprod(a)); })(array({2.0, 0.0, 5.0})).to_vector<double>() ==
        std::vector<double>{1, 12, 0});
}

TEST_CASE("derivatives of sorts and scans") {
  const auto check = [](const char* name, const subject& f, bool twice = true) {
    for (const shape_t& shape : {shape_t{3, 7}, shape_t{1, 1}}) {
      if (twice) agrees_twice(name, [&](const arrays& x) { return square(f(x)); }, {numbers(shape)});
      else agrees(name, f, {numbers(shape)});
    }
  };
  check("sort", [](const arrays& x) { return sort(x[0], 1); });
  check("sort, descending", [](const arrays& x) { return sort(x[0], {.axis = 0, .descending = true}); });
  check("sort flat", [](const arrays& x) { return sort(x[0], std::nullopt); });
  check("partition", [](const arrays& x) { return partition(x[0], 0, 1); });
  check("topk", [](const arrays& x) { return topk(x[0], 1, {.axis = 1}).values; });
  check("cumsum", [](const arrays& x) { return cumsum(x[0], 1); });
  check("cumsum flat", [](const arrays& x) { return cumsum(x[0]); });
  check("cumprod", [](const arrays& x) { return cumprod(x[0], 0); });
  check("cumprod along rows", [](const arrays& x) { return cumprod(x[0], 1); });
  check("cummax", [](const arrays& x) { return cummax(x[0], {.axis = 1}); });
  check("cummin", [](const arrays& x) { return cummin(x[0], {.axis = 1}); });
  check("logcumsumexp", [](const arrays& x) { return logcumsumexp(x[0], {.axis = 1}); });
  check("bincount", [](const arrays& x) {
    return bincount(array({2, 0, 2}), {.weights = ravel(x[0])(slice(0, 1)) * ones({3})});
  });
}

TEST_CASE("control flow may depend on values") {
  const auto f = [](const ndarray& x) {
    ndarray y = x;
    while (sum(y).item<double>() < 50) y = y * 2;
    return sum(y);
  };
  CHECK(grad(f)(array({1.0, 2.0})).to_vector<double>() == std::vector<double>{32, 32});
}

TEST_CASE("derivatives of padding are slices") {
  const auto check = [](const char* name, const subject& f) {
    agrees_twice(name, [&](const arrays& x) { return square(f(x)); }, {numbers({3, 4})});
  };
  check("one axis", [](const arrays& x) { return pad(x[0], {{0, 0}, {2, 1}}); });
  check("constants", [](const arrays& x) { return pad(x[0], {{1, 0}, {0, 3}}, {.constant_values = 2.5}); });
  check("empty", [](const arrays& x) { return pad(x[0](slice(1, 1)), 1) + sum(x[0]); });
  check("edge", [](const arrays& x) { return pad(x[0], 2, "edge"); });
  check("reflect", [](const arrays& x) { return pad(x[0], 2, "reflect"); });
  // Large arrays are assembled of parts.
  const ndarray x = numbers({200, 300});
  const auto f = [](const ndarray& a) { return pad(a, {{1, 2}, {3, 4}}) * arange(307); };
  const ndarray g = grad([&](const ndarray& a) { return sum(f(a)); })(x);
  CHECK(bool(all(equal(g, broadcast_to(arange(3, 303), {200, 300})))));
  CHECK(bool(all(equal(jvp(f, x, ones({200, 300})).second, pad(ones({200, 300}), {{1, 2}, {3, 4}}) * arange(307)))));
  CHECK(explain(g).find("gather") == std::string::npos);
}

TEST_CASE("running extremes that are shared, as JAX shares them") {
  // Halves at each node of the tree of jax.lax.associative_scan; JAX's tangents.
  const ndarray x = array({1.0, 3.0, 3.0, 2.0, 3.0, 4.0, 4.0}), t = arange(1, 8).astype(float64);
  const std::vector<double> expected{1, 2, 2.5, 2.5, 3.75, 6, 6.5};
  const auto up = [](const ndarray& a) { return cummax(a); };
  const auto down = [](const ndarray& a) { return cummin(-a); };
  CHECK(jvp(up, x, t).second.to_vector<double>() == expected);
  CHECK((-jvp(down, x, t).second).to_vector<double>() == expected);
  for (const std::int64_t n : {0, 1, 2, 3, 8, 33})
    agrees("cummax of all lengths", [](const arrays& a) { return cummax(a[0], {.axis = 0}); }, {numbers({n, 2})});
}
