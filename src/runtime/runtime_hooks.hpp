// For tests only: what they may turn in the runtime. Results never depend on any of it.
#pragma once
#include <memory>

namespace sinter::runtime {

class backend;
class memory_source;

/// This many threads, whatever the work takes; 0 restores the default.
void set_thread_count(int n) noexcept;
/// Whether the host waits for each launch, whatever SINTER_SYNC says.
void set_synchronous(bool on) noexcept;
/// A GPU under a number that the driver does not use, for the rest of the process, and host memory that counts as pinned.
void install_gpu_for_tests(int index, std::unique_ptr<backend> b, std::unique_ptr<memory_source> (*pinned)());

}  // namespace sinter::runtime
