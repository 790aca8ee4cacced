// Rules of matrix products: which views go in without a copy, where results go, what is recorded, dtypes, errors.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/hooks.hpp"
#include "runtime/parallel.hpp"
#include "sinter/sinter.hpp"
#include "support/message_of.hpp"
#include "support/products_library.hpp"

namespace {

using sinter::test::whole;
using sinter_test::message_of;
using namespace sinter;
using namespace sinter::idx;
using sinter::test::no_products;
using row = std::vector<double>;

row numbers(const ndarray& x) { return x.astype(float64).to_vector<double>(); }
bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

runtime::backend& current() {
  const device d = default_device();
  return runtime::get_backend(
      {d.kind == device_kind::cuda ? runtime::device_kind::cuda : runtime::device_kind::cpu, d.index});
}

/// How many blocks of memory the call takes.
template <class F>
std::uint64_t allocations_of(F&& call) {
  const auto before = current().statistics().allocations;
  call();
  return current().statistics().allocations - before;
}

/// a b by the library's own kernels for int64.
ndarray exact_product(const ndarray& a, const ndarray& b) { return matmul(a.astype(int64), b.astype(int64)); }

bool same(const ndarray& x, const ndarray& y) {
  return x.shape() == y.shape() && bool(all(x.astype(float64) == y.astype(float64)));
}

}  // namespace

TEST_CASE("products of every size equal the sums of a plain loop") {
  if (no_products()) return;
  for (const shape_t& s : {shape_t{1, 1, 1},
                           {2, 3, 2},
                           {31, 32, 33},
                           {129, 257, 300},
                           {1000, 3, 7},
                           {3, 1000, 1000},
                           {300, 2, 1},
                           {64, 64, 64}}) {
    const std::int64_t m = s[0], k = s[1], n = s[2];
    const ndarray a = whole({m, k}, int64), b = whole({k, n}, int64, 1);
    const auto x = a.to_vector<std::int64_t>(), y = b.to_vector<std::int64_t>();
    std::vector<std::int64_t> sums(static_cast<std::size_t>(m * n));
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t l = 0; l < k; ++l)
        for (std::int64_t j = 0; j < n; ++j)
          sums[static_cast<std::size_t>(i * n + j)] +=
              x[static_cast<std::size_t>(i * k + l)] * y[static_cast<std::size_t>(l * n + j)];
    CHECK(matmul(a, b).to_vector<std::int64_t>() == sums);
    for (const dtype t : {float32, float64, complex64, complex128, int32}) {
      const ndarray c = matmul(a.astype(t), b.astype(t));
      CHECK(c.dtype() == t);
      CHECK(real(c).astype(int64).to_vector<std::int64_t>() == sums);
    }
  }
}

TEST_CASE("views that BLAS can express go in without a copy") {
  if (no_products()) return;
  for (const dtype t : {float32, float64, complex64, complex128}) {
    const ndarray a = whole({6, 8}, t), b = whole({8, 6}, t, 1), stack = whole({3, 6, 8}, t, 2);
    const ndarray wide = whole({12, 20}, t, 3);
    const auto costs_one = [&](const ndarray& x, const ndarray& y) {
      ndarray c;
      CHECK(allocations_of([&] { eval(c = matmul(x, y)); }) == 1);
      CHECK(same(real(c), exact_product(real(x), real(y))));
    };
    matmul(a, b);  // whatever the first product needs
    costs_one(a, b);
    costs_one(a.T(), b.T());
    costs_one(a, a.T());
    costs_one(b.T(), b);
    costs_one(wide["2:8, 3:11"], b);
    costs_one(wide["2:8, 3:11"].T(), b.T());
    costs_one(wide["::2, :8"], b);  // rows with gaps: a longer leading dimension
    costs_one(wide["::2, :8"].T(), wide["::2, 1:4"]);
    costs_one(stack, b);  // one product of 18 rows
    costs_one(stack.mT(), a);
    costs_one(stack, stack.mT());
    costs_one(stack["::2"], b);
    costs_one(broadcast_to(a, {5, 6, 8}), b);
    costs_one(broadcast_to(a, {3, 6, 8}), stack.mT());
    costs_one(stack(_, newaxis), stack(newaxis).mT());
    costs_one(transpose(stack, axes{1, 0, 2}), b);  // the batch lies inside the rows
  }
}

