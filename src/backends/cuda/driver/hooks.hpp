// Settings of the CUDA backend for tests and benchmarks. Results never depend on them.
#pragma once
#include <cstdint>
#include <string>

namespace sinter::cuda {

/// The tier of kernels that have a baseline form, which compiles fast (jit::cuda_has_baseline).
enum class tier : std::uint8_t {
  automatic,  // baseline first; optimised in the background once the kernel has done enough work to pay for it
  baseline,   // baseline, unless the disk cache has the optimised form
  optimised,  // optimised, before the first launch
};

/// Initially SINTER_TIER (0: baseline, 1: optimised, auto), else automatic.
void set_tier(tier t) noexcept;
tier get_tier() noexcept;
/// Additions (of all launches together, as operations weigh) from which on `automatic` compiles the optimised form. 0
/// restores the default.
void set_tier_threshold(std::int64_t additions) noexcept;
/// Launches of baseline kernels since the process began.
std::uint64_t baseline_launches() noexcept;

/// Why no GPU can factorise matrices: a library that cannot be opened or lacks a function; empty if all can.
std::string why_no_solver_libraries();

/// The method for single matrices where singular vectors are needed.
enum class svd_method { chosen, by_qr, by_polar };
void set_svd_method(svd_method m) noexcept;

/// The method for many small Hermitian matrices: Jacobi's where they are small enough, or never that.
enum class eigh_method { chosen, by_batches };
void set_eigh_method(eigh_method m) noexcept;

}  // namespace sinter::cuda
