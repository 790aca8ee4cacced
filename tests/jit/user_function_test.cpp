// Users' functions and reductions in the graph: how they are recorded, what the planner stores, what programs say.
#include "support/users/functions.hpp"

#include <algorithm>

#include "runtime/backend.hpp"

using namespace user_test;
using jit::opcode;

namespace {

constexpr dtype f32 = dtype::f32, i64 = dtype::i64;
constexpr runtime::device_id cpu{};

const user_function* square_plus() {
  return function("square_plus", {par("x", f32), par("y", f32)}, {par("z", f32)}, "z = x * x + y;");
}
const user_function* two_outputs() {
  return function("sum_and_difference", {par("x", f32), par("y", f32)}, {par("s", f32), par("d", f32)},
                  "s = x + y; d = x - y;");
}
const user_function* reader() {
  return function("reader", {raw("t", f32), par("i", i64)}, {par("z", f32)}, "z = t[i % t.size()];");
}
const user_function* looped() {
  return function("looped", {par("x", f32)}, {par("z", f32), par("w", f32)}, "total += x; z = total; w = x;",
                  {.loop_prep = "float total = 0;"});
}

value ramp(const dims& shape) {
  std::vector<float> x(static_cast<std::size_t>(core::element_count(shape)));
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k);
  return stored(x, shape, cpu);
}

/// A plan, with the nodes that it is for.
struct planned {
  std::vector<value> roots;
  graph::planner plan;
  explicit planned(std::vector<value> r) : roots(std::move(r)) { plan.plan(roots); }
  ~planned() { plan.clear(); }
  std::size_t kernels() const { return plan.kernels().size(); }
  const graph::kernel_plan& kernel(std::size_t k) const { return *plan.kernels()[k]; }
  const jit::program& code(std::size_t k) const { return kernel(k).code; }
};

int count(const jit::program& p, opcode op) {
  return static_cast<int>(std::count_if(p.code.begin(), p.code.end(), [&](auto& i) { return i.op == op; }));
}
const jit::instr& find(const jit::program& p, opcode op) {
  return *std::find_if(p.code.begin(), p.code.end(), [&](auto& i) { return i.op == op; });
}

/// The parts of a reduction with a struct: the pair of a value and its index, and what finishes it.
const extras pairs{.preamble = "struct pair { float v; long long i; };\n"};
const user_function* make_pair() {
  return function("make_pair", {par("x", f32), par("i", i64)}, {opaque("p", "pair")}, "p = pair{x, i};", pairs);
}
const user_reduction* lesser() {
  return reduction("lesser", opaque("", "pair"), "(b.v < a.v || (b.v == a.v && b.i < a.i)) ? b : a",
                   "pair{1e30f, 1ll << 60}", pairs);
}
const user_function* index_of() {
  return function("index_of", {opaque("p", "pair")}, {par("k", i64)}, "k = p.i;", pairs);
}
const user_function* value_of() {
  return function("value_of", {opaque("p", "pair")}, {par("v", f32)}, "v = p.v;", pairs);
}
/// The reduced pair of x over all axes but `kept`.
value least(const value& x, const std::vector<int>& kept = {}) {
  return reduce(lesser(), call(make_pair(), x->shape, {x, position(x->shape, x->device)}), kept);
}
value finished(const user_function* f, const value& r) { return call(f, r->shape, {r}); }

}  // namespace

TEST_CASE("user functions: equal contents are one object with one symbol, others are not") {
  CHECK(square_plus() == square_plus());
  const user_function* other =
      function("square_plus", {par("x", f32), par("y", f32)}, {par("z", f32)}, "z = x * x - y;");
  CHECK(square_plus() != other);
  CHECK(square_plus()->symbol != other->symbol);
  CHECK(square_plus()->symbol.size() == 20);
  CHECK(square_plus()->id != other->id);
  CHECK(lesser() == lesser());
}

TEST_CASE("user functions: a call fuses with what is before and after it, and is written once") {
  value x = ramp({8}), y = ramp({8});
  value a = plus(x, 1), z = call(square_plus(), {8}, {a, y});
  planned p({add(times(z, 2), z)});
  REQUIRE(p.kernels() == 1);
  const jit::program& code = p.code(0);
  CHECK(code.calls.size() == 1);
  CHECK(count(code, opcode::user) == 1);
  CHECK(code.calls[0].function == square_plus());
  REQUIRE(code.calls[0].operands.size() == 2);
  CHECK(code.code[code.calls[0].operands[0]].op == opcode::add);
  CHECK(code.code[code.calls[0].operands[1]].op == opcode::load);
  CHECK(code.label().find("square_plus") != std::string::npos);
}

