// The code of docs/sorting.md: every line of it is in this file, and does what the page says.
#include <doctest/doctest.h>

#include <vector>

#include "sinter/sinter.hpp"
#include "support/docs_page.hpp"

namespace sn = sinter;

namespace {

using doubles = std::vector<double>;
doubles numbers(const sn::ndarray& x) { return x.astype(sn::float64).to_vector<double>(); }

}  // namespace

TEST_CASE("docs/sorting.md: every block of code is in this file") {
  sinter_test::check_page("sorting.md", "docs/sorting_test.cpp", 5);
}

TEST_CASE("docs/sorting.md: its code does what it says") {
  // clang-format off
  sn::ndarray x = sn::array({{3.0, 1.0, 2.0}, {6.0, 5.0, 4.0}});
  sn::ndarray rows = sn::sort(x);                            // the last axis
  sn::ndarray down = sn::sort(x, 0, {.descending = true});   // the first one, largest element first
  sn::ndarray flat = sn::sort(x, std::nullopt);              // all elements, 1-D
  sn::ndarray order = sn::argsort(x);                        // int64 indices along the axis
  auto [largest, where_from] = sn::topk(x, 2);               // the two largest of each row, with their indices
  // clang-format on
  CHECK(numbers(down) == doubles{6, 5, 4, 3, 1, 2});
  CHECK(numbers(flat) == numbers(rows));
  CHECK(numbers(order) == doubles{1, 2, 0, 2, 1, 0});
  CHECK(numbers(largest) == doubles{3, 2, 6, 5});
  CHECK(numbers(where_from) == doubles{0, 2, 0, 1});

  // clang-format off
  sn::ndarray edges = sn::array({0.0, 1.0, 2.5});
  sn::ndarray place = sn::searchsorted(edges, x, "right");   // records: fuses with what is around it
  sn::ndarray bin = sn::digitize(x, edges);
  // clang-format on
  CHECK(numbers(place) == doubles{3, 2, 2, 3, 3, 3});
  CHECK(numbers(bin) == numbers(place));

  sn::ndarray values = sn::unique(sn::array({3, 1, 3}));
  auto [distinct, first, inverse, counts] = sn::unique_all(sn::array({3, 1, 3}));
  sn::ndarray both = sn::intersect1d(sn::array({1, 2}), sn::array({2, 3}));
  sn::ndarray known = sn::isin(sn::array({1, 2}), sn::array({2, 3}));
  CHECK(numbers(values) == numbers(distinct));
  CHECK(numbers(first) == doubles{1, 0});
  CHECK(numbers(inverse) == doubles{1, 0, 1});
  CHECK(numbers(counts) == doubles{1, 2});
  CHECK(numbers(both) == doubles{2});
  CHECK(numbers(known) == doubles{0, 1});

  sn::ndarray running = sn::cumsum(x * 2.0, 1);
  sn::ndarray with_zero = sn::cumulative_sum(x, 1, {.include_initial = true});
  sn::ndarray highest = sn::cummax(x, 0);
  CHECK(numbers(running) == doubles{6, 8, 12, 12, 22, 30});
  CHECK(numbers(with_zero) == doubles{0, 3, 4, 6, 0, 6, 11, 15});
  CHECK(numbers(highest) == doubles{3, 1, 2, 6, 5, 4});

  // clang-format off
  sn::ndarray often = sn::bincount(sn::array({0, 1, 1, 3}));
  auto [hist, bin_edges] = sn::histogram(x, 4, {.range = {0.0, 8.0}});
  sn::ndarray density = sn::histogram(x, "auto", {.density = true}).hist;   // a rule decides how many bins there are
  sn::ndarray between = sn::histogram(x, sn::array({0.0, 2.5, 6.0})).hist;   // given edges
  sn::ndarray only_edges = sn::histogram_bin_edges(x, "fd");
  auto [grid, axes_of_grid] = sn::histogram2d(rows(0), rows(0), {3, edges});   // three bins by given edges
  // clang-format on
  CHECK(numbers(often) == doubles{1, 2, 0, 1});
  CHECK(numbers(hist) == doubles{1, 2, 2, 1});
  CHECK(numbers(bin_edges) == doubles{0, 2, 4, 6, 8});
  CHECK(density.size() == 4);
  CHECK(density(0).item<double>() == doctest::Approx(4.0 / 15));
  CHECK(numbers(between) == doubles{2, 4});
  CHECK(numbers(only_edges) == doubles{1, 3.5, 6});
  CHECK(numbers(grid) == doubles{0, 1, 0, 1, 0, 0});
  CHECK(numbers(axes_of_grid[1]) == numbers(edges));
}
