// The backend whose algorithms are tested: the GPU that the suite's device names.
#include "gpu/algorithms/algorithms.hpp"
#include "gpu/gpu.hpp"

namespace algorithms_test {

runtime::backend* backend_under_test() {
  if (gpu_test::no_gpu()) return nullptr;
  return &runtime::get_backend({runtime::device_kind::cuda, sinter::default_device().index});
}

}  // namespace algorithms_test
