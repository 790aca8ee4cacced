// The picture of an L-curve.
#pragma once
#include <string>
#include <vector>

#include "ridge/problem.hpp"

namespace ridge {

/// Residuals along, sizes of the solutions up, both by their logarithms, with lambda at some of the points. Throws png_error.
void write_figure(const std::string& path, const std::vector<point>& curve);

}  // namespace ridge
