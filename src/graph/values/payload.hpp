// What a node computes with besides its operands: a type for each kind of node, fixed when the node is recorded.
// Axes count from 0, strides and offsets are in elements.
#pragma once
#include <cstdint>
#include <variant>
#include <vector>

#include "graph/values/value.hpp"
#include "jit/program/launch.hpp"

namespace sinter::graph {

enum class node_kind : std::uint8_t { leaf, scalar, iota, map, random, view, gather, reduce, call, update };

/// Which random numbers a draw takes (jit/prelude/random.h). Fixed when it is recorded, so that evaluating a draw
/// again, or a part of it, gives the same elements.
struct random_stream {
  std::uint64_t key = 0, block = 0, subsequence = 0;
};

namespace payload {

/// C-contiguous elements of a buffer, which the node holds: every evaluated node is a leaf.
struct leaf {
  static constexpr node_kind kind = node_kind::leaf;
};

/// One value, broadcast to the shape; a launch parameter, never part of generated code.
struct scalar {
  static constexpr node_kind kind = node_kind::scalar;
  jit::scalar constant;
  bool unset = false;  // of an array whose elements are uninitialised (sn::empty)
};

/// int64 coordinate along `axis` of the shape.
struct iota {
  static constexpr node_kind kind = node_kind::iota;
  int axis;
};

/// Elementwise operation or cast; operands broadcast to the shape.
struct map {
  static constexpr node_kind kind = node_kind::map;
  jit::opcode op;
  bool fast_math;
};

/// Elements of a draw, each a function of its C-order position; operands (parameters) broadcast to the shape.
struct random {
  static constexpr node_kind kind = node_kind::random;
  jit::opcode op;
  random_stream stream;
};

/// Affine view: at each coordinate the element offset + sum strides[j] * coordinate[j] of args[0] in C order.
struct view {
  static constexpr node_kind kind = node_kind::view;
  core::dims strides;  // one for each axis of the shape
  std::int64_t offset;
};

/// args[0] read at index args[1] along `axis`, the other coordinates unchanged (take_along_axis).
struct gather {
  static constexpr node_kind kind = node_kind::gather;
  /// As reported_axis: every index is known to lie in [-extent, extent), so that nothing is found.
  static constexpr int in_range = -1;
  int axis;           // of args[0]
  int reported_axis;  // the axis in an error; runtime::statement_axis is added for the indices of a write
  bool may_fail() const noexcept { return reported_axis != in_range; }
};

/// The reduction that one over a part of an array belongs to, whose order of additions it follows.
struct whole_reduction {
  std::int64_t results = 0;       // of it; 0: the reduction is no part of another one
  std::uint16_t split_lanes = 0;  // not 0: each result here is a split of one of its results, joined by so many lanes
  friend bool operator==(const whole_reduction&, const whole_reduction&) = default;
};

/// Reduction of args[0] over some of its axes, which are absent from the shape.
struct reduce {
  static constexpr node_kind kind = node_kind::reduce;
  jit::reduce_op op;
  std::uint64_t axes;                  // bit a: axis a of args[0] is reduced
  const jit::user_reduction* combine;  // of reduce_op::user; else null
  whole_reduction whole{};

  static_assert(core::max_rank <= 64);
  bool is_over(int axis) const noexcept { return (axes >> axis & 1) != 0; }
};

/// An output of a user's function, or a call for its side effects, which has no value (run_call).
struct call {
  static constexpr node_kind kind = node_kind::call;
  const jit::user_function* function;
  /// One for each input, broadcast to the shape (raw ones: whole), and, for effects, the leaf of each raw output.
  std::vector<value> operands;
  int output;  // index into the function's outputs; 0 for effects
  bool for_effects;
  bool fast_math;
  std::vector<value> targets{};  // for effects: the leaves of the outputs that are not raw
};

/// args[0] with a region replaced by args[1], whose element at each coordinate becomes the element
/// offset + sum strides[j] * coordinate[j] in C order.
struct update {
  static constexpr node_kind kind = node_kind::update;
  core::dims strides;  // one for each axis of args[1]
  std::int64_t offset;
  bool in_place;  // of memory whose address has been handed out: written even if there are other references
};

using any = std::variant<leaf, scalar, iota, map, random, view, gather, reduce, call, update>;

}  // namespace payload
}  // namespace sinter::graph
