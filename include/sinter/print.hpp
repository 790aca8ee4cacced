// Arrays as text, as NumPy 2 prints them with its default options.
#pragma once
#include <ostream>
#include <string>

#include "sinter/ndarray.hpp"

namespace sinter {
inline namespace v0 {

/// NumPy's str(x): "[[1. 2.]\n [3. 4.]]". Above 1000 elements only three at each edge are shown (and copied).
std::string to_string(const ndarray& x);
/// NumPy's repr(x): "array([1., 2.], dtype=float32)".
std::string array_repr(const ndarray& x);

}  // namespace v0
}  // namespace sinter
