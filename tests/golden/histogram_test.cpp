// Histograms against NumPy 2: counts and edges are the same numbers, however close to an edge a sample lies.
#include <doctest/doctest.h>

#include "golden/golden.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;

struct histogram_case {
  golden_file& f;

  ndarray array_if() { return f.u8() ? upload(f.array()) : ndarray(); }
  bin_limits limits() {
    if (!f.u8()) return {};
    const double low = f.f64(), high = f.f64();
    return {low, high};
  }
  bin_spec bins() {
    switch (f.u8()) {
      case 0: return f.varint();
      case 1: return f.text();
      default: return upload(f.array());
    }
  }
};

std::string show(const bin_spec& b) {
  return !b.rule().empty() ? b.rule() : b.has_edges() ? "given" : std::to_string(b.count());
}

void check_histogram(golden_file& f, bool mine) {
  histogram_case c{f};
  const host_array x = f.array();
  const bin_spec bins = c.bins();
  histogram_kw kw{.range = c.limits(), .weights = c.array_if()};
  kw.density = f.u8() != 0;
  const policy p = f.tolerance();
  const bool counted = f.u8() != 0;
  const host_array hist = counted ? f.array() : host_array{};
  const host_array edges = f.u8() ? f.array() : host_array{};
  if (!mine) return;
  std::string what = "histogram of " + test::show(x) + ", bins " + show(bins);
  if (kw.range) what += " over [" + std::to_string(kw.range.low()) + ", " + std::to_string(kw.range.high()) + "]";
  if (!counted) {
    CHECK_THROWS_AS_MESSAGE(histogram(upload(x), bins, kw), value_error, what);
    return;
  }
  const histogram_result got = histogram(upload(x), bins, kw);
  std::string wrong = difference(download(got.bin_edges), edges, policy());
  CHECK_MESSAGE(wrong.empty(), what, ": edges: ", wrong);
  wrong = difference(download(got.hist), hist, p, {&x});
  CHECK_MESSAGE(wrong.empty(), what, ": ", wrong);
  const ndarray alone = histogram_bin_edges(upload(x), bins, {.range = kw.range});
  wrong = difference(download(alone), edges, policy());
  CHECK_MESSAGE(wrong.empty(), what, ": edges alone: ", wrong);
}

void check_grid(golden_file& f, bool mine) {
  histogram_case c{f};
  const host_array x = f.array();
  std::vector<bin_spec> bins;
  for (std::int64_t d = 0; d < x.shape[1]; ++d) bins.push_back(c.bins());
  histogramdd_kw kw;
  if (f.u8())
    for (std::int64_t d = 0; d < x.shape[1]; ++d) kw.range.push_back(c.limits());
  kw.weights = c.array_if();
  kw.density = f.u8() != 0;
  const policy p = f.tolerance();
  const host_array hist = f.array();
  std::vector<host_array> edges;
  for (std::int64_t d = 0; d < x.shape[1]; ++d) edges.push_back(f.array());
  if (!mine) return;
  const std::string what = "histogramdd of " + test::show(x);
  const histogramdd_result got = histogramdd(upload(x), bins, kw);
  for (std::size_t d = 0; d < edges.size(); ++d) {
    const std::string wrong = difference(download(got.edges[d]), edges[d], policy());
    CHECK_MESSAGE(wrong.empty(), what, ": edges ", d, ": ", wrong);
  }
  const std::string wrong = difference(download(got.hist), hist, p, {&x});
  CHECK_MESSAGE(wrong.empty(), what, ": ", wrong);
}

}  // namespace

TEST_CASE("histograms give NumPy's counts and edges" * doctest::test_suite(sharded_suite)) {
  golden_file f("histograms.bin");
  for (int i = 0; i < f.cases(); ++i) {
    const bool mine = this_shard().takes(i / 40);
    if (f.text() == "histogram") check_histogram(f, mine);
    else check_grid(f, mine);
  }
  CHECK(f.at_end());
}
