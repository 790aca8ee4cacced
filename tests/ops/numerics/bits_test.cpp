// Packed bits of arrays that are large enough for words, beside those of a loop; what is shared with them stays as it is.
#include <doctest/doctest.h>

#include "sinter/polynomial_fit.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

/// By NumPy's definition.
std::vector<std::uint8_t> packed(const std::vector<std::uint8_t>& on, bool big) {
  std::vector<std::uint8_t> bytes((on.size() + 7) / 8);
  for (std::size_t k = 0; k < on.size(); ++k)
    if (on[k]) bytes[k / 8] |= static_cast<std::uint8_t>(big ? 128 >> k % 8 : 1 << k % 8);
  return bytes;
}

}  // namespace

TEST_CASE("packed bits: every length near a word, every dtype and order") {
  for (const std::int64_t n : {4095, 4096, 4097, 4103, 4104, 20000}) {
    const ndarray x = (arange(n) * 2654435761 >> 7) % 5 % 2;
    const std::vector<std::uint8_t> on = x.astype(uint8).to_vector<std::uint8_t>();
    for (const bool big : {true, false}) {
      const bits_kw kw{.bitorder = big ? "big" : "little"};
      const std::vector<std::uint8_t> wanted = packed(on, big);
      for (const dtype t : {bool_, uint8, int8, int32, uint64}) {
        const ndarray bytes = packbits((x * (t == bool_ ? 1 : 3)).astype(t), kw);
        CHECK(bytes.dtype() == uint8);
        CHECK(bytes.to_vector<std::uint8_t>() == wanted);
      }
      const ndarray back = unpackbits(array(wanted), kw);
      CHECK(back.dtype() == uint8);
      CHECK(back.shape() == shape_t{(n + 7) / 8 * 8});
      CHECK(array_equal(back(slice(n)), x));
      CHECK_FALSE(bool(any(back(slice(n, _)))));
    }
  }
}

TEST_CASE("packed bits along axes, of slices, and of what is written later") {
  const ndarray table = (arange(100 * 96).reshape(100, 96) * 37 % 11 < 5);
  const ndarray bytes = packbits(table, {.axis = 1}), down = packbits(table, {.axis = 0});
  CHECK(bytes.shape() == shape_t{100, 12});
  CHECK(down.shape() == shape_t{13, 96});
  for (const std::int64_t row : {0, 57, 99}) CHECK(array_equal(bytes(row), packbits(table(row))));
  for (const std::int64_t column : {0, 50}) CHECK(array_equal(down(_, column), packbits(table(_, column))));
  CHECK(array_equal(unpackbits(bytes, {.axis = 1}), table));
  CHECK(array_equal(unpackbits(down, {.axis = 0, .count = 100}), table));
  const ndarray part = table(slice(1, _), slice(8, 88));
  CHECK(array_equal(packbits(part, {.axis = 1}), bytes(slice(1, _), slice(1, 11))));
  // The words are the bools' own memory: writes to either leave the other alone.
  const ndarray on = ones({8192}, bool_);
  on.data<bool>();  // its writes happen at once from here
  const ndarray full = packbits(on);
  on(0) = false;
  CHECK(full(0).item<int>() == 255);
  CHECK(packbits(on)(0).item<int>() == 127);
  const ndarray bits = unpackbits(full), copy = bits.copy();
  bits(slice(8)) = 7;
  CHECK(copy(0).item<int>() == 1);
  CHECK(bits(7).item<int>() == 7);
  CHECK(sum(bits).item<int>() == 8192 + 48);
  const ndarray fours = (arange(8192) % 2 * 4).astype(uint8);
  CHECK(bool(all(packbits(fours.view(bool_)) == 0x55)));
  CHECK(bool(all(packbits((arange(8192) % 2 * -128).astype(int8)) == 0x55)));
  CHECK_THROWS_AS(packbits(on, {.bitorder = "middle"}), value_error);
  CHECK_THROWS_AS(unpackbits(full, {.bitorder = "middle"}), value_error);
}

