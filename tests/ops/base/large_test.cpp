// More than 2^31 elements and indices: index arithmetic must be 64 bits wide where it has to be.
#include <doctest/doctest.h>

#include "runtime/backend.hpp"
#include "sinter/sinter.hpp"

namespace {

using namespace sinter;

bool on_gpu() { return default_device().kind == device_kind::cuda; }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

/// The reason is written where a case is left out.
bool has_time() {
  if (!is_sanitized) return true;
  MESSAGE("left out: billions of elements take minutes under a sanitizer");
  return false;
}
bool has_memory(std::size_t bytes) {
  const auto available = runtime::get_backend(runtime::default_device()).memory().available;
  if (available >= bytes) return true;
  MESSAGE("left out: needs " << (bytes >> 30) << " GiB of memory, " << (available >> 20) << " MiB are free");
  return false;
}

/// k % 100 as int8, for k in [0, n), with one element replaced.
ndarray sawtooth(std::int64_t n, std::int64_t at, int value) {
  ndarray x = (arange(n) % 100).astype(int8);
  x(at) = value;
  return x;
}

constexpr std::int64_t side = 65536;

}  // namespace

TEST_CASE("a reduction over 65536 x 65536 broadcast elements, 2^32 indices, needs no memory") {
  if (!has_time()) return;
  const ndarray rows = sawtooth(side, 65530, 120)(idx::_, idx::newaxis), columns = sawtooth(side, 65533, 7);
  auto& backend = runtime::get_backend(runtime::default_device());
  const auto before = backend.memory().used;
  // The largest value is in row 65530, first where the column's is 99: index 65530 * 2^16 + 99 > 2^31.
  const ndarray where_largest = argmax(bitwise_and(rows, 127) + bitwise_and(columns, 1));
  CHECK(std::int64_t(where_largest) == 65530 * side + 1);
  const ndarray count = count_nonzero(rows == columns);
  // Rows and columns hold k % 100 with k < 65536: 656 times each of 0 to 35, 655 times each of 36 to 99; then one of
  // the 30 (65530 % 100) became 120, and one of the columns' 33 (65533 % 100) became 7.
  std::int64_t expected = 0;
  for (std::int64_t v = 0; v < 100; ++v) {
    const std::int64_t n = v < 36 ? 656 : 655;
    expected += (n - (v == 30)) * (n - (v == 33) + (v == 7));
  }
  CHECK(std::int64_t(count) == expected);
  CHECK(backend.memory().used < before + (std::size_t{1} << 20));
}

TEST_CASE("a sum of 2^32 broadcast elements, by rows and whole, is exact in integers") {
  if (!has_time()) return;
  // On the CPU, which takes a nanosecond for each, just more than 2^31 of them.
  const std::int64_t n = on_gpu() ? side : 46342;
  const ndarray rows = (arange(n) % 5).astype(int8)(idx::_, idx::newaxis), columns = (arange(n) % 3).astype(int8);
  const auto sum_of = [n](std::int64_t m) {
    std::int64_t s = 0;
    for (std::int64_t k = 0; k < n; ++k) s += k % m;
    return s;
  };
  const ndarray by_row = sum(rows + columns, {.axis = 1});
  CHECK(std::int64_t(sum(by_row)) == n * (sum_of(5) + sum_of(3)));
  CHECK(std::int64_t(by_row(n - 1)) == n * ((n - 1) % 5) + sum_of(3));
  if (!on_gpu()) return;
  CHECK(std::int64_t(sum(rows + columns)) == n * (sum_of(5) + sum_of(3)));
  CHECK(std::int64_t(sum(rows * columns)) == sum_of(5) * sum_of(3));
  CHECK(std::int64_t(sum(sum(rows + columns, {.axis = 0}))) == n * (sum_of(5) + sum_of(3)));
}

TEST_CASE("elementwise work on more than 2^31 elements of int8 and bool" * doctest::test_suite("alone")) {
  if (!has_time() || !has_memory(std::size_t{8} << 30)) return;
  const std::int64_t n = (std::int64_t{1} << 31) + 1031;
  ndarray x = full({n}, 3, {.dtype = int8});
  x(n - 2) = 9;
  const ndarray y = x * 2 + 1;
  CHECK(int(y(0)) == 7);
  CHECK(int(y(n - 2)) == 19);
  CHECK(int(y(n - 1)) == 7);
  CHECK(std::int64_t(argmax(y)) == n - 2);
  if (!on_gpu()) return;
  const ndarray odd = y == 19;
  eval(odd);
  CHECK(std::int64_t(count_nonzero(odd)) == 1);
  // Strided, both ways, and written through views beyond 2^31.
  x(slice(n - 7, n - 3)) += 4;
  const ndarray backwards = x(slice(none_t{0}, none_t{0}, -1)) - 1;
  CHECK(backwards(slice(0, 8)).to_vector<int>() == std::vector<int>{2, 8, 2, 6, 6, 6, 6, 2});
  CHECK(std::int64_t(sum(x(slice(1, none_t{0}, 2)))) == 3 * ((n - 1) / 2) + 4 * 2 + 6 * ((n - 2) % 2));
}
