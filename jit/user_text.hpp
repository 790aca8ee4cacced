// Source text of users' functions, the same for every target except for a few words.
//
// Functions and reductions with equal types and preamble share a namespace, so that a struct of the preamble is the
// same type in a mapping, in the reduction over it and in its epilogue:
//   namespace sn_user { namespace sn_p0123456789abcdef {
//     <types> <preamble>
//     namespace sn_f0123456789abcdef { <device inline> void call(const float x, const sn::raw<double, 2> y, float& z) {
//     <body> } } namespace sn_r0123456789abcdef { struct monoid { static T identity(); static T combine(const T a,
//     const T b); }; }
//   } }
// A function with text around its loop has no `call`: the emitter opens its kernel with open_scope() and defines a
// lambda.
#pragma once
#include <span>
#include <string>

#include "jit/program/program.hpp"

namespace sinter::jit {

/// The functions and reductions of a module, each once. `words` are the target's qualifiers of a function:
/// "__device__ __forceinline__".
struct user_text {
  std::string includes;     // goes first, before the preludes too
  std::string definitions;  // follows the preludes
};
user_text define_users(std::span<const program* const> programs, const char* words);
/// What must precede the preludes of users' text if a program checks indices; else empty.
std::string checked_mode_text(std::span<const program* const> programs);
/// Whether a text of the program's users mentions complex numbers: prelude_user_complex is then needed.
bool names_complex(const program& p);
bool calls_users(const program& p) noexcept;

/// "sn_user::sn_p...::sn_f...::call", "sn_user::sn_p...::sn_r...::monoid".
std::string callee(const user_function& f);
std::string monoid(const user_reduction& r);
/// The type of a parameter that is read or written by index: "sn::raw<float, 2>".
std::string whole_type(const user_parameter& p, bool written);
/// The type of a value parameter: a register type, or an opaque type with its namespaces.
std::string value_type(const user_parameter& p, const std::string& types, const std::string& preamble);
/// The type of register `reg`, opaque ones included.
std::string type_of_register(const program& p, std::size_t reg);
/// The type in which reduction `r` combines.
std::string type_of_reduction(const program& p, const reduce_desc& r);
bool is_opaque_register(const program& p, std::size_t reg);

/// Opens and closes the scope of a kernel whose function has text around its loop: the namespaces and macros that are
/// visible in its text.
std::string open_scope(const user_function& f);
std::string close_scope(const user_function& f);
/// "[&](const float x, float& z) { <body> }".
std::string body_lambda(const user_function& f);
/// User's text with its own line numbers, for messages: `part` is "loop_prep".
std::string numbered(const user_function& f, const char* part, const std::string& text);

}  // namespace sinter::jit
