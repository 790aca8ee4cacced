// Sparse arrays on the GPU against the CPU: products whose sums are exact in any order, bits from run to run, what is
// composed of sorts and searches.
#include "sinter/sparse.hpp"

#include <vector>

#include "gpu/gpu.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using gpu_test::no_gpu;
using sparse::sparse_array;

/// Rows of very different lengths with small whole numbers, on the CPU: row r has about r^2 entries, every fifth none.
sparse_array uneven(std::int64_t rows, std::int64_t columns, dtype type, dtype index) {
  const ndarray r = arange(rows, {.device = cpu});
  const ndarray lengths = where(r % 5 == 0, 0, r * r / 2 % 7001);
  const ndarray ends = concatenate({zeros(1, {.dtype = int64, .device = cpu}), cumsum(lengths.astype(int64))});
  const std::int64_t count = ends(-1).item<std::int64_t>();
  const ndarray k = arange(count, {.device = cpu});
  const ndarray data = ((k * 48271 % 65521) % 7 - 3).astype(type), at = (k * 69621 % 1000003) % columns;
  return sparse::csr_array(data, at, ends, shape_t{rows, columns}, {.index_dtype = index});
}

/// Rows of these lengths with small whole numbers, columns in no order and some of them twice, on the CPU.
sparse_array of_lengths(const std::vector<std::int64_t>& lengths, std::int64_t columns, dtype type, dtype index) {
  const auto rows = static_cast<std::int64_t>(lengths.size());
  const ndarray each = array(lengths.data(), {rows}, {.device = cpu});
  const ndarray ends = concatenate({zeros(1, {.dtype = int64, .device = cpu}), cumsum(each)});
  const ndarray k = arange(ends(-1).item<std::int64_t>(), {.device = cpu});
  const ndarray data = ((k * 48271 % 65521) % 7 - 3).astype(type), at = (k * 69621 % 1000003) % columns;
  return sparse::csr_array(data, at, ends, shape_t{rows, columns}, {.index_dtype = index});
}

bool same(const ndarray& gpu, const ndarray& host) { return array_equal(gpu.to_host(), host); }

}  // namespace

TEST_CASE("GPU: products of sparse arrays are those of the CPU") {
  if (no_gpu()) return;
  const device gpu = default_device();
  for (const dtype type : {float64, float32, complex64, complex128, int64, int32})
    for (const dtype index : {int32, int64}) {
      CAPTURE(name(type));
      CAPTURE(name(index));
      const sparse_array a = uneven(700, 901, type, index), ga = a.to_device(gpu);
      const ndarray x = (arange(901, {.device = cpu}) % 5 - 2).astype(type),
                    y = (arange(700, {.device = cpu}) % 3).astype(type);
      CHECK(same(ga.dot(x.to_device(gpu)), a.dot(x)));
      CHECK(same(ga.T().dot(y.to_device(gpu)), a.T().dot(y)));
      CHECK(same(ga.sum(1), a.sum(1)));
      CHECK(same(ga.sum(0), a.sum(0)));
      for (const std::int64_t width : {2, 5, 32, 70}) {
        const ndarray wide = ((arange(901 * width, {.device = cpu}) % 5 - 2).astype(type)).reshape(901, width);
        CHECK(same(ga.dot(wide.to_device(gpu)), a.dot(wide)));
      }
      if (!is_inexact(type)) continue;
      const ndarray scaled = ga.dot(x.to_device(gpu), {.alpha = 2, .beta = -3, .y = y.to_device(gpu)});
      CHECK(same(scaled, a.dot(x, {.alpha = 2, .beta = -3, .y = y})));
    }
}

TEST_CASE("GPU: rows of every length times a vector") {
  if (no_gpu()) return;
  const device gpu = default_device();
  std::vector<std::int64_t> mixed;  // where a warp begins to help, and where blocks do
  for (const std::int64_t n : {0, 1, 31, 33, 64, 65, 256, 257, 512, 513, 8191, 8192, 8193, 0, 12289, 40000, 4096, 0})
    mixed.push_back(n);
  const std::vector<std::vector<std::int64_t>> cases = {mixed,
                                                        {100000},                             // one row
                                                        {0, 0, 0},                            // no entries
                                                        std::vector<std::int64_t>(3000, 5),   // a lane a row
                                                        std::vector<std::int64_t>(3000, 11),  // some lanes
                                                        std::vector<std::int64_t>(1000, 40)};
  std::vector<std::int64_t> hub(5000, 3);  // short rows and one that is divided
  hub[77] = 30001;
  for (const dtype type : {float64, float32, complex64, complex128, int64})
    for (const dtype index : {int32, int64})
      for (std::size_t c = 0; c <= cases.size(); ++c) {
        const std::vector<std::int64_t>& lengths = c < cases.size() ? cases[c] : hub;
        CAPTURE(c);
        CAPTURE(name(type));
        CAPTURE(name(index));
        for (const std::int64_t columns : {1, 777}) {
          const sparse_array a = of_lengths(lengths, columns, type, index), ga = a.to_device(gpu);
          const ndarray x = (arange(columns, {.device = cpu}) % 5 - 2).astype(type);
          CHECK(same(ga.dot(x.to_device(gpu)), a.dot(x)));
          CHECK(same(ga.sum(1), a.sum(1)));
        }
      }
}

