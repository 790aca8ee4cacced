// Jacobians, which take the arrays of a basis all at once, beside a loop over them; within other derivatives; under vmap.
#include <map>
#include <string>

#include "ops/derivatives/check.hpp"
#include "sinter/loops.hpp"
#include "sinter/sparse.hpp"
#include "sinter/vmap.hpp"
#include "support/message_of.hpp"

namespace {

using namespace sinter;
using namespace derivative_check;
using namespace sinter::idx;

using function = std::function<ndarray(const ndarray&)>;

/// One pass of forward mode for each element of x.
ndarray by_loop(const function& f, const ndarray& x) {
  std::vector<ndarray> columns;
  for (std::int64_t k = 0; k < x.size(); ++k) {
    const ndarray one = reshape(equal(arange(x.size()), k).astype(x.dtype()), x.shape());
    columns.push_back(jvp(f, x, one).second);
  }
  const ndarray all = moveaxis(stack(columns, 0), 0, -1);
  std::vector<std::int64_t> shape;
  for (std::int64_t a = 0; a + 1 < all.ndim(); ++a) shape.push_back(all.shape(a));
  for (const std::int64_t n : x.shape()) shape.push_back(n);
  return reshape(all, shape_t(std::span<const std::int64_t>(shape)));
}

void check(const char* name, const function& f, const ndarray& x) {
  INFO(std::string(name));
  const ndarray expected = by_loop(f, x), forward = jacfwd(f)(x), reverse = jacrev(f)(x);
  REQUIRE(forward.shape() == expected.shape());
  REQUIRE(reverse.shape() == expected.shape());
  CHECK(allclose(forward, expected, 1e-10, 1e-12));
  CHECK(allclose(reverse, expected, 1e-10, 1e-12));
  // Its own derivative, and that of each example.
  const auto total = [&](const ndarray& a) { return sum(jacrev(f)(a) * numbers(expected.shape(), -1, 1, 3)); };
  const auto total_forward = [&](const ndarray& a) { return sum(jacfwd(f)(a) * numbers(expected.shape(), -1, 1, 3)); };
  CHECK(allclose(grad(total)(x), grad(total_forward)(x), 1e-8, 1e-10));
}

}  // namespace

TEST_CASE("jacobians are those of a loop over the basis") {
  const ndarray x = numbers({3, 3}, 0.3, 1.6), v = numbers({5}), w = numbers({4, 5}, -1, 1, 9);
  check(
      "elementwise", [](const ndarray& a) { return sin(a) * a; }, x);
  check(
      "product with a vector", [&](const ndarray& a) { return tanh(matmul(w, a)); }, v);
  check(
      "vector by a product", [&](const ndarray& a) { return matmul(a * a, w.T()); }, v);
  check(
      "products", [](const ndarray& a) { return matmul(a, matmul(a.T(), a)); }, x);
  check(
      "reductions", [](const ndarray& a) { return prod(a, 1) + max(a, 0) + var(a, 1); }, x);
  check(
      "sort", [](const ndarray& a) { return square(sort(a, 1)); }, x);
  check(
      "scans", [](const ndarray& a) { return cumprod(a, 1) + cumsum(a, 0) * cummax(a, {.axis = 1}); }, x);
  check(
      "selection",
      [](const ndarray& a) {
        return square(a(array({2, 0, 2})));
      },
      x);
  check(
      "writes",
      [](const ndarray& a) {
        const ndarray y = a * a;
        y(1, _) = a(0) * a(2);
        add_at(y(array({0, 0})), a(slice(1, _)));
        return y;
      },
      x);
  check(
      "repeat by counts",
      [](const ndarray& a) {
        return square(repeat(a, array({2, 0, 1}), 0));
      },
      x);
  check(
      "where", [](const ndarray& a) { return where(a > 0.9, a * a, sin(a)); }, x);
  check(
      "pad", [](const ndarray& a) { return square(pad(a, 1)); }, x);
  check(
      "fft", [](const ndarray& a) { return square(absolute(fft::rfft(a))); }, x);
  check(
      "solve", [](const ndarray& a) { return linalg::solve(a + 3 * eye(3), a); }, x);
  check(
      "factors", [](const ndarray& a) { return linalg::cholesky(matmul(a, a.T()) + eye(3)); }, x);
  check(
      "determinant", [](const ndarray& a) { return linalg::det(a); }, x);
  check(
      "singular values", [](const ndarray& a) { return linalg::svdvals(a); }, x);
  check(
      "a number", [](const ndarray& a) { return a * a * a; }, array(1.5));
  check(
      "of one number", [](const ndarray& a) { return a * arange(1, 4).astype(float64); }, array(1.5));
  check(
      "constant", [](const ndarray& a) { return zeros_like(a); }, v);
  const sparse::sparse_array s = sparse::diags({array({-1.0}), array({2.5})}, {-1, 0}, shape_t{5, 5}).tocsr();
  check(
      "sparse product", [&](const ndarray& a) { return square(sparse::matmul(s, a)); }, v);
  check(
      "loop",
      [](const ndarray& a) {
        return fori_loop(
            0, 3, [&](const ndarray&, const ndarray& y) { return sin(y) * a; }, a);
      },
      v);
  const auto again = checkpoint([](const ndarray& a) { return exp(sin(a)); });
  check(
      "checkpoint", [&](const ndarray& a) { return again(a) * a; }, v);
  const auto own = custom_derivative(
      [](const ndarray& a) { return a * a * a; },
      {.vjp = [](const arrays& a, const arrays&, const arrays& g) { return arrays{3 * a[0] * a[0] * g[0]}; }});
  check(
      "derivatives of one's own", [&](const ndarray& a) { return own(a); }, v);
}

