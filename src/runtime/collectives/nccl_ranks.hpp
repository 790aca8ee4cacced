// Groups of GPUs that NCCL joins.
#pragma once
#include "runtime/collectives/failure.hpp"
#include "runtime/collectives/mpi_ranks.hpp"

namespace sinter::runtime {

/// GPUs of this process, all distinct.
communicator_ref open_nccl_here(std::vector<backend*> gpus, const char* function,
                                std::shared_ptr<failure_record> failure);
/// A GPU of each process of a group of MPI. Collective.
communicator_ref open_nccl_over(std::shared_ptr<mpi_ranks> host, backend& gpu, const char* function);

}  // namespace sinter::runtime
