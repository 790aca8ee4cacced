// src/graph/values: recorded values, their payloads, and the storages whose versions they are. Nothing here decides
// what is computed when.
//
// A recorded value: an immutable node of a directed acyclic graph. Evaluation turns a node into a leaf in place;
// nothing else about it ever changes, so nodes may be shared between threads and arrays.
#pragma once
#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/dims.hpp"
#include "graph/values/payload.hpp"
#include "graph/values/value.hpp"
#include "jit/program/program.hpp"
#include "runtime/backend.hpp"

namespace sinter::graph {

using core::dims;

/// What a value may depend on, as bits.
namespace over_what {
inline constexpr std::uint8_t large = 1;      // a large operand: evaluation may release memory
inline constexpr std::uint8_t reduction = 2;  // a reduction that was pending when the value was recorded
inline constexpr std::uint8_t write = 4;      // so was a partial write
/// It is a reduction, or no larger than one below, whose operand is much larger.
inline constexpr std::uint8_t larger = 8;
}  // namespace over_what

/// Planner scratch; valid only inside one flush, under its lock (`next`: only while the node is destroyed).
struct plan_mark {
  std::uint64_t epoch = 0;  // of the flush that last touched the node
  std::int32_t index = -1;  // into the planner's table
  node* next = nullptr;
};

class node {
 public:
  template <class Payload>
  node(Payload&& what, dtype of, const dims& extents, runtime::device_id where)
      : kind(std::remove_cvref_t<Payload>::kind),
        type(of),
        device(where),
        shape(extents),
        recorded_(std::forward<Payload>(what)) {}
  // Blocks of a free list (recycle.hpp): every recorded operation allocates and frees nodes.
  static void* operator new(std::size_t bytes);
  static void operator delete(void* p) noexcept;

  std::atomic<std::uint32_t> refs{1};
  std::atomic<node_kind> kind;  // the payload's until the node is evaluated, which makes it a leaf
  dtype type;
  std::uint8_t nargs = 0;                     // used elements of `args`
  std::atomic<bool> evaluated_before{false};  // was computed inside a kernel while references outside of it held it
  std::atomic<bool> assigned{false};          // became the value of a name that had one before: a variable of a loop
  bool is_reader = false;                     // reduce: linked into the operand's list of readers
  bool opaque = false;     // call, reduce: a type of a preamble, never in memory; read only by calls and reductions
  bool large = false;      // limits().large_operand bytes or more
  std::uint8_t over = 0;   // what it depends on, and what values that are recorded over it do: bits of `over_what`
  std::uint8_t shows = 0;  // what they do by its own kind and size
  std::atomic<bool> is_listed{false};  // is in the list of pending values
  memory_kind memory{};                // where its result is to be allocated
  std::uint16_t depth = 0;             // longest chain of pending nodes below when it was recorded
  std::uint16_t writes = 0;            // update: pending updates in a row when it was recorded, this one included
  std::uint64_t order = 0;             // of recording: above those of its operands
  runtime::device_id device;
  value args[3];  // the operands of all kinds except calls
  dims shape;
  runtime::buffer_ref buffer;      // leaf
  std::int64_t buffer_offset = 0;  // leaf: index of the first element in the buffer
  std::uint32_t capture = 0;       // the capture that it was recorded in; 0: none
  std::uint32_t holders = 0;       // storages that hold it, while it is listed; guarded by the list's lock
  plan_mark mark;
  node* next_reader = nullptr;  // weak, doubly linked list of the reductions that read args[0]
  node* previous_reader = nullptr;
  node* readers = nullptr;      // head of that list, in the operand
  node* next_listed = nullptr;  // the weak list of pending values (list_pending)
  node* previous_listed = nullptr;

  // The payload as recorded: evaluation does not change it.
  const payload::scalar& scalar() const noexcept { return recorded<payload::scalar>(); }
  const payload::iota& iota() const noexcept { return recorded<payload::iota>(); }
  const payload::map& map() const noexcept { return recorded<payload::map>(); }
  const payload::random& random() const noexcept { return recorded<payload::random>(); }
  const payload::view& view() const noexcept { return recorded<payload::view>(); }
  const payload::gather& gather() const noexcept { return recorded<payload::gather>(); }
  const payload::reduce& reduce() const noexcept { return recorded<payload::reduce>(); }
  const payload::call& call() const noexcept { return recorded<payload::call>(); }
  const payload::update& update() const noexcept { return recorded<payload::update>(); }

