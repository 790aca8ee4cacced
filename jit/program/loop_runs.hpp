// What a program's loop reads and writes in each of its runs: the elements of a run lie a fixed distance apart from those
// of the run before.
//
// Such an input is one that is gathered by a counter: the register that is 0 in the first run and grows by 1. Such an
// output (output_desc::spare is 1) gets the value that its register has in each run, at its first place plus
// gather_stride[0] times the number of the run.
#pragma once
#include <algorithm>
#include <cstddef>

#include "jit/program/program.hpp"

namespace sinter::jit {

inline constexpr std::uint8_t in_each_run = 1;  // output_desc::spare

/// Whether an input is read at a place that moves with the runs of the loop, and with nothing else.
inline bool moves_with_runs(const program& p, std::size_t input) noexcept {
  const input_desc& in = p.inputs[input];
  return p.loop.end != 0 && in.gathers == 1 && p.code[in.gather[0]].op == opcode::carried;
}
inline bool is_in_each_run(const output_desc& o) noexcept { return o.spare == in_each_run; }
inline bool stores_in_runs(const program& p) noexcept {
  return std::any_of(p.outputs.begin(), p.outputs.end(), is_in_each_run);
}

}  // namespace sinter::jit
