// Failed CUDA calls become device_error; errors that poison the context are remembered.
#include "backends/cuda/driver/driver.hpp"

#include <atomic>
#include <string>

#include "sinter/error.hpp"

namespace sinter::cuda {
namespace {

std::atomic<cudaError_t> poison{cudaSuccess};

bool poisons(cudaError_t status) noexcept {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorContextIsDestroyed: return true;
    default: return false;
  }
}

std::string describe(cudaError_t status) {
  return std::string(cudaGetErrorName(status)) + " (" + cudaGetErrorString(status) + ")";
}

[[noreturn]] void throw_poisoned(const char* call, cudaError_t status) {
  throw device_error("[" + std::string(call) + "] the GPU reported " + describe(status) +
                     "; device contents are lost and the process must be started again");
}

}  // namespace

void check_usable() {
  const cudaError_t p = poison.load(std::memory_order_relaxed);
  if (p != cudaSuccess) [[unlikely]]
    throw_poisoned("cuda", p);
}

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) [[likely]]
    return;
  (void)cudaGetLastError();
  if (poisons(status)) poison.store(status);
  const cudaError_t p = poison.load();
  if (p != cudaSuccess) throw_poisoned(call, p);
  throw device_error("[" + std::string(call) + "] the CUDA runtime reported " + describe(status));
}

}  // namespace sinter::cuda
