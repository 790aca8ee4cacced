// Creation and destruction of nodes, and the weak lists that they are in.
#include "graph/values/node.hpp"

#include <new>

#include "graph/values/example.hpp"
#include "graph/values/long_chains.hpp"
#include "graph/values/recycle.hpp"
#include "graph/values/spin_guard.hpp"

namespace sinter::graph {
namespace {

/// Held while lists of readers are linked and read.
constinit std::atomic<bool> readers_busy{false};

struct list {
  std::atomic<bool> busy{false};
  node* head = nullptr;
};
constinit list pending_list;

/// Reference to a node of a list whose lock is held. Null if the last reference is gone: another thread is about to
/// unlink the node, and it must not be revived.
value hold_if_alive(node* n) noexcept {
  std::uint32_t count = n->refs.load(std::memory_order_relaxed);
  while (count != 0 && !n->refs.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) {
  }
  return count == 0 ? value() : value::adopt(n);
}

/// Whether the destructor of a node that has given up its operands would do nothing, as of most: it was never evaluated, and has
/// no payload or shape with memory of its own.
[[gnu::always_inline]] inline bool owns_nothing(const node& n) noexcept {
  using namespace payload;
  static_assert(std::is_trivially_destructible_v<scalar> && std::is_trivially_destructible_v<iota> &&
                std::is_trivially_destructible_v<map> && std::is_trivially_destructible_v<random> &&
                std::is_trivially_destructible_v<gather> && std::is_trivially_destructible_v<payload::reduce>);
  constexpr int inline_rank = 6;
  switch (n.kind.load(std::memory_order_relaxed)) {
    case node_kind::scalar:
    case node_kind::iota:
    case node_kind::map:
    case node_kind::random:
    case node_kind::gather:
    case node_kind::reduce: return n.shape.size() <= inline_rank;
    default: return false;
  }
}

}  // namespace

void* node::operator new(std::size_t) { return recycler<sizeof(node)>::take(); }
void node::operator delete(void* p) noexcept { recycler<sizeof(node)>::give(p); }

void destroy(node* n) noexcept {
  // Iterative: a chain of a million recorded operations must not overflow the stack.
  node* doomed = n;
  doomed->mark.next = nullptr;
  while (doomed) {
    node* current = doomed;
    doomed = current->mark.next;
    if (current->is_reader) [[unlikely]]
      unlink_reader(current);
    if (current->is_listed.load(std::memory_order_acquire)) [[unlikely]]
      unlist(current);
    current->release_operands([&](value v) {
      node* operand = v.release();
      if (release(*operand)) {
        operand->mark.next = doomed;
        doomed = operand;
      }
    });
    if (owns_nothing(*current)) node::operator delete(current);
    else delete current;
  }
}

node* finished_reduction(const node& n) noexcept {
  if (n.kind != node_kind::call) return nullptr;
  for (const value& v : n.call().operands) {
    if (!v->opaque) continue;
    if (v->kind.load(std::memory_order_relaxed) == node_kind::reduce) return v.get();
    if (node* found = finished_reduction(*v)) return found;
  }
  return nullptr;
}

bool same_call(const node& a, const node& b) noexcept {
  if (a.kind != node_kind::call || b.kind != node_kind::call) return false;
  return a.call().function == b.call().function && a.call().operands == b.call().operands;
}

void link_reader(node* reduction) {
  const spin_guard lock(readers_busy);
  node* operand = reduction->args[0].get();
  reduction->next_reader = operand->readers;
  if (operand->readers) operand->readers->previous_reader = reduction;
  operand->readers = reduction;
  reduction->is_reader = true;
}

void unlink_reader(node* reduction) noexcept {
  if (!reduction->is_reader) return;
  const spin_guard lock(readers_busy);
  if (reduction->previous_reader) reduction->previous_reader->next_reader = reduction->next_reader;
  else reduction->args[0]->readers = reduction->next_reader;
  if (reduction->next_reader) reduction->next_reader->previous_reader = reduction->previous_reader;
  reduction->next_reader = reduction->previous_reader = nullptr;
  reduction->is_reader = false;
}

std::vector<value> live_readers(const node* reduction) {
  const spin_guard lock(readers_busy);
  std::vector<value> found;
  for (node* r = reduction->args[0]->readers; r; r = r->next_reader) {
    if (r->capture != reduction->capture) continue;
    if (value held = hold_if_alive(r)) found.push_back(std::move(held));
  }
  return found;
}

namespace {

/// Whether it was not listed before.
bool list(node* n) {
  if (n->opaque || n->is_leaf() || is_example(*n)) return false;
  const spin_guard lock(pending_list.busy);
  if (n->is_listed.load(std::memory_order_relaxed)) {
    ++n->holders;
    return false;
  }
  n->next_listed = pending_list.head;
  if (pending_list.head) pending_list.head->previous_listed = n;
  pending_list.head = n;
  n->holders = 1;
  n->is_listed.store(true, std::memory_order_relaxed);
  return true;
}

}  // namespace

bool list_pending(const value& v) { return may_be_listed(*v) && list(v.get()); }
bool list_any_pending(const value& v) { return list(v.get()); }

namespace {

/// With the list's lock.
void unlink_listed(node* n) noexcept {
  (n->previous_listed ? n->previous_listed->next_listed : pending_list.head) = n->next_listed;
  if (n->next_listed) n->next_listed->previous_listed = n->previous_listed;
  n->next_listed = n->previous_listed = nullptr;
  n->is_listed.store(false, std::memory_order_release);
}

}  // namespace

void leave_storage(node* n) noexcept {
  const spin_guard lock(pending_list.busy);
  if (n->is_listed.load(std::memory_order_relaxed) && --n->holders == 0) unlink_listed(n);
}

void unlist(node* n) noexcept {
  if (!n->is_listed.load(std::memory_order_acquire)) return;
  const spin_guard lock(pending_list.busy);
  if (n->is_listed.load(std::memory_order_relaxed)) unlink_listed(n);
}

std::vector<value> listed_values() {
  std::vector<value> found;
  {
    const spin_guard lock(pending_list.busy);
    for (node* n = pending_list.head; n; n = n->next_listed)
      if (value held = hold_if_alive(n)) found.push_back(std::move(held));
  }
  // Without the lock: a reference released here may be the last one.
  std::erase_if(found, [](const value& v) { return v->is_leaf(); });
  return found;
}
std::vector<value> listed_values(runtime::device_id device) {
  std::vector<value> found = listed_values();
  std::erase_if(found, [device](const value& v) { return !(v->device == device); });
  return found;
}

}  // namespace sinter::graph
