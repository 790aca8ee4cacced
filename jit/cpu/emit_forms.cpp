// Block functions: exponentials of differences from one number, as a softmax has them. The difference of each lane is taken by the
// operation that computes the exponential, so that it passes through no array, and blocks need not be short for one.
#include <algorithm>

#include "jit/cpu/emit.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit {

/// Differences that an exponential reads and nothing else does.
void cpu_emitter::find_differences() {
  differences_.assign(p_.code.size(), false);
  if (has_loop() || !p_.calls.empty()) return;
  std::vector<int> readers(p_.code.size());
  for (std::size_t k = 0; k < output_count(); ++k) ++readers[output_register(k)];
  for (std::size_t k = 0; k < p_.code.size(); ++k)
    if (info_[k].where != place::unused) each_operand(k, [&](std::uint16_t o) { ++readers[o]; });
  for (std::size_t k = 0; k < p_.code.size(); ++k) {
    const instr& i = p_.code[k];
    if (info_[k].where == place::unused || i.op != opcode::exp || i.type != i.arg) continue;
    const instr& d = p_.code[i.a];
    const bool same = d.op == opcode::subtract && d.type == i.type && d.arg == i.type;
    differences_[i.a] = same && readers[i.a] == 1 && find_exponential_of_difference(i.type);
  }
}

/// Whether difference k is of lanes where the caller passes them and of one number.
bool cpu_emitter::is_difference_here(std::size_t k) const {
  const instr& i = p_.code[k];
  return differences_[k] && info_[i.a].where == place::direct && p_.code[i.a].op == opcode::load &&
         info_[i.b].where == place::scalar;
}

/// The difference whose exponential a call computes; null: none.
const instr* cpu_emitter::difference_of(std::size_t call) const {
  const instr& i = p_.code[call];
  if (i.op != opcode::exp || info_[i.a].where != place::within) return nullptr;
  return &p_.code[i.a];
}

/// Whether what is called takes any number of lanes, and no array is needed for some of them.
bool cpu_emitter::calls_for_any_length() const {
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const info& me = info_[k];
    if (me.where == place::called &&
        (me.output < 0 || !is_own_exponential(p_.code[k].op, p_.code[k].type, p_.code[k].arg)))
      return false;
    if (me.where == place::inlined || (me.where == place::scalar && me.in_array)) return false;
  }
  return true;
}

// How many lanes and rows functions take, and extrema of which zeros have an order.

/// Of op(a, b) and op(b, a), which differ for zeros alone, a reduction takes one by the sign of an operand
/// (graph/plan/forms/short_join.hpp); the operation where instruction k is that, or null.
const instr* cpu_emitter::ordered_extreme(std::size_t k) const {
  const instr& i = p_.code[k];
  if (i.op != opcode::select || (i.type != dtype::f32 && i.type != dtype::f64)) return nullptr;
  const instr &sign = p_.code[i.a], &second = p_.code[i.b], &first = p_.code[i.c];
  if (sign.op != opcode::signbit || first.op != second.op || first.type != i.type) return nullptr;
  if (first.a != second.b || first.b != second.a) return nullptr;
  const bool orders =
      (first.op == opcode::maximum && sign.a == first.a) || (first.op == opcode::minimum && sign.a == first.b);
  return orders ? &first : nullptr;
}

/// Finds the selections of numbers whose conditions follow from another selection, and those from which a condition follows where another
/// selection has their own condition: of such a pair compilers make a branch as well.
void cpu_emitter::find_selections() {
  std::vector<bool> chosen(p_.code.size());
  selects_again_.assign(p_.code.size(), false);
  if (std::none_of(p_.code.begin(), p_.code.end(), [](const instr& i) { return i.op == opcode::select; })) return;
  const auto selects_numbers = [](const instr& i) {
    return i.op == opcode::select && i.type != dtype::b1 && !is_complex(i.type) && i.type != dtype::f16 &&
           i.type != dtype::bf16;
  };
  for (std::size_t k = 0; k < p_.code.size(); ++k) {
    const instr& i = p_.code[k];
    bool follows = i.op == opcode::carried;
    p_.each_operand(i, [&](std::uint16_t o) { follows = follows || chosen[o]; });
    chosen[k] = follows || i.op == opcode::select;
    selects_again_[k] = selects_numbers(i) && chosen[i.a];
  }
  std::vector<bool> decides(p_.code.size());    // a condition follows from it
  std::vector<int> selections(p_.code.size());  // that have it as a condition
  for (std::size_t k = p_.code.size(); k-- > 0;) {
    const instr& i = p_.code[k];
    if (i.op == opcode::select) {
      decides[i.a] = true;
      ++selections[i.a];
    }
    if (decides[k]) p_.each_operand(i, [&](std::uint16_t o) { decides[o] = true; });
  }
  for (std::size_t k = 0; k < p_.code.size(); ++k) {
    const instr& i = p_.code[k];
    selects_again_[k] = selects_again_[k] || (selects_numbers(i) && decides[k] && selections[i.a] > 1);
  }
}

bool cpu_emitter::takes_any_length() const { return p_.calls.empty() && !has_loop(); }

bool cpu_emitter::is_one_loop() const {
  return takes_any_length() && stages_ == 1 && output_count() == 1 && p_.kind == kernel_kind::elementwise &&
         operations().empty() && !(vectors_ && has_lanes_and_vectors());
}

