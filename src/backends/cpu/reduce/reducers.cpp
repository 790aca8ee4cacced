// Selects the loops of the best instruction set that the machine has.
#include "backends/cpu/reduce/reducers.hpp"

#include "jit/cpu/interpreter/block_ops.hpp"

namespace sinter::cpu {
namespace {

constexpr int operation_count = static_cast<int>(jit::reduce_op::user);  // the last one, which has loops of its own

reducer choose(jit::reduce_op op, dtype arg) {
#if defined(__x86_64__)
  switch (jit::tier0::active_isa()) {
    case jit::tier0::isa::avx512: return avx512::make_reducer(op, arg);
    case jit::tier0::isa::avx2: return avx2::make_reducer(op, arg);
    default: break;
  }
#endif
  return baseline::make_reducer(op, arg);
}

tail_steps choose_tail(dtype type, bool minimum) {
#if defined(__x86_64__)
  switch (jit::tier0::active_isa()) {
    case jit::tier0::isa::avx512: return avx512::make_tail_steps(type, minimum);
    case jit::tier0::isa::avx2: return avx2::make_tail_steps(type, minimum);
    default: break;
  }
#endif
  return baseline::make_tail_steps(type, minimum);
}

struct reducer_table {
  reducer all[operation_count][dtype_count];
  reducer_table() {
    for (int op = 0; op < operation_count; ++op)
      for (int t = 0; t < dtype_count; ++t) all[op][t] = choose(static_cast<jit::reduce_op>(op), static_cast<dtype>(t));
  }
};

}  // namespace

const reducer& find_reducer(jit::reduce_op op, dtype arg) {
  static const reducer_table table;
  return table.all[static_cast<int>(op)][static_cast<int>(arg)];
}

const tail_steps& find_tail_steps(dtype type, bool minimum) {
  static const tail_steps single[2] = {choose_tail(dtype::f32, false), choose_tail(dtype::f32, true)};
  static const tail_steps wide[2] = {choose_tail(dtype::f64, false), choose_tail(dtype::f64, true)};
  return (type == dtype::f32 ? single : wide)[minimum];
}

}  // namespace sinter::cpu
