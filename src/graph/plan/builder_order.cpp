// Lowering of large kernels in the order of recording, so that steps that a program repeats are repeated in the code.
#include <algorithm>
#include <utility>

#include "graph/plan/builder.hpp"

namespace sinter::graph {
// Lowers the operations over the kernel's own space below the results, each after its operands. Others are lowered where
// they are needed.
void kernel_builder::lower_in_order(std::span<node* const> results) {
  std::vector<node*> found;
  const std::uint64_t mark = table_.begin_search();
  const auto add = [&](node* n) {
    if (!is_operation(n->kind) || n->opaque || !(n->shape == whole_) || unfusible(*n)) return;
    if (table_.is_stored(n) && !is_own_result(n)) return;
    if (std::exchange(table_.at(n).search, mark) != mark) found.push_back(n);
  };
  for (node* n : results) add(n);
  for (std::size_t k = 0; k < found.size(); ++k)  // grows
    for (int a = 0; a < found[k]->operand_count(); ++a)
      if (!reads_raw(*found[k], a)) add(found[k]->operand(a));
  if (found.size() < many_operations) return;
  in_order_ = true;
  std::sort(found.begin(), found.end(), [](const node* a, const node* b) { return a->order < b->order; });
  for (node* n : found) lower(n, nullptr);
}

}  // namespace sinter::graph
