// Products of small matrices in loops: with few terms they are parts of one kernel, else steps that are run again, with the
// bits of steps that are called.
#include <vector>

#include "ops/vmap/beside_loop.hpp"
#include "runtime/backend.hpp"
#include "sinter/linalg.hpp"
#include "sinter/loops.hpp"

using namespace vmap_test;
using namespace sinter::idx;

namespace {

using many = std::vector<ndarray>;

bool on_host() { return zeros(1).device() == device(cpu); }
std::uint64_t launches() { return runtime::get_backend({}).statistics().launches; }

ndarray rows(const shape_t& shape, dtype t = float64) {
  ndarray x = (numbers(shape) * 0.25).astype(t);
  if (is_integer(t)) x = (numbers(shape) * 7).astype(t);
  eval(x);
  return x;
}

/// `kernels`: so many launches do all steps at most, and the products of the two steps that are watched; 0: more are taken.
template <class F>
void check(F f, many init, const ndarray& xs, int kernels = 1) {
  for (ndarray& a : init) a = a.copy(), eval(a);
  const std::uint64_t before = launches();
  const auto a = scan(f, init, xs);
  const std::uint64_t took = launches() - before;
  if (on_host() && kernels > 0) CHECK(took <= static_cast<std::uint64_t>(kernels));
  const auto b = scan(f, init, xs, {.call_each = true});
  for (std::size_t k = 0; k < a.first.size(); ++k) CHECK(same_bits(a.first[k], b.first[k]));
  for (std::size_t k = 0; k < a.second.size(); ++k) CHECK(same_bits(a.second[k], b.second[k]));
}

constexpr int watched = 8;  // launches of the watched steps, whose products run at once, at most

}  // namespace

TEST_CASE("loops with products: every number of terms, on either side") {
  for (const dtype t : {float64, float32, int32, int64, uint8})
    for (const std::int64_t n : {1, 2, 3, 4}) {
      CAPTURE(t);
      CAPTURE(n);
      const ndarray w = rows({n, n}, t), u = rows({n, n}, t).T();
      check(
          [&](const many& c, const ndarray& e) {
            const ndarray next = matmul(w, c[0]) + e;
            return std::pair(many{next}, many{matmul(next, u)});
          },
          {rows({n, n}, t)}, rows({40, n}, t), watched);
    }
  for (const std::int64_t terms : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16}) {  // of a state with other shapes than the product
    CAPTURE(terms);
    const ndarray w = rows({3, terms}), u = rows({terms, 3});
    check(
        [&](const many& c, const ndarray& e) {
          const ndarray wide = matmul(c[0], w) + e;
          return std::pair(many{matmul(wide, u) * 0.1}, many{wide(0, 0)});
        },
        {rows({2, 3})}, rows({20}), 0);
  }
}

TEST_CASE("loops with products: many points with one matrix, and stacks of matrices") {
  const ndarray m = rows({3, 3}), s = rows({50, 2, 2});
  check([&](const many& c, const ndarray& e) { return std::pair(many{matmul(c[0], m) * 0.5 + e}, many{}); },
        {rows({500, 3})}, rows({20}), watched);
  check([&](const many& c, const ndarray& e) { return std::pair(many{matmul(s, c[0]) * 0.5 + e}, many{c[0]}); },
        {rows({50, 2, 2})}, rows({20}), watched);
  check(
      [&](const many& c, const ndarray& e) { return std::pair(many{matmul(c[0], m(0) + c[0](0)) * 0.5 + e}, many{}); },
      {rows({7, 3, 3})}, rows({20}), 0);
  check(  // broadcast before the last two axes
      [&](const many& c, const ndarray& e) {
        return std::pair(many{matmul(c[0], c[1]) * 0.5 + e, c[1]}, many{});
      },
      {rows({4, 5, 2, 2}), rows({5, 2, 2})}, rows({20}), watched);
}

TEST_CASE("loops with products: a Kalman filter is one kernel") {
  const ndarray f = rows({2, 2}), h = rows({1, 2}), q = eye(2) * 0.1;
  check(
      [&](const many& c, const ndarray& z) {
        const ndarray x = matmul(f, c[0]), p = matmul(matmul(f, c[1]), f.T()) + q;
        const ndarray y = z - matmul(h, x), s = matmul(matmul(h, p), h.T()) + 0.3, k = matmul(p, h.T()) / s;
        return std::pair(many{x + matmul(k, y), matmul(eye(2) - matmul(k, h), p)}, many{x, s});
      },
      {zeros(2), eye(2)}, rows({100, 1}), 2 * watched);
}

