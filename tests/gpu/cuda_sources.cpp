// The way from a recorded value to CUDA source. A separate file, since the backend's namespace has the name of a
// public function.
#ifdef SINTER_HAS_CUDA

#include <span>
#include <string>
#include <vector>

#include "graph/plan/bind.hpp"
#include "graph/plan/planner.hpp"
#include "jit/cuda/emit.hpp"
#include "jit/cuda/schedule/choose.hpp"

namespace gpu_test {

std::vector<std::string> cuda_sources(const sinter::graph::value& x) {
  sinter::graph::planner planner;
  planner.plan(std::span(&x, 1));
  std::vector<std::string> sources;
  for (const auto& k : planner.kernels()) {
    if (k->code.code.empty()) continue;
    sinter::jit::launch bound, other;
    sinter::graph::bind(*k, bound);
    const sinter::jit::launch& l = sinter::cuda::lowered(bound, other);
    sinter::jit::cuda_variant v;
    sinter::cuda::classify(l, v);
    sources.push_back(sinter::jit::cuda_module({l.code}, sinter::jit::emit_cuda(*l.code, v)));
  }
  return sources;
}

}  // namespace gpu_test

#endif
