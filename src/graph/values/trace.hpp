// Traces: what has been recorded since some values were entered, and depends on them. Derivatives walk a trace forwards
// or backwards, vectorisation replays it. No node knows that it is traced.
//
// record.cpp tells the traces of the thread about each node that it makes. A trace keeps the node and references to its
// operands, so it is complete even where an evaluation turns nodes into leaves meanwhile: control flow may depend on
// values. What runs at once and outside of the graph (sorts, products, ...) is told by ops/base/opaque_call.hpp; where
// such code reads a traced value's memory without having been announced, the trace refuses, rather than lose a
// dependence.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/values/value_list.hpp"

namespace sinter::graph {

/// A call outside of the graph, as the entry of a trace keeps it. ops/base/opaque_call.hpp derives from it.
struct traced_call {
  virtual ~traced_call() = default;
  /// Whether the result is the product of two operands of its dtype as stacks of matrices, which broadcast before the last
  /// two axes.
  virtual bool is_matrix_product() const noexcept { return false; }
};

enum class trace_filter : std::uint8_t {
  inexact,     // only values of floating-point and complex numbers depend: derivatives
  everything,  // vectorisation
};

class trace {
 public:
  /// What one recorded node, or the results of one opaque call, were computed from. In order of recording, so operands
  /// come before results.
  struct entry {
    node_kind kind;                     // of the node as it was recorded: evaluation makes it a leaf. Opaque: leaf
    value_list results;                 // one; of an opaque call all of its results
    value_list operands;                // of the node in its order; of a call its operands as values
    std::shared_ptr<traced_call> call;  // opaque calls; else null
    bool is_constant = false;           // for derivatives: recorded where `constants` lived

    const node& made() const noexcept { return *results[0]; }
  };

  /// Begins: the innermost trace of this thread until end(). `function`: whose trace it is, for errors.
  trace(const char* function, trace_filter filter);
  ~trace();
  trace(const trace&) = delete;
  trace& operator=(const trace&) = delete;

  /// A new input with the elements of `v`: a node of its own, which outer traces see as a view of `v`.
  value enter(const value& v);
  /// The elements of `v`, which does not depend on an input, as an entry like those that do.
  value follow(const value& v);
  /// Stops recording; the entries remain. Traces end in the opposite order of their beginnings. Called again: nothing.
  void end() noexcept;

  std::span<const value> inputs() const noexcept { return inputs_; }
  std::span<const entry> entries() const noexcept { return entries_; }
  /// Whether a value is an input or depends on one.
  bool has(const node* n) const noexcept { return index_.contains(n); }
  bool has(const value& v) const noexcept { return has(v.get()); }
  /// The entry that a value is a result of; -1: an input or not traced.
  std::int32_t entry_of(const value& v) const noexcept {
    const std::int32_t* const found = index_.find(v.get());
    return found ? *found : -1;
  }
  /// Of each entry, whether one of these values follows from it.
  std::vector<bool> needed_for(std::span<const value> results) const;
  const char* function() const noexcept { return function_; }
  trace_filter filter() const noexcept { return filter_; }

  /// An opaque call whose results (null: undefined) depend on the operands; one without a result that this trace follows
  /// is left out. A result
  /// that is already traced, because the call gave back its operand, must not be passed: record_identity first.
  void add_call(std::shared_ptr<traced_call> call, std::vector<value> operands, std::vector<value> results);

  /// Recording is off for this trace (not for outer ones) while one lives.
  class pause {
   public:
    explicit pause(trace& t) noexcept : t_(t) { t.set_paused(true); }
    ~pause() { t_.set_paused(false); }
    pause(const pause&) = delete;
    pause& operator=(const pause&) = delete;

   private:
    trace& t_;
  };
  bool is_paused() const noexcept { return paused_ != 0; }
  void set_paused(bool yes) noexcept { paused_ += yes ? 1 : -1; }

  /// The innermost trace of this thread; null if there is none. Then the next one outside of it.
  static trace* innermost() noexcept;
  trace* outer() const noexcept { return outer_; }

  void add_recorded(const value& v);  // record.cpp's notice

 private:
  bool follows(const node& n) const noexcept { return filter_ == trace_filter::everything || is_inexact(n.type); }

  const char* function_;
  trace_filter filter_;
  bool active_ = true;
  int paused_ = 0;
  trace* outer_;
  std::vector<value> inputs_;
  std::vector<entry> entries_;
  node_index index_;  // the entry, or -1: an input. The entries hold the nodes
};

/// Traces of all threads: while there is none, a thread need not look for its own.
inline std::atomic<int> traces_anywhere{0};

void tell_traces(const value& v);
/// What record.cpp calls for each node with operands.
inline void note_recorded(const value& v) {
  if (traces_anywhere.load(std::memory_order_relaxed) != 0) [[unlikely]]
    tell_traces(v);
}

/// derivative_error if a trace follows `v`: it is "`what`", by the function that is given.
void refuse_if_traced(const value& v, const char* what, const char* function = nullptr);
/// For code that uses the memory of a value outside of the graph: derivative_error if a trace of this thread that is not
/// paused would lose a dependence. `what` says what the memory is wanted for.
inline void note_memory_use(const value& v, const char* what) {
  if (traces_anywhere.load(std::memory_order_relaxed) != 0) [[unlikely]]
    refuse_if_traced(v, what);
}

/// A node of its own with the elements of `v`; evaluated it shares its memory.
value record_identity(const value& v);

/// Derivatives are not traced on this thread while one lives (traces of everything are): what is recorded is constant.
class constants {
 public:
  constants();
  ~constants();
  constants(const constants&) = delete;
  constants& operator=(const constants&) = delete;
  /// Whether one lives on this thread.
  static bool any() noexcept;
  /// Whether a value of one example of many (example.hpp), which is recorded again for all of them, was recorded while one
  /// lived and a trace was there. Known until no trace of this thread is left; a reference to it is kept until then.
  static bool has(const node& example) noexcept;

 private:
  std::vector<trace*> paused_;
};

}  // namespace sinter::graph
