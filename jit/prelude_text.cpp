// The expression emitted for an instruction, in terms of jit/prelude.
#include "jit/prelude_text.hpp"

namespace sinter::jit {
namespace {

constexpr bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }

/// Operations on float16 and bfloat16 whose result in float32 is already a value of the type.
bool keeps_half_values(opcode op) noexcept {
  switch (op) {
    case opcode::negative:
    case opcode::absolute:
    case opcode::sign:
    case opcode::floor:
    case opcode::ceil:
    case opcode::trunc:
    case opcode::rint:
    case opcode::conj:
    case opcode::real:
    case opcode::imag:
    case opcode::frexp_mantissa:
    case opcode::frexp_exponent:
    case opcode::copysign:
    case opcode::maximum:
    case opcode::minimum:
    case opcode::fmax:
    case opcode::fmin:
    case opcode::fmod:
    case opcode::select:
    case opcode::nextafter: return true;
    default: return false;
  }
}

bool is_complex_math(opcode op) noexcept {
  return op == opcode::sqrt || op == opcode::power || (op >= opcode::exp && op <= opcode::arctanh);
}

unsigned closure(unsigned mask) noexcept {
  if (mask & prelude_user_complex) mask |= prelude_complex_math;
  if (mask & prelude_complex_math) mask |= prelude_complex;
  if (mask & prelude_complex) mask |= prelude_convert;
  if (mask & (prelude_half | prelude_convert | prelude_random | prelude_special)) mask |= prelude_float;
  return mask | prelude_base;
}

/// Of float it is the value, which is to be rounded.
bool is_float_register(dtype t) noexcept { return is_half(t) || t == dtype::f32 || t == dtype::c64; }

std::string cast_expression(dtype to, dtype from, std::string_view a) {
  std::string x(a);
  if (is_half(to)) {
    const char* suffix = to == dtype::f16 ? "f16(" : "bf16(";
    if (is_complex(from)) x = "sn::real(" + x + ")";
    return std::string(is_float_register(from) ? "sn::round_" : "sn::to_") + suffix + x + ")";
  }
  return std::string("sn::cast<") + register_type(to) + ">(" + x + ")";
}

}  // namespace

const char* register_type(dtype t) noexcept {
  static constexpr const char* names[dtype_count] = {
      "bool",         "signed char",        "short", "int",   "long long", "unsigned char", "unsigned short",
      "unsigned int", "unsigned long long", "float", "float", "float",     "double",        "sn::c64",
      "sn::c128"};
  return names[static_cast<int>(t)];
}

const char* storage_type(dtype t) noexcept {
  switch (t) {
    case dtype::b1: return "sn::b8";
    case dtype::f16: return "sn::h16";
    case dtype::bf16: return "sn::w16";
    default: return register_type(t);
  }
}

unsigned needed_parts(const instr& i) noexcept {
  unsigned mask = prelude_base;
  for (dtype t : {i.type, i.arg}) {
    if (is_inexact(t)) mask |= prelude_float;
    if (is_half(t)) mask |= prelude_half;
    if (is_complex(t)) mask |= prelude_complex;
  }
  if (i.op == opcode::cast) mask |= prelude_convert;
  if (is_random(i.op)) mask |= prelude_random;
  if (is_special(i.op)) mask |= prelude_special;
  if (is_complex(i.arg) && is_complex_math(i.op)) mask |= prelude_complex_math;
  return closure(mask);
}

std::vector<std::string_view> prelude_files(unsigned mask) {
  static constexpr struct {
    unsigned bit;
    const char* name;
  } parts[] = {{prelude_base, "base"},       {prelude_float, "float"},
               {prelude_random, "random"},   {prelude_half, "half"},
               {prelude_convert, "convert"}, {prelude_user_complex, "user_number"},
               {prelude_complex, "complex"}, {prelude_complex_math, "complex_math"}};
  std::vector<std::string_view> names;
  mask = closure(mask);
  for (auto& part : parts)
    if (mask & part.bit) names.emplace_back(part.name);
  if (mask & prelude_special) names.insert(names.end(), special_files.begin(), special_files.end());
  return names;
}

std::string prelude_source(unsigned mask) {
  std::string text;
  for (std::string_view part : prelude_files(mask)) text += prelude_text(part);
  return text;
}

std::string random_expression(const instr& i, std::string_view a, std::string_view b, std::string_view c,
                              std::string_view stream) {
  std::string e = std::string("sn::") + name(i.op) + "<" + register_type(i.type) + ">(";
  e.append(a);
  if (operand_count(i.op) > 1) e.append(", ").append(b);
  if (operand_count(i.op) > 2) e.append(", ").append(c);
  e.append(", ").append(stream);
  return e + (i.op >= opcode::random_gamma ? ", fault)" : ")");
}

std::string within_text(const std::string& index, const std::string& extent) {
  const std::string from_begin = "(" + index + " < 0 ? " + index + " + " + extent + " : " + index + ")";
  return "((unsigned long long)" + from_begin + " < (unsigned long long)(" + extent + ") ? " + from_begin + " : 0LL)";
}
std::string unrounded_expression(const instr& i, std::string_view a, std::string_view b, std::string_view c) {
  if (i.op == opcode::cast) {
    if (!is_half(i.type) || i.arg == dtype::f64 || i.arg == dtype::c128) return cast_expression(i.type, i.arg, a);
    return i.arg == dtype::c64 ? "sn::real(" + std::string(a) + ")" : "(float)(" + std::string(a) + ")";
  }
  std::string e = std::string("sn::") + name(i.op);
  if (i.op == opcode::nextafter && is_half(i.type)) e += i.type == dtype::f16 ? "_f16" : "_bf16";
  e.append("(").append(a);
  if (operand_count(i.op) > 1 || i.op == opcode::checked_index) e.append(", ").append(b);
  if (operand_count(i.op) > 2 || i.op == opcode::checked_index) e.append(", ").append(c);
  if (i.op == opcode::checked_index || (i.op == opcode::power && is_integer(i.type))) e += ", fault";
  return e += ")";
}
std::string call_expression(const instr& i, std::string_view a, std::string_view b, std::string_view c) {
  if (i.op == opcode::cast) return cast_expression(i.type, i.arg, a);
  const std::string e = unrounded_expression(i, a, b, c);
  if (!is_half(i.type) || keeps_half_values(i.op)) return e;
  return (i.type == dtype::f16 ? "sn::round_f16(" : "sn::round_bf16(") + e + ")";
}

}  // namespace sinter::jit
