// Random programs over arrays: elementwise work, broadcasting, slices, writes and reductions, recorded and evaluated at
// random. What a program does follows from its seed and the shapes alone.
#pragma once
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "dist/meshes.hpp"

namespace sinter::test {

/// Numbers that both runs of a program draw alike.
class choices {
 public:
  explicit choices(unsigned seed) : random_(seed) {}
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }

 private:
  std::mt19937_64 random_;
};

inline slice any_slice(choices& c, std::int64_t extent) {
  if (extent < 2 || c.chance(25)) return slice(none_t{0});
  const std::int64_t first = c.below(extent), end = first + 1 + c.below(extent - first);
  const std::int64_t step = c.chance(70) ? 1 : 1 + c.below(3);
  if (c.chance(15)) return first == 0 ? slice(end - 1, none_t{0}, -step) : slice(end - 1, first - 1, -step);
  return slice(first, end, step);
}

inline std::vector<sinter::index> key_of(choices& c, const ndarray& x) {
  std::vector<sinter::index> key;
  for (std::int64_t a = 0; a < x.ndim(); ++a) {
    if (x.shape(a) > 0 && c.chance(12)) key.emplace_back(c.below(x.shape(a)) - (c.chance(30) ? x.shape(a) : 0));
    else key.emplace_back(any_slice(c, x.shape(a)));
  }
  return key;
}

inline bool broadcast(const ndarray& x, const ndarray& y) {
  for (std::int64_t k = 1; k <= std::min(x.ndim(), y.ndim()); ++k) {
    const std::int64_t a = x.shape(x.ndim() - k), b = y.shape(y.ndim() - k);
    if (a != b && a != 1 && b != 1) return false;
  }
  return true;
}

/// Sorts, selections, counts and running sums of one of the vectors.
inline ndarray of_vector(choices& c, const std::vector<ndarray>& all) {
  std::vector<ndarray> vectors;
  for (const ndarray& y : all)
    if (y.ndim() == 1) vectors.push_back(y);
  const ndarray x = vectors[static_cast<std::size_t>(c.below(static_cast<std::int64_t>(vectors.size())))];
  const sort_kw down{.descending = c.chance(50)};
  switch (c.below(9)) {
    case 0: return sort(x, down);
    case 1: return argsort(x, down);
    case 2: return topk(x, c.below(x.size() + 1), {.largest = c.chance(50)}).values;
    case 3: return topk(x, c.below(x.size() + 1)).indices;
    case 4: return cumsum((x > 0.5).astype(int64));
    case 5: return x.size() == 0 ? x : cummax(x);
    case 6: return histogram(x, 1 + c.below(9), {.range = {-2, 3}}).hist;
    case 7: return bincount(clip(rint(abs(nan_to_num(x))), 0, 30).astype(int64), {.minlength = 1 + c.below(40)});
    default: return x.size() == 0 ? x : median(x.astype(float64));
  }
}

/// Numbers of rows, made of the elements of one of the vectors: they lie as these do.
inline ndarray any_list(choices& c, const std::vector<ndarray>& all, std::int64_t rows) {
  std::vector<ndarray> vectors;
  for (const ndarray& y : all)
    if (y.ndim() == 1 && y.size() < 300) vectors.push_back(y);
  const ndarray y = vectors[static_cast<std::size_t>(c.below(static_cast<std::int64_t>(vectors.size())))];
  const ndarray number = (arange(y.size(), {.device = y.device()}) * (1 + c.below(9)) + (y > 0.5)) % rows;
  return c.chance(30) ? number - rows : number;
}

inline ndarray step(choices& c, std::vector<ndarray>& all) {
  const ndarray x = all[static_cast<std::size_t>(c.below(static_cast<std::int64_t>(all.size())))];
  switch (c.below(16)) {
    case 0: return x * 1.5 - 2;
    case 1: return sqrt(abs(x.astype(float64))).astype(c.chance(50) ? float32 : float64);
    case 2:
    case 3: {
      std::vector<ndarray> fit;
      for (const ndarray& y : all)
        if (broadcast(x, y)) fit.push_back(y);
      const ndarray y = fit[static_cast<std::size_t>(c.below(static_cast<std::int64_t>(fit.size())))];
      switch (c.below(4)) {
        case 0: return x + y;
        case 1: return x * y;
        case 2: return maximum(x, y);
        default: return where(x > y, x, y * 0.5);
      }
    }
    case 4:
    case 5: return x.ndim() > 0 ? ndarray(x(key_of(c, x))) : x.dtype() == bool_ ? ~x : -x;
    case 6: {
      if (x.ndim() == 0) return x + 1;
      const axes over{c.below(x.ndim())};
      if (x.shape(*over.begin()) == 0) return x;
      const reduce_kw kw{.axis = over, .keepdims = c.chance(50)};
      switch (c.below(6)) {
        case 0: return sum(x, kw);
        case 1: return mean(x, kw);
        case 2: return max(x, kw);
        case 3: return argmin(x, kw);
        case 4: return any(x > 0.5, kw);
        default: return prod(clip(x, 0.5, 1.5), kw);
      }
    }
    case 7: return x.size() == 0 ? x : c.chance(50) ? sum(x) : argmax(x).astype(float64);
    case 8: return c.chance(50) ? x.T() : x.ndim() > 3 ? x : expand_dims(x, 0);
    case 9: {
      ndarray y = x.copy();
      if (y.ndim() == 0 || y.size() == 0) return y;
      const std::vector<sinter::index> key = key_of(c, y);
      if (c.chance(50)) y(key) = c.below(9);
      else y(key) += ndarray(y(key));
      return y;
    }
    case 10:
    case 11: return of_vector(c, all);
    case 12: return x.size() > 2000 ? x : x.reshape({-1});
    case 13:
    case 14: {  // rows by their numbers: read, written, added to
      if (x.ndim() == 0 || x.size() == 0) return x;
      const ndarray list = any_list(c, all, x.shape(0));
      if (c.chance(50)) return x(list);
      ndarray y = x.astype(float64).copy();
      if (c.chance(50)) y(list) = 1 + ndarray(y(list));
      else add_at(y, list, 0.5, {.deterministic = true});
      return y;
    }
    default: return x.ndim() == 0 ? x : roll(x, c.below(5) - 2, axes{c.below(x.ndim())});
  }
}

/// The results of a program, of which leaf(x) makes the arrays to begin with.
template <class Leaf>
std::vector<ndarray> run_program(unsigned seed, Leaf leaf) {
  choices c(seed);
  const std::int64_t rows = c.chance(10) ? 2000 + c.below(3000) : 1 + c.below(40), columns = 1 + c.below(30);
  random::generator g(static_cast<std::int64_t>(seed));
  std::vector<ndarray> all{leaf(g.standard_normal({rows, columns})), leaf(g.random({columns})),
                           leaf(floor(g.random({rows, 1}) * 9).astype(int32)),
                           leaf(g.random({2, rows, columns}, {.dtype = float32}))};
  const std::int64_t steps = 3 + c.below(9);
  for (std::int64_t k = 0; k < steps; ++k) {
    all.push_back(step(c, all));
    if (c.chance(20)) eval(all.back());
  }
  return all;
}

inline dist::placements any_placements(choices& c, const dist::mesh& m, const ndarray& x) {
  dist::placements how;
  for (std::int64_t a = 0; a < m.shape().ndim(); ++a)
    how.push_back(x.ndim() == 0 || c.chance(25) ? dist::replicate() : dist::shard(c.below(x.ndim())));
  return how;
}

}  // namespace sinter::test
