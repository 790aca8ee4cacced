// Which transport a group gets.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "runtime/backend.hpp"
#include "runtime/collectives/communicator.hpp"
#include "runtime/collectives/mpi_ranks.hpp"
#include "runtime/collectives/nccl_library.hpp"
#include "runtime/collectives/nccl_ranks.hpp"
#include "sinter/error.hpp"

namespace sinter::runtime {
namespace {

communicator_ref ranks_of(std::shared_ptr<mpi_job> job, backend& device, const char* function) {
  if (device.host_addressable()) return mpi_ranks::of_all(std::move(job), device);
  return open_nccl_over(mpi_ranks::of_all(std::move(job), get_backend({})), device, function);
}

/// Distinct GPUs of the driver's. Those that tests have made up have no place in NCCL, unless it is made up too.
bool fits_nccl(std::span<backend* const> devices) {
  for (std::size_t k = 0; k < devices.size(); ++k) {
    const device_id id = devices[k]->id();
    if (id.kind != device_kind::cuda || (!is_nccl_replaced() && id.index >= device_count(device_kind::cuda)))
      return false;
    if (std::find(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(k), devices[k]) !=
        devices.begin() + static_cast<std::ptrdiff_t>(k))
      return false;
  }
  return true;
}

}  // namespace

communicator_ref open_nccl(std::span<backend* const> gpus) {
  if (gpus.empty() || !fits_nccl(gpus)) {
    std::string names;
    for (const backend* d : gpus) names += (names.empty() ? "" : ", ") + to_string(d->id());
    throw value_error("[open_nccl] NCCL joins distinct GPUs; given were " + (names.empty() ? "none" : names));
  }
  return open_nccl_here({gpus.begin(), gpus.end()}, "open_nccl", std::make_shared<failure_record>());
}

communicator_ref open_communicator(std::span<backend* const> devices) {
  return devices.size() > 1 && fits_nccl(devices) && has_nccl() ? open_nccl(devices) : open_peer_copies(devices);
}

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
