// The meaning of each instruction in terms of the public API.
#include "backends/cpu/kernels/hooks.hpp"  // clang takes namespace sinter::cpu only before the device of that name

#include "fuzz/machine.hpp"

#include <map>
#include <optional>

#include "dist/meshes.hpp"
#include "fuzz/composed.hpp"
#include "golden/functions.hpp"
#include "graph/values/limits.hpp"
#include "runtime/backend.hpp"
#include "runtime/hooks.hpp"
#include "runtime/parallel.hpp"

namespace sinter::fuzz {

namespace {

constexpr int keepdims_flag = 1, all_axes_flag = 2, left_flag = 1, floating_flag = 2;
enum flavour { integers, fractions, specials };

std::uint64_t hash(std::uint64_t i) {
  std::uint64_t h = i * 0x9E3779B97F4A7C15u;
  h ^= h >> 29;
  h *= 0xBF58476D1CE4E5B9u;
  return h >> 33;
}

/// The same numbers as data_values in bytecode.py.
ndarray made_data(dtype type, const std::vector<std::int64_t>& shape, const instruction& i) {
  const auto seed = static_cast<std::uint64_t>(i.numbers[0]);
  const auto lo = i.numbers[1], span = i.numbers[2];
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  if (i.flags == integers) {
    std::vector<std::int64_t> v(static_cast<std::size_t>(n));
    const auto range = static_cast<std::uint64_t>(span);
    for (std::size_t k = 0; k < v.size(); ++k) v[k] = static_cast<std::int64_t>(hash(seed + k) % range) + lo;
    return array(v.data(), shape_t(shape), {.dtype = type});
  }
  constexpr double special[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity()};
  std::vector<double> v(static_cast<std::size_t>(n));
  for (std::size_t k = 0; k < v.size(); ++k) {
    const auto h = hash(seed + k);
    v[k] = double(lo) + double(span) * (double(h % (1u << 20)) / (1u << 20));
    const auto mark = (h >> 8) % 37;
    if (i.flags == specials && mark < 3) v[k] = special[mark];
  }
  return array(v.data(), shape_t(shape), {.dtype = type});
}

/// The weak scalar of an instruction.
scalar weak_scalar(const instruction& i) {
  return i.flags & floating_flag ? scalar(i.value) : scalar(static_cast<std::int64_t>(i.value));
}

[[noreturn]] void unknown(const instruction& i) { throw error("[fuzz] no function " + i.function); }

void update(ndarray& t, const std::string& f, const operand& e) {
  if (f == "add") t += e;
  else if (f == "subtract") t -= e;
  else if (f == "multiply") t *= e;
  else if (f == "divide") t /= e;
  else if (f == "remainder") t %= e;
  else if (f == "bitwise_and") t &= e;
  else if (f == "bitwise_or") t |= e;
  else if (f == "bitwise_xor") t ^= e;
  else if (f == "left_shift") t <<= e;
  else if (f == "right_shift") t >>= e;
  else throw error("[fuzz] no in-place " + f);
}

/// Through the temporary that indexing gives, which is another overload.
void update_region(const ndarray& t, const std::vector<index>& key, const std::string& f, const operand& e) {
  if (f == "add") test::at(t, key) += e;
  else if (f == "subtract") test::at(t, key) -= e;
  else if (f == "multiply") test::at(t, key) *= e;
  else if (f == "divide") test::at(t, key) /= e;
  else if (f == "remainder") test::at(t, key) %= e;
  else if (f == "bitwise_and") test::at(t, key) &= e;
  else if (f == "bitwise_or") test::at(t, key) |= e;
  else if (f == "bitwise_xor") test::at(t, key) ^= e;
  else if (f == "left_shift") test::at(t, key) <<= e;
  else if (f == "right_shift") test::at(t, key) >>= e;
  else throw error("[fuzz] no in-place " + f);
}

std::vector<int> ints(const std::vector<std::int64_t>& v) { return {v.begin(), v.end()}; }

runtime::backend& current_backend() { return runtime::get_backend(runtime::default_device()); }

/// Sets the planner's limits for one run.
class limits_guard {
 public:
  explicit limits_guard(const way& w) : before_(graph::limits()) {
    auto& l = graph::limits();
    if (w.plan == planning::one_by_one) l.fuse = false;
    if (w.plan != planning::tiny_kernels) return;
    l.depth = 5;
    l.update_chain = 2;
    l.instructions = 7;
    l.inputs = 3;
    l.outputs = 2;
  }
  ~limits_guard() { graph::limits() = before_; }
  limits_guard(const limits_guard&) = delete;
  limits_guard& operator=(const limits_guard&) = delete;

