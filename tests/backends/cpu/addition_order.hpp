// jit/program/addition_order.hpp as a plain function of the elements, beside which reductions are compared bit for bit.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "jit/program/addition_order.hpp"

namespace order_test {

using sinter::jit::addition_order;

/// A sum of some elements; of none, nothing.
template <class T>
using partial = std::optional<T>;

template <class T, class Join>
void add(partial<T>& to, const partial<T>& x, Join join) {
  if (x) to = to ? join(*to, *x) : *x;
}

template <class T, class Join>
partial<T> tree_of_halves(std::vector<partial<T>> lanes, Join join) {
  for (std::size_t half = lanes.size() / 2; half > 0; half /= 2)
    for (std::size_t k = 0; k < half; ++k) add(lanes[k], lanes[k + half], join);
  return lanes[0];
}

/// Runs of up to 32 lanes by a tree of neighbours, then the runs from left to right.
template <class T, class Join>
partial<T> tree_of_neighbours(std::vector<partial<T>> lanes, Join join) {
  const std::size_t run = std::min<std::size_t>(lanes.size(), 32);
  for (std::size_t distance = 1; distance < run; distance *= 2)
    for (std::size_t k = 0; k < lanes.size(); k += 2 * distance) add(lanes[k], lanes[k + distance], join);
  for (std::size_t k = run; k < lanes.size(); k += run) add(lanes[0], lanes[k], join);
  return lanes[0];
}

/// Up to four elements.
template <class T, class Join>
T group(const std::vector<T>& x, std::size_t at, Join join) {
  const std::size_t n = std::min<std::size_t>(x.size() - at, 4);
  if (n == 4) return join(join(x[at], x[at + 1]), join(x[at + 2], x[at + 3]));
  T sum = x[at];
  for (std::size_t k = 1; k < n; ++k) sum = join(sum, x[at + k]);
  return sum;
}

/// All elements joined in order, or nothing.
template <class T, class Join>
partial<T> joined(const std::vector<T>& x, const addition_order& order, Join join) {
  const auto lanes = static_cast<std::size_t>(order.lanes), chunk = static_cast<std::size_t>(order.chunk);
  std::vector<partial<T>> splits(static_cast<std::size_t>(order.split_lanes));
  for (std::size_t s = 0; s * chunk * 4 < x.size(); ++s) {
    std::vector<partial<T>> of_split(lanes);
    for (std::size_t g = 0; g < chunk && (s * chunk + g) * 4 < x.size(); ++g)
      add<T>(of_split[g % lanes], group(x, (s * chunk + g) * 4, join), join);
    add<T>(splits[s % splits.size()], order.rows ? tree_of_neighbours(of_split, join) : tree_of_halves(of_split, join),
           join);
  }
  return tree_of_halves(splits, join);
}

}  // namespace order_test
