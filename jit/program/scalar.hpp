// Kernel arguments that are scalars: both backends narrow them to the parameter's dtype here, so that the results
// agree.
#pragma once
#include "jit/program/launch.hpp"

namespace sinter::jit {

/// The value as a double (the real part of a complex number).
double real_of(const scalar& s) noexcept;

/// Writes `s` as a register of dtype `t` (jit/program/program.hpp): bool as a byte 0 or 1, integers modulo their width,
/// float16 and bfloat16 as a float rounded once, complex numbers as two parts. `to` has room for 16 bytes.
void write_register(void* to, dtype t, const scalar& s) noexcept;

}  // namespace sinter::jit
