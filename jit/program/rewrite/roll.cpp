// From straight-line code to a loop over its repeated steps.
#include "jit/program/rewrite/roll.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "jit/program/rewrite/repetition.hpp"

namespace sinter::jit {
namespace {

constexpr std::size_t shortest_code = 48;
/// From how many steps ago a step may read a value.
constexpr int longest_delay = 3;

/// Loads, parameters and coordinates: the same in every step.
bool is_source(const instr& i) noexcept {
  return i.op == opcode::load || i.op == opcode::param || i.op == opcode::coord;
}

bool may_be_rolled(const program& p) noexcept {
  if (!p.calls.empty() || p.loop.end != 0) return false;
  if (std::any_of(p.inputs.begin(), p.inputs.end(), [](auto& in) { return in.gathers != 0; })) return false;
  return std::none_of(p.code.begin(), p.code.end(), [](const instr& i) {
    return i.op == opcode::checked_index || i.op == opcode::address || i.op == opcode::user;
  });
}

/// Code with its sources first, each once, followed by the operations in their order.
struct sorted_code {
  std::vector<instr> sources, operations;  // operands: as in the original code
  std::vector<std::int32_t> place;         // of each original register: an operation's number, or -2 - a source's

  explicit sorted_code(const program& p) : place(p.code.size()) {
    for (std::size_t k = 0; k < p.code.size(); ++k) {
      const instr& i = p.code[k];
      if (!is_source(i)) {
        place[k] = static_cast<std::int32_t>(operations.size());
        operations.push_back(i);
        continue;
      }
      const auto same = [&](const instr& s) { return std::memcmp(&s, &i, sizeof i) == 0; };
      const auto found = std::find_if(sources.begin(), sources.end(), same);
      place[k] = -2 - static_cast<std::int32_t>(found - sources.begin());
      if (found == sources.end()) sources.push_back(i);
    }
  }
  std::vector<listed_operation> list() const {
    std::vector<listed_operation> all;
    for (const instr& i : operations) {
      listed_operation o;
      o.what = static_cast<std::uint64_t>(i.op) << 16 | static_cast<std::uint64_t>(i.type) << 8 |
               static_cast<std::uint64_t>(i.arg);
      if (is_random(i.op)) o.what = ~std::uint64_t{all.size()};  // draws are not repeated
      const std::uint16_t regs[] = {i.a, i.b, i.c};
      for (int a = 0; a < operand_count(i.op); ++a) o.operands[a] = place[regs[a]];
      all.push_back(o);
    }
    return all;
  }
};

/// Writes the rolled code.
class roller {
 public:
  roller(const sorted_code& code, const repetition& steps) : code_(code), list_(code.list()), steps_(steps) {}

  /// Whether each operand and result can be expressed.
  bool plan(const std::vector<std::uint16_t>& results) {
    for (std::size_t k = steps_.first; k < steps_.first + steps_.period; ++k)
      for (const std::int32_t o : list_[k].operands)
        if (o >= 0 && varies(k, o) && !delay(o)) return false;
    for (std::size_t k = steps_.first; k < steps_.end(); ++k)
      if (!has_constant_operands(k)) return false;
    for (std::size_t k = steps_.end(); k < list_.size(); ++k)
      for (const std::int32_t o : list_[k].operands)
        if (o >= 0 && !reach(o)) return false;
    return std::all_of(results.begin(), results.end(),
                       [&](std::uint16_t r) { return code_.place[r] < 0 || reach(code_.place[r]); });
  }

  void write(program& p, std::uint16_t count) {
    p.code.clear();
    for (const instr& i : code_.sources) p.code.push_back(i);
    for (std::size_t k = 0; k < steps_.first; ++k) copy(p, k);
    p.loop.begin = static_cast<std::uint16_t>(p.code.size());
    p.loop.count = count;
    for (const auto& [what, index] : carried_) {
      carried_register_[what] = static_cast<std::uint16_t>(p.code.size());
      const dtype type = code_.operations[steps_.first + what.first].type;
      p.code.push_back({opcode::carried, type, type, 0, index, 0, 0, 0});
    }
    for (std::size_t k = steps_.first; k < steps_.first + steps_.period; ++k) copy(p, k);
    p.loop.end = static_cast<std::uint16_t>(p.code.size());
    p.carried.resize(carried_.size());
    for (const auto& [what, index] : carried_) {
      const auto [offset, ago] = what;
      p.carried[index] = {carried_register_[what],
                          written_[steps_.first + offset - static_cast<std::size_t>(ago) * steps_.period],
                          ago == 1 ? written_[steps_.first + offset] : carried_register_[{offset, ago - 1}]};
    }
    for (std::size_t k = steps_.end(); k < list_.size(); ++k) copy(p, k);
  }

