// A launch that recurs with other arrays and nothing else: its parameters are those of before, but for the addresses.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "backends/cuda/code.hpp"
#include "jit/cuda/launch.hpp"

namespace sinter::cuda {

/// What a launch is made for does not depend on where its arrays lie, but on the offsets of operands, on how arrays are aligned, and
/// on which operands are in one array (jit/cuda/schedule).
class ready_launch final : public jit::launch_state {
 public:
  /// Notes what a launch has become. `lowered`: as its kernel was made for it; `pointers`: of build_call().
  void note(const jit::launch& recorded, const jit::launch& lowered, const kernel& code, const call& how,
            std::span<const std::uint64_t> words, std::span<const pointer_word> pointers);
  /// Whether a launch is the one that was noted, but for its arrays.
  bool fits(const jit::launch& l) const noexcept;
  const kernel* code() const noexcept { return code_; }
  const call& how() const noexcept { return how_; }
  /// The parameters of a launch that fits.
  std::span<const std::uint64_t> words(const jit::launch& l, const int* fault, const void* scratch) noexcept;

 private:
  struct place {
    const void* base;
    std::int64_t offset;
    std::uint16_t first;  // of the operands in the same array
  };
  struct address {
    std::uint32_t word;
    std::int32_t place;  // of the array's first operand, or one of these
  };
  static constexpr std::int32_t of_fault = -1, of_scratch = -2;

  template <class F>
  static void each_operand(const jit::launch& l, F f) {
    for (const jit::operand& o : l.inputs) f(o);
    for (const jit::operand& o : l.outputs) f(o);
  }

  const kernel* code_ = nullptr;  // null: nothing is noted
  call how_;
  std::vector<place> places_;
  std::vector<jit::scalar> params_;
  std::vector<address> addresses_;
  std::vector<std::uint64_t> words_;
};

}  // namespace sinter::cuda
