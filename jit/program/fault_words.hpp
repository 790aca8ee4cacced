// What a kernel of any device writes when it finds an error in data (runtime/fault.hpp).
#pragma once

namespace sinter::jit {

/// Words that a fault pointer points to: runtime::data_fault; for an index its axis, then its value and the extent, two
/// words each; for an index in users' text its axis + 1 plus 256 times the operand instead of the axis, and at the end
/// the function's hash.
inline constexpr int fault_words = 8;

}  // namespace sinter::jit
