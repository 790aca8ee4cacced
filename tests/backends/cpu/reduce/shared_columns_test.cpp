// Few columns that lie side by side, as the channels of images: they share blocks, those of each image for themselves, with the
// bits of columns in another layout.
#include <doctest/doctest.h>

#include <string>

#include "sinter/random.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

ndarray numbers(const shape_t& shape, dtype type) {
  const ndarray x = ((random::default_rng(9).random(shape) - 0.4) * 90).astype(type).to_device("cpu");
  eval(x);
  return x;
}

bool is_shared(const ndarray& x) { return explain(x).find("columns, several steps to a block") != std::string::npos; }

/// The same reduction of x and of an array whose channels lie apart.
template <class F>
void compare(const ndarray& x, const F& reduced) {
  const int last = x.ndim() - 1;
  const ndarray apart = moveaxis(moveaxis(x, last, 0).copy(), 0, last);
  eval(apart);
  const ndarray together = reduced(x);
  CHECK(is_shared(together));
  CHECK(array_equal(together, reduced(apart), true));
}

}  // namespace

TEST_CASE("shared columns: images by channel, few of them and many") {
  for (const dtype type : {uint8, float16, float32, complex64, int64})
    for (const shape_t& shape : {shape_t{8, 40, 50, 3}, shape_t{100, 30, 20, 3}, shape_t{2, 70, 64, 4},
                                 shape_t{300, 16, 16, 5}, shape_t{3, 5, 120, 30, 2}}) {
      CAPTURE(type);
      CAPTURE(shape[0]);
      const ndarray x = numbers(shape, type);
      const int last = x.ndim() - 1;
      const reduce_kw pixels{.axis = {last - 2, last - 1}};
      compare(x, [&](const ndarray& a) { return sum(a, pixels); });
      compare(x, [&](const ndarray& a) { return mean(a * a + 3, pixels); });
      if (type == float32 || type == uint8) {
        compare(x, [&](const ndarray& a) { return max(a, pixels); });
        compare(x, [&](const ndarray& a) { return sinter::std(a / 7, {.axis = {last - 2, last - 1}}); });
      }
      if (type == int64)
        compare(x, [&](const ndarray& a) { return count_nonzero(a > 5, {.axis = {last - 2, last - 1}}); });
    }
}

TEST_CASE("shared columns: numbers of each image and of each channel are operands") {
  const ndarray x = numbers({12, 40, 50, 3}, float32), channel = numbers({3}, float32),
                image = numbers({12, 1, 1, 1}, float32);
  const reduce_kw pixels{.axis = {1, 2}};
  const ndarray got = sum(square(x - channel) * image, pixels);
  for (int n = 0; n < 12; ++n) {
    const ndarray one = x(slice(n, n + 1)), of_one = image(slice(n, n + 1));
    CHECK(allclose(got(slice(n, n + 1)), sum(square(one - channel) * of_one, pixels)));
  }
  CHECK(array_equal(got, sum(square(x - channel).copy() * image, pixels), true));
}
