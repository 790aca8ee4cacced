// A counted reference to a recorded value.
#pragma once
#include <utility>

namespace sinter::graph {

class node;
void destroy(node* n) noexcept;

/// Intrusive reference to a node.
class value {
 public:
  value() noexcept = default;
  explicit value(node* n) noexcept;  // adds a reference
  value(const value& o) noexcept : value(o.node_) {}
  value(value&& o) noexcept : node_(std::exchange(o.node_, nullptr)) {}
  value& operator=(value o) noexcept {
    std::swap(node_, o.node_);
    return *this;
  }
  ~value();
  static value adopt(node* n) noexcept {
    value v;
    v.node_ = n;
    return v;
  }
  node* get() const noexcept { return node_; }
  node* operator->() const noexcept { return node_; }
  node& operator*() const noexcept { return *node_; }
  node* release() noexcept { return std::exchange(node_, nullptr); }
  explicit operator bool() const noexcept { return node_ != nullptr; }
  friend bool operator==(const value& a, const value& b) noexcept { return a.node_ == b.node_; }

 private:
  node* node_ = nullptr;
};

}  // namespace sinter::graph
