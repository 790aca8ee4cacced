// Placeholders for one example of many, and the scope of a vmap.
#include "graph/values/example.hpp"

#include <utility>

#include "graph/values/record.hpp"
#include "sinter/vmap_error.hpp"

namespace sinter::graph {
namespace {

constinit thread_local example_source* innermost_source = nullptr;

/// Never compiled.
const jit::user_function* placeholder_function(dtype type) {
  jit::user_function f;
  f.name = "vmap_example";
  f.body = "#error \"a placeholder\"";
  f.outputs.push_back({.name = "x", .type = type, .opaque = {}});
  return jit::intern(std::move(f));
}

}  // namespace

value record_placeholder(dtype type, const dims& shape, runtime::device_id device) {
  value n = record_call(placeholder_function(type), 0, shape, {});
  n->device = device;
  n->depth = example_depth;
  return n;
}

void refuse_example() {
  throw vmap_error(
      "[vmap] the elements of an array that stands for one example of many are needed: by a condition, by a read on the host, by a "
      "result whose size depends on data, or by a function that has no rule for batches. Such an array has a shape and a "
      "dtype only, as long as the mapped function runs; use where(), while_loop() or a loop over the examples");
}

example_source* example_source::innermost() noexcept { return innermost_source; }

example_source::scope::scope(example_source* s) noexcept : before_(std::exchange(innermost_source, s)) {
  example_sources_anywhere.fetch_add(1, std::memory_order_relaxed);
}
example_source::scope::~scope() {
  innermost_source = before_;
  example_sources_anywhere.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace sinter::graph
