// Sorting and selection on the CPU: every dtype against the standard library's stable sort, the same bits for any
// number of threads, nothing written but the result, scratch memory within its bounds.
#include "backends/cpu/kernels/hooks.hpp"  // clang takes namespace sinter::cpu only before the device of that name

#include "runtime/hooks.hpp"
#include "sinter/error.hpp"
#include "support/algorithm_cases.hpp"
#include "support/cpu_harness.hpp"

using namespace algorithm_cases;

namespace {

backend& the_cpu() { return runtime::get_backend({}); }
runtime::algorithms& algorithms() { return the_cpu().algorithms(); }

const int thread_counts[] = {1, 2, 7};

bytes sorted(const runtime::row_layout& l, bool descending, const bytes& values) {
  guarded_memory data(the_cpu(), values), scratch(the_cpu(), algorithms().sort_scratch(l));
  const guarded_memory apart(the_cpu(), values.size());
  algorithms().sort(l, descending, data.data(), apart.data(), scratch.data());
  CHECK(data.download() == values);
  algorithms().sort(l, descending, data.data(), data.data(), scratch.data());
  CHECK(apart.download() == data.download());
  return data.download();
}

std::vector<std::int64_t> positions(const runtime::row_layout& l, bool descending, const bytes& values) {
  guarded_memory keys(the_cpu(), values), scratch(the_cpu(), algorithms().argsort_scratch(l));
  guarded_memory result(the_cpu(), static_cast<std::size_t>(l.rows * l.columns) * 8);
  algorithms().argsort(l, descending, keys.data(), result.as<std::int64_t>(), scratch.data());
  CHECK(keys.download() == values);
  return result.download_as<std::int64_t>();
}

template <class T>
void check_rows(pattern p, const row_case& c, bool descending, unsigned seed) {
  const runtime::row_layout l{dtype_of<T>, c.rows, c.columns};
  const auto values = sorted_values<T>(p, c.rows * c.columns, seed);
  const bytes data = bytes_of(values);
  CAPTURE(name(l.type));
  CAPTURE(name_of(p));
  CAPTURE(c.rows);
  CAPTURE(c.columns);
  CAPTURE(descending);
  const double size = static_cast<double>(data.size()), count = static_cast<double>(values.size());
  CHECK(static_cast<double>(algorithms().sort_scratch(l)) <= 1.2 * size);
  CHECK(static_cast<double>(algorithms().argsort_scratch(l)) <= 1.2 * size + 4 * count);
  cpu_test::settings restore;
  std::vector<std::int64_t> order;
  for (int threads : thread_counts) {
    CAPTURE(threads);
    runtime::set_thread_count(threads);
    const auto got = positions(l, descending, data);
    if (threads == 1) {
      order = got;
      CHECK(is_stable_order(values, c.rows, c.columns, descending, order));
      if (values.size() < 20000) CHECK(order == stable_order(values, c.rows, c.columns, descending));
    }
    CHECK(got == order);
    CHECK(sorted(l, descending, data) == bytes_of(gathered(values, c.columns, order)));
  }
}

}  // namespace

TEST_CASE("sort and argsort: every dtype, pattern and direction, by rows of any length") {
  unsigned seed = 0;
  for (dtype t : all_dtypes())
    with_element(t, [&]<class T>(T) {
      for (pattern p : all_patterns)
        for (const auto& c : sort_cases)
          for (bool descending : {false, true}) check_rows<T>(p, c, descending, ++seed);
    });
}

TEST_CASE("sort and argsort: long rows, that all threads work on together") {
  unsigned seed = 0;
  for (dtype t : all_dtypes())
    with_element(t, [&]<class T>(T) {
      for (pattern p : {pattern::numbers, pattern::few, pattern::outliers})
        for (const auto& c : long_sort_cases) {
          ++seed;
          check_rows<T>(p, c, seed % 2 == 0, seed);
        }
    });
}

TEST_CASE("argsort: long runs of keys that differ in their last bits only") {
  // A record holds fewer bits than such keys differ in, so what it leaves out decides.
  const std::int64_t n = 150000;
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> integers(n);
  std::vector<std::complex<double>> numbers(n);
  for (std::size_t i = 0; i < integers.size(); ++i) {
    integers[i] = (random() % 2) << 63 | random() % 5000;
    numbers[i] = {random() % 3 == 0 ? 1.0 : 2.0, 1.0 + static_cast<double>(random() % 4) * 0x1p-52};
  }
  cpu_test::settings restore;
  for (int threads : thread_counts)
    for (bool descending : {false, true}) {
      runtime::set_thread_count(threads);
      CHECK(is_stable_order(integers, 1, n, descending, positions({dtype::u64, 1, n}, descending, bytes_of(integers))));
      CHECK(is_stable_order(numbers, 1, n, descending, positions({dtype::c128, 1, n}, descending, bytes_of(numbers))));
    }
}

