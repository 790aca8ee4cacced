// Simulated GPUs for machines without one: their kernels are the CPU's, but a launch only queues work, which runs
// later, in a random order of streams that depends on a seed, as late as synchronisation allows. An ordering that the
// library omits shows up as a wrong result sooner or later. Unlike a real GPU's, the default stream does not wait for
// other streams.
#pragma once
#include <cstddef>
#include <cstdint>

#include "sinter/device.hpp"

namespace sim {

/// The devices, created on the first call, for the rest of the process. The second one has concurrent managed access.
sinter::device first();
sinter::device second();
/// A third one (cuda:60), whose memory limit is taken from the environment on the first call. cuda:61 is always
/// missing.
sinter::device third();

/// Restarts the random order from the seed. eager: each launch runs a step of some stream; otherwise nothing runs until
/// something waits for it.
void set_order(std::uint64_t seed, bool eager = false);

/// The calls of the devices since the last tally.
struct tally {
  std::size_t events = 0, waits = 0, host_waits = 0;
};
tally take_tally();
/// Work that is queued and has not run.
std::size_t queued();

/// The total memory of the first device in bytes; 0: no separate limit. Takes effect at the next allocation.
void set_memory(std::size_t bytes);

}  // namespace sim
