// Merging sorted runs on the CPU and on a GPU, against a plain stable sort: every dtype, NaNs and zeros of both signs, several runs.
#include <span>

#include "gpu/algorithms/algorithms.hpp"

using namespace algorithms_test;

namespace {

void check(runtime::backend& b, dtype type, pattern what, bool descending, const std::vector<int64_t>& lengths) {
  CAPTURE(sinter::name(type));
  CAPTURE(name_of(what));
  CAPTURE(descending);
  CAPTURE(lengths.size());
  const size_t item = sinter::itemsize(type);
  std::vector<int64_t> ends;
  for (const int64_t n : lengths) ends.push_back((ends.empty() ? 0 : ends.back()) + n);
  const int64_t count = ends.back();
  const bytes drawn = make_elements(type, what, count, 17);
  const auto in_order = [&](const bytes& all, int64_t begin, int64_t end, bytes& out) {
    std::vector<int64_t> order(static_cast<size_t>(end - begin));
    const unsigned char* const first = all.data() + static_cast<size_t>(begin) * item;
    if (!order.empty()) stable_sort_positions(type, descending, first, order);
    for (size_t k = 0; k < order.size(); ++k)
      std::memcpy(&out[(static_cast<size_t>(begin) + k) * item], first + static_cast<size_t>(order[k]) * item, item);
  };
  bytes runs(drawn.size()), expected(drawn.size());
  for (size_t k = 0; k < ends.size(); ++k) in_order(drawn, k == 0 ? 0 : ends[k - 1], ends[k], runs);
  in_order(runs, 0, count, expected);
  const device_array from(b, runs), to(b, runs.size());
  const size_t scratch_bytes = b.algorithms().merge_scratch(type, ends);
  CHECK(static_cast<double>(scratch_bytes) <= 1.01 * static_cast<double>(runs.size()) + 1024);
  const device_array scratch(b, scratch_bytes);
  b.algorithms().merge(type, descending, ends, from.data(), to.data(), scratch.data());
  CHECK(to.to_host() == expected);
  CHECK(from.to_host() == runs);
}

void check_all(runtime::backend& b) {
  for (const dtype type : all_dtypes()) {
    if (!b.algorithms().merges_runs(type)) continue;
    for (const bool descending : {false, true})
      for (const pattern what : all_patterns) {
        check(b, type, what, descending, {700, 1300});
        check(b, type, what, descending, {1, 0, 4000, 5, 3839, 300});
      }
    check(b, type, pattern::bits, false, {9});
    check(b, type, pattern::bits, true, {0, 0, 3});
    check(b, type, pattern::bits, false, {100'000, 1, 77'777, 40'000});
  }
}

}  // namespace

TEST_CASE("cpu: sorted runs are merged to what a stable sort gives") { check_all(runtime::get_backend({})); }

#ifdef SINTER_HAS_CUDA
TEST_CASE("gpu: sorted runs are merged to what a stable sort gives") {
  if (runtime::backend* const b = backend_under_test()) {
    CHECK(b->algorithms().merges_runs(dtype::f32));
    check_all(*b);
  }
}
#endif
