// Outputs of functions that are executed at the call instead of recorded.
#include "ops/kernels/run.hpp"

#include "graph/run/call.hpp"

namespace sinter::ops {
jit::user_parameter output_parameter(const kernel_head& k, std::size_t index, const ndarray& out,
                                     const letter_types& letters) {
  const parameter& p = k.outputs[index];
  const int rank = p.raw ? view_of(out, k.function()).shape.size() : 0;
  return {
      .name = p.name, .type = letters.of(p.type), .raw = p.raw, .rank = static_cast<std::uint8_t>(rank), .opaque = {}};
}

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
