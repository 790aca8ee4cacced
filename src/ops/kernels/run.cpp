// Outputs of functions that are executed at the call instead of recorded.
#include "ops/kernels/run.hpp"

#include "graph/run/call.hpp"

namespace sinter::ops {

std::vector<ndarray> run_now(const kernel_head& k, const jit::user_function* f, const dims& shape,
                             std::vector<graph::value> values, std::span<const ndarray> out,
                             runtime::device_id device) {
  std::vector<graph::view_ref> targets;
  std::vector<ndarray> results;
  for (std::size_t a = 0; a < out.size(); ++a) {
    targets.push_back(out[a].defined() ? ndarray_access::ref(out[a])
                                       : uninitialised(shape, f->outputs[a].type, device, k.function()));
    results.push_back(out[a].defined() ? out[a] : ndarray_access::make(targets.back()));
  }
  graph::run_call(f, shape, std::move(values), targets);
  return results;
}

}  // namespace sinter::ops
