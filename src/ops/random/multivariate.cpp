// Vectors of random counts.
#include "sinter/random_multivariate.hpp"

#include <numeric>
#include <vector>

#include "graph/values/example.hpp"
#include "ops/base/access.hpp"
#include "ops/base/errors.hpp"
#include "ops/random/composed.hpp"
#include "sinter/creation.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0::random {

using ops::fail;
using std::int64_t;

ndarray multivariate_hypergeometric(generator& g, const ndarray& colors, int64_t nsample, const draw_size& size,
                                    const draw_kw& kw) {
  constexpr const char* name = "multivariate_hypergeometric";
  if (ops::view_of(colors, name).shape.size() != 1 || colors.shape(0) == 0)
    fail<shape_error>(name, "colors are a vector, not of shape ", colors.shape());
  if (!is_integer(colors.dtype())) fail<dtype_error>(name, "colors are integers, not of ", colors.dtype());
  const dtype type = kw.dtype.value_or(int64);
  if (!is_integer(type)) fail<dtype_error>(name, "draws integers, not ", type);
  if (nsample < 0) fail<value_error>(name, "nsample must not be negative, not ", nsample);
  constexpr int64_t most = 1'000'000'000;  // as NumPy
  const draw_size shape = size.given() ? size : draw_size(shape_t{});
  const draw_kw there{.device = colors.device()};
  ndarray left = full(shape.shape(), nsample, {.dtype = int64, .device = colors.device()});
  std::vector<ndarray> drawn;
  const auto draw = [&](const operand& of_colour, const operand& of_others) {
    drawn.push_back(g.hypergeometric(of_colour, of_others, left, shape, there));
    left = left - drawn.back();
  };
  const auto result = [&] {
    drawn.push_back(left);
    return stack(drawn, -1).astype(type, false);
  };
  // An example of a vmap has no elements: its counts are arrays.
  if (graph::is_example(ops::value_of(colors))) {
    const ndarray counts = colors.astype(int64, false), all = sum(counts);
    if (ops::holds_for_any(any(less(counts, 0)))) fail<value_error>(name, "a colour has fewer than none");
    if (ops::holds_for_any(greater_equal(all, most))) fail<value_error>(name, "colors must add up to less than 10**9");
    if (ops::holds_for_any(less(all, nsample))) fail<value_error>(name, nsample, " draws of fewer");
    for (int64_t i = 0; i + 1 < colors.shape(0); ++i) draw(counts(i), sum(counts(slice(i + 1, idx::_))));
    return result();
  }
  int64_t rest = 0;
  const std::vector<int64_t> counts = colors.to_vector<int64_t>();
  for (const int64_t c : counts) {
    if (c < 0) fail<value_error>(name, c, " of a colour");
    if (c >= most || (rest += c) >= most) fail<value_error>(name, "colors must add up to less than 10**9");
  }
  if (nsample > rest) fail<value_error>(name, nsample, " draws of ", rest);

  for (std::size_t i = 0; i + 1 < counts.size(); ++i) {
    rest -= counts[i];
    draw(counts[i], rest);
  }
  return result();
}

}  // namespace sinter::inline v0::random
