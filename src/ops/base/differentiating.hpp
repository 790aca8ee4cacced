// Whether this thread is recording for derivatives. Functions that are composed with cases, of which one has the value but not the
// slope (sin(x) / x at 0), are recorded in another way then.
#pragma once
#include "graph/values/trace.hpp"

namespace sinter::ops {

inline bool is_differentiating() noexcept {
  if (graph::traces_anywhere.load(std::memory_order_relaxed) == 0) [[likely]]
    return false;
  for (const graph::trace* t = graph::trace::innermost(); t; t = t->outer())
    if (!t->is_paused() && t->filter() == graph::trace_filter::inexact) return true;
  return false;
}

/// The innermost derivative for which this thread is recording; null: there is none.
inline graph::trace* innermost_derivative() noexcept {
  for (graph::trace* t = graph::trace::innermost(); t; t = t->outer())
    if (!t->is_paused() && t->filter() == graph::trace_filter::inexact) return t;
  return nullptr;
}

/// Whether a derivative follows this value: what is computed with its elements outside of the graph would be lost.
inline bool is_followed(const graph::value& v) noexcept {
  if (graph::traces_anywhere.load(std::memory_order_relaxed) == 0) [[likely]]
    return false;
  for (const graph::trace* t = graph::trace::innermost(); t; t = t->outer())
    if (!t->is_paused() && t->filter() == graph::trace_filter::inexact && t->has(v)) return true;
  return false;
}

}  // namespace sinter::ops
