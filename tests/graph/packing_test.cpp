// Operands that reductions read as copies: transposed ones on a GPU, gathered rows on the CPU. The plans, and the bits.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "backends/cpu/kernels/hooks.hpp"
#include "graph/values/limits.hpp"
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
