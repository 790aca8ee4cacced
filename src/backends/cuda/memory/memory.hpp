// The sources of a GPU's memory pools: device memory, managed memory, and pinned host memory.
#pragma once
#include <memory>

#include "runtime/pool.hpp"

namespace sinter::cuda {

class gpu_streams;

/// The pool of one kind of memory of a GPU, which waits for the streams before it frees memory. The device is current.
std::unique_ptr<runtime::pool> make_pool(int device, memory_kind kind, gpu_streams& streams);
/// Pinned host memory for arrays on the CPU.
std::unique_ptr<runtime::memory_source> make_pinned_source();

/// Whether the host may access managed memory while the GPU works.
bool has_concurrent_managed_access(int device);
/// Prefetches managed memory to `to`, a GPU's number or -1 for the host, on the calling thread's current stream of
/// `device`.
void prefetch(int device, const void* p, std::size_t bytes, int to);
void advise(int device, const void* p, std::size_t bytes, runtime::memory_hint hint, int where, bool on);

}  // namespace sinter::cuda
