// The functions of launches that are run again and again as they are (jit/cpu/fixed.hpp), made once for each kind.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/cpu/kernels/block_plan.hpp"
#include "backends/cpu/kernels/code.hpp"
#include "jit/cpu/fixed.hpp"

namespace sinter::cpu {

/// One function; lives as long as the process.
class fixed_code final : public compiled_code {
 public:
  explicit fixed_code(jit::fixed_launch l);
  bool suits() const noexcept { return emitter_.suits(); }
  /// Null until it is compiled.
  jit::fixed_function function() const noexcept { return function_.load(std::memory_order_acquire); }
  const jit::block_op* operations() const noexcept { return emitter_.operations().data(); }
  /// Whether compiling it has neither begun nor failed.
  bool is_cold() const noexcept { return current_state() == state::cold && !is_set_aside(); }

  std::string label() const override { return launch_.code.label() + "_fixed"; }
  jit::cpu_definition definition(const std::string& name) const override;

 private:
  std::vector<std::string> functions(const std::string& name) const override { return {name}; }
  void install(std::span<void* const> addresses) noexcept override;

  jit::fixed_launch launch_;
  jit::fixed_emitter emitter_;
  std::atomic<jit::fixed_function> function_{nullptr};
};

/// The function of a launch; null where there is none. Thread safe.
fixed_code* find_fixed_code(const jit::launch& l);
/// Functions that have been compiled or loaded since the process began.
std::uint64_t compiled_fixed_codes() noexcept;
/// What the function of a launch is called with.
std::vector<void*> addresses_of(const jit::launch& l, const param_block& params);

}  // namespace sinter::cpu
