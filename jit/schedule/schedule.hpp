// jit/schedule: how a program runs on a device, apart from what it computes: a description that can be printed and
// compared, and what a schedule makes a device do. No text for a target, and no rule about what a device can run.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sinter::jit {

/// Who runs the iterations of a part of the iteration space, from the outermost to the innermost.
enum class level : std::uint8_t {
  grid,     // blocks of a GPU, tasks of the CPU's threads
  threads,  // of a block
  serial,   // one after the other in a thread
  vector,   // elements of one access, or lanes of a block of the CPU
};

/// `count` iterations over `what`: "axis 1", "rows", "elements".
struct schedule_part {
  level on;
  std::int64_t count;
  std::string what;
};

/// Work in the units by which a device is limited. `lines` are pieces of 128 bytes that the accesses of 32 neighbouring
/// threads touch, `sectors` the bytes of the pieces of 32 that come from a farther cache.
struct work {
  double memory = 0;   // bytes from and to memory
  double sectors = 0;  // bytes
  double lines = 0;
  double instructions = 0;  // of one lane
  double threads = 1;       // that share them
  double chains = 1;        // of a thread that do not wait for each other
  double depth = 0;         // steps that wait for each other
  int kernels = 1;
};

struct time_estimate {
  double microseconds = 0;  // infinite: unknown
  const char* bound = "";   // by what it is limited: "memory", "instructions", ...
};

/// Another schedule that gives the same bits.
struct other_schedule {
  std::string name;
  double microseconds = 0;
};

/// A schedule as text and numbers.
struct schedule {
  std::string name;                          // of its class: "tiled", "rows"
  std::vector<schedule_part> parts;          // from the outermost to the innermost
  std::vector<std::string> inputs, outputs;  // how each is read or written: "vectors of 4", "through shared memory"
  std::string reduction;                     // how partial results are joined; empty: nothing is reduced
  std::string compiled_for;                  // what is part of the kernel's key; the rest are parameters of a launch
  time_estimate estimate;
  std::vector<other_schedule> others;  // that were legal, cheapest first
  std::string why;                     // why it was chosen
};

/// Lines of text, each with the indent.
std::string to_string(const schedule& s, const std::string& indent);
/// "12.3 us", "1.20 ms".
std::string time_text(double microseconds);

}  // namespace sinter::jit
