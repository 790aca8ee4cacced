// Operands that reductions read as copies: transposed ones on a GPU, gathered rows on the CPU. The plans, and the bits.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "backends/cpu/kernels/hooks.hpp"
#include "graph/values/limits.hpp"
#include "jit/program/launch.hpp"
#include "support/simulated_gpu.hpp"
#include "sinter/sinter.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;

const device host("cpu");

int kernels_of(const ndarray& x) {
  const std::string text = explain(x);
  int n = 0;
  for (std::size_t at = text.find("\nkernel "); at != std::string::npos; at = text.find("\nkernel ", at + 1)) ++n;
  return n;
}
bool packs(const ndarray& x) { return explain(x).find("packed") != std::string::npos; }

/// On the CPU, or from there: a simulated GPU reads no memory of a real one.
ndarray numbers(const shape_t& shape, const device& on) {
  std::int64_t n = 1;
  for (const std::int64_t e : shape) n *= e;
  const ndarray k = arange(n, {.dtype = int64, .device = host});
  return ((k * 7919 % 65537).astype(float32) / 997 - 30).reshape(shape).copy().to_device(on);
}

ndarray softmax(const ndarray& x) {
  const reduce_kw rows{.axis = -1, .keepdims = true};
  const ndarray e = exp(x - max(x, rows));
  return e / sum(e, rows);
}

/// Rows of any length stay on chip, as on a GPU, and separate kernels are those of no fusion.
struct all_rows_on_chip {
  all_rows_on_chip() { cpu::set_least_staged(0); }
  ~all_rows_on_chip() {
    cpu::set_least_staged(-1);
    graph::limits() = saved;
  }
  graph::planner_limits saved = graph::limits();
};
ndarray unfused(ndarray (*of)(const ndarray&), const ndarray& x) {
  graph::limits().fuse = false;
  const ndarray separate = of(x);
  eval(separate);
  graph::limits().fuse = true;
  return separate;
}

/// The bits of a reduction are those of the same reduction of a copy.
void check_bits(const ndarray& lazy, const ndarray& copied) {
  CHECK(lazy.shape() == copied.shape());
  CHECK(all(equal(lazy, copied)).item<bool>());
}

}  // namespace

TEST_CASE("packing: a GPU copies transposed operands that it would read a sector for each element") {
  const device gpu = sim::first();
  const ndarray x = numbers({512, 384}, gpu), y = numbers({40, 50, 60}, gpu);
  CHECK(packs(sum(x.T())));
  CHECK(kernels_of(sum(x.T())) == 2);
  CHECK(packs(sum(transpose(y), axes{0, 2})));
  CHECK(packs(sum(exp(x.T()) * 2)));
  // Neighbouring results read neighbours, whichever axis of the results that is, unless the kernel asks for places.
  CHECK_FALSE(packs(sum(transpose(y), 2)));
  CHECK_FALSE(packs(argmax(transpose(y, {2, 1, 0}), 2)));
  const ndarray i = arange(50, {.device = gpu})(_, newaxis), j = arange(40, {.device = gpu});
  CHECK(packs(sum(where(j > i, transpose(y), 0.0f), 2)));
  // What rows on chip read is copied once.
  const ndarray e = exp(transpose(y) - max(transpose(y), {.axis = 2, .keepdims = true}));
  CHECK(packs(e / sum(e, {.axis = 2, .keepdims = true})));
  // Rows and columns that lie in memory as the kernel runs
  CHECK_FALSE(packs(sum(x)));
  CHECK_FALSE(packs(sum(x.T(), 1)));
  CHECK_FALSE(packs(sum(x.T(), 0)));
  CHECK_FALSE(packs(sum(x(_, slice(0, 384, 2)))));
  CHECK_FALSE(packs(sum(flip(x, 1))));
  // Too few elements, and an operand that is read for several results
  CHECK_FALSE(packs(sum(x(slice(0, 64), slice(0, 64)).T())));
  CHECK_FALSE(packs(sum(x.T()(_, newaxis, _) * numbers({512}, gpu), 2)));
  check_bits(sum(x.T()), sum(x.T().copy()));
  check_bits(sum(transpose(y), 2), sum(transpose(y).copy(), 2));
  check_bits(sum(transpose(y), axes{0, 2}), sum(transpose(y).copy(), axes{0, 2}));
  check_bits(argmax(transpose(y), 2), argmax(transpose(y).copy(), 2));
}

