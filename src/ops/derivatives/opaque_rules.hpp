// Rules of opaque calls (ops/base/opaque_call.hpp), by name. One of the two directions is enough: the other is its
// transpose, by tracing the one that is there, which is linear in tangents or cotangents.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "ops/base/elementwise_values.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/derivatives/node_rules.hpp"
#include "ops/derivatives/walks.hpp"

namespace sinter::ops::derivatives {

/// An opaque call with its operands and results as they were. Undefined ones stay so.
struct opaque_case {
  const opaque_call& call;
  std::vector<ndarray> x, y;
  std::vector<bool> wanted;  // operands that are followed

  std::int64_t number(std::size_t k) const { return call.numbers[k]; }
};

/// Tangents of the results for those of the operands (undefined: 0).
using opaque_forward_step = std::vector<ndarray> (*)(const opaque_case& c, std::span<const ndarray> t);
/// Cotangents of the operands for those of the results (undefined: 0). They may be of a shape to which the operand
/// broadcasts, and of another dtype of its kind.
using opaque_backward_step = std::vector<ndarray> (*)(const opaque_case& c, std::span<const ndarray> g);

/// Thrown by a rule for a call whose attributes it does not cover.
struct rule_refusal {
  const char* why;
};

struct opaque_rule {
  const char* name;
  opaque_forward_step forward = nullptr;
  opaque_backward_step backward = nullptr;
  const char* why = nullptr;  // no rule
};
/// Null for a name that is not in the table.
const opaque_rule* find_opaque_rule(std::string_view name);
std::span<const opaque_rule> opaque_rules_of_order();
std::span<const opaque_rule> opaque_rules_of_selections();
std::span<const opaque_rule> opaque_rules_of_systems();
std::span<const opaque_rule> opaque_rules_of_factors();
std::span<const opaque_rule> opaque_rules_of_transforms();

std::vector<ndarray> opaque_backward(const node_case& c, std::span<const ndarray> g);
std::vector<ndarray> opaque_forward(const node_case& c, std::span<const ndarray> t);

}  // namespace sinter::ops::derivatives
