// src/graph/run: evaluation: plans are placed, compiled and launched, or shown; views are read and written.
//
// Evaluation of recorded values: plan, compile and allocate everything, then launch, then turn the nodes into leaves.
#pragma once
#include <mutex>
#include <span>

#include "graph/values/node.hpp"

namespace sinter::graph {

/// On return every root is a leaf; its device may still be working, on the calling thread's current stream. Values of
/// several devices are taken one device after the other. Where memory runs out, pending values whose evaluation releases
/// more than it takes are evaluated first. Throws memory_error or compile_error with every pending value intact.
void flush(std::span<const value> roots);

/// Evaluates a value that an array is to hold if the pending operations that it consists of are as many as the limits
/// allow: planning recurses, and the memory that pending values hold must stay bounded.
void flush_if_long(const value& v);

/// Evaluates pending values whose evaluation releases more memory than it takes; whether it has released any. Within a
/// flush of the calling thread it does nothing. What cannot be evaluated stays as it is.
bool relieve(runtime::backend& device);

/// Whether flushing a value runs no kernel, since it is a leaf or names contiguous elements of one.
bool is_in_memory(const value& v);

/// Held while values are planned and evaluated. Evaluation takes a node's operands away, so whoever looks below a pending
/// node holds it, and so does whoever plans: plans leave marks in the nodes.
std::recursive_mutex& flush_mutex();

}  // namespace sinter::graph
