// Users' CUDA modules, loaded on one GPU.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/raw_module.hpp"

namespace sinter::cuda {

/// The device of a module; launches use the calling thread's current stream and are counted in `launches`.
struct module_place {
  int device = 0;
  int arch = 0;  // 90 for compute capability 9.0
  std::atomic<std::uint64_t>* launches = nullptr;
};

/// Compiles source text, or takes an image, and loads it. The device is current.
std::shared_ptr<runtime::raw_module> load_module(const runtime::module_source& source, const module_place& place);

}  // namespace sinter::cuda
