// Identities of kernels in the disk cache, and errors of their compilation.
#include "jit/cuda/units.hpp"

#include <algorithm>

#include "jit/compile.hpp"
#include "jit/user_error.hpp"
#include "jit/user_text.hpp"
#include "sinter/error.hpp"

namespace sinter::jit {

std::string cuda_source(const program& p, const cuda_variant& v) { return cuda_module({&p}, emit_cuda(p, v)); }

cuda_unit cuda_unit_of(const program& p, const cuda_variant& v, int arch) {
  cuda_unit u;
  u.name = cuda_kernel_name(p, v);
  u.weight = p.code.size() * (v.shape == cuda_shape::broadcast_rows ? 2 : 1);
  u.options = {.arch = arch,
               .fast_math = p.flags.fast_math,
               .fast_compile = v.baseline || v.shape == cuda_shape::broadcast_rows};
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
