// Prints verdicts, and throws where one does not hold.
#include "common/verdict.hpp"

#include <cstdio>
#include <stdexcept>

namespace examples {

std::string to_string(const verdict& v) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2g, %.2g allowed", v.error, v.allowed);
  return text;
}

void require(const verdict& v, const std::string& what) {
  if (!v.holds()) throw std::runtime_error("wrong result, " + what + ": " + to_string(v));
}

}  // namespace examples