TEST_CASE("user functions: two outputs of one call are one call, next to each other") {
  value x = ramp({8}), y = ramp({8});
  value a = times(x, 3);
  value s = call(two_outputs(), {8}, {a, y}, 0), d = call(two_outputs(), {8}, {a, y}, 1);
  SUBCASE("read by one value") {
    planned p({map(opcode::multiply, s, d)});
    REQUIRE(p.kernels() == 1);
    CHECK(p.code(0).calls.size() == 1);
    REQUIRE(count(p.code(0), opcode::user) == 2);
    const auto& code = p.code(0).code;
    const auto first = std::find_if(code.begin(), code.end(), [](auto& i) { return i.op == opcode::user; });
    CHECK((first[1].op == opcode::user));
    CHECK(first[0].b == 0);
    CHECK(first[1].b == 1);
  }
  SUBCASE("both asked for") {
    planned p({s, d});
    REQUIRE(p.kernels() == 1);
    CHECK(p.code(0).calls.size() == 1);
    CHECK(p.code(0).outputs.size() == 2);
  }
  SUBCASE("other operands are another call") {
    value e = call(two_outputs(), {8}, {y, a}, 1);
    planned p({add(s, e)});
    REQUIRE(p.kernels() == 1);
    CHECK(p.code(0).calls.size() == 2);
  }
}

TEST_CASE("user functions: a raw operand is stored first, and read through its address and extents") {
  value x = ramp({6}), i = position({40}, cpu);
  SUBCASE("pending") {
    value t = plus(times(x, 2), 1);
    planned p({call(reader(), {40}, {t, i})});
    REQUIRE(p.kernels() == 2);
    CHECK(p.plan.at(t.get()).why == graph::store_reason::raw);
    const jit::program& code = p.code(1);
    const jit::instr& a = find(code, opcode::address);
    CHECK(a.c == 1);
    CHECK(code.param_types[a.b] == i64);
    CHECK(p.kernel(1).params[a.b].i == 6);
    CHECK(p.kernel(1).inputs[a.a].raw);
    for (std::int64_t c : p.kernel(1).inputs[a.a].at.coefficients) CHECK(c == 0);
  }
  SUBCASE("in memory") {
    planned p({call(reader(), {40}, {x, i})});
    CHECK(p.kernels() == 1);
  }
  SUBCASE("read as an element too: two inputs") {
    value wide = graph::record_view(x, {6}, {1}, 0);
    planned p({add(call(reader(), {6}, {x, position({6}, cpu)}), wide)});
    REQUIRE(p.kernels() == 1);
    CHECK(p.code(0).inputs.size() == 2);
  }
  SUBCASE("twice: one input") {
    value both = add(call(reader(), {40}, {x, i}), call(reader(), {40}, {x, plus(i, 1)}));
    planned p({both});
    REQUIRE(p.kernels() == 1);
    CHECK(p.code(0).inputs.size() == 1);
    CHECK(count(p.code(0), opcode::address) == 1);
  }
  SUBCASE("a contiguous view of what is in memory is not copied") {
    value matrix = graph::record_view(x, {2, 3}, {3, 1}, 0);
    const auto* f = function("corner", {raw("t", f32, 2), par("i", i64)}, {par("z", f32)}, "z = t(1, 2);");
    planned p({call(f, {4}, {matrix, position({4}, cpu)})});
    REQUIRE(p.kernels() == 2);
    CHECK(p.kernel(0).kind == graph::plan_kind::alias);
  }
}

TEST_CASE("user functions: calls are dear, so a small one that a larger space reads is stored") {
  value x = ramp({16}), y = ramp({16});
  value z = call(square_plus(), {16}, {x, y});
  value column = graph::record_view(z, {16, 1}, {1, 0}, 0), row = ramp({1, 64});
  value operands[] = {column, row};
  planned p({graph::record_map(opcode::add, f32, {16, 64}, operands)});
  CHECK(p.kernels() == 2);
  CHECK(p.plan.at(z.get()).why == graph::store_reason::expensive);
}

TEST_CASE("user functions: a call read through several views is stored") {
  value x = ramp({16});
  value z = call(square_plus(), {16}, {x, x});
  value a = graph::record_view(z, {15}, {1}, 0), b = graph::record_view(z, {15}, {1}, 1);
  planned p({add(a, b)});
  CHECK(p.kernels() == 2);
  CHECK(p.plan.at(z.get()).why == graph::store_reason::several_views);
}

