// Launches of captured work as functions of addresses alone, where that pays.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/fixed_code.hpp"
#include "backends/cpu/stream.hpp"

namespace sinter::cpu {

/// One thread at a time.
class fixed_steps {
 public:
  struct step {
    jit::fixed_function run = nullptr;  // null: it is run in another way
    void* const* at = nullptr;
    const jit::block_op* operations = nullptr;
  };
  /// Counts that all steps are going to be launched so many times, and compiles their functions once that pays.
  void count(const recorded_steps& steps, std::uint64_t launches);
  /// By step; empty: none yet.
  const std::vector<step>& steps() const noexcept { return steps_; }

 private:
  struct fixed {
    fixed_code* code = nullptr;
    std::unique_ptr<param_block> params;
    std::vector<void*> addresses;
  };
  void find(const recorded_steps& steps);
  void take();

  bool found_ = false, all_taken_ = false;
  std::vector<fixed> fixed_;
  std::vector<step> steps_;
  std::uint64_t work_ = 0, work_of_launch_ = 0;
};

}  // namespace sinter::cpu
