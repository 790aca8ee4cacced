// Node memory: a free list for each thread, so that recording an operation costs no call of the system allocator.
#include "graph/node.hpp"

#include <mutex>
#include <new>
#include <vector>

#include "graph/record.hpp"
#include "graph/readers.hpp"

namespace sinter::graph {
namespace {

/// Free list of one thread. Trivially destructible on purpose: arrays in static storage may die after it.
struct free_list {
  void* head;
  int count;
};
constinit thread_local free_list cache{nullptr, 0};
constexpr int cache_limit = 512;

std::mutex& readers_mutex() {
  static auto* m = new std::mutex;  // outlives static arrays
  return *m;
}

void recycle(node* n) noexcept {
  n->~node();
  if (cache.count >= cache_limit) {
    ::operator delete(n);
    return;
  }
  *reinterpret_cast<void**>(n) = cache.head;
  cache.head = n;
  ++cache.count;
}

}  // namespace

node* new_node() {
  if (!cache.head) return new (::operator new(sizeof(node))) node;
  void* p = cache.head;
  cache.head = *static_cast<void**>(p);
  --cache.count;
  return new (p) node;
}

void destroy(node* n) noexcept {
  // Iterative: a chain of a million recorded operations must not overflow the stack.
  node* doomed = n;
  doomed->mark.next = nullptr;
  while (doomed) {
    node* current = doomed;
    doomed = current->mark.next;
    unlink_reader(current);
    for (value& arg : current->args) {
      node* operand = arg.release();
      if (operand && operand->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        operand->mark.next = doomed;
        doomed = operand;
      }
    }
    recycle(current);
  }
}

void link_reader(node* reduction) {
  std::lock_guard lock(readers_mutex());
  node* operand = reduction->args[0].get();
  reduction->next_reader = operand->readers;
  if (operand->readers) operand->readers->previous_reader = reduction;
  operand->readers = reduction;
  reduction->is_reader = true;
}

void unlink_reader(node* reduction) noexcept {
  if (!reduction->is_reader) return;
  std::lock_guard lock(readers_mutex());
  if (reduction->previous_reader)
    reduction->previous_reader->next_reader = reduction->next_reader;
  else
    reduction->args[0]->readers = reduction->next_reader;
  if (reduction->next_reader) reduction->next_reader->previous_reader = reduction->previous_reader;
  reduction->next_reader = reduction->previous_reader = nullptr;
  reduction->is_reader = false;
}

std::vector<value> live_readers(const node* operand) {
  std::lock_guard lock(readers_mutex());
  std::vector<value> found;
  for (node* r = operand->readers; r; r = r->next_reader) {
    // A count of zero means that another thread is about to unlink it: it must not be revived.
    std::uint32_t count = r->refs.load(std::memory_order_relaxed);
    while (count != 0 && !r->refs.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) {
    }
    if (count != 0) found.push_back(value::adopt(r));
  }
  return found;
}

}  // namespace sinter::graph
