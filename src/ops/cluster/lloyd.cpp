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
      : x_(for_host(x, "kmeans").host<T>()), n_(x.shape(0)), d_(x.shape(1)), k_(k), all_(at_place(k * (d_ + 1))) {
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

/// Empty clusters take the points farthest from `centers`, which leave their clusters, as host_sums::fill_empty does; waits.
void move_to_empty(cluster_sums& of, const ndarray& x, const ndarray& weights, const ndarray& labels,
                   const ndarray& centers) {
  const ndarray empty = flatnonzero(of.weights == 0);
  if (empty.size() == 0) return;
  const topk_result far = topk(sum(square(x - take(centers, labels, 0)), 1), empty.size());
  if (!(far.values(0).item<double>() > 0)) return;  // all points lie on centers
  const ndarray points = take(x, far.indices, 0);
  const auto to = empty.to_vector<int64_t>(), from = take(labels, far.indices).to_vector<int64_t>();
  of = {of.sums.copy(), of.weights.copy()};
  for (std::size_t e = 0; e < to.size(); ++e) {
    const auto nth = static_cast<int64_t>(e);
    const ndarray weight =
        weights.defined() ? weights(far.indices(nth)) : ones({}, {.dtype = x.dtype(), .device = x.device()});
    const ndarray moved = points(nth) * weight;
    of.sums(to[e]) = moved;
    of.sums(from[e]) -= moved;
    of.weights(to[e]) = weight;
    of.weights(from[e]) -= weight;
  }
}

/// Where recorded steps stand: nothing here waits but what asks.
struct recorded_state {
  ndarray centers, labels;
  ndarray done, taken;  // bool, int64: whether the steps have ended, and how many were taken before
  ndarray lacked;       // bool: whether a cluster was empty since the last look
};

/// One step; one that follows the end changes nothing but labels. Empty clusters are filled, for which it waits, or noted.
void take_step(recorded_state& s, const ndarray& x, const ndarray& weights, double shift, bool fills) {
  assigned_points found = assign_points(x, weights, s.centers, s.labels);
  cluster_sums& sums = found.sums;
  if (fills) {
    eval(sums.sums, sums.weights);
    move_to_empty(sums, x, weights, found.labels, s.centers);
  }
  const ndarray held = sums.weights(_, newaxis);
  const ndarray next = where(held > 0, sums.sums / held, s.centers);
  const ndarray stops = logical_or(found.same, sum(square(next - s.centers)) <= shift);
  s.lacked = logical_or(s.lacked, logical_and(logical_not(s.done), any(sums.weights == 0)));
  s.taken = s.taken + logical_not(s.done).astype(int64);
  s.centers = where(s.done, s.centers, next);
  s.labels = found.labels;
  s.done = logical_or(s.done, stops);
  eval(s.centers, s.done, s.taken, s.lacked);
}

constexpr int steps_between_looks = 8;

}  // namespace

lloyd_result lloyd_on_host(const ndarray& x, const ndarray& weights, const ndarray& centers, const lloyd_limits& l) {
  return x.dtype() == dtype::f32 ? lloyd_with<float>(x, weights, centers, l)
                                 : lloyd_with<double>(x, weights, centers, l);
}

lloyd_result lloyd_recorded(const ndarray& x, const ndarray& weights, const ndarray& first, const lloyd_limits& l) {
  const create_kw on{.device = x.device()};
  const ndarray no = zeros({}, {.dtype = bool_, .device = x.device()});
  recorded_state now{first, full({x.shape(0)}, -1, on), no, zeros({}, {.dtype = int64, .device = x.device()}), no};
  for (int64_t step = 0; step < l.max_iter;) {
    const int64_t until = std::min<int64_t>(step + steps_between_looks, l.max_iter);
    const recorded_state before = now;
    for (int64_t k = step; k < until; ++k) take_step(now, x, weights, l.shift, false);
    if (static_cast<bool>(now.lacked)) {
      // Rare: the steps are taken again, and each looks for empty clusters.
      now = before;
      for (int64_t k = step; k < until && !static_cast<bool>(now.done); ++k) take_step(now, x, weights, l.shift, true);
      now.lacked = no;
    }
    step = until;
    if (static_cast<bool>(now.done)) break;
  }
  return {now.centers, nearest_center(x, now.centers), now.taken.item<int64_t>()};
}

}  // namespace sinter::ops