TEST_CASE("user functions: views of operands and of results cost nothing") {
  value x = ramp({4, 6});
  value t = graph::record_view(plus(x, 1), {6, 4}, {1, 6}, 0);
  value z = call(square_plus(), {6, 4}, {t, t});
  planned p({graph::record_view(z, {3, 4}, {-8, 1}, 20)});
  REQUIRE(p.kernels() == 1);
  CHECK(p.code(0).calls.size() == 1);
}

TEST_CASE("user functions: text around the loop makes a kernel of its own, with every output of the call") {
  value x = ramp({8}), y = ramp({8});
  value in = call(square_plus(), {8}, {plus(x, 1), y});
  value z = call(looped(), {8}, {in}, 0), w = call(looped(), {8}, {in}, 1);
  planned p({plus(z, 1), w});
  for (std::size_t k = 0; k < p.kernels(); ++k) {
    const auto& calls = p.code(k).calls;
    const bool has = std::any_of(calls.begin(), calls.end(), [](auto& c) { return c.function->has_loop_text(); });
    if (!has) continue;
    CHECK(calls.size() == 1);
    CHECK(p.code(k).outputs.size() == 2);
    CHECK(p.code(k).kind == jit::kernel_kind::elementwise);
  }
  CHECK(p.plan.at(z.get()).why == graph::store_reason::unfusible);
  CHECK(p.plan.at(in.get()).why == graph::store_reason::unfusible);
  CHECK(p.kernels() == 3);
}

TEST_CASE("user functions: text around the loop does not join other kernels, reductions included") {
  value x = ramp({8});
  value z = call(looped(), {8}, {x}, 0), other = times(x, 2);
  planned p({z, other, reduce(jit::reduce_op::sum, z)});
  CHECK(p.kernels() == 3);
}

TEST_CASE("user reductions: the mapping and what finishes the result are one kernel, opaque types included") {
  value x = ramp({6, 10});
  SUBCASE("one result") {
    planned p({finished(index_of(), least(x))});
    REQUIRE(p.kernels() == 1);
    const jit::program& code = p.code(0);
    CHECK(code.kind == jit::kernel_kind::reduce);
    CHECK(code.calls.size() == 2);
    REQUIRE(code.combines.size() == 1);
    CHECK(code.reductions[0].op == jit::reduce_op::user);
    CHECK(code.combines[code.reductions[0].inner] == lesser());
    CHECK(code.label().find("make_pair_lesser_index_of") != std::string::npos);
  }
  SUBCASE("two results of one reduction, evaluated together") {
    value r = least(x, {0});
    planned p({finished(index_of(), r), finished(value_of(), r)});
    REQUIRE(p.kernels() == 1);
    CHECK(p.code(0).reductions.size() == 1);
    CHECK(p.code(0).outputs.size() == 2);
  }
  SUBCASE("read over another space: the finished result is stored, never the struct") {
    value k = finished(value_of(), least(x, {0}));
    value column = graph::record_view(k, {6, 1}, {1, 0}, 0);
    value operands[] = {x, column};
    planned p({graph::record_map(opcode::subtract, f32, {6, 10}, operands)});
    REQUIRE(p.kernels() == 2);
    CHECK(p.plan.at(k.get()).stored);
  }
  SUBCASE("beside a reduction over another space, whose kernel adds the two") {
    value k = finished(value_of(), least(x));
    planned p({add(k, reduce(jit::reduce_op::sum, ramp({33})))});
    for (std::size_t j = 0; j < p.kernels(); ++j)
      for (const auto* n : p.kernel(j).results) CHECK_FALSE(n->opaque);
    CHECK(p.kernels() == 2);
  }
  SUBCASE("fusion off") {
    restore_limits restore;
    graph::limits().fuse = false;
    planned p({finished(index_of(), least(plus(x, 1)))});
    for (std::size_t j = 0; j < p.kernels(); ++j)
      for (const auto* n : p.kernel(j).results) CHECK_FALSE(n->opaque);
  }
  SUBCASE("a live reduction over the same mapped value is no sibling if its result is a struct") {
    value mapped = call(make_pair(), x->shape, {x, position(x->shape, cpu)});
    value first = reduce(lesser(), mapped),
          second =
              reduce(reduction("greater", opaque("", "pair"), "b.v > a.v ? b : a", "pair{-1e30f, 0}", pairs), mapped);
    planned p({finished(index_of(), first)});
    CHECK(p.kernels() == 1);
    CHECK_FALSE(p.plan.at(second.get()).stored);
  }
  SUBCASE("a chain that is too long is cut around it") {
    restore_limits restore;
    graph::limits().depth = 1;
    const value pair = least(plus(x, 1));
    graph::flush_if_long(pair);
    CHECK_FALSE(pair->is_leaf());
    value k = finished(value_of(), pair);
    planned p({k});
    for (std::size_t j = 0; j < p.kernels(); ++j)
      for (const auto* n : p.kernel(j).results) CHECK_FALSE(n->opaque);
  }
}

