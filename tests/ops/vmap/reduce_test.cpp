// Reductions of one example, for all of them: in the order of additions of each.
#include "ops/vmap/beside_loop.hpp"

using namespace vmap_test;
using sinter::idx::_;

namespace {

void check_all_reductions(const ndarray& x, const axes& axis) {
  const auto with = [&](auto f) { return [=](const ndarray& a) { return f(a, reduce_kw{.axis = axis}); }; };
  check_bits(with([](const ndarray& a, const reduce_kw& kw) { return sum(a, kw); }), x);
  check_bits(with([](const ndarray& a, const reduce_kw& kw) { return prod(a, kw); }), x);
  check_bits(with([](const ndarray& a, const reduce_kw& kw) { return mean(a, kw); }), x);
  check_bits(with([](const ndarray& a, const reduce_kw& kw) { return min(a, kw); }), x);
  check_bits(with([](const ndarray& a, const reduce_kw& kw) { return max(a, kw) + sum(a, kw); }), x);
  check_bits(with([](const ndarray& a, const reduce_kw& kw) { return any(a > 1, kw); }), x);
  check_bits(with([](const ndarray& a, const reduce_kw& kw) { return all(a > -3, kw); }), x);
  check_bits(with([](const ndarray& a, const reduce_kw& kw) { return count_nonzero(a > 0, kw); }), x);
  check_bits([&](const ndarray& a) { return var(a, var_kw{.axis = axis}); }, x);
  if (axis.size() == 1) {
    check_bits(with([](const ndarray& a, const reduce_kw& kw) { return argmin(a, kw); }), x);
    check_bits(with([](const ndarray& a, const reduce_kw& kw) { return argmax(a, kw); }), x);
  }
}

}  // namespace

TEST_CASE("vmap: reductions have the bits of a loop") {
  for (const dtype t : {float32, float64}) {
    check_all_reductions(numbers({6, 5, 7}, t), 0);
    check_all_reductions(numbers({6, 5, 7}, t), 1);
    check_all_reductions(numbers({6, 5, 7}, t), axes{});
    check_all_reductions(numbers({6, 2, 5, 3}, t), axes{0, 2});
    check_all_reductions(numbers({6, 9}, t), 0);
  }
}

// Where the number of results decides how many lanes and splits a sum has.
TEST_CASE("vmap: sums of many examples are added as those of one") {
  const auto sums = [](const ndarray& a) { return sum(a); };
  const auto columns = [](const ndarray& a) { return sum(a, 0); };
  check_bits(sums, numbers({1100, 300}, float32));  // 256 lanes, not 32
  check_bits(sums, numbers({3, 40000}, float32));   // splits
  check_bits(sums, numbers({3, 20, 1000}, float64));
  check_bits(columns, numbers({40, 200, 3}, float32));
  check_bits(columns, numbers({7, 3000, 2}, float64));
  check_bits(columns, numbers({5, 9000, 1}, float32));
  check_bits([](const ndarray& a) { return sum(square(a - mean(a))); }, numbers({1030, 280}, float32));
  check_bits([](const ndarray& a) { return max(a) + sum(a) * min(a); }, numbers({1030, 280}, float32));
  check_bits([](const ndarray& a) { return exp(a - max(a)) / sum(exp(a - max(a))); }, numbers({1030, 260}, float32));
  check_bits([](const ndarray& a) { return sum(a, 1); }, numbers({300, 4, 270}, float32));
  check_bits([](const ndarray& a) { return sum(a); }, numbers({20, 500}, complex64));
}

TEST_CASE("vmap: nested sums are added as those of one") {
  const ndarray x = numbers({40, 30, 300}, float32);
  const auto f = vmap([](const ndarray& a) { return sum(a); });
  CHECK(same_bits(vmap(f)(x), in_turn(f, x)));
  const ndarray one = in_turn([](const ndarray& a) { return in_turn([](const ndarray& b) { return sum(b); }, a); }, x);
  CHECK(same_bits(vmap(f)(x), one));
}

TEST_CASE("vmap: reductions of pairs store nothing of their size") {
  const ndarray p = numbers({300, 3}, float32), q = numbers({500, 3}, float32, 2);
  const auto nearest = [&](const ndarray& a) { return argmin(sum(square(q - a), 1)); };
  const ndarray i = vmap(nearest)(p);
  CHECK(same_bits(i, in_turn(nearest, p)));
}

TEST_CASE("vmap: users' functions and reductions") {
  const function f("T f(T x, T y)", "return x * x - 3 * y;");
  const ndarray x = numbers({4, 5}), y = numbers({4, 5}, float64, 3);
  check_bits([&](const ndarray& a, const ndarray& b) { return f(a, b) + 1; }, x, y);
  check_bits([&](const ndarray& a) { return f(a, a(0)); }, x);
  elementwise_kernel two("T x, raw T w", "T a, T b", "a = x + w[0]; b = x * (T)i + (T)n;", "two_of_one");
  check_bits([&](const ndarray& a) { return two.outputs<2>(a, y(0).copy())[1]; }, x);
  check_bits(
      [&](const ndarray& a, const ndarray& b) {
        const auto r = two.outputs<2>(a, b);
        return r[0] * r[1];
      },
      x, y);
  reduction_kernel largest("T x", "T y", "fabs(x)", "a > b ? a : b", "y = a", "0", "largest_of");
  check_bits([&](const ndarray& a) { return largest(a); }, x);
}
