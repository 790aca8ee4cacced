// The sonames of the libraries: Debian's and Ubuntu's are those of upstream.
#include "platform/host_libraries.hpp"

#include <utility>

namespace sinter::platform {

library_place openblas_place(std::string title) {
  return host_library(std::move(title), {"libopenblas.so.0"}, "libopenblas0");
}

library_place fftw_place(bool wide, bool threads) {
  const std::string name = std::string(wide ? "libfftw3" : "libfftw3f") + (threads ? "_threads" : "") + ".so.3";
  return host_library("FFTW", {name}, "libfftw3-double3 and libfftw3-single3");
}

library_place libzip_place() {
  // The functions in use are the same in both.
  return host_library("libzip", {"libzip.so.5", "libzip.so.4"}, "libzip4 or libzip5");
}

library_place superlu_place() { return host_library("SuperLU", {"libsuperlu.so.5"}, "libsuperlu5"); }

library_place mpi_place() {
  return host_library("MPI", {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12"}, "openmpi-bin, or mpich");
}

library_place nccl_place() { return host_library("NCCL", {"libnccl.so.2"}, "libnccl2"); }

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
