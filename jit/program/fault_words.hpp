// What a kernel of any device writes where it finds something wrong in data (runtime/fault.hpp).
#pragma once

namespace sinter::jit {

/// Words behind a fault pointer: runtime::data_fault; of an index its axis, then its value and the extent, two words each; of
/// an index in users' text its axis + 1 and the operand times 256 instead of the axis, and at the end the function's hash.
inline constexpr int fault_words = 8;

}  // namespace sinter::jit
