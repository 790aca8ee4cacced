// Rules of recorded nodes, by kind.
#pragma once
#include <span>
#include <vector>

#include "graph/values/trace.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::ops::derivatives {

using graph::trace;

/// The entry of a node in a trace, and which of its operands are followed: derivatives of others are not wanted.
struct node_case {
  const trace& t;
  const trace::entry& e;
  const char* function;  // for errors

  bool wanted(int k) const { return t.has(e.operands[static_cast<std::size_t>(k)]); }
};

/// Cotangents of the operands for one of the result, which has its shape and dtype. Undefined: 0, or not wanted.
/// derivative_error for an operation without a rule.
std::vector<ndarray> backward(const node_case& c, const ndarray& g);
/// The tangent of the result for tangents of the operands (undefined: 0). Undefined: 0.
ndarray forward(const node_case& c, std::span<const ndarray> t);

/// Whether nodes of a kind, reductions of an operation, have a rule; if not, why.
const char* reason_without_rule(graph::node_kind kind);
const char* reason_without_rule(jit::reduce_op op);

/// The sum of `g` over the axes along which `shape` was broadcast, of that shape.
ndarray sum_to(const ndarray& g, const core::dims& shape);

}  // namespace sinter::ops::derivatives
