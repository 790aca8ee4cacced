// Phases with a loop: what is before it, a run of it, and what is after it are functions of their own, so that the lanes of a
// group run the loop together. A lane alone waits for each of its results, and pays for the loop's counter and its branch.
#pragma once
#include "jit/cuda/emit_lines.hpp"

namespace sinter::jit::cuda {

bool has_loop(const program& p, const phase& f) noexcept;

/// The registers of a phase with a loop, by the part that computes them.
struct rolled_phase {
  rolled_phase(const program& p, const phase& f);

  std::vector<int> before, run, after;
  /// What one part computes and another one reads: the members of NAME_state. Of those `brought`, which the phase does not
  /// compute; carried registers that are read after the loop, as they were in the last run.
  std::set<int> state, brought, last;
  /// Words of a lane that the loop reads.
  int words = 0;
};

/// NAME_state, which both versions have; NAME_before, NAME_run and NAME_after, or those of the fast version.
void define_state(text& t, const program& p, const phase& f);
void define_parts(text& t, const program& p, const phase& f, bool quick);
/// The body of the phase's function, for one element.
void call_parts(text& t, const program& p, const phase& f, bool quick);
/// Fills x<register>[lanes]. `arguments`: those of the phase for a lane.
void call_parts_of_lanes(text& t, const program& p, const phase& f, int lanes, bool quick,
                         const std::function<std::string(const std::string& lane)>& arguments);

}  // namespace sinter::jit::cuda
