// Lloyd's iteration (S. Lloyd, "Least squares quantization in PCM", 1982).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ops/base/opaque_call.hpp"
#include "ops/cluster/means.hpp"
#include "runtime/parallel.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/sort.hpp"

namespace sinter::ops {

using namespace idx;
using std::int64_t;

namespace {

std::size_t at_place(int64_t i) { return static_cast<std::size_t>(i); }

/// Sums of points and weights for each cluster, in float64; the order of the additions follows from n alone.
template <class T>
class host_sums {
 public:
  host_sums(const ndarray& x, const ndarray& weights, int64_t k)
      : x_(for_host(x).host<T>()), n_(x.shape(0)), d_(x.shape(1)), k_(k), all_(at_place(k * (d_ + 1))) {
    if (weights.defined()) weights_ = weights.to_vector<T>();
  }

  void add(const int64_t* labels) {
    const int64_t pieces = std::clamp<int64_t>(n_ / 8192, 1, 16), step = (n_ + pieces - 1) / pieces;
    const int64_t width = d_ + 1;
    std::vector<double> parts(at_place(pieces * k_ * width));
    runtime::parallel_for(pieces, static_cast<double>(n_ * width), [&](int64_t p) {
      double* to = parts.data() + p * k_ * width;
      for (int64_t i = p * step; i < std::min(n_, (p + 1) * step); ++i) {
        const double w = weight(i);
        const T* from = x_.data() + i * d_;
        double* row = to + labels[i] * width;
        for (int64_t j = 0; j < d_; ++j) row[j] += w * static_cast<double>(from[j]);
        row[d_] += w;
      }
    });
    std::fill(all_.begin(), all_.end(), 0.0);
    for (int64_t p = 0; p < pieces; ++p)
      for (std::size_t i = 0; i < all_.size(); ++i) all_[i] += parts[at_place(p) * all_.size() + i];
  }

  /// Empty clusters take the points farthest from their centers, which leave their clusters.
  void fill_empty(const int64_t* labels, const std::vector<T>& centers) {
    std::vector<int64_t> empty;
    for (int64_t c = 0; c < k_; ++c)
      if (!(row(c)[d_] > 0)) empty.push_back(c);
    if (empty.empty()) return;
    std::vector<double> squares(at_place(n_));
    for (int64_t i = 0; i < n_; ++i)
      for (int64_t j = 0; j < d_; ++j) {
        const double off =
            static_cast<double>(x_[at_place(i * d_ + j)]) - static_cast<double>(centers[at_place(labels[i] * d_ + j)]);
        squares[at_place(i)] += off * off;
      }
    std::vector<int64_t> far(at_place(n_));
    std::iota(far.begin(), far.end(), 0);
    const auto end = far.begin() + static_cast<std::ptrdiff_t>(empty.size());
    std::partial_sort(far.begin(), end, far.end(), [&](int64_t a, int64_t b) {
      return squares[at_place(a)] > squares[at_place(b)] || (squares[at_place(a)] == squares[at_place(b)] && a < b);
    });
    if (squares[at_place(far[0])] == 0) return;  // all points lie on centers
    for (std::size_t e = 0; e < empty.size(); ++e) {
      const int64_t i = far[e];
      double *to = row(empty[e]), *from = row(labels[i]);
      for (int64_t j = 0; j <= d_; ++j) {
        const double moved = weight(i) * (j < d_ ? static_cast<double>(x_[at_place(i * d_ + j)]) : 1.0);
        to[j] = moved;
        from[j] -= moved;
      }
    }
  }

  /// The means; a cluster without points keeps its center.
  std::vector<T> centers(const std::vector<T>& before) {
    std::vector<T> out = before;
    for (int64_t c = 0; c < k_; ++c)
      for (int64_t j = 0; j < d_ && row(c)[d_] > 0; ++j)
        out[at_place(c * d_ + j)] = static_cast<T>(row(c)[j] / row(c)[d_]);
    return out;
  }

 private:
  double weight(int64_t i) const { return weights_.empty() ? 1.0 : static_cast<double>(weights_[at_place(i)]); }
  double* row(int64_t c) { return all_.data() + c * (d_ + 1); }

