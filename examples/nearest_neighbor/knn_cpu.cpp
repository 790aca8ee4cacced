// k nearest neighbours on the CPU: the squares of a block of rows by a recorded expression, in many dimensions by a matrix
// product in float64; the selection by the standard library on all cores.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "common/cores.hpp"
#include "knn.hpp"

namespace nearest_neighbor::detail {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Whether there is a BLAS library.
bool has_products() {
  static const bool found = [] {
    try {
      sn::eval(sn::matmul(sn::ones({2, 2}), sn::ones({2, 2})));
      return true;
    } catch (const sn::device_error&) {
      return false;
    }
  }();
  return found;
}

/// |u|^2 + |v|^2 - 2 uv: in float64, what cancels is far below what float32 shows.
ndarray squares_by_product(const ndarray& u, const ndarray& v) {
  using namespace sn::idx;
  const ndarray x = u.astype(sn::float64), y = v.astype(sn::float64);
  const ndarray squares = sn::sum(sn::square(x), 1)(_, newaxis) + sn::sum(sn::square(y), 1);
  return sn::maximum(squares - 2 * sn::matmul(x, y.T()), 0).astype(sn::float32);
}

/// (rows, N): squared differences of all pairs; NaN counts as infinitely far.
ndarray squares_of(const ndarray& u, const ndarray& v) {
  using namespace sn::idx;
  ndarray sum;
  if (u.shape(1) <= 8) {  // side by side in one pass; an axis of its own pays from there on
    for (std::int64_t d = 0; d < u.shape(1); ++d) {
      const auto square = sn::square(u(_, newaxis, d) - v(_, d));
      sum = sum.defined() ? sum + square : square;
    }
  } else if (has_products()) {
    sum = squares_by_product(u, v);
  } else {
    sum = sn::sum(sn::square(u(_, newaxis) - v), 2);
  }
  return sn::where(sn::isnan(sum), infinity, sum);
}

/// Turns the chosen squares of one row into distances.
void finish(const float* p, const float* q, metric how, int k, std::int64_t* index, float* distance) {
  for (int j = 0; j < k; ++j) {
    if (distance[j] == infinity) index[j] = -1;
    else if (how == metric::euclidean) distance[j] = std::sqrt(distance[j]);
    else if (how == metric::cosine) distance[j] /= 2;
    else distance[j] = great_circle_km(p[0], p[1], q[2 * index[j]], q[2 * index[j] + 1]);
  }
  if (how != metric::haversine) return;
  // Squared chords of rounded unit vectors give the order up to a metre.
  std::vector<std::pair<float, std::int64_t>> order(static_cast<std::size_t>(k));
  for (int j = 0; j < k; ++j) order[static_cast<std::size_t>(j)] = {distance[j], index[j]};
  std::sort(order.begin(), order.end());
  for (int j = 0; j < k; ++j) std::tie(distance[j], index[j]) = order[static_cast<std::size_t>(j)];
}

}  // namespace

knn_block knn_on_cpu(const knn_inputs& in, int k, metric how) {
  const std::int64_t m = in.u.shape(0), n = in.v.shape(0);
  const auto squares = squares_of(in.u, in.v).host<float>();
  const auto p = in.p.host<float>(), q = in.q.host<float>();
  std::vector<std::int64_t> index(static_cast<std::size_t>(m * k)), columns(static_cast<std::size_t>(n));
  std::vector<float> distance(index.size());
  std::iota(columns.begin(), columns.end(), std::int64_t{0});
  examples::on_cores(m, 16, examples::core_count(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const float* row = squares.data() + i * n;
      std::int64_t* chosen = &index[static_cast<std::size_t>(i * k)];
      std::partial_sort_copy(columns.begin(), columns.end(), chosen, chosen + k, [row](std::int64_t a, std::int64_t b) {
        return row[a] < row[b] || (row[a] == row[b] && a < b);
      });
      float* far = &distance[static_cast<std::size_t>(i * k)];
      for (int j = 0; j < k; ++j) far[j] = row[chosen[j]];
      finish(p.data() + i * in.p.shape(1), q.data(), how, k, chosen, far);
    }
  });
  const sn::create_kw here{.device = in.u.device()};
  return {sn::array(index.data(), {m, k}, here), sn::array(distance.data(), {m, k}, here)};
}

}  // namespace nearest_neighbor::detail
