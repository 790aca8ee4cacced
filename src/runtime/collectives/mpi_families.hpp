// The two families of MPI implementations: the types of handles, and where their constants come from. The values are
// parts of the ABI that each family keeps (Open MPI: libmpi.so.40; MPICH: the "MPICH ABI compatibility initiative").
#pragma once
#include <cstdint>
#include <string>

#include "platform/dynamic_library.hpp"

namespace sinter::runtime {

/// Handles are the addresses of objects that the library exports.
struct open_mpi {
  using handle = void*;
  static constexpr int any_source = -1, shared_machine = 0;
  static constexpr std::uintptr_t status_ignore = 0;
  static void* in_place() noexcept { return reinterpret_cast<void*>(1); }
  handle world = nullptr, null_comm = nullptr, null_request = nullptr, byte = nullptr, null_info = nullptr,
         errors_return = nullptr;
  bool resolve(const platform::dynamic_library& library, std::string& error) {
    const auto object = [&](handle& h, const char* name) {
      h = library.symbol(name);
      if (!h) error = std::string("has no ") + name;
      return h != nullptr;
    };
    return object(world, "ompi_mpi_comm_world") && object(null_comm, "ompi_mpi_comm_null") &&
           object(null_request, "ompi_request_null") && object(byte, "ompi_mpi_byte") &&
           object(null_info, "ompi_mpi_info_null") && object(errors_return, "ompi_mpi_errors_return");
  }
  static std::uint64_t number(handle h) noexcept { return reinterpret_cast<std::uint64_t>(h); }
  static handle of(std::uint64_t n) noexcept { return reinterpret_cast<handle>(n); }
};

/// Handles are numbers, those of constants fixed.
struct mpich {
  using handle = int;
  static constexpr int any_source = -2, shared_machine = 1;
  static constexpr std::uintptr_t status_ignore = 1;
  static void* in_place() noexcept { return reinterpret_cast<void*>(-1); }
  handle world = 0x44000000, null_comm = 0x04000000, null_request = 0x2c000000, byte = 0x4c00010d,
         null_info = 0x1c000000, errors_return = 0x54000001;
  bool resolve(const platform::dynamic_library&, std::string&) { return true; }
  static std::uint64_t number(handle h) noexcept { return static_cast<std::uint32_t>(h); }
  static handle of(std::uint64_t n) noexcept { return static_cast<handle>(static_cast<std::uint32_t>(n)); }
};

/// The functions in use, typed by a family's handles. The same values in both: MPI_SUCCESS 0, MPI_UNDEFINED -32766,
/// MPI_THREAD_SERIALIZED 2.
template <class Family>
struct mpi_functions {
  using handle = typename Family::handle;
  /// Large enough for either's; read by MPI_Get_count alone.
  struct status {
    alignas(16) unsigned char bytes[64];
  };

  int (*get_version)(char*, int*) = nullptr;
  int (*initialized)(int*) = nullptr;
  int (*finalized)(int*) = nullptr;
  int (*init_thread)(int*, char***, int, int*) = nullptr;
  int (*query_thread)(int*) = nullptr;
  int (*finalize)() = nullptr;
  int (*abort)(handle, int) = nullptr;
  int (*error_string)(int, char*, int*) = nullptr;
  int (*comm_dup)(handle, handle*) = nullptr;
  int (*comm_split)(handle, int, int, handle*) = nullptr;
  int (*comm_split_type)(handle, int, int, handle, handle*) = nullptr;
  int (*comm_free)(handle*) = nullptr;
  int (*comm_set_errhandler)(handle, handle) = nullptr;
  int (*comm_rank)(handle, int*) = nullptr;
  int (*comm_size)(handle, int*) = nullptr;
  int (*isend)(const void*, int, handle, int, int, handle, handle*) = nullptr;
  int (*irecv)(void*, int, handle, int, int, handle, handle*) = nullptr;
  int (*recv)(void*, int, handle, int, int, handle, status*) = nullptr;
  int (*iprobe)(int, int, handle, int*, status*) = nullptr;
  int (*test)(handle*, int*, status*) = nullptr;
  int (*get_count)(const status*, handle, int*) = nullptr;
  int (*cancel)(handle*) = nullptr;
  int (*request_free)(handle*) = nullptr;
  int (*ibarrier)(handle, handle*) = nullptr;
  int (*ibcast)(void*, int, handle, int, handle, handle*) = nullptr;
  int (*iallgatherv)(const void*, int, handle, void*, const int*, const int*, handle, handle, handle*) = nullptr;
  int (*ialltoallv)(const void*, const int*, const int*, handle, void*, const int*, const int*, handle, handle,
                    handle*) = nullptr;

  bool resolve(const platform::dynamic_library& library, std::string& error) {
    const auto one = [&](auto& function, const char* name) {
      if (library.resolve(function, name)) return true;
      error = std::string("has no function ") + name;
      return false;
    };
    return one(get_version, "MPI_Get_library_version") && one(initialized, "MPI_Initialized") &&
           one(finalized, "MPI_Finalized") && one(init_thread, "MPI_Init_thread") &&
           one(query_thread, "MPI_Query_thread") && one(finalize, "MPI_Finalize") && one(abort, "MPI_Abort") &&
           one(error_string, "MPI_Error_string") && one(comm_dup, "MPI_Comm_dup") &&
           one(comm_split, "MPI_Comm_split") && one(comm_split_type, "MPI_Comm_split_type") &&
           one(comm_free, "MPI_Comm_free") && one(comm_set_errhandler, "MPI_Comm_set_errhandler") &&
           one(comm_rank, "MPI_Comm_rank") && one(comm_size, "MPI_Comm_size") && one(isend, "MPI_Isend") &&
           one(irecv, "MPI_Irecv") && one(recv, "MPI_Recv") && one(iprobe, "MPI_Iprobe") && one(test, "MPI_Test") &&
           one(get_count, "MPI_Get_count") && one(cancel, "MPI_Cancel") && one(request_free, "MPI_Request_free") &&
           one(ibarrier, "MPI_Ibarrier") && one(ibcast, "MPI_Ibcast") && one(iallgatherv, "MPI_Iallgatherv") &&
           one(ialltoallv, "MPI_Ialltoallv");
  }
};

}  // namespace sinter::runtime
