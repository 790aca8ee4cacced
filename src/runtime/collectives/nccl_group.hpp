// The communicators of NCCL that this process has in one group, and the watch over what is enqueued on them. A kernel of
// NCCL waits on its GPU for the other ranks, and the host for the kernel: where a rank is missing only ncclCommAbort
// ends that. A thread looks at the calls that have not been completed, and aborts the group when one runs into the time
// limit, when NCCL reports an error or when another process has failed. What the streams have computed since is wrong,
// so check() must be called before it is used.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/collectives/failure.hpp"
#include "runtime/collectives/mpi_job.hpp"
#include "runtime/collectives/nccl_library.hpp"

namespace sinter::runtime {

class nccl_group : public std::enable_shared_from_this<nccl_group> {
 public:
  /// Of GPUs of this process.
  static std::shared_ptr<nccl_group> of_process(const std::vector<backend*>& gpus, const char* function,
                                                std::shared_ptr<failure_record> failure);
  /// One GPU of each of `ranks` processes, which have the same id. Collective: returns when all have come.
  static std::shared_ptr<nccl_group> of_job(backend& gpu, const ncclUniqueId& id, int rank, int ranks,
                                            std::shared_ptr<mpi_job> job, const char* function);
  ~nccl_group();

  const nccl_api& api() const noexcept { return api_; }
  ncclComm* comm(std::size_t local) const noexcept { return comms_[local]; }
  /// The job's, or that of the process.
  failure_record& failure() noexcept { return job_ ? job_->failure() : *own_failure_; }
  const std::shared_ptr<failure_record>& own_failure() const noexcept { return own_failure_; }
  void fail(std::string_view message) noexcept;
  /// Throws a failure, also one that was notified just now, after ending what is enqueued.
  void check(const char* function);

  /// Calls f between ncclGroupStart and ncclGroupEnd; f's calls go through call(). Then watches what was enqueued.
  template <class F>
  void run(const char* function, const std::vector<stream*>& streams, F f) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<event> begin = mark(*streams[0]);
    try {
      begin_group(function);
      try {
        f();
      } catch (...) {
        (void)api_.ncclGroupEnd();
        throw;
      }
      end_group(function);
    } catch (const std::exception& e) {
      fail(e.what());
      abort();
      throw;
    }
    watch(function, std::move(begin), mark(*streams[0]));
  }
  /// Throws device_error unless a call of NCCL has succeeded.
  void call(const char* function, const char* name, int result) const;
  /// Ends what is enqueued. Any thread.
  void abort() noexcept;

 private:
  friend class nccl_watch;
  nccl_group(const nccl_api& api, std::shared_ptr<mpi_job> job, std::shared_ptr<failure_record> failure)
      : api_(api), job_(std::move(job)), own_failure_(std::move(failure)) {}
  std::unique_ptr<event> mark(stream& s) const;
  void begin_group(const char* function) { call(function, "ncclGroupStart", api_.ncclGroupStart()); }
  void end_group(const char* function);
  /// Until no communicator is in progress; within the time limit.
  void settle(const char* function, const char* name);
  void watch(const char* function, std::unique_ptr<event> begin, std::unique_ptr<event> end);
  /// ncclCommGetAsyncError of a communicator.
  int state_of(std::size_t local);
  /// Empty: none.
  std::string async_error();

  const nccl_api& api_;
  std::shared_ptr<mpi_job> job_;                 // null: all ranks are this process's
  std::shared_ptr<failure_record> own_failure_;  // then
  std::mutex mutex_;                             // one call at a time
  std::mutex abort_mutex_;                       // of aborted_, since aborting must not wait for a call
  bool aborted_ = false;
  std::vector<ncclComm*> comms_;
};

}  // namespace sinter::runtime