TEST_CASE("other views are copied once, and only what they show") {
  if (no_products()) return;
  const ndarray wide = whole({12, 20}, float32), b = whole({8, 5}, float32, 1);
  for (const ndarray& x : {ndarray(wide["::2, :16:2"]), ndarray(wide["::-1, :8"]), ndarray(wide[":6, 7::-1"]),
                           ndarray(broadcast_to(wide(0, slice(8)), {4, 8}))}) {
    ndarray c;
    // On a GPU a product of so few numbers is a kernel, which reads them where they lie.
    CHECK(allocations_of([&] { eval(c = matmul(x, b)); }) == (zeros(1).device() == device(cpu) ? 2 : 1));
    CHECK(same(c, exact_product(x, b)));
  }
  // Of a matrix that repeats, one copy is made.
  const ndarray repeated = broadcast_to(wide["::-1, :8"], {1000, 12, 8});
  const auto used = current().memory().used;
  const ndarray c = matmul(repeated, b);
  CHECK(current().memory().used - used < 1000 * 12 * 5 * 4 + 100000);
  CHECK(same(c(999), exact_product(wide["::-1, :8"], b)));
}

TEST_CASE("integers, bools and 16-bit floats are read through any strides") {
  if (no_products()) return;
  const ndarray wide = whole({12, 20}, int8);
  for (const dtype t : {bool_, int8, int16, uint32, int64, float16, bfloat16}) {
    if (default_device().kind == device_kind::cuda && is_inexact(t)) continue;  // there they are BLAS's
    const ndarray x = wide.astype(t), b = whole({8, 5}, t, 1);
    eval(x);
    for (const ndarray& v : {ndarray(x["::2, :16:2"]), ndarray(x["::-1, :8"]), ndarray(x[":8"].T()(slice(4), _))}) {
      const ndarray y = whole({v.shape(1), 5}, t, 1);
      ndarray c;
      CHECK(allocations_of([&] { c = matmul(v, y); }) == 1);
      CHECK(c.dtype() == t);
      CHECK(same(c, is_bool(t) ? any(logical_and(expand_dims(v, 2), y), 1) : exact_product(v, y).astype(t)));
    }
  }
}

TEST_CASE("integer products wrap around, bool products are any of ands") {
  if (no_products()) return;
  const ndarray x = full({3, 40}, 100, {.dtype = int8}), y = full({40, 2}, 100, {.dtype = int8});
  CHECK(numbers(matmul(x, y)) == row(6, -128.0));  // 400000 mod 256 = 128
  CHECK(matmul(x, y).dtype() == int8);
  const ndarray large = full({2, 2}, std::int64_t{1} << 62, {.dtype = int64});
  CHECK(matmul(large, full({2, 2}, 2, {.dtype = int64})).to_vector<std::int64_t>() == std::vector<std::int64_t>(4, 0));
  CHECK(matmul(full({2, 3}, true), full({3, 2}, true)).dtype() == bool_);
  CHECK(numbers(matmul(full({2, 300}, true), full({300, 2}, true))) == row(4, 1.0));
}

TEST_CASE("16-bit floats are summed in float32 and rounded once") {
  if (no_products()) return;
  // In 16 bits the sum would stop growing at 2048 (256 for bfloat16).
  for (const dtype t : {float16, bfloat16})
    for (const shape_t& s : {shape_t{2, 2}, shape_t{1, 2}, shape_t{2, 1}}) {
      const ndarray c = matmul(ones({s[0], 4096}, t), ones({4096, s[1]}, t));
      CHECK(c.dtype() == t);
      CHECK(numbers(c) == row(static_cast<std::size_t>(s[0] * s[1]), 4096.0));
    }
  const ndarray a = whole({33, 300}, float32), b = whole({300, 65}, float32, 1);
  CHECK(same(matmul(a.astype(bfloat16), b.astype(bfloat16)), matmul(a, b).astype(bfloat16)));
  CHECK(same(matmul(a.astype(float16), b.astype(float16)), matmul(a, b).astype(float16)));
}

