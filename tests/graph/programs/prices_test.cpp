// What is stored since it is cheaper than to compute or to look up again, and what is not since nothing reads it by now.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "graph/loop_programs.hpp"
#include "graph/meter.hpp"
#include "graph/plan/planner.hpp"
#include "graph/programs/crowd_programs.hpp"
#include "graph/programs/method_programs.hpp"
#include "graph/programs/model_programs.hpp"
#include "graph/programs/neighbour_programs.hpp"
#include "graph/programs/scoped_programs.hpp"
#include "graph/programs/statistics_programs.hpp"
#include "graph/programs/window_programs.hpp"
#include "graph/science_programs.hpp"

namespace sn = sinter;
using namespace sinter;
using namespace sinter::idx;
using namespace sinter::test::loops;
using sn::ndarray;

namespace {

/// The plan of a program's results.
struct planned {
  std::vector<graph::value> roots;
  graph::planner plan;
  explicit planned(const arrays& results) {
    for (const ndarray& x : results)
      if (!sn::ops::value_of(x)->is_leaf()) roots.push_back(sn::ops::value_of(x));
    plan.plan(roots);
  }
  ~planned() { plan.clear(); }

  /// f(kernel, element count, instruction), over all kernels.
  template <class F>
  void each(F f) const {
    for (const auto& k : plan.kernels())
      for (const jit::instr& i : k->code.code) f(*k, core::element_count(k->extents), i);
  }
  std::int64_t elements_of(jit::opcode op) const {
    std::int64_t n = 0;
    each(
        [&](const graph::kernel_plan&, std::int64_t elements, const jit::instr& i) { n += i.op == op ? elements : 0; });
    return n;
  }
  /// Operands that are read by indices, in all kernels.
  std::vector<dtype> looked_up() const {
    std::vector<dtype> all;
    for (const auto& k : plan.kernels())
      for (const jit::input_desc& in : k->code.inputs)
        if (in.gathers != 0) all.push_back(in.type);
    return all;
  }
  std::size_t outputs() const {
    std::size_t n = 0;
    for (const auto& k : plan.kernels()) n += k->code.outputs.size();
    return n;
  }
};

bool on_host() { return current_backend().host_addressable(); }

}  // namespace

TEST_CASE("prices: a padded field whose neighbours are read is looked up once") {
  if (!on_host()) return;
  // A step: the padded field, and what its neighbours give. Its elements are looked up by two axes.
  CHECK(planned(padded_diffusion(3, elements)).plan.kernels().size() == 6);
  const ndarray a = uniform({100, 100}, 801), b = uniform({100, 100}, 802);
  CHECK(planned({sn::pad(0.5f * a + b, 1)}).looked_up().size() == 1);
}

TEST_CASE("prices: neighbours that are looked up for a short reduction are looked up once, whatever looks that up") {
  if (!on_host()) return;
  CHECK(planned(ways_down(8, 1 << 12)).looked_up().size() == 7);  // a padded row each
}

TEST_CASE("prices: what is looked up for a short reduction is looked up side by side") {
  if (!on_host()) return;
  const planned p(iterated_values(2, elements));  // the first step reads zeros
  CHECK(p.looked_up().size() == 1);
  // The kernel that looks up makes the terms, of which the next one takes the greatest.
  for (const auto& k : p.plan.kernels()) {
    const auto& code = k->code;
    if (std::none_of(code.inputs.begin(), code.inputs.end(), [](const jit::input_desc& in) { return in.gathers != 0; }))
      continue;
    CHECK(core::element_count(k->extents) == elements);
    CHECK(std::any_of(code.code.begin(), code.code.end(),
                      [](const jit::instr& i) { return i.op == jit::opcode::multiply && i.type == dtype::f32; }));
  }
}

TEST_CASE("prices: a number drawn for a short reduction is drawn once") {
  if (!on_host()) return;
  sn::random::generator g(803);
  const ndarray p = g.standard_normal({5000, 4}, {.dtype = sn::float32});
  const ndarray energy = sn::sum(p * p, 1), x = uniform({5000, 4}, 804) + p;
  CHECK(planned({energy, x}).elements_of(jit::opcode::random_normal) == 20000);
}

TEST_CASE("prices: what is looked up several times has no fewer than four bytes where a wider value of it is needed") {
  if (!on_host()) return;
  const auto narrow = [](const arrays& results) {
    const planned p(results);
    const std::vector<dtype> all = p.looked_up();
    return std::count_if(all.begin(), all.end(), [](dtype t) { return itemsize(t) < 4; });
  };
  for (const int steps : {1, 3}) CHECK(narrow(epidemic(steps, elements)) == 0);
}

