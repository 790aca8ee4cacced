// Opening OpenBLAS.
#include "backends/cpu/linalg/openblas_library.hpp"

#include "platform/host_libraries.hpp"

namespace sinter::cpu {
namespace {

const openblas_api& openblas(const char* function) {
  static const auto& opened = platform::open_library<openblas_api>(platform::openblas_place());
  return opened.usable_by(function);
}

std::mutex& section_mutex() {
  static auto* m = new std::mutex;
  return *m;
}

}  // namespace

openblas_section::openblas_section(const char* function, int threads)
    : api_(openblas(function)), lock_(section_mutex()), before_(api_.openblas_get_num_threads()) {
  if (before_ != threads) api_.openblas_set_num_threads(threads);
}

openblas_section::~openblas_section() {
  if (before_ != api_.openblas_get_num_threads()) api_.openblas_set_num_threads(before_);
}

}  // namespace sinter::cpu