TEST_CASE("packing: a GPU copies once what rows on chip read") {
  const all_rows_on_chip any_length;
  const ndarray x = numbers({90, 80, 70}, sim::first()).T();
  const std::string plan = explain(softmax(x));
  CAPTURE(plan);
  CHECK(kernels_of(softmax(x)) == 2);
  CHECK(plan.find("[rows on chip]") != std::string::npos);
  check_bits(softmax(x), unfused(softmax, x));
}

TEST_CASE("packing: rows of a few elements that are read again stay on chip on a GPU") {
  const all_rows_on_chip any_length;
  for (const std::int64_t n : {3, 4, 5, 8}) {
    CAPTURE(n);
    const ndarray many =
        empty({1 << 24, n}, {.dtype = float32, .device = sim::first()});  // planned for, and never read
    eval(many);
    const std::string plan = explain(softmax(many));
    CAPTURE(plan);
    CHECK(kernels_of(softmax(many)) == 1);
    CHECK(plan.find("[rows on chip]") != std::string::npos);
    const ndarray some = numbers({3001, n}, sim::first());
    graph::limits().expensive = 1;
    check_bits(softmax(some), unfused(softmax, some));
  }
}

TEST_CASE("packing: long programs of rows on chip keep what is read later than the rows") {
  const all_rows_on_chip any_length;
  const reduce_kw rows{.axis = 1, .keepdims = true};
  const auto entropies = [&](bool at_once) {
    const auto statement = [at_once](const ndarray& a) {
      if (at_once) eval(a);
    };
    ndarray x = numbers({8, 50}, sim::first()) / 10;
    std::vector<ndarray> out;
    for (int k = 0; k < 20; ++k) {  // more kernels than are joined at a time
      const ndarray p = exp(x - max(x, rows));
      statement(p);
      const ndarray q = p / sum(p, rows), h = -sum(q * log(q + 1e-9f), 1);
      statement(q), statement(h);
      out.push_back(mean(h));
      statement(out.back());
      x = x * (1 + 0.01f * h(_, newaxis));
      statement(x);
    }
    out.push_back(x);
    return out;
  };
  const std::vector<ndarray> lazy = entropies(false), at_once = entropies(true);
  for (std::size_t k = 0; k < lazy.size(); ++k) check_bits(lazy[k], at_once[k]);
}

TEST_CASE("packing: the CPU reads transposed operands where they are") {
  const ndarray x = numbers({512, 384}, host), y = numbers({40, 50, 60}, host);
  CHECK_FALSE(packs(sum(x.T())));
  CHECK_FALSE(packs(sum(transpose(y), 2)));
}

TEST_CASE("packing: rows that a reduction gathers are copied whole on the CPU") {
  const ndarray table = numbers({300, 64}, host), w = numbers({64}, host);
  const ndarray i = arange(40 * 8, {.dtype = int64, .device = host}).reshape({40, 8}) * 7919 % 300 - 20;
  eval(table, w, i);
  const ndarray rows = take(table, i, 0);
  const auto copied = [](const ndarray& x) { return explain(x).find("gathered rows") != std::string::npos; };
  for (const ndarray& x : {mean(rows, 1), sum(rows * w, 2), max(rows), sum(table(i(_, 0)), 0)}) {
    CHECK(copied(x));
    CHECK(kernels_of(x) == 2);
  }
  const ndarray stored = rows.copy();
  check_bits(mean(rows, 1), mean(stored, 1));
  check_bits(sum(rows * w, 2), sum(stored * w, 2));
  check_bits(sum(table(i(_, 0)), 0), sum(table(i(_, 0)).copy(), 0));
  // Elements, few of them, and what no reduction reads
  CHECK_FALSE(copied(sum(take(table, arange(64, {.device = host}), 1), 1)));
  CHECK_FALSE(copied(sum(table(i(0, slice(0, 3))), 0)));
  CHECK_FALSE(copied(rows * 2));
  CHECK_FALSE(copied(sum(roll(table, 1, 0) * table)));
  CHECK_THROWS_AS(sum(take(table, i + 300, 0), 1).to_vector<float>(), index_error);
}

