// Lists of values that are mostly of one or a few, and an index of nodes: what a trace keeps for each operation, without memory of
// its own for each.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/values/node.hpp"

namespace sinter::graph {

/// As a vector; up to three lie in the list itself.
class value_list {
 public:
  value_list() = default;
  explicit value_list(value one) : count_(1) { few_[0] = std::move(one); }
  explicit value_list(std::vector<value> all) : many_(std::move(all)), count_(many_.size()) {
    if (count_ > few_.size()) return;
    for (std::size_t k = 0; k < count_; ++k) few_[k] = std::move(many_[k]);
    many_.clear();
  }

  std::size_t size() const noexcept { return count_; }
  const value* data() const noexcept { return count_ > few_.size() ? many_.data() : few_.data(); }
  const value* begin() const noexcept { return data(); }
  const value* end() const noexcept { return data() + count_; }
  const value& operator[](std::size_t k) const noexcept { return data()[k]; }
  const value& back() const noexcept { return data()[count_ - 1]; }
  void push_back(value v) {
    if (count_ < few_.size()) {
      few_[count_++] = std::move(v);
      return;
    }
    if (count_ == few_.size())
      for (value& one : few_) many_.push_back(std::move(one));
    many_.push_back(std::move(v));
    ++count_;
  }

 private:
  std::array<value, 3> few_;
  std::vector<value> many_;
  std::size_t count_ = 0;
};

/// Numbers of nodes, by open addressing. Nodes are not taken out again.
class node_index {
 public:
  /// Null: it is not there.
  const std::int32_t* find(const node* n) const noexcept {
    if (slots_.empty()) return nullptr;
    for (std::size_t k = place_of(n);; ++k) {
      const slot& s = slots_[k & (slots_.size() - 1)];
      if (s.n == n) return &s.number;
      if (!s.n) return nullptr;
    }
  }
  bool contains(const node* n) const noexcept { return find(n) != nullptr; }
  /// Leaves a node that is there as it is.
  void emplace(const node* n, std::int32_t number) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    for (std::size_t k = place_of(n);; ++k) {
      slot& s = slots_[k & (slots_.size() - 1)];
      if (s.n == n) return;
      if (s.n) continue;
      s = {n, number};
      ++count_;
      return;
    }
  }

 private:
  struct slot {
    const node* n = nullptr;
    std::int32_t number = 0;
  };
  static std::size_t place_of(const node* n) noexcept {
    return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(n) * 0x9e3779b97f4a7c15ull >> 32);
  }
  void grow() {
    const std::vector<slot> before = std::exchange(slots_, std::vector<slot>(slots_.empty() ? 64 : 2 * slots_.size()));
    count_ = 0;
    for (const slot& s : before)
      if (s.n) emplace(s.n, s.number);
  }

  std::vector<slot> slots_;  // a power of two, at most half full
  std::size_t count_ = 0;
};

}  // namespace sinter::graph
