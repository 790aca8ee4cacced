// MPI, opened on first use. Its functions have the same names in all implementations but not the same types: a
// communicator of Open MPI is a pointer to an object of the library, one of MPICH's family (MPICH, Intel MPI, MVAPICH) a
// number. Here handles are 64-bit numbers, and each family is an implementation of one class.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/optional_library.hpp"

namespace sinter::runtime {

using mpi_handle = std::uint64_t;

/// What the library needs of MPI. Transfers are of bytes, at most INT_MAX in a call. Every call throws device_error where
/// MPI reports an error. Calls must not overlap: the caller has a lock.
class mpi_library {
 public:
  virtual ~mpi_library() = default;
  virtual std::string version() = 0;  // "Open MPI v4.1.4"

  virtual bool is_initialized() = 0;
  virtual bool is_finalized() = 0;
  /// With MPI_THREAD_SERIALIZED.
  virtual void initialize() = 0;
  virtual void finalize() noexcept = 0;
  /// Of the threads that the program may call it from, as MPI_Query_thread says.
  enum class threads : std::uint8_t { single, funneled, serialized, multiple };
  virtual threads thread_level() = 0;
  [[noreturn]] virtual void abort(int code) noexcept = 0;

  virtual mpi_handle world() = 0;
  /// A copy whose errors are returned.
  virtual mpi_handle duplicate(mpi_handle comm) = 0;
  /// The processes with the same color, in the order of their ranks; color -1: none, and 0 is returned.
  virtual mpi_handle split(mpi_handle comm, int color) = 0;
  /// Those of the same machine.
  virtual mpi_handle split_machine(mpi_handle comm) = 0;
  virtual void release(mpi_handle comm) noexcept = 0;
  virtual int rank(mpi_handle comm) = 0;
  virtual int size(mpi_handle comm) = 0;

  // What has begun. Memory must stay until is_done().
  virtual mpi_handle send(mpi_handle comm, const void* from, int bytes, int to, int tag) = 0;
  virtual mpi_handle receive(mpi_handle comm, void* to, int bytes, int from, int tag) = 0;
  virtual mpi_handle barrier(mpi_handle comm) = 0;
  virtual mpi_handle broadcast(mpi_handle comm, void* data, int bytes, int root) = 0;
  /// from: null if the rank's part is in its place.
  virtual mpi_handle all_gather(mpi_handle comm, const void* from, int bytes, void* to, const int* sizes,
                                const int* offsets) = 0;
  virtual mpi_handle all_to_all(mpi_handle comm, const void* from, const int* sizes, const int* offsets, void* to,
                                const int* to_sizes, const int* to_offsets) = 0;
  /// Makes progress; true: the request is gone. Throws device_error if another number of bytes than `expected` (-1: of no
  /// receive) has come.
  virtual bool is_done(mpi_handle request, int expected) = 0;
  /// Gives up a send or receive.
  virtual void cancel(mpi_handle request) noexcept = 0;

  /// Whether a message of any process with the tag has come, and if so takes it: `bytes` at most.
  virtual bool take(mpi_handle comm, void* to, int bytes, int tag) = 0;
};

/// Where MPI may be: that of the launcher that has started the process first.
platform::library_place mpi_place();
/// Opens it if need be; throws device_error in the name of a function where it cannot be used.
mpi_library& mpi(const char* function);
/// One that a program has loaded and initialised; null: none.
mpi_library* mpi_of_program() noexcept;

}  // namespace sinter::runtime
