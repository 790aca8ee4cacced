// Compilation units for NVRTC: a kernel of one variant of a program.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "jit/cuda/emit.hpp"
#include "jit/cuda/nvrtc.hpp"

namespace sinter::jit {

/// The whole translation unit of a kernel.
std::string cuda_source(const program& p, const cuda_variant& v);
/// The unit that compiles it for `arch`; `p` must live as long as the unit.
cuda_unit cuda_unit_of(const program& p, const cuda_variant& v, int arch);
/// compile_cuda of the programs' units; if users' text is at fault, the message is about that text.
std::vector<cubin> compile_units(std::span<const cuda_unit> units, const std::vector<const program*>& programs);

}  // namespace sinter::jit
