// Checked mode: users' kernels check the indices of raw arrays before they access them.
#pragma once
#include <cstdint>
#include <string>

#include "jit/program/user_function.hpp"

namespace sinter::jit {

/// SINTER_CHECK_INDEX if it is set, else whether the library was built without NDEBUG. Part of a program's flags, so
/// that checked and unchecked kernels have different keys.
bool checks_index() noexcept;
void set_checks_index(bool on) noexcept;

/// What a checked access out of range writes (runtime::data_fault::user_index).
struct bad_access {
  std::uint64_t function = 0;  // the hash in its symbol
  int operand = 0;             // number of the input, or of the raw output after the inputs
  int axis = -1;               // -1: indexed by position
  std::int64_t value = 0, extent = 0;
};
/// The expression for a checked array in generated code: "sn::checked(ARRAY, FAULT, 0x0123456789abcdefull, 2)".
std::string checked_array(const std::string& array, const std::string& fault, const user_function& f,
                          std::size_t operand);
/// Whether the access was a write, which has written nothing.
bool was_write(const bad_access& a);
/// "[f] index 12 of argument x is out of range for extent 10".
std::string describe(const bad_access& a);

}  // namespace sinter::jit
