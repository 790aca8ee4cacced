// jit/program: what a kernel computes and its launch parameters: opcodes, programs, users' functions, launches, and
// what can be derived from these alone. No source text for a target, no compiler, no memory of a device.
//
// What a kernel computes: a straight-line program in single assignment, its operands and its reductions.
// A program holds no sizes, strides, addresses or scalar values, so its bytes are the key of every cache.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "jit/program/user_function.hpp"
#include "sinter/dtype.hpp"

namespace sinter::jit {

enum class opcode : std::uint8_t {
#define OP(name, operands, weight) name,
#include "jit/program/opcodes.def"
};
inline constexpr int opcode_count = 0
#define OP(name, operands, weight) +1
#include "jit/program/opcodes.def"
    ;
const char* name(opcode op) noexcept;
int operand_count(opcode op) noexcept;
int weight(opcode op) noexcept;
constexpr bool is_random(opcode op) noexcept { return op >= opcode::random_bits; }
/// Whether the operation is a special function (jit/program/special.def).
constexpr bool is_special(opcode op) noexcept {
  switch (op) {
#define OP(name, operands, weight)
#define SPECIAL_OP(family, name, operands, weight) case opcode::name:
#include "jit/program/opcodes.def"
    return true;
    default: return false;
  }
}

/// Instruction k defines register k. Registers of bool, integer and complex types hold that type; float16 and
/// bfloat16 registers hold a float that has been rounded to the type.
struct instr {
  opcode op;
  dtype type;                 // of the result
  dtype arg;                  // of the operands (of the two values, for select)
  std::uint8_t in_range = 0;  // checked_index: 1 if no index is out of range, whatever the data
  // load, address: input; param: parameter; coord: axis (their number: the C-order position in the whole space);
  // reduced: reduction; user: call; carried: carried register; else the operand registers
  std::uint16_t a = 0;
  // param: 1 + the value of what is a part of the program, else 0
  std::uint16_t b = 0;  // checked_index: the parameter of the extent; address: of the first extent; user: output
  std::uint16_t c = 0;  // address: the rank; checked_index: the parameter of the reported axis
  std::uint16_t spare2 =
      0;  // random: the first of three parameters; carried: 1 for the loop's condition (loop_runs.hpp)
};
static_assert(sizeof(instr) == 12);

/// The axis of a `coord` that denotes the C-order position in the whole iteration space (in an epilogue: among the
/// results) until a launch is bound; afterwards it is the number of axes.
inline constexpr std::uint16_t flat_axis = 0xffff;

/// An input buffer. The address of an element, in elements, is
/// offset + sum_j stride[j] * coordinate[j] + sum_g gather_stride[g] * register[gather[g]].
struct input_desc {
  dtype type;
  std::uint8_t gathers = 0;          // used elements of `gather`
  std::uint16_t gather[2] = {0, 0};  // int64 registers, defined before the load
};
struct output_desc {
  dtype type;
  std::uint8_t spare = 0;  // 1: each run of the loop stores its value (loop_runs.hpp)
  std::uint16_t reg;
};

enum class reduce_op : std::uint8_t {
#define REDUCTION(name, order, neutral, prelude, accumulator) name,
#include "jit/program/reductions.def"
};
inline constexpr int reduce_op_count = 0
#define REDUCTION(name, order, neutral, prelude, accumulator) +1
#include "jit/program/reductions.def"
    ;
enum class reduce_order : std::uint8_t { free, rounded, fixed };
/// The properties of a reduction from jit/program/reductions.def.
struct reduction {
  const char* name;
  reduce_order order;
  int neutral;
  const char *prelude, *accumulator;
};
const reduction& about(reduce_op op) noexcept;

/// A reduction over the reduced axes of register `reg`.
///  sum, prod: `reg` has dtype `type`; float16 and bfloat16 accumulate in float32 and round once at the end.
///  min, max: NaN wins. argmin, argmax: int64 C-order index over the reduced axes; the first NaN, else the first best.
///  any, all, count: `reg` is bool; the result is bool, bool, int64. moment2: sum of |x - mean|^2, in the real type.
///  user: program::combines[inner] over its own type; the order is that of a floating-point sum.
struct reduce_desc {
  reduce_op op;
  dtype type;             // of the result
  dtype arg;              // of `reg`
  std::uint8_t tail = 0;  // length of the monotone tail just before `reg` (monotone_tail.hpp), 0: none
  std::uint16_t reg;
  std::uint16_t inner = 0;  // the register that the tail starts from; user: index in program::combines
};

/// One call of a user's function: a register for each of its inputs, then for each raw output (`address` instructions
/// for raw ones; those of outputs are written). Its `user` instructions, one for each output that is not raw (some may
/// be unused), are consecutive. A call without such outputs has one of type u8 and output 0, which is never read; like
/// every call with raw outputs it must be made for its side effects.
struct user_call {
  const user_function* function;
  std::vector<std::uint16_t> operands;
};

/// A part of the code that is run several times: its instructions [begin, end), the first of which are all `carried`.
/// Other instructions of the loop are computed in every run; after the loop their registers, and the carried ones, have
/// the values of the last run.
struct program_loop {
  std::uint16_t begin = 0, end = 0;  // end 0: there is no loop
  std::uint16_t count = 0;           // the parameter (int64) that holds the number of runs, at least 1
};
/// The instruction `reg` has the value of register `initial` in the first run and in every further one the value that
/// `next` had in the run before. `next` is a register of the loop; a carried one has a lower number in program::carried.
struct carried_desc {
  std::uint16_t reg, initial, next;
};

enum class kernel_kind : std::uint8_t { elementwise, reduce, staged };

/// A stage of a staged program, which begins where the one before it ends: code that runs once for each row, then code
/// that runs for each element of the row, then reductions of the row. The first part may read the results of all
/// earlier reductions (`reduced`) and rows' registers of earlier stages, the second one all registers of earlier stages:
/// a row's register has one value for all of its elements, an element's register the value that it had there. The last
/// stage has no reductions.
struct stage {
  std::uint16_t element;     // the first instruction of the second part
  std::uint16_t end;         // of the stage
  std::uint16_t reductions;  // the end of its reductions
};

/// Options that change generated code and are therefore part of the key.
struct program_flags {
  bool fast_math = false;
  bool check_index = false;  // users' functions check the indices of raw arrays
};

struct program {
  kernel_kind kind = kernel_kind::elementwise;
  program_flags flags;
  std::vector<instr> code;     // reduce: [0, epilogue) runs per element, [epilogue, end) per result
  std::uint16_t epilogue = 0;  // elementwise, staged: code.size()
  std::uint16_t params = 0;
  std::vector<dtype> param_types;
  std::vector<input_desc> inputs;
  // reduce: registers of the epilogue (at least one `reduced` instruction); staged: an element's register makes an output
  // of the whole space, a row's one of the kept axes
  std::vector<output_desc> outputs;
  std::vector<reduce_desc> reductions;
  program_loop loop;  // before `epilogue`; of operations on elements without calls
  std::vector<carried_desc> carried;
  std::vector<stage> stages;  // staged only
  std::vector<user_call> calls;
  std::vector<const user_reduction*> combines;