TEST_CASE("NaN and infinity spread as in a plain loop, and a sum over nothing is 0") {
  if (no_products()) return;
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const ndarray a = array({{1.0, inf}, {nan, 2.0}}), b = array({{0.0, 1.0}, {0.0, 1.0}});
  const auto c = matmul(a, b).to_vector<double>();
  CHECK(std::isnan(c[0]));  // infinity times 0
  CHECK(c[1] == inf);
  CHECK(std::isnan(c[2]));
  CHECK(std::isnan(c[3]));
  CHECK(numbers(matmul(zeros({2, 0}), zeros({0, 3}))) == row(6, 0.0));
  CHECK(matmul(zeros({2, 0}, int8), zeros({0, 3}, int8)).dtype() == int8);
  CHECK(matmul(zeros({0, 3}), zeros({3, 4})).shape() == shape_t{0, 4});
  CHECK(matmul(zeros({5, 0, 3}), zeros({3, 4})).shape() == shape_t{5, 0, 4});
}

TEST_CASE("operands that are pending are evaluated once; their arrays stay what they are") {
  if (no_products()) return;
  const ndarray a = whole({4, 5}, float64), b = whole({5, 4}, float64, 1);
  const ndarray x = a + 1, y = b * 2;
  const ndarray c = matmul(x, y);
  CHECK(same(c, exact_product(a + 1, b * 2)));
  CHECK(same(x, a + 1));
  ndarray z = a.copy();
  const ndarray before = matmul(z, b);
  z += 1;
  CHECK(same(before, exact_product(a, b)));
  CHECK(same(matmul(z, b), exact_product(a + 1, b)));
}

TEST_CASE("elementwise work on a product is one kernel after it") {
  if (no_products()) return;
  const ndarray a = whole({40, 50}, float32), b = whole({50, 30}, float32, 1), bias = whole({30}, float32, 2);
  const ndarray c = maximum(matmul(a, b) * 2 + bias, 0);
  const auto before = current().statistics().launches;
  eval(c);
  CHECK(current().statistics().launches - before == 1);
  CHECK(same(c, maximum(exact_product(a, b) * 2 + bias.astype(int64), 0)));
}

TEST_CASE("products with a vector are recorded, and fuse with what is around them") {
  const ndarray a = whole({40, 50}, float32), x = whole({50}, float32, 1);
  const auto before = current().statistics().launches;
  const ndarray y = 3 * matmul(a + 1, x) + 1;
  CHECK(current().statistics().launches == before);
  eval(y);
  CHECK(current().statistics().launches - before == 1);
  CHECK(same(y, 3 * sum((a.astype(int64) + 1) * x.astype(int64), 1) + 1));
  for (const ndarray& m : {a, ndarray(whole({50, 40}, float32).T()), ndarray(whole({40, 100}, float32)["::-1, ::2"])}) {
    CHECK(same(matmul(m, x), sum(m * x, 1)));
    CHECK(same(matmul(x, m.T()), sum(m * x, 1)));
    CHECK(same(matmul(m, x(_, newaxis)), sum(m * x, 1, {.keepdims = true})));
  }
}

TEST_CASE("out: BLAS writes straight into it, transposed and sliced too") {
  if (no_products()) return;
  const ndarray a = whole({6, 8}, float64), b = whole({8, 7}, float64, 1), expected = exact_product(a, b);
  const ndarray c = whole({6, 7}, float64), transposed = whole({7, 6}, float64), wide = whole({10, 20}, float64);
  const auto direct = [&](const ndarray& to) {
    CHECK(allocations_of([&] { matmul(a, b, {.out = to}); }) == 0);
    CHECK(same(to, expected));
  };
  direct(c);
  direct(transposed.T());
  const row around = numbers(wide);
  direct(wide["2:8, 3:10"]);
  CHECK(numbers(wide)[0] == around[0]);
  CHECK(numbers(wide)[2 * 20 + 2] == around[2 * 20 + 2]);
  CHECK(numbers(wide)[8 * 20 + 3] == around[8 * 20 + 3]);
  const ndarray stack = whole({3, 6, 7}, float64);
  CHECK(allocations_of([&] { matmul(broadcast_to(a, {3, 6, 8}), b, {.out = stack}); }) == 0);
  CHECK(same(stack(2), expected));
}

