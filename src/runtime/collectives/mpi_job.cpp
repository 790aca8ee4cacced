// Waiting for requests of MPI, and notices.
#include "runtime/collectives/mpi_job.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstring>

#include "runtime/collectives/communicator.hpp"

namespace sinter::runtime {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int notice_tag = 1;
/// A process whose peer has ended waits so much longer for what the peer may have sent before.
constexpr auto patience_after_end = 1s;
constexpr auto patience_for_answers = 300ms;

/// Between two looks at requests: gives the core to others, and sleeps where the wait is long.
void pause(clock::duration waited) noexcept {
  if (waited < 2ms) {
    (void)::sched_yield();
    return;
  }
  const timespec t{0, waited < 50ms ? 50'000 : 500'000};
  (void)::nanosleep(&t, nullptr);
}

}  // namespace

std::mutex& mpi_job::calls() noexcept {
  static auto* m = new std::mutex;  // used at exit
  return *m;
}

mpi_job::mpi_job(mpi_library& library, mpi_handle comm, bool finalises)
    : library_(library),
      finalises_(finalises),
      all_threads_(library.thread_level() >= mpi_library::threads::serialized),
      notices_(library.duplicate(comm)),
      process_(library.rank(notices_)),
      processes_(library.size(notices_)),
      peers_(static_cast<std::size_t>(processes_)) {}

void mpi_job::send(kind what, int to, std::string_view text) {
  auto n = std::make_unique<notice>();
  n->what = what;
  n->process = process_;
  const std::size_t length = std::min(text.size(), sizeof n->text - 1);
  std::memcpy(n->text, text.data(), length);
  n->text[length] = '\0';
  const mpi_handle request = library_.send(notices_, n.get(), sizeof(notice), to, notice_tag);
  outgoing_.push_back({std::move(n), request});
}

void mpi_job::send_to_all(kind what, std::string_view text) {
  for (int p = 0; p < processes_; ++p)
    if (p != process_) send(what, p, text);
}

bool mpi_job::has_outgoing() {
  std::erase_if(outgoing_, [&](const outgoing& o) { return library_.is_done(o.request, -1); });
  return !outgoing_.empty();
}

void mpi_job::take_notices() {
  notice n;
  while (library_.take(notices_, &n, sizeof n, notice_tag)) take(n);
  (void)has_outgoing();
}

void mpi_job::take(const notice& n) {
  if (n.process < 0 || n.process >= processes_) return;
  peer& p = peers_[static_cast<std::size_t>(n.process)];
  switch (n.what) {
    case kind::failed: failure_.raise(n.text); break;
    case kind::where: send(kind::here, n.process, place_); break;
    case kind::here:
      p.has_answered = true;
      p.place = n.text;
      break;
    case kind::leaving:
      p.has_left = true;
      p.left = clock::now();
      break;
  }
}

void mpi_job::look() noexcept {
  try {
    const std::lock_guard lock(calls());
    if (!library_.is_finalized()) take_notices();
  } catch (...) {  // the wait that follows meets the same error
  }
}

void mpi_job::fail(std::string_view message) noexcept {
  try {
    const std::string text = "rank " + std::to_string(process_) + " of " + std::to_string(processes_) +
                             " has failed: " + std::string(message);
    if (!failure_.raise(text)) return;
    const std::lock_guard lock(calls());
    if (library_.is_finalized()) return;
    send_to_all(kind::failed, text);
    (void)has_outgoing();
  } catch (...) {  // nobody can be told: the time limit of the others ends their waits
    failure_.raise("failed");
  }
}

bool mpi_job::advance(std::vector<mpi_request>& requests) {
  while (!requests.empty()) {
    // From the end: requests that are done there leave at once.
    std::size_t k = requests.size();
    bool gone = false;
    while (k-- > 0) {
      const mpi_request r = requests[k];
      bool done = false;
      try {
        done = library_.is_done(r.handle, r.expected);
      } catch (...) {
        requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(k));
        throw;
      }
      if (!done) continue;
      requests[k] = requests.back();
      requests.pop_back();
      gone = true;
    }
    if (!gone) return false;
  }
  return true;
}

void mpi_job::give_up(std::vector<mpi_request>& requests) noexcept {
  for (const mpi_request& r : requests)
    if (r.can_be_given_up) library_.cancel(r.handle);
  requests.clear();
}

void mpi_job::throw_if_ended(const char* function, const std::vector<int>& members) {
  for (const int p : members) {
    const peer& other = peers_[static_cast<std::size_t>(p)];
    if (other.has_left && clock::now() - other.left > patience_after_end)
      throw device_error("[" + std::string(function) + "] rank " + std::to_string(p) + " of " +
                         std::to_string(processes_) + " has ended its program without taking part");
  }
}

std::string mpi_job::whom_it_waits_for(const std::vector<int>& members) {
  for (const int p : members) {
    peers_[static_cast<std::size_t>(p)].has_answered = false;
    if (p != process_) send(kind::where, p, "");
  }
  const auto asked = clock::now();
  const auto has_answered = [&](int p) { return p == process_ || peers_[static_cast<std::size_t>(p)].has_answered; };
  while (clock::now() - asked < patience_for_answers && !failure_.is_raised() &&
         !std::all_of(members.begin(), members.end(), has_answered)) {
    take_notices();
    (void)::sched_yield();
  }
  std::string silent, elsewhere;
  for (const int p : members) {
    if (p == process_) continue;
    peer& other = peers_[static_cast<std::size_t>(p)];
    if (!other.has_answered && !failure_.is_raised()) {
      silent += (silent.empty() ? "rank " : ", ") + std::to_string(p);
      other.has_left = true;  // this process does not wait for it at its end
      other.left = clock::now();
    } else if (other.has_answered && other.place != place_) {
      elsewhere += "; rank " + std::to_string(p) + " is in " + other.place;
    }
  }
  return (silent.empty() ? "" : "; no answer from " + silent) + elsewhere;
}

void mpi_job::wait(const char* function, const std::vector<int>& members, std::vector<mpi_request>& requests) {
  const auto begin = clock::now();
  const std::chrono::seconds limit = collective_timeout();
  std::unique_lock lock(calls());
  place_ = function;
  try {
    for (unsigned round = 0;; ++round) {
      const auto waited = clock::now() - begin;
      if (round % 16 == 0 || waited > 2ms) take_notices();
      failure_.throw_if_raised(function);
      if (advance(requests)) break;
      throw_if_ended(function, members);
      if (limit.count() != 0 && waited > limit) {
        const std::string others = whom_it_waits_for(members);
        failure_.throw_if_raised(function);
        throw device_error("[" + std::string(function) + "] has waited for other ranks for " +
                           std::to_string(limit.count()) + " s, the limit (SINTER_COLLECTIVE_TIMEOUT)" + others);
      }
      lock.unlock();
      pause(waited);
      lock.lock();
    }
    place_ = "code outside of collectives";
  } catch (const std::exception& e) {
    place_ = "code outside of collectives";
    give_up(requests);
    lock.unlock();
    fail(e.what());
    throw;
  }
}

}  // namespace sinter::runtime
