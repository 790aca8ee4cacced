// What the handle of an operation's result holds until it is used as an array.
#pragma once
#include <atomic>
#include <utility>

namespace sinter::graph {
class node;
}

namespace sinter::inline v0 {

namespace detail {
/// A recorded value that is no array yet. The result of an operation is one: most are read by the next operation and gone, and need
/// neither a storage nor a view. Copies, views, writes and evaluation make an array of it, on whichever thread comes first.
class recorded_value {
 public:
  recorded_value() noexcept = default;
  /// Takes over a reference.
  explicit recorded_value(graph::node* n) noexcept : node_(n) {}
  recorded_value(recorded_value&& o) noexcept : node_(o.node_.load(std::memory_order_relaxed)) {
    o.node_.store(nullptr, std::memory_order_relaxed);
  }
  recorded_value& operator=(recorded_value&& o) noexcept {
    recorded_value old(std::move(*this));
    node_.store(o.node_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    o.node_.store(nullptr, std::memory_order_relaxed);
    return *this;
  }
  ~recorded_value() {
    if (graph::node* const n = node_.load(std::memory_order_relaxed)) give_up(n);
  }
  explicit operator bool() const noexcept { return node_.load(std::memory_order_acquire) != nullptr; }
  /// The node, or null, which no other thread gets until it is put back, or taken for good with null.
  graph::node* take() const noexcept;
  void put(graph::node* n) const noexcept { node_.store(n, std::memory_order_release); }

 private:
  static void give_up(graph::node* n) noexcept;
  mutable std::atomic<graph::node*> node_{nullptr};
};
}  // namespace detail

}  // namespace sinter::inline v0
