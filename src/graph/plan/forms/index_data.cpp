// Where indices come from.
#include "graph/plan/forms/index_data.hpp"

#include <algorithm>

namespace sinter::graph {

bool is_data(const node* index, int depth) noexcept {
  const node_kind kind = index->kind.load(std::memory_order_relaxed);
  if (kind == node_kind::leaf || kind == node_kind::random || kind == node_kind::call) return true;
  if (kind == node_kind::iota || kind == node_kind::scalar) return false;
  constexpr int deepest = 8;
  if (depth == deepest) return true;
  return std::any_of(index->args, index->args + index->nargs,
                     [&](const value& a) { return is_data(a.get(), depth + 1); });
}

bool is_shift(const node* index) noexcept {
  const auto kind_of = [](const node* n) { return n->kind.load(std::memory_order_relaxed); };
  if (kind_of(index) != node_kind::map) return kind_of(index) == node_kind::iota;
  const jit::opcode op = index->map().op;
  return (op == jit::opcode::add || op == jit::opcode::subtract) && kind_of(index->args[0].get()) == node_kind::iota &&
         kind_of(index->args[1].get()) == node_kind::scalar;
}

bool is_looked_up(const node* gather) noexcept {
  const node* const index = gather->args[1].get();
  return is_data(index) || (gather->device.kind == runtime::device_kind::cpu && !is_shift(index));
}

}  // namespace sinter::graph
