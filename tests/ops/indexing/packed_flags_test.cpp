// Flags packed into bits for selections: the recorded expression gives the words that the algorithms read.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "graph/run/array.hpp"
#include "ops/base/access.hpp"
#include "ops/indexing/select.hpp"
#include "runtime/algorithms/algorithms.hpp"
#include "sinter/sinter.hpp"

namespace {

using namespace sinter;

std::vector<float> random_numbers(std::int64_t n) {
  std::vector<float> x(static_cast<std::size_t>(n));
  std::mt19937 random(static_cast<unsigned>(n));
  for (float& v : x) v = static_cast<float>(random() % 1000);
  return x;
}

/// As runtime::selection says.
std::vector<std::uint32_t> words_of(const std::vector<bool>& flags, std::int64_t packed) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(packed / 32));
  for (std::int64_t k = 0; k < packed; ++k) {
    const std::int64_t t = k / runtime::flags_of_tile, in_tile = k % runtime::flags_of_tile;
    if (flags[static_cast<std::size_t>(k)])
      words[static_cast<std::size_t>(t * 32 + in_tile % 32)] |= std::uint32_t{1} << (in_tile / 32);
  }
  return words;
}

void check(const ndarray& mask, std::int64_t expected_packed) {
  const auto bools = mask.to_vector<bool>();
  const ops::packed_flags p = ops::pack_flags(ops::value_of(mask));
  CHECK(p.packed == expected_packed);
  CHECK((p.words ? ops::wrap(p.words).to_vector<std::uint32_t>() : std::vector<std::uint32_t>()) ==
        words_of(bools, expected_packed));
  CHECK((p.rest ? ops::wrap(p.rest).to_vector<bool>() : std::vector<bool>()) ==
        std::vector<bool>(bools.begin() + expected_packed, bools.end()));
}

}  // namespace

TEST_CASE("flags are packed in tiles; what fills no tile stays bools") {
  for (const std::int64_t n : {1, 1023, 1024, 1025, 5000, 8192}) {
    const ndarray x = array(random_numbers(n));
    check(x > 500, n / 1024 * 1024);
    check(reshape(x, {1, 1, n}) > 500, n / 1024 * 1024);
  }
  const ndarray table = reshape(array(random_numbers(6 * 2048)), {2, 3, 2048});
  check(table > 500, 6 * 2048);
  check((table > 500) & (table(0, 0) < 900), 6 * 2048);  // one row for all
  check(reshape(table, {2048, 6}) > 500, 0);
  check(table.T() > 500, 0);
  check(reshape(table, {12, 1024})(slice(3, 9)) > 500, 6 * 1024);
  check(array(true), 0);
}

TEST_CASE("packing is one kernel over what the flags are computed from") {
  const ndarray x = reshape(array(random_numbers(4096)), {2, 2048});
  eval(x);
  const ndarray mask = (x * 2 > 500) & (x < 900);
  runtime::backend& device = runtime::get_backend(runtime::default_device());
  const auto before = device.statistics().launches;
  eval(ops::wrap(ops::pack_flags(ops::value_of(mask)).words));
  CHECK(device.statistics().launches - before == 1);
}
