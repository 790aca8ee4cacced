// Runs fuzz programs by the public API, in each mode of evaluation and planning.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/program.hpp"
#include "graph/meter.hpp"

namespace sinter::fuzz {

enum class evaluation : std::uint8_t {
  as_written,  // evaluates where the program says, and at every read
  every_step,  // evaluates after each instruction: nothing is fused
  at_the_end,  // evaluates once: every read is recorded as a copy, all of them evaluated together
};

/// Where the planner places fusion barriers.
enum class planning : std::uint8_t {
  usual,
  tiny_kernels,  // limits so small that chains, inputs and pending writes reach them
  one_by_one,    // every operation is its own kernel
};

struct way {
  evaluation when = evaluation::as_written;
  bool compiled = false;  // CPU: compile each program at first use; else interpret
  int threads = 1;
  planning plan = planning::usual;
  bool out_of_memory = false;        // an allocation of each instruction fails once, then the instruction is retried
  bool fails_late = false;           // the same with a launch, after others of its evaluation have run
  bool copied = false;               // every read is recorded as a copy and read at the end
  bool metered = false;              // data are in memory before they are used
  std::vector<std::int64_t> mesh{};  // extents of a mesh that data are divided on; none: one device

  std::string name() const;
};

struct outcome {
  std::vector<test::host_array> reads;
  std::string error;        // empty on success
  test::spent spent;        // where the meter sees launches
  std::size_t largest = 0;  // bytes of the largest array
};

/// Runs the program; sets tier, threads and planner limits for the call, and restores only the limits.
outcome run(const program& p, const way& w);

}  // namespace sinter::fuzz