 private:
  graph::planner_limits before_;
};

class machine {
 public:
  machine(const program& p, const way& w) : program_(p), way_(w) {
    if (!w.mesh.empty()) mesh_ = test::mesh_of(shape_t(w.mesh));
  }

  outcome run() {
    outcome out;
    const test::meter counted;
    try {
      for (at_ = 0; at_ < program_.code.size(); ++at_) step(program_.code[at_]);
      collect(out);
    } catch (const std::exception& e) {
      out.error = "instruction " + std::to_string(at_) + ": " + e.what();
    }
    out.spent = counted.now();
    out.largest = largest_;
    return out;
  }

 private:
  const program& program_;
  way way_;
  std::optional<dist::mesh> mesh_;
  std::size_t at_ = 0;
  std::map<int, ndarray> registers_;
  std::vector<ndarray> pending_reads_;
  std::vector<test::host_array> reads_;
  bool expects_failure_ = false;
  std::uint64_t marked_launches_ = 0;
  std::size_t marked_bytes_ = 0;
  std::size_t largest_ = 0;

  void step(const instruction& i) {
    if (i.op == opcode::fails) {
      expects_failure_ = true;
      return;
    }
    if (!expects_failure_) {
      if (way_.out_of_memory) execute_twice(i, graph::limits().fail_allocation);
      else if (way_.fails_late) execute_twice(i, graph::limits().fail_launch);
      else execute(i);
      if (mesh_ && !i.registers.empty() && registers_.count(i.registers[0]) &&
          registers_[i.registers[0]].device() != mesh_->device())
        throw error("[fuzz] the result of " + i.function + " has left the mesh");
      if (!i.registers.empty() && registers_.count(i.registers[0]))
        largest_ = std::max(largest_, static_cast<std::size_t>(registers_[i.registers[0]].nbytes()));
      if ((way_.when == evaluation::every_step || (way_.metered && i.op == opcode::data)) && !i.registers.empty() &&
          registers_.count(i.registers[0])) {
        eval(registers_[i.registers[0]]);
      }
      return;
    }
    expects_failure_ = false;
    try {
      execute(i);
    } catch (const error&) {
      return;
    }
    throw error("[fuzz] NumPy refuses this instruction, sinter does not");
  }

  /// The first attempt may run out of memory, which must leave everything as it was.
  void execute_twice(const instruction& i, int& countdown) {
    countdown = static_cast<int>((at_ + static_cast<std::size_t>(program_.number)) % 3);
    try {
      execute(i);
    } catch (const memory_error&) {
      countdown = -1;
      execute(i);
    }
    countdown = -1;
  }

  bool copies() const { return way_.copied || way_.when == evaluation::at_the_end; }

  void collect(outcome& out) {
    if (copies()) {
      evaluate_together(pending_reads_);
      for (auto& r : pending_reads_) out.reads.push_back(test::download(r));
    } else {
      out.reads = std::move(reads_);
    }
  }

  static void evaluate_together(const std::vector<ndarray>& a) {
    std::size_t i = 0;
    for (; i + 4 <= a.size(); i += 4) eval(a[i], a[i + 1], a[i + 2], a[i + 3]);
    if (i + 2 <= a.size()) {
      eval(a[i], a[i + 1]);
      i += 2;
    }
    if (i < a.size()) eval(a[i]);
  }

  const ndarray& get(const instruction& i, std::size_t k) { return registers_.at(i.registers[k]); }

  /// Data of the program: along each axis of a mesh they are divided along one of their own, or everywhere.
  ndarray placed(const instruction& i) const {
    const auto type = static_cast<dtype>(i.type);
    if (!mesh_) return made_data(type, i.shape, i);
    const ndarray x = made_data(type, i.shape, i);
    dist::placements how;
    for (std::int64_t a = 0; a < mesh_->shape().ndim(); ++a) {
      const auto choice =
          hash(static_cast<std::uint64_t>(program_.number) * 64 + at_ * 2 + static_cast<std::uint64_t>(a)) %
          static_cast<std::uint64_t>(x.ndim() * 2 + 1);
      how.push_back(choice == 0 ? dist::replicate() : dist::shard(static_cast<std::int64_t>(choice - 1) / 2));
    }
    return dist::shard(x, *mesh_, how);
  }
  device target() const { return mesh_ ? mesh_->device() : default_device(); }

