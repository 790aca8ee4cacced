// Operands whose lanes are rows of a few elements, as the channels of pixels, and parts of complex numbers that lie apart: generated code
// reads and writes them where they are.
#include <doctest/doctest.h>

#include <complex>
#include <functional>
#include <vector>

#include "backends/cpu/kernels_of.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;
using sinter::test::kernels_of;

namespace {

ndarray count(std::int64_t n) { return arange(n, {.dtype = int64, .device = device("cpu")}); }

ndarray numbers(const shape_t& shape, dtype type, std::int64_t factor = 37) {
  std::int64_t n = 1;
  for (const std::int64_t e : shape) n *= e;
  ndarray x = reshape((count(n) * factor % 101).astype(type), shape);
  eval(x);
  return x;
}

/// The same by generated code and by the interpreter, which copies all lanes one by one.
void check(const std::function<ndarray()>& f) {
  const auto by = [&](cpu::tier t) {
    const kernels_of now(t);
    ndarray x = f();
    eval(x);
    return x;
  };
  const ndarray x = by(cpu::tier::compiled), y = by(cpu::tier::interpreted);
  CHECK(x.dtype() == y.dtype());
  CHECK(array_equal(x, y));
}

const std::vector<dtype> types{uint8, int16, float32, float64};

}  // namespace

TEST_CASE("rows of a few channels are read and written where they lie, by generated code as by the interpreter") {
  for (const dtype t : types)
    for (const std::int64_t pixels : {4099, 9001})
      for (const std::int64_t of : {3, 4, 12})
        for (const std::int64_t row : {2, 3, 12}) {
          if (row > of) continue;
          CAPTURE(name(t));
          CAPTURE(pixels);
          CAPTURE(of);
          CAPTURE(row);
          const ndarray x = numbers({pixels, of}, t), z = numbers({pixels, row}, t, 53), gains = numbers({row}, t, 3);
          const ndarray last = x(_, slice(of - 1, of));
          check([&] { return x(_, slice(_, row)) * last + z; });
          check([&] { return maximum(x(_, slice(_, _, -1))(_, slice(_, row)), z * gains); });
          check([&] { return x(slice(_, _, -1), slice(_, row)) - z; });
          check([&] {
            ndarray w = x.copy();
            w(_, slice(_, row)) = z + w(_, slice(of - 1, of));
            return w;
          });
          check([&] {
            ndarray w = x.copy();
            eval(w);
            w(_, slice(of - row, of)) = w(_, slice(of - row, of)) * gains;
            return w;
          });
          if (t != float32) continue;
          check([&] { return x(_, slice(_, row)) / 3.0f * last; });
          check([&] {
            ndarray w = x.copy();
            eval(w);
            w(_, slice(_, row)) = w(_, slice(_, row)) / 7.0f;
            return w;
          });
        }
}

TEST_CASE("values of pixels' channels are those of channels one by one") {
  const kernels_of now(cpu::tier::compiled);
  const std::int64_t pixels = 20011;
  const ndarray x = numbers({pixels, 4}, uint8);
  const ndarray y = floor_divide(x(_, slice(_, 3)) * x(_, slice(3, 4)).astype(uint16), 7);
  const ndarray shares = x(_, slice(_, 3)) / 7.0f;
  for (std::int64_t p = 0; p < pixels; p += 97)
    for (std::int64_t c = 0; c < 3; ++c) {
      const std::int64_t value = (4 * p + c) * 37 % 101, alpha = (4 * p + 3) * 37 % 101;
      CHECK(y(p, c).item<std::uint16_t>() == value * alpha / 7);
      CHECK(shares(p, c).item<float>() == static_cast<float>(value) / 7.0f);
    }
}

TEST_CASE("rows of a mosaic are read and written at every other place") {
  for (const std::int64_t width : {256, 511, 640}) {
    CAPTURE(width);
    const ndarray x = numbers({302, 2 * width}, uint8);
    const auto at = [&](int i, int j) { return x(slice(i, _, 2), slice(j, _, 2)); };
    check([&] { return at(0, 0).astype(uint16) + at(0, 1) + at(1, 0) + at(1, 1); });
    check([&] { return at(0, 1) / 3.0f + at(1, 0); });
    check([&] {
      ndarray w = x.copy();
      w(slice(_, _, 2), slice(1, _, 2)) = maximum(at(0, 0), at(1, 1));
      return w;
    });
  }
}

