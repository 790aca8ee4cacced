// What a device reports about itself. properties() in stream.hpp gives it.
#pragma once
#include <cstddef>
#include <string>

namespace sinter::inline v0 {

/// Properties of a device. Of the CPU: name, memory, threads; the rest has the defaults given here.
struct device_properties {
  std::string name;
  int compute_major = 0, compute_minor = 0;
  std::size_t total_memory = 0;  ///< bytes
  int multiprocessors = 0;       ///< on the CPU: threads that the library uses
  double clock_rate = 0;         ///< of the multiprocessors, in Hz; 0 where unknown
  double memory_clock_rate = 0;  ///< in Hz
  int memory_bus_width = 0;      ///< in bits
  std::size_t l2_cache = 0;      ///< bytes
  int warp_size = 0;
  int max_threads_per_block = 0;
  int max_threads_per_multiprocessor = 0;
  int registers_per_multiprocessor = 0;
  std::size_t shared_memory_per_block = 0;        ///< that every kernel may use
  std::size_t shared_memory_per_block_optin = 0;  ///< that a kernel may request
  std::size_t shared_memory_per_multiprocessor = 0;
  int least_priority = 0, greatest_priority = 0;  ///< of streams; the greatest is the lower number
  bool managed_memory = false;                    ///< memory_kind::managed can be had
  bool concurrent_managed_access = false;         ///< the host may touch it while the GPU works
  bool pageable_memory_access = false;            ///< kernels can read ordinary host memory
  std::string pci_bus_id;
};

}  // namespace sinter::inline v0