namespace {

ndarray in_memory(const shape_t& shape, const device& on) {
  const ndarray x = numbers(shape, on);
  eval(x);
  return x;
}

}  // namespace

TEST_CASE("on the CPU sums of all elements copy a transposed operand, and have its bits") {
  const ndarray x = in_memory({700, 300}, host), t = x.T();
  CHECK(packs(sum(t)));
  CHECK(packs(sum(t * 2.0f)));
  CHECK_FALSE(packs(sum(t, 0)));
  CHECK_FALSE(packs(sum(x)));
  CHECK_FALSE(packs(sum(in_memory({60, 50}, host).T())));  // few elements
  CHECK(sum(t).item<float>() == sum(t.copy()).item<float>());
  CHECK(max(t * t).item<float>() == max(t.copy() * t.copy()).item<float>());
}

namespace {

std::vector<jit::launch> launched;

/// The launches that evaluate an array.
std::vector<jit::launch> launches_of(const ndarray& x) {
  launched.clear();
  const auto before = cpu::set_launch_observer([](const jit::launch& l) { launched.push_back(l); });
  eval(x);
  cpu::set_launch_observer(before);
  return launched;
}

}  // namespace

TEST_CASE("on the CPU a reduction goes over its results in the order in which the operand lies in memory") {
  const ndarray x = in_memory({20, 21, 22, 23}, host), t = x.T();
  const ndarray positions = arange(20, {.dtype = float32, .device = host});
  eval(positions);
  for (const int axis : {0, 1, 2, 3}) {
    CAPTURE(axis);
    const ndarray s = sum(t, axis);
    const std::vector<jit::launch> all = launches_of(s);
    REQUIRE(all.size() == 1);
    const jit::launch& l = all[0];
    for (int a = 0; a + 1 < l.kept; ++a) CHECK(l.inputs[0].strides[a] > l.inputs[0].strides[a + 1]);
    CHECK(array_equal(s, sum(ndarray(t.copy()), axis)));
    CHECK(array_equal(argmax(t, axis), argmax(ndarray(t.copy()), axis)));
    // Operands that do not agree keep the order of the results.
    CHECK(array_equal(sum(t * x.T().copy(), axis), sum(ndarray(t.copy() * t.copy()), axis)));
  }
  // So do reductions that depend on places.
  CHECK(array_equal(sum(t * positions, 0), sum(ndarray(t.copy() * positions), 0)));
}

TEST_CASE("on the CPU operations on elements copy a transposed operand of short rows") {
  const ndarray x = in_memory({17, 18, 19, 20}, host), t = x.T(), y = in_memory({20, 19, 18, 17}, host);
  CHECK(packs(t * t + y));
  CHECK(packs(-t));
  CHECK(kernels_of(t.copy()) == 1);
  CHECK_FALSE(packs(in_memory({400, 300}, host).T() * 2.0f));  // through panels
  CHECK_FALSE(packs(in_memory({5, 6, 7, 8}, host).T() * 2.0f));
  const ndarray c = t.copy();
  eval(c);
  CHECK(array_equal(t * t + y, c * c + y));
  CHECK(array_equal(where(t > 0, t, y), where(c > 0, c, y)));
}