TEST_CASE("GPU: many long rows times a vector that fits into shared memory") {
  if (no_gpu()) return;
  const device gpu = default_device();
  for (const dtype type : {float64, float32})
    for (const dtype index : {int32, int64})
      for (const std::int64_t columns : {777, 13001}) {
        std::vector<std::int64_t> lengths(2000, 600);
        lengths[3] = 0, lengths[1999] = 20000;
        const sparse_array a = of_lengths(lengths, columns, type, index), ga = a.to_device(gpu);
        const ndarray x = (arange(columns, {.device = cpu}) % 5 - 2).astype(type);
        CHECK(same(ga.dot(x.to_device(gpu)), a.dot(x)));
      }
}

TEST_CASE("GPU: a captured product of rows that are divided has the bits of others") {
  if (no_gpu()) return;
  const device gpu = default_device();
  const sparse_array a = of_lengths({9000, 5, 20000, 0, 8192}, 777, float32, int32).to_device(gpu);
  const ndarray x = random::generator(1).normal(0, 1, 777).astype(float32), data = a.data() * 0.3f,
                y = zeros(5, float32);
  eval(x, data, y);
  const sparse_array known = a.with_data(data), captured = sparse::csr_array(data, a.indices(), a.indptr(), a.shape());
  const launch_graph graph = capture([&] { y(_) = captured.dot(x); });
  graph.launch();
  CHECK(array_equal(y, known.dot(x)));
}

TEST_CASE("GPU: rows are sorted, entries of equal place in their order") {
  if (no_gpu()) return;
  const device gpu = default_device();
  std::vector<std::int64_t> lengths(400, 30);  // 1024 entries at most are sorted by a block
  lengths[0] = 0, lengths[7] = 1024, lengths[399] = 1;
  for (const bool longer : {false, true}) {
    if (longer) lengths[7] = 1025;
    for (const dtype type : {bool_, int16, float32, float64, complex128})
      for (const dtype index : {int32, int64})
        for (const std::int64_t columns : {5, 40000}) {
          sparse_array a = of_lengths(lengths, columns, float64, index);
          a = a.with_data(arange(a.nnz(), {.device = cpu}).astype(type));
          sparse_array ga = a.to_device(gpu);
          a.sort_indices();
          ga.sort_indices();
          CHECK(same(ga.indices(), a.indices()));
          CHECK(same(ga.data(), a.data()));
        }
  }
  const sparse_array left = of_lengths(std::vector<std::int64_t>(500, 20), 300, float64, int32),
                     right = of_lengths(std::vector<std::int64_t>(300, 15), 1000, float64, int32);
  CHECK(same(matmul(left.to_device(gpu), right.to_device(gpu)).toarray(), matmul(left, right).toarray()));
}

TEST_CASE("GPU: products of sparse arrays have the same bits again") {
  if (no_gpu()) return;
  const sparse_array a = sparse::random_array({4000, 3000}, 0.05);
  const ndarray x = random::generator(1).normal(0, 1, 3000).copy();
  const ndarray first = a.dot(x).copy();
  for (int k = 0; k < 5; ++k) CHECK(array_equal(a.dot(x), first));
  CHECK(allclose(first, matmul(a.toarray(), x)));
}

TEST_CASE("GPU: conversions, joins and elementwise work of sparse arrays are those of the CPU") {
  if (no_gpu()) return;
  const device gpu = default_device();
  const sparse_array a = uneven(60, 40, float64, int32), b = uneven(60, 40, float64, int32)(slice(_, _, -1), _);
  const sparse_array ga = a.to_device(gpu), gb = b.to_device(gpu);
  CHECK(same(ga.tocsc().toarray(), a.toarray()));
  CHECK(same(ga.tocoo().tocsr().toarray(), a.toarray()));
  CHECK(ga.tocoo().tocsr().nnz() == a.tocoo().tocsr().nnz());
  CHECK(same((ga + gb).toarray(), (a + b).toarray()));
  CHECK(same((ga * gb).toarray(), (a * b).toarray()));
  CHECK(same(matmul(ga, gb.T()).toarray(), matmul(a, b.T()).toarray()));
  CHECK(same(sparse::vstack({ga, gb}).toarray(), sparse::vstack({a, b}).toarray()));
  CHECK(same(ga.max(0), a.max(0)));
  CHECK(same(ga.argmax(1), a.argmax(1)));
  CHECK(same(ga(list{5, 1, 1}, slice(3, 30)).toarray(), a(list{5, 1, 1}, slice(3, 30)).toarray()));
}
