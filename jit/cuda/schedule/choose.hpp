// jit/cuda/schedule: which schedules a GPU can run a launch with, what each is estimated to cost, and the choice. The
// schedule's class, which its code depends on, is a cuda_variant; the rest follows from the launch (jit/cuda/launch.hpp).
// No text of kernels.
#pragma once
#include <string>
#include <vector>

#include "jit/cuda/launch.hpp"
#include "jit/schedule/schedule.hpp"

namespace sinter::cuda {

/// What estimates know about a device. The numbers are those of an H200.
struct device_figures {
  double multiprocessors = 132;
  double clock = 1.755e3;       // cycles a microsecond
  double memory = 4.1e6;        // bytes a microsecond, as a copy reaches them
  double far_cache = 6.0e6;     // bytes a microsecond from the second-level cache
  double near_cache = 128e3;    // bytes of the first-level cache of a multiprocessor
  double launch = 2.2;          // microseconds of a kernel that does nothing
  double step = 0.5;            // microseconds of a step that waits for the one before: a load from memory
  double lanes = 128;           // instructions of one lane that a multiprocessor starts in a cycle
  double threads = 1024;        // of a multiprocessor from which on its units are busy
  double resident = 2048;       // most threads of a multiprocessor
  double shared_bytes = 227e3;  // most shared memory of a multiprocessor
};
inline constexpr device_figures reference_device{};

/// What a schedule makes the device do, and how long that takes.
jit::work work_of(const jit::launch& l, const jit::cuda_variant& v, const device_figures& d = reference_device);
jit::time_estimate time_of(const jit::work& w, const device_figures& d = reference_device);

/// A schedule is taken instead of one that is considered before it, if its estimate is below this part of the other's:
/// estimates are not better than that.
inline constexpr double clearly_cheaper = 0.8;

/// Whether a staged program over such rows has a legal schedule: a thread keeps its part of a row in registers. Asked by
/// planners, before there is a launch.
bool keeps_rows(const jit::program& p, std::int64_t rows, std::int64_t elements);
/// The launch as kernels are made for: elementwise reads at shifted coordinates, as those of roll, are plain ones with
/// wraps, and the kept axis of a reduction that suits its operands best is the last one. `l` itself where nothing changes, else
/// `to`, whose memory is used again. What is below takes either.
const jit::launch& lowered(const jit::launch& l, jit::launch& to);
/// The schedule of a launch. Reuses the memory of `v`.
void classify(const jit::launch& l, jit::cuda_variant& v);
/// Whether a schedule with runs is one of a launch that differs from its own by addresses, offsets and scalars alone.
bool same_runs(const jit::launch& l, const jit::cuda_variant& v);
/// Whether a test has launches take the schedule of a number (jit/hooks.hpp), so that what classify() gave before does not
/// hold.
bool schedules_are_forced() noexcept;
/// All legal schedules; the chosen one is among them.
std::vector<jit::cuda_variant> legal_schedules(const jit::launch& l);
/// "tiled, 64 x 32 of axis 0, vectors of 4": different for different schedules of one launch.
std::string schedule_name(const jit::launch& l, const jit::cuda_variant& v);
/// The chosen schedule, with what it was chosen from.
jit::schedule describe(const jit::launch& l);

}  // namespace sinter::cuda