TEST_CASE("out: handles of the old elements keep them") {
  if (no_products()) return;
  const ndarray a = whole({6, 8}, float64), b = whole({8, 7}, float64, 1), expected = exact_product(a, b);
  const ndarray c = whole({6, 7}, float64, 5);
  const row old = numbers(c);
  const ndarray copy = c.copy(), reader = c + 0;
  const ndarray back = matmul(a, b, {.out = c});
  CHECK(same(back, expected));
  CHECK(numbers(copy) == old);
  CHECK(numbers(reader) == old);
  ndarray pending = zeros({6, 7});
  const ndarray view = pending["1:3"];
  matmul(a, b, {.out = pending});
  CHECK(same(view, expected["1:3"]));
  double* const address = c.data<double>();
  matmul(a, b + 1, {.out = c});
  CHECK(c.data<double>() == address);
  CHECK(same(c, exact_product(a, b + 1)));
}

TEST_CASE("out may be an operand, or a part of one") {
  if (no_products()) return;
  const ndarray a = whole({5, 5}, float32), b = whole({5, 5}, float32, 1), expected = exact_product(a, b);
  ndarray x = a.copy(), y = b.copy(), both = whole({10, 5}, float32, 2);
  matmul(x, b, {.out = x});
  CHECK(same(x, expected));
  matmul(a, y, {.out = y.T()});
  CHECK(same(y.T(), expected));
  const ndarray wanted = exact_product(both["5:"], both["2:7"]);
  matmul(both["5:"], both["2:7"], {.out = both[":5"]});
  CHECK(same(both[":5"], wanted));
  x.data<float>();  // from now on its writes are in place
  matmul(x, x, {.out = x});
  CHECK(same(x, exact_product(expected, expected)));
}

TEST_CASE("out takes what same_kind casting allows, and its shape must be the result's") {
  if (no_products()) return;
  const ndarray a = whole({2, 3}, float64), b = whole({3, 2}, float64, 1);
  const ndarray narrow = zeros({2, 2}, float32), wide = zeros({2, 2}, complex128);
  CHECK(same(matmul(a, b, {.out = narrow}), exact_product(a, b)));
  CHECK(matmul(a, b, {.out = narrow}).dtype() == float32);
  CHECK(same(real(matmul(a, b, {.out = wide})), exact_product(a, b)));
  const ndarray x = whole({3}, float64, 2), to = zeros({2});
  CHECK(same(matmul(a, x, {.out = to}), sum(a * x, 1)));
  CHECK(holds(message_of<dtype_error>([&] {
                matmul(a, b, {.out = zeros({2, 2}, int32)});
              }),
              "cannot cast the result from float64 to int32 (casting rule same_kind)"));
  CHECK(holds(message_of<shape_error>([&] {
                matmul(a, b, {.out = zeros({2, 3})});
              }),
              "[matmul] out has shape (2, 3), but the result has shape (2, 2)"));
  CHECK(holds(message_of<value_error>([&] { matmul(a, b, {.out = broadcast_to(zeros({2}), {2, 2})}); }), "read-only"));
}

TEST_CASE("a product may be scaled, get a bias and be activated, whatever its factors") {
  if (no_products()) return;
  const ndarray a = whole({6, 8}, float64), b = whole({8, 5}, float64, 1), bias = whole({5}, float64, 2);
  const ndarray plain = exact_product(a, b).astype(float64), stack = whole({3, 6, 8}, float64, 3);
  CHECK(same(matmul(a, b, {.scale = 0.5}), plain * 0.5));
  CHECK(same(matmul(a, b, {.bias = bias}), plain + bias));
  CHECK(same(matmul(a, b, {.activation = activation::relu}), maximum(plain, 0)));
  CHECK(same(matmul(a, b, {.scale = 2, .bias = bias, .activation = activation::relu}), maximum(2 * plain + bias, 0)));
  CHECK(same(matmul(stack, b, {.bias = bias}), exact_product(stack, b).astype(float64) + bias));
  CHECK(same(matmul(a.astype(int32), b, {.bias = bias.astype(float32)}), plain + bias));
  CHECK(same(matmul(a, b(_, 0), {.scale = 3}), 3 * plain(_, 0)));
  CHECK(same(matmul(a(0), b, {.bias = bias}), plain(0) + bias));
  CHECK(same(matmul(a, b(_, slice(1)), {.bias = bias(slice(1))}), plain(_, slice(1)) + bias(0)));
  CHECK(same(matmul(zeros({2, 0}), zeros({0, 5}), {.bias = bias}), broadcast_to(bias, {2, 5})));
  const ndarray to = zeros({6, 5}, float32);
  CHECK(same(matmul(a, b, {.out = to, .bias = bias}), plain + bias));
  CHECK(same(to, plain + bias));
  const ndarray z = plain / 64, curve = matmul(a / 64, b, {.activation = activation::gelu});
  const ndarray expected = 0.5 * z * (1 + tanh(std::sqrt(2 / 3.14159265358979323846) * (z + 0.044715 * power(z, 3))));
  CHECK(bool(all(abs(curve - expected) < 1e-14)));
  for (const dtype t : {float16, bfloat16, float32}) {
    const ndarray c = matmul(a.astype(t), b.astype(t), {.bias = bias.astype(t), .activation = activation::relu});
    CHECK(c.dtype() == t);
    CHECK(same(c, maximum(plain + bias, 0)));
  }
}

