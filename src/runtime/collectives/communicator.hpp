// Groups of ranks and the transfers between them: what distributed arrays are moved by.
//
// A rank is one device with its part of the data. A process drives one rank or several: all of them where the devices
// are its own, one in a job of MPI. A call of a collective names, for each rank of this process (local_ranks(), in that
// order), the memory that the rank gives and takes; all processes of the group make the same calls in the same order.
//
//   const communicator_ref all = open_communicator(devices);     // or open_job(device)
//   all->all_gather(sends, receives, bytes_of_rank);             // enqueued on each device's current stream
//   all->exchange({{.from = 0, .to = 1, .source = edge, .target = halo}});
//
// Order. A collective is a submission on the calling thread's current stream of each local device: it declares the
// buffers that it reads and writes, comes after conflicting work of other streams, and others come after it. The host
// does not wait, except where a rank's memory is the host's: then the call returns when its ranks are done. Make
// another stream current (current_guard) to run a collective beside kernels.
//
// Bits. Transfers move bytes. Reductions are those of the library's elementwise add, multiply, minimum and maximum,
// applied to the ranks' parts in the order of ranks, ((r0 + r1) + r2) + ...: the same bits in one process and by MPI.
// NCCL adds and multiplies floating-point numbers in its own order, which depends on the number of ranks. Sums with the
// library's one order of additions are made by the caller from gathered parts.
//
// Failures. A rank that cannot go on calls fail(): its message ends the pending and all later calls of every process
// with device_error. A process that has not taken part within the time limit (SINTER_COLLECTIVE_TIMEOUT), has ended or
// was killed does the same. Of a device with streams failures show late: check() throws them, and must be called after
// the host has waited and before results are used. A group that has failed stays so, with the groups split from it and
// those that it was split from.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/buffer.hpp"
#include "sinter/dtype.hpp"

namespace sinter::runtime {

class backend;
class communicator;
using communicator_ref = std::shared_ptr<communicator>;

/// Contiguous bytes of a buffer. Without bytes it needs no buffer.
struct block {
  const buffer* memory = nullptr;
  std::int64_t offset = 0, bytes = 0;
};
/// `count` elements from element `first` on.
inline block elements_of(const buffer& memory, std::int64_t first, std::int64_t count, dtype type) {
  const auto size = static_cast<std::int64_t>(itemsize(type));
  return {&memory, first * size, count * size};
}

/// What reductions apply to two parts: the library's add, multiply, minimum and maximum, with their treatment of NaN,
/// bool (add is or, multiply is and) and complex numbers (minimum and maximum compare lexicographically).
enum class reduce_op : std::uint8_t { sum, prod, min, max };
/// "sum", "prod", "min", "max".
const char* name_of(reduce_op op) noexcept;

/// One transfer of exchange(). Of a rank of another process the block is ignored.
struct message {
  int from = 0, to = 0;
  block source, target;
};

/// What the ranks of this process have sent to other ranks since the communicator was made, by collectives and bytes;
/// what the transport sends beyond that (control, forwarding) is not included.
struct traffic {
  std::uint64_t calls = 0, bytes = 0;
};

class communicator : public std::enable_shared_from_this<communicator> {
 public:
  virtual ~communicator() = default;
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  /// Ranks of the group: 0 to size() - 1.
  int size() const noexcept { return size_; }
  /// The ranks of this process, ascending; never empty.
  const std::vector<int>& local_ranks() const noexcept { return local_ranks_; }
  /// Their devices, in that order; one device may be several ranks'.
  const std::vector<backend*>& local_devices() const noexcept { return local_devices_; }
  /// Whether all ranks are this process's.
  bool is_in_process() const noexcept { return static_cast<int>(local_ranks_.size()) == size_; }
  /// The position of a rank in local_ranks(), -1: it is another process's.
  int local_index(int rank) const noexcept;

  /// Processes of the group, and which one this is; processes are numbered in the order of their first ranks.
  virtual int process_count() const noexcept = 0;
  virtual int process() const noexcept = 0;

  /// How bytes travel, for explain and messages: "peer copies", "NCCL 2.21.5", "Open MPI 4.1.4".
  virtual std::string transport() const = 0;
  traffic sent() const noexcept { return {calls_.load(), bytes_.load()}; }

  // ---- collectives. `sends` and `receives` have one block for each local rank. A block that is received may not
  // overlap one that is sent, except where stated. Wrong sizes, ranks and overlaps throw value_error, before anything is
  // sent; they must then be wrong on all processes alike.

  /// Rank r gives bytes[r] (the same numbers on all ranks; 0 is allowed), and each rank gets all of them, in the order of
  /// ranks. In place: a rank's send may be exactly its place in what it receives.
  void all_gather(std::span<const block> sends, std::span<const block> receives, std::span<const std::int64_t> bytes);
  /// The same of equal parts.
  void all_gather(std::span<const block> sends, std::span<const block> receives);

  /// Local rank k gives send_bytes[k * size() + r] to rank r and gets receive_bytes[k * size() + r] from it, each in the
  /// order of ranks and without gaps.
  void all_to_all(std::span<const block> sends, std::span<const std::int64_t> send_bytes,
                  std::span<const block> receives, std::span<const std::int64_t> receive_bytes);

  /// The elements of rank `root` on all: its block is read, the others are written.
  void broadcast(std::span<const block> blocks, int root);

  /// Any transfers between ranks as one call, which deadlocks for no order of them: halos, redistributions. Each process
  /// lists those that its ranks send or receive; those from one rank to another match in the order of the lists.
  /// Messages without bytes are allowed. A target may overlap no other block of the call on its rank.
  void exchange(std::span<const message> messages);

