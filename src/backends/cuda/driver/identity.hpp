// The identity of the GPU and its driver, which measured choices depend on besides the program.
#pragma once
#include <string>

#include "runtime/backend.hpp"

namespace sinter::cuda {

/// "NVIDIA H200, sm_90, driver 580.159.03 (CUDA 13.0)". Looked up once for each device.
const std::string& identity_of(int device);
/// The device's properties and capabilities.
device_properties properties_of(int device);

}  // namespace sinter::cuda