TEST_CASE("loops with products: what is at the edge of few, and other dtypes") {
  for (const std::int64_t n : {5, 8, 9}) {
    CAPTURE(n);
    const ndarray w = rows({n, n});
    check([&](const many& c, const ndarray& e) { return std::pair(many{matmul(w, c[0]) * 0.3 + e}, many{c[0]}); },
          {rows({n, n})}, rows({30}), 0);
  }
  for (const dtype t : {complex128, complex64, float16, bfloat16, bool_}) {
    CAPTURE(t);
    const ndarray w = is_complex(t) ? rows({2, 2}).astype(t) : numbers({2, 2}, t);
    check([&](const many& c, const ndarray&) { return std::pair(many{matmul(w, c[0])}, many{c[0]}); }, {w}, rows({20}),
          0);
  }
}

TEST_CASE("loops with products: numbers that are not, zeros of either sign, and constants that are equal") {
  ndarray w = zeros({2, 2});
  w(0, 0) = -0.0;
  w(1, 1) = -1.0;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double first : {0.0, -0.0, 1.0, infinity, std::nan("")}) {
    CAPTURE(first);
    const ndarray v = full({2, 2}, first);
    check(
        [&](const many& c, const ndarray& e) {
          return std::pair(many{matmul(w, c[0]) * e, c[0]}, many{c[1]});
        },
        {v, v}, rows({20}), watched);
  }
  // The kernel does not depend on which numbers are equal.
  const auto run = [](const ndarray& m) {
    return fori_loop(
        0, 20, [&](const ndarray&, const ndarray& c) { return matmul(m, c) * 0.5; }, eye(2));
  };
  const ndarray different = rows({2, 2});
  CHECK(same_bits(run(ones({2, 2})), full({2, 2}, 0.5)));
  CHECK_FALSE(same_bits(run(different), run(different * 2)));
}

TEST_CASE("loops with sums over a state: hidden Markov models, power iteration, recurrent cells") {
  const ndarray a = rows({16, 16}), w = rows({48, 16}), u = rows({16, 48});
  check(
      [&](const many& c, const ndarray& e) {
        const ndarray all = c[0](_, newaxis) + a, top = max(all, {.axis = 0});
        return std::pair(many{top + e}, many{log(sum(exp(all - top), {.axis = 0})), argmax(all, 0)});
      },
      {zeros(16)}, rows({60, 16}), 0);
  check(
      [&](const many& c, const ndarray& e) {
        const ndarray y = matmul(a, c[0]) + e, n = y / sqrt(sum(y * y));
        return std::pair(many{n}, many{matmul(w, n), matmul(n, u), sum(n)});
      },
      {ones(16)}, rows({60, 16}), 0);
  check(  // larger than what keeps its memory
      [&](const many& c, const ndarray& e) {
        return std::pair(many{tanh(matmul(broadcast_to(a(0, 0), {100, 100}), c[0]) * 0.01 + e)}, many{sum(c[0])});
      },
      {ones(100)}, rows({20, 100}), 0);
}

// After some steps a matrix that stays as it is is read from a copy by columns.
TEST_CASE("loops with products: matrices and vectors of every length, in every layout") {
  for (const dtype t : {float64, float32})
    for (const std::int64_t n : {8, 9, 15, 16, 31, 33, 64, 100, 127}) {
      CAPTURE(t);
      CAPTURE(n);
      const ndarray square = rows({n, n}, t), wide = rows({n + 3, n}, t), parts = rows({n, 2 * n}, t)(_, slice(0, n));
      const ndarray columns = rows({n, n}, t).T();
      check(
          [&](const many& c, const ndarray& e) {
            const ndarray y = matmul(square, c[0]) * 0.01 + e, z = matmul(parts, c[0]), x = matmul(columns, c[0]);
            return std::pair(many{tanh(y)},
                             many{matmul(wide, c[0]), z, x, matmul(c[0], square), matmul(c[0], columns)});
          },
          {rows({n}, t)}, rows({50, n}, t), 0);
    }
}

TEST_CASE("loops with products: a matrix that the steps change is read anew") {
  check(
      [](const many& c, const ndarray& e) {
        const ndarray y = matmul(c[0], c[1]) * 0.1 + e;
        return std::pair(many{c[0] * 0.99 + 0.001, y}, many{sum(y)});
      },
      {rows({16, 16}), rows({16})}, rows({60, 16}), 0);
  const ndarray stack = rows({60, 16, 16});
  const ndarray a =
      scan([](const ndarray& c, const ndarray& m) { return std::pair(matmul(m, c) * 0.1 + 1.0, c); }, ones(16), stack)
          .second;
  const ndarray b = scan([](const ndarray& c, const ndarray& m) { return std::pair(matmul(m, c) * 0.1 + 1.0, c); },
                         ones(16), stack, {.call_each = true})
                        .second;
  CHECK(same_bits(a, b));
  ndarray w = rows({16, 16});  // between two loops
  const auto loop = [&](bool each) {
    return fori_loop(0, 60, [&](const ndarray&, const ndarray& c) { return matmul(w, c) * 0.1 + 1.0; }, ones(16),
                     {.call_each = each});
  };
  const ndarray before = loop(false);
  w += 1;
  CHECK(same_bits(loop(false), loop(true)));
  CHECK_FALSE(same_bits(loop(false), before));
}
