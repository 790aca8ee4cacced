// How a process of a job begins and ends: MPI is initialised if the program has not, and finalised at exit then. A
// process that ends says so to the others, which would wait for it. After a failure nothing is finalised, since that
// waits for all: each process says that it is leaving, so that all of them have the time to report the error, and then
// the job is aborted.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "runtime/collectives/communicator.hpp"
#include "runtime/collectives/mpi_job.hpp"

namespace sinter::runtime {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// All jobs of the process; never destroyed, since they are ended at exit. Guarded by mpi_job::calls().
std::vector<std::shared_ptr<mpi_job>>& all_jobs() {
  static auto* jobs = new std::vector<std::shared_ptr<mpi_job>>;
  return *jobs;
}

std::terminate_handler before = nullptr;
/// The process that has joined the job: its forked children have not.
::pid_t joined = 0;

/// What aborting would lose: the buffers of the C library, through which C++'s streams write unless the program has parted
/// them (sync_with_stdio).
void flush_output() noexcept { (void)std::fflush(nullptr); }

/// Whether a handler does no more than to say what has not been caught, and to abort.
bool only_reports(std::terminate_handler h) noexcept {
#ifdef __GLIBCXX__
  return h == __gnu_cxx::__verbose_terminate_handler;
#else
  (void)h;
  return false;
#endif
}

void rest() noexcept {
  const timespec t{0, 200'000};
  (void)::nanosleep(&t, nullptr);
}

/// How long a process that has failed waits for the others to report that.
clock::duration patience() noexcept {
  const std::chrono::seconds limit = collective_timeout();
  return limit.count() == 0 ? clock::duration(10s) : std::min<clock::duration>(limit + 1s, 10s);
}

}  // namespace

std::shared_ptr<mpi_job> mpi_job::world(const char* function) {
  static std::shared_ptr<mpi_job>* made = nullptr;  // guarded by calls()
  mpi_library& library = mpi(function);
  const std::lock_guard lock(calls());
  if (library.is_finalized())
    throw device_error("[" + std::string(function) + "] the program has finalised MPI, which cannot begin again");
  if (made) return *made;
  const bool initialises = !library.is_initialized();
  if (initialises) library.initialize();
  std::shared_ptr<mpi_job> job(new mpi_job(library, library.world(), initialises));
  register_ends();
  all_jobs().push_back(job);
  made = new std::shared_ptr<mpi_job>(job);
  return job;
}

std::shared_ptr<mpi_job> mpi_job::over(mpi_handle comm, const char* function) {
  mpi_library& library = mpi(function);
  const std::lock_guard lock(calls());
  if (!library.is_initialized() || library.is_finalized())
    throw device_error("[" + std::string(function) + "] a communicator was given, but " + library.version() +
                       " is not initialised: it may belong to another MPI library");
  std::shared_ptr<mpi_job> job(new mpi_job(library, comm, false));
  register_ends();
  all_jobs().push_back(job);
  return job;
}

void mpi_job::register_ends() {
  static bool done = false;
  if (done) return;
  done = true;
  joined = ::getpid();
  before = std::set_terminate(at_terminate);
  (void)std::atexit(at_exit);
}

void mpi_job::at_exit() noexcept {
  if (::getpid() != joined) return;
  flush_output();
  // The one that finalises is the first that was made, or none is.
  for (auto job = all_jobs().rbegin(); job != all_jobs().rend(); ++job) (*job)->end(true);
}

void mpi_job::at_terminate() noexcept {
  std::string what = "an exception of an unknown type has not been caught";
  try {
    if (const auto e = std::current_exception()) std::rethrow_exception(e);
    what = "std::terminate was called";
  } catch (const std::exception& e) {
    what = std::string("an exception has not been caught: ") + e.what();
  } catch (...) {
  }
  flush_output();
  const bool in_job = ::getpid() == joined;
  if (in_job) {
    // Before anyone hears that this process is leaving: who has heard it of all others ends the job, and with it this process.
    (void)std::fprintf(stderr, "terminate called: %s\n", what.c_str());
    flush_output();
    for (const auto& job : all_jobs()) {
      job->fail(what);
      job->end(false);
    }
  }
  if (before && !(in_job && only_reports(before))) before();
  std::abort();
}

void mpi_job::end(bool aborts) noexcept {
  try {
    {
      const std::lock_guard lock(calls());
      if (library_.is_finalized()) return;
      place_ = "the end of its program";
      take_notices();
      if (failure_.is_raised() || finalises_) send_to_all(kind::leaving, "");
    }
    if (!failure_.is_raised() && finalises_) end_well();
    if (failure_.is_raised()) end_after_failure(aborts);
  } catch (...) {
    if (aborts) library_.abort(1);
  }
}

/// All processes must be here before one finalises: meanwhile this one answers.
void mpi_job::end_well() {
  std::unique_lock lock(calls());
  const mpi_handle barrier = library_.barrier(notices_);
  for (const auto begin = clock::now(); !library_.is_done(barrier, -1);) {
    take_notices();
    if (failure_.is_raised()) return;
    lock.unlock();
    if (clock::now() - begin > 1ms) rest();
    lock.lock();
  }
  for (const auto begin = clock::now(); has_outgoing() && clock::now() - begin < 1s;) take_notices();
  library_.finalize();
}

void mpi_job::end_after_failure(bool aborts) {
  peers_[static_cast<std::size_t>(process_)].has_left = true;
  const auto begin = clock::now();
  while (clock::now() - begin < patience() &&
         !std::all_of(peers_.begin(), peers_.end(), [](const peer& p) { return p.has_left; })) {
    rest();
    const std::lock_guard lock(calls());
    take_notices();
  }
  {
    const std::lock_guard lock(calls());
    for (const auto last = clock::now(); has_outgoing() && clock::now() - last < 200ms;) rest();
  }
  if (aborts) library_.abort(1);
}

}  // namespace sinter::runtime
