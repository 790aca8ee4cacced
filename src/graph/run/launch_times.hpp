// How long launches took that the host has waited for anyway (SINTER_SYNC).
#pragma once
#include "jit/program/launch.hpp"
#include "runtime/backend.hpp"

namespace sinter::graph {

/// Keeps the last time of a launch, by device, program, extents and strides. Thread safe.
void note_time(const runtime::backend& device, const jit::launch& l, double microseconds);
/// Microseconds; negative: none has been measured.
double measured_time(const runtime::backend& device, const jit::launch& l);

}  // namespace sinter::graph
