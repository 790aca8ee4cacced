// Programs that divide what they have just divided, and that keep some of the last steps: rows of filters, windows, pyramids of
// images; each with and without an evaluation of every statement.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/loop_programs.hpp"

namespace sinter::test::loops {

inline arrays balanced(int steps, std::int64_t n) {  // columns and rows divided by their sums in turns
  ndarray a = uniform({n / 32 + 1, 32}, 501) + 0.1f;
  for (int k = 0; k < steps; ++k) {
    a = a / sn::sum(a, 0, {.keepdims = true});
    statement(a);
    a = a / sn::sum(a, 1, {.keepdims = true});
    statement(a);
  }
  return {a};
}

inline arrays recursive_rows(int steps, std::int64_t n) {  // a filter of the rows of an array, into another one
  const ndarray x = uniform({std::int64_t{steps}, n}, 502);
  ndarray y1 = sn::zeros(n, {.dtype = sn::float32}), y2 = y1, x1 = y1, x2 = y1;
  ndarray out = sn::empty(x.shape(), {.dtype = sn::float32});
  for (int k = 0; k < steps; ++k) {
    const ndarray now = x(k);
    const ndarray y = 0.2f * now + 0.3f * x1 + 0.1f * x2 + 0.5f * y1 - 0.2f * y2;
    statement(y);
    out(k) = y;
    statement(out);
    x2 = x1;
    x1 = now;
    y2 = y1;
    y1 = y;
  }
  return {out};
}

inline arrays growing_window(int steps, std::int64_t n) {  // the last sixteen rows, by concatenation
  ndarray rows = uniform({1, n / 16}, 503), x = rows(0), mean = x;
  for (int k = 0; k < steps; ++k) {
    x = sn::sin(x * 1.1f) + 0.2f;
    statement(x);
    rows = sn::concatenate({rows, x(newaxis, _)}, 0);
    statement(rows);
    if (rows.shape(0) > 16) {
      rows = rows(slice(1, _)).copy();
      statement(rows);
    }
    mean = sn::mean(rows, 0) + 0.5f * mean;
    statement(mean);
  }
  return {rows, mean};
}

inline arrays losses_of_pyramids(int steps, std::int64_t n) {  // what each level of an image lacks of the one below
  const std::int64_t side = n < elements ? 16 : 128;
  ndarray image = uniform({side, side}, 504);
  arrays losses;
  for (int k = 0; k < steps; ++k) {
    ndarray x = image, loss = sn::zeros(1, {.dtype = sn::float32});
    std::vector<ndarray> levels{x};
    const auto even = slice(_, _, 2), odd = slice(1, _, 2);
    while (x.shape(0) > 8) {
      x = 0.25f * (x(even, even) + x(odd, even) + x(even, odd) + x(odd, odd));
      statement(x);
      levels.push_back(x);
    }
    for (std::size_t l = levels.size() - 1; l-- > 0;) {
      const ndarray up = sn::repeat(sn::repeat(levels[l + 1], 2, 0), 2, 1);
      statement(up);
      const ndarray lost = levels[l] - up;
      statement(lost);
      loss = loss + sn::mean(lost * lost);
      statement(loss);
    }
    image = image * 0.99f + 0.01f * sn::mean(image);
    statement(image);
    losses.push_back(loss);
  }
  losses.push_back(image);
  return losses;
}

/// The least energy of paths that go down from row to row, to a neighbour at most, and each row's choices.
inline arrays ways_down(int steps, std::int64_t columns) {
  const ndarray energy = uniform({std::int64_t{steps}, columns}, 505);
  ndarray cost = energy(0);
  arrays results;
  for (int k = 1; k < steps; ++k) {
    const ndarray wide = sn::pad(cost, 1, "edge");
    statement(wide);
    const ndarray three = sn::stack({wide(slice(_, -2)), wide(slice(1, -1)), wide(slice(2, _))});
    statement(three);
    results.push_back(sn::argmin(three, 0));
    statement(results.back());
    cost = energy(k) + sn::min(three, 0);
    statement(cost);
  }
  results.push_back(cost);
  return results;
}
/// 16 of the paths, from their ends back.
inline arrays seams(int steps, std::int64_t n) {
  const std::int64_t columns = std::max<std::int64_t>(60, n / 16);
  arrays from = ways_down(steps, columns);
  const ndarray cost = from.back();
  from.pop_back();
  ndarray at = sn::argsort(cost)(slice(_, 16));
  statement(at);
  for (std::size_t k = from.size(); k-- > 0;) {
    at = sn::clip(at + sn::take(from[k], at) - 1, 0, columns - 1);
    statement(at);
  }
  return {cost, at};
}

inline const program window_programs[] = {{"balanced", balanced},
                                          {"recursive rows", recursive_rows},
                                          {"growing window", growing_window},
                                          {"losses of pyramids", losses_of_pyramids},
                                          {"seams", seams}};

}  // namespace sinter::test::loops
