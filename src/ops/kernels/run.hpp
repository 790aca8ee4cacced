// Executing users' functions at the call, and building them from text.
#pragma once
#include "ops/kernels/call.hpp"

namespace sinter::ops {

/// A function with this name and text, without parameters.
inline jit::user_function new_function(std::string name, const letter_types& letters, std::string preamble,
                                       std::string body) {
  jit::user_function f;
  f.name = std::move(name);
  f.types = letters.typedefs();
  f.preamble = std::move(preamble);
  f.body = std::move(body);
  return f;
}

/// Runs a function over `shape` and writes all its outputs: `out` where it is defined, else new arrays.
std::vector<ndarray> run_now(const kernel_head& k, const jit::user_function* f, const dims& shape,
                             std::vector<graph::value> values, std::span<const ndarray> out, runtime::device_id device);

}  // namespace sinter::ops
