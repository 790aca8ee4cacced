// The text of jit/prelude, with which generated kernels begin, and the expressions emitted for instructions. Both
// emitters use these functions, and tier 0 compiles the same files, so each operation is defined in one place.
#pragma once
#include <array>
#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include "jit/program/program.hpp"

namespace sinter::jit {

/// A file of jit/prelude by its name without ".h" ("base", "special_core"); empty if there is none. Embedded at build time.
std::string_view prelude_text(std::string_view part) noexcept;

/// The common parts, in the order in which a source must have them. `base` is always needed.
enum prelude_parts : unsigned {
  prelude_base = 1,           // types, integer and logical operations
  prelude_float = 2,          // real floating-point operations (before half, convert and complex)
  prelude_half = 4,           // rounding to float16 and bfloat16
  prelude_convert = 8,        // casts among bool, integers and real floats
  prelude_complex = 16,       // complex types, their arithmetic, comparisons and casts
  prelude_complex_math = 32,  // sqrt, exp, log, power, trigonometric functions of complex numbers
  prelude_random = 128,       // random numbers (after float)
  prelude_special = 256,      // special functions (after float); kernels hold what they need of it
  prelude_user_complex = 64,  // complex types with constructors and operators, for users' text (before complex)
};
/// How kernels hold the pieces that special functions share: the first is among special_files, the second can take its place.
inline constexpr std::string_view special_pieces_inlined = "special_inlined", special_pieces_called = "special_called";
/// The files of prelude_special, in order.
inline constexpr std::array<std::string_view, 16> special_files = {
    special_pieces_inlined, "special_core",       "special_single",   "special_error",
    "special_gamma",        "special_trig",       "special_logistic", "special_bessel",
    "special_integrals",    "special_incomplete", "special_beta",     "special_inverse",
    "special_zeta",         "special_complex",    "special_legendre", "special_order"};
/// The parts that the expression of an instruction (and its register type) needs, with their dependencies.
unsigned needed_parts(const instr& i) noexcept;
/// The names of the parts in `mask` and of their dependencies, in order; and their texts.
std::vector<std::string_view> prelude_files(unsigned mask);
std::string prelude_source(unsigned mask);

/// The C++ type of a register: "bool", "signed char", "short", "int", "long long", "unsigned char", ..., "float" (also
/// for float16 and bfloat16), "double", "sn::c64", "sn::c128".
const char* register_type(dtype t) noexcept;
/// The C++ type of a stored element: "sn::b8", "sn::h16" and "sn::w16" for bool, float16 and bfloat16, else that of a
/// register.
const char* storage_type(dtype t) noexcept;
/// A number in decimal.
template <std::integral N>
std::string num(N n) {
  return std::to_string(n);
}

/// The whole expression of an instruction, including the rounding to its dtype, for the operands' expressions `a`, `b`
/// and `c`: "sn::round_f16(sn::add(r1, r2))". `checked_index` takes the extent as `b` and the axis as `c`. Integer
/// power and checked_index expect a variable `int* fault` in scope. Not for load, param, coord, reduced and random
/// instructions.
std::string call_expression(const instr& i, std::string_view a, std::string_view b = {}, std::string_view c = {});
/// The same without the rounding to float16 or bfloat16, except where double and complex128 are converted: a float, which still is to
/// be rounded.
std::string unrounded_expression(const instr& i, std::string_view a, std::string_view b = {}, std::string_view c = {});
/// A checked index that is never out of range: without a branch and a fault; 0 should it be out of range all the same.
std::string within_text(const std::string& index, const std::string& extent);
/// The same for a random instruction; `stream` is an expression of the type sn::random_stream.
std::string random_expression(const instr& i, std::string_view a, std::string_view b, std::string_view c,
                              std::string_view stream);

}  // namespace sinter::jit
