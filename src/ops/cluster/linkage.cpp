// src/ops/cluster: groups of points: k-means, DBSCAN, trees of clusters.
//
// Trees of clusters, made on the host: by a minimum spanning tree for single linkage, else by chains of nearest neighbours
// (F. Murtagh, "A survey of recent advances in hierarchical clustering algorithms", 1983; the order of merges among equal
// distances is SciPy's).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "ops/base/algorithm_calls.hpp"
#include "ops/base/errors.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/spatial/metrics.hpp"
#include "sinter/cluster.hpp"
#include "sinter/creation.hpp"

namespace sinter::ops {
namespace {

using std::int64_t;

std::size_t place_in(int64_t i) { return static_cast<std::size_t>(i); }

struct merge_step {
  int64_t first, second;
  double distance;
  int64_t size;
};

/// A symmetric matrix of distances.
class square_distances {
 public:
  square_distances(std::span<const double> condensed, int64_t n)
      : n_(n), memory_(unset_leaf(dims{n, n}, dtype::f64, {})), all_(static_cast<double*>(address_to_write(memory_))) {
    auto from = condensed.begin();
    for (int64_t i = 0; i < n; ++i) {
      all_[i * n + i] = 0;
      std::copy(from, from + (n - 1 - i), all_ + i * n + i + 1);
      from += n - 1 - i;
    }
    constexpr int64_t tile = 32;  // below the diagonal, so that each line of the cache is written once
    for (int64_t rows = 0; rows < n; rows += tile)
      for (int64_t columns = 0; columns <= rows; columns += tile)
        for (int64_t i = rows; i < std::min(n, rows + tile); ++i)
          for (int64_t j = columns; j < std::min(i, columns + tile); ++j) all_[i * n + j] = all_[j * n + i];
  }
  const double* row(int64_t i) const noexcept { return all_ + i * n_; }
  void set(int64_t i, int64_t j, double d) noexcept { all_[i * n_ + j] = all_[j * n_ + i] = d; }

 private:
  int64_t n_;
  value memory_;  // of the device's pools, which have large pages and keep them
  double* all_;
};

/// Prim's algorithm. Points that are not in the tree yet stay in their order.
std::vector<merge_step> spanning_tree(const square_distances& d, int64_t n) {
  std::vector<double> nearest(place_in(n - 1), HUGE_VAL);
  std::vector<int64_t> left(place_in(n - 1));
  std::iota(left.begin(), left.end(), 1);
  std::vector<merge_step> steps;
  int64_t x = 0;
  for (int64_t count = n - 1; count > 0; --count) {
    const double* row = d.row(x);
    std::size_t best = 0;
    for (std::size_t k = 0; k < place_in(count); ++k) {
      nearest[k] = std::min(nearest[k], row[left[k]]);
      if (nearest[k] < nearest[best]) best = k;
    }
    const int64_t y = left[best];
    steps.push_back({x, y, nearest[best], 0});
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
    nearest.erase(nearest.begin() + static_cast<std::ptrdiff_t>(best));
    x = y;
  }
  return steps;
}

enum class method { single, complete, average, weighted, ward };

/// The distance of cluster i to the union of x and y (Lance and Williams).
double joined_distance(method how, double xi, double yi, double xy, double nx, double ny, double ni) {
  switch (how) {
    case method::complete: return std::max(xi, yi);
    case method::average: return (nx * xi + ny * yi) / (nx + ny);
    case method::weighted: return 0.5 * (xi + yi);
    default: {
      const double t = 1.0 / (nx + ny + ni);
      return std::sqrt((ni + nx) * t * xi * xi + (ni + ny) * t * yi * yi - ni * t * xy * xy);
    }
  }
}

class chains {
 public:
  chains(square_distances d, int64_t n, method how) : d_(std::move(d)), n_(n), how_(how), size_(place_in(n), 1) {}

  std::vector<merge_step> merges() {
    std::vector<merge_step> steps;
    std::vector<int64_t> chain;
    for (int64_t k = 0; k + 1 < n_; ++k) {
      if (chain.empty())
        chain.push_back(std::find_if(size_.begin(), size_.end(), [](double s) { return s > 0; }) - size_.begin());
      const merge_step step = end_of(chain);
      steps.push_back(step);
      merge(step);
    }
    return steps;
  }

