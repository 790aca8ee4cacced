// Settings of the CPU backend for tests and benchmarks. Results never depend on them.
#pragma once
#include <cstdint>
#include <string>

namespace sinter::jit {
struct launch;
}

namespace sinter::cpu {

enum class tier : std::uint8_t {
  automatic,    // interpret until a program has done enough work to pay for its compilation
  interpreted,  // never compile
  compiled,     // compile at first use
};

/// Initially SINTER_TIER (0, 1 or auto), else automatic.
void set_tier(tier t) noexcept;
tier get_tier() noexcept;
/// Work, in instructions times lanes, from which on `automatic` compiles. 0 restores the default.
void set_tier_threshold(std::uint64_t work) noexcept;
std::uint64_t tier_threshold() noexcept;
/// Whether monotone tails are skipped where they cannot win.
void set_skip_tails(bool on) noexcept;
bool skips_tails() noexcept;
/// Bytes from which on kernels over the same rows run as one, block by block. Negative: the default.
void set_least_staged(std::int64_t bytes) noexcept;
/// "compiled by /usr/bin/g++ (...)", or why programs are interpreted.
std::string tier_status();
/// Called with every launch that is prepared, before it runs, from any thread; null: none. Returns the previous one.
using launch_observer = void (*)(const jit::launch&);
launch_observer set_launch_observer(launch_observer observer) noexcept;
/// Bytes that have been copied outside of kernels since the process began.
std::uint64_t copied_bytes() noexcept;

}  // namespace sinter::cpu
