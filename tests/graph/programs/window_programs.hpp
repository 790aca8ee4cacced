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

inline const program window_programs[] = {{"balanced", balanced}, {"recursive rows", recursive_rows}};

}  // namespace sinter::test::loops
