// Gathered reads whose index is a coordinate and a constant, as those of roll: between the places where such an index
// begins to count from the end, the read is a plain one. Elementwise launches are divided there; reductions, whose order
// must not change, are walked as they are, by blocks that begin to read elsewhere there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "jit/program/launch.hpp"

namespace sinter::cpu {

/// The parts of an elementwise launch, with a program without those reads; none where it runs as it is. The parts cover
/// the iteration space, and no coordinate takes part in their programs.
std::vector<jit::launch> plain_parts_of(const jit::launch& l);

/// What is added to the place of an element, by its coordinate along an axis.
struct wrap {
  int axis = 0;
  std::int64_t turn = 0, before = 0, after = 0;  // elements: `before` where the coordinate is less than `turn`
};
/// An input that is read at a place which its strides and its wraps give.
struct wrapped_read {
  std::size_t input = 0;
  int count = 0;
  wrap wraps[2];
};
/// A reduction without the gathers of these reads.
struct wrapped_reads {
  jit::launch plain;
  std::vector<wrapped_read> reads;
};
/// Nothing where the launch is no reduction or has no such reads, or where blocks do not run along one axis.
std::optional<wrapped_reads> wrapped_reads_of(const jit::launch& l);

}  // namespace sinter::cpu
