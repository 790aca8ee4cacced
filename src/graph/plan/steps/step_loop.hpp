// A loop of equal steps as kernels in which every element runs all steps: what one step has recorded becomes a program
// with a loop. What the steps pass on is carried in registers; what they scan over is read, and what they give is written,
// as the loop goes.
//
// An element of the next carry, and of an output, is computed from elements of the carry. Which ones follows from the
// step: those at the same place where it is elementwise, also others where it takes parts of a small array, such as the
// components of a state. The elements of the carry that one element needs, in this step and in those before, are the
// carried registers: where these are few, and where nothing else is read but scanned arrays at the place of the step, and
// arrays that do not change, elements need not wait for each other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/plan/forms/index_map.hpp"
#include "graph/values/trace.hpp"
#include "jit/program/launch.hpp"

namespace sinter::graph {

/// What a step has recorded. The inputs of the list are the carry, then the arguments: elements of scanned arrays, or the
/// number of the step (int64, of rank 0).
struct recorded_step {
  const trace* list = nullptr;
  std::span<const value> results;  // the next carry, then the outputs, or the condition
  std::size_t carried = 0;         // arrays of the carry
  bool is_numbered = false;
  bool is_conditional = false;  // the last result is one bool: whether another step follows

  /// Whether a result is that of the last step, and not one of each.
  bool is_last(std::size_t result) const noexcept { return result < carried || is_conditional; }
};

/// A kernel over some of the results: those that have one shape, but for short axes, along which each place is a result.
struct loop_kernel {
  enum class origin : std::uint8_t { constant, carry, argument };
  struct input {
    origin from = origin::constant;
    std::size_t index = 0;  // of the array of the carry, of the scanned array, or in the place of the constant
    value constant;         // a leaf; null: an array that is given with each run
    linear_form at;         // of an element in the kernel's space, in elements of the array, or of the scanned element
  };
  struct output {
    std::size_t result = 0;  // its number
    linear_form at;
  };
  /// A parameter that is an element of a constant in the host's memory.
  struct number {
    std::size_t param = 0;
    value constant;
    std::size_t index = 0;  // of the array in the place of the constant, where that is null
    std::int64_t at = 0;
  };
  core::dims extents;
  jit::program code;
  std::vector<jit::scalar> params;
  std::vector<number> numbers;
  int first_number = -1;  // the parameter that is the number of the first step; -1: the step does not use it
  std::vector<input> inputs;
  std::vector<output> outputs;  // of the carry, and the condition: after the last step; others: in each step
};

/// The entries that the results follow from.
std::vector<const trace::entry*> entries_of(const recorded_step& step);
/// Whether all of these are operations that kernels of loops may have, whatever they are applied to.
bool has_elements_only(const recorded_step& step);

/// An element of a leaf, if it lies in the memory of a host and can be a parameter.
std::optional<jit::scalar> number_in(const node& leaf, std::int64_t at);

/// The kernels of the loop, each of which computes what it needs of the carry, and the condition, and which together have
/// each result once.
/// None: there is something in the step that no element computes by itself, or that may find an error in data. Values that
/// do not depend on the inputs must be numbers or in memory. Under the flush lock.
std::vector<loop_kernel> loop_kernels(const recorded_step& step);

}  // namespace sinter::graph
