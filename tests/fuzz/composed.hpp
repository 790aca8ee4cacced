// Functions of the fuzz programs that are no ufuncs: those of composed.py, and their kin under NumPy's names.
#pragma once
#include <string>

#include "sinter/sinter.hpp"

namespace sinter::fuzz {

using unary_call = ndarray (*)(const ndarray&);
using binary_call = ndarray (*)(const ndarray&, const ndarray&);
using reduction_call = ndarray (*)(const ndarray&, const axes&, bool keepdims);
using ternary_call = ndarray (*)(const ndarray&, const ndarray&, const ndarray&);
using store_call = void (*)(ndarray& t, const ndarray& values, const ndarray& where);
using masked_call = ndarray (*)(const ndarray&, const ndarray&, const out_kw&);

/// Null for a name that is none.
unary_call composed_unary(const std::string& name);
binary_call composed_binary(const std::string& name);
reduction_call composed_reduction(const std::string& name);
masked_call masked_function(const std::string& name);
ternary_call composed_ternary(const std::string& name);
store_call store_function(const std::string& name);

}  // namespace sinter::fuzz
