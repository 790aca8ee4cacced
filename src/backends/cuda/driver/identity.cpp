// The identity of the GPU and its driver, which measured choices depend on besides the program.
#include "backends/cuda/driver/identity.hpp"

#include <cuda_runtime_api.h>

#include <fstream>
#include <map>
#include <mutex>

#include "backends/cuda/driver/driver.hpp"

namespace sinter::cuda {
namespace {

/// The driver's version, which the CUDA runtime does not report; empty if the kernel module does not expose it.
std::string driver_release() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string release;
  file >> release;
  return release;
}

std::string look_up(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  int version = 0;
  check(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
  const std::string cuda = "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  const std::string release = driver_release();
  return std::string(properties.name) + ", sm_" + std::to_string(10 * properties.major + properties.minor) +
         ", driver " + (release.empty() ? cuda : release + " (" + cuda + ")");
}

}  // namespace

const std::string& identity_of(int device) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::map<int, std::string>;
  const std::lock_guard lock(mutex);
  const auto found = known.find(device);
  return found != known.end() ? found->second : known.emplace(device, look_up(device)).first->second;
}

device_properties properties_of(int device) {
  cudaDeviceProp p{};
  check(cudaGetDeviceProperties(&p, device), "cudaGetDeviceProperties");
  device_properties f;
  f.name = p.name;
  f.compute_major = p.major;
  f.compute_minor = p.minor;
  f.total_memory = p.totalGlobalMem;
  f.l2_cache = static_cast<std::size_t>(p.l2CacheSize);
  f.multiprocessors = p.multiProcessorCount;
  f.memory_bus_width = p.memoryBusWidth;
  f.warp_size = p.warpSize;
  f.clock_rate = 1e3 * device_attribute(cudaDevAttrClockRate, device);  // the driver reports kHz
  f.memory_clock_rate = 1e3 * device_attribute(cudaDevAttrMemoryClockRate, device);
  f.max_threads_per_block = p.maxThreadsPerBlock;
  f.max_threads_per_multiprocessor = p.maxThreadsPerMultiProcessor;
  f.registers_per_multiprocessor = p.regsPerMultiprocessor;
  f.shared_memory_per_block = p.sharedMemPerBlock;
  f.shared_memory_per_block_optin = p.sharedMemPerBlockOptin;
  f.shared_memory_per_multiprocessor = p.sharedMemPerMultiprocessor;
  check(cudaDeviceGetStreamPriorityRange(&f.least_priority, &f.greatest_priority), "cudaDeviceGetStreamPriorityRange");
  f.managed_memory = p.managedMemory != 0;
  f.concurrent_managed_access = p.concurrentManagedAccess != 0;
  f.pageable_memory_access = p.pageableMemoryAccess != 0;
  char bus[32] = "";
  check(cudaDeviceGetPCIBusId(bus, sizeof bus, device), "cudaDeviceGetPCIBusId");
  f.pci_bus_id = bus;
  return f;
}

}  // namespace sinter::cuda
