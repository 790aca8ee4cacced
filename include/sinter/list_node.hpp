// Nested brace lists of numbers, as array() takes them.
#pragma once
#include <cstddef>
#include <initializer_list>

#include "sinter/scalar.hpp"

namespace sinter::inline v0 {

/// Part of a nested brace list: a number or a list. Parameter-only.
class list_node {
 public:
  template <scalar_like T>
  list_node(T v) noexcept : number_(v) {}
  list_node(std::initializer_list<list_node> list) noexcept : number_(false), list_(list), is_list_(true) {}
  bool is_list() const noexcept { return is_list_; }
  const scalar& number() const noexcept { return number_; }
  std::size_t size() const noexcept { return list_.size(); }
  const list_node* begin() const noexcept { return list_.begin(); }
  const list_node* end() const noexcept { return list_.end(); }

 private:
  scalar number_;
  std::initializer_list<list_node> list_;
  bool is_list_ = false;
};

}  // namespace sinter::inline v0
