// Ten more programs as a user would write them, whose lines take, write, count and order by lists of indices.
#pragma once
#include <vector>

#include "dist/user_programs.hpp"
#include "sinter/spatial.hpp"

namespace sinter::test {

/// Minibatches of a table that is too large to go to all.
inline ndarray logistic_regression(const places& p) {
  random::generator g(201);
  const ndarray data = g.standard_normal({20000, 8});
  const ndarray labels = (sum(data * arange(8), {.axis = 1}) > 0).astype(float64);
  const ndarray x = p.rows(data), y = p.rows(labels), order = p.all(g.permutation(20000));
  ndarray w = p.all(zeros({8}));
  for (std::int64_t k = 0; k < 12; ++k) {
    const ndarray batch = order(slice(k * 256, (k + 1) * 256));
    const ndarray rows = take(x, batch, 0), wanted = take(y, batch, 0);
    const ndarray said = 1 / (1 + exp(-sum(rows * w, {.axis = 1})));
    w = w - 0.5 * mean(expand_dims(said - wanted, 1) * rows, {.axis = 0});
    eval(w);
  }
  return w;
}

inline ndarray waves(const places& p) {
  const ndarray start = random::generator(202).random({37, 44});
  ndarray before = p.blocks(start), now = p.blocks(start * 0.99);
  for (int k = 0; k < 9; ++k) {
    ndarray next = now.copy();
    const ndarray middle = now["1:-1, 1:-1"];
    next["1:-1, 1:-1"] = 2 * middle - before["1:-1, 1:-1"] +
                         0.2 * (now[":-2, 1:-1"] + now["2:, 1:-1"] + now["1:-1, :-2"] + now["1:-1, 2:"] - 4 * middle);
    before = now;
    now = next;
    if (k % 3 == 0) eval(now);
  }
  return now;
}

inline ndarray life(const places& p) {
  ndarray alive = p.blocks((random::generator(203).random({29, 31}) > 0.6).astype(int8));
  for (int k = 0; k < 6; ++k) {
    ndarray around = zeros_like(alive);
    for (const std::int64_t dy : {-1, 0, 1})
      for (const std::int64_t dx : {-1, 0, 1})
        if (dx != 0 || dy != 0) around = around + roll(roll(alive, dy, axes{0}), dx, axes{1});
    alive = ((around == 3) | ((alive == 1) & (around == 2))).astype(int8);
    eval(alive);
  }
  return alive;
}

/// Ranks flow along edges, which are divided as the nodes are.
inline ndarray page_rank(const places& p) {
  random::generator g(204);
  constexpr std::int64_t nodes = 150000, edges = 60000;
  const ndarray from = p.rows(g.integers(0, nodes, {edges})), to = p.rows(g.integers(0, nodes, {edges}));
  ndarray degree = p.rows(zeros({nodes})), rank = p.rows(full({nodes}, 1.0 / nodes));
  add_at(degree, from, 1.0);
  for (int k = 0; k < 3; ++k) {
    ndarray next = p.rows(full({nodes}, 0.15 / nodes));
    add_at(next, to, 0.85 * take(rank / maximum(degree, 1.0), from), {.deterministic = true});
    rank = next;
  }
  return stack({sum(rank), max(rank), argmax(rank).astype(float64)});
}

inline ndarray group_means(const places& p) {
  random::generator g(205);
  const ndarray key = p.rows(g.integers(0, 40, {3001}) * 13), paid = p.rows(g.random({3001}));
  const unique_all_result groups = unique_all(key);
  ndarray total = zeros_like(groups.counts, {.dtype = float64});
  add_at(total, groups.inverse_indices, paid, {.deterministic = true});
  return concatenate({groups.values.astype(float64), total / groups.counts, take(paid, groups.indices)});
}

/// Particles by their integer weights: positions among running sums.
inline ndarray resampled(const places& p) {
  random::generator g(206);
  const ndarray state = p.rows(g.standard_normal({70000, 2})), weight = p.rows(g.integers(1, 9, {70000}));
  const ndarray ends = cumsum(weight), drawn = p.rows(sort(g.random({5000})));
  const ndarray chosen = searchsorted(p.everywhere(ends), floor(drawn * sum(weight)).astype(int64), "right");
  return mean(take(state, chosen, 0) * 2, {.axis = 0});
}

inline ndarray sorted_table(const places& p) {
  random::generator g(207);
  const ndarray region = p.rows(g.integers(0, 12, {2003})), price = p.rows(floor(g.random({2003}) * 50));
  const ndarray item = p.rows(arange(2003));
  const ndarray order = lexsort({price, region});
  const ndarray by = take(region, order),
                first = concatenate({p.rows(ones({1}, {.dtype = bool_})), by["1:"] != by[":-1"]});
  return concatenate({take(item, order), flatnonzero(first)});
}

inline ndarray poisson(const places& p) {
  const ndarray f = p.rows(random::generator(208).standard_normal({48, 40}));
  const ndarray ky = p.all(square(arange(48) - 48 * (arange(48) > 24))), kx = p.all(square(arange(21)));
  const ndarray k2 = expand_dims(ky, 1) + kx;
  return fft::irfft2(where(k2 == 0, 0, fft::rfft2(f - mean(f)) / maximum(k2, 1)), {.s = shape_t{48, 40}});
}

inline ndarray nearest_classes(const places& p) {
  random::generator g(209);
  const ndarray known = p.all(g.standard_normal({300, 3})), label = p.all(g.integers(0, 4, {300}));
  const ndarray asked = p.rows(g.standard_normal({157, 3}));
  const ndarray votes = take(label, spatial::knn(asked, known, 7).indices);
  const ndarray count =
      sum((expand_dims(votes, 2) == arange(4, {.device = votes.device()})).astype(int64), {.axis = 1});
  return argmax(count, {.axis = 1});
}

inline ndarray permutation_test(const places& p) {
  random::generator g(210);
  ndarray x = p.rows(g.standard_normal({4001}) + 0.01 * arange(4001));
  std::vector<ndarray> differences;
  for (int k = 0; k < 4; ++k) {
    x = g.permutation(x);
    differences.push_back(mean(x["0:2000"]) - mean(x["2000:"]));
  }
  return stack(differences);
}

inline const std::vector<user_program>& indexed_programs() {
  static const std::vector<user_program> all{{"logistic regression", logistic_regression, 0},
                                             {"waves", waves, 0},
                                             {"life", life, 0},
                                             {"page rank", page_rank, 0},
                                             {"means of groups", group_means, 0},
                                             {"resampled particles", resampled, 0},
                                             {"a sorted table", sorted_table, 0},
                                             {"Poisson's equation", poisson, 1e-10},
                                             {"classes of neighbours", nearest_classes, 0},
                                             {"permutation test", permutation_test, 0}};
  return all;
}

}  // namespace sinter::test
