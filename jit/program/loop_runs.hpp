// What a program's loop reads and writes in each of its runs, where the elements of a run lie a fixed distance apart from
// those of the run before, and a condition under which it goes on. On a GPU such a program has a kernel shape of its own
// (cuda_shape::step_loop).
//
// Such an input is one that is gathered by a counter: the register that is 0 in the first run and grows by 1. Such an
// output (output_desc::spare is 1) gets the value that its register has in each run, at its first place plus
// gather_stride[0] times the number of the run.
//
// The condition is the carried register (bool) whose instruction has spare2 = 1. Where its next value is false, no further
// run follows, whatever the number of runs allows. It has one value for all elements: it is computed from parameters and
// inputs whose strides are 0 alone.
#pragma once
#include <algorithm>
#include <cstddef>

#include "jit/program/program.hpp"

namespace sinter::jit {

inline constexpr std::uint8_t in_each_run = 1;      // output_desc::spare
inline constexpr std::uint16_t while_it_holds = 1;  // instr::spare2 of a carried register

/// Whether an input is read at a place that moves with the runs of the loop, and with nothing else.
inline bool moves_with_runs(const program& p, std::size_t input) noexcept {
  const input_desc& in = p.inputs[input];
  return p.loop.end != 0 && in.gathers == 1 && p.code[in.gather[0]].op == opcode::carried;
}
inline bool is_in_each_run(const output_desc& o) noexcept { return o.spare == in_each_run; }
inline bool stores_in_runs(const program& p) noexcept {
  return std::any_of(p.outputs.begin(), p.outputs.end(), is_in_each_run);
}
/// The register that must be true for another run; -1: there is none.
inline int condition_of_runs(const program& p) noexcept {
  for (const carried_desc& c : p.carried)
    if (p.code[c.reg].spare2 == while_it_holds) return c.next;
  return -1;
}
/// Whether the program reads, writes or ends as its loop goes.
inline bool moves_in_runs(const program& p) noexcept {
  if (p.loop.end == 0) return false;
  for (std::size_t k = 0; k < p.inputs.size(); ++k)
    if (moves_with_runs(p, k)) return true;
  return stores_in_runs(p) || condition_of_runs(p) >= 0;
}

}  // namespace sinter::jit
