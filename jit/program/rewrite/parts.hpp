// Programs for launches that read or write the parts of complex numbers which lie apart: as real numbers, of which there are twice as many.
#pragma once
#include <optional>

#include "jit/program/launch.hpp"

namespace sinter::jit {

/// The launch with real inputs in place of complex ones of which only parts are read, and real outputs in place of complex ones of which
/// one part stays what it is, as far as their numbers lie apart along the last axis: vectors of neighbouring numbers are read and
/// written as fast as they are. Nothing where there are none. For elementwise launches without calls and loops.
std::optional<launch> in_parts(const launch& l);

}  // namespace sinter::jit
