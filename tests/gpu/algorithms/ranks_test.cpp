// Elements of a few ranks of rows, on the GPU, against a stable sort.
#ifdef SINTER_HAS_CUDA

#include "gpu/algorithms/algorithms.hpp"

using namespace algorithms_test;

namespace {

void check_ranks(runtime::backend& b, dtype t, pattern p, int64_t rows, int64_t columns, std::vector<int64_t> kth) {
  runtime::algorithms& a = b.algorithms();
  const runtime::row_layout layout{t, rows, columns};
  if (static_cast<int64_t>(kth.size()) > a.most_ranks(layout)) return;
  const std::string type(sinter::name(t)), what(name_of(p));
  CAPTURE(type);
  CAPTURE(what);
  CAPTURE(rows);
  CAPTURE(columns);
  CAPTURE(kth.size());
  const size_t item = sinter::itemsize(t);
  const bytes data = make_elements(t, p, rows * columns, static_cast<unsigned>(columns));
  const device_array from(b, data), to(b, static_cast<size_t>(rows) * kth.size() * item);
  const device_array scratch(b, a.find_ranks_scratch(layout, static_cast<int64_t>(kth.size())));
  a.find_ranks(layout, kth, from.data(), to.data(), scratch.data());
  const bytes got = to.to_host();
  std::vector<int64_t> order(static_cast<size_t>(columns));
  bool right = true;
  for (int64_t r = 0; r < rows; ++r) {
    const unsigned char* const row = data.data() + static_cast<size_t>(r * columns) * item;
    stable_sort_positions(t, false, row, order);
    for (size_t k = 0; k < kth.size(); ++k) {
      const unsigned char* const wanted = row + static_cast<size_t>(order[static_cast<size_t>(kth[k])]) * item;
      const unsigned char* const x = got.data() + (static_cast<size_t>(r) * kth.size() + k) * item;
      right = right && !sorts_before(t, wanted, x) && !sorts_before(t, x, wanted);
    }
  }
  CHECK(right);
}

}  // namespace

TEST_CASE("gpu: elements of a few ranks, of every dtype and pattern, held by a block, in parts, and after a sample") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  unsigned number = 0;
  for (dtype t : all_dtypes())
    for (pattern p : all_patterns)
      for (int64_t n :
           {int64_t{4097}, int64_t{16384}, int64_t{16385}, int64_t{50001}, int64_t{65536}, int64_t{300001}}) {
        const std::vector<int64_t> ranks[] = {
            {n / 2 - 1, n / 2, n - 1},
            {0, n - 1},
            {n / 100, n / 100 + 1, n / 2, n - 2, n - 1},
            {n / 3},
            {0, n / 9, n / 8, n / 7, n / 6, n / 5, n / 4, n / 3, n / 2, n - 2, n - 1}};
        check_ranks(*b, t, p, n > 60000 ? 1 : 3, n, ranks[++number % 5]);
      }
  // Rows in several batches.
  check_ranks(*b, dtype::f32, pattern::bits, 2100, 17000, {8499, 8500, 16999});
  check_ranks(*b, dtype::i16, pattern::bits, 1, (int64_t{1} << 24) + 3, {0, int64_t{1} << 23, int64_t{1} << 24});
}

#endif
