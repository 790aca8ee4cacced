// Watching what a function records, without a claim on it: a trace that notes where it would lose a dependence instead of
// refusing it, and whether the host has read elements.
#pragma once
#include <unordered_map>

#include "graph/values/trace.hpp"

namespace sinter::graph {

/// The innermost trace of this thread until end(). One at a time on a thread.
class watch {
 public:
  explicit watch(const char* function);
  ~watch();
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;

  trace& list() noexcept { return list_; }
  const trace& list() const noexcept { return list_; }
  void end() noexcept;
  /// Whether the list holds everything that the results depend on: no memory was used outside of the graph by something
  /// that had not announced itself, and the host has read no element.
  bool is_complete() const noexcept { return complete_; }
  /// The watch of this thread; null if there is none.
  static watch* current() noexcept;
  /// Whether a trace is that of the watch of this thread.
  static bool has(const trace& t) noexcept;

  /// What a node that depends on no input was computed from, if it was recorded meanwhile within a capture: an evaluation makes it
  /// a leaf, whose elements the capture does not know.
  struct constant {
    node_kind kind;
    value made;
    value_list operands;
  };
  const std::unordered_map<const node*, constant>& constants() const noexcept { return constants_; }
  /// Null: it is not one of these.
  const constant* constant_of(const node& n) const noexcept {
    const auto found = constants_.find(&n);
    return found == constants_.end() ? nullptr : &found->second;
  }

 private:
  friend class trace;
  void add_constant(const value& v);
  friend void refuse_if_traced(const value& v, const char* what, const char* function);
  friend void note_host_read() noexcept;
  trace list_;
  std::unordered_map<const node*, constant> constants_;
  bool complete_ = true, active_ = true;
};

/// Elements of some array are read on the host: what is recorded next may depend on them.
void note_host_read() noexcept;

}  // namespace sinter::graph
