// Opening OpenBLAS.
#include "backends/cpu/linalg/openblas_library.hpp"

#include "platform/host_libraries.hpp"

namespace sinter::cpu {
namespace {

const openblas_api& openblas(const char* function) {
  static const auto& opened = platform::open_library<openblas_api>(platform::prepared_openblas_place());
  return opened.usable_by(function);
}

}  // namespace

openblas_section::openblas_section(const char* function, int threads) : api_(openblas(function)), threads_(threads) {}

}  // namespace sinter::cpu
