// Captured work some of whose memory lies elsewhere in each launch: what it is given and what it gives need not be copied.
#pragma once
#include <cstddef>

#include "runtime/stream.hpp"

namespace sinter::runtime {

class moving_work {
 public:
  /// What the work does with memory that may move.
  enum class access : unsigned char { reads, writes };

  virtual ~moving_work() = default;
  /// Whether everything that the work does in this memory, which is one block, can be done in another one. Before the first
  /// launch. Memory that is read must not be written by the work; of one that is written nothing may be left from before.
  virtual bool let_move(const unchanged_memory& captured, access how) = 0;
  /// From now on that is done at `base`, `offset` bytes behind it.
  virtual void move(const void* captured, void* base, std::ptrdiff_t offset) = 0;
};

}  // namespace sinter::runtime
