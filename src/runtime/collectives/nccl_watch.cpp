// Looks at calls of NCCL every 20 ms while there are any.
#include "runtime/collectives/nccl_watch.hpp"

#include <pthread.h>

#include <cstdlib>
#include <iterator>
#include <thread>
#include <utility>

#include "runtime/collectives/communicator.hpp"

namespace sinter::runtime {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

}  // namespace

nccl_watch& nccl_watch::instance() {
  static auto* w = new nccl_watch;  // its thread runs to the end of the process
  return *w;
}

void nccl_watch::add(item i) {
  std::list<item> completed;  // destroyed last, without the lock
  const std::lock_guard lock(mutex_);
  completed.swap(completed_);
  items_.push_back(std::move(i));
  if (!runs_) {
    std::thread thread([this] { work(); });
    (void)::pthread_setname_np(thread.native_handle(), "sinter watch");
    thread.detach();
    runs_ = true;
    (void)std::atexit([] { instance().stop(); });
  }
  added_.notify_one();
}

void nccl_watch::work() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [this] { return !items_.empty() && !stopped_; });
    }
    std::this_thread::sleep_for(20ms);
    look();
  }
}

void nccl_watch::stop() noexcept {
  const std::lock_guard no_look(looking_);
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

void nccl_watch::look() {
  const std::lock_guard this_look(looking_);
  std::list<item> mine;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    mine.swap(items_);
  }
  std::list<item> over;
  for (auto i = mine.begin(); i != mine.end();) {
    const auto next = std::next(i);
    if (is_over(*i)) over.splice(over.end(), mine, i);
    i = next;
  }
  const std::lock_guard lock(mutex_);
  items_.splice(items_.begin(), mine);
  completed_.splice(completed_.end(), over);
}

bool nccl_watch::is_over(item& i) {
  nccl_group& g = *i.group;
  std::string problem;
  try {
    if (i.end->is_done()) return true;
    if (g.job_ && g.job_->serves_all_threads()) g.job_->look();
    if (g.failure().is_raised()) {
      g.abort();
      return true;
    }
    problem = g.async_error();
    if (!i.has_started && i.begin->is_done()) {
      i.has_started = true;
      i.started = clock::now();
    }
    const std::chrono::seconds limit = collective_timeout();
    if (problem.empty() && i.has_started && limit.count() != 0 && clock::now() - i.started > limit)
      problem = "has waited for other ranks for " + std::to_string(limit.count()) +
                " s, the limit (SINTER_COLLECTIVE_TIMEOUT)";
  } catch (const std::exception& e) {  // the GPU has failed
    problem = e.what();
  }
  if (problem.empty()) return false;
  g.fail("[" + std::string(i.function) + "] NCCL: " + problem);
  g.abort();
  return true;
}

}  // namespace sinter::runtime
