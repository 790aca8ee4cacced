// What is compiled for a kernel: its forms, their identities in the disk cache, and errors of their compilation.
#include "jit/cuda/units.hpp"

#include <algorithm>

#include "jit/compile.hpp"
#include "jit/cuda/emit_body.hpp"
#include "jit/cuda/parameters.hpp"
#include "jit/user_error.hpp"
#include "jit/user_text.hpp"
#include "sinter/error.hpp"

namespace sinter::jit {

namespace {

/// Kernels of this weight take some 150 ms to compile, and 100 ms less in a baseline form. Elementwise ones lose up to two
/// thirds of their speed in it, so they have one only where it saves twice as much.
constexpr std::int64_t baseline_weight = 400, elementwise_baseline_weight = 700;

/// Instructions that one element takes in unrolled code, in additions. Unlike weight(), which is about time on the
/// device, this is about code: an index check that may fail has a branch to what reports it, an integer division by a 64-bit number has
/// a loop's worth of instructions, and a complex operation is several: a complex exponential of 16 lanes compiled for 0.4 s.
int text_weight(const program& p, const instr& i) {
  constexpr int functions = 20, quotients = 9, moduli = 36;  // of complex numbers
  if (cuda_is_long(i)) return weight(i.op) * functions;
  const int parts = is_complex(i.type) ? 4 : 1;
  switch (i.op) {
    case opcode::absolute: return is_complex(i.arg) ? moduli : weight(i.op);
    case opcode::divide:
    case opcode::sqrt:
    case opcode::reciprocal: return weight(i.op) * (is_complex(i.type) ? quotients : 1);
    case opcode::load: return cuda::is_gathered(p, i.a) ? 4 : 1;
    case opcode::checked_index: return i.in_range ? 3 : 12;
    case opcode::cast: return 1;
    case opcode::floor_divide:
    case opcode::remainder:
    case opcode::fmod:
      if (divides_by_parameter(p, i) && itemsize(i.type) < 8) return 8;
      return !is_inexact(i.type) && itemsize(i.type) == 8 ? 64 : 24;
    case opcode::sin:
    case opcode::cos: return cuda::is_quick_trig(p, i) ? 20 : weight(i.op) * parts;
    default: return weight(i.op) * parts;
  }
}

/// Elements whose code stands side by side, since a thread processes them without a loop.
int unrolled_elements(const program& p, const cuda_variant& v) {
  switch (v.shape) {
    case cuda_shape::linear:
    case cuda_shape::strided:
    case cuda_shape::flat_rows:
    case cuda_shape::tiled: return v.vector * cuda_unroll(p, v);
    case cuda_shape::reduce_columns:
    case cuda_shape::crossed_columns: return cuda_group * v.vector;
    case cuda_shape::broadcast_rows: return cuda_columns;
    case cuda_shape::stride_loop:
    case cuda_shape::step_loop: return 1;
    case cuda_shape::staged_rows: return cuda_group * std::max<int>(v.groups, 1);
    case cuda_shape::shared_rows: return cuda_group << v.tile.down;
    case cuda_shape::reduce_tiles: return cuda_group << (v.tile.down + v.tile.across);
    case cuda_shape::windows: return cuda_window_results * v.window.back();
    default: return cuda_group * 2;  // rows of elements: one or two groups of each result at a time
  }
}

bool any_quick_trig(const program& p) {
  return std::any_of(p.code.begin(), p.code.end(), [&](const instr& i) { return cuda::is_quick_trig(p, i); });
}

/// Text of users may need constants that only unrolled loops have, and under fast_math the compiler may contract
/// operations of one form that it does not contract in another.
bool may_be_optimised_less(const program& p) { return !p.flags.fast_math && !calls_users(p); }

optimisation level_of(const cuda_variant& v) {
  if (v.shape == cuda_shape::broadcast_rows) return optimisation::some;
  if (!cuda_is_plain(v)) return optimisation::full;
  const bool one_by_one =
      v.shape == cuda_shape::linear || v.shape == cuda_shape::strided || v.shape == cuda_shape::flat_rows;
  return one_by_one ? optimisation::some : optimisation::little;
}

}  // namespace

std::int64_t cuda_text_weight(const program& p, const cuda_variant& v) {
  constexpr std::int64_t step = 3;  // of an accumulator
  std::int64_t element = step * static_cast<std::int64_t>(p.reductions.size()), once = 0;
  for (std::size_t k = 0; k < p.code.size(); ++k) (k < p.epilogue ? element : once) += text_weight(p, p.code[k]);
  return element * unrolled_elements(p, v) + once;
}

bool cuda_has_baseline(const program& p, const cuda_variant& v) {
  if (v.shape == cuda_shape::stride_loop || v.shape == cuda_shape::windows) return false;
  if (v.shape == cuda_shape::step_loop) return false;
  constexpr int looped_groups = 8;  // of rows on chip; fewer are no loop in shared memory either
  if (v.shape == cuda_shape::staged_rows && v.groups < looped_groups) return false;
  const std::int64_t weight = may_be_optimised_less(p) ? cuda_text_weight(p, v) : 0;
  if (p.kind == kernel_kind::elementwise) return weight >= elementwise_baseline_weight;
  return any_quick_trig(p) || weight >= baseline_weight;
}

cuda_variant cuda_baseline_of(cuda_variant v) {
  v.baseline = true;
  switch (v.shape) {
    case cuda_shape::staged_rows: v.kept_in_shared = true; break;
    case cuda_shape::reduce_tiles:
      v.tile.down = v.tile.across = 1;
      v.tile.pairs = false;
      break;
    case cuda_shape::shared_rows: v.tile.down = 1; break;
    default: break;
  }
  return v;
}

std::string cuda_source(const program& p, const cuda_variant& v) { return cuda_module({&p}, emit_cuda(p, v)); }

cuda_unit cuda_unit_of(const program& p, const cuda_variant& v, int arch) {
  cuda_unit u;
  u.name = cuda_kernel_name(p, v);
  u.weight = static_cast<std::size_t>(cuda_text_weight(p, v));
  u.options = {.arch = arch, .fast_math = p.flags.fast_math, .level = level_of(v)};
  u.source = [p = &p, v] { return cuda_source(*p, v); };
  if (calls_users(p)) {  // the stable key has only a hash of users' text, which is not enough
    u.identity = cuda_source(p, v);
    u.is_source = true;
  } else {
    u.identity = generator_identity();
    p.append_stable_key(u.identity);
    append_variant(v, u.identity);
  }
  return u;
}

std::vector<cubin> compile_units(std::span<const cuda_unit> units, const std::vector<const program*>& programs) {
  try {
    return compile_cuda(units);
  } catch (const compiler_failure& failure) {
    if (std::none_of(programs.begin(), programs.end(), [](const program* p) { return calls_users(*p); })) throw;
    throw compile_error(user_failure_text(programs, failure));
  }
}

}  // namespace sinter::jit
