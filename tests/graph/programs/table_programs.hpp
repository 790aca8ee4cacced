// Programs that write parts of arrays, fill tables row by row, and select elements by masks and indices; each with and
// without an evaluation of every statement.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "graph/loop_programs.hpp"

namespace sinter::test::loops {

inline arrays knapsack(int steps, std::int64_t n) {  // the table of the best values, of which the choices are read last
  ndarray table = sn::zeros({steps + 1, n}, {.dtype = sn::float32});
  for (int k = 0; k < steps; ++k) {
    const std::int64_t weight = 1 + (7 * k) % 23;
    const ndarray row = table(k);
    table(k + 1) = row;
    statement(table);
    table(k + 1, slice(weight, _)) = sn::maximum(row(slice(weight, _)), row(slice(_, -weight)) + float(k % 5 + 1));
    statement(table);
  }
  const ndarray taken = table(slice(1, _)) > table(slice(_, -1));
  statement(taken);
  return {table(-1), sn::sum(taken, 1)};
}

inline arrays knapsack_rows(int steps, std::int64_t n) {  // the rows as arrays of their own
  std::vector<ndarray> rows{sn::zeros(n, {.dtype = sn::float32})};
  for (int k = 0; k < steps; ++k) {
    const std::int64_t weight = 1 + (7 * k) % 23;
    const ndarray& row = rows.back();
    ndarray next = row.copy();
    statement(next);
    next(slice(weight, _)) = sn::maximum(row(slice(weight, _)), row(slice(_, -weight)) + float(k % 5 + 1));
    statement(next);
    rows.push_back(next);
  }
  ndarray taken = sn::zeros(n, {.dtype = sn::int32});
  for (std::size_t k = rows.size() - 1; k > 0; --k) {
    taken += rows[k] > rows[k - 1];
    statement(taken);
  }
  return {rows.back(), taken};
}

inline arrays knapsack_joined(int steps, std::int64_t n) {  // one row, shifted by a concatenation
  ndarray row = sn::zeros(n, {.dtype = sn::float32});
  arrays kept;
  for (int k = 0; k < steps; ++k) {
    const std::int64_t weight = 1 + (7 * k) % 23;
    const ndarray with = row(slice(_, -weight)) + float(k % 5 + 1);
    statement(with);
    const ndarray next = sn::maximum(row, sn::concatenate({row(slice(_, weight)), with}));
    statement(next);
    kept.push_back(sn::sum(next > row));
    statement(kept.back());
    row = next;
  }
  kept.push_back(row);
  return kept;
}

inline arrays relaxed_edges(int steps, std::int64_t n) {  // Bellman and Ford's
  sn::random::generator g(101);
  const ndarray from = g.integers(0, n, n), weight = uniform(n, 102);
  sn::eval(from);
  ndarray d = 10 * uniform(n, 103), changes = sn::zeros(n, {.dtype = sn::int32});
  statement(d);
  for (int k = 0; k < steps; ++k) {
    const ndarray other = sn::take(d, from) + weight;
    statement(other);
    changes += other < d;
    statement(changes);
    d = sn::minimum(d, other);
    statement(d);
  }
  return {d, changes};
}

inline arrays pointer_jumps(int steps, std::int64_t n) {
  sn::random::generator g(104);
  ndarray parent = g.integers(0, n, n), distance = sn::ones(n, {.dtype = sn::int64});
  sn::eval(parent);
  for (int k = 0; k < steps; ++k) {
    distance = (distance + sn::take(distance, parent)) % 1000;
    statement(distance);
    parent = sn::take(parent, parent);
    statement(parent);
  }
  return {parent, distance};
}

inline arrays bisection(int steps, std::int64_t n) {
  const ndarray target = uniform(n, 105) * 3;
  ndarray low = sn::zeros(n, {.dtype = sn::float32}), high = low + 2;
  statement(target, high);
  for (int k = 0; k < steps; ++k) {
    const ndarray middle = 0.5f * (low + high);
    statement(middle);
    const ndarray above = middle * middle * middle - middle > target;
    statement(above);
    high = sn::where(above, middle, high);
    statement(high);
    low = sn::where(above, low, middle);
    statement(low);
  }
  return {low, high};
}

inline arrays masked_steps(int steps, std::int64_t n) {
  ndarray x = 4 * uniform(n, 106) - 2, age = sn::zeros(n, {.dtype = sn::int16});
  statement(x);
  for (int k = 0; k < steps; ++k) {
    x += 0.1f * sn::sin(x);
    statement(x);
    const ndarray out = sn::abs(x) > 1.5f;
    statement(out);
    x[out] = -0.5f * x[out];
    statement(x);
    age[out] = 0;
    statement(age);
    age += 1;
    statement(age);
  }
  return {x, age};
}

inline arrays eliminated(int steps, std::int64_t n) {  // Gauss's, column by column
  const auto side = std::max<std::int64_t>(4, std::int64_t(std::sqrt(double(n))));
  ndarray a = uniform({side, side}, 107) + 4 * sn::eye(side, {.dtype = sn::float32});
  statement(a);
  for (std::int64_t k = 0; k < steps && k + 1 < side; ++k) {
    const ndarray factor = a(slice(k + 1, _), k) / a(k, k);
    statement(factor);
    a(slice(k + 1, _), slice(k + 1, _)) -= factor(_, newaxis) * a(k, slice(k + 1, _));
    statement(a);
    a(slice(k + 1, _), k) = factor;
    statement(a);
  }
  return {a};
}

inline arrays shortest_paths(int steps, std::int64_t n) {  // Floyd and Warshall's
  const auto side = std::max<std::int64_t>(4, std::int64_t(std::sqrt(double(n))));
  ndarray d = uniform({side, side}, 108);
  for (std::int64_t k = 0; k < steps; ++k) {
    d = sn::minimum(d, d(_, k % side)(_, newaxis) + d(k % side));
    statement(d);
  }
  return {d};
}

inline arrays tridiagonal(int steps, std::int64_t n) {  // many systems at once, a row a statement
  const std::int64_t rows = steps + 2, width = n / 4 + 1;
  const ndarray lower = uniform({rows, width}, 109), upper = uniform({rows, width}, 110);
  ndarray diagonal = uniform({rows, width}, 111) + 3, right = uniform({rows, width}, 112);
  statement(diagonal);
  for (std::int64_t k = 1; k < rows; ++k) {
    const ndarray w = lower(k) / diagonal(k - 1);
    statement(w);
    diagonal(k) -= w * upper(k - 1);
    statement(diagonal);
    right(k) -= w * right(k - 1);
    statement(right);
  }
  right(-1) /= diagonal(-1);
  statement(right);
  for (std::int64_t k = rows - 1; k-- > 0;) {
    right(k) = (right(k) - upper(k) * right(k + 1)) / diagonal(k);
    statement(right);
  }
  return {right};
}

inline arrays doubled_sums(int steps, std::int64_t n) {  // sums from the left by doubling
  ndarray x = uniform(n, 113);
  for (int k = 0; k < steps; ++k) {
    const std::int64_t by = std::int64_t{1} << k % 7;
    if (by >= n) break;
    x(slice(by, _)) += x(slice(_, -by));
    statement(x);
    x *= 0.5f;
    statement(x);
  }
  return {x};
}

inline arrays strided_butterflies(int steps, std::int64_t n) {
  ndarray x = uniform(n / 2 * 2, 114);
  for (int k = 0; k < steps; ++k) {
    const ndarray even = x(slice(_, _, 2)), odd = 0.9f * x(slice(1, _, 2));
    statement(odd);
    ndarray y = sn::zeros(x.shape(), {.dtype = sn::float32});
    y(slice(_, n / 2)) = even + odd;
    statement(y);
    y(slice(n / 2, _)) = even - odd;
    statement(y);
    x = 0.5f * y;
    statement(x);
  }
  return {x};
}

inline arrays ring(int steps, std::int64_t n) {  // the last eight states, and their mean at each step
  ndarray x = uniform(n / 8 + 1, 115), history = sn::zeros({8, n / 8 + 1}, {.dtype = sn::float32}), mean;
  for (int k = 0; k < steps; ++k) {
    x = sn::cos(x + 0.2f);
    statement(x);
    history(k % 8) = x;
    statement(history);
    mean = sn::mean(history, 0);
    statement(mean);
    x = 0.9f * x + 0.1f * mean;
    statement(x);
  }
  return {x, mean};
}

inline arrays recorded_states(int steps, std::int64_t n) {  // a table of all states, of which sums are read
  ndarray x = uniform(n / 4 + 1, 116), table = sn::zeros({steps, n / 4 + 1}, {.dtype = sn::float32});
  for (int k = 0; k < steps; ++k) {
    table(k) = x;
    statement(table);
    x = x + 0.01f * sn::sin(3 * x);
    statement(x);
  }
  const ndarray mean = sn::mean(table, 0);
  statement(mean);
  return {mean, sn::sum(sn::square(table - mean), 0), table(-1)};
}

inline arrays exchanged_neighbours(int steps, std::int64_t n) {  // a sort by exchanges, written in place
  ndarray x = uniform(n / 2 * 2, 117);
  for (int k = 0; k < steps; ++k) {
    const std::int64_t first = k % 2;
    const ndarray a = x(slice(first, -1 - first, 2)).copy(), b = x(slice(first + 1, n / 2 * 2 - first, 2)).copy();
    statement(a, b);
    x(slice(first, -1 - first, 2)) = sn::minimum(a, b);
    statement(x);
    x(slice(first + 1, n / 2 * 2 - first, 2)) = sn::maximum(a, b);
    statement(x);
  }
  return {x};
}

inline arrays wavelets(int steps, std::int64_t n) {  // Haar's, there and back
  ndarray x = uniform(n / 64 * 64 + 64, 118);
  for (int round = 0; round < steps / 6 + 1; ++round) {
    std::vector<ndarray> details;
    for (int level = 0; level < 4; ++level) {
      const ndarray even = x(slice(_, _, 2)), odd = x(slice(1, _, 2));
      details.push_back(0.5f * (even - odd));
      statement(details.back());
      x = 0.5f * (even + odd);
      statement(x);
    }
    while (!details.empty()) {
      const ndarray d = details.back();
      details.pop_back();
      ndarray y = sn::zeros(2 * d.size(), {.dtype = sn::float32});
      y(slice(_, _, 2)) = x + 0.9f * d;
      statement(y);
      y(slice(1, _, 2)) = x - 0.9f * d;
      statement(y);
      x = y;
    }
  }
  return {x};
}

inline arrays levenshtein(int steps, std::int64_t n) {  // of many pairs of words at once, a column of the table a step
  const std::int64_t words = n / 16 + 1;
  sn::random::generator g(119);
  const ndarray a = g.integers(0, 4, {16, words}), b = g.integers(0, 4, {16, words});
  sn::eval(a, b);
  std::vector<ndarray> row;
  for (int j = 0; j <= 16; ++j) row.push_back(sn::full(words, j, {.dtype = sn::int32}));
  for (int k = 0; k < std::min(steps, 16); ++k) {
    std::vector<ndarray> next{sn::full(words, k + 1, {.dtype = sn::int32})};
    for (std::size_t j = 0; j < 16; ++j) {
      const ndarray differs = (a(k) != b(std::int64_t(j))).astype(sn::int32);
      statement(differs);
      next.push_back(sn::minimum(sn::minimum(row[j + 1] + 1, next[j] + 1), row[j] + differs));
      statement(next.back());
    }
    row = next;
  }
  return {row.back(), row[8]};
}

inline arrays sieve(int steps, std::int64_t n) {
  ndarray prime = sn::ones(n, {.dtype = sn::bool_});
  prime(slice(_, 2)) = false;
  statement(prime);
  for (std::int64_t p = 2; p < steps && 2 * p < n; ++p) {
    prime(slice(2 * p, _, p)) = false;
    statement(prime);
  }
  return {prime, sn::sum(prime)};
}

inline arrays sampled_tables(int steps, std::int64_t n) {  // reads a table between its entries
  const ndarray table = sn::cumsum(uniform(257, 120)) / 128;
  ndarray x = uniform(n, 121);
  statement(table);
  for (int k = 0; k < steps; ++k) {
    const ndarray at = sn::clip(x, 0.f, 0.999f) * 256;
    statement(at);
    const ndarray low = at.astype(sn::int32);
    statement(low);
    const ndarray part = at - low;
    statement(part);
    x = sn::take(table, low) * (1 - part) + sn::take(table, low + 1) * part;
    statement(x);
    x = x - sn::floor(x);
    statement(x);
  }
  return {x};
}

inline arrays sorted_rows(int steps, std::int64_t n) {  // what runs at once, between recorded steps
  ndarray x = uniform({n / 32 + 1, 32}, 122);
  for (int k = 0; k < steps; ++k) {
    const ndarray order = sn::argsort(x, 1);
    statement(order);
    const ndarray ranked = sn::take_along_axis(x, order, 1);
    statement(ranked);
    const ndarray sums = sn::cumsum(ranked, 1);
    statement(sums);
    x = 1.9f * ranked - 0.02f * sums + 0.1f * x(_, slice(_, _, -1));
    statement(x);
    x = x - sn::floor(x);
    statement(x);
  }
  return {x};
}

inline arrays lagged(int steps, std::int64_t n) {  // correlations with itself, and smoothed values
  const ndarray x = uniform(n, 123) - 0.5f;
  statement(x);
  arrays all;
  ndarray weights = sn::zeros(n, {.dtype = sn::float32});
  for (int lag = 1; lag <= steps && lag < n; ++lag) {
    const ndarray product = x(slice(lag, _)) * x(slice(_, -lag));
    statement(product);
    all.push_back(sn::mean(product));
    statement(all.back());
    weights(slice(_, -lag)) += product / float(lag);
    statement(weights);
  }
  all.push_back(weights);
  return all;
}

inline arrays last_rows(int steps, std::int64_t n) {  // of a table of a few rows, which are written again and again
  ndarray table = sn::zeros({8, n}, {.dtype = sn::float32});
  const ndarray x = uniform(n, 124);
  sn::eval(table, x);
  arrays kept;
  for (int k = 1; k <= steps; ++k) {
    table(k % 8) = table((k - 1) % 8) * 0.9f + x;
    statement(table);
    if (k % 4 != 0) continue;
    kept.push_back(table(k % 8) * 2.0f);
    statement(kept.back());
  }
  kept.push_back(table);
  return kept;
}

inline arrays totals_of_rows(int steps, std::int64_t n) {  // of the whole table, while rows are filled
  ndarray table = sn::zeros({steps + 1, n}, {.dtype = sn::float32});
  const ndarray x = uniform(n, 125);
  sn::eval(table, x);
  arrays kept;
  for (int k = 1; k <= steps; ++k) {
    table(k) = table(k - 1) + x;
    statement(table);
    if (k % 10 != 0) continue;
    kept.push_back(sn::sum(table, 0));
    statement(kept.back());
  }
  kept.push_back(table);
  return kept;
}

inline const program table_programs[] = {{"knapsack", knapsack},
                                         {"knapsack rows", knapsack_rows},
                                         {"knapsack joined", knapsack_joined},
                                         {"relaxed edges", relaxed_edges},
                                         {"pointer jumps", pointer_jumps},
                                         {"bisection", bisection},
                                         {"masked steps", masked_steps},
                                         {"eliminated", eliminated},
                                         {"shortest paths", shortest_paths},
                                         {"tridiagonal", tridiagonal},
                                         {"doubled sums", doubled_sums},
                                         {"strided butterflies", strided_butterflies},
                                         {"ring", ring},
                                         {"recorded states", recorded_states},
                                         {"exchanged neighbours", exchanged_neighbours},
                                         {"wavelets", wavelets},
                                         {"levenshtein", levenshtein},
                                         {"sieve", sieve},
                                         {"sampled tables", sampled_tables},
                                         {"sorted rows", sorted_rows},
                                         {"lagged", lagged},
                                         {"last rows", last_rows},
                                         {"totals of rows", totals_of_rows}};

}  // namespace sinter::test::loops
