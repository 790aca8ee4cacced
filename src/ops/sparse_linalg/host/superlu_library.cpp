#include "ops/sparse_linalg/host/superlu_library.hpp"

#include "platform/host_libraries.hpp"

namespace sinter::ops::slu {

const library& opened(const char* function) {
  static const auto& found = platform::open_library<library>(platform::superlu_place());
  return found.usable_by(function);
}

}  // namespace sinter::ops::slu
