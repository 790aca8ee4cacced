// Places of extrema in short rows, which are compared side by side: the first of equal ones, and the first NaN, for rows of every length.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

template <class T>
std::int64_t place_of(const std::vector<T>& x, std::size_t first, std::int64_t n, bool least) {
  std::int64_t best = 0;
  for (std::int64_t k = 1; k < n; ++k) {
    const T a = x[first + static_cast<std::size_t>(best)], b = x[first + static_cast<std::size_t>(k)];
    if (a != a) break;
    if (b != b || (least ? b < a : a < b)) best = k;
  }
  return best;
}

/// Elements of rows that lie `gap` elements apart.
template <class T>
void check(std::int64_t rows, std::int64_t columns, std::int64_t gap) {
  CAPTURE(rows);
  CAPTURE(columns);
  CAPTURE(gap);
  std::vector<T> x(static_cast<std::size_t>(rows * (columns + gap)));
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = T(static_cast<int>(k * k * 31 % 17) - 8);
  if constexpr (std::numeric_limits<T>::has_quiet_NaN) {
    for (std::size_t k = 5; k < x.size(); k += 29) x[k] = std::numeric_limits<T>::quiet_NaN();
    for (std::size_t k = 3; k < x.size(); k += 11) x[k] = k % 2 ? T(-0.0) : std::numeric_limits<T>::infinity();
  } else {
    for (std::size_t k = 3; k < x.size(); k += 11)
      x[k] = k % 2 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
  }
  const ndarray all = reshape(array(x, {.device = device("cpu")}), {rows, columns + gap});
  const auto low = argmin(all(_, slice(_, columns)), 1).to_vector<std::int64_t>();
  const auto high = argmax(all(_, slice(_, columns)), 1).to_vector<std::int64_t>();
  const auto computed = argmin(all(_, slice(_, columns)) * 1, 1).to_vector<std::int64_t>();
  int wrong = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto first = static_cast<std::size_t>(r * (columns + gap)), at = static_cast<std::size_t>(r);
    wrong += low[at] != place_of(x, first, columns, true);
    wrong += high[at] != place_of(x, first, columns, false);
    wrong += computed[at] != low[at];
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("places of extrema in rows of every short length are those of the first, NaN before all") {
  for (std::int64_t columns = 1; columns <= 68; ++columns)
    for (const std::int64_t rows : {1, 7, 16, 33, 300})
      for (const std::int64_t gap : {0, 3}) {
        check<float>(rows, columns, gap);
        check<double>(rows, columns, gap);
        check<std::int32_t>(rows, columns, gap);
        check<std::int64_t>(rows, columns, gap);
        check<std::int16_t>(rows, columns, gap);
      }
}
