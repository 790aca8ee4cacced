// Placeholders for one example of many, and the scope of a vmap.
#include "graph/values/example.hpp"

#include <utility>

#include "graph/values/record.hpp"
#include "sinter/error.hpp"
#include "sinter/vmap_error.hpp"

namespace sinter::graph {
namespace {

constinit thread_local example_source* innermost_source = nullptr;
constinit thread_local int draws_refused = 0;

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
      "[vmap] the elements of an array that stands for one example of many are needed: by a condition, by a read on "
      "the host, by a "
      "result whose size depends on data, or by a function that has no rule for batches. Such an array has a shape and "
      "a "
      "dtype only, as long as the mapped function runs; use where(), while_loop() or a loop over the examples");
}

example_source* example_source::innermost() noexcept { return innermost_source; }

example_source::scope::scope(example_source* s) noexcept : before_(std::exchange(innermost_source, s)) {}
example_source::scope::~scope() { innermost_source = before_; }

refused_draws::refused_draws() noexcept { ++draws_refused; }
refused_draws::~refused_draws() { --draws_refused; }

std::uint64_t blocks_of_draw(jit::opcode op, dtype type, std::int64_t n) noexcept {
  const bool rejects = op >= jit::opcode::random_gamma;
  const std::int64_t each = rejects ? 1 : 16 / static_cast<std::int64_t>(itemsize(type));
  return static_cast<std::uint64_t>((n + each - 1) / each);
}

value record_draw(jit::opcode op, dtype type, const dims& shape, const random_stream& stream,
                  std::span<const value> parameters, runtime::device_id device) {
  if (draws_refused != 0)
    throw value_error(
        "[compile] the function draws random numbers, and would draw the same ones in each call: draw them outside, "
        "and "
        "pass them as arguments");
  if (innermost_source) return innermost_source->draw(op, type, shape, stream, parameters, device);
  return record_random(op, type, shape, stream, parameters, device);
}

}  // namespace sinter::graph