  void clear();
  /// Whether instruction k belongs to the loop.
  bool is_in_loop(std::size_t k) const noexcept { return k >= loop.begin && k < loop.end; }
  /// Calls f(register) for each register that an instruction reads; of `carried`, the initial one.
  template <class F>
  void each_operand(const instr& i, F f) const;
  /// Canonical bytes: equal exactly when the generated code would be.
  void append_key(std::string& out) const;
  /// The same, but equal in all processes: user functions are represented by the hashes of their contents.
  void append_stable_key(std::string& out) const;
  /// "sub_sin_square_add_argmin": what profilers and explain show. At most 60 characters.
  std::string label() const;

 private:
  void append_plain_key(std::string& out) const;
};

/// Whether some input is read by index.
inline bool has_gathers(const program& p) noexcept {
  for (const input_desc& in : p.inputs)
    if (in.gathers != 0) return true;
  return false;
}

template <class F>
void program::each_operand(const instr& i, F f) const {
  const std::uint16_t regs[3] = {i.a, i.b, i.c};
  for (int k = 0; k < operand_count(i.op); ++k) f(regs[k]);
  if (i.op == opcode::carried) f(carried[i.a].initial);
  if (i.op == opcode::load)
    for (int g = 0; g < inputs[i.a].gathers; ++g) f(inputs[i.a].gather[g]);
  if (i.op == opcode::user)
    for (std::uint16_t r : calls[i.a].operands) f(r);
}

}  // namespace sinter::jit
