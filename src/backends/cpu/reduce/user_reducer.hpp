// Reducers of users' monoids: compiled at run time, otherwise like those of reducers.hpp.
#pragma once
#include "backends/cpu/kernels/code.hpp"
#include "backends/cpu/reduce/reducers.hpp"

namespace sinter::cpu {

class user_reducer final : public compiled_code {
 public:
  explicit user_reducer(const jit::user_reduction* monoid);
  /// Its functions are null before it has been compiled; the rest is known.
  const reducer& steps() const noexcept { return steps_; }
  std::string label() const override { return monoid_->name; }
  jit::cpu_definition definition(const std::string& name) const override { return {nullptr, {}, monoid_, name}; }

 private:
  std::vector<std::string> functions(const std::string& name) const override;
  void install(std::span<void* const> addresses) noexcept override;

  const jit::user_reduction* monoid_;
  reducer steps_;
};

/// Made on first use and never destroyed. Thread safe.
user_reducer& find_user_reducer(const jit::user_reduction* monoid);

/// The reducer of a reduction of the program, the user's included.
const reducer& reducer_of(const jit::program& p, const jit::reduce_desc& r);

}  // namespace sinter::cpu
