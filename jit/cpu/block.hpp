// jit/cpu: programs on the host: the C++ that is generated, its compiler, and (jit/cpu/interpreter) the interpreter,
// which needs none. No arrays, no threads, no layouts: backends/cpu fills the blocks.
//
// Execution of a program on the CPU: block by block, each register an array of lanes in the first-level cache.
//
// Tier 0 interprets the program one instruction at a time over a block with the precompiled block operations below;
// tier 1 is generated C++ for the whole program. Both take the same block_args, and tier 1 calls the same block
// operations for everything except plain arithmetic (sin, exp, power, complex functions, ...), so the two tiers agree
// bit for bit by construction, whatever the host compiler vectorises.
//
// Register arrays: bool as one byte 0 or 1; integers, float32, float64 in their types; float16 and bfloat16 as float
// (rounded to the type); complex as two floats or doubles; types of users' preambles with opaque_bytes each. Only
// arrays allocated by the driver are 64-byte aligned.
//
// Users' functions exist as text only: tier 0 cannot run a program that calls one.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jit/program/program.hpp"

namespace sinter::jit {

class fixed_emitter;

inline constexpr int block_lanes = 256;  // maximum number of lanes of one call
inline constexpr int lane_multiple =
    16;  // a call has a multiple of this, or one lane: no vector tails, so no scalar libm

/// dst[l] = op(a[l], b[l], c[l]) for l < n, n a multiple of lane_multiple, or 1 where takes_one_lane. dst may alias a, b or c
/// entirely, but must not overlap them partly.
using block_op = void (*)(void* dst, const void* a, const void* b, const void* c, int n, int* fault);

/// The argument `a` of the block operation of a random instruction; `b` and `c` are its other operands.
struct random_source {
  const std::int64_t* position;
  std::uint64_t key, base, subsequence;
};
/// The block operation of a random instruction.
block_op find_random_op(opcode op, dtype type) noexcept;

/// The block operation for an instruction (not for load, param, coord, reduced, checked_index, random), or null if the
/// operation does not support the dtypes.
block_op find_block_op(opcode op, dtype type, dtype arg) noexcept;
/// exp(a - b) of lanes a and one number b, with the bits of the two operations, of any number of lanes; null where exp is not of
/// float or double, or the C library's.
block_op find_exponential_of_difference(dtype type) noexcept;
/// Whether exp itself takes any number of lanes.
bool is_own_exponential(opcode op, dtype type, dtype arg) noexcept;

/// Whether the block operation can be called for a single lane, which then is all that it reads and computes; the bits are
/// those that the lane has among others. False: special functions, random numbers, and operations on float16, bfloat16 and
/// complex numbers.
bool takes_one_lane(opcode op, dtype type, dtype arg) noexcept;

/// Whether generated CPU code computes the operation inline (true) or calls its block operation (false). True only for
/// operations whose result IEEE 754 or integer arithmetic determines to the bit.
bool is_inline_on_cpu(opcode op, dtype type, dtype arg) noexcept;

/// Bytes of one lane in a register array.
constexpr int lane_bytes(dtype t) noexcept {
  return t == dtype::f16 || t == dtype::bf16 ? 4 : static_cast<int>(itemsize(t));
}

/// Bytes of one lane of a register.
int register_bytes(const program& p, std::size_t reg) noexcept;

struct block_args {
  // per input: n lanes; one value if `uniform`; base address if gathered; the first element if read by `address`
  const void* const* inputs;
  // per input: lane offsets in elements if gathered, else null; then per output: those of its lanes if it is stored in each run
  const std::int64_t* const* offsets;
  const std::int64_t (*gather_strides)[2];  // per input, elements; then per output: from one run to the next
  const void* const* params;                // per parameter: one value in register format
  const std::int64_t* const* coords;        // per axis of a `coord` (after the axes the position): n lanes
  // per output (elementwise) or per reduction (reduce): n lanes of the register; the first element if stored in each run
  void* const* outputs;
  const block_op* operations;  // tier 1: the block operations it calls, in program order
  int* fault;                  // fault_words: a data_fault, then its details
  int n;          // lanes, a multiple of lane_multiple, at most block_lanes or, in tier 1, takes_any_length()
  int lanes = 0;  // number of lanes that are elements and not padding: effects are restricted to them
  // Tier 1, takes_halves(): lanes of inputs and outputs of float16 and bfloat16 have 16 bits, as in memory; otherwise n is at most
  // block_lanes.
  int halves = 0;
  // Tier 1, takes_rows(): how many rows of n lanes there are, and per input, then per output the bytes from one to the next.
  int rows = 1;
  const std::int64_t* row_steps = nullptr;
  bool in_patterns = false;  // the operands lie as the patterns of the variant say; else as if it had none
};
using block_function = void (*)(const block_args*);

/// The part of a program that a block function runs, and the inputs that have one value for the whole block. Together
/// with the program's key this is the key of tier 1.
struct block_variant {
  bool epilogue = false;      // reduce programs: the instructions from `epilogue` on (outputs: per output)
  std::uint64_t uniform = 0;  // bit k: input k; from first_coordinate_bit on: the coordinates along axes
  /// How lanes lie where compiled code reads and writes them: a lane_pattern for each input, each output, each axis and the
  /// position; or empty.
  std::string patterns = {};
};

/// How the lanes of an operand lie in memory.
struct lane_pattern {
  enum class kind : std::uint8_t { dense, apart, runs, counted, periodic, rows, member } what = kind::dense;
  /// apart, member: elements from one to the next; runs: lanes of a number; periodic: of a coordinate, lanes until it begins again;
  /// rows: lanes of a row, as the channels of a pixel
  int number = 0;
  /// rows: elements from a lane to the next one, and from a row to the next one; member, of records that several inputs lie in: elements
  /// behind the first input, and which one that is
  int near = 0, far = 0;

