// GPUs that machines without one have: their kernels are the CPU's, but work is only queued when it is launched, and
// runs later, in an order of streams that a seed draws, as late as the waits allow. Work that the library does not put
// in order gives wrong results here sooner or later. Unlike a real GPU's, the default stream waits for no other one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "sinter/device.hpp"

namespace sim {

/// The devices, created on the first call, for the rest of the process. The second one has concurrent managed access, and
/// kernels that transpose sparse arrays.
sinter::device first();
sinter::device second();
/// A third one (cuda:60). cuda:61 is always missing.
sinter::device third();
/// One (cuda:59) whose memory limit is taken from the environment on the first call, for the test of that limit alone.
sinter::device limited();

/// From here on orders are drawn from the seed. eager: a step of some stream runs at each launch; otherwise nothing
/// runs before a wait.
void set_order(std::uint64_t seed, bool eager = false);

/// The calls of the devices since the last query.
struct tally {
  std::size_t events = 0, waits = 0, host_waits = 0;
};
tally take_tally();
/// Work that is queued and has not run.
std::size_t queued();

/// Bytes that have been copied outside of kernels since the process began, from and to the host included.
std::uint64_t copied_bytes();

/// Enqueues work on a stream of a device, given by its native handle, as a library of the vendor's does.
void enqueue(const sinter::device& on, void* stream, std::function<void()> work);
/// What is enqueued on one stream from now on comes after what has been enqueued on another one; of two devices.
void order(const sinter::device& first, void* before, const sinter::device& second, void* after);

/// What is enqueued on a stream from now on does not run before the result is called.
std::function<void()> hold(const sinter::device& on, void* stream);

/// Runs all that is queued, of all devices, but what is held and what waits for that.
void run_what_can();

/// The list of launches of this number from now on fails, the next one for 1.
void fail_list(int which);

/// Bytes that the first device has in all; 0: no limit. Counts from the next allocation on.
void set_memory(std::size_t bytes);

}  // namespace sim
