// argsort and argpartition of many short rows, beside a stable sort: keys that differ in their lowest bits only, far apart, equal,
// NaN, infinite and of both zeros.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

template <class T>
bool before(T a, T b) {
  return a < b || (b != b && a == a);  // NaN last
}

/// Row by row, as NumPy's stable sort.
template <class T>
std::vector<std::int64_t> stable_order(const std::vector<T>& x, std::int64_t columns) {
  std::vector<std::int64_t> all(x.size());
  for (std::size_t first = 0; first < x.size(); first += static_cast<std::size_t>(columns)) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    std::iota(begin, begin + columns, std::int64_t{0});
    const T* row = x.data() + first;
    std::stable_sort(begin, begin + columns, [row](std::int64_t a, std::int64_t b) { return before(row[a], row[b]); });
  }
  return all;
}

template <class T>
void check(const std::vector<T>& x, std::int64_t columns) {
  CAPTURE(columns);
  const auto rows = static_cast<std::int64_t>(x.size()) / columns;
  const ndarray a = array(x).reshape({rows, columns});
  CHECK(ravel(argsort(a, 1)).to_vector<std::int64_t>() == stable_order(x, columns));
  for (const std::int64_t k : {std::int64_t{0}, columns / 2, columns - 1}) {
    const std::vector<std::int64_t> at = ravel(argpartition(a, k, 1)).to_vector<std::int64_t>();
    for (std::int64_t r = 0; r < rows; ++r) {
      const T* row = x.data() + r * columns;
      const std::int64_t* places = at.data() + r * columns;
      std::vector<char> seen(static_cast<std::size_t>(columns));
      bool right = true;
      for (std::int64_t j = 0; j < columns; ++j) {
        right = right && places[j] >= 0 && places[j] < columns && !seen[static_cast<std::size_t>(places[j])]++;
        right = right && !(j < k && before(row[places[k]], row[places[j]])) &&
                !(j > k && before(row[places[j]], row[places[k]]));
      }
      REQUIRE(right);
    }
  }
}

}  // namespace

TEST_CASE("short rows in order: of close keys, far ones, equal ones and what is no number") {
  std::uint64_t state = 88172645463325252u;
  const auto next = [&] { return state ^= state << 13, state ^= state >> 7, state ^= state << 17; };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const std::int64_t columns : {2, 3, 5, 8, 15, 16, 17, 31, 32, 33, 100, 256, 257}) {
    const auto count = static_cast<std::size_t>(columns * 75);  // groups of eight and a rest
    std::vector<double> close(count), odd(count), spread(count);
    std::vector<std::int64_t> whole(count), few(count);
    for (std::size_t i = 0; i < count; ++i) {
      // Low bits decide, and one number far away leaves them out of what is compared first.
      close[i] = i % 7 == 0 ? -1e300 * static_cast<double>(next() % 3) : 1 + 0x1p-52 * static_cast<double>(next() % 9);
      const double some[] = {0.0, -0.0, NAN, infinity, -infinity, 1.0, 0x1p-1074, -2.5};
      odd[i] = some[next() % 8];
      spread[i] = static_cast<double>(static_cast<std::int64_t>(next()));
      whole[i] = static_cast<std::int64_t>(next() % 4 ? next() % 6 : next());
      few[i] = static_cast<std::int64_t>(next() % 100) - 50;
    }
    check(close, columns);
    check(odd, columns);
    check(spread, columns);
    check(whole, columns);
    check(few, columns);
    check(std::vector<std::uint64_t>(whole.begin(), whole.end()), columns);
    check(std::vector<float>(close.begin(), close.end()), columns);
    check(std::vector<std::int16_t>(few.begin(), few.end()), columns);
  }
}