TEST_CASE("what may follow a product is checked") {
  const ndarray a = zeros({2, 3}), b = zeros({3, 4});
  CHECK(holds(message_of<shape_error>([&] { matmul(a, b, {.bias = zeros({3})}); }),
              "[matmul] bias has shape (3,), but there are 4 columns"));
  CHECK(holds(message_of<shape_error>([&] { matmul(a, b, {.bias = zeros({1, 4})}); }), "but there are 4 columns"));
  CHECK(holds(message_of<dtype_error>([&] { matmul(a.astype(int32), b.astype(int32), {.scale = 2}); }),
              "scale, bias and activation take real floating dtypes, not int32"));
  CHECK(holds(message_of<dtype_error>([&] { matmul(a, b, {.bias = zeros({4}, complex128)}); }),
              "cannot cast the bias from complex128 to float64"));
}

TEST_CASE("the dtype keyword converts operands, as same_kind casting allows") {
  if (no_products()) return;
  const ndarray a = whole({2, 3}, int16), b = whole({3, 2}, int16, 1);
  CHECK(matmul(a, b, {.dtype = float32}).dtype() == float32);
  CHECK(same(matmul(a, b, {.dtype = int64}), exact_product(a, b)));
  CHECK(holds(message_of<dtype_error>([&] { matmul(a.astype(float32), b, {.dtype = int64}); }),
              "[matmul] cannot cast an operand from float32 to int64 (casting rule same_kind)"));
}

TEST_CASE("errors have NumPy's words") {
  const auto said = [](auto&& call) { return message_of<shape_error>(call); };
  CHECK(said([] {
          matmul(zeros({2, 3}), zeros({4, 5}));
        }) ==
        "[matmul] input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) "
        "(size 4 is different from 3): shapes (2, 3) and (4, 5)");
  CHECK(said([] {
          matmul(zeros({}), zeros({4, 5}));
        }) ==
        "[matmul] input operand 0 does not have enough dimensions (has 0, gufunc core with signature "
        "(n?,k),(k,m?)->(n?,m?) requires 1)");
  CHECK(said([] {
          matmul(zeros({2, 3, 4}), zeros({3, 4, 5}));
        }) ==
        "[matmul] operands could not be broadcast together: shapes (2, 3, 4) and (3, 4, 5) with gufunc signature "
        "(n?,k),(k,m?)->(n?,m?)");
  CHECK(said([] {
          dot(zeros({2, 3}), zeros({4, 5}));
        }) == "[dot] shapes (2, 3) and (4, 5) not aligned: 3 (dim 1) != 4 (dim 0)");
  CHECK(said([] {
          inner(zeros({2, 3}), zeros({4, 5}));
        }) == "[inner] shapes (2, 3) and (4, 5) not aligned: 3 (dim 1) != 5 (dim 1)");
  CHECK(holds(said([] {
                tensordot(zeros({2, 3}), zeros({4, 5}), axes{0}, axes{1});
              }),
              "[tensordot] shape-mismatch for sum"));
  CHECK(holds(said([] { vecdot(zeros({3}), zeros({4})); }),
              "[vecdot] input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n),(n)->()"));
  CHECK(holds(said([] { matvec(zeros({2, 3}), zeros({4})); }), "(m,n),(n)->(m) (size 4 is different from 3)"));
  CHECK(holds(said([] { vecmat(zeros({4}), zeros({3, 2})); }), "(n),(n,m)->(m) (size 3 is different from 4)"));
  CHECK(holds(message_of<value_error>([] { vdot(zeros({3}), zeros({4})); }), "vectors have different lengths"));
  CHECK_THROWS_AS(tensordot(zeros({2}), zeros({2}), 2), value_error);
  CHECK_THROWS_AS(tensordot(zeros({2, 2}), zeros({2, 2}), axes{0, 0}, axes{0, 1}), index_error);
  CHECK_THROWS_AS(matmul(ndarray(), zeros({2, 2})), value_error);
}

