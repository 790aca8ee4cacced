// The weak list of pending values over large operands.
#include "graph/pressure.hpp"

#include <mutex>


namespace sinter::graph {
namespace {

struct list {
  std::mutex mutex;
  node* head = nullptr;
};

list& listed() noexcept {
  static auto* l = new list;  // outlives static arrays
  return *l;
}

}  // namespace

void list_if_large(const value& v) {
  node* n = v.get();
  if (!n->over_large || n->opaque || n->is_leaf() || n->is_listed) return;
  runtime::set_pressure_hook(&relieve);
  list& l = listed();
  const std::lock_guard lock(l.mutex);
  if (n->is_listed) return;
  n->next_listed = l.head;
  if (l.head) l.head->previous_listed = n;
  l.head = n;
  n->is_listed = true;
}

void unlist(node* n) noexcept {
  if (!n->is_listed) return;
  list& l = listed();
  const std::lock_guard lock(l.mutex);
  (n->previous_listed ? n->previous_listed->next_listed : l.head) = n->next_listed;
  if (n->next_listed) n->next_listed->previous_listed = n->previous_listed;
  n->next_listed = n->previous_listed = nullptr;
  n->is_listed = false;
}

std::vector<value> listed_values(runtime::device_id device) {
  list& l = listed();
  const std::lock_guard lock(l.mutex);
  std::vector<value> found;
  for (node* n = l.head; n; n = n->next_listed) {
    // A count of zero means that another thread is about to unlist it: it must not be revived.
    std::uint32_t count = n->refs.load(std::memory_order_relaxed);
    while (count != 0 && !n->refs.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) {
    }
    if (count == 0) continue;
    value held = value::adopt(n);
    if (!n->is_leaf() && n->device == device) found.push_back(std::move(held));
  }
  return found;
}

}  // namespace sinter::graph
