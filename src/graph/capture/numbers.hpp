// The numbers of captures.
#pragma once
#include <cstdint>

namespace sinter::graph {

/// Each capture of the process has one of its own; 0 is none's.
std::uint32_t next_capture_number() noexcept;

}  // namespace sinter::graph
