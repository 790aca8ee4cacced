// What is known of integers and truth values that follow from where an element is, in a part of the space, and in which parts more
// is known: a border is a part of its own, in whose loops nothing is decided.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/cpu/fixed.hpp"

namespace sinter::jit {

struct value_range {
  bool is_known = false;
  std::int64_t low = 0, high = 0;
  int axis = -1;  // the value is sign * coordinate + offset
  std::int64_t sign = 1, offset = 0;
  int same_as = -1;  // in this part: the operand that it is
  bool is_number() const noexcept { return is_known && low == high; }
};

/// Of an axis: [begin, end).
struct axis_part {
  std::int64_t begin, end;
};

/// By instruction, where coordinates are within these parts, by axis.
std::vector<value_range> ranges_of(const fixed_launch& l, const std::vector<axis_part>& within);

/// By axis, parts in whose loops comparisons with coordinates are decided; one for each axis where there would be many.
std::vector<std::vector<axis_part>> parts_of(const fixed_launch& l);

}  // namespace sinter::jit
