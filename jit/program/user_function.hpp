// Functions that users write as text, with every type resolved. Programs call them by address: equal functions are one
// object, which lives as long as the process.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sinter/dtype.hpp"

namespace sinter::jit {

/// A parameter or result. In the text, float16 and bfloat16 values are floats that have been rounded to the type.
struct user_parameter {
  std::string name;
  dtype type{};
  bool raw = false;       // the whole array: an sn::raw<T, rank>, read by index
  std::uint8_t rank = 0;  // raw: of the array
  std::string opaque;     // not empty: a type of the preamble, at most opaque_bytes long; `type` is then u8
  friend bool operator==(const user_parameter&, const user_parameter&) = default;
};
inline constexpr int opaque_bytes = 32;

/// `body` is a statement sequence that assigns the outputs from the inputs, or, where `returns`, the body of a function
/// with one output. It sees the inputs as const values and the outputs as variables, all by their names.
struct user_function {
  std::string name;   // as the user calls it: an identifier, part of the kernel's label
  std::string types;  // typedefs of type letters: "typedef float T;"
  std::string
      preamble;  // text of namespace scope that the body needs; its #include and #define lines are moved to the top
  std::string setup;  // declarations of the library's in front of the body, which sees them
  std::string body;
  bool returns = false;
  std::vector<user_parameter> inputs, outputs;
  // Text around a thread's loop (a block's on the CPU); the body sees what loop_prep declares. A function that has
  // either is the only one of its kernel.
  std::string loop_prep, after_loop;

  // Set by intern().
  std::string files;     // a hash of the files that the texts include, as they were then
  std::string symbol;    // "sn_f" + 16 hexadecimal digits of the contents' hash: the same in every process
  std::uint64_t id = 0;  // unique in this process: part of program keys

  bool has_loop_text() const noexcept { return !loop_prep.empty() || !after_loop.empty(); }
};

/// The one object for these contents, and for those of the files that they include: from a file that has changed comes
/// another function, so that no cache takes it for the old one. Thread safe.
const user_function* intern(user_function f);
/// The function whose symbol ends with this hash, or null.
const user_function* find_function(std::uint64_t hash);

/// A monoid that the user wrote: identity, and an expression that combines `a` and `b`, of one type.
struct user_reduction {
  std::string name;
  std::string types, preamble;
  user_parameter value;  // the accumulated type (never raw; its name is not used)
  std::string combine;   // expression of a and b
  std::string identity;  // expression

  std::string files;
  std::string symbol;
  std::uint64_t id = 0;
};
const user_reduction* intern(user_reduction r);

}  // namespace sinter::jit
