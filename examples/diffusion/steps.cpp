// The stencil as a CUDA kernel: how diffuse.cu is compiled and launched.
#include "diffusion/steps.hpp"

#include <utility>

#include "common/blocks.hpp"

namespace diffusion {
namespace {

constexpr int side = 32, rows = 4;  // SIDE and ROWS of diffuse.cu

}  // namespace

std::vector<std::string> diffuse_options() {
  // Without contraction the roundings are those of the slices.
  return {"--fmad=false", "-DSIDE=" + std::to_string(side), "-DROWS=" + std::to_string(rows)};
}

void step_by_kernel(fields& f, const scheme& s) {
  static const sn::raw_kernel diffuse(diffuse_cuda, "diffuse", {.options = diffuse_options()});
  const auto n = f.now.shape(0), blocks = examples::blocks_of(side, n);
  diffuse({.grid = {blocks, blocks}, .block = {side, side / rows}}, sn::in(f.now), f.next, static_cast<int>(n),
          static_cast<float>(s.rate), s.border == border::reflecting);
  std::swap(f.now, f.next);
}

}  // namespace diffusion
