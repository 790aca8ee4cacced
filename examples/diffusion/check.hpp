// Whether a way to step is right: the same scheme in plain float64 loops, and what must not change.
#pragma once
#include <cstdint>
#include <vector>

#include "common/verdict.hpp"
#include "diffusion/steps.hpp"

namespace diffusion {

/// `steps` steps of an n x n field, C order, in float64 and without the library.
std::vector<double> plain_steps(std::vector<double> u, std::int64_t n, int steps, const scheme& s);

/// How far float32 results may be from exact ones: each rounding of a step is half a unit in the last place of numbers
/// of known size, and no error grows, since a step is a weighted mean. `magnitude` is the largest |u|.
double rounding_bound(int steps, const scheme& s, double magnitude);

using examples::verdict;

/// Runs `steps` steps of `start` by plain loops and compares `result` with them: largest difference, over all elements.
verdict compare_with_loops(const ndarray& start, const ndarray& result, int steps, const scheme& s);

/// The sum of the elements within the border, in float64. Synchronises.
double inner_sum(const ndarray& u);
/// The change of the sum, over the number of elements, against what rounding may change; for reflecting borders.
verdict compare_sums(const ndarray& start, const ndarray& result, int steps, const scheme& s);

}  // namespace diffusion
