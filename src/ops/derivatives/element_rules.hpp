// src/ops/derivatives: derivatives of recorded lines: rules by kind of operation, and the walks over a trace that apply
// them. What rules compute are recorded values like any others, so derivatives fuse, and have derivatives themselves.
//
// Pairing: tangents t and cotangents c of complex values pair as Re(sum c t), as in JAX, so the rule of a holomorphic
// operation multiplies both by the same derivative, without a conjugate.
//
// Rules of operations on elements: one for each line of jit/program/opcodes.def and special.def.
#pragma once
#include <array>
#include <cstdint>

#include "ops/base/elementwise_values.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::ops::derivatives {

/// An application of an operation: operands, cast to one dtype, and the result.
struct element_case {
  opcode op;
  std::array<ndarray, 3> x;
  ndarray y;
};

/// g times the derivative of the result with respect to operand k; broadcast together.
using element_step = ndarray (*)(const element_case& c, int k, const ndarray& g);

struct element_rule {
  element_step forward = nullptr;   // of a tangent of operand k
  element_step backward = nullptr;  // of a cotangent of the result, before it is summed over broadcast axes
  std::uint8_t zero = 0;            // bit k: the derivative with respect to operand k is 0 wherever there is one
  std::uint8_t missing = 0;         // bit k: there is no rule for operand k, `why`
  const char* why = nullptr;        // also of operations whose results or operands have no derivative at all
};
/// Every operation has a rule for each operand, or says why it has none.
const element_rule& rule_of(opcode op);

/// Fills in the rules of special.def.
void add_special_rules(std::array<element_rule, static_cast<std::size_t>(jit::opcode_count)>& rules);

}  // namespace sinter::ops::derivatives
