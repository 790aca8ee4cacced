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

}  // namespace sinter::graph
