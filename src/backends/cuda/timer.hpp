// Device time by events on a stream.
#pragma once
#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "runtime/backend.hpp"

namespace sinter::cuda {

/// A timer of one stream of the current device.
std::unique_ptr<runtime::timer> make_timer(int device, cudaStream_t stream);

/// Source of the kernel that keeps a device busy: `sn_hold(nanoseconds)`.
std::string hold_source();

}  // namespace sinter::cuda
