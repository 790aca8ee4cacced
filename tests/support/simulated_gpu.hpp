// GPUs that machines without one have: their kernels are the CPU's, but work is only queued when it is launched, and runs
// later, in an order of streams that a seed draws, as late as somebody who waits allows. Whatever the library does not put
// in order goes wrong here sooner or later. Unlike a real GPU's, the default stream waits for nobody.
#pragma once
#include <cstddef>
#include <cstdint>

#include "sinter/device.hpp"

namespace sim {

/// Devices, made at the first call; they stay for the rest of the process. The second has
/// concurrent managed access.
sinter::device first();
sinter::device second();
/// A third one (cuda:60), whose limit of memory is what the environment says at the first call. cuda:61 is always
/// missing.
sinter::device third();

/// From here on orders are drawn from the seed. eager: a step of some stream runs at each launch; otherwise nothing runs
/// before somebody waits.
void set_order(std::uint64_t seed, bool eager = false);

/// What was asked of the devices since the last call.
struct tally {
  std::size_t events = 0, waits = 0, host_waits = 0;
};
tally take_tally();
/// Work that is queued and has not run.
std::size_t queued();

/// Bytes that the first device has in all; 0: no limit of its own. Counts from the next allocation on.
void set_memory(std::size_t bytes);

}  // namespace sim
