// Draws of random numbers: what they take from a generator's stream, and whose they are within a vmap.
#pragma once
#include <span>

#include "graph/values/example.hpp"
#include "graph/values/record.hpp"

namespace sinter::ops {

/// The number of blocks of four words for n elements.
inline std::uint64_t blocks_of_draw(jit::opcode op, dtype type, std::int64_t n) noexcept {
  const bool rejects = op >= jit::opcode::random_gamma;
  const std::int64_t each = rejects ? 1 : 16 / static_cast<std::int64_t>(itemsize(type));
  return static_cast<std::uint64_t>((n + each - 1) / each);
}

/// As graph::record_random; within a vmap each example has numbers of its own.
inline graph::value record_draw(jit::opcode op, dtype type, const core::dims& shape, const graph::random_stream& stream,
                                std::span<const graph::value> parameters, runtime::device_id device) {
  if (graph::draws_for_examples()) [[unlikely]]
    return graph::example_source::innermost()->draw(op, type, shape, stream, parameters, device);
  return graph::record_random(op, type, shape, stream, parameters, device);
}

}  // namespace sinter::ops
