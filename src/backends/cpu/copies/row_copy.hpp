// Launches that only copy rows of neighbouring elements: slices, rolls, parts of joined arrays. No block of lanes lies in
// between, so short rows cost a call of memcpy each.
#pragma once
#include <optional>

#include "jit/program/launch.hpp"

namespace sinter::cpu {

/// Rows of `bytes` neighbours on both sides, one for each point of the outer axes; their strides are in bytes.
struct row_copy {
  const char* source;
  char* result;
  std::int64_t bytes;
  core::dims outer, outer_in, outer_out;
};

/// Whether a launch only copies rows, which are not short.
bool copies_rows(const jit::launch& l) noexcept;
/// Nothing where it does not.
std::optional<row_copy> row_copy_of(const jit::launch& l);
void run_row_copy(const row_copy& c);

}  // namespace sinter::cpu
