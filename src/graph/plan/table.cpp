// The nodes of a plan: which are stored, and the cost of computing them inline.
#include "graph/plan/table.hpp"

#include <algorithm>
#include <utility>

namespace sinter::graph {
std::uint64_t next_epoch() noexcept {
  static std::uint64_t epoch = 0;
  return ++epoch;
}

void plan_table::begin(std::span<const value> roots) {
  device_ = roots[0]->device;
  epoch_ = next_epoch();
  for (const value& r : roots)
    if (!r->is_leaf()) materialise(r.get(), store_reason::requested);
  for (const value& r : roots) enter_pending(r.get());
  for (std::size_t k = 0; k < pending_.size(); ++k) {  // grows
    node* const n = pending_[k];
    for (int a = 0; a < n->operand_count(); ++a) {
      enter_pending(n->operand(a));
      ++at(n->operand(a)).uses;
    }
  }
}

void plan_table::enter_pending(node* n) {
  if (n->is_leaf()) return;
  entry& e = at(n);
  if (std::exchange(e.entered, true)) return;
  pending_.push_back(n);
}

void plan_table::sort_pending() {
  std::sort(pending_.begin(), pending_.end(), [](const node* a, const node* b) { return a->order < b->order; });
}

void plan_table::clear() {
  table_.clear();
  stored_.clear();
  pending_.clear();
}

void plan_table::store_no_more_than(std::size_t count) {
  for (std::size_t k = count; k < stored_.size(); ++k) at(stored_[k]).stored = false;
  stored_.resize(count);
}

void plan_table::enter(node* n) {
  n->mark.epoch = epoch_;
  n->mark.index = static_cast<std::int32_t>(table_.size());
  table_.push_back({.n = n});
}

void plan_table::materialise(node* n, store_reason why) {
  entry& e = at(n);
  if (e.stored) return;
  e.stored = true;
  e.why = why;
  e.kernel = static_cast<std::int32_t>(stored_.size());
  stored_.push_back(n);
}

std::int32_t plan_table::inline_weight(node* n) {
  constexpr std::int32_t heavy = 1000;
  if (n->is_leaf()) return 0;
  entry& known = at(n);
  if (known.stored) return 0;
  if (known.weight >= 0) return known.weight;
  std::int32_t w = 0;
  switch (n->kind.load(std::memory_order_relaxed)) {
    case node_kind::map: w = jit::weight(n->map().op); break;
    case node_kind::random: w = jit::weight(n->random().op); break;
    case node_kind::call: w = jit::weight(jit::opcode::user); break;
    case node_kind::gather: w = 4; break;
    case node_kind::reduce:
    case node_kind::update: w = heavy; break;
    default: break;
  }
  for (int k = 0; k < n->operand_count() && w < heavy; ++k)
    if (!reads_raw(*n, k)) w += inline_weight(n->operand(k));
  at(n).weight = std::min(w, heavy);
  return at(n).weight;
}

bool plan_table::worth_storing(const node* n) const {
  std::size_t bytes = static_cast<std::size_t>(n->size()) * itemsize(n->type);
  if (bytes > runtime::get_backend(device_).memory().available / 4) return false;
  std::size_t inputs = 0;
  std::vector<const node*> pending{n}, done;
  while (!pending.empty()) {
    const node* x = pending.back();
    pending.pop_back();
    if (std::find(done.begin(), done.end(), x) != done.end()) continue;
    done.push_back(x);
    // A draw that is needed again is worth keeping whatever its operands are.
    if (x->is_leaf() || x->kind == node_kind::random) inputs += static_cast<std::size_t>(x->size()) * itemsize(x->type);
    else
      for (int k = 0; k < x->operand_count(); ++k) pending.push_back(x->operand(k));
    if (bytes <= 4 * inputs) return true;
  }
  return bytes <= 4 * inputs;
}

}  // namespace sinter::graph
