// Ten programs as a user would write them: the same lines on one device and on meshes of any number of positions, in one
// process or in several.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "dist/meshes.hpp"

namespace sinter::test {

/// Where a program puts its arrays.
struct places {
  std::function<ndarray(const ndarray&)> rows, blocks, all;  // by rows, by blocks of two axes, everywhere
  std::function<ndarray(const ndarray&)> everywhere;         // of an array that has a place
  std::function<ndarray(random::generator&, std::int64_t)> numbers;
  std::function<ndarray(const ndarray&)> columns;  // by the second axis
};

inline places one_device() {
  const auto same = [](const ndarray& x) { return x; };
  return {same, same, same, same, [](random::generator& g, std::int64_t n) { return g.random({n}); }, same};
}

/// line: a mesh of one axis; grid: one of two. Both of as many positions.
inline places on_mesh(const dist::mesh& line, const dist::mesh& grid) {
  using dist::shard;
  return {[=](const ndarray& x) { return dist::shard(x, line, {shard(0)}); },
          [=](const ndarray& x) {
            return dist::shard(x, grid, {shard(0), shard(1)});
          },
          [=](const ndarray& x) { return dist::shard(x, line, {}); },
          [](const ndarray& x) { return dist::redistribute(x, {}); },
          [=](random::generator& g, std::int64_t n) { return dist::random(g, {n}, line, {shard(0)}); },
          [=](const ndarray& x) { return dist::shard(x, line, {shard(1)}); }};
}

inline ndarray jacobi(const places& p) {
  ndarray u = p.blocks(random::generator(101).random({41, 38}));
  for (int k = 0; k < 12; ++k) {
    u["1:-1, 1:-1"] = 0.25 * (u[":-2, 1:-1"] + u["2:, 1:-1"] + u["1:-1, :-2"] + u["1:-1, 2:"]);
    if (k % 4 == 3) eval(u);
  }
  return u;
}

inline ndarray k_means(const places& p) {
  using namespace sinter::idx;
  const ndarray points = random::generator(102).standard_normal({500, 2});
  const ndarray x = p.rows(points);
  ndarray centers = p.all(points["0:4"].copy());
  for (int k = 0; k < 5; ++k) {
    const ndarray d = sum(square(x(_, newaxis) - centers(newaxis)), {.axis = 2});
    const ndarray label = argmin(d, {.axis = 1});
    std::vector<ndarray> moved;
    for (std::int64_t c = 0; c < 4; ++c) {
      const ndarray mine = (label == c)(_, newaxis);
      moved.push_back(sum(where(mine, x, 0.0), {.axis = 0}) / maximum(sum(mine), 1));
    }
    centers = stack(moved);
    eval(centers);
  }
  return centers;
}

inline ndarray principal_components(const places& p) {
  const ndarray x = p.rows(random::generator(103).standard_normal({301, 6}) * arange(1, 7));
  const ndarray c = x - mean(x, {.axis = 0});
  return linalg::eigh(p.everywhere(matmul(c.T(), c) / 300)).eigenvalues;
}

inline ndarray equalised(const places& p) {
  const ndarray image = p.rows(floor(square(random::generator(104).random({60, 45})) * 256).astype(int32));
  const ndarray counts = bincount(ravel(image), {.minlength = 256});
  const ndarray table = cumsum(counts).astype(float64) * (255.0 / static_cast<double>(image.size()));
  return rint(take(table, image)).astype(uint8);
}

inline ndarray power_iteration(const places& p) {
  const ndarray w = random::generator(105).random({48, 48});
  const ndarray a = p.rows(w + w.T());
  ndarray v = p.all(ones({48}));
  for (int k = 0; k < 20; ++k) {
    const ndarray next = matmul(a, v);
    v = p.everywhere(next / linalg::norm(next));
  }
  return vdot(v, matmul(a, v));
}

/// Blocks of bodies travel in a ring, so that each meets all others.
inline ndarray bodies(const places& p) {
  random::generator g(106);
  constexpr std::int64_t blocks = 6, each = 20;
  ndarray at = p.rows(g.standard_normal({blocks, each, 3})), speed = p.rows(zeros({blocks, each, 3}));
  for (int k = 0; k < 2; ++k) {
    ndarray visitor = at, force = zeros_like(at);
    for (std::int64_t b = 0; b < blocks; ++b) {
      const ndarray d = expand_dims(visitor, 1) - expand_dims(at, 2);
      const ndarray r2 = sum(square(d), {.axis = 3, .keepdims = true}) + 0.01;
      force = force + sum(d / (r2 * sqrt(r2)), {.axis = 2});
      visitor = roll(visitor, -1, axes{0});
    }
    speed = speed + 0.001 * force;
    at = at + 0.001 * speed;
    eval(at, speed);
  }
  return at;
}

inline ndarray ridge(const places& p) {
  random::generator g(107);
  const ndarray data = g.standard_normal({207, 9}), target = matmul(data, arange(9)) + g.standard_normal({207});
  const ndarray x = p.rows(data), y = p.rows(target);
  const auto apply = [&](const ndarray& v) { return p.everywhere(matmul(x.T(), matmul(x, v))) + 0.5 * v; };
  ndarray w = p.all(zeros({9})), r = p.everywhere(matmul(x.T(), y)), d = r;
  ndarray rr = vdot(r, r);
  for (int k = 0; k < 9; ++k) {
    const ndarray ad = apply(d), step = rr / vdot(d, ad);
    w = w + step * d;
    r = r - step * ad;
    const ndarray next = vdot(r, r);
    d = r + next / rr * d;
    rr = next;
  }
  return w;
}

inline ndarray monte_carlo(const places& p) {
  random::generator g(108);
  const ndarray x = p.numbers(g, 30001), y = p.numbers(g, 30001);
  return stack({mean((x * x + y * y < 1).astype(float64)) * 4, mean(exp(-x) * y), max(x - y)});
}

inline ndarray moving_averages(const places& p) {
  const ndarray x = p.rows(random::generator(109).standard_normal({5003}));
  const ndarray three = (x[":-2"] + x["1:-1"] + x["2:"]) / 3;
  const ndarray five = (three[":-2"] + three["1:-1"] + three["2:"]) / 3;
  return five["::2"] - 0.5 * x["2:-2:2"];
}

inline ndarray best_rows(const places& p) {
  random::generator g(110);
  const ndarray x = p.rows(g.standard_normal({4001, 5})), w = p.all(g.random({5}));
  const topk_result best = topk(rint(sum(x * w, {.axis = 1}) * 8), 12);
  return concatenate({best.values, best.indices.astype(float64), ravel(take(x, best.indices, 0))});
}

struct user_program {
  const char* name;
  ndarray (*run)(const places&);
  double allowed;  // 0: the same bits
};
inline const std::vector<user_program>& user_programs() {
  static const std::vector<user_program> all{{"Jacobi", jacobi, 0},
                                             {"k-means", k_means, 0},
                                             {"principal components", principal_components, 1e-11},
                                             {"histogram equalisation", equalised, 0},
                                             {"power iteration", power_iteration, 1e-10},
                                             {"bodies", bodies, 0},
                                             {"ridge regression", ridge, 1e-9},
                                             {"Monte Carlo", monte_carlo, 0},
                                             {"moving averages", moving_averages, 0},
                                             {"the best rows", best_rows, 0}};
  return all;
}

/// Empty, or what is wrong with a result.
inline std::string difference_of(const user_program& u, const ndarray& got, const ndarray& want) {
  if (u.allowed == 0) return identical(got, want) ? "" : "has other bits";
  const ndarray here = dist::is_distributed(got) ? dist::gather(got) : got;
  const double far = max(abs(here - want.to_device(here.device()))).item<double>();
  return here.shape() == want.shape() && far <= u.allowed ? "" : "differs by " + std::to_string(far);
}

}  // namespace sinter::test
