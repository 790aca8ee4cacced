// Making, using and ending communicators of NCCL.
#include "runtime/collectives/nccl_group.hpp"

#include <time.h>

#include <chrono>
#include <thread>
#include <utility>

#include "runtime/collectives/communicator.hpp"
#include "runtime/collectives/nccl_watch.hpp"

namespace sinter::runtime {
namespace {

using clock = std::chrono::steady_clock;

void rest() noexcept {
  const timespec t{0, 50'000};
  (void)::nanosleep(&t, nullptr);
}

/// For so long after a call the thread only gives its core away: NCCL ends most calls within 20 us, and a rest takes 100.
constexpr std::chrono::microseconds awake{500};

}  // namespace

std::shared_ptr<nccl_group> nccl_group::of_process(const std::vector<backend*>& gpus, const char* function,
                                                   std::shared_ptr<failure_record> failure) {
  const nccl_api& api = nccl(function);
  std::shared_ptr<nccl_group> group(new nccl_group(api, nullptr, std::move(failure)));
  std::vector<int> devices;
  for (const backend* g : gpus) devices.push_back(g->id().index);
  group->comms_.assign(gpus.size(), nullptr);
  const int result = api.ncclCommInitAll(group->comms_.data(), static_cast<int>(gpus.size()), devices.data());
  if (result != nccl_success) group->comms_.clear();
  group->call(function, "ncclCommInitAll", result);
  return group;
}

std::shared_ptr<nccl_group> nccl_group::of_job(backend& gpu, const ncclUniqueId& id, int rank, int ranks,
                                               std::shared_ptr<mpi_job> job, const char* function) {
  const nccl_api& api = nccl(function);
  std::shared_ptr<nccl_group> group(new nccl_group(api, std::move(job), nullptr));
  gpu.make_event(false)->record(gpu.current_stream());  // makes the GPU the thread's current one, as NCCL expects
  nccl_config config;
  group->comms_.assign(1, nullptr);
  const int result = api.ncclCommInitRankConfig(group->comms_.data(), ranks, id, rank, &config);
  if (result != nccl_success && result != nccl_in_progress) group->comms_.clear();
  try {
    group->call(function, "ncclCommInitRankConfig", result);
    group->settle(function, "ncclCommInitRankConfig");
  } catch (const std::exception& e) {
    group->fail(e.what());
    throw;
  }
  return group;
}

nccl_group::~nccl_group() {
  if (failure().is_raised()) abort();
  const std::lock_guard lock(abort_mutex_);
  if (!std::exchange(aborted_, true))
    for (ncclComm* const c : comms_) (void)api_.ncclCommDestroy(c);
}

void nccl_group::abort() noexcept {
  const std::lock_guard lock(abort_mutex_);
  if (std::exchange(aborted_, true)) return;
  for (ncclComm* const c : comms_) (void)api_.ncclCommAbort(c);
}

void nccl_group::fail(std::string_view message) noexcept {
  if (job_) job_->fail(message);
  else own_failure_->raise(message);
}

void nccl_group::check(const char* function) {
  if (job_) job_->look();
  if (!failure().is_raised()) return;
  abort();
  failure().throw_if_raised(function);
}

void nccl_group::call(const char* function, const char* name, int result) const {
  if (result == nccl_success || result == nccl_in_progress) return;
  const char* const text = api_.ncclGetErrorString(result);
  throw device_error("[" + std::string(function) + "] " + name + ": " +
                     (text ? text : "error " + std::to_string(result)));
}

int nccl_group::state_of(std::size_t local) {
  const std::lock_guard lock(abort_mutex_);
  int state = nccl_success;
  if (aborted_) return state;  // the communicator is gone
  const int result = api_.ncclCommGetAsyncError(comms_[local], &state);
  return result != nccl_success ? result : state;
}

std::string nccl_group::async_error() {
  for (std::size_t k = 0; k < comms_.size(); ++k) {
    const int state = state_of(k);
    if (state == nccl_success || state == nccl_in_progress) continue;
    const char* const text = api_.ncclGetErrorString(state);
    return text ? text : "error " + std::to_string(state);
  }
  return {};
}

void nccl_group::end_group(const char* function) {
  call(function, "ncclGroupEnd", api_.ncclGroupEnd());
  settle(function, "ncclGroupEnd");
}

void nccl_group::settle(const char* function, const char* name) {
  const auto begin = clock::now();
  const std::chrono::seconds limit = collective_timeout();
  for (std::size_t k = 0; k < comms_.size();) {
    const int state = state_of(k);
    call(function, name, state);
    failure().throw_if_raised(function);
    if (state == nccl_success) {
      ++k;
      continue;
    }
    const auto waited = clock::now() - begin;
    if (waited < awake) {
      std::this_thread::yield();
      continue;
    }
    if (job_) job_->look();
    if (limit.count() != 0 && waited > limit)
      throw device_error("[" + std::string(function) + "] " + name + " has waited for other ranks for " +
                         std::to_string(limit.count()) + " s, the limit (SINTER_COLLECTIVE_TIMEOUT)");
    rest();
  }
}

std::unique_ptr<event> nccl_group::mark(stream& s) const {
  std::unique_ptr<event> point = s.owner().make_event(false);
  point->record(s);
  return point;
}

void nccl_group::watch(const char* function, std::unique_ptr<event> begin, std::unique_ptr<event> end) {
  nccl_watch::instance().add({shared_from_this(), function, std::move(begin), std::move(end), {}, false});
}

}  // namespace sinter::runtime