  /// The nodes that this one is computed from: `args`, or those of the call. None of a leaf.
  int operand_count() const noexcept {
    if (nargs != 0) return nargs;
    const auto* c = std::get_if<payload::call>(&recorded_);
    return c ? static_cast<int>(c->operands.size()) : 0;
  }
  node* operand(int k) const noexcept {
    if (nargs != 0) return args[k].get();
    return std::get_if<payload::call>(&recorded_)->operands[static_cast<std::size_t>(k)].get();
  }
  /// Moves each operand into take(value); afterwards there are none.
  template <class F>
  void release_operands(F take) {
    for (int k = 0; k < nargs; ++k) take(std::move(args[k]));
    nargs = 0;
    if (auto* c = std::get_if<payload::call>(&recorded_)) {
      for (value& v : c->operands) take(std::move(v));
      c->operands.clear();
    }
  }

  bool over_large() const noexcept { return (over & over_what::large) != 0; }
  bool over_reduction() const noexcept { return (over & over_what::reduction) != 0; }
  bool over_write() const noexcept { return (over & over_what::write) != 0; }
  bool holds_larger() const noexcept { return (over & over_what::larger) != 0; }
  bool is_leaf() const noexcept { return kind.load(std::memory_order_acquire) == node_kind::leaf; }
  std::int64_t size() const noexcept { return core::element_count(shape); }
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(size()) * itemsize(type); }
  /// The kind of memory that holds it, or will.
  memory_kind kind_of_memory() const noexcept { return is_leaf() ? buffer->kind() : memory; }

 private:
  template <class Payload>
  const Payload& recorded() const noexcept {
    assert(std::holds_alternative<Payload>(recorded_));
    return *std::get_if<Payload>(&recorded_);
  }

  payload::any recorded_;
};

/// The reduction of an opaque type whose epilogue a call is, directly or through opaque calls; null if there is none.
node* finished_reduction(const node& n) noexcept;
/// Whether a call is not fusible, because its function has text around the loop: it is the only call of its kernel.
inline bool unfusible(const node& n) noexcept {
  return n.kind == node_kind::call && n.call().function->has_loop_text();
}
/// Whether operand k is read by index in a user's text: it must be in memory.
inline bool reads_raw(const node& n, int k) noexcept {
  if (n.kind != node_kind::call) return false;
  const auto& inputs = n.call().function->inputs;
  return static_cast<std::size_t>(k) >= inputs.size() || inputs[static_cast<std::size_t>(k)].raw;
}
/// Whether two nodes are outputs of one call.
bool same_call(const node& a, const node& b) noexcept;
/// Whether a node computes each of its elements from those of its operands.
inline bool is_operation(node_kind k) noexcept {
  return k == node_kind::map || k == node_kind::call || k == node_kind::random;
}

// ---- The weak lists that a node leaves when it is destroyed or evaluated

/// The reductions that read a node, so that several reductions over one value are fused into one pass.
void link_reader(node* reduction);
void unlink_reader(node* reduction) noexcept;
/// The pending reductions with the operand of `reduction`, itself included, that still have references and were
/// recorded in the same capture (or likewise in none): work of one capture does not run in another.
std::vector<value> live_readers(const node* reduction);

/// Lists a pending value that a storage gets: one over large operands, which may be evaluated when memory
/// runs out, and one at the end of a long chain, or that keeps a larger one of it, which is evaluated with others of that chain.
/// Listed values are complete: other threads may evaluate them. False if the value does not qualify or is listed already.
bool list_pending(const value& v);
/// A storage no longer holds a value. What no storage holds leaves the list: it is computed when others need it.
void leave_storage(node* n) noexcept;
void unlist(node* n) noexcept;
/// The listed values that are pending and still have references; those on a device.
std::vector<value> listed_values();
std::vector<value> listed_values(runtime::device_id device);

/// Gives up a reference; whether it was the last one. Whoever has the only one needs no atomic operation, except where a
/// weak list could give away another: only a holder of a reference adds a node to one.
inline bool release(node& n) noexcept {
  if (n.refs.load(std::memory_order_acquire) == 1 && !n.is_reader && !n.is_listed.load(std::memory_order_relaxed))
    return true;
  return n.refs.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

inline value::value(node* n) noexcept : node_(n) {
  if (n) n->refs.fetch_add(1, std::memory_order_relaxed);
}
inline value::~value() {
  if (node_ && graph::release(*node_)) destroy(node_);
}

}  // namespace sinter::graph
