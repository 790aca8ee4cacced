// One rank of a job: `cases` runs the cases of every transport, `given` those of a communicator that the program has,
// `nccl` those of a rank with a GPU (one rank alone, with a library in NCCL's place), `gpus` those of two with a GPU of the machine
// each (NCCL adds numbers of more in an order of its own); the others fail in one way each.
//   ranks cases | given | nccl | gpus | late | throws | uncaught | killed | slow SECONDS | ends | exits | differs | memory
#define DOCTEST_CONFIG_IMPLEMENT
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include <dlfcn.h>

#include "runtime/collectives/cases.hpp"
#include "runtime/collectives/fake_nccl.hpp"
#include "runtime/collectives/hooks.hpp"
#include "runtime/collectives/mpi_library.hpp"
#include "support/simulated_gpu.hpp"

using namespace collectives_test;

namespace {

runtime::backend& cpu() { return runtime::get_backend({}); }
/// The job of the process; by a communicator of the program's where `given`.
runtime::communicator_ref job;

const char* argument(int count, char** values, int k) { return k < count ? values[k] : ""; }

void gather_forever() {
  const pieces mine(*job, [&](int r) { return sent(r, 1, 1000); });
  const pieces all(*job, [&](int) { return empty_of(1000 * job->size()); });
  for (;;) job->all_gather(mine.blocks, all.blocks);
}

/// What this rank does instead of going on.
int misbehave(const std::string& how, const char* parameter) {
  const bool last = job->local_ranks()[0] == job->size() - 1;
  job->barrier();
  if (!last) gather_forever();
  if (how == "throws")
    runtime::fail_together(*job, [] { throw sinter::memory_error("[planted] 17 bytes are missing"); });
  if (how == "uncaught") throw std::runtime_error("planted and not caught");
  if (how == "killed") std::raise(SIGKILL);
  if (how == "slow") std::this_thread::sleep_for(std::chrono::seconds(std::atoi(parameter)));
  if (how == "ends") return 0;
  if (how == "differs") {
    const pieces mine(*job, [&](int r) { return sent(r, 1, 8); });
    job->exchange(std::vector<runtime::message>{{0, job->size() - 1, {}, mine.blocks[0]}});
  }
  if (how == "exits") std::exit(3);
  if (how == "memory") runtime::fail_together(*job, [] { const runtime::buffer b(cpu(), std::size_t{1} << 60); });
  return 0;
}

/// MPI as a program has it that uses it itself: initialised, and a communicator of its own.
std::uint64_t own_world() {
  runtime::mpi_library& mpi = runtime::mpi("test");
  const auto init = reinterpret_cast<int (*)(int*, char***)>(::dlsym(RTLD_DEFAULT, "MPI_Init"));
  if (init) (void)init(nullptr, nullptr);
  else mpi.initialize();
  return mpi.duplicate(mpi.world());
}

/// A job whose ranks have a GPU of this machine each.
runtime::communicator_ref real_gpu_job() {
  return runtime::open_job(runtime::get_backend({runtime::device_kind::cuda, runtime::locate_in_job().on_machine}));
}

/// A job whose ranks have GPUs that are not there: NCCL takes a while to find the others, or for ever.
runtime::communicator_ref gpu_job(bool for_ever) {
  runtime::set_nccl_for_tests(&fake_nccl::api());
  fake_nccl::now().in_progress = for_ever ? 1 << 30 : 5;
  return runtime::open_job(runtime::get_backend({runtime::device_kind::cuda, sim::first().index}));
}

}  // namespace

TEST_CASE("everything") { check_everything(*job); }
TEST_CASE("reductions") { check_reductions(*job); }
TEST_CASE("messages in pieces of a few bytes") {
  runtime::set_mpi_piece(1000);
  check_all_gather(*job);
  check_all_to_all(*job);
  check_broadcast(*job);
  check_exchange(*job);
  check_reductions_of<double>(*job, {5003});
  runtime::set_mpi_piece(0);
}
TEST_CASE("NCCL has been used as it demands") {
  CHECK(fake_nccl::now().misuse == "");
  CHECK(fake_nccl::now().in_progress == 0);
}
TEST_CASE("the place in the job") {
  const runtime::place_in_job place = runtime::locate_in_job();
  CHECK(place.processes == job->process_count());
  CHECK(place.process == job->process());
  CHECK(place.processes_on_machine == place.processes);
  CHECK(place.on_machine == place.process);
  CHECK(runtime::is_in_job());
}
TEST_CASE("two groups of the whole job do not meet") {
  const auto other = runtime::open_job(cpu());
  const pieces mine(*other, [&](int r) { return sent(r, 1, 16); });
  const pieces all(*other, [&](int) { return empty_of(16 * job->size()); });
  other->all_gather(mine.blocks, all.blocks);
  CHECK(other->size() == job->size());
}

int main(int count, char** values) {
  const std::string how = argument(count, values, 1);
  int status = 0;
  try {
    job = how == "given"                   ? runtime::open_mpi(own_world(), cpu())
          : how == "gpus"                  ? real_gpu_job()
          : how == "nccl" || how == "late" ? gpu_job(how == "late")
                                           : runtime::open_job(cpu());
    if (how == "cases" || how == "given" || how == "nccl" || how == "gpus") {
      const char* arguments[] = {values[0], "--no-version"};
      doctest::Context context(2, arguments);
      status = context.run();
      std::cout << "rank " << job->local_ranks()[0] << " of " << job->size() << " by " << job->transport()
                << (status == 0 ? " is right\n" : " is wrong\n");
    } else {
      if (how == "uncaught") return misbehave(how, "");
      status = misbehave(how, argument(count, values, 2));
    }
  } catch (const std::exception& e) {
    if (how == "uncaught") throw;
    std::cout << "rank " << (job ? job->local_ranks()[0] : -1) << " says: " << e.what() << '\n';
    status = 1;
  }
  job.reset();
  if (how == "given") {
    const auto finalize = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "MPI_Finalize"));
    if (finalize) (void)finalize();
    else runtime::mpi("test").finalize();
  }
  return status;
}