  void execute(const instruction& i) {
    if (auto made = view_of(i); made.defined()) {
      registers_[i.registers[0]] = made;
    } else if (auto result = result_of(i); result.defined()) {
      registers_[i.registers[0]] = result;
    } else if (!write(i)) {
      control(i);
    }
  }

  /// Creation and views; undefined if the instruction is something else.
  ndarray view_of(const instruction& i) {
    const auto type = static_cast<dtype>(i.type);
    switch (i.op) {
      case opcode::data: return placed(i);
      case opcode::full: return full(shape_t(i.shape), scalar(i.numbers[0]), {.dtype = type, .device = target()});
      case opcode::arange: return arange(i.numbers[0], i.numbers[1], i.numbers[2], {.dtype = type, .device = target()});
      case opcode::view: return test::at(get(i, 1), i.key);
      case opcode::transpose: return permute_dims(get(i, 1), axes(ints(i.shape)));
      case opcode::reshape: return reshape(get(i, 1), shape_t(i.shape));
      case opcode::flip: return flip(get(i, 1), axes(ints(i.shape)));
      case opcode::moveaxis: return moveaxis(get(i, 1), static_cast<int>(i.numbers[0]), static_cast<int>(i.numbers[1]));
      case opcode::squeeze: return squeeze(get(i, 1));
      case opcode::expand_dims: return expand_dims(get(i, 1), static_cast<int>(i.numbers[0]));
      case opcode::broadcast_to: return broadcast_to(get(i, 1), shape_t(i.shape));
      case opcode::copy: return get(i, 1).copy();
      case opcode::astype: return get(i, 1).astype(type);
      case opcode::alias: return get(i, 1);
      case opcode::part: return i.flags ? imag(get(i, 1)) : real(get(i, 1));
      default: return {};
    }
  }

  /// The key with the arrays of its registers.
  std::vector<index> picking_key(const instruction& i) const {
    std::vector<index> key = i.key;
    for (std::size_t k = 0; k < key.size(); ++k)
      if (i.key_registers[k] >= 0) key[k] = index(registers_.at(i.key_registers[k]));
    return key;
  }

  ndarray result_of(const instruction& i) {
    switch (i.op) {
      case opcode::pick: return test::at(get(i, 1), picking_key(i));
      case opcode::unary: {
        if (const auto composed = composed_unary(i.function)) return composed(get(i, 1));
        const auto f = test::find_unary(i.function);
        if (!f) unknown(i);
        return f(get(i, 1));
      }
      case opcode::binary: {
        if (const auto composed = composed_binary(i.function)) return composed(get(i, 1), get(i, 2));
        const auto f = test::find_binary(i.function);
        if (!f) unknown(i);
        return f(get(i, 1), get(i, 2));
      }
      case opcode::weak: {
        const auto f = test::find_binary(i.function);
        if (!f) unknown(i);
        return i.flags & left_flag ? f(weak_scalar(i), get(i, 1)) : f(get(i, 1), weak_scalar(i));
      }
      case opcode::where: return where(get(i, 1), get(i, 2), get(i, 3));
      case opcode::clip: return clip(get(i, 1), i.numbers[0], i.numbers[1]);
      case opcode::reduce: return reduction(i);
      case opcode::take_along_axis: return take_along_axis(get(i, 1), get(i, 2), static_cast<int>(i.numbers[0]));
      case opcode::masked: {
        const auto f = masked_function(i.function);
        if (!f) unknown(i);
        return f(get(i, 1), get(i, 2), {.where = get(i, 3)});
      }
      case opcode::ternary: {
        const auto f = composed_ternary(i.function);
        if (!f) unknown(i);
        return f(get(i, 1), get(i, 2), get(i, 3));
      }
      case opcode::take: return take(get(i, 1), get(i, 2), static_cast<int>(i.numbers[0]));
      default: return {};
    }
  }

  ndarray reduction(const instruction& i) {
    const axes over = i.flags & all_axes_flag ? axes() : axes(ints(i.shape));
    if (const auto composed = composed_reduction(i.function)) return composed(get(i, 1), over, i.flags & keepdims_flag);
    const auto f = test::find_reduction(i.function);
    if (!f) unknown(i);
    const auto type = i.type == 255 ? std::optional<dtype>() : static_cast<dtype>(i.type);
    return f(get(i, 1), over, i.flags & keepdims_flag, type, 0);
  }

