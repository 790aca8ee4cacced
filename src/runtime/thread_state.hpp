// A thread's choices: streams, kinds of memory, sources of memory, the default device.
#pragma once
#include <atomic>
#include <cstdint>

#include "sinter/memory_kind.hpp"

namespace sinter::runtime {

class stream;
class block_source;

/// The CPU and 64 GPUs: slot 0 is the CPU, slot 1 + n is GPU n.
inline constexpr int device_slots = 65;

struct thread_state {
  stream* current[device_slots] = {};       // null: the device's default stream
  block_source* source[device_slots] = {};  // null: the device's
  memory_kind kind[device_slots] = {};      // of memory whose kind is not given
  int default_slot = -1;                    // the thread's default device; -1: the process's
  std::uint32_t capture = 0;                // the number of the capture in progress; 0: none
  bool measuring = false;                   // what runs is timed: kernels are to be the fastest ones at once
};

/// Captures in progress in all threads: while it is 0 a thread need not look for its own.
inline std::atomic<int> captures_anywhere{0};

/// Trivially destructible on purpose: arrays in static storage may die after it.
inline thread_state& this_thread() noexcept {
  static constinit thread_local thread_state state;
  return state;
}

}  // namespace sinter::runtime
