// Which reductions are short.
#include "graph/plan/forms/short_sums.hpp"

#include <numeric>

namespace sinter::graph {

std::int64_t reduced_elements(const payload::reduce& reduction, const dims& shape) noexcept {
  std::int64_t n = 1;
  for (int a = 0; a < shape.size(); ++a)
    if (reduction.is_over(a)) n *= shape[a];
  return n;
}
std::int64_t reduced_elements(const node& reduction) noexcept {
  return reduced_elements(reduction.reduce(), reduction.args[0]->shape);
}

bool is_short(const node* n) noexcept {
  return n->kind.load(std::memory_order_relaxed) == node_kind::reduce && !n->opaque && n->nargs != 0 &&
         is_short(n->reduce(), n->args[0]->type, n->args[0]->shape);
}

bool is_short(const payload::reduce& what, dtype of, const dims& shape) noexcept {
  if (what.whole.split_lanes != 0) return false;
  switch (what.op) {
    case jit::reduce_op::sum:
    case jit::reduce_op::any:
    case jit::reduce_op::all:
    case jit::reduce_op::count: break;
    case jit::reduce_op::prod:
    case jit::reduce_op::min:
    case jit::reduce_op::max:
      if (is_complex(of)) return false;
      break;
    default: return false;
  }
  const std::int64_t elements = reduced_elements(what, shape);
  return elements >= 1 && elements <= most_short;
}

bool joins_rows(const node* n, std::int64_t read_over) noexcept {
  if (n->device.kind == runtime::device_kind::cpu || n->args[0]->size() != read_over) return false;
  const dims& shape = n->args[0]->shape;
  const int last = shape.size() - 1;
  return last >= 1 && n->reduce().is_over(last) && reduced_elements(*n) == shape[last];
}

std::int32_t joining_weight(const node& reduction) noexcept {
  const jit::reduce_op op = reduction.reduce().op;
  const bool extreme = op == jit::reduce_op::min || op == jit::reduce_op::max;
  const auto joins = static_cast<std::int32_t>(reduced_elements(reduction) - 1);
  return joins * (extreme && is_real_floating(reduction.type) ? 4 : 1);
}

bool are_apart(const node* n, const index_map& a, const index_map& b) noexcept {
  const bool strided = n->device.kind == runtime::device_kind::cpu;
  // The greatest common divisor of a row's steps; 0 where there are none, -1 where those of the maps differ.
  const auto step_of = [&](int row) {
    std::int64_t step = 0;
    for (int v = 0; v < a.variables(); ++v) {
      if (a.coefficient(row, v) != b.coefficient(row, v)) return std::int64_t{-1};
      step = std::gcd(step, a.coefficient(row, v));
    }
    return step;
  };
  for (int row = 0; row < a.rows(); ++row) {
    const std::int64_t difference = a.offset(row) - b.offset(row), step = difference == 0 ? -1 : step_of(row);
    if (step == 0 || (strided && step > 1 && difference % step != 0)) return true;
  }
  return false;
}

}  // namespace sinter::graph
