// Tier 0: runs a program over one block, instruction by instruction, with the precompiled block operations.
//
// The schedule of a program (which operation, which slot of scratch memory) is computed once, and a few are kept per
// thread; a call with the same program bytes only executes it. Slots are reused as soon as a register is dead, so that the
// working set stays in the first-level cache.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "jit/cpu/block.hpp"
#include "jit/cpu/interpreter/block_ops.hpp"
#include "jit/program/loop_runs.hpp"
#include "platform/per_thread.hpp"

namespace sinter::jit {
namespace {

constexpr int no_slot = -1;
constexpr int one_lane_space = 16;  // of the widest type

int slot_bytes(const program& p) noexcept {
  int widest = 4;
  for (auto& i : p.code) widest = std::max(widest, lane_bytes(i.type));
  return widest * block_lanes;
}

struct schedule {
  // the program and variant that it was made for
  std::vector<instr> code;
  std::vector<input_desc> inputs;
  std::vector<output_desc> outputs;
  std::vector<reduce_desc> reductions;
  std::vector<carried_desc> carried;
  block_variant variant;
  kernel_kind kind{};
  std::uint16_t epilogue = 0;
  bool made = false;
  bool alone = true;  // whether an element that is the only one is computed as one lane
  // the schedule itself
  int first = 0, last = 0, slots = 0, lane_space = 0;
  std::vector<std::int16_t> slot;     // of each register, or no_slot: its lanes are elsewhere
  std::vector<block_op> operation;    // per instruction
  std::vector<std::uint16_t> result;  // registers to be output, in order
  std::vector<const void*> lanes;     // per register, of the current block

