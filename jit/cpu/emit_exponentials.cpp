// Block functions: exponentials of differences from one number, as a softmax has them. The difference of each lane is taken by the
// operation that computes the exponential, so that it passes through no array, and blocks need not be short for one.
#include <algorithm>

#include "jit/cpu/emit.hpp"

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

}  // namespace sinter::jit
