// Settings of the runtime for tests. Results never depend on them.
#pragma once
#include <memory>

namespace sinter::runtime {

class backend;
class memory_source;

/// This many threads, however short the work is; 0 restores the default.
void set_thread_count(int n) noexcept;
/// Whether the host waits for each launch; overrides SINTER_SYNC.
void set_synchronous(bool on) noexcept;
/// Installs a GPU under a number that the driver does not use, for the rest of the process, and a source of its pinned
/// memory.
void install_gpu_for_tests(int index, std::unique_ptr<backend> b, std::unique_ptr<memory_source> (*pinned)());

}  // namespace sinter::runtime
