// src/graph/run: evaluation: plans are placed, compiled and launched, or described; views are read and written.
//
// Evaluation of recorded values: plan, compile and allocate everything, then launch, then convert the nodes to leaves.
#pragma once
#include <mutex>
#include <span>

#include "graph/values/limits.hpp"
#include "graph/values/node.hpp"

namespace sinter::graph {

/// On return every root is a leaf; its device may still be working, on the calling thread's current stream. Values of
/// several devices are evaluated one device at a time. If memory runs out, pending values whose evaluation releases
/// more than it takes are evaluated first. Throws memory_error or compile_error with every pending value intact.
void flush(std::span<const value> roots);

/// Evaluates a value that an array is to hold if its pending operations have reached the limits: planning recurses, and
/// the memory that pending values hold must stay bounded.
void flush_long(const value& v);
inline void flush_if_long(const value& v) {
  if (v->depth >= limits().depth || v->writes > limits().update_chain) [[unlikely]]
    flush_long(v);
}

/// Evaluates pending values whose evaluation releases more memory than it takes; returns whether it has released any.
/// Does nothing within a flush of the calling thread. A value that cannot be evaluated stays pending.
bool relieve(runtime::backend& device);

/// Whether a flush is running, of the calling thread. Under the flush lock.
bool is_flushing() noexcept;

/// Whether flushing a value runs no kernel, since it is a leaf or a view of contiguous elements of one.
bool is_in_memory(const value& v);

/// Held while values are planned and evaluated. Evaluation releases a node's operands, so code that inspects the
/// operands of a pending node must hold it, and so must code that plans: plans keep marks in the nodes.
std::recursive_mutex& flush_mutex();

}  // namespace sinter::graph
