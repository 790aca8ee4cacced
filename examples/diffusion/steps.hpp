// One explicit step of the heat equation with the five-point stencil, by slices and by a hand-written CUDA kernel:
//   next = u + rate * (above + below + left + right - 4 u)
// at every element that is not on the border. It is stable for rates up to 1/4.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <sinter/sinter.hpp>

namespace diffusion {

namespace sn = sinter;
using sn::ndarray;

/// fixed: the border elements never change. reflecting: they are a copy of their inner neighbours, so that nothing
/// flows out and the sum over the other elements stays.
enum class border { fixed, reflecting };

struct scheme {
  double rate = 0.2;
  diffusion::border border = border::reflecting;
};

/// Sum of the four neighbours less four times the element, without the border: (n, n) -> (n-2, n-2).
inline ndarray laplacian(const ndarray& u) {
  return u[":-2, 1:-1"] + u["2:, 1:-1"] + u["1:-1, :-2"] + u["1:-1, 2:"] - 4 * u["1:-1, 1:-1"];
}

/// Copies the inner neighbours to the border.
inline void reflect(const ndarray& u) {
  u["0"] = u["1"];
  u["-1"] = u["-2"];
  u[":, 0"] = u[":, 1"];
  u[":, -1"] = u[":, -2"];
}

/// As NumPy would write it. What is on the right is read before it is written.
inline void step_by_slices(const ndarray& u, const scheme& s) {
  u["1:-1, 1:-1"] += s.rate * laplacian(u);
  if (s.border == border::reflecting) reflect(u);
}

/// The field now, and room for the next one, of the same shape.
struct fields {
  ndarray now, next;
};

/// One launch, which reads `now` and writes `next`; then they change places. Needs a CUDA device. Bits as by
/// slices. At most 46340 rows.
void step_by_kernel(fields& f, const scheme& s);
/// Its source, diffuse.cu, and the options of its compiler.
extern const std::string_view diffuse_cuda;
std::vector<std::string> diffuse_options();

}  // namespace diffusion
