// Elements of a few ranks of rows on the CPU: what a sort puts there, the same bits for any number of threads, nothing
// written but the result.
#include "backends/cpu/kernels/hooks.hpp"  // clang takes namespace sinter::cpu only before the device of that name

#include <numeric>

#include "runtime/hooks.hpp"
#include "support/algorithm_cases.hpp"
#include "support/cpu_harness.hpp"

using namespace algorithm_cases;

namespace {

using integers = std::vector<std::int64_t>;

backend& the_cpu() { return runtime::get_backend({}); }
runtime::algorithms& algorithms() { return the_cpu().algorithms(); }

template <class T>
std::vector<T> found(const runtime::row_layout& l, const integers& kth, const bytes& values) {
  guarded_memory from(the_cpu(), values), to(the_cpu(), static_cast<std::size_t>(l.rows) * kth.size() * sizeof(T));
  guarded_memory scratch(the_cpu(), algorithms().find_ranks_scratch(l, static_cast<std::int64_t>(kth.size())));
  algorithms().find_ranks(l, kth, from.data(), to.data(), scratch.data());
  CHECK(from.download() == values);
  const bytes got = to.download();
  std::vector<T> out(got.size() / sizeof(T));
  for (std::size_t i = 0; i < out.size(); ++i) {
    T x{};
    std::memcpy(static_cast<void*>(&x), &got[i * sizeof(T)], sizeof(T));
    out[i] = x;
  }
  return out;
}

template <class T>
void check(const std::vector<T>& values, const row_case& c, const integers& kth) {
  const runtime::row_layout l{dtype_of<T>, c.rows, c.columns};
  REQUIRE(static_cast<std::int64_t>(kth.size()) <= algorithms().most_ranks(l));
  const auto order = stable_order(values, c.rows, c.columns, false);
  CAPTURE(name(l.type));
  CAPTURE(c.rows);
  CAPTURE(c.columns);
  CAPTURE(kth.size());
  cpu_test::settings restore;
  bytes first;
  for (const int threads : {1, 2, 7}) {
    runtime::set_thread_count(threads);
    const auto got = found<T>(l, kth, bytes_of(values));
    bool right = true;
    for (std::int64_t r = 0; r < c.rows; ++r)
      for (std::size_t k = 0; k < kth.size(); ++k) {
        const auto at =
            static_cast<std::size_t>(r * c.columns + order[static_cast<std::size_t>(r * c.columns + kth[k])]);
        const T wanted = values[at], x = got[static_cast<std::size_t>(r) * kth.size() + k];
        right = right && !sorts_before(wanted, x) && !sorts_before(x, wanted);
      }
    CHECK(right);
    if (threads == 1) first = bytes_of(got);
    CHECK(bytes_of(got) == first);
  }
}

}  // namespace

TEST_CASE("ranks: every dtype and pattern, near each other, at the ends, and all over the rows") {
  unsigned seed = 0;
  for (dtype t : all_dtypes())
    with_element(t, [&]<class T>(T) {
      for (pattern p : all_patterns)
        for (const row_case& c : {row_case{5, 40}, {3, 1500}, {2, 4096}, {1, 9000}, {1, 70001}, {3, 66000}}) {
          ++seed;
          if (c.columns > 1000 && seed % 7 != 0) continue;
          const std::int64_t n = c.columns;
          const std::vector<integers> ranks{{n / 2 - 1, n / 2, n - 1},
                                            {0, n - 1},
                                            {n / 100, n / 2, n - 2, n - 1},
                                            {n / 10, n / 5, n / 2, 3 * n / 4, n - 1},
                                            {n / 3}};
          check(sorted_values<T>(p, c.rows * c.columns, seed), c, ranks[seed % (n < 50 ? 2 : ranks.size())]);
        }
    });
}

TEST_CASE(
    "ranks of short rows side by side: every dtype and pattern, whole groups of rows and others, any number of ranks") {
  unsigned seed = 0;
  for (dtype t : all_dtypes())
    with_element(t, [&]<class T>(T) {
      for (pattern p : all_patterns)
        for (const row_case& c :
             {row_case{16, 1}, {33, 2}, {70, 9}, {17, 16}, {40, 25}, {19, 127}, {34, 128}, {17, 200}, {33, 256}}) {
          const std::int64_t n = c.columns, most = algorithms().most_ranks({t, c.rows, n});
          const bool is_small = !is_complex(t) && t != dtype::f16 && t != dtype::bf16;
          CHECK(most == (is_small ? n : n / 8));
          integers all(static_cast<std::size_t>(n));
          std::iota(all.begin(), all.end(), 0);
          const std::vector<T> values = sorted_values<T>(p, c.rows * n, ++seed);
          for (const integers& kth : {all, integers{n / 2}, n > 1 ? integers{(n - 1) / 2, n - 1} : integers{0}})
            if (static_cast<std::int64_t>(kth.size()) <= most) check(values, c, kth);
        }
    });
  CHECK(algorithms().most_ranks({dtype::f64, 40, 257}) == 257 / 8);  // longer, and fewer than a plane's lanes
  CHECK(algorithms().most_ranks({dtype::f64, 15, 40}) == 5);
}