  bool fits(const program& p, const block_variant& v) const noexcept;
  void make(const program& p, const block_variant& v);
};

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) noexcept {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

bool schedule::fits(const program& p, const block_variant& v) const noexcept {
  return made && variant.epilogue == v.epilogue && variant.uniform == v.uniform && kind == p.kind &&
         epilogue == p.epilogue && same_bytes(code, p.code) && same_bytes(inputs, p.inputs) &&
         same_bytes(outputs, p.outputs) && same_bytes(reductions, p.reductions) && same_bytes(carried, p.carried);
}

/// Whether the lanes of an instruction's result are read in place from the driver's arrays.
bool reads_in_place(const program& p, const block_variant& v, const instr& i) noexcept {
  if (i.op == opcode::coord || i.op == opcode::reduced) return true;
  return i.op == opcode::load && p.inputs[i.a].gathers == 0 && !(i.a < 64 && (v.uniform >> i.a & 1));
}

void schedule::make(const program& p, const block_variant& v) {
  made = false;
  code = p.code;
  inputs = p.inputs;
  outputs = p.outputs;
  reductions = p.reductions;
  carried = p.carried;
  variant = v;
  kind = p.kind;
  epilogue = p.epilogue;
  bool reduces = p.kind == kernel_kind::reduce;
  first = reduces && v.epilogue ? p.epilogue : 0;
  last = reduces && !v.epilogue ? p.epilogue : static_cast<int>(p.code.size());
  lane_space = slot_bytes(p);
  result.clear();
  if (reduces && !v.epilogue) {
    for (auto& r : p.reductions) result.push_back(r.reg);
  } else {
    for (auto& o : p.outputs) result.push_back(o.reg);
  }

  std::vector<int> last_use(p.code.size(), -1);
  for (int k = first; k < last; ++k)
    p.each_operand(p.code[static_cast<std::size_t>(k)], [&](std::uint16_t r) { last_use[r] = k; });
  // What the loop reads is needed until its last run.
  for (int k = p.loop.begin; k < p.loop.end; ++k)
    p.each_operand(p.code[static_cast<std::size_t>(k)], [&](std::uint16_t r) {
      if (!p.is_in_loop(r)) last_use[r] = std::max<int>(last_use[r], p.loop.end);
    });
  for (const carried_desc& c : p.carried)
    for (const std::uint16_t r : {c.reg, c.next}) last_use[r] = std::max<int>(last_use[r], p.loop.end);
  for (auto r : result) last_use[r] = last;

  slot.assign(p.code.size(), no_slot);
  operation.assign(p.code.size(), nullptr);
  lanes.assign(p.code.size(), nullptr);
  std::vector<std::int16_t> free;
  slots = 0;
  alone = p.kind == kernel_kind::elementwise;
  for (int k = first; k < last; ++k) {
    auto& i = p.code[static_cast<std::size_t>(k)];
    auto at = static_cast<std::size_t>(k);
    if ((i.op > opcode::checked_index || i.op == opcode::cast) && i.op != opcode::user) {
      operation[at] = is_random(i.op) ? find_random_op(i.op, i.type) : find_block_op(i.op, i.type, i.arg);
      alone = alone && takes_one_lane(i.op, i.type, i.arg);
    }
    // The result's slot is allocated before the operands' slots are freed: lanes of different widths must not share
    // one.
    if (!reads_in_place(p, v, i)) {
      if (free.empty()) {
        slot[at] = static_cast<std::int16_t>(slots++);
      } else {
        slot[at] = free.back();
        free.pop_back();
      }
    }
    auto release = [&](std::size_t r) {
      if (slot[r] == no_slot || last_use[r] > k) return;
      if (std::find(free.begin(), free.end(), slot[r]) == free.end()) free.push_back(slot[r]);
    };
    p.each_operand(i, [&](std::uint16_t r) { release(r); });
    if (last_use[at] < 0) release(at);
  }
  made = true;
}

/// n copies of one value.
void splat(void* to, const void* value, int bytes, int n) noexcept {
  auto fill = [&](auto sample) {
    std::memcpy(&sample, value, sizeof sample);
    auto* lanes = static_cast<decltype(sample)*>(to);
    for (int l = 0; l < n; ++l) lanes[l] = sample;
  };
  struct pair {
    std::uint64_t low, high;
  };
  switch (bytes) {
    case 1: return fill(std::uint8_t{});
    case 2: return fill(std::uint16_t{});
    case 4: return fill(std::uint32_t{});
    case 8: return fill(std::uint64_t{});
    default: return fill(pair{});
  }
}

void copy_lanes(void* to, const void* from, dtype type, int n) noexcept {
  if (n == 1 && lane_bytes(type) == 8) return static_cast<void>(std::memcpy(to, from, 8));
  std::memcpy(to, from, static_cast<std::size_t>(lane_bytes(type)) * static_cast<std::size_t>(n));
}

/// Reads base[address] for each lane; float16 and bfloat16 are 16 bits wide in memory.
void gather(void* to, const void* base, dtype type, const std::int64_t* address, int n) noexcept {
  auto fetch = [&](auto sample) {
    auto* lanes = static_cast<decltype(sample)*>(to);
    auto* from = static_cast<const decltype(sample)*>(base);
    for (int l = 0; l < n; ++l) std::memcpy(lanes + l, from + address[l], sizeof sample);
  };
  struct pair {
    std::uint64_t low, high;
  };
  if (type == dtype::f16 || type == dtype::bf16) {
    std::uint16_t bits[block_lanes];
    auto* from = static_cast<const std::uint16_t*>(base);
    for (int l = 0; l < n; ++l) bits[l] = from[address[l]];
    auto widen = type == dtype::f16 ? widen_f16 : widen_bf16;
    return widen(static_cast<float*>(to), bits, n);
  }
  switch (itemsize(type)) {
    case 1: return fetch(std::uint8_t{});
    case 2: return fetch(std::uint16_t{});
    case 4: return fetch(std::uint32_t{});
    case 8: return fetch(std::uint64_t{});
    default: return fetch(pair{});
  }
}

void gathered_load(void* to, const input_desc& in, const block_args& args, int input, const void* const* lanes,
                   int n) noexcept {
  std::int64_t address[block_lanes];
  auto* offsets = args.offsets[input];
  auto* first = static_cast<const std::int64_t*>(lanes[in.gather[0]]);
  auto* second = in.gathers > 1 ? static_cast<const std::int64_t*>(lanes[in.gather[1]]) : nullptr;
  auto& stride = args.gather_strides[input];
  for (int l = 0; l < n; ++l) address[l] = offsets[l] + stride[0] * first[l];
  if (second)
    for (int l = 0; l < n; ++l) address[l] += stride[1] * second[l];
  gather(to, args.inputs[input], in.type, address, n);
}

/// The elements of a run, where the run is stored; float16 and bfloat16 are 16 bits wide in memory.
void scatter(void* base, const void* from, dtype type, const std::int64_t* address, int n) noexcept {
  auto store = [&](auto sample) {
    auto* to = static_cast<decltype(sample)*>(base);
    auto* lanes = static_cast<const decltype(sample)*>(from);
    for (int l = 0; l < n; ++l) std::memcpy(to + address[l], lanes + l, sizeof sample);
  };
  struct pair {
    std::uint64_t low, high;
  };
  if (type == dtype::f16 || type == dtype::bf16) {
    std::uint16_t bits[block_lanes];
    auto narrow = type == dtype::f16 ? narrow_f16 : narrow_bf16;
    narrow(bits, static_cast<const float*>(from), n);
    auto* to = static_cast<std::uint16_t*>(base);
    for (int l = 0; l < n; ++l) to[address[l]] = bits[l];
    return;
  }
  switch (itemsize(type)) {
    case 1: return store(std::uint8_t{});
    case 2: return store(std::uint16_t{});
    case 4: return store(std::uint32_t{});
    case 8: return store(std::uint64_t{});
    default: return store(pair{});
  }
}

void store_run(const program& p, const block_args& args, const void* const* lanes, std::int64_t run) noexcept {
  for (std::size_t o = 0; o < p.outputs.size(); ++o) {
    if (!is_in_each_run(p.outputs[o])) continue;
    const dtype type = p.outputs[o].type;
    const std::size_t place = p.inputs.size() + o;
    const std::int64_t away = args.gather_strides[place][0] * run * static_cast<std::int64_t>(itemsize(type));
    scatter(static_cast<char*>(args.outputs[o]) + away, lanes[p.outputs[o].reg], type, args.offsets[place], args.lanes);
  }
}

/// As in the prelude.
void refuse_index(std::int64_t value, std::int64_t extent, std::int64_t axis, int* fault) noexcept {
  fault[0] = 1;
  fault[1] = static_cast<int>(axis);
  std::memcpy(fault + 2, &value, sizeof value);
  std::memcpy(fault + 4, &extent, sizeof extent);
}

}  // namespace

void checked_lanes(void* to, const void* index, const void* extent, const void* axis, int n, int* fault) noexcept {
  auto* r = static_cast<std::int64_t*>(to);
  auto* x = static_cast<const std::int64_t*>(index);
  const std::int64_t size = *static_cast<const std::int64_t*>(extent);
  for (int l = 0; l < n; ++l) {
    std::int64_t k = x[l] < 0 ? x[l] + size : x[l];
    if (k < 0 || k >= size) {
      if (*fault == 0) refuse_index(x[l], size, *static_cast<const std::int64_t*>(axis), fault);
      k = 0;
    }
    r[l] = k;
  }
}

namespace {

random_source source_of(const instr& i, const void* position, const block_args& args) noexcept {
  auto word = [&](int k) { return *static_cast<const std::uint64_t*>(args.params[i.spare2 + k]); };
  return {static_cast<const std::int64_t*>(position), word(0), word(1), word(2)};
}

/// Programs that take turns, as those of the steps of a loop, keep their schedules.
struct thread_schedules {
  static constexpr std::size_t count = 32;
  struct pair {
    schedule of[2];
    int last = 0;  // the one that was used last
  } places[count];
};

/// The calling thread's schedule. Programs of launches that recur stay where they are, so their addresses tell where their
/// schedule may be.
schedule& schedule_of(const program& p, const block_variant& v) {
  const auto address = reinterpret_cast<std::uintptr_t>(&p);
  const std::size_t place = (address / alignof(program) * 0x9e3779b97f4a7c15ull >> 40) + (v.epilogue ? 1 : 0);
  auto& both = platform::per_thread<thread_schedules, program>::get().places[place % thread_schedules::count];
  if (both.of[both.last].fits(p, v)) [[likely]]
    return both.of[both.last];
  both.last = 1 - both.last;
  if (!both.of[both.last].fits(p, v)) both.of[both.last].make(p, v);
  return both.of[both.last];
}

}  // namespace

void prepare_interpreter(const program& p, const block_variant& v) { (void)schedule_of(p, v); }

void interpret(const program& p, const block_variant& v, const block_args& args, const void* const* reduced,
               void* scratch) {
  schedule& s = schedule_of(p, v);
  const void** lanes = s.lanes.data();
  auto* space = static_cast<char*>(scratch);
  const int n = s.alone && args.lanes == 1 ? 1 : args.n;
  const std::ptrdiff_t lane_space =
      n == 1 ? one_lane_space : s.lane_space;  // close together, or they share few cache sets
  // The last result is computed directly into its output if nothing is read after it.
  const bool in_runs = p.loop.end != 0 && stores_in_runs(p);
  const int direct = s.result.size() == 1 && s.result[0] == s.last - 1 && !in_runs ? s.last - 1 : -1;
  const int again = condition_of_runs(p);
  std::int64_t runs = 1;  // of the loop
  for (int k = s.first; k < s.last; ++k) {
    const instr& i = p.code[static_cast<std::size_t>(k)];
    const int slot = s.slot[static_cast<std::size_t>(k)];
    void* to = slot == no_slot ? nullptr : space + slot * lane_space;
    if (k == direct && to) to = args.outputs[0];
    lanes[k] = to;
    switch (i.op) {
      case opcode::load:
        if (p.inputs[i.a].gathers) gathered_load(to, p.inputs[i.a], args, i.a, lanes, n);
        else if (to) splat(to, args.inputs[i.a], lane_bytes(i.type), n);
        else lanes[k] = args.inputs[i.a];
        break;
      case opcode::param: splat(to, args.params[i.a], lane_bytes(i.type), n); break;
      case opcode::coord: lanes[k] = args.coords[i.a]; break;
      case opcode::reduced: lanes[k] = reduced[i.a]; break;
      case opcode::carried: copy_lanes(to, lanes[p.carried[i.a].initial], i.type, n); break;
      case opcode::checked_index:
        checked_lanes(to, lanes[i.a], args.params[i.b], args.params[i.c], n, args.fault);
        break;
      default: {
        const int operands = operand_count(i.op);
        const random_source source = is_random(i.op) ? source_of(i, lanes[i.a], args) : random_source{};
        s.operation[static_cast<std::size_t>(k)](to, is_random(i.op) ? &source : lanes[i.a],
                                                 operands > 1 ? lanes[i.b] : nullptr,
                                                 operands > 2 ? lanes[i.c] : nullptr, n, args.fault);
      }
    }
    if (k + 1 != p.loop.end) continue;
    if (in_runs) store_run(p, args, lanes, runs - 1);
    if (runs == *static_cast<const std::int64_t*>(args.params[p.loop.count])) continue;
    if (again >= 0 && !*static_cast<const bool*>(lanes[again])) continue;
    ++runs;
    for (std::size_t c = p.carried.size(); c-- > 0;) {
      const carried_desc& x = p.carried[c];
      copy_lanes(const_cast<void*>(lanes[x.reg]), lanes[x.next], p.code[x.reg].type, n);
    }
    k = p.loop.begin + static_cast<int>(p.carried.size()) - 1;
  }
  for (std::size_t o = 0; o < s.result.size(); ++o) {
    const std::uint16_t r = s.result[o];
    if (lanes[r] == args.outputs[o] || (in_runs && is_in_each_run(p.outputs[o]))) continue;
    const auto bytes = static_cast<std::size_t>(lane_bytes(p.code[r].type)) * static_cast<std::size_t>(n);
    std::memmove(args.outputs[o], lanes[r], bytes);
  }
}

std::size_t interpreter_scratch_bytes(const program& p) {
  // With a slot for every load, the count is an upper bound for all variants.
  schedule s;
  std::size_t slots = 0;
  for (bool epilogue : {false, true}) {
    if (epilogue && p.kind != kernel_kind::reduce) continue;
    s.make(p, block_variant{epilogue, ~std::uint64_t{0}});
    slots = std::max(slots, static_cast<std::size_t>(s.slots));
  }
  return slots * static_cast<std::size_t>(slot_bytes(p)) + 64;
}

}  // namespace sinter::jit
