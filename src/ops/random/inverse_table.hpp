// src/ops/random: generators and distributions.
//
// Draws through tables of distribution functions: the number that belongs to a uniform number, by a few reads.
#pragma once
#include <cstdint>
#include <vector>

#include "sinter/ndarray.hpp"

namespace sinter::ops {

/// For each u in [0, 1) how many cumulative probabilities (ascending, the last one 1) are not above it, int64: what
/// searchsorted(sums, u, "right") gives. Records. The search of many begins where a guide table says (Chen and Asau, On
/// generating random variates from an empirical distribution, AIIE Transactions 6, 1974).
ndarray inverse_of(const std::vector<double>& sums, const ndarray& u);

/// A number below p's size for each u in [0, 1), k with probability p[k] to within 2^-53, int64, by two reads. Records. Not in the
/// order of u. (Walker, An efficient method for generating discrete random variables with general distributions, ACM TOMS 3, 1977;
/// the table as by Vose, IEEE Transactions on Software Engineering 17, 1991.)
ndarray by_alias(std::vector<double> p, const ndarray& u);

/// inverse_of where each u has a row of `width` cumulative probabilities, a power of two; 1 follows the last one of a row.
ndarray inverse_of_rows(const std::vector<double>& table, std::int64_t width, const ndarray& row, const ndarray& u);

}  // namespace sinter::ops
