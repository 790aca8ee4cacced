// What staged programs keep of a row from one stage to the next, and where it lies in shared memory.
#pragma once
#include <vector>

#include "jit/cuda/emit.hpp"

namespace sinter::jit::cuda {

/// Bytes of a register's value: halves are float there (prelude_text.hpp).
constexpr int register_bytes(dtype t) noexcept {
  return t == dtype::f16 || t == dtype::bf16 ? 4 : static_cast<int>(itemsize(t));
}

/// Where an elements' register lies: behind `offset` bytes for each element that a block keeps.
struct kept_place {
  int reg = 0, offset = 0;
};
/// All registers that are kept. What a later stage keeps may take the place of what no stage reads any more: a thread reads its
/// own elements alone, and has read a group before it writes that group's new values.
std::vector<kept_place> kept_places(const program& p);

}  // namespace sinter::jit::cuda