TEST_CASE("jacobians of complex functions, of several arrays, for each example") {
  const ndarray z = complex_numbers({3});
  const auto f = [](const ndarray& a) { return a * a * exp(a); };
  const ndarray j = jacobian(f, {.holomorphic = true})(z);
  CHECK(allclose(j, diag((2 * z + z * z) * exp(z)), 1e-10, 1e-12));
  const arrays both{numbers({2}), numbers({3}, 0.2, 1, 5)};
  const arrays parts = jacobian([](const arrays& a) { return outer(a[0], a[1]); })(both);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].shape() == shape_t{2, 3, 2});
  CHECK(parts[1].shape() == shape_t{2, 3, 3});
  CHECK(allclose(parts[0](0, _, 0), both[1]));
  CHECK(allclose(parts[1](_, 1, 1), both[0]));
  const auto cube = [](const ndarray& a) { return sum(a * a * a); };
  const ndarray x = numbers({4, 3}), each = vmap(hessian(cube))(x);
  for (int k = 0; k < 4; ++k) CHECK(allclose(each(k), 6 * diag(x(k))));
}

TEST_CASE("jacobians that are computed at once store no basis") {
  // 2000 x 2000 numbers are the result; a basis beside it would be as many again.
  const ndarray x = numbers({2000});
  eval(x);
  memory_pool pool;
  pool.trim();
  pool.reset_peak();
  const std::size_t before = pool.figures().used;
  const ndarray j = jacobian([](const ndarray& a) { return sin(a) * a; })(x);
  eval(j);
  synchronize();
  CHECK(pool.figures().peak - before < std::size_t{2000} * 2000 * 8 + (std::size_t{4} << 20));
}

namespace {

struct point {
  ndarray place, mass;
};
template <class Visit>
void arrays_of(point& p, Visit visit) {
  visit(p.place, p.mass);
}

}  // namespace

