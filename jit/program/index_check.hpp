// Checked mode: kernels of users look at the indices of raw arrays before they follow them.
#pragma once
#include <cstdint>
#include <string>

#include "jit/program/user_function.hpp"

namespace sinter::jit {

/// SINTER_CHECK_INDEX where it is set, else whether the library was built without NDEBUG. Part of a program's flags, so
/// that kernels of both kinds have keys of their own.
bool checks_index() noexcept;
void set_checks_index(bool on) noexcept;

/// What a checked access out of range leaves behind (runtime::data_fault::user_index).
struct bad_access {
  std::uint64_t function = 0;  // the hash in its symbol
  int operand = 0;             // its inputs, then its raw outputs
  int axis = -1;               // -1: by position
  std::int64_t value = 0, extent = 0;
};
/// The access's name in generated code: "sn::named(ARRAY, FAULT, 0x0123456789abcdefull, 2)".
std::string named_array(const std::string& array, const std::string& fault, const user_function& f,
                        std::size_t operand);
/// Whether the access was a write, which then wrote nothing.
bool was_write(const bad_access& a);
/// "[f] index 12 of argument x is out of range for extent 10".
std::string describe(const bad_access& a);

}  // namespace sinter::jit