TEST_CASE("user reductions: siblings over one value are one pass, and nothing to reduce gives the identity") {
  const auto* total = reduction("total", par("", f32), "a + b", "0");
  value x = ramp({6, 10}), t = times(x, 2);
  value s = reduce(total, t, {0}), m = reduce(jit::reduce_op::max, t, {0});
  planned p({s});
  CHECK(p.kernels() == 1);
  CHECK(p.code(0).reductions.size() == 2);
  planned both({add(s, m)});
  CHECK(both.kernels() == 1);

  value none = reduce(total, ramp({3, 0}), {0});
  CHECK(none->kind == graph::node_kind::call);
  CHECK(none->shape == dims{3});
}

TEST_CASE("user functions: a call of many that depend on each other is dropped without a deep stack") {
  restore_limits restore;
  graph::limits().depth = 60000;
  value z = ramp({4});
  for (int k = 0; k < 50000; ++k) z = call(square_plus(), {4}, {z, z});
  z = value();
}

TEST_CASE("user functions: keys tell programs apart, and those that leave the process hold no addresses") {
  value x = ramp({8});
  planned a({call(square_plus(), {8}, {x, x})});
  planned b(
      {call(function("square_plus", {par("x", f32), par("y", f32)}, {par("z", f32)}, "z = y * x + y;"), {8}, {x, x})});
  std::string ka, kb, sa, sb;
  a.code(0).append_key(ka);
  b.code(0).append_key(kb);
  a.code(0).append_stable_key(sa);
  b.code(0).append_stable_key(sb);
  CHECK(ka != kb);
  CHECK(sa != sb);
  CHECK(sa.find(square_plus()->symbol) != std::string::npos);
}

TEST_CASE("user functions: effects have no results, and their outputs are leaves") {
  const auto* f = function("histogram", {par("x", i64)}, {raw("h", i64)}, "atomic_add(h, x, 1);");
  value x = stored(std::vector<std::int64_t>{1, 2, 3}, cpu), h = stored(std::vector<std::int64_t>(8), cpu);
  planned p({graph::record_effect(f, {3}, {plus(x, 1), h}, {}, cpu)});
  REQUIRE(p.kernels() == 1);
  const jit::program& code = p.code(0);
  CHECK(p.kernel(0).kind == graph::plan_kind::effect);
  CHECK(code.outputs.empty());
  CHECK(count(code, opcode::user) == 1);
  CHECK(code.calls[0].operands.size() == 2);
  CHECK(code.code[code.calls[0].operands[1]].op == opcode::address);

  value target = stored(std::vector<float>(3), cpu);
  const auto* g = function("both", {par("x", i64)}, {raw("h", i64), par("z", f32)}, "h[x] = 1; z = x;");
  planned q({graph::record_effect(g, {3}, {x, h}, {target}, cpu)});
  REQUIRE(q.code(0).outputs.size() == 1);
  CHECK(q.kernel(0).results[0] == target.get());
  CHECK(find(q.code(0), opcode::user).b == 1);
}

TEST_CASE("user functions: a function without inputs is a kernel too") {
  const auto* f = function("seven", {}, {par("z", f32)}, "return 7;", {.returns = true});
  value z = call(f, {5}, {});
  CHECK(z->device == runtime::default_device());
  planned p({plus(z, 1)});
  REQUIRE(p.kernels() == 1);
  CHECK(p.code(0).inputs.empty());
  CHECK(p.code(0).calls.size() == 1);
}

TEST_CASE("user functions: explain shows calls by name with their operands") {
  value x = ramp({8});
  value s = call(two_outputs(), {8}, {times(x, 3), x}, 1);
  const std::string text = graph::explain(*graph::make_array(s), false);
  CHECK(text.find("sum_and_difference(r") != std::string::npos);
  CHECK(text.find(").d") != std::string::npos);
}
