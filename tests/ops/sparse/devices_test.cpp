// Sparse arrays on a device whose kernels only multiply: entries are put in order by sorts, searches and gathers, as on a
// GPU. The results are those of the CPU's kernels.
#include <vector>

#include "sinter/sparse.hpp"
#include "support/kernel_test.hpp"
#include "support/simulated_gpu.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using sparse::sparse_array;

sparse_array entries(std::int64_t rows, std::int64_t columns, int count, unsigned seed) {
  random::generator g(seed);
  const device host("cpu");
  const ndarray row = g.integers(0, rows, count).to_device(host),
                column = g.integers(0, columns, count).to_device(host);
  const ndarray data = g.integers(-4, 5, count).to_device(host).astype(float64);
  return sparse::coo_array(data, row, column, shape_t{rows, columns});
}

void check_same(const sparse_array& got, const sparse_array& expected) {
  CHECK(got.device().kind == device_kind::cuda);
  CHECK(got.shape() == expected.shape());
  CHECK(array_equal(got.toarray().to_host(), expected.toarray()));
}
void check_same(const ndarray& got, const ndarray& expected) { CHECK(array_equal(got.to_host(), expected)); }

}  // namespace

TEST_CASE("sparse: devices without kernels for entries, and with one for transposes, give what the CPU does") {
  for (const device& gpu : {sim::first(), sim::second()})
    for (const sparse::format f : {sparse::format::csr, sparse::format::csc, sparse::format::coo}) {
      CAPTURE(sparse::name(f));
      const sparse_array loose = entries(23, 17, 150, 1), a = loose.asformat(f), b = entries(23, 17, 60, 2).asformat(f),
                         c = entries(17, 9, 50, 3).asformat(f);
      const sparse_array ga = a.to_device(gpu), gb = b.to_device(gpu), gc = c.to_device(gpu);
      check_same(loose.to_device(gpu).tocsr(), loose.tocsr());
      CHECK(loose.to_device(gpu).tocsr().nnz() == loose.tocsr().nnz());
      check_same(ga.tocsr(), a.tocsr());
      check_same(ga.tocsc(), a.tocsc());
      check_same(ga + gb, a + b);
      check_same(ga * gb, a * b);
      CHECK((ga * gb).nnz() == (a * b).nnz());
      check_same(maximum(ga, gb), maximum(a, b));
      check_same(matmul(ga, gc), matmul(a, c));
      sparse_array sorted = loose.to_device(gpu).asformat(f), unsorted = matmul(sorted, gc);
      sorted.sum_duplicates();
      unsorted.sort_indices();
      check_same(sorted, loose.asformat(f));
      CHECK(sorted.has_canonical_format());
      CHECK(unsorted.has_sorted_indices());
      check_same(ga(slice(_, _, -2), slice(3, 11)), a(slice(_, _, -2), slice(3, 11)));
      check_same(ga(list{4, 4, 0}, _), a(list{4, 4, 0}, _));
      check_same(sparse::kron(gc, gb), sparse::kron(c, b));
      for (const int axis : {0, 1}) {
        check_same(ga.sum(axis), a.sum(axis));
        check_same(ga.max(axis), a.max(axis));
        check_same(ga.argmin(axis), a.argmin(axis));
      }
      const ndarray x = arange(17, {.device = cpu}) * 1.0, y = arange(23, {.device = cpu}) * 1.0;
      check_same(ga.dot(x.to_device(gpu)), a.dot(x));
      check_same(ga.T().dot(y.to_device(gpu), {.alpha = 2, .y = x.to_device(gpu)}), a.T().dot(y, {.alpha = 2, .y = x}));
      check_same(matmul(y.reshape(1, 23).to_device(gpu), ga), matmul(y.reshape(1, 23), a));
      sparse_array gd = ga, d = a;
      gd.setdiag(3, 2), d.setdiag(3, 2);
      check_same(gd, d);
    }
}

TEST_CASE("sparse: arrays of two devices are refused") {
  const sparse_array a = sparse::identity(3, {.device = cpu});
  CHECK_THROWS_AS(a + a.to_device(sim::first()), device_error);
  CHECK_THROWS_AS(matmul(a, a.to_device(sim::first())), device_error);
  CHECK_THROWS_AS(matmul(a, zeros(3, {.device = sim::first()})), device_error);
}
