// Processes that MPI joins, and how they learn of each other's failures and ends.
//
// Besides the data a job has a communicator for notices: short messages that a process takes whenever it waits. Each
// process polls its own requests instead of blocking in MPI, so that a notice or the time limit ends the wait. A wait
// that reaches the limit first asks the others where they are: those that do not answer are named in the error.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/collectives/failure.hpp"
#include "runtime/collectives/mpi_library.hpp"

namespace sinter::runtime {

/// Something that has begun.
struct mpi_request {
  mpi_handle handle;
  int expected = -1;             // bytes of a receive
  bool can_be_given_up = false;  // sends and receives
};

class mpi_job {
 public:
  /// Of all processes that were started together. Initialises MPI if the program has not.
  static std::shared_ptr<mpi_job> world(const char* function);
  /// Of the processes of a communicator of the program's, which is duplicated. Collective.
  static std::shared_ptr<mpi_job> over(mpi_handle comm, const char* function);

  mpi_library& library() const noexcept { return library_; }
  /// Every call of MPI is made with it.
  static std::mutex& calls() noexcept;
  int process() const noexcept { return process_; }
  int processes() const noexcept { return processes_; }
  /// The communicator of notices, to make others of.
  mpi_handle base() const noexcept { return notices_; }

  /// Until all are done; they are gone then, and after an exception. `members`: the processes that take part. Throws
  /// device_error if one has failed, has ended, or the time limit has been reached, which the others are told.
  void wait(const char* function, const std::vector<int>& members, std::vector<mpi_request>& requests);
  /// Tells all processes, unless this one has heard of a failure before.
  void fail(std::string_view message) noexcept;
  failure_record& failure() noexcept { return failure_; }
  /// Takes notices where the calling thread may call MPI.
  void look() noexcept;
  /// Whether threads other than the main one may call MPI.
  bool serves_all_threads() const noexcept { return all_threads_; }

 private:
  enum class kind : std::int32_t { failed, where, here, leaving };
  struct notice {
    kind what;
    std::int32_t process;
    char text[1016];
  };
  struct outgoing {
    std::unique_ptr<notice> text;
    mpi_handle request;
  };
  /// What is known of another process.
  struct peer {
    bool has_left = false, has_answered = false;
    std::chrono::steady_clock::time_point left;
    std::string place;  // where it has answered that it is
  };

  mpi_job(mpi_library& library, mpi_handle comm, bool finalises);
  void send(kind what, int to, std::string_view text);
  void send_to_all(kind what, std::string_view text);
  void take_notices();
  void take(const notice& n);
  bool has_outgoing();
  void give_up(std::vector<mpi_request>& requests) noexcept;
  bool advance(std::vector<mpi_request>& requests);
  std::string whom_it_waits_for(const std::vector<int>& members);
  void throw_if_ended(const char* function, const std::vector<int>& members);
  /// At the end of the process.
  void end(bool aborts) noexcept;
  void end_well();
  void end_after_failure(bool aborts);
  static void register_ends();
  static void at_exit() noexcept;
  [[noreturn]] static void at_terminate() noexcept;

  mpi_library& library_;
  bool finalises_, all_threads_;
  mpi_handle notices_;
  int process_, processes_;
  failure_record failure_;
  const char* place_ = "code outside of collectives";
  std::vector<peer> peers_;
  std::vector<outgoing> outgoing_;
};

}  // namespace sinter::runtime
