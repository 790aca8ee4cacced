// Settings of the collectives for tests.
#pragma once
#include <cstdint>

namespace sinter::runtime {

/// The most bytes of one call of MPI; 0 restores the default. The same on all ranks.
void set_mpi_piece(std::int64_t bytes) noexcept;

}  // namespace sinter::runtime
