// Which transport a group gets.
#include <cstdlib>
#include <string>

#include "runtime/backend.hpp"
#include "runtime/collectives/communicator.hpp"
#include "runtime/collectives/mpi_ranks.hpp"
#include "sinter/error.hpp"

namespace sinter::runtime {
namespace {

communicator_ref ranks_of(std::shared_ptr<mpi_job> job, backend& device, const char* function) {
  if (device.host_addressable()) return mpi_ranks::of_all(std::move(job), device);
  (void)function;
  throw device_error("[open_job] NCCL");
}

}  // namespace

bool is_in_job() noexcept {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(name)) return true;
  const std::lock_guard lock(mpi_job::calls());
  return mpi_of_program() != nullptr;
}

communicator_ref open_job(backend& device) { return ranks_of(mpi_job::world("open_job"), device, "open_job"); }

communicator_ref open_mpi(std::uint64_t mpi_comm, backend& device) {
  return ranks_of(mpi_job::over(mpi_comm, "open_mpi"), device, "open_mpi");
}

place_in_job locate_in_job() {
  const auto job = mpi_job::world("locate_in_job");
  const std::lock_guard lock(mpi_job::calls());
  mpi_library& library = job->library();
  const mpi_handle machine = library.split_machine(job->base());
  const place_in_job place{job->process(), job->processes(), library.rank(machine), library.size(machine)};
  library.release(machine);
  return place;
}

}  // namespace sinter::runtime
