// What becomes of wrapped reads (jit/program/rewrite/wrapped_reads.hpp). Elementwise launches are divided there; reductions, whose order
// must not change, are walked as they are, by blocks that begin to read elsewhere there.
#pragma once
#include <optional>
#include <vector>

#include "jit/program/launch.hpp"

namespace sinter::cpu {

/// The parts of an elementwise launch, with a program without those reads, or the launch that reads and writes parts of complex numbers
/// as real ones; none where it runs as it is. The parts cover
/// the iteration space, and no coordinate takes part in their programs. They run in this order: the first and largest one may write
/// elements of the others as well, which these write again.
std::vector<jit::launch> plain_parts_of(const jit::launch& l);

/// A reduction without the gathers of its wrapped reads (launch::wraps). Nothing where the launch is no reduction or has no
/// such reads, or where blocks do not run along one axis.
std::optional<jit::launch> without_wrapped_gathers(const jit::launch& l);

}  // namespace sinter::cpu
