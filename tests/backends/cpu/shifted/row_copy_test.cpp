// Copies of rows of neighbouring elements: slices, rolls and joined parts against loops on the host.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sinter/sinter.hpp"

namespace sn = sinter;
using namespace sinter;
using namespace sinter::idx;

namespace {

constexpr std::int64_t rows = 37;

/// Numbers that every dtype but bool has.
ndarray small_numbers(std::int64_t columns, sn::dtype type) {
  const ndarray i = sn::arange(rows * columns, {.dtype = sn::int64});
  ndarray x = sn::reshape((i * 7 % 113).astype(type), {rows, columns});
  sn::eval(x);
  return x;
}

std::vector<double> numbers_of(const ndarray& x) {
  return sn::ravel(is_complex(x.dtype()) ? x.real() : x).astype(sn::float64).tolist<double, 1>();
}

}  // namespace

TEST_CASE("row copies: rolls and slices of every dtype, of short and long rows, have the source's elements") {
  for (const sn::dtype type :
       {sn::int8, sn::uint16, sn::float16, sn::bfloat16, sn::float32, sn::int64, sn::complex64, sn::complex128})
    for (const std::int64_t columns : {3, 15, 16, 17, 64, 65, 501}) {
      CAPTURE(std::string(sn::name(type)));
      CAPTURE(columns);
      const ndarray x = small_numbers(columns, type);
      const std::vector<double> from = numbers_of(x);
      const auto at = [&](std::int64_t r, std::int64_t c) {
        return from[static_cast<std::size_t>((r + rows) % rows * columns + (c + columns) % columns)];
      };
      const ndarray rolled = sn::roll(x, {3, -2}, {0, 1}), inner = x(slice(1, -1), slice(1, -1)).copy(),
                    reversed = x(slice(_, _, -1)).copy(), repeated = sn::broadcast_to(x(2), {5, columns}).copy(),
                    some = x(slice(1, _, 3)).copy();
      const std::vector<double> a = numbers_of(rolled), b = numbers_of(inner), c = numbers_of(reversed),
                                d = numbers_of(repeated), e = numbers_of(some);
      bool equal[5] = {true, true, true, true, true};
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t k = 0; k < columns; ++k) {
          equal[0] = equal[0] && a[static_cast<std::size_t>(r * columns + k)] == at(r - 3, k + 2);
          if (r < rows - 2 && k < columns - 2)
            equal[1] = equal[1] && b[static_cast<std::size_t>(r * (columns - 2) + k)] == at(r + 1, k + 1);
          equal[2] = equal[2] && c[static_cast<std::size_t>(r * columns + k)] == at(rows - 1 - r, k);
          if (r < 5) equal[3] = equal[3] && d[static_cast<std::size_t>(r * columns + k)] == at(2, k);
          if (3 * r + 1 < rows) equal[4] = equal[4] && e[static_cast<std::size_t>(r * columns + k)] == at(3 * r + 1, k);
        }
      for (const bool ok : equal) CHECK(ok);
    }
}

TEST_CASE("row copies: long rows are copied in pieces, and parts of an array into itself by their old elements") {
  const std::int64_t n = 300001;
  const ndarray x = sn::arange(n, {.dtype = sn::int64}), moved = sn::roll(x, 70000);
  CHECK(std::int64_t(moved(0)) == n - 70000);
  CHECK(bool(sn::all(moved(slice(70000, _)) == x(slice(_, n - 70000)))));
  CHECK(bool(sn::all(moved(slice(_, 70000)) == x(slice(n - 70000, _)))));
  ndarray y = x.copy();
  y(slice(1, _)) = y(slice(_, -1));
  CHECK(std::int64_t(y(0)) == 0);
  CHECK(bool(sn::all(y(slice(1, _)) == x(slice(_, -1)))));
  ndarray z = sn::reshape(sn::arange(400, {.dtype = sn::int64}), {4, 100}).copy();
  z(slice(1, _)) = z(slice(_, -1));
  CHECK(std::int64_t(z(3, 5)) == 205);
  CHECK(std::int64_t(z(1, 5)) == 5);
}
