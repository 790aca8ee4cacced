// Partitions and first elements on the CPU: NumPy's contract for every dtype and pattern, the same bits for any number of
// threads, nothing written but the result.
#include "backends/cpu/kernels/hooks.hpp"  // clang takes namespace sinter::cpu only before the device of that name

#include "runtime/hooks.hpp"
#include "support/algorithm_cases.hpp"
#include "support/cpu_harness.hpp"

using namespace algorithm_cases;

namespace {

using integers = std::vector<std::int64_t>;

backend& the_cpu() { return runtime::get_backend({}); }
runtime::algorithms& algorithms() { return the_cpu().algorithms(); }

const int thread_counts[] = {1, 2, 7};
const row_case partition_cases[] = {{1, 2},    {1, 3},    {5, 31},    {1, 1000}, {1, 1023},  {1, 1024},
                                    {60, 130}, {3, 1500}, {40, 2000}, {2, 4097}, {1, 70001}, {2, 200000}};

bytes partitioned(const runtime::row_layout& l, const integers& kth, const bytes& values) {
  guarded_memory from(the_cpu(), values), to(the_cpu(), values.size());
  guarded_memory scratch(the_cpu(), algorithms().partition_scratch(l, static_cast<std::int64_t>(kth.size()), false));
  algorithms().partition(l, kth, from.data(), to.data(), scratch.data());
  CHECK(from.download() == values);
  return to.download();
}

integers positions(const runtime::row_layout& l, const integers& kth, const bytes& values) {
  guarded_memory keys(the_cpu(), values), to(the_cpu(), static_cast<std::size_t>(l.rows * l.columns) * 8);
  guarded_memory scratch(the_cpu(), algorithms().partition_scratch(l, static_cast<std::int64_t>(kth.size()), true));
  algorithms().argpartition(l, kth, keys.data(), to.as<std::int64_t>(), scratch.data());
  return to.download_as<std::int64_t>();
}

integers first(const runtime::row_layout& l, bool descending, std::int64_t k, const bytes& values) {
  guarded_memory keys(the_cpu(), values), to(the_cpu(), static_cast<std::size_t>(l.rows * k) * 8);
  guarded_memory scratch(the_cpu(), algorithms().select_first_scratch(l, k));
  algorithms().select_first(l, descending, k, keys.data(), to.as<std::int64_t>(), scratch.data());
  return to.download_as<std::int64_t>();
}

template <class T>
bool is_permutation_of(const std::vector<T>& a, const std::vector<T>& b, std::int64_t columns) {
  const auto strings = [&](const std::vector<T>& v, std::size_t row) {
    std::vector<std::string> all;
    for (std::size_t i = row; i < row + static_cast<std::size_t>(columns); ++i) {
      const T x = v[i];
      all.emplace_back(reinterpret_cast<const char*>(&x), sizeof(T));
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  for (std::size_t row = 0; row < a.size(); row += static_cast<std::size_t>(columns))
    if (strings(a, row) != strings(b, row)) return false;
  return true;
}

/// Whether each rank holds what sorting would put there, and nothing is on the wrong side of it.
template <class T>
bool is_partitioned(const std::vector<T>& v, const row_case& c, const integers& kth) {
  for (std::int64_t r = 0; r < c.rows; ++r)
    for (const std::int64_t k : kth) {
      const auto at = [&](std::int64_t i) -> T { return v[static_cast<std::size_t>(r * c.columns + i)]; };
      for (std::int64_t i = 0; i < c.columns; ++i)
        if (i < k ? sorts_before(at(k), at(i)) : sorts_before(at(i), at(k))) return false;
    }
  return true;
}

template <class T>
std::vector<T> elements_of(const bytes& b) {
  std::vector<T> v(b.size() / sizeof(T));
  for (std::size_t i = 0; i < v.size(); ++i) {
    T x{};
    std::memcpy(static_cast<void*>(&x), &b[i * sizeof(T)], sizeof(T));
    v[i] = x;
  }
  return v;
}

template <class T>
void check_partition(pattern p, const row_case& c, const integers& kth, unsigned seed) {
  const runtime::row_layout l{dtype_of<T>, c.rows, c.columns};
  const auto values = sorted_values<T>(p, c.rows * c.columns, seed);
  const bytes data = bytes_of(values);
  CAPTURE(name(l.type));
  CAPTURE(name_of(p));
  CAPTURE(c.rows);
  CAPTURE(c.columns);
  cpu_test::settings restore;
  bytes first_result;
  integers first_order;
  for (int threads : thread_counts) {
    CAPTURE(threads);
    runtime::set_thread_count(threads);
    const bytes got = partitioned(l, kth, data);
    const integers order = positions(l, kth, data);
    if (threads == 1) {
      first_result = got;
      first_order = order;
      CHECK(is_partitioned(elements_of<T>(got), c, kth));
      CHECK(is_permutation_of(elements_of<T>(got), values, c.columns));
      CHECK(is_partitioned(gathered(values, c.columns, order), c, kth));
      for (std::int64_t r = 0; r < c.rows; ++r) {
        integers row(order.begin() + r * c.columns, order.begin() + (r + 1) * c.columns);
        std::sort(row.begin(), row.end());
        bool all = true;
        for (std::int64_t i = 0; i < c.columns; ++i) all = all && row[static_cast<std::size_t>(i)] == i;
        CHECK(all);
      }
    }
    CHECK(got == first_result);
    CHECK(order == first_order);
  }
}

template <class T>
void check_first(pattern p, const row_case& c, std::int64_t k, bool descending, unsigned seed) {
  const runtime::row_layout l{dtype_of<T>, c.rows, c.columns};
  const auto values = sorted_values<T>(p, c.rows * c.columns, seed);
  const auto order = stable_order(values, c.rows, c.columns, descending);
  integers expected;
  for (std::int64_t r = 0; r < c.rows; ++r) {
    integers row(order.begin() + r * c.columns, order.begin() + r * c.columns + k);
    if (!algorithms().orders_first(l, k)) std::sort(row.begin(), row.end());
    expected.insert(expected.end(), row.begin(), row.end());
  }
  CAPTURE(name(l.type));
  CAPTURE(name_of(p));
  CAPTURE(c.columns);
  CAPTURE(k);
  CAPTURE(descending);
  cpu_test::settings restore;
  for (int threads : thread_counts) {
    runtime::set_thread_count(threads);
    CHECK(first(l, descending, k, bytes_of(values)) == expected);
  }
}

}  // namespace

TEST_CASE("partition: every dtype and pattern, at one rank and at several") {
  unsigned seed = 0;
  for (dtype t : all_dtypes())
    with_element(t, [&]<class T>(T) {
      for (pattern p : all_patterns)
        for (const auto& c : partition_cases) {
          ++seed;
          if ((c.rows * c.columns > 1024 && seed % 5 != 0) || (c.columns > 5000 && seed % 25 != 0)) continue;
          const std::int64_t n = c.columns;
          const std::vector<integers> ranks{{n / 2}, {0}, {n - 1}, {0, n - 1}, {n / 3, n / 3 + 1, n - 1}};
          integers kth = ranks[seed % ranks.size()];
          kth.erase(std::unique(kth.begin(), kth.end()), kth.end());
          check_partition<T>(p, c, kth, seed);
        }
    });
}

TEST_CASE("the first elements are those of a stable sort, in both directions") {
  unsigned seed = 0;
  for (dtype t : all_dtypes())
    with_element(t, [&]<class T>(T) {
      for (pattern p : all_patterns)
        for (const auto& c : partition_cases) {
          ++seed;
          if ((c.rows * c.columns > 1024 && seed % 5 != 0) || (c.columns > 5000 && seed % 25 != 0)) continue;
          const std::int64_t ranks[] = {1, c.columns - 1, c.columns / 2, std::min<std::int64_t>(64, c.columns - 1)};
          check_first<T>(p, c, ranks[seed % 4], seed % 3 == 0, seed);
        }
    });
}

TEST_CASE("partition: a sample that misleads") {
  // The sampled elements, every 17th or so, are all large.
  const std::int64_t n = 1 << 17;
  std::vector<std::int32_t> v(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    v[static_cast<std::size_t>(i)] = i % 32 == 16 ? 1000000 : static_cast<int>(i * 7919 % 9973);
  const runtime::row_layout l{dtype::i32, 1, n};
  for (const std::int64_t k : {n / 2, n / 10, n - 5})
    CHECK(is_partitioned(elements_of<std::int32_t>(partitioned(l, {k}, bytes_of(v))), {1, n}, {k}));
}
