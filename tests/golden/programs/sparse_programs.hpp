// Ten programs of sparse matrices, neighbours and clusters, ported line by line (../make/golden_sparse_programs.py has the originals).
#pragma once
#include "golden/programs/programs.hpp"

namespace sinter::test::programs::sparse {

results constraints(), documents(), embedding(), groups(), hierarchy(), pagerank(), poisson(), propagation(),
    recommender(), ridge();

}  // namespace sinter::test::programs::sparse
