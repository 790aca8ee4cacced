#include "platform/openblas_threads.hpp"

#include "platform/host_libraries.hpp"

namespace sinter::platform {
namespace {

using openblas_set_num_threads_type = void(int);
using openblas_get_num_threads_type = int();
// clang-format off
#define SINTER_OPENBLAS_SETTINGS(F) F(openblas_set_num_threads) F(openblas_get_num_threads)
// clang-format on
SINTER_DECLARED_TABLE(openblas_settings, SINTER_OPENBLAS_SETTINGS);

const optional_library<openblas_settings>& settings() {
  static const auto& opened = open_library<openblas_settings>(openblas_place());
  return opened;
}

std::mutex& settings_mutex() {
  static auto* m = new std::mutex;
  return *m;
}

}  // namespace

openblas_threads::openblas_threads(int threads) : lock_(settings_mutex()) {
  if (!settings().usable) return;
  before_ = settings().api.openblas_get_num_threads();
  if (before_ != threads) settings().api.openblas_set_num_threads(threads);
}

openblas_threads::~openblas_threads() {
  if (before_ != 0 && before_ != settings().api.openblas_get_num_threads())
    settings().api.openblas_set_num_threads(before_);
}

}  // namespace sinter::platform
