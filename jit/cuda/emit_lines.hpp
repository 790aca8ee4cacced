// The lines of a phase's instructions, and the parameters of its functions.
#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jit/cuda/emit_body.hpp"

namespace sinter::jit::cuda {

inline bool is_trig(const instr& i) noexcept { return i.op == opcode::sin || i.op == opcode::cos; }

/// The number of reads of each register within a phase, and of those for which its sign is irrelevant.
struct register_uses {
  register_uses(const program& p, const phase& f);
  std::vector<int> all, signless;
};

/// Emits lines of a phase. `quick`: sine and cosine by the fast version. `args`: name of the struct of launch
/// parameters; if empty, they are variables.
class line_writer {
 public:
  line_writer(text& out, const program& p, const phase& f, bool quick, std::string args = "a");

  /// Registers that are members r<k> of a variable `s` instead of variables, and those of them that are its members
  /// last<k> instead.
  void keep(std::set<int> members, std::set<int> last = {}) {
    members_ = std::move(members);
    last_ = std::move(last);
  }
  /// The lines of some instructions of the phase, in its order; carried ones have none.
  void lines(const std::vector<int>& code);
  std::string reg(int k) const;

 private:
  bool is_member(int k) const { return members_.count(k) != 0; }
  /// Whether a register holds the 16 bits of a half.
  bool holds_half(std::uint16_t r) const;
  /// An operand as a number of C++, or of the type that a half has in kernels.
  std::string number(std::uint16_t r) const;
  std::string half(std::uint16_t r) const;
  bool signless(int k) const;
  void line(const std::vector<int>& code, int k);
  void call(const instr& first);
  int declare(std::uint16_t call, std::size_t output);
  bool pair(const std::vector<int>& code, int k);
  std::string expression(const std::vector<int>& code, int k, const instr& i) const;
  std::string half_expression(const instr& i) const;
  std::string position(const instr& draw, const std::string& a) const;
  std::string load(const instr& i) const;

  text& out_;
  const program& p_;
  const phase& f_;
  bool quick_;
  std::string args_;
  register_uses uses_;
  std::vector<bool> done_;
  bool tests_zero_;
  std::set<int> members_, last_;
};

/// What the functions of a phase take between `a` and their result: each with its type and a comma, and their names.
void put_parameters(text& t, const program& p, const phase& f);
std::string names_of_parameters(const phase& f);

}  // namespace sinter::jit::cuda