TEST_CASE("multi_dot multiplies in the cheapest order, matrix_power by squaring; errors are linalg_error") {
  if (no_products()) return;
  const ndarray a = whole({2, 60}, float64), b = whole({60, 3}, float64, 1), c = whole({3, 50}, float64, 2);
  CHECK(same(linalg::multi_dot({a, b, c}), exact_product(exact_product(a, b), c)));
  const ndarray to = zeros({2, 50});
  CHECK(same(linalg::multi_dot({a, b, c}, {.out = to}), to));
  const ndarray first = whole({60}, float64, 3), column = whole({50}, float64, 4);
  CHECK(linalg::multi_dot({first, b, c, column}).shape() == shape_t{});
  CHECK(same(linalg::multi_dot({first, b, c, column}), matmul(matmul(matmul(first, b), c), column)));
  CHECK(holds(message_of<linalg_error>([&] {
                linalg::multi_dot({a, zeros({2, 2, 2}), c});
              }),
              "3-dimensional array given as factor 1; it must be two-dimensional"));
  CHECK(holds(message_of<shape_error>([&] { linalg::multi_dot({a, c, b}); }), "not aligned: 60 (dim 1) != 3 (dim 0)"));
  CHECK_THROWS_AS(linalg::multi_dot({a}), value_error);

  ndarray fibonacci = array({{1, 1}, {1, 0}});
  CHECK(numbers(linalg::matrix_power(fibonacci, 30)) == row{1346269, 832040, 832040, 514229});
  CHECK(numbers(linalg::matrix_power(fibonacci, 0)) == row{1, 0, 0, 1});
  ndarray once = linalg::matrix_power(fibonacci, 1);
  once(0, 0) = 5;
  CHECK(numbers(fibonacci) == row{1, 1, 1, 0});
  CHECK(linalg::matrix_power(zeros({4, 0, 0}), 3).shape() == shape_t{4, 0, 0});
  CHECK(holds(message_of<linalg_error>([] { linalg::matrix_power(zeros({2, 3}), 2); }), "must be square, not (2, 3)"));
  CHECK(holds(message_of<linalg_error>([] { linalg::matrix_power(zeros({3}), 2); }), "at least two-dimensional"));
}

TEST_CASE("results do not depend on the number of threads where they are exact, and many threads may multiply") {
  if (no_products()) return;
  const ndarray a = whole({130, 70}, float32), b = whole({70, 90}, float32, 1), stack = whole({40, 9, 70}, float32, 2);
  const ndarray expected = exact_product(a, b), stacked = exact_product(stack, b);
  eval(expected, stacked);
  for (const int threads : {1, 2, 3, 7}) {
    runtime::set_thread_count(threads);
    CHECK(same(matmul(a, b), expected));
    CHECK(same(matmul(stack, broadcast_to(b, {40, 70, 90}).copy()), stacked));
    CHECK(same(matmul(a.astype(float16), b.astype(float16)), expected.astype(float16)));
    CHECK(same(matmul(a.astype(int16), b.astype(int16)), expected));
  }
  runtime::set_thread_count(0);
  std::vector<std::thread> threads;
  std::vector<int> right(4);
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (int n = 0; n < 20; ++n)
        right[static_cast<std::size_t>(k)] += same(matmul(a + k, b), exact_product(a + k, b));
    });
  for (auto& t : threads) t.join();
  CHECK(right == std::vector<int>(4, 20));
}
