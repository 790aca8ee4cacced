// Groups with a rank for each process of MPI.
#pragma once
#include "runtime/collectives/communicator.hpp"
#include "runtime/collectives/mpi_job.hpp"

namespace sinter::runtime {

/// A group of a job's processes: CPU ranks, and how the processes of GPU ranks find and hear of each other.
class mpi_ranks final : public communicator {
 public:
  /// comm: becomes the group's own. members: the job's processes that are in it, by rank.
  mpi_ranks(std::shared_ptr<mpi_job> job, mpi_handle comm, std::vector<int> members, int rank, backend& device);
  ~mpi_ranks() override;
  /// Of all processes of a job. Collective.
  static std::shared_ptr<mpi_ranks> of_all(std::shared_ptr<mpi_job> job, backend& device);
  /// The ranks with the same color (-1: none, null) as communicators of their own. Collective.
  std::shared_ptr<mpi_ranks> split_by(std::span<const int> group_of);

  int process_count() const noexcept override { return size(); }
  int process() const noexcept override { return local_ranks()[0]; }
  std::string transport() const override;
  mpi_job& job() const noexcept { return *job_; }
  const std::shared_ptr<mpi_job>& shared_job() const noexcept { return job_; }
  /// What wait() is told of who takes part.
  const std::vector<int>& members() const noexcept { return members_; }
  /// Bytes of the host from one rank to all.
  void broadcast_bytes(const char* function, void* data, std::int64_t bytes, int root);

 protected:
  void do_all_gather(std::span<const block> sends, std::span<const block> receives,
                     std::span<const std::int64_t> bytes) override;
  void do_all_to_all(std::span<const block> sends, std::span<const std::int64_t> send_bytes,
                     std::span<const block> receives, std::span<const std::int64_t> receive_bytes) override;
  void do_broadcast(std::span<const block> blocks, int root) override;
  void do_exchange(std::span<const message> messages) override;
  void do_barrier() override;
  std::vector<std::string> do_gather_texts(std::string_view mine) override;
  std::vector<part> do_split(std::span<const int> group_of) override;
  void do_fail(std::string_view message) noexcept override { job_->fail(message); }
  void do_check(const char* function) override;

 private:
  struct transfers;
  void gather_bytes(const char* function, const char* mine, char* all, std::span<const std::int64_t> bytes);

  std::shared_ptr<mpi_job> job_;
  mpi_handle comm_;
  std::vector<int> members_;
};

/// The most bytes of one call of MPI, whose counts are ints; more go in pieces.
std::int64_t mpi_piece() noexcept;

}  // namespace sinter::runtime
