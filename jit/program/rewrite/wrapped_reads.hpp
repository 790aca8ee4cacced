// Gathered reads whose index is a coordinate and a constant, as those of roll: between the places where such an index
// begins to count from the end, the read is a plain one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/program/launch.hpp"

namespace sinter::jit {

/// An index of a gathered read: slope * coordinate(axis) + start, and from coordinate `turn` on `after`, before that
/// `before`. The slope is 1 or -1, and `turn` between 0 and the extent.
struct shifted_index {
  int axis = -1;
  std::int64_t slope = 0, start = 0;
  std::int64_t turn = 0, before = 0, after = 0;
};
struct shifted_input {
  std::size_t input = 0;
  int count = 0;
  shifted_index index[2];
};

/// The gathered inputs (of the first 64) all of whose indices are such ones, none of them out of range; none where the
/// program calls users' functions or has a loop.
std::vector<shifted_input> shifted_inputs(const launch& l);

/// The launch with these inputs read at places that their strides and their wraps (launch::wraps) give: its program has no
/// gathers of them. Writes it to `to`, whose memory is used again.
void unwrap(const launch& l, const std::vector<shifted_input>& inputs, launch& to);

}  // namespace sinter::jit