  host_view<T> x_;
  int64_t n_, d_, k_;
  std::vector<double> all_;  // (k, d + 1): sums, then weights
  std::vector<T> weights_;
};

template <class T>
double squared_shift(const std::vector<T>& a, const std::vector<T>& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double off = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    out += off * off;
  }
  return out;
}

template <class T>
lloyd_result lloyd_with(const ndarray& x, const ndarray& weights, const ndarray& first, const lloyd_limits& l) {
  const int64_t k = first.shape(0);
  host_sums<T> sums(x, weights, k);
  std::vector<T> centers = first.to_vector<T>();
  const auto array_of = [&](const std::vector<T>& c) { return array(c.data(), first.shape(), {.device = x.device()}); };
  ndarray labels;
  int64_t step = 0;
  for (; step < l.max_iter;) {
    ++step;
    const ndarray now = nearest_center(x, array_of(centers));
    eval(now);
    const auto numbers = now.host<int64_t>();
    sums.add(numbers.data());
    sums.fill_empty(numbers.data(), centers);
    const std::vector<T> next = sums.centers(centers);
    const double shift = squared_shift(next, centers);
    centers = next;
    bool same = false;
    if (labels.defined()) {
      const auto before = labels.host<int64_t>();
      same = std::equal(before.begin(), before.end(), numbers.begin());
    }
    labels = now;
    if (same) return {array_of(centers), labels, step};
    if (shift <= l.shift) break;
  }
  const ndarray at_last = array_of(centers);
  return {at_last, nearest_center(x, at_last), step};
}

/// After some steps of a device: clusters that are empty move to the farthest points. True if there were any.
bool move_empty(const ndarray& x, const ndarray& labels, const ndarray& weights_of_clusters, ndarray& centers) {
  const ndarray empty = flatnonzero(weights_of_clusters == 0);
  if (empty.size() == 0) return false;
  const ndarray squares = sum(square(x - take(centers, labels, 0)), 1);
  const topk_result far = topk(squares, empty.size());
  if (!(far.values(0).item<double>() > 0)) return false;
  centers = centers.copy();
  centers(empty) = take(x, far.indices, 0);
  return true;
}

constexpr int steps_between_looks = 8;

}  // namespace

lloyd_result lloyd_on_host(const ndarray& x, const ndarray& weights, const ndarray& centers, const lloyd_limits& l) {
  return x.dtype() == dtype::f32 ? lloyd_with<float>(x, weights, centers, l)
                                 : lloyd_with<double>(x, weights, centers, l);
}

lloyd_result lloyd_recorded(const ndarray& x, const ndarray& weights, const ndarray& first, const lloyd_limits& l) {
  const int64_t k = first.shape(0);
  const create_kw on{.device = x.device()};
  ndarray centers = first, labels = full({x.shape(0)}, -1, on), held;
  ndarray done = zeros({}, {.dtype = bool_, .device = x.device()}),
          taken = zeros({}, {.dtype = int64, .device = x.device()});
  for (int64_t step = 1; step <= l.max_iter; ++step) {
    const ndarray now = nearest_center(x, centers);
    eval(now);
    const cluster_sums sums = sums_of_clusters(x, weights, now, k);
    held = sums.weights;
    const ndarray next = where(held(_, newaxis) > 0, sums.sums / held(_, newaxis), centers);
    const ndarray stops = logical_or(all(now == labels), sum(square(next - centers)) <= l.shift);
    taken = taken + logical_not(done).astype(int64);
    centers = where(done, centers, next);
    labels = now;
    done = logical_or(done, stops);
    eval(centers, done, taken, held);
    if (step % steps_between_looks != 0 && step != l.max_iter) continue;
    const bool moved = step < l.max_iter && move_empty(x, labels, held, centers);
    if (moved) {
      done = zeros({}, {.dtype = bool_, .device = x.device()});
      continue;
    }
    if (static_cast<bool>(done)) break;
  }
  return {centers, nearest_center(x, centers), taken.item<int64_t>()};
}

}  // namespace sinter::ops
