// Minima, maxima and their places in long rows, which are found block by block: zeros of both signs, NaN and ties at the edges of
// blocks and of whole vectors, beside a plain loop.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"

namespace {

using namespace sinter;

template <class T>
using row = std::vector<T>;

/// -0 is less than +0; NaN wins.
template <class T>
bool is_less(T a, T b) {
  return std::isnan(a) ? !std::isnan(b) : !std::isnan(b) && (a < b || (a == b && std::signbit(a) && !std::signbit(b)));
}
template <class T>
bool is_greater(T a, T b) {
  return std::isnan(a) ? !std::isnan(b) : !std::isnan(b) && (a > b || (a == b && !std::signbit(a) && std::signbit(b)));
}
/// The places take zeros as equal.
template <class T, class Better>
std::size_t place_in(const row<T>& x, Better better) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < x.size(); ++k)
    if (better(x[k], x[best]) && !(x[k] == x[best])) best = k;
  return best;
}
template <class T, class Better>
T extreme_in(const row<T>& x, Better better) {
  T best = x[0];
  for (const T v : x)
    if (better(v, best)) best = v;
  return best;
}
template <class T>
bool is_same(T a, T b) {
  return std::isnan(a) ? std::isnan(b) : std::memcmp(&a, &b, sizeof a) == 0;
}

/// How many of the four results differ from the loop's, for a row that lies alone in memory and one of three rows.
template <class T>
int wrong_of(const row<T>& x) {
  const T least = extreme_in(x, is_less<T>), most = extreme_in(x, is_greater<T>);
  const auto first_least = static_cast<std::int64_t>(place_in(x, is_less<T>)),
             first_most = static_cast<std::int64_t>(place_in(x, is_greater<T>));
  const auto n = static_cast<std::int64_t>(x.size());
  row<T> three;
  for (int k = 0; k < 3; ++k) three.insert(three.end(), x.begin(), x.end());
  const ndarray alone = array(x, {.device = cpu}), rows = reshape(array(three, {.device = cpu}), {3, n});
  int wrong = !is_same(min(alone).item<T>(), least) + !is_same(max(alone).item<T>(), most) +
              (argmin(alone).item<std::int64_t>() != first_least) + (argmax(alone).item<std::int64_t>() != first_most);
  const auto low = min(rows, 1).to_vector<T>(), high = max(rows, 1).to_vector<T>();
  const auto at_low = argmin(rows, 1).to_vector<std::int64_t>(), at_high = argmax(rows, 1).to_vector<std::int64_t>();
  for (std::size_t r = 0; r < 3; ++r)
    wrong +=
        !is_same(low[r], least) + !is_same(high[r], most) + (at_low[r] != first_least) + (at_high[r] != first_most);
  return wrong;
}

/// Places in a row of n elements that lie beside edges of blocks and at its ends.
std::vector<std::size_t> edges_of(std::size_t n) {
  std::vector<std::size_t> at{0, n - 1};
  for (const std::size_t block : {std::size_t{256}, std::size_t{2048}, std::size_t{4096}, n / 3})
    for (const std::size_t k : {block - 1, block, block + 1, 2 * block - 1, 2 * block})
      if (k < n) at.push_back(k);
  return at;
}

template <class T>
void check_special_elements(std::size_t n) {
  CAPTURE(n);
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  int wrong = 0;
  for (const T fill : {T(0), T(-0.0), T(1), T(-1), inf, -inf})
    for (const T odd : {T(0), T(-0.0), T(2), T(-2), inf, -inf, nan})
      for (const std::size_t at : edges_of(n)) {
        row<T> x(n, fill);
        x[at] = odd;
        wrong += wrong_of(x);
      }
  CHECK(wrong == 0);
}

template <class T>
void check_mixed_rows(std::size_t n, unsigned seed) {
  CAPTURE(n);
  std::mt19937 random(seed);
  int wrong = 0;
  for (int kind = 0; kind < 12; ++kind) {
    row<T> x(n);
    for (T& v : x) {
      const auto r = random();
      // kinds: zeros of both signs among ones of one sign or of both; few values with many ties; NaN now and then
      v = kind % 4 == 0   ? T(r % 3 ? 1 : 0)
          : kind % 4 == 1 ? T(r % 3 ? -1 : 0)
          : kind % 4 == 2 ? T(0)
                          : T(static_cast<int>(r % 9) - 4);
      if (v == 0 && r / 16 % 97 == 0) v = T(-0.0);
      if (kind >= 8 && r / 16 % 1999 == 7) v = std::numeric_limits<T>::quiet_NaN();
    }
    wrong += wrong_of(x);
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("extremes of long rows: zeros, infinities and NaN beside the edges of blocks") {
  for (const std::size_t n : {257u, 2049u, 6000u, 8192u}) {
    check_special_elements<float>(n);
    check_special_elements<double>(n);
  }
}

TEST_CASE("extremes of long rows: zeros of both signs, ties and NaN all over") {
  for (const std::size_t n : {255u, 2047u, 2304u, 4097u, 12289u, 100003u}) {
    check_mixed_rows<float>(n, 1);
    check_mixed_rows<double>(n, 2);
  }
}
