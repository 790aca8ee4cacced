// jit: what both generators share: the text of the prelude and of users' functions, failures and statistics of
// compilations. What concerns only one target belongs to jit/cpu or jit/cuda.
//
// Common to the compilation for the host (compile_host.hpp) and for GPUs (nvrtc.hpp): how they fail, what they count,
// one compilation at a time for each key.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinter/error.hpp"

namespace sinter::jit {

/// Why a compilation has failed.
enum class failure_cause : std::uint8_t {
  text,          // the compiler rejects the text
  surroundings,  // the compiler, its process or its files: another text would have failed too
  time,          // it took longer than SINTER_COMPILE_TIMEOUT allows
};

/// A compile_error whose message a caller with more information about the text can improve.
struct compiler_failure : compile_error {
  compiler_failure(const std::string& text, failure_cause c, std::string by, std::string why, std::string output)
      : compile_error(text), cause(c), compiler(std::move(by)), reason(std::move(why)), log(std::move(output)) {}
  failure_cause cause;
  std::string compiler, reason, log;  // "/usr/bin/g++", "failed with exit status 1", what it printed
};

/// Changes with everything that generated source depends on besides the program: the text of jit/.
std::string_view generator_identity() noexcept;

/// The numbers of compilations and of hits of the disk cache since the process began.
struct compile_figures {
  std::uint64_t host_compiled = 0, host_from_disk = 0, cuda_compiled = 0, cuda_from_disk = 0;
};
compile_figures compile_statistics() noexcept;

/// Lines preceded by their numbers: "   1  line
///    2  line
/// ".
std::string number_lines(std::string_view source);

struct compile_counters {
  std::atomic<std::uint64_t> host_compiled{0}, host_from_disk{0}, cuda_compiled{0}, cuda_from_disk{0};
};
compile_counters& counters() noexcept;

/// Throws compiler_failure with the options, the log and the numbered source.
[[noreturn]] void throw_compile_error(const std::string& compiler, const std::string& what,
                                      const std::vector<std::string>& options, std::string_view log,
                                      std::string_view source, failure_cause cause = failure_cause::text);

/// Throws compile_error if a test has requested it (hooks.hpp).
void fail_on_request(const std::string& compiler, std::string_view source);

/// How long one of several compilations waits for longer ones to begin first.
std::chrono::milliseconds compile_wait_limit() noexcept;

/// Runs one computation for each key at a time: threads that request the same key meanwhile share its result, or its
/// exception. Nothing is stored afterwards, and no lock is held while computing.
template <class Result>
class single_flight {
 public:
  template <class Compute>
  std::shared_ptr<const Result> run(const std::string& key, Compute&& compute) {
    std::unique_lock lock(mutex_);
    if (const auto found = flights_.find(key); found != flights_.end()) {
      const std::shared_ptr<flight> other = found->second;
      landed_.wait(lock, [&] { return other->done; });
      if (other->error) std::rethrow_exception(other->error);
      return other->result;
    }
    const auto mine = std::make_shared<flight>();
    flights_.emplace(key, mine);
    lock.unlock();
    try {
      mine->result = std::make_shared<const Result>(compute());
    } catch (...) {
      mine->error = std::current_exception();
    }
    lock.lock();
    mine->done = true;
    flights_.erase(key);
    landed_.notify_all();
    if (mine->error) std::rethrow_exception(mine->error);
    return mine->result;
  }

 private:
  struct flight {
    bool done = false;
    std::shared_ptr<const Result> result;
    std::exception_ptr error;
  };
  std::mutex mutex_;
  std::condition_variable landed_;
  std::map<std::string, std::shared_ptr<flight>, std::less<>> flights_;
};

}  // namespace sinter::jit
