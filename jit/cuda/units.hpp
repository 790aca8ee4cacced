// Compilation units for NVRTC: a kernel of one variant of a program.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jit/cuda/emit.hpp"
#include "jit/cuda/nvrtc.hpp"

namespace sinter::jit {

/// An estimate of what compiling a kernel's optimised form costs: the instructions of its unrolled code, in additions.
std::int64_t cuda_text_weight(const program& p, const cuda_variant& v);
/// Whether a kernel has a baseline form, which compiles sooner and gives the same bits: kernels with much unrolled code, and
/// reductions with sine or cosine of float32, which are called instead of inlined.
bool cuda_has_baseline(const program& p, const cuda_variant& v);
/// The baseline form of a kernel. Rows on chip keep elements in shared memory, so that loops over them are short; reductions of
/// tiles, and of several rows a thread, have smaller tiles. Other shapes have the same schedule: elements are processed one at
/// a time where the shape leaves their order free, else loops are left as they are written.
cuda_variant cuda_baseline_of(cuda_variant v);

/// The whole translation unit of a kernel.
std::string cuda_source(const program& p, const cuda_variant& v);
/// The unit that compiles it for `arch`; `p` must live as long as the unit.
cuda_unit cuda_unit_of(const program& p, const cuda_variant& v, int arch);
/// compile_cuda of the programs' units; if users' text is at fault, the message is about that text.
std::vector<cubin> compile_units(std::span<const cuda_unit> units, const std::vector<const program*>& programs);

}  // namespace sinter::jit
