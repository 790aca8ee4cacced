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
  std::uint8_t rank = 0;  // raw: the rank of the array
  std::string opaque;     // if not empty, a type of the preamble, at most opaque_bytes long; `type` is then u8
  friend bool operator==(const user_parameter&, const user_parameter&) = default;
};
inline constexpr int opaque_bytes = 32;

/// `body` is a statement sequence that assigns the outputs from the inputs, or, if `returns`, the body of a function
/// with one output. The inputs are const values and the outputs variables, all under their names.
struct user_function {
  std::string name;      // the user's name for it: an identifier, part of the kernel's label
  std::string types;     // typedefs of type letters: "typedef float T;"
  std::string preamble;  // namespace-scope text that the body needs; #include and #define lines are moved to the top
  std::string setup;     // declarations of the library before the body and visible in it
  std::string body;
  bool returns = false;
  std::vector<user_parameter> inputs, outputs;
  // Text around a thread's loop (a block's on the CPU); declarations of loop_prep are visible in the body. A function
  // that has either is not fusible: it is the only one of its kernel.
  std::string loop_prep, after_loop;

  // Set by intern().
  std::string files;     // a hash of the files that the texts include, as of intern()
  std::string symbol;    // "sn_f" + 16 hexadecimal digits of the contents' hash: the same in every process
  std::uint64_t id = 0;  // unique in this process: part of program keys

  bool has_loop_text() const noexcept { return !loop_prep.empty() || !after_loop.empty(); }
};

/// The unique object for these contents and those of the included files: a changed file gives a different function, so
/// that no cache confuses it with the old one. Thread safe.
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
