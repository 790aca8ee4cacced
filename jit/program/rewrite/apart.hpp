// Programs for launches whose operands have few elements beside each other that belong to different results, as the colours of a
// pixel do where an image is taken apart into planes.
#pragma once
#include "jit/program/launch.hpp"

namespace sinter::jit {

/// The launch without one of its axes, along which there are `extents[axis]` places: what an element of it computes there are as many
/// outputs of one program, in the order of the outputs, then of the places. Of inputs that do not vary along the axis there
/// is one. For elementwise launches whose program asks for no place, calls no user's function and has no gathers and no loop.
void take_apart(const launch& l, int axis, launch& to);

}  // namespace sinter::jit
