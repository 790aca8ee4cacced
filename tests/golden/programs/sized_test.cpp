// The results of forty NumPy programs of any size beside NumPy's.
#include <doctest/doctest.h>

#include "golden/calls.hpp"
#include "golden/programs/sized.hpp"

TEST_CASE("twenty NumPy programs of any size give NumPy's values") {
  namespace sized = sinter::test::programs::sized;
  sinter::test::call_table table;
  const auto add = [&](const char* name, sinter::test::programs::results (*program)(const sinter::ndarray&)) {
    table[name] = [program](const sinter::test::call& c) { return program(c.x.at(0)); };
  };
  add("savgol", &sized::savgol);
  add("loess", &sized::loess);
  add("survival", &sized::survival);
  add("principal", &sized::principal);
  add("boards", &sized::boards);
  add("options", &sized::options);
  add("running", &sized::running);
  add("lab", &sized::lab);
  add("perlin", &sized::perlin);
  add("queens", &sized::queens);
  add("lomb", &sized::lomb);
  add("fits", &sized::fits);
  add("groups", &sized::groups);
  add("tokens", &sized::tokens);
  add("bicubic", &sized::bicubic);
  add("sphere", &sized::sphere);
  add("blur", &sized::blur);
  add("stretch", &sized::stretch);
  add("hampel", &sized::hampel);
  add("logistic", &sized::logistic);
  sinter::test::check_calls("sized_programs.bin", table);
}

TEST_CASE("ten more NumPy programs of any size give NumPy's values") {
  namespace sized = sinter::test::programs::sized;
  sinter::test::call_table table;
  const auto add = [&](const char* name, sinter::test::programs::results (*program)(const sinter::ndarray&)) {
    table[name] = [program](const sinter::test::call& c) { return program(c.x.at(0)); };
  };
  add("coherence", &sized::coherence);
  add("lpc", &sized::lpc);
  add("climate", &sized::climate);
  add("hypotheses", &sized::hypotheses);
  add("airy", &sized::airy);
  add("quadrature", &sized::quadrature);
  add("wavelet", &sized::wavelet);
  add("extremes", &sized::extremes);
  add("codes", &sized::codes);
  add("hidden", &sized::hidden);
  sinter::test::check_calls("more_sized_programs.bin", table);
}

TEST_CASE("ten everyday NumPy programs of any size give NumPy's values") {
  namespace sized = sinter::test::programs::sized;
  sinter::test::call_table table;
  const auto add = [&](const char* name, sinter::test::programs::results (*program)(const sinter::ndarray&)) {
    table[name] = [program](const sinter::test::call& c) { return program(c.x.at(0)); };
  };
  add("bootstrap", &sized::bootstrap);
  add("skill", &sized::skill);
  add("cepstrum", &sized::cepstrum);
  add("pieces", &sized::pieces);
  add("filters", &sized::filters);
  add("likelihood", &sized::likelihood);
  add("flows", &sized::flows);
  add("terrain", &sized::terrain);
  add("registers", &sized::registers);
  add("beliefs", &sized::beliefs);
  sinter::test::check_calls("everyday_programs.bin", table);
}
