// Where to find libraries of the distribution that are opened on first use. The build needs none of them.
#pragma once
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

}  // namespace sinter::platform
