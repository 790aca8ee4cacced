// Stored fuzz programs: byte code made by tests/fuzz/make_fuzz.py, with NumPy's results where those are exact.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "golden/golden.hpp"

namespace sinter::fuzz {

/// The instructions; the order is that of SIGNATURES in bytecode.py, which the file's header repeats.
enum class opcode : std::uint8_t {
  data,
  full,
  arange,
  view,
  transpose,
  reshape,
  flip,
  moveaxis,
  squeeze,
  expand_dims,
  broadcast_to,
  copy,
  astype,
  unary,
  binary,
  weak,
  where,
  clip,
  iop,
  iweak,
  set,
  set_weak,
  iset,
  iset_weak,
  reduce,
  take_along_axis,
  take,
  drop,
  eval,
  read,
  alias,
  fails,
  pin,
  mark,
  launches,
  held,
  true_,
  pick,
  pick_set,
  pick_set_weak,
  pick_iset,
  pick_iset_weak,
  pick_add
};
inline constexpr int opcode_count = static_cast<int>(opcode::pick_add) + 1;

/// One decoded instruction; operands in the order of their kinds.
struct instruction {
  opcode op{};
  std::vector<int> registers;         // r
  std::vector<std::int64_t> numbers;  // i
  std::vector<std::int64_t> shape;    // s
  std::vector<index> key;             // k, K
  std::vector<int> key_registers;     // K: of each item the register that stands there, or -1
  std::string function;               // f
  int type = 255;                     // t: dtype code, 255 for none
  int flags = 0;                      // b
  double value = 0;                   // x
};

/// What NumPy read, by checksum; small results in full.
struct expected_read {
  test::host_array small;  // dtype and shape always; bytes only where stored
  std::uint32_t checksum = 0;
};

struct program {
  int number = 0;
  std::string family;
  bool exact = false;
  std::vector<instruction> code;
  std::vector<expected_read> reads;
};

/// All programs of the file.
std::vector<program> load_programs();
/// One instruction a line, as NumPy would be written.
std::string listing(const program& p);
std::string listing(const instruction& i);

/// Checksum of the elements with -0 taken as +0 and all NaN as one: what the comparison of programs goes by.
std::uint32_t checksum(test::host_array a);

}  // namespace sinter::fuzz
