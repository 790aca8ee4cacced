// The results of twenty more NumPy programs beside NumPy's.
#include <doctest/doctest.h>

#include "golden/calls.hpp"
#include "golden/programs/programs.hpp"

TEST_CASE("twenty more NumPy programs give NumPy's values") {
  namespace programs = sinter::test::programs;
  sinter::test::call_table table;
  const auto add = [&](const char* name, programs::results (*program)()) {
    table[name] = [program](const sinter::test::call&) { return program(); };
  };
  add("cleaning", &programs::cleaning);
  add("life", &programs::life);
  add("filters", &programs::filters);
  add("systems", &programs::systems);
  add("seasons", &programs::seasons);
  add("chains", &programs::chains);
  add("bootstrap", &programs::bootstrap);
  add("membrane", &programs::membrane);
  add("polynomials", &programs::polynomials);
  add("frames", &programs::frames);
  add("joint", &programs::joint);
  add("tables", &programs::tables);
  add("shapes", &programs::shapes);
  add("ledger", &programs::ledger);
  add("bits", &programs::bits);
  add("tensors", &programs::tensors);
  add("network", &programs::network);
  add("clusters", &programs::clusters);
  add("graphs", &programs::graphs);
  add("numerics", &programs::numerics);
  sinter::test::check_calls("more_programs.bin", table);
}