TEST_CASE("bytes are shifted to the left by numbers of their own") {
  const ndarray all = count(65536), x = (all % 256).astype(uint8), by = floor_divide(all, 256).astype(uint8);
  eval(x, by);
  check([&] { return x << by; });
  check([&] { return x.astype(int8) << by.astype(int8); });
  for (const std::int64_t row : {2, 4, 8, 16})
    check([&] { return (x(_, newaxis) << arange(row, {.dtype = uint8, .device = device("cpu")})) & 0x55; });
  const ndarray y = x << by;
  for (const std::int64_t k : {0, 255, 300, 2047, 2048, 2049, 65535})
    CHECK(y(k).item<std::uint8_t>() == (k / 256 > 7 ? 0 : (k % 256 << k / 256) % 256));
}

TEST_CASE("parts of complex numbers that lie apart are real numbers") {
  for (const dtype t : {complex64, complex128})
    for (const std::int64_t n : {8192, 20001})
      for (const std::int64_t step : {1, 2, 3}) {
        CAPTURE(name(t));
        CAPTURE(n);
        CAPTURE(step);
        const dtype part = t == complex64 ? float32 : float64;
        const ndarray re = numbers({n * step + 2}, part), im = numbers({n * step + 2}, part, 17);
        ndarray z = zeros(re.shape(), {.dtype = t, .device = device("cpu")});
        real(z)(ellipsis) = re;
        imag(z)(ellipsis) = im;
        eval(z);
        const auto every = [&](const ndarray& x, std::int64_t from) { return x(slice(from, from + n * step, step)); };
        const auto same = [&](const std::function<ndarray()>& f, const ndarray& reals, const ndarray& imags) {
          check(f);
          const kernels_of now(cpu::tier::compiled);
          const ndarray w = f();
          CHECK(array_equal(real(w), reals));
          CHECK(array_equal(imag(w), imags));
        };
        CHECK(array_equal(every(imag(z), 1) * every(real(z), 0), every(im, 1) * every(re, 0)));
        check([&] { return abs(every(z, 1)) + every(real(z), 0); });
        ndarray other = re.copy();
        other(slice(_, n * step, step)) = every(im, 1);
        same(
            [&] {
              ndarray w = z.copy();
              eval(w);
              real(w)(slice(_, n * step, step)) = every(imag(w), 1);
              return w;
            },
            other, im);
        other = im.copy();
        other(slice(_, n * step, step)) = every(re, 0) / 3;
        same(
            [&] {
              ndarray w = z.copy();
              eval(w);
              imag(w)(slice(_, n * step, step)) = every(real(w), 0) / 3;
              return w;
            },
            re, other);
        other = im.copy();
        other(slice(_, n * step, step)) = every(im, 0) + every(im, 1);  // what is read is written as well
        same(
            [&] {
              ndarray w = z.copy();
              eval(w);
              imag(w)(slice(_, n * step, step)) = every(imag(w), 0) + every(imag(w), 1);
              return w;
            },
            re, other);
      }
}

TEST_CASE("runs that are computed before they are added are those of one run at a time") {
  for (const dtype t : {float32, int32})
    for (const std::int64_t run : {112, 128, 130, 528})
      for (const std::int64_t images : {3, 70}) {
        CAPTURE(name(t));
        CAPTURE(run);
        CAPTURE(images);
        const ndarray x = numbers({images, 40, run}, t);
        const ndarray of_channel = (x(slice(_, 1), _, slice(_, 1)) + 3).copy(),
                      of_row = (x(_, _, slice(_, 1)) + 1).copy();
        eval(of_channel, of_row);
        for (const ndarray& m : {of_channel, of_row}) {
          check([&] { return sum((x - m) * (x - m), axes{0, 2}); });
          check([&] { return sum((x - m) * (x - m), 2); });
          check([&] { return max((x - m) * 3, axes{0, 2}); });
          if (t == float32) check([&] { return sum(x / 7.0f - m, axes{0, 2}); });
        }
      }
}
