// Loops for many examples: one loop whose steps are those of all examples side by side.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ops/loops/known_loop.hpp"

namespace sinter::ops {

/// A loop over the steps of `count` examples. What an example's loop is given or gives is `mapped` where it depends on the
/// example: it has the axis of examples in front, behind the axis of steps in what the loop of all examples scans over or
/// stacks.
class loop_of_examples {
 public:
  /// `mapped`: the operands of the loop of one example, those of the carry, the scanned arrays and the constants.
  loop_of_examples(const known_loop& one, std::int64_t count, const std::vector<bool>& mapped);

  const known_loop& loop() const noexcept { return all_; }
  /// From operands that have the axis of examples in front where they are mapped.
  std::vector<ndarray> operands(std::span<const ndarray> given) const;
  /// The results of the loop, with the axis of examples in front of all.
  std::vector<ndarray> results(std::span<const ndarray> given) const;

 private:
  void find_moving(const known_loop& one);
  void sign();

  std::int64_t count_;
  known_loop all_;
  std::vector<bool> given_, inputs_, constants_, results_;  // which are mapped; given_: of the carry, at first
};

}  // namespace sinter::ops
