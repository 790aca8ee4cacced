// scipy.sparse.linalg: linear operators, iterative and direct solvers, eigenvalues of sparse matrices. Opt-in: <sinter/sinter.hpp>
// does not include it.
#pragma once
#include "sinter/sparse_eigen.hpp"
#include "sinter/sparse_factors.hpp"
#include "sinter/sparse_functions.hpp"
#include "sinter/sparse_operator.hpp"
#include "sinter/sparse_solvers.hpp"
