// What an evaluation has to do for one planned kernel.
#pragma once
#include <cstddef>
#include <cstdint>

#include "graph/plan/plan.hpp"
#include "runtime/buffer.hpp"
#include "runtime/fault.hpp"

namespace sinter::graph {

/// Memory that the launches use.
struct buffer_use {
  const runtime::buffer* buffer;
  bool writes;
};

/// A planned kernel with its launch.
struct job {
  kernel_plan* plan = nullptr;
  int launch = -1;           // -1: nothing to run
  std::size_t uses_end = 0;  // of its memory, in the flush's list: they begin where the last job's end
  bool copies = false;       // update out of place: its base is copied into the result first
  const runtime::buffer* copy_from = nullptr;
  std::int64_t copy_offset = 0;
  std::size_t copy_bytes = 0;
  runtime::fault_ref fault;      // of its launch, if that may find a fault
  runtime::fault_list replaced;  // update whose base is not computed: the faults that the base would have
};

}  // namespace sinter::graph
