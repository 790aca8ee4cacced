// Amounts of memory as text, and the limit that the environment sets for GPUs.
#include <cstdlib>
#include <string>

#include "platform/environment.hpp"
#include "runtime/pool.hpp"
#include "sinter/error.hpp"

namespace sinter::runtime {

std::size_t parse_memory_limit(std::string_view text, std::size_t total, const char* where) {
  if (const auto bytes = platform::memory_amount(text, total)) return *bytes;
  throw value_error("[" + std::string(where) + "] '" + std::string(text) +
                    "' is no amount of memory: use 8GiB, 500 MB, 1073741824, or a part of the memory like 0.5");
}

// A limit that cannot be parsed is an error, not a warning: it is set where the GPU is shared with other processes.
std::size_t gpu_memory_limit(std::size_t total) {
  const char* text = std::getenv("SINTER_GPU_MEMORY_LIMIT");
  return text ? parse_memory_limit(text, total, "SINTER_GPU_MEMORY_LIMIT") : SIZE_MAX;
}

}  // namespace sinter::runtime
