// Work that a handle is until the handle is first used: what is done to its result in the same statement may become part of it.
#pragma once
#include <memory>
#include <optional>

#include "ops/base/type_rules.hpp"

namespace sinter::ops {

class deferred_work {
 public:
  virtual ~deferred_work() = default;
  /// What the handle then holds. Called once; recorded or evaluated.
  virtual graph::value compute() = 0;
  /// op(x, y), where x (y is null then) or one of both is this work's handle `self`, as work; null where it takes no part in it.
  /// Numbers and arrays are as the operator got them. The handle may be used by others as well: then the work of `self` is
  /// done once, and the result computed from it.
  virtual std::shared_ptr<deferred_work> followed_by(jit::opcode op, const graph::view_ref& self, const operand& x,
                                                     const operand* y) const = 0;
};

/// A handle for work, on the default capture (none) of the thread; it is done when the handle is first used, under its lock.
ndarray defer(std::shared_ptr<deferred_work> work);
/// The work of a handle that has not been used; null for any other one.
std::shared_ptr<deferred_work> deferred_work_of(const ndarray& a);

/// An operation of which an operand is work that takes it over; nothing otherwise. For callers that have found is_unread().
std::optional<ndarray> follow_deferred(jit::opcode op, const operand& x, const operand* y);

}  // namespace sinter::ops