  bool write(const instruction& i) {
    switch (i.op) {
      case opcode::iop: update(registers_.at(i.registers[0]), i.function, get(i, 1)); return true;
      case opcode::iweak: update(registers_.at(i.registers[0]), i.function, weak_scalar(i)); return true;
      case opcode::set: test::at(get(i, 0), i.key) = get(i, 1); return true;
      case opcode::set_weak: test::at(get(i, 0), i.key) = weak_scalar(i); return true;
      case opcode::iset: update_region(get(i, 0), i.key, i.function, get(i, 1)); return true;
      case opcode::iset_weak: update_region(get(i, 0), i.key, i.function, weak_scalar(i)); return true;
      case opcode::pick_set: test::at(get(i, 0), picking_key(i)) = get(i, 1); return true;
      case opcode::pick_set_weak: test::at(get(i, 0), picking_key(i)) = weak_scalar(i); return true;
      case opcode::pick_iset: update_region(get(i, 0), picking_key(i), i.function, get(i, 1)); return true;
      case opcode::pick_iset_weak: update_region(get(i, 0), picking_key(i), i.function, weak_scalar(i)); return true;
      case opcode::set_part:
        if (i.flags) get(i, 0).imag() = get(i, 1);
        else get(i, 0).real() = get(i, 1);
        return true;
      case opcode::stored: {
        const auto f = store_function(i.function);
        if (!f) unknown(i);
        f(registers_.at(i.registers[0]), get(i, 1), get(i, 2));
        return true;
      }
      case opcode::pick_add: add_at(test::at(get(i, 0), picking_key(i)), get(i, 1)); return true;
      default: return false;
    }
  }

  void control(const instruction& i) {
    switch (i.op) {
      case opcode::drop: registers_.erase(i.registers[0]); break;
      case opcode::eval: {
        std::vector<ndarray> list;
        for (auto r : i.shape) list.push_back(registers_.at(static_cast<int>(r)));
        if (way_.when != evaluation::at_the_end) evaluate_together(list);
        break;
      }
      case opcode::read: read(get(i, 0)); break;
      case opcode::pin: pin(get(i, 0)); break;
      case opcode::mark:
        marked_launches_ = current_backend().statistics().launches;
        marked_bytes_ = current_backend().memory().used;
        break;
      case opcode::launches: check_launches(i.numbers[0]); break;
      case opcode::held: check_held(i.numbers[0]); break;
      case opcode::true_:
        if (!bool(all(get(i, 0)))) throw error("[fuzz] a condition that must hold does not");
        break;
      default: break;
    }
  }

  void read(const ndarray& x) {
    if (copies()) {
      pending_reads_.push_back(x.copy());
      if (way_.when == evaluation::every_step) eval(pending_reads_.back());
    } else {
      reads_.push_back(test::download(x));
    }
  }

  /// An array on a mesh has no address.
  void pin(const ndarray& x) const {
    if (mesh_) return;
    test::with_element(x.dtype(), [&](auto e) { x.data<decltype(e)>(); });
  }

  void check_launches(std::int64_t most) const {
    if (way_.when != evaluation::as_written || way_.plan != planning::usual || mesh_) return;
    const auto n = current_backend().statistics().launches - marked_launches_;
    if (n > static_cast<std::uint64_t>(most)) {
      throw error("[fuzz] " + std::to_string(n) + " kernels launched, at most " + std::to_string(most) + " allowed");
    }
  }
  void check_held(std::int64_t most) const {
    if (mesh_) return;  // parts of 256 bytes on each position
    const auto used = current_backend().memory().used;
    if (used > marked_bytes_ + static_cast<std::size_t>(most)) {
      throw error("[fuzz] " + std::to_string(used - marked_bytes_) + " bytes held, at most " + std::to_string(most) +
                  " allowed");
    }
  }
};

}  // namespace

std::string way::name() const {
  static constexpr const char* when_names[] = {"as written", "evaluated after every step", "evaluated at the end"};
  static constexpr const char* plan_names[] = {"", ", tiny kernels", ", one kernel an operation"};
  return std::string(when_names[static_cast<int>(when)]) + (compiled ? ", compiled, " : ", interpreted, ") +
         std::to_string(threads) + (threads == 1 ? " thread" : " threads") + plan_names[static_cast<int>(plan)] +
         (out_of_memory ? ", out of memory now and then" : "") + (fails_late ? ", failing launches" : "") +
         (copied ? ", reads copied" : "") + (mesh.empty() ? "" : ", on a mesh of " + to_string(shape_t(mesh)));
}

outcome run(const program& p, const way& w) {
  cpu::set_tier(w.compiled ? cpu::tier::compiled : cpu::tier::interpreted);
  runtime::set_thread_count(w.threads);
  limits_guard guard(w);
  return machine(p, w).run();
}

}  // namespace sinter::fuzz
