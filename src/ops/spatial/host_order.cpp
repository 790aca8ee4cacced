// The order of points in a tree on the host: halves about medians.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "ops/spatial/walks.hpp"
#include "runtime/parallel.hpp"
#include "sinter/creation.hpp"
#include "sinter/interop.hpp"

namespace sinter::ops {
namespace {

using std::int64_t;

template <class T, int D>
struct numbered {
  T x[D];
  std::int32_t id;
};
/// Points [first, last) below a node with so many leaves.
struct part {
  int64_t first, last, leaves;
};

/// Puts those of one half before those of the other, by the coordinate in which they lie furthest apart. The first half fills
/// its leaves.
template <class T, int D>
int64_t halve(std::vector<numbered<T, D>>& points, const part& p, int64_t bucket) {
  const int64_t middle = p.first + p.leaves / 2 * bucket;
  if (middle >= p.last) return p.last;
  numbered<T, D> low = points[static_cast<std::size_t>(p.first)], high = low;
  for (int64_t k = p.first; k < p.last; ++k)
    for (int i = 0; i < D; ++i) {
      const T x = points[static_cast<std::size_t>(k)].x[i];
      low.x[i] = std::min(low.x[i], x);
      high.x[i] = std::max(high.x[i], x);
    }
  int widest = 0;
  for (int i = 1; i < D; ++i)
    if (high.x[i] - low.x[i] > high.x[widest] - low.x[widest]) widest = i;
  const auto at = points.begin();
  std::nth_element(at + p.first, at + middle, at + p.last,
                   [widest](const auto& a, const auto& b) { return a.x[widest] < b.x[widest]; });
  return middle;
}

template <class T, int D>
ndarray order_of(const ndarray& x, int64_t leaves, int64_t bucket) {
  const int64_t n = x.shape(0);
  const auto from = x.host<T>();
  std::vector<numbered<T, D>> points(static_cast<std::size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    auto& p = points[static_cast<std::size_t>(k)];
    for (int i = 0; i < D; ++i) p.x[i] = from.data()[k * D + i];
    p.id = static_cast<std::int32_t>(k);
  }
  std::vector<part> level{{0, n, leaves}};
  for (; leaves > 1 && !level.empty(); leaves /= 2) {
    std::vector<part> halves(2 * level.size());
    runtime::parallel_for(static_cast<int64_t>(level.size()), 10.0 * static_cast<double>(n), [&](int64_t i) {
      const part p = level[static_cast<std::size_t>(i)];
      const int64_t middle = halve(points, p, bucket);
      halves[static_cast<std::size_t>(2 * i)] = {p.first, middle, p.leaves / 2};
      halves[static_cast<std::size_t>(2 * i + 1)] = {middle, p.last, p.leaves / 2};
    });
    std::erase_if(halves, [bucket](const part& p) { return p.last - p.first <= bucket; });
    level = std::move(halves);
  }
  std::vector<int64_t> order(static_cast<std::size_t>(n));
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = points[k].id;
  return array(order.data(), {n}, {.device = cpu});
}

}  // namespace

ndarray order_by_medians(const ndarray& points, int64_t leaves, int64_t bucket) {
  return with_dimensions(points.shape(1), [&]<int D>(std::integral_constant<int, D>) {
    return points.dtype() == dtype::f32 ? order_of<float, D>(points, leaves, bucket)
                                        : order_of<double, D>(points, leaves, bucket);
  });
}

}  // namespace sinter::ops
