// Programs over one block whose lanes always lie at the same places.
#include "jit/cpu/bound.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace sinter::jit {
namespace {

bool is_gathered(const program& p, const instr& i) noexcept { return p.inputs[i.a].gathers != 0; }
bool is_uniform(const block_variant& v, const instr& i) noexcept { return (v.uniform >> (i.a & 63)) & 1; }

bool is_operation(const instr& i) noexcept {
  switch (i.op) {
    case opcode::load:
    case opcode::param:
    case opcode::coord:
    case opcode::reduced:
    case opcode::carried:
    case opcode::address:
    case opcode::checked_index:
    case opcode::user: return false;
    default: return !is_random(i.op);
  }
}

template <class T>
void fill(void* to, const void* value, int n) noexcept {
  T x;
  std::memcpy(&x, value, sizeof x);
  std::fill_n(static_cast<T*>(to), n, x);
}

void repeat(void* to, const void* value, int bytes, int n) noexcept {
  struct pair {
    std::uint64_t low, high;
  };
  switch (bytes) {
    case 1: return fill<std::uint8_t>(to, value, n);
    case 2: return fill<std::uint16_t>(to, value, n);
    case 4: return fill<std::uint32_t>(to, value, n);
    case 8: return fill<std::uint64_t>(to, value, n);
    default: return fill<pair>(to, value, n);
  }
}

constexpr std::size_t line = 64;
std::size_t lanes_size(dtype type, int n) noexcept {
  return (static_cast<std::size_t>(lane_bytes(type) * n) + line - 1) & ~(line - 1);
}

}  // namespace

bool bound_program::suits(const program& p) noexcept {
  if (p.kind != kernel_kind::elementwise || p.loop.end != 0 || !p.calls.empty()) return false;
  return std::all_of(p.code.begin(), p.code.end(), [&](const instr& i) {
    if (i.op == opcode::load) return !is_gathered(p, i);
    return i.op == opcode::param || i.op == opcode::coord || (is_operation(i) && find_block_op(i.op, i.type, i.arg));
  });
}

bound_program::bound_program(const program& p, const block_variant& v, const block_args& args) : n_(args.n) {
  std::size_t bytes = line;
  for (const instr& i : p.code) bytes += lanes_size(i.type, n_);
  memory_.reset(new std::byte[bytes]);
  void* free = memory_.get();
  std::align(line, bytes - line, free, bytes);
  auto* next = static_cast<std::byte*>(free);
  const auto take = [&](dtype type) -> void* { return std::exchange(next, next + lanes_size(type, n_)); };
  // An operation computes an output where that is to lie, the first one of its register.
  const auto output_of = [&](std::size_t reg) -> void* {
    for (std::size_t o = 0; o < p.outputs.size(); ++o)
      if (p.outputs[o].reg == reg) return args.outputs[o];
    return nullptr;
  };
  std::vector<const void*> lanes(p.code.size());
  for (std::size_t k = 0; k < p.code.size(); ++k) {
    const instr& i = p.code[k];
    if (i.op == opcode::load && !is_uniform(v, i)) {
      lanes[k] = args.inputs[i.a];
    } else if (i.op == opcode::coord) {
      lanes[k] = args.coords[i.a];
    } else if (i.op == opcode::load) {
      void* const to = take(i.type);
      values_.push_back({to, args.inputs[i.a], lane_bytes(i.type)});
      lanes[k] = to;
    } else if (i.op == opcode::param) {
      void* const to = take(i.type);
      repeat(to, args.params[i.a], lane_bytes(i.type), n_);
      lanes[k] = to;
    } else {
      void* const output = output_of(k);
      void* const to = output ? output : take(i.type);
      const int operands = operand_count(i.op);
      operations_.push_back({find_block_op(i.op, i.type, i.arg), to, operands > 0 ? lanes[i.a] : nullptr,
                             operands > 1 ? lanes[i.b] : nullptr, operands > 2 ? lanes[i.c] : nullptr});
      lanes[k] = to;
    }
  }
  for (std::size_t o = 0; o < p.outputs.size(); ++o) {
    const std::uint16_t r = p.outputs[o].reg;
    if (lanes[r] != args.outputs[o])
      copies_.push_back({args.outputs[o], lanes[r], static_cast<std::size_t>(lane_bytes(p.code[r].type) * n_)});
  }
}

void bound_program::run(int* fault) const noexcept {
  for (const repeated_value& x : values_) repeat(x.to, x.from, x.bytes, n_);
  for (const operation& o : operations_) o.does(o.to, o.a, o.b, o.c, n_, fault);
  for (const copy& c : copies_) std::memmove(c.to, c.from, c.bytes);
}

}  // namespace sinter::jit
