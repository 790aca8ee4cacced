// Plans as text.
#pragma once
#include <span>
#include <string>

#include "graph/values/node.hpp"

namespace sinter::graph {

/// The plan that flush(roots) would run: kernels, shapes, bytes, why a node is materialised; with the generated source
/// if requested.
std::string describe(std::span<const value> roots, bool with_source);

}  // namespace sinter::graph
