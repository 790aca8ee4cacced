// Where to find libraries of the distribution that are opened on first use. The build needs none of them.
#pragma once
#include <mutex>
#include <string>
#include <string_view>

#include "platform/optional_library.hpp"

namespace sinter::platform {

/// `title`: the name in messages.
library_place openblas_place(std::string title = "OpenBLAS");
/// FFTW of a precision (float64 if `wide`), or its threads library.
library_place fftw_place(bool wide, bool threads = false);
library_place libzip_place();
/// Sparse factorisations; version 5, whose structures the library declares.
library_place superlu_place();
/// Open MPI 4 and 5; MPICH and what keeps to its ABI.
library_place mpi_place();
/// NVIDIA's collectives; version 2.
library_place nccl_place();

/// openblas_place(), whose library has the right kernels from then on: to be called before it is opened. OpenBLAS knows processors
/// by their numbers, and computes on those made after its release with the kernels of 2004, of SSE3, at a sixth of the speed.
/// Where that is so it is told to take those for what the processor has; not where the program has loaded OpenBLAS before, which
/// may be computing, where OPENBLAS_CORETYPE is set, or in a build of OpenBLAS for one processor.
library_place prepared_openblas_place(std::string title = "OpenBLAS");
/// The name of the kernels in use; nothing without OpenBLAS.
std::string openblas_kernels();
/// Whether these are kernels that a processor with AVX2 is not meant to have.
bool is_fallback_of_openblas(std::string_view kernels) noexcept;

/// How many threads OpenBLAS takes, which is a setting of the whole process: for one caller at a time; the end restores what it was.
/// Nothing where there is no OpenBLAS.
class openblas_threads {
 public:
  explicit openblas_threads(int threads);
  ~openblas_threads();
  openblas_threads(const openblas_threads&) = delete;
  openblas_threads& operator=(const openblas_threads&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
  int before_ = 0;
};

}  // namespace sinter::platform
