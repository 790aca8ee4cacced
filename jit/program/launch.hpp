// A launchable kernel: a program together with the sizes, strides, addresses and scalars of one launch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/dims.hpp"
#include "jit/program/program.hpp"

namespace sinter::jit {

/// A scalar argument in the widest type of its kind; the launch narrows it to the parameter's dtype.
struct scalar {
  dtype type = dtype::f64;
  union {
    bool b;
    std::int64_t i;
    std::uint64_t u;
    double f[2];
  };
  scalar() : f{0, 0} {}
};

/// One operand of a launch. Strides are in elements, one for each iteration axis; 0 if the operand does not vary along
/// it.
struct operand {
  void* base = nullptr;
  std::int64_t offset = 0;  // elements
  core::dims strides;
  std::int64_t gather_stride[2] = {0, 0};  // elements
};

/// What is added to the place of an element, by its coordinate along an axis.
struct wrap {
  int axis = 0;
  std::int64_t turn = 0, before = 0, after = 0;  // elements: `before` where the coordinate is less than `turn`
};
/// An input that is read at a place which its strides and its wraps give.
struct wrapped_read {
  std::size_t input = 0;
  int count = 0;
  wrap wraps[2];
};

/// What a backend has made of a launch.
class launch_state {
 public:
  launch_state() = default;
  virtual ~launch_state() = default;
  launch_state(const launch_state&) = delete;
  launch_state& operator=(const launch_state&) = delete;
};
/// What a backend remembers of a launch that recurs: with other addresses, offsets, scalars and faults, but nothing else.
struct launch_memo {
  const void* code = nullptr;        // the backend's; null: nothing yet
  std::vector<std::uint8_t> places;  // by which its choice depended on the operands' addresses
  std::unique_ptr<launch_state> state;
};

/// The iteration space of an elementwise kernel is `extents` (C order); adjacent axes have already been merged where
/// every operand allows it. A reduce kernel iterates over the kept axes, then the reduced ones; outputs and inputs of
/// the epilogue have strides over the kept axes (then zeros).
struct launch {
  const program* code = nullptr;
  core::dims extents;
  int kept = 0;               // number of kept axes; elementwise: all
  bool reduces_last = false;  // the last axis longer than 1, in the user's order, is reduced
  /// Not 0: each result is a split of a larger reduction, whose elements so many lanes join (addition_order.hpp).
  std::uint16_t split_lanes = 0;
  /// Results of the launch that this one is a part of, whose order of additions it follows; 0: it is none.
  std::int64_t all_results = 0;
  std::vector<operand> inputs, outputs;
  std::vector<wrapped_read> wraps;  // made by backends alone (jit/program/rewrite/wrapped_reads.hpp)
  std::vector<scalar> params;
  launch_memo* memo = nullptr;  // null: not known to recur
  int* fault = nullptr;         // where faults are recorded (runtime/fault.hpp); null: in the device's record
};

/// How often a launch runs an instruction of its program's loop; 1 without a loop.
inline std::int64_t loop_count(const launch& l) noexcept {
  return l.code->loop.end == 0 ? 1 : l.params[l.code->loop.count].i;
}

}  // namespace sinter::jit