  std::uint16_t new_register(std::int32_t place) const {
    if (place < 0) return static_cast<std::uint16_t>(-2 - place);
    const auto k = static_cast<std::size_t>(place);
    if (!steps_.contains(k)) return written_.at(k);
    const std::size_t offset = (k - steps_.first) % steps_.period, step = (k - steps_.first) / steps_.period;
    const auto ago = static_cast<int>(steps_.count - 1 - step);
    return ago == 0 ? written_.at(steps_.first + offset) : carried_register_.at({offset, ago});
  }

 private:
  /// Whether the operand of an operation of the first step moves from step to step.
  bool varies(std::size_t k, std::int32_t operand) const {
    for (int a = 0; a < 3; ++a)
      if (list_[k].operands[a] == operand) return list_[k + steps_.period].operands[a] != operand;
    return false;
  }
  /// Whether operands that do not vary come from before the first step, in all steps.
  bool has_constant_operands(std::size_t k) const {
    const std::size_t template_of = steps_.first + (k - steps_.first) % steps_.period;
    const auto moved = static_cast<std::int32_t>(k - template_of);
    for (int a = 0; a < 3; ++a) {
      const std::int32_t o = list_[template_of].operands[a], mine = list_[k].operands[a];
      if (o < 0                    ? mine != o
          : varies(template_of, o) ? mine != o + moved
                                   : mine != o || o >= static_cast<std::int32_t>(steps_.first))
        return false;
    }
    return true;
  }
  /// Registers what an operation of a step reads from an earlier step. False if that is too long ago.
  bool delay(std::int32_t operand) {
    const auto first = static_cast<std::int64_t>(steps_.first), period = static_cast<std::int64_t>(steps_.period);
    if (operand >= first) return true;
    const std::int64_t ago = (first - operand + period - 1) / period;
    return carry(static_cast<std::size_t>(operand + ago * period - first), static_cast<int>(ago));
  }
  /// Registers what is needed after the loop.
  bool reach(std::int32_t operand) {
    const auto k = static_cast<std::size_t>(operand);
    if (!steps_.contains(k)) return true;
    const std::size_t offset = (k - steps_.first) % steps_.period, step = (k - steps_.first) / steps_.period;
    return carry(offset, static_cast<int>(steps_.count - 1 - step));
  }
  bool carry(std::size_t offset, int ago) {
    if (ago > longest_delay || static_cast<std::size_t>(ago) * steps_.period > steps_.first + offset) return false;
    for (int q = 1; q <= ago; ++q) carried_.try_emplace({offset, q}, static_cast<std::uint16_t>(carried_.size()));
    return true;
  }

  void copy(program& p, std::size_t k) {
    instr i = code_.operations[k];
    std::uint16_t* const regs[] = {&i.a, &i.b, &i.c};
    for (int a = 0; a < operand_count(i.op); ++a) *regs[a] = operand_register(k, list_[k].operands[a]);
    written_[k] = static_cast<std::uint16_t>(p.code.size());
    p.code.push_back(i);
  }
  std::uint16_t operand_register(std::size_t k, std::int32_t operand) {
    if (operand < 0 || !steps_.contains(k)) return new_register(operand);
    if (operand >= static_cast<std::int32_t>(steps_.first) || !varies(k, operand))
      return written_.at(static_cast<std::size_t>(operand));
    const auto first = static_cast<std::int64_t>(steps_.first), period = static_cast<std::int64_t>(steps_.period);
    const std::int64_t ago = (first - operand + period - 1) / period;
    return carried_register_.at({static_cast<std::size_t>(operand + ago * period - first), static_cast<int>(ago)});
  }

  const sorted_code& code_;
  const std::vector<listed_operation> list_;
  const repetition steps_;
  std::map<std::pair<std::size_t, int>, std::uint16_t> carried_;  // (operation of the step, steps ago): its number
  std::map<std::pair<std::size_t, int>, std::uint16_t> carried_register_;
  std::map<std::size_t, std::uint16_t> written_;  // the registers of operations
};

}  // namespace

bool roll(program& p, std::vector<scalar>& params, std::vector<std::uint16_t>& results) {
  if (p.code.size() < shortest_code || !may_be_rolled(p)) return false;
  const sorted_code code(p);
  const auto steps = find_repetition(code.list());
  if (!steps) return false;
  roller r(code, *steps);
  if (!r.plan(results)) return false;
  r.write(p, static_cast<std::uint16_t>(params.size()));
  scalar count;
  count.type = dtype::i64;
  count.i = static_cast<std::int64_t>(steps->count);
  params.push_back(count);
  p.param_types.push_back(dtype::i64);
  for (std::uint16_t& result : results) result = r.new_register(code.place[result]);
  return true;
}

}  // namespace sinter::jit
