// Draws through tables of distribution functions.
#include "ops/random/inverse_table.hpp"

#include <algorithm>
#include <bit>

#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/search.hpp"
#include "sinter/take.hpp"

namespace sinter::ops {

namespace {

/// `at`, plus how many of the `reach` - 1 entries behind it are not above u: a binary search in as many steps for each. `reach` is
/// a power of two.
ndarray counted_from(ndarray at, const ndarray& table, std::int64_t reach, const ndarray& u) {
  for (std::int64_t step = reach / 2; step > 0; step /= 2)
    at = at + step * less_equal(take(table, at + (step - 1)), u).astype(at.dtype());
  return at;
}

}  // namespace

ndarray inverse_of(const std::vector<double>& sums, const ndarray& u) {
  const std::size_t n = sums.size();
  const create_kw there{.device = u.device()};
  // int32 holds every place; a table takes longer to make than few searches.
  if (n > std::size_t{1} << 27 || static_cast<std::size_t>(u.size()) < n)
    return searchsorted(array(sums, there), u, "right");
  // Cell b of [b / cells, (b + 1) / cells): the first count that a number in it can have. Products with a power of two are exact.
  const std::size_t cells = std::bit_ceil(4 * n);
  std::vector<std::int32_t> guide(cells);
  std::size_t count = 0, most = 0;
  for (std::size_t b = 0; b < cells; ++b) {
    const std::size_t before = count;
    while (sums[count] <= static_cast<double>(b) / static_cast<double>(cells)) ++count;
    guide[b] = static_cast<std::int32_t>(count);
    most = std::max(most, count - before);
  }
  const auto rest = std::lower_bound(sums.begin() + static_cast<std::ptrdiff_t>(count), sums.end(), 1.0);
  most = std::max(most, static_cast<std::size_t>(rest - sums.begin()) - count);
  const std::size_t reach = std::bit_ceil(most + 1);
  std::vector<double> padded(sums);
  padded.resize(n + reach, 1.0);
  const ndarray cell = (u * static_cast<double>(cells)).astype(int32);
  const ndarray first = take(array(guide, there), cell);
  return counted_from(first, array(padded, there), static_cast<std::int64_t>(reach), u).astype(int64);
}

ndarray by_alias(std::vector<double> p, const ndarray& u) {
  // Cells of the same weight, a power of two of them: what a number lacks to fill its cell is another one's, its alias.
  const std::size_t cells = std::bit_ceil(p.size());
  p.resize(cells, 0.0);
  double total = 0;
  for (const double x : p) total += x;
  for (double& x : p) x *= static_cast<double>(cells) / total;
  std::vector<std::int32_t> alias(cells), small, large;
  for (std::size_t k = 0; k < cells; ++k) {
    alias[k] = static_cast<std::int32_t>(k);
    (p[k] < 1 ? small : large).push_back(alias[k]);
  }
  while (!small.empty() && !large.empty()) {
    const auto few = static_cast<std::size_t>(small.back()), many = static_cast<std::size_t>(large.back());
    small.pop_back();
    alias[few] = large.back();
    p[many] -= 1 - p[few];
    if (p[many] < 1) {
      small.push_back(large.back());
      large.pop_back();
    }
  }
  // What is left is 1 but for rounding.
  for (const auto& list : {small, large})
    for (const std::int32_t k : list) p[static_cast<std::size_t>(k)] = 1;
  const create_kw there{.device = u.device()};
  const ndarray place = u * static_cast<double>(cells), cell = place.astype(int32);
  return where(less(place - cell, take(array(p, there), cell)), cell, take(array(alias, there), cell)).astype(int64);
}

ndarray inverse_of_rows(const std::vector<double>& table, std::int64_t width, const ndarray& row, const ndarray& u) {
  const ndarray first = row.astype(int64, false) * width;
  return counted_from(first, array(table, {.device = u.device()}), width, u) - first;
}

}  // namespace sinter::ops