TEST_CASE("jacobians of several arrays by several arguments have structures in the place of arrays") {
  const ndarray x = numbers({3}), y = numbers({2}, 0.2, 1, 5);
  const auto f = [](const ndarray& a, const ndarray& b) { return std::tuple(outer(a, b), ndarray(sum(a) * b)); };
  const auto first = [&](const ndarray& a, const ndarray& b) { return std::get<0>(f(a, b)); };
  const auto second = [&](const ndarray& a, const ndarray& b) { return std::get<1>(f(a, b)); };
  const auto is_right = [&](const auto& j) {
    const auto& [of_first, of_second] = j;
    const auto& [first_by_x, first_by_y] = of_first;
    const auto& [second_by_x, second_by_y] = of_second;
    CHECK(allclose(first_by_x, jacobian(first)(x, y)));
    CHECK(allclose(second_by_x, jacobian(second)(x, y)));
    CHECK(allclose(first_by_y, jacrev(first, argnums<1>)(x, y)));
    CHECK(allclose(second_by_y, jacfwd(second, argnums<1>)(x, y)));
  };
  is_right(jacfwd(f, argnums<0, 1>)(x, y));
  is_right(jacrev(f, argnums<0, 1>)(x, y));
  is_right(jacobian(f, argnums<0, 1>)(x, y));
  CHECK(std::get<0>(jacobian(f)(x, y)).shape() == shape_t{3, 2, 3});

  const std::map<std::string, arrays> parts{{"a", {x, y}}, {"b", {y}}};
  const auto same = [](const std::map<std::string, arrays>& all) { return all; };
  auto j = jacrev(same)(parts);
  REQUIRE(j.size() == 2);
  REQUIRE(j["a"].size() == 2);
  CHECK(array_equal(j["a"][0]["a"][0], eye(3)));
  CHECK(j["a"][0]["b"][0].shape() == shape_t{3, 2});
  CHECK(array_equal(j["b"][0]["b"][0], eye(2)));
  const auto pairs = [](const ndarray& a) { return std::array<std::optional<ndarray>, 2>{a * 2.0, std::nullopt}; };
  const auto of_pairs = jacfwd(pairs)(x);
  CHECK(array_equal(*of_pairs[0], 2 * eye(3)));
  CHECK(!of_pairs[1]);
  const auto per_example = vmap(jacobian(f, argnums<0, 1>), {.in_axes = {0, _}})(numbers({4, 3}), y);
  CHECK(std::get<0>(std::get<1>(per_example)).shape() == shape_t{4, 2, 3});
}

TEST_CASE("hessians of structures and of several arguments; aux is handed through") {
  const ndarray x = numbers({3}), y = numbers({2}, 0.2, 1, 5);
  const auto energy = [](const point& p) { return sum(outer(p.place, p.mass)) * sum(p.place); };
  const std::vector<point> h = hessian(energy)(point{x, y});
  REQUIRE(h.size() == 2);
  CHECK(allclose(h[0].place, full({3, 3}, 2 * sum(y))));
  CHECK(allclose(h[0].mass, full({3, 2}, 2 * sum(x))));
  CHECK(allclose(h[1].place, h[0].mass.T()));
  CHECK(array_equal(h[1].mass, zeros({2, 2})));
  const auto of_two = [&](const ndarray& a, const ndarray& b) { return energy(point{a, b}); };
  const auto [by_x, by_y] = hessian(of_two, argnums<0, 1>)(x, y);
  CHECK(allclose(std::get<1>(by_x), h[0].mass));
  CHECK(allclose(std::get<0>(by_y), h[1].place));
  CHECK(allclose(hessian(of_two, argnums<0>)(x, y), h[0].place));

  const auto [square_of, text] = jacobian([](const ndarray& a) { return std::pair(a * a, std::string("aux")); })(x);
  CHECK(allclose(square_of, diag(2 * x)));
  CHECK(text == "aux");
  const auto [second, number] = hessian([&](const point& p) { return std::pair(energy(p), 7); })(point{x, y});
  CHECK(allclose(second[0].place, h[0].place));
  CHECK(number == 7);
}

TEST_CASE("jacobians refuse values without derivatives, and numbers of arguments as a list") {
  const auto counts = [](const ndarray& a) { return std::tuple(a * 2.0, astype(a, int64)); };
  const std::string text = sinter_test::message_of<dtype_error>([&] { jacobian(counts)(numbers({3})); });
  CHECK(text.find("the function's value 2 has dtype int64") != std::string::npos);
  sinter_test::refuses<value_error>([&] { jacobian(counts, {.argnums = {0}})(numbers({3})); }, "argnums<...>");
}