TEST_CASE("convolutions with some of the shorter vector equal sums of products") {
  for (const std::int64_t m : {31, 32, 33, 51, 64, 65, 256, 257}) {
    const ndarray x = arange(3000) * 7 % 101, y = arange(m) * 5 % 13 - 6;
    for (const char* mode : {"full", "same", "valid"}) {
      const ndarray found = convolve(x, y, mode);
      const ndarray whole = concatenate({zeros({m - 1}, int64), x, zeros({m - 1}, int64)});
      const ndarray all = sum(sliding_window_view(whole, m) * flip(y), 1);
      const std::int64_t before = (all.size() - found.size()) / 2;
      CHECK(array_equal(found, all(slice(before, before + found.size()))));
    }
    CHECK(array_equal(correlate(x, y), sum(sliding_window_view(x, m) * y, 1)));
  }
}

TEST_CASE("fits with covariances and all that was found") {
  const ndarray x = linspace(0, 4, 9), y = 2 * x * x - x + 3;
  const auto [exact, none] = polyfit_cov(x, y, 2);
  CHECK(allclose(exact, array({2, -1, 3})));
  CHECK(bool(all(absolute(none) < 1e-20)));
  const auto full = polyfit_full(x, sin(x), 3);
  CHECK(array_equal(full.coefficients, polyfit(x, sin(x), 3)));
  CHECK(full.rank == 4);
  CHECK(full.residuals.shape() == shape_t{1});
  CHECK(full.s.shape() == shape_t{4});
  CHECK(full.rcond == 9 * 0x1p-52);
  const ndarray two = column_stack({sin(x), cos(x)});
  const auto both = polyfit_cov(x, two, 1);
  CHECK(both.covariance.shape() == shape_t{2, 2, 2});
  CHECK(allclose(both.covariance(_, _, 0), polyfit_cov(x, sin(x), 1).covariance));
  const auto plain = polyfit_cov(x, two, 1, {.scaled = false});
  CHECK(plain.covariance.shape() == shape_t{2, 2, 2});
  CHECK(allclose(plain.covariance(_, _, 1) * full_like(x(0), 1),
                 polyfit_cov(x, sin(x), 1, {.scaled = false}).covariance));
  CHECK_THROWS_AS(polyfit_cov(x(slice(3)), y(slice(3)), 2), value_error);
  CHECK_NOTHROW(polyfit_cov(x(slice(3)), y(slice(3)), 2, {.scaled = false}));
  CHECK_THROWS_AS(polyfit_cov(zeros({5}), ones({5}), 2), linalg_error);
  CHECK_THROWS_AS(polyfit_full(x, y, -1), value_error);
}

TEST_CASE("bits of a few elements, along any axis") {
  for (const dtype t : {bool_, uint8, int8, int32})
    for (const shape_t& shape :
         {shape_t{0}, shape_t{1}, shape_t{13}, shape_t{3, 8}, shape_t{5, 11}, shape_t{2, 3, 17}, shape_t{0, 9}})
      for (const bool big : {true, false})
        for (std::int64_t axis = -1; axis < std::int64_t{shape.ndim()}; ++axis) {
          CAPTURE(name(t));
          CAPTURE(to_string(shape));
          CAPTURE(axis);
          bits_kw kw{.bitorder = big ? "big" : "little"};
          if (axis >= 0) kw.axis = axis;
          std::int64_t n = 1;
          for (const std::int64_t k : shape) n *= k;
          const ndarray x = reshape((arange(n) * 7 % 3).astype(t), shape);
          const ndarray bits = packbits(x, kw);
          CHECK(bits.dtype() == uint8);
          const ndarray rows = axis < 0 ? ravel(x) : moveaxis(x, axis, -1);
          const std::int64_t length = rows.shape(-1);
          const std::vector<bool> on = (rows != 0).to_vector<bool>();
          std::vector<std::uint8_t> wanted;
          for (std::int64_t first = 0; length != 0 && first < n; first += length) {
            const std::vector<std::uint8_t> row(on.begin() + first, on.begin() + first + length);
            for (const std::uint8_t byte : packed(row, big)) wanted.push_back(byte);
          }
          CHECK((axis < 0 ? bits : moveaxis(bits, axis, -1)).to_vector<std::uint8_t>() == wanted);
          bits_kw back = kw;
          back.count = length;
          const ndarray flags = unpackbits(bits, back);
          CHECK(array_equal(flags, axis < 0 ? ravel(x != 0) : x != 0));
        }
}
