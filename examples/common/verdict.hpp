// A result against an independent computation: their difference, and its bound.
#pragma once
#include <string>

namespace examples {

struct verdict {
  double error = 0, allowed = 0;
  bool holds() const { return error <= allowed; }  // not for NaN
};

/// "1.2e-07, 3e-05 allowed"
std::string to_string(const verdict& v);
/// Throws std::runtime_error that says what is wrong unless the verdict holds.
void require(const verdict& v, const std::string& what);

}  // namespace examples
