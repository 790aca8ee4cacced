// A scan whose step is known: a function that records the same each time.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ops/loops/step_function.hpp"

namespace sinter::ops {

/// The step takes the carry and an element of each scanned array, and gives the next carry and the outputs.
struct known_loop {
  using arrays = std::span<const ndarray>;

  /// (carry and elements, what is in place of the constants) -> next carry and outputs.
  std::function<std::vector<ndarray>(arrays inputs, arrays constants)> step;
  std::shared_ptr<const step_function> recorded;  // by a call of the step; for one example of many where it is mapped
  std::size_t carried;                            // arrays of the carry
  std::int64_t steps;
  bool reverse;
  bool keeps_carry = false;  // the last outputs are the carry before each step
  std::string signature;     // what the step does; empty: that has no text
  /// Of the scanned arrays and the constants: whether a trace follows them, so that their cotangents may be asked for.
  std::vector<bool> followed = {};

  known_loop(std::shared_ptr<const step_function> f, std::size_t arrays_of_carry, std::int64_t n, bool backwards)
      : step([f](arrays x, arrays k) { return (*f)(x, k); }),
        recorded(std::move(f)),
        carried(arrays_of_carry),
        steps(n),
        reverse(backwards),
        signature(recorded->signature()) {}

  std::size_t constants() const noexcept { return recorded->constants().size(); }
};

}  // namespace sinter::ops