  bool is_dense() const noexcept { return what == kind::dense; }
  /// Elements from the first lane to lane `l`, of which whole rows come before.
  std::int64_t place(std::int64_t l) const noexcept {
    if (what == kind::apart || what == kind::member) return l * number;
    if (what == kind::runs) return l / number;
    return what == kind::rows ? l / number * far + l % number * near : l;
  }
  /// Lanes of which a function takes a multiple: whole rows.
  int multiple() const noexcept { return what == kind::rows && number % 3 == 0 ? 3 * lane_multiple : lane_multiple; }

  static constexpr std::size_t letters = 4;
  void write(std::string& text, std::size_t k) const {
    const int all[letters] = {static_cast<int>(what), number, near, far};
    for (std::size_t c = 0; c < letters; ++c) text[k * letters + c] = static_cast<char>(all[c]);
  }
  static lane_pattern read(const std::string& text, std::size_t k) noexcept {
    if ((k + 1) * letters > text.size()) return {};
    const auto at = [&](std::size_t c) { return static_cast<int>(static_cast<signed char>(text[k * letters + c])); };
    return {static_cast<kind>(at(0)), at(1), at(2), at(3)};
  }
};
/// The pattern of input `k`, output `k` or axis `k` of a program in a variant's text.
inline lane_pattern pattern_of_input(const std::string& patterns, std::size_t k) noexcept {
  return lane_pattern::read(patterns, k);
}
inline lane_pattern pattern_of_output(const program& p, const std::string& patterns, std::size_t k) noexcept {
  return lane_pattern::read(patterns, p.inputs.size() + k);
}
inline lane_pattern pattern_of_axis(const program& p, const std::string& patterns, std::size_t axis) noexcept {
  return lane_pattern::read(patterns, p.inputs.size() + p.outputs.size() + axis);
}
/// Lanes of which the function of a variant with patterns takes a multiple.
inline int multiple_of_lanes(const program& p, const std::string& patterns) noexcept {
  int lanes = lane_multiple;
  for (std::size_t k = 0; k < p.inputs.size() + p.outputs.size(); ++k)
    lanes = lane_pattern::read(patterns, k).multiple() > lanes ? 3 * lane_multiple : lanes;
  return lanes;
}
/// Whether there may be patterns in variants of the program: its function is one loop over lanes that calls nothing and reads nothing by
/// index.
bool takes_patterns(const program& p, const block_variant& v);

/// Programs with more inputs have no uniform coordinates, nor have axes beyond the last bit.
inline constexpr int first_coordinate_bit = 56;
constexpr bool is_uniform_coordinate(std::uint64_t uniform, int axis) noexcept {
  return axis < 64 - first_coordinate_bit && (uniform >> (first_coordinate_bit + axis) & 1) != 0;
}
/// The inputs among them.
constexpr std::uint64_t without_coordinates(std::uint64_t uniform, std::size_t inputs) noexcept {
  return inputs > first_coordinate_bit ? uniform : uniform & ((std::uint64_t{1} << first_coordinate_bit) - 1);
}

/// Whether the variant calls users' functions, so that only tier 1 can run it.
bool needs_compiler(const program& p, const block_variant& v) noexcept;

/// Tier 0: interprets. `scratch` holds at least interpreter_scratch_bytes(p) bytes, 64-byte aligned. `reduced` has the
/// lanes of each reduction's result for the epilogue (null otherwise).
void interpret(const program& p, const block_variant& v, const block_args& args, const void* const* reduced,
               void* scratch);
std::size_t interpreter_scratch_bytes(const program& p);
/// Makes the schedule that interpret() needs on this thread, the only step of it that may throw: std::bad_alloc.
void prepare_interpreter(const program& p, const block_variant& v);

/// The definition in a translation unit of tier 1: `extern "C" void NAME(const block_args*)` for a variant of a
/// program. For epilogues, `inputs` of `reduced` instructions follow the program's inputs. If `monoid` is set, instead
/// the steps of a user's reduction: NAME_reset, NAME_row, NAME_column, NAME_close, NAME_join and NAME_finish
/// (backends/cpu/reduce/reducers.hpp). If `fixed` is set, instead the function of a launch that does not change (fixed.hpp).
struct cpu_definition {
  const program* code = nullptr;
  block_variant variant;
  const user_reduction* monoid = nullptr;
  std::string name;
  const fixed_emitter* fixed = nullptr;
};
/// Lanes of the accumulators of a row, among which its elements are distributed.
inline constexpr int row_lanes = 64;

/// C++ source of the definitions. It includes only what users' preambles include.
std::string emit_cpu(std::span<const cpu_definition> definitions);
/// The block operations that a variant's code calls, in the order of block_args::operations.
std::vector<block_op> external_operations(const program& p, const block_variant& v);

/// Whether the function of tier 1 takes more than block_lanes lanes.
bool takes_any_length(const program& p, const block_variant& v);

/// Whether the function of tier 1 takes block_args::halves: elementwise programs of float16 or bfloat16, where the processor
/// converts them.
bool takes_halves(const program& p, const block_variant& v);
/// Whether the function of tier 1 takes block_args::rows: elementwise programs that are one loop over lanes, all of which lie in memory.
bool takes_rows(const program& p, const block_variant& v);
/// Whether the processor converts vectors of float16.
bool has_half_vectors() noexcept;

/// n indices in [-extent, extent) to [0, extent), as checked_index: `extent` and `axis` are int64 numbers.
void checked_lanes(void* to, const void* index, const void* extent, const void* axis, int n, int* fault) noexcept;

/// Float to float16/bfloat16 storage and back, n elements.
void widen_f16(float* to, const std::uint16_t* from, int n) noexcept;
void narrow_f16(std::uint16_t* to, const float* from, int n) noexcept;
void widen_bf16(float* to, const std::uint16_t* from, int n) noexcept;
void narrow_bf16(std::uint16_t* to, const float* from, int n) noexcept;

}  // namespace sinter::jit
