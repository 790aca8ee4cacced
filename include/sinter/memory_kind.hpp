// Where the elements of an array lie. The functions that choose it are in memory.hpp.
#pragma once
#include <cstdint>
#include <string_view>

namespace sinter::inline v0 {

enum class memory_kind : std::uint8_t {
  device,   ///< the device's own memory; ordinary memory on the CPU
  managed,  ///< one address for the GPU and the host; the driver migrates pages to the device that touches them
  pinned,   ///< host memory that the system does not page out: copies to and from it run beside other work, and a GPU
            ///< can work on it where it lies, through the bus
};

/// "device", "managed", "pinned".
std::string_view name(memory_kind kind) noexcept;

}  // namespace sinter::inline v0
