// Settings of the collectives for tests.
#pragma once
#include <cstdint>

namespace sinter::runtime {

/// The most bytes of one call of MPI; 0 restores the default. The same on all ranks.
void set_mpi_piece(std::int64_t bytes) noexcept;
/// Takes NCCL's place; null: NCCL again.
struct nccl_api;
void set_nccl_for_tests(const nccl_api* api) noexcept;

}  // namespace sinter::runtime
