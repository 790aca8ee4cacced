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

}  // namespace sinter::platform