TEST_CASE("ranks: samples that mislead, and keys at the edges of runs") {
  const std::int64_t n = 1 << 17;
  std::vector<std::int32_t> v(static_cast<std::size_t>(n));
  // The sampled elements, every 32nd, are all large; then all but those are equal.
  for (std::int64_t i = 0; i < n; ++i)
    v[static_cast<std::size_t>(i)] = i % 32 == 16 ? 1000000 : static_cast<int>(i * 7919 % 9973);
  for (const std::int64_t k : {std::int64_t{0}, n / 2, n / 10, n - 5}) check(v, {1, n}, {k});
  for (std::int64_t i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = i % 32 == 16 ? 5 : static_cast<int>(i % 7);
  check(v, {1, n}, {0, n / 2, n - 1});
  // Few elements beyond a run that reaches over both ends of the sample.
  for (std::int64_t i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = i % 4096 == 3 ? -1 : i % 4096 == 5 ? 9 : 4;
  check(v, {1, n}, {0, 31, 32, n - 33, n - 32, n - 1});
  check(v, {1, n}, {31, 32});
  check(v, {1, n}, {n - 33, n - 32});
}

TEST_CASE("ranks of each row's own: those of a sort, with NaNs in some rows, all and none") {
  cpu_test::settings restore;
  for (const dtype t : {dtype::f16, dtype::bf16, dtype::f32, dtype::f64})
    with_element(t, [&]<class T>(T) {
      for (const row_case& c : {row_case{7, 3}, {6, 40}, {5, 1000}, {4, 1025}, {3, 9000}, {64, 100}}) {
        const runtime::row_layout l{t, c.rows, c.columns};
        CAPTURE(name(t));
        CAPTURE(c.columns);
        REQUIRE(algorithms().finds_own_ranks(l));
        for (unsigned seed = 0; seed < 4; ++seed) {
          std::mt19937 random(seed);
          std::vector<T> values =
              sorted_values<T>(all_patterns[seed % std::size(all_patterns)], c.rows * c.columns, seed);
          for (std::size_t i = 0; i < values.size(); ++i) {
            const auto row = static_cast<std::int64_t>(i) / c.columns;
            if (row % 3 == 2 || (row % 3 == 1 && random() % 4 == 0))
              values[i] = T(std::numeric_limits<float>::quiet_NaN());
          }
          const std::int64_t count = 5;
          std::vector<std::int64_t> ranks;
          for (std::int64_t k = 0; k < c.rows * count; ++k)
            ranks.push_back(k % 5 == 0 ? c.columns - 1
                                       : static_cast<std::int64_t>(random() % static_cast<unsigned>(c.columns)));
          const auto order = stable_order(values, c.rows, c.columns, false);
          for (const int threads : {1, 2, 7}) {
            runtime::set_thread_count(threads);
            guarded_memory from(the_cpu(), bytes_of(values)), at(the_cpu(), bytes_of(ranks));
            guarded_memory to(the_cpu(), static_cast<std::size_t>(c.rows * count) * sizeof(T));
            guarded_memory scratch(the_cpu(), algorithms().own_ranks_scratch(l));
            algorithms().find_own_ranks(l, count, at.as<std::int64_t>(), from.data(), to.data(), scratch.data());
            CHECK(from.download() == bytes_of(values));
            const bytes got = to.download();
            bool right = true;
            for (std::size_t k = 0; k < ranks.size(); ++k) {
              T x{};
              std::memcpy(static_cast<void*>(&x), &got[k * sizeof(T)], sizeof(T));
              const std::int64_t first = static_cast<std::int64_t>(k) / count * c.columns;
              const T wanted =
                  values[static_cast<std::size_t>(first + order[static_cast<std::size_t>(first + ranks[k])])];
              right = right && !sorts_before(wanted, x) && !sorts_before(x, wanted);
            }
            CHECK(right);
          }
        }
      }
    });
  CHECK_FALSE(algorithms().finds_own_ranks({dtype::f64, 1, 1000}));
  CHECK_FALSE(algorithms().finds_own_ranks({dtype::i32, 4, 1000}));
}
