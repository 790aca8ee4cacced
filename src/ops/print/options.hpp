// src/ops/print: arrays as text.
//
// The print options of a thread.
#pragma once
#include "sinter/print.hpp"

namespace sinter::ops {

print_options& current_print_options();
/// Those, with what is given changed. Throws value_error in the name of `function`.
print_options print_options_with(const print_kw& kw, const char* function);

}  // namespace sinter::ops
