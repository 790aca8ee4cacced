// The error of vmap. Not part of sinter.hpp; included by vmap.hpp.
#pragma once
#include "sinter/error.hpp"

namespace sinter::inline v0 {

/// A function that vmap cannot map over examples: it needs the elements of an array that stands for one example of many
/// (a condition, a read on the host, a size that depends on data), or an operation without a rule. Also the use of such
/// an array after its vmap has ended.
class vmap_error : public error {
  using error::error;
};

}  // namespace sinter::inline v0
