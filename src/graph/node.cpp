// Birth and death of nodes, and the weak list of readers.
#include "graph/node.hpp"

#include <mutex>
#include <new>
#include <vector>

#include "graph/pressure.hpp"
#include "graph/readers.hpp"
#include "graph/record.hpp"
#include "graph/recycle.hpp"

namespace sinter::graph {
namespace {

std::mutex& readers_mutex() {
  static auto* m = new std::mutex;  // outlives static arrays
  return *m;
}

}  // namespace

node* new_node() { return new (recycler<sizeof(node)>::take()) node; }

void destroy(node* n) noexcept {
  // Iterative: a chain of a million recorded operations must not overflow the stack.
  node* doomed = n;
  doomed->mark.next = nullptr;
  while (doomed) {
    node* current = doomed;
    doomed = current->mark.next;
    unlink_reader(current);
    unlist(current);
    auto let_go = [&](value& arg) {
      node* operand = arg.release();
      if (operand && operand->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        operand->mark.next = doomed;
        doomed = operand;
      }
    };
    for (value& arg : current->args) let_go(arg);
    if (current->call)
      for (value& arg : current->call->operands) let_go(arg);
    current->~node();
    recycler<sizeof(node)>::give(current);
  }
}

node* finished_reduction(const node& n) noexcept {
  if (!n.call) return nullptr;
  for (const value& v : n.call->operands) {
    if (!v->opaque) continue;
    if (v->kind.load(std::memory_order_relaxed) == node_kind::reduce) return v.get();
    if (node* found = finished_reduction(*v)) return found;
  }
  return nullptr;
}

bool same_call(const node& a, const node& b) noexcept {
  return a.call && b.call && a.call->function == b.call->function && a.call->operands == b.call->operands;
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