/// Whether complex numbers are calculated with in a loop over lanes, which reads no pairs by index if it is to be one of vectors.
bool cpu_emitter::calculates_complex() const {
  return std::any_of(p_.code.begin(), p_.code.end(), [](const instr& i) {
    const bool is_complex_one = is_complex(i.type) || is_complex(i.arg);
    return is_complex_one && !is_source(i) && i.op != opcode::user && !moves_parts(i) && !is_call(i);
  });
}

/// GCC makes vectors of two parts that are stored side by side, not of the pair.
std::string cpu_emitter::parts_stored(std::size_t k) const {
  const std::string me = num(k), part = p_.code[k].type == dtype::c64 ? "float" : "double";
  return "    " + part + "* const p" + me + " = (" + part + "*)(" + array(k) + " + l);\n    p" + me + "[0] = r" + me +
         ".re;\n    p" + me + "[1] = r" + me + ".im;\n";
}

/// And selects numbers, not pairs, without a branch.
std::string cpu_emitter::selected_parts(const std::string& which, const std::string& x, const std::string& y) {
  const auto part = [&](const char* name) { return "sn::select(" + which + ", " + x + name + ", " + y + name + ")"; };
  return "sn::make_complex(" + part(".re") + ", " + part(".im") + ")";
}

/// Whether elements of one or two bytes are read by indices that are checked: no instruction reads vectors of such, so a loop reads them to
/// an array, and what makes indices of lanes is a loop of vectors before it.
bool cpu_emitter::loads_alone(std::size_t k) const {
  const instr& i = p_.code[k];
  if (i.op != opcode::load || p_.inputs[i.a].gathers == 0 || !p_.calls.empty() || has_loop() || vectors_) return false;
  if (is_complex(i.type)) return calculates_complex();
  if (itemsize(i.type) > 2 || i.type == dtype::f16 || i.type == dtype::bf16) return false;
  bool checks = false;
  for (int g = 0; g < p_.inputs[i.a].gathers; ++g) {
    const instr& index = p_.code[p_.inputs[i.a].gather[g]];
    checks = checks || (index.op == opcode::checked_index && !index.in_range);
  }
  return checks;
}

/// Whether lanes of 16 bits are shifted by a number: compilers shift such in 32 bits, and multiply them in 16.
bool cpu_emitter::shifts_by_number(std::size_t k) const {
  const instr& i = p_.code[k];
  if (i.arg != i.type || info_[i.a].where == place::scalar || info_[i.b].where != place::scalar) return false;
  if (p_.code[i.b].op == opcode::param && p_.code[i.b].b != 0) return false;  // which the text knows
  return i.op == opcode::left_shift ? i.type == dtype::u16 || i.type == dtype::i16
                                    : i.op == opcode::right_shift && i.type == dtype::u16;
}
std::string cpu_emitter::shift_by_number(std::size_t k, int stage) const {
  const instr& i = p_.code[k];
  const std::string x = value(i.a, stage), by = value(i.b, stage), type = register_type(i.type);
  if (i.op == opcode::left_shift) return "sn::multiply(" + x + ", sn::left_shift<" + type + ">(1, " + by + "))";
  return "sn_right_shift(" + x + ", " + by + ")";
}

bool cpu_emitter::repeats() const {
  const bool has_arrays = vectors_ && std::any_of(info_.begin(), info_.end(), [](const info& i) {
                            return i.where == place::inlined && i.in_array && i.output < 0;
                          });
  bool reads_alone = false;
  for (std::size_t k = 0; k < info_.size(); ++k)
    reads_alone = reads_alone || (info_[k].where == place::called && p_.code[k].op == opcode::load);
  return takes_any_length() && (has_arrays || reads_alone || !operations().empty()) && !calls_for_any_length();
}

bool cpu_emitter::takes_rows() const {
  const bool of_elements = p_.kind == kernel_kind::elementwise || writes_reductions();
  if (!takes_any_length() || stages_ != 1 || !of_elements || halves_ || vectors_ || !operations().empty()) return false;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where == place::unused) continue;
    const instr& i = p_.code[k];
    if (is_gathered(i) || i.op == opcode::coord || i.op == opcode::address || i.op == opcode::checked_index)
      return false;
  }
  for (std::size_t k = 0; k < output_count(); ++k)
    if (is_stored_in_runs(k)) return false;
  return true;
}

std::string cpu_emitter::input_address(std::size_t k) const {
  return takes_rows() ? "sn_of_row(a, row, " + num(k) + ", a->inputs[" + num(k) + "])" : "a->inputs[" + num(k) + "]";
}
std::string cpu_emitter::output_address(std::size_t k) const {
  const std::string address = "a->outputs[" + num(k) + "]";
  return takes_rows() ? "sn_of_row(a, row, " + num(p_.inputs.size() + k) + ", " + address + ")" : address;
}

bool is_one_loop(const program& p, const block_variant& v) { return cpu_emitter(p, v).is_one_loop(); }

bool takes_any_length(const program& p, const block_variant& v) { return cpu_emitter(p, v).takes_any_length(); }

bool takes_rows(const program& p, const block_variant& v) { return cpu_emitter(p, v).takes_rows(); }

}  // namespace sinter::jit
