// Elementwise nodes that read each other are computed in one layout, so that halos of operands move, once each, and nothing that
// has been computed of them: then the interior of a stencil depends on nothing that is sent.
#include <algorithm>

#include "dist/partitioner.hpp"

namespace sinter::sharding {

void partitioner::find_groups(std::span<node* const> nodes) {
  for (std::size_t k = nodes.size(); k-- > 0;) {  // readers first
    node* const n = nodes[k];
    if (n->kind == node_kind::update && n->operand(1)->kind == node_kind::map)
      if (const auto [known, is_new] = group_of_.try_emplace(n->operand(1), groups_.size()); is_new)
        groups_.push_back({.update = n});
    if (n->kind != node_kind::map) continue;
    const auto [mine, is_root] = group_of_.try_emplace(n, groups_.size());
    if (is_root) groups_.emplace_back();
    const std::size_t number = mine->second;
    for (int a = 0; a < n->operand_count(); ++a) {
      node* const x = n->operand(a);
      if (x->kind == node_kind::map && x->shape == n->shape) group_of_.try_emplace(x, number);
      else if (groups_[number].operands.size() < most_operands) groups_[number].operands.push_back(x);
    }
  }
}

const layout* partitioner::target_of(node* n) {
  const auto found = group_of_.find(n);
  if (found == group_of_.end()) return nullptr;
  group& g = groups_[found->second];
  if (!g.is_decided) {
    g.is_decided = true;
    if (g.update) g.target = layout_written(g.update);
    if (!g.target) g.target = layout_for_all(n->shape, g.operands);
  }
  return g.target ? &*g.target : nullptr;
}

/// The layout for which the fewest bytes of all operands move; none where they agree, or one of them is not known yet.
std::optional<layout> partitioner::layout_for_all(const dims& shape, std::span<node* const> operands) {
  std::vector<node*> divided;
  std::vector<layout> different;
  for (node* x : operands) {
    const auto known = entries_.find(x);
    if (known == entries_.end()) return {};
    if (known->second.free) continue;
    divided.push_back(x);
    layout how = lifted(x, shape);
    if (std::find(different.begin(), different.end(), how) == different.end()) different.push_back(std::move(how));
  }
  if (different.size() < 3) return {};  // of two, either node that meets both decides as well
  std::int64_t least = -1;
  layout* best = nullptr;
  for (layout& how : different)
    if (const std::int64_t bytes = cost(how, shape, divided); !best || bytes < least) best = &how, least = bytes;
  return std::move(*best);
}

}  // namespace sinter::sharding
