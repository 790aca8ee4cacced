// The results of ten programs of sparse matrices, neighbours and clusters beside those of SciPy and scikit-learn.
#include <doctest/doctest.h>

#include "golden/calls.hpp"
#include "golden/programs/sparse_programs.hpp"
#include "ops/sparse_linalg/superlu.hpp"

TEST_CASE("ten programs of sparse matrices, neighbours and clusters give SciPy's values") {
  if (sinter::test::no_superlu()) return;
  namespace sparse = sinter::test::programs::sparse;
  sinter::test::call_table table;
  const auto add = [&](const char* name, sinter::test::programs::results (*program)()) {
    table[name] = [program](const sinter::test::call&) { return program(); };
  };
  add("pagerank", &sparse::pagerank);
  add("propagation", &sparse::propagation);
  add("poisson", &sparse::poisson);
  add("embedding", &sparse::embedding);
  add("recommender", &sparse::recommender);
  add("documents", &sparse::documents);
  add("groups", &sparse::groups);
  add("hierarchy", &sparse::hierarchy);
  add("ridge", &sparse::ridge);
  add("constraints", &sparse::constraints);
  sinter::test::check_calls("sparse_programs.bin", table);
}
