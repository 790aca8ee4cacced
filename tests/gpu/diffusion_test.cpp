// The diffusion example's kernel on a GPU: the bits of the slices, at every size of the last tiles.
#ifdef SINTER_HAS_CUDA

#include "diffusion/check.hpp"
#include "diffusion/field.hpp"
#include "diffusion/steps.hpp"
#include "gpu/gpu.hpp"

using namespace diffusion;

TEST_CASE("gpu: diffusion by the kernel has the bits of the slices, and agrees with float64 loops") {
  if (gpu_test::no_gpu()) return;
  for (const border b : {border::fixed, border::reflecting})
    for (const std::int64_t n : {3, 4, 5, 31, 32, 33, 34, 63, 64, 65, 66, 97, 200}) {
      CAPTURE(n);
      const scheme s{.border = b};
      const ndarray start = random_field(n, 11);
      if (b == border::reflecting) reflect(start);
      const ndarray u = start.copy();
      fields f{start.copy(), sn::empty_like(start)};
      for (int step = 1; step <= 7; ++step) {
        step_by_slices(u, s);
        sn::eval(u);
        step_by_kernel(f, s);
        CAPTURE(step);
        CHECK(gpu_test::first_difference(f.now.to_vector<float>(), u.to_vector<float>()) == -1);
      }
      CHECK(compare_with_loops(start, f.now, 7, s).holds());
    }
}

#endif
