// The picture: the field before and after, and the Laplacian of the latter, side by side.
#pragma once
#include <string>

#include "diffusion/steps.hpp"

namespace diffusion {

/// Writes a PNG of three panels with titles and colour bars. Both fields share their colours; those of the Laplacian
/// are white at zero. Large fields are averaged over squares. Throws png_error.
void write_figure(const std::string& path, const ndarray& before, const ndarray& after, int steps);

}  // namespace diffusion
