// src/ops/print: arrays as text.
//
// The print options of a thread.
#pragma once
#include "sinter/print.hpp"

namespace sinter::ops {

print_options& current_print_options();
/// The thread's options with the given ones replaced. Errors are value_error with the prefix `function`.
print_options print_options_with(const print_kw& kw, const char* function);

}  // namespace sinter::ops
