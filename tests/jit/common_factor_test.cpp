// Factors of sums of rows and columns: what is rewritten, and what is left alone.
#include "jit/program/rewrite/common_factor.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace jit = sinter::jit;
using jit::opcode;
using sinter::dtype;

namespace {

jit::instr make(opcode op, std::uint16_t a = 0, std::uint16_t b = 0, dtype t = dtype::f32) {
  jit::instr i{};
  i.op = op;
  i.type = i.arg = t;
  i.a = a;
  i.b = b;
  return i;
}

/// The least of code's last register over columns; inputs 0 and 2 depend on the row, 1 and 3 on the column.
jit::program least(std::vector<jit::instr> code) {
  jit::program p;
  p.kind = jit::kernel_kind::reduce;
  p.flags.fast_math = true;
  p.inputs.resize(4, {dtype::f32});
  p.params = 1;
  p.param_types = {dtype::f32};
  p.code = std::move(code);
  p.epilogue = static_cast<std::uint16_t>(p.code.size());
  const jit::reduce_desc r{jit::reduce_op::min, dtype::f32, dtype::f32, 0,
                           static_cast<std::uint16_t>(p.code.size() - 1)};
  p.reductions = {r};
  jit::instr result = make(opcode::reduced);
  p.code.push_back(result);
  p.outputs = {{dtype::f32, 0, p.epilogue}};
  return p;
}

constexpr std::uint64_t rows = 0b101;

std::vector<opcode> operations(const jit::program& p) {
  std::vector<opcode> all;
  for (const jit::instr& i : p.code) all.push_back(i.op);
  return all;
}

}  // namespace

TEST_CASE("common factors: a difference of a row and a column times a scalar becomes a difference of products") {
  for (const bool scalar_first : {false, true}) {
    const jit::program p =
        least({make(opcode::load, 0), make(opcode::load, 1), make(opcode::param), make(opcode::subtract, 0, 1),
               scalar_first ? make(opcode::multiply, 2, 3) : make(opcode::multiply, 3, 2), make(opcode::square, 4)});
    const jit::program& q = jit::without_common_factors(p, rows);
    CHECK(operations(q) == std::vector<opcode>{opcode::load, opcode::load, opcode::param, opcode::multiply,
                                               opcode::multiply, opcode::subtract, opcode::square, opcode::reduced});
    CHECK(q.code[3].a == 0);
    CHECK(q.code[3].b == 2);
    CHECK(q.code[4].a == 1);
    CHECK(q.code[4].b == 2);
    CHECK(q.code[5].a == 3);
    CHECK(q.code[5].b == 4);
    CHECK(q.code[6].a == 5);
    CHECK(q.epilogue == 7);
    CHECK(q.reductions[0].reg == 6);
    CHECK(q.outputs[0].reg == 7);
    CHECK(&jit::without_common_factors(p, rows) == &q);
    CHECK(&jit::without_common_factors(q, rows) == &q);
  }
}

TEST_CASE("common factors: monotone tails keep their place") {
  jit::program p = least({make(opcode::load, 1), make(opcode::load, 2), make(opcode::param), make(opcode::add, 0, 1),
                          make(opcode::multiply, 3, 2), make(opcode::square, 4), make(opcode::sqrt, 5)});
  p.reductions[0].tail = 1;
  p.reductions[0].inner = 5;
  const jit::program& q = jit::without_common_factors(p, rows);
  CHECK(q.reductions[0].reg == 7);
  CHECK(q.reductions[0].inner == 6);
  CHECK(q.code[q.reductions[0].inner].op == opcode::square);
}

TEST_CASE("common factors: everything else stays") {
  const auto load = [](std::uint16_t k) { return make(opcode::load, k); };
  const auto unchanged = [](const jit::program& p) { return &jit::without_common_factors(p, rows) == &p; };
  const jit::instr s = make(opcode::param), difference = make(opcode::subtract, 0, 1),
                   scaled = make(opcode::multiply, 3, 2);
  jit::program exact = least({load(0), load(1), s, difference, scaled});
  CHECK_FALSE(unchanged(exact));
  exact.flags.fast_math = false;
  CHECK(unchanged(exact));
  CHECK(unchanged(least({load(0), load(2), s, difference, scaled})));                           // two rows
  CHECK(unchanged(least({load(1), load(3), s, difference, scaled})));                           // two columns
  CHECK(unchanged(least({load(0), load(1), s, difference, scaled, make(opcode::add, 3, 4)})));  // read again
  CHECK(unchanged(least({load(0), load(1), load(1), difference, scaled})));                     // by a column
  CHECK(unchanged(least({load(0), load(1), s, make(opcode::maximum, 0, 1), scaled})));          // no sum
  const dtype d = dtype::f64;
  CHECK(unchanged(least({make(opcode::load, 0, 0, d), make(opcode::load, 1, 0, d), make(opcode::param, 0, 0, d),
                         make(opcode::subtract, 0, 1, d), make(opcode::multiply, 3, 2, d)})));
  jit::program map = least({load(0), load(1), s, difference, scaled});
  map.kind = jit::kernel_kind::elementwise;
  CHECK(unchanged(map));
}