 private:
  /// Follows nearest neighbours until two are each other's, and takes these off the chain.
  merge_step end_of(std::vector<int64_t>& chain) const {
    for (;;) {
      const int64_t x = chain.back(), before = chain.size() > 1 ? chain[chain.size() - 2] : -1;
      const double* row = d_.row(x);
      // The one before is preferred among equals, else the chain could run in a circle.
      double least = before >= 0 ? row[before] : HUGE_VAL;
      int64_t y = before;
      for (int64_t i = 0; i < n_; ++i)
        if (row[i] < least && size_[place_in(i)] != 0 && i != x) least = row[i], y = i;
      if (before >= 0 && y == before) {
        chain.resize(chain.size() - 2);
        const int64_t low = std::min(x, y), high = std::max(x, y);
        return {low, high, least, 0};
      }
      chain.push_back(y);
    }
  }
  void merge(const merge_step& s) {
    const double nx = size_[place_in(s.first)], ny = size_[place_in(s.second)];
    size_[place_in(s.first)] = 0;
    size_[place_in(s.second)] = nx + ny;
    const double *x = d_.row(s.first), *y = d_.row(s.second);
    for (int64_t i = 0; i < n_; ++i) {
      const double ni = size_[place_in(i)];
      if (ni != 0 && i != s.second) d_.set(i, s.second, joined_distance(how_, x[i], y[i], s.distance, nx, ny, ni));
    }
  }

  square_distances d_;
  int64_t n_;
  method how_;
  std::vector<double> size_;  // 0: merged into another one
};

/// Merges in order of distance, with the numbers that clusters have then.
std::vector<merge_step> numbered(std::vector<merge_step> steps, int64_t n) {
  std::stable_sort(steps.begin(), steps.end(), [](auto& a, auto& b) { return a.distance < b.distance; });
  std::vector<int64_t> above(place_in(2 * n - 1)), size(place_in(2 * n - 1), 1);
  std::iota(above.begin(), above.end(), 0);
  const auto root_of = [&](int64_t i) {
    while (above[place_in(i)] != i) i = above[place_in(i)] = above[place_in(above[place_in(i)])];
    return i;
  };
  int64_t next = n;
  for (auto& s : steps) {
    const int64_t a = root_of(s.first), b = root_of(s.second);
    s = {std::min(a, b), std::max(a, b), s.distance, size[place_in(a)] + size[place_in(b)]};
    above[place_in(a)] = above[place_in(b)] = next;
    size[place_in(next++)] = s.size;
  }
  return steps;
}

method method_of(std::string_view name) {
  if (name == "single") return method::single;
  if (name == "complete") return method::complete;
  if (name == "average") return method::average;
  if (name == "weighted") return method::weighted;
  if (name == "ward") return method::ward;
  fail<value_error>("linkage", "no method \"", name, "\"");
}

}  // namespace
}  // namespace sinter::ops

namespace sinter::inline v0 {

using namespace ops;

ndarray cluster::linkage(const ndarray& y, const linkage_kw& kw) {
  const char* const function = "linkage";
  const method how = method_of(kw.method);
  const dims& shape = view_of(y, function).shape;
  if (is_complex(y.dtype())) fail<dtype_error>(function, "distances or points of dtype ", y.dtype(), " are not real");
  if (shape.size() != 1 && shape.size() != 2)
    fail<shape_error>(function, "shape ", shape, " is neither that of distances nor of points (n, d)");
  if (shape.size() == 2 && how == method::ward && kw.metric != "euclidean")
    fail<value_error>(function, "ward takes the metric \"euclidean\", not \"", kw.metric, "\"");
  const ndarray distances =
      (shape.size() == 1 ? y : spatial::pdist(y.astype(float64, false), kw.metric)).astype(float64, false);
  const host_view<double> on_host = for_host(distances, function).host<double>();
  const std::span<const double> condensed(on_host.data(), on_host.size());
  const auto count = static_cast<std::int64_t>(condensed.size());
  const auto n = static_cast<std::int64_t>(std::ceil(std::sqrt(2.0 * static_cast<double>(count))));
  if (n * (n - 1) / 2 != count) fail<value_error>(function, count, " distances are not those of all pairs of points");
  if (n < 2) fail<value_error>(function, "there are fewer than 2 points");
  if (!std::all_of(condensed.begin(), condensed.end(), [](double d) { return std::isfinite(d); }))
    fail<value_error>(function, "distances must be finite");
  square_distances square(condensed, n);
  const std::vector<merge_step> steps =
      numbered(how == method::single ? spanning_tree(square, n) : chains(std::move(square), n, how).merges(), n);
  std::vector<double> z;
  for (const merge_step& s : steps)
    z.insert(z.end(),
             {static_cast<double>(s.first), static_cast<double>(s.second), s.distance, static_cast<double>(s.size)});
  return array(z.data(), {n - 1, 4}, {.device = y.device()});
}

}  // namespace sinter::inline v0
