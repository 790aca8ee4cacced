// Memory that a step of captured work reads and writes.
#pragma once
#include <vector>

#include "runtime/stream.hpp"

namespace sinter::cpu {

struct step_memory {
  std::vector<runtime::unchanged_memory> reads, writes;
  bool knows_reads = false, knows_writes = false;
};

}  // namespace sinter::cpu
