// Where to find libraries of the distribution that are opened on first use. The build needs none of them.
#pragma once
#include <mutex>

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
