// scipy.sparse.linalg: linear operators, iterative and direct solvers, eigenvalues of sparse matrices.
// Not part of sinter.hpp.
#pragma once
#include "sinter/sparse_eigen.hpp"
#include "sinter/sparse_factors.hpp"
#include "sinter/sparse_functions.hpp"
#include "sinter/sparse_operator.hpp"
#include "sinter/sparse_solvers.hpp"
