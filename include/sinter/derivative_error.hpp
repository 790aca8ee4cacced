// The error of derivatives. Not part of sinter.hpp; included by grad.hpp.
#pragma once
#include "sinter/error.hpp"

namespace sinter::inline v0 {

/// No derivative: an operation without a rule, an array that is reached by address, an argument that has none. The
/// message names the function and the operation.
class derivative_error : public error {
  using error::error;
};

}  // namespace sinter::inline v0
