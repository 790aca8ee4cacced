// What measured choices depend on besides the program: the GPU and its driver.
#include "backends/cuda/cuda_identity.hpp"

#include <cuda_runtime_api.h>

#include <fstream>
#include <map>
#include <mutex>

#include "backends/cuda/cuda_error.hpp"

namespace sinter::cuda {
namespace {

/// The driver's own version, which the CUDA runtime does not tell; empty where the kernel module does not show it.
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

}  // namespace sinter::cuda
