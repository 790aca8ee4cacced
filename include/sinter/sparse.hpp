// Sparse matrices with SciPy's names. The class, its makers and its products are in sparse_array.hpp.
#pragma once
#include "sinter/sparse_array.hpp"