  /// All ranks get the reduction of all sends, element by element. In place: a rank's blocks may be the same.
  void all_reduce(std::span<const block> sends, std::span<const block> receives, dtype type, reduce_op op);
  /// Rank r gets elements[r] elements of the reduction, the parts being in the order of ranks.
  void reduce_scatter(std::span<const block> sends, std::span<const block> receives,
                      std::span<const std::int64_t> elements, dtype type, reduce_op op);

  /// Returns when all processes have called it; devices may still work. Throws what check() does.
  void barrier();
  /// One text of each process, in their order, on all processes; waits for them. For sizes and decisions of the host.
  std::vector<std::string> gather_texts(std::string_view mine);

  /// The groups that ranks with equal numbers form, in the order of the ranks here: group_of[r] for each rank r, the same
  /// on all processes; -1: in none. Returns those with a rank of this process, by ascending number. Collective.
  struct part {
    communicator_ref group;
    int number = 0;
    std::vector<int> members;  // their ranks here
  };
  std::vector<part> split(std::span<const int> group_of);

  // ---- failures

  /// Tells all processes that this one cannot go on, and why. Calls in progress and later ones throw device_error with
  /// the message and the rank. Never waits for others, never throws.
  void fail(std::string_view message) noexcept;
  /// Throws device_error if a rank has failed, or if an enqueued collective has run into the time limit.
  void check();

 protected:
  communicator(int size, std::vector<int> local_ranks, std::vector<backend*> local_devices);

  // The transports. Arguments have been checked; what is empty on all ranks has been left out.
  virtual void do_all_gather(std::span<const block> sends, std::span<const block> receives,
                             std::span<const std::int64_t> bytes) = 0;
  virtual void do_all_to_all(std::span<const block> sends, std::span<const std::int64_t> send_bytes,
                             std::span<const block> receives, std::span<const std::int64_t> receive_bytes) = 0;
  virtual void do_broadcast(std::span<const block> blocks, int root) = 0;
  virtual void do_exchange(std::span<const message> messages) = 0;
  /// Made of the transfers above and of local reductions; transports with reductions of their own override them.
  virtual void do_all_reduce(std::span<const block> sends, std::span<const block> receives, dtype type, reduce_op op);
  virtual void do_reduce_scatter(std::span<const block> sends, std::span<const block> receives,
                                 std::span<const std::int64_t> elements, dtype type, reduce_op op);
  virtual void do_barrier() = 0;
  virtual std::vector<std::string> do_gather_texts(std::string_view mine) = 0;
  virtual std::vector<part> do_split(std::span<const int> group_of) = 0;
  virtual void do_fail(std::string_view message) noexcept = 0;
  virtual void do_check(const char* function) = 0;

  /// The groups of split() that have a rank of this process, still without communicators.
  std::vector<part> parts_of(std::span<const int> group_of) const;

 private:
  void require_blocks(const char* function, const char* what, std::span<const block> blocks) const;
  void require_targets_disjoint(std::span<const message> messages) const;
  /// Before anything begins: throws if the group has failed, and counts what will be sent.
  void begin(const char* function, std::int64_t sent);

  int size_;
  std::vector<int> local_ranks_;
  std::vector<backend*> local_devices_;
  std::atomic<std::uint64_t> calls_{0}, bytes_{0};
};

/// Calls f; if it throws, tells the other processes why, and throws on. For work of which one rank alone may fail
/// (memory, devices), not for checks that fail on all ranks alike.
template <class F>
decltype(auto) fail_together(communicator& group, F&& f) {
  try {
    return f();
  } catch (const std::exception& e) {
    group.fail(e.what());
    throw;
  } catch (...) {
    group.fail("an exception of an unknown type");
    throw;
  }
}

// ---- opening

/// A group whose ranks are devices of this process, in this order: NCCL where all are distinct GPUs and NCCL can be
/// opened, else copies from device to device. One device may be several ranks. value_error where there is none.
communicator_ref open_communicator(std::span<backend* const> devices);
/// By copies from device to device only, whatever the devices.
communicator_ref open_peer_copies(std::span<backend* const> devices);
/// By NCCL only: distinct GPUs. Throws device_error where NCCL cannot be used.
communicator_ref open_nccl(std::span<backend* const> gpus);

/// Whether the process is one of a job started by mpirun, or has initialised MPI itself. Opens nothing.
bool is_in_job() noexcept;
/// The job that this process is one of, this process's rank being `device`: by MPI for the CPU, by NCCL for GPUs (MPI
/// then serves to find each other). Collective. Throws device_error where MPI or NCCL cannot be used. Initialises MPI if
/// the program has not (with MPI_THREAD_SERIALIZED), and finalises it at exit then.
communicator_ref open_job(backend& device);
/// The same over a communicator that the program has: an MPI_Comm of the MPI library that is loaded, which is duplicated.
/// Collective over it.
communicator_ref open_mpi(std::uint64_t mpi_comm, backend& device);
template <class MpiComm>
communicator_ref open_mpi_comm(MpiComm comm, backend& device) {
  static_assert(sizeof(MpiComm) == sizeof(int) || sizeof(MpiComm) == sizeof(void*), "not an MPI_Comm");
  if constexpr (sizeof(MpiComm) == sizeof(int)) return open_mpi(static_cast<std::uint32_t>(comm), device);
  else return open_mpi(reinterpret_cast<std::uint64_t>(comm), device);
}
/// This process's number and the processes of the job on this machine: which GPU to take. Collective; initialises MPI.
struct place_in_job {
  int process = 0, processes = 1, on_machine = 0, processes_on_machine = 1;
};
place_in_job locate_in_job();

/// The limit of a collective's duration in seconds, from SINTER_COLLECTIVE_TIMEOUT; 0: none.
std::chrono::seconds collective_timeout() noexcept;

}  // namespace sinter::runtime
