// Outputs of functions that are executed at the call instead of recorded.
#include "ops/kernels/run.hpp"

#include "graph/run/call.hpp"
#include "graph/values/example.hpp"

namespace sinter::ops {

std::vector<ndarray> run_now(const kernel_head& k, const jit::user_function* f, const dims& shape,
                             std::vector<graph::value> values, std::span<const ndarray> out,
                             runtime::device_id device) {
  std::vector<graph::view_ref> targets;
  std::vector<ndarray> results;
  // Of one example of a vmap nothing runs: the outputs are recorded, and vmap records them for all examples.
  const auto is_new = [&](std::size_t a) { return !out[a].defined() && !f->outputs[a].raw; };
  bool of_example = false, all_new = true;
  for (const graph::value& v : values) of_example = of_example || graph::is_example(v);
  for (std::size_t a = 0; a < out.size(); ++a) all_new = all_new && is_new(a);
  if (of_example && all_new) {
    for (std::size_t a = 0; a < out.size(); ++a)
      results.push_back(wrap(graph::record_call(f, static_cast<int>(a), shape, values)));
    return results;
  }
  for (std::size_t a = 0; a < out.size(); ++a) {
    targets.push_back(out[a].defined() ? ndarray_access::ref(out[a])
                                       : uninitialised(shape, f->outputs[a].type, device, k.function()));
    results.push_back(out[a].defined() ? out[a] : ndarray_access::make(targets.back()));
  }
  graph::run_call(f, shape, std::move(values), targets);
  return results;
}

}  // namespace sinter::ops
