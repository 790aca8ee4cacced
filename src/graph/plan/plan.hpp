// src/graph/plan: from requested values to kernels and their operands. Nothing runs here, and no node is changed.
//
// A plan: which nodes are written to memory, and by which kernels.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/plan/forms/index_map.hpp"
#include "graph/plan/forms/short_sums.hpp"
#include "graph/values/node.hpp"

namespace sinter::graph {

/// Why a node is a materialisation point.
enum class store_reason : std::uint8_t {
  requested,      // a root
  sibling,        // a pending reduction over the same value: computed in the same pass
  reduction,      // its consumer's iteration space is not that of its result
  write,          // base of a partial write
  expensive,      // much smaller than its consumer's iteration space, and not cheap
  several_views,  // read through two or more index maps
  not_affine,     // a reshape that no affine map expresses
  packed,         // a strided operand that a broadcast reduction reads repeatedly, or one that lies against a reduction
  row_indices,    // computed, and each of them is read for several elements
  rows,           // gathered rows that a reduction would read element by element
  reused,         // computed before, and still referenced
  shared,         // several kernels would compute it, which costs more than storing it
  held,           // a variable of the program, and expensive to compute again
  crossing,       // alive where a graph is cut that is too large for one kernel
  size,           // the kernel would be too large
  unfused,        // fusion is disabled
  raw,            // a user's function reads it by index
  unfusible,      // a user's function that is not fusible (text around its loop), or what would share its kernel
};
const char* text(store_reason r) noexcept;

/// An input of a kernel: elements of a stored node, addressed by the kernel's variables.
struct input_slot {
  node* source;
  linear_form at;        // in elements of source's C order
  bool raw = false;      // the whole node, for an `address` instruction
  bool written = false;  // raw, and the function writes it
};

/// Where a parameter's value comes from: a scalar node's constant, or a word of a draw's stream. Null: it follows from
/// shapes, views and axes.
struct param_source {
  const node* n = nullptr;
  int word = 0;  // of a draw: 0 to 2
};

/// From how many operations on a kernel is written in the order of recording; smaller ones from their results down.
inline constexpr std::size_t many_operations = 64;

/// effect: a user's function that runs for its side effects; its results are leaves already. staged: kernels over the
/// same rows that have been joined (stages.hpp).
enum class plan_kind : std::uint8_t { elementwise, reduce, update, alias, effect, staged };

struct kernel_plan {
  plan_kind kind = plan_kind::elementwise;
  node* root = nullptr;        // the node that the kernel was first built for
  int level = 0;               // kernels of one level are independent
  std::vector<node*> results;  // one for each output
  dims extents;                // kept axes, then reduced ones
  int kept = 0;
  bool reduces_last = false;
  payload::whole_reduction whole;  // of its reductions
  /// reduce: an axis of the results that is none of the kernel's: for each place along it, every reduction and every output
  /// is one of its own (builder_reduce.cpp). -1: there is none.
  int apart = -1;
  bool unset_base = false;   // update: what it does not write is written by later ones before anything reads it
  bool reads_apart = false;  // update that is decided: reads_apart()
  jit::program code;
  std::vector<input_slot> inputs;
  std::vector<jit::scalar> params;
  std::vector<param_source> sources;  // of the parameters
  std::vector<node*> dependencies;    // materialised nodes that this kernel reads
  std::vector<node*> computed;        // operations without a result in memory that this kernel computes
};

/// Whether two reductions go over the same axes of values of one shape, in one order of additions.
inline bool same_reduction(const node* a, const node* b) noexcept {
  return a->reduce().axes == b->reduce().axes && a->args[0]->shape == b->args[0]->shape &&
         a->reduce().whole == b->reduce().whole;
}

/// The outputs that each result has, and how far apart they begin in its memory, in elements.
inline std::int64_t outputs_of(const kernel_plan& k) noexcept { return k.apart < 0 ? 1 : k.results[0]->shape[k.apart]; }
inline std::int64_t between_outputs(const kernel_plan& k) noexcept {
  return k.apart < 0 ? 0 : core::contiguous_strides(k.results[0]->shape)[k.apart];
}

/// The node whose elements a partial write keeps where it does not write; null if it need not have memory.
inline node* base_of(const kernel_plan& update) noexcept {
  node* const base = update.results[0]->args[0].get();
  return update.unset_base && !base->is_leaf() ? nullptr : base;
}

/// Elements below which a launch costs more than they do: kernels of so many are joined although they share nothing.
inline constexpr std::int64_t small_space = 1 << 20;
/// Whether a node reads so few elements of an operand that they are computed where they are read.
inline bool reads_little(const node* n, const node* operand) noexcept {
  constexpr std::int64_t part = 4;
  const node_kind kind = n->kind.load(std::memory_order_relaxed);
  return (kind == node_kind::gather || kind == node_kind::view) && n->size() * part < operand->size();
}
/// Whether two kernels read the same array.
bool share_inputs(const kernel_plan& a, const kernel_plan& b) noexcept;

/// A fault in a kernel's data marks everything that the kernel writes, so a kernel that may fail is joined only with
/// one that depends on the same checked operations. They are the same if the joined kernel has no more of them than
/// either, or if the later one reads a result of the other and adds none.
bool fail_alike(const kernel_plan& joined, const kernel_plan& k, const kernel_plan& later);
/// For each kernel the next one that may go over the same space.
std::vector<std::size_t> next_alike(const std::vector<kernel_plan*>& kernels);

/// Whether an elementwise kernel reads each element of an input where it writes that of a result.
bool reads_in_place(const kernel_plan& k, const input_slot& s);

/// What moving a byte to or from memory, a launch, and reading an element that is in a cache cost, in the unit of jit::weight:
/// what a core or a multiprocessor computes in that time.
struct device_price {
  double byte, launch, read;
};
device_price price_on(runtime::device_id device) noexcept;
/// What moving a value of so many bytes to memory, or from it, costs in all. On the host what is small enough to be in a core's
/// own caches from kernel to kernel moves several times as fast.
double price_of_moving(runtime::device_id device, std::size_t bytes) noexcept;
/// The weight of a node's own operation.
std::int32_t own_weight(const node* n) noexcept;

/// Whether computing a value from what is in memory costs more than `bound`. Looks no further than needed to tell.
/// `is_stored(node*)`: is or will be in memory; `enter(node*)`: false from the second time on. `by_parts`: of what is stored
/// no more counts than n has elements, as views may show little of it; else it counts whole. `near`: by price_of_moving.
template <class IsStored, class Enter>
bool costs_more(node* n, double bound, IsStored is_stored, Enter enter, bool by_parts = false, bool near = false) {
  const double elements = static_cast<double>(n->size());
  double cost = 0;
  struct part {
    node* n;
    double times;  // for each element of n
  };
  std::vector<part> work{{n, 1}};
  while (!work.empty() && cost <= bound) {
    const auto [x, times] = work.back();
    work.pop_back();
    if (!enter(x)) continue;
    if (x->is_leaf() || (x != n && is_stored(x))) {
      const double part = elements * times / static_cast<double>(std::max<std::int64_t>(1, x->size()));
      const double all =
          near ? price_of_moving(x->device, x->bytes()) : price_on(x->device).byte * static_cast<double>(x->bytes());
      cost += all * (by_parts ? std::min(1.0, part) : 1);
      continue;
    }
    const node_kind kind = x->kind.load(std::memory_order_relaxed);
    const bool is_sum = kind == node_kind::reduce;
    if (kind == node_kind::update || (is_sum && !is_short(x))) continue;  // stored in any case
    cost += own_weight(x) * std::min(static_cast<double>(x->size()), elements * times);
    const double more = is_sum ? times * static_cast<double>(reduced_elements(*x)) : times;
    for (int k = 0; k < x->operand_count(); ++k)
      if (!reads_raw(*x, k)) work.push_back({x->operand(k), more});
  }
  return cost > bound;
}
/// Whether computing a value a second time costs more than three times its memory traffic: it may never be needed again.
template <class IsStored, class Enter>
bool costs_more_again(node* n, IsStored is_stored, Enter enter, bool by_parts = false) {
  constexpr double patience = 3;
  return costs_more(n, patience * price_on(n->device).byte * static_cast<double>(n->bytes()), is_stored, enter,
                    by_parts);
}

/// The value that a node has for a parameter.
jit::scalar value_of(const param_source& s) noexcept;

/// The number of a kernel's operations that may find a fault; if there are any, each launch needs a fault object.
int fault_count(const jit::program& code) noexcept;

// ---- What partial writes read of the array that they write to (writes.cpp)

/// Whether what a kernel reads of an array, at each point of `extents`, is certainly disjoint from what an update of that
/// array writes.
bool reads_elsewhere(const linear_form& read, const node& update, const dims& extents);
/// The same for all that a view shows.
bool shows_elsewhere(const node& view, const node& update);

/// Whether an update may run in the memory of its base as far as what it reads of that is concerned: all is elsewhere
/// than what it writes, or each element is read where it is written.
bool reads_apart(const kernel_plan& update);

/// The version that the elements of a view of a partial write come from, if all writes down to it are among `writes`, which
/// one kernel does, and the view shows nothing that they write; else null.
node* version_below(const node& view, std::span<node* const> writes);

}  // namespace sinter::graph