TEST_CASE(
    "prices: what was stored for a reduction of rolls is given up once the reduction reads what follows from it") {
  if (!on_host()) return;
  // A step: the marker, and how many elements have changed.
  CHECK(planned(reconstruction(4, elements)).outputs() == 8);
}

TEST_CASE("prices: a value that is repeated twice is computed once") {
  if (!on_host()) return;
  const ndarray x = uniform({64, 64}, 806);
  const ndarray bent = sn::exp(x) * sn::sin(x);
  CHECK(planned({sn::repeat(sn::repeat(bent, 2, 0), 2, 1)}).elements_of(jit::opcode::exp) == 64 * 64);
}

TEST_CASE("prices: what two kernels compute is stored beside a value of its size, however small its operands are") {
  if (!on_host()) return;
  // The densities of a mixture of normal distributions, from which responsibilities of as many elements follow.
  const planned p(mixture(4, elements));
  const std::int64_t points = elements / 8 + 2;
  CHECK(p.elements_of(jit::opcode::exp) <= 5 * 8 * points);  // in the first step also for its short sum
}

TEST_CASE("prices: a value of as many places as a short sum has elements is computed once, not for each result") {
  if (!on_host()) return;
  // Distances of three bodies, for three components of the forces. One root for each is in the last step's kernel alone.
  const planned p(three_body(3, elements));
  const std::int64_t pairs = 9 * (elements / 27 + 2);
  CHECK(p.elements_of(jit::opcode::sqrt) == 3 * pairs);
}

TEST_CASE("prices: the numbers of rows that a reduction over columns reads are computed once") {
  if (!on_host()) return;
  const planned p(losses_of_products(3, elements));
  for (const auto& k : p.plan.kernels()) {
    const auto& code = k->code.code;
    const auto subtracts = [&](const jit::instr& i) { return i.op == jit::opcode::subtract; };
    if (k->kind == graph::plan_kind::reduce && core::element_count(k->extents) > elements / 2)
      CHECK(std::none_of(code.begin(), code.begin() + k->code.epilogue, subtracts));
  }
}

TEST_CASE("prices: what kernels of rows on chip share is stored where they are planned apart later") {
  if (!on_host()) return;
  for (const int steps : {8, 16, 20}) {
    CAPTURE(steps);
    const planned p(softmax(steps, elements));
    CHECK(p.plan.kernels().size() == static_cast<std::size_t>(4 * steps));
  }
}

TEST_CASE(
    "prices: what is rolled is stored where it counts positions, and what rolls make where short rows are reduced") {
  if (!on_host()) return;
  const ndarray label = sn::astype(uniform({100, 100}, 810) * 6.0f, sn::int32), data = uniform({100, 100, 6}, 811);
  sn::eval(label);
  const ndarray hot = sn::astype(label(_, _, newaxis) == sn::arange(6), sn::float32);
  const ndarray votes = sn::roll(hot, 1, 0) + sn::roll(hot, -1, 0) + sn::roll(hot, 1, 1) + sn::roll(hot, -1, 1);
  const planned p({sn::argmax(0.5f * votes + data, 2)});
  for (const auto& k : p.plan.kernels()) {
    const auto reads_rolls = [](const jit::input_desc& in) { return in.gathers != 0; };
    if (std::none_of(k->code.inputs.begin(), k->code.inputs.end(), reads_rolls)) continue;
    CHECK(k->kind == graph::plan_kind::elementwise);  // in parts, whose reads are plain
    for (const auto& in : k->code.inputs)
      if (reads_rolls(in)) CHECK(in.type == dtype::f32);
  }
}

TEST_CASE("prices: indices that are drawn are drawn once, for two arrays that are looked up by them") {
  if (!on_host()) return;
  sn::random::generator g(807);
  const ndarray x = uniform(elements, 808), y = x * x + 0.1f * uniform(elements, 809);
  const ndarray pick = g.integers(0, elements, elements), a = sn::take(x, pick), b = sn::take(y, pick);
  const ndarray da = a - sn::mean(a), db = b - sn::mean(b);
  CHECK(planned({sn::sum(da * db) / sn::sum(da * da)}).elements_of(jit::opcode::random_below) == elements);
}

TEST_CASE("prices: every stored value has a kernel") {
  for (const auto run : {epidemic, padded_diffusion, iterated_values, reconstruction, laplacian_pyramid, bandits,
                         boosting, hamiltonian, blurred_twice}) {
    const planned p(run(5, 400));
    std::vector<graph::node*> made;
    for (const auto& k : p.plan.kernels()) made.insert(made.end(), k->results.begin(), k->results.end());
    for (graph::node* n : p.plan.stored()) CHECK(std::count(made.begin(), made.end(), n) == 1);
  }
}
