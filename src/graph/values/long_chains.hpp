// Which pending values end a chain that is long, of operations or of writes to one array.
#pragma once
#include "graph/values/limits.hpp"
#include "graph/values/node.hpp"

namespace sinter::graph {

/// A chain of so many operations, or writes that are evaluated next, is evaluated together with the other live values that
/// read it: those would compute it again, or keep old elements that are copied for them.
inline bool is_long(const node& n) noexcept {
  return n.depth >= limits().long_chain() || n.writes > limits().update_chain;
}
/// Whether a pending value may be evaluated together with others (list_pending).
inline bool may_be_listed(const node& n) noexcept {
  constexpr std::uint8_t listed = over_what::large | over_what::write | over_what::larger;
  return (n.over & listed) != 0 || n.depth >= limits().long_chain();
}

/// Lists a pending value whatever it is computed from, as list_pending() does.
bool list_any_pending(const value& v);

}  // namespace sinter::graph