TEST_CASE("the order of random keys is that of a stable sort, also of keys that are not random") {
  std::mt19937_64 random(8);
  cpu_test::settings restore;
  for (const std::int64_t n : {1, 4095, 4096, 5000, 150001, 2100000})
    for (const int kind : {0, 1, 2, 3, 4}) {
      CAPTURE(n);
      CAPTURE(kind);
      std::vector<std::uint64_t> keys(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::uint64_t r = random();
        // random; few different; all in one part; differing in bits that a record leaves out; all the same
        keys[i] = kind == 0   ? r
                  : kind == 1 ? r % 7 << 61
                  : kind == 2 ? r >> 20
                  : kind == 3 ? r % 3 << 62 | r % 5000
                              : 5u;
      }
      for (const int threads : thread_counts) {
        runtime::set_thread_count(threads);
        guarded_memory data(the_cpu(), bytes_of(keys)), scratch(the_cpu(), algorithms().random_order_scratch(n));
        guarded_memory result(the_cpu(), static_cast<std::size_t>(n) * 8);
        algorithms().random_order(n, data.as<std::uint64_t>(), result.as<std::int64_t>(), scratch.data());
        const std::vector<std::int64_t> order = result.download_as<std::int64_t>();
        CHECK(is_stable_order(keys, 1, n, false, order));
        for (const std::int64_t count : {std::int64_t{1}, n / 2, n - n / 100, n}) {
          CAPTURE(count);
          guarded_memory firsts(the_cpu(), static_cast<std::size_t>(n) * 8);
          algorithms().random_order_first(n, count, data.as<std::uint64_t>(), firsts.as<std::int64_t>(),
                                          scratch.data());
          const std::vector<std::int64_t> got = firsts.download_as<std::int64_t>();
          CHECK(std::equal(order.begin(), order.begin() + count, got.begin()));
        }
      }
    }
}

TEST_CASE("sort: zeros and NaNs keep their bits and their order") {
  const auto nan = std::bit_cast<double>(0x7ff8000000000123u), minus_nan = std::bit_cast<double>(0xfff8000000000456u);
  const std::vector<double> values{nan, 0.0, -0.0, minus_nan, 1.0, -0.0, 0.0, -1.0};
  const std::vector<double> up{-1.0, 0.0, -0.0, -0.0, 0.0, 1.0, nan, minus_nan};
  const std::vector<double> down{nan, minus_nan, 1.0, 0.0, -0.0, -0.0, 0.0, -1.0};
  CHECK(sorted({dtype::f64, 1, 8}, false, bytes_of(values)) == bytes_of(up));
  CHECK(sorted({dtype::f64, 1, 8}, true, bytes_of(values)) == bytes_of(down));
}

TEST_CASE("sort: complex numbers as NumPy sorts them") {
  using c = std::complex<float>;
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<c> order{{-inf, inf}, {-1, 2},  {-1, 3},   {0, -1},  {-0.0f, 1}, {inf, -inf},
                             {-2, nan},   {5, nan}, {nan, -3}, {nan, 4}, {nan, nan}};
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    auto values = order;
    std::shuffle(values.begin(), values.end(), random);
    const bytes got = sorted({dtype::c64, 1, static_cast<std::int64_t>(values.size())}, false, bytes_of(values));
    CHECK(got == bytes_of(order));
  }
}

namespace {

/// Flags of which about one in `every` is set; none for 0.
std::vector<bool> make_flags(std::int64_t n, unsigned every, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<bool> flags(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < flags.size(); ++i) flags[i] = every && random() % every == 0;
  return flags;
}

/// What `select(selection, result, scratch)` writes to memory of exactly `count` elements of `size` bytes.
template <class Select>
bytes selected(const runtime::selection& s, std::int64_t count, std::size_t size, const Select& select) {
  const guarded_memory result(the_cpu(), static_cast<std::size_t>(count) * size);
  const guarded_memory scratch(the_cpu(), algorithms().select_scratch(s));
  CHECK(*algorithms().count_selected(s, scratch.data()) == count);
  select(s, result.data(), scratch.data());
  return result.download();
}

void check_select(std::int64_t n, const std::vector<bool>& flags) {
  CAPTURE(n);
  const guarded_memory on_device(the_cpu(), bytes_of(flags));
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < n; ++i)
    if (flags[static_cast<std::size_t>(i)]) places.push_back(i);
  const auto count = static_cast<std::int64_t>(places.size());
  const runtime::selection all{n, 0, nullptr, on_device.as<const bool>()};
  cpu_test::settings restore;
  for (int threads : thread_counts) {
    runtime::set_thread_count(threads);
    const auto write_positions = [](const runtime::selection& s, void* to, const void* scratch) {
      algorithms().select_positions(s, static_cast<std::int64_t*>(to), scratch);
    };
    CHECK(bytes_of(places) == selected(all, count, 8, write_positions));
    for (int size : {1, 2, 4, 8, 16}) {
      const auto width = static_cast<std::size_t>(size);
      std::mt19937_64 random(9);
      bytes values(static_cast<std::size_t>(n) * width), expected;
      for (auto& v : values) v = static_cast<unsigned char>(random());
      for (auto i : places)
        expected.insert(expected.end(), &values[static_cast<std::size_t>(i) * width],
                        &values[static_cast<std::size_t>(i) * width] + width);
      const guarded_memory data(the_cpu(), values);
      const auto write = [&](const runtime::selection& s, void* to, const void* scratch) {
        algorithms().select(s, size, data.data(), to, scratch);
      };
      CHECK(expected == selected(all, count, width, write));
    }
  }
}

}  // namespace

TEST_CASE("select: elements of every size and their positions, none, some or all of them") {
  for (std::int64_t n : lengths)
    for (unsigned every : {0u, 1u, 2u, 1000u}) {
      if (n == 0) continue;
      if (n > 10000 && every == 1) continue;
      check_select(n, make_flags(n, every, static_cast<unsigned>(n) + every));
    }
  std::vector<bool> last(200000);
  last.back() = true;
  check_select(200000, last);
  last.flip();
  check_select(200000, last);
}
