// The driver's functions, looked up through the runtime so that nothing links libcuda, and the device of the calling
// thread.
#include "backends/cuda/driver/driver.hpp"

#include <string>

#include "sinter/error.hpp"

namespace sinter::cuda {

void make_current(int device) {
  thread_local int bound = -1;
  int current = -1;
  if (bound == device && cudaGetDevice(&current) == cudaSuccess && current == device) return;
  check(cudaSetDevice(device), "cudaSetDevice");
  bound = device;
}

int device_attribute(cudaDeviceAttr a, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, a, device), "cudaDeviceGetAttribute");
  return value;
}

int compute_capability(int device) {
  return 10 * device_attribute(cudaDevAttrComputeCapabilityMajor, device) +
         device_attribute(cudaDevAttrComputeCapabilityMinor, device);
}

void* find_driver_function(const char* name, unsigned version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  if (cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result) != cudaSuccess) {
    (void)cudaGetLastError();
    return nullptr;
  }
  return found;
}

void* driver_function(const char* name) {
  if (void* found = find_driver_function(name)) return found;
  throw device_error(std::string("[cuda] the driver has no ") + name);
}

void check_driver(CUresult status, const char* call) { check(static_cast<cudaError_t>(status), call); }

}  // namespace sinter::cuda
