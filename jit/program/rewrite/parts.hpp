// Programs for launches that read or write the parts of complex numbers which lie apart: as real numbers, of which there are twice as many.
#pragma once
#include <optional>

#include "jit/program/launch.hpp"

namespace sinter::jit {

/// The launch with real inputs in place of complex ones of which only parts are read, and real outputs in place of complex ones that are
/// made of parts: those that lie apart along the last axis, and those of which a part stays what it is. Nothing where there are none. For
/// elementwise launches without calls and loops.
std::optional<launch> in_parts(const launch& l);

}  // namespace sinter::jit
