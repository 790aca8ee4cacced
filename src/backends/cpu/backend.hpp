// src/backends/cpu: the host as a device. What it computes is in the folders below; no CUDA, and nothing of the graph.
//
// The CPU backend: programs run block by block, interpreted or compiled by the host compiler.
#pragma once
#include <memory>

#include "runtime/backend.hpp"

namespace sinter::runtime {

std::unique_ptr<backend> make_cpu_backend();

}  // namespace sinter::runtime
