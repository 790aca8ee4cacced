// Indices that compiled loops check for many lanes together: one that is out of range anywhere is told, at every length.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "jit/cpu/compiled_kernels.hpp"
#include "support/message_of.hpp"

using namespace sinter;
using namespace sinter::idx;
using sinter_test::compiled_kernels;
using sinter_test::on_host;

TEST_CASE("an index out of range among many is told, wherever it is, and none is told where all are in range") {
  const compiled_kernels compiled;
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         most = std::numeric_limits<std::int64_t>::max();
  const ndarray table = on_host(arange(10.0)), places = on_host(arange(10) * 3);
  for (const std::int64_t n : {1, 15, 16, 17, 300, 5000}) {
    std::vector<std::int64_t> in(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k) in[static_cast<std::size_t>(k)] = k % 20 - 10;  // both signs, up to the ends
    const ndarray index = on_host(array(in));
    CHECK(array_equal(take(table, index) * 2 + 1, (index + 10) % 10 * 2.0 + 1));
    CHECK(array_equal(take(places, index) - 1, (index + 10) % 10 * 3 - 1));
    for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1})
      for (const std::int64_t bad : {std::int64_t{10}, std::int64_t{-11}, least, most}) {
        CAPTURE(n);
        CAPTURE(at);
        CAPTURE(bad);
        std::vector<std::int64_t> some = in;
        some[static_cast<std::size_t>(at)] = bad;
        const ndarray wrong = on_host(array(some));
        const std::string told = "index " + std::to_string(bad) + " is out of range for axis 0 with extent 10";
        const auto message =
            sinter_test::message_of<index_error>([&] { (take(table, wrong) * 2 + 1).to_vector<double>(); });
        CHECK_MESSAGE(message.find(told) != std::string::npos, message);
        // The result may lie where the indices did.
        const auto in_place = sinter_test::message_of<index_error>([&] {
          ndarray x = wrong.copy();
          eval(x);
          x(_) = take(places, x) + 1;
          x.to_vector<std::int64_t>();
        });
        CHECK_MESSAGE(in_place.find(told) != std::string::npos, in_place);
      }
  }
}

TEST_CASE("of two axes the one with the index out of range is told") {
  const compiled_kernels compiled;
  const ndarray m = on_host(arange(12.0).reshape({3, 4})), good = on_host(arange(400) % 3);
  const ndarray bad = on_host(where(on_host(arange(400)) == 399, 4, good));
  const auto first = sinter_test::message_of<index_error>([&] { (m(bad, good) + 1).to_vector<double>(); });
  CHECK_MESSAGE(first.find("index 4 is out of range for axis 0 with extent 3") != std::string::npos, first);
  const auto second = sinter_test::message_of<index_error>([&] { (m(good, bad) + 1).to_vector<double>(); });
  CHECK_MESSAGE(second.find("index 4 is out of range for axis 1 with extent 4") != std::string::npos, second);
  CHECK(array_equal(m(good, good) + 1, good * 5.0 + 1));
}

TEST_CASE("elements of one and two bytes are read by checked indices of lanes") {
  const compiled_kernels compiled;
  for (const dtype t : {uint8, bool_, int16}) {
    CAPTURE(name(t));
    const ndarray table = on_host((arange(1000) * 7 % 101).astype(t)), wide = on_host(table.astype(int32));
    for (const std::int64_t n : {1, 16, 255, 300, 20000}) {
      CAPTURE(n);
      const ndarray i = on_host((arange(n) * 31 % 2000 - 1000).astype(int32)), j = on_host(arange(n) * 17 % 1000);
      CHECK(array_equal(take(table, i).astype(int32), take(wide, i)));
      CHECK(
          array_equal((take(table, i) == take(table, j)).astype(int8), (take(wide, i) == take(wide, j)).astype(int8)));
      CHECK(array_equal(take(table, i).astype(int32) * 2 + take(wide, j), take(wide, i) * 2 + take(wide, j)));
      CHECK(float(mean(take(table, i) == take(table, j))) == float(mean(take(wide, i) == take(wide, j))));
      // An index that is looked up itself.
      CHECK(array_equal(take(table, take(on_host(table.astype(int64)), j)).astype(int32), take(wide, take(wide, j))));
      const ndarray bad = on_host(where(arange(n) == n - 1, 1000, j));
      const auto told =
          sinter_test::message_of<index_error>([&] { (take(table, bad) == take(table, j)).to_vector<bool>(); });
      CHECK_MESSAGE(told.find("index 1000 is out of range for axis 0 with extent 1000") != std::string::npos, told);
    }
    const std::string text = explain(take(table, on_host(arange(20000) % 1000)) == 3, {.source = true});
    CHECK(text.find("for (int l = 0; l < n; ++l) t") != std::string::npos);
  }
}
