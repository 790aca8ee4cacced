// NumPy's constants, of type double: in expressions with arrays they are weak scalars, which keep the array's dtype.
#pragma once
#include <limits>
#include <numbers>

namespace sinter::inline v0 {

inline constexpr double pi = std::numbers::pi, e = std::numbers::e, euler_gamma = std::numbers::egamma;
inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace sinter::inline v0
