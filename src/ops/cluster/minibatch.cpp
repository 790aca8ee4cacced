// k-means by mini-batches: Sculley, Web-Scale K-Means Clustering, 2010, with the rules of scikit-learn's MiniBatchKMeans for starts,
// centers that stay small, and the end.
#include <algorithm>
#include <cmath>

#include "ops/cluster/means.hpp"
#include "ops/spatial/metrics.hpp"
#include "ops/spatial/tree.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/scan.hpp"
#include "sinter/search.hpp"
#include "sinter/sort.hpp"
#include "sinter/statistics.hpp"

namespace sinter::ops {

using namespace idx;
using std::int64_t;

namespace {

using cluster::minibatch_kmeans_kw;

void check_parameters(const minibatch_kmeans_kw& kw, const char* function) {
  if (kw.batch_size < 1 || kw.max_iter < 1 || kw.max_no_improvement < 1)
    fail<value_error>(function, "batch_size = ", kw.batch_size, ", max_iter = ", kw.max_iter,
                      " and max_no_improvement = ", kw.max_no_improvement, " have to be at least 1");
  if (kw.n_init.value_or(1) < 1 || kw.init_size.value_or(1) < 1)
    fail<value_error>(function, "n_init = ", kw.n_init.value_or(1), " and init_size = ", kw.init_size.value_or(1),
                      " have to be at least 1");
  if (!(kw.tol >= 0) || !(kw.reassignment_ratio >= 0))
    fail<value_error>(function, "tol = ", kw.tol, " and reassignment_ratio = ", kw.reassignment_ratio,
                      " must not be below 0");
}

/// Points and their weights, which may be undefined.
struct weighted_points {
  ndarray x, weights;
  /// As many of them, drawn with repetition.
  weighted_points drawn(int64_t count, random::generator& rng) const {
    const ndarray at = rng.integers(0, x.shape(0), count, {.device = x.device()});
    weighted_points some{take(x, at, 0), weights.defined() ? take(weights, at) : ndarray()};
    eval(some.x);
    if (weights.defined()) eval(some.weights);
    return some;
  }
};

/// The best of some starts, each made of a sample, by their inertia for another one.
ndarray best_start(const weighted_points& all, int64_t k, int64_t batch, const minibatch_kmeans_kw& kw,
                   random::generator& rng, const char* function) {
  const int64_t n = all.x.shape(0);
  int64_t size = kw.init_size.value_or(3 * batch);
  if (size < k) size = 3 * k;
  size = std::min(size, n);
  const int64_t starts = kw.n_init.value_or(kw.init == "random" ? 3 : 1);
  const auto one = [&] {
    const weighted_points some = size < n ? all.drawn(size, rng) : all;
    return first_centers(kw.init, some.x, some.weights, k, rng, function);
  };
  if (starts == 1) return one();
  const weighted_points valid = all.drawn(size, rng);
  ndarray best;
  double least = 0;
  for (int64_t start = 0; start < starts; ++start) {
    const ndarray centers = one();
    eval(centers);
    const double inertia = inertia_of(valid.x, valid.weights, centers, nearest_center(valid.x, centers));
    if (start == 0 || inertia < least) best = centers, least = inertia;
  }
  return best;
}

/// Where a step has brought the centers, and the weights that they have had so far.
struct mean_state {
  ndarray centers, held;
};

/// Centers that have had little move to points of the batch, where `due`, a bool of shape ().
void reassign(mean_state& s, const ndarray& points, const ndarray& due, double ratio, random::generator& rng) {
  const int64_t k = s.held.shape(0), most = points.shape(0) / 2;
  ndarray low = logical_and(s.held < ratio * max(s.held), due);
  if (served_by_host(points) && !static_cast<bool>(any(low))) return;
  if (k > most) low = logical_and(low, argsort(argsort(s.held)) < most);
  const int64_t drawn = std::min(k, most);
  if (drawn == 0) return;
  const ndarray rows = rng.choice(points.shape(0), drawn, {.replace = false, .device = points.device()});
  const ndarray nth = minimum(maximum(cumulative_sum(low.astype(int64)) - 1, 0), drawn - 1);
  const ndarray kept = where(low, HUGE_VAL, s.held).astype(s.held.dtype(), false);
  s.centers = where(low(_, newaxis), take(points, take(rows, nth), 0), s.centers);
  s.held = where(low, min(kept), s.held);
}

/// When it ends: numbers of shape (), which stay on the device.
class batch_progress {
 public:
  batch_progress(const weighted_points& all, int64_t batch, const minibatch_kmeans_kw& kw)
      : batch_(static_cast<double>(batch)),
        share_(std::min(1.0, 2.0 * static_cast<double>(batch) / static_cast<double>(all.x.shape(0) + 1))),
        most_(static_cast<double>(kw.max_no_improvement)),
        shift_(kw.tol > 0 ? kw.tol * mean(var(all.x, {.axis = 0})).item<double>() : 0) {
    const create_kw like{.dtype = float64, .device = all.x.device()};
    smoothed_ = full({}, HUGE_VAL, like), least_ = full({}, HUGE_VAL, like), worse_ = zeros({}, like);
    taken_ = zeros({}, like);
    done_ = zeros({}, {.dtype = bool_, .device = all.x.device()});
  }
  const ndarray& done() const { return done_; }
  int64_t taken() const { return static_cast<int64_t>(taken_.item<double>()); }
  /// A step has been taken unless it had ended. The first one's inertia is that of the start, and does not count.
  void add(bool first, const ndarray& cost, const ndarray& moved) {
    taken_ = taken_ + logical_not(done_).astype(float64);
    if (!first) {
      smoothed_ = where(isinf(smoothed_), cost / batch_, smoothed_ * (1 - share_) + cost / batch_ * share_);
      worse_ = where(smoothed_ < least_, 0.0, worse_ + 1);
      least_ = minimum(least_, smoothed_);
      done_ = logical_or(done_, worse_ >= most_);
      if (shift_ > 0) done_ = logical_or(done_, moved <= shift_);
    }
    eval(smoothed_, least_, worse_, done_, taken_);
  }

 private:
  double batch_, share_, most_, shift_;
  ndarray smoothed_, least_, worse_, done_, taken_;
};

/// One batch: the centers' means of what they had and what is nearest to them now; its inertia.
mean_state after_batch(const mean_state& s, const weighted_points& some, ndarray& cost) {
  const auto [labels, sums, same] = assign_points(some.x, some.weights, s.centers, {});
  const ndarray squares = sum(square(some.x - take(s.centers, labels, 0)), 1, {.dtype = float64});
  cost = sum(some.weights.defined() ? squares * some.weights : squares);
  const ndarray all = s.held + sums.weights;
  const ndarray next =
      where(sums.weights(_, newaxis) > 0, (s.centers * s.held(_, newaxis) + sums.sums) / all(_, newaxis), s.centers);
  return {next, all};
}

}  // namespace
}  // namespace sinter::ops

namespace sinter::inline v0 {

using namespace ops;

cluster::kmeans_result cluster::minibatch_kmeans(const ndarray& x, int64_t n_clusters, const minibatch_kmeans_kw& kw) {
  const char* const function = "minibatch_kmeans";
  check_parameters(kw, function);
  const centred_points p = centred(x, n_clusters, function);
  const weighted_points all{p.x, checked_sample_weight(kw.sample_weight, p.x, function)};
  const int64_t n = p.x.shape(0), batch = std::min(kw.batch_size, n), steps = kw.max_iter * n / batch;
  random::generator rng = generator_of(kw.random_state);
  mean_state at{kw.centers.defined() ? given_centers(kw.centers, p, n_clusters, function)
                                     : best_start(all, n_clusters, batch, kw, rng, function),
                zeros({n_clusters}, {.dtype = p.x.dtype(), .device = p.x.device()})};
  batch_progress progress(all, batch, kw);
  int64_t since = 0;  // points since centers were looked at
  for (int64_t step = 1; step <= steps; ++step) {
    const weighted_points some = all.drawn(batch, rng);
    eval(at.centers, at.held);
    since += batch;
    const bool whole = since >= 10 * n_clusters;
    const ndarray due = whole ? full({}, true, {.device = p.x.device()}) : any(at.held == 0);
    if (whole) since = 0;
    ndarray cost;
    mean_state next = after_batch(at, some, cost);
    if (kw.reassignment_ratio > 0) reassign(next, some.x, due, kw.reassignment_ratio, rng);
    const ndarray moved = sum(square(next.centers - at.centers), {.dtype = float64});
    at.centers = where(progress.done(), at.centers, next.centers);
    at.held = where(progress.done(), at.held, next.held);
    eval(at.centers, at.held, cost, moved);
    progress.add(step == 1, cost, moved);
    if (step % 16 == 0 && static_cast<bool>(progress.done())) break;
  }
  const lloyd_result found{at.centers, nearest_center(p.x, at.centers), progress.taken()};
  return uncentred(found, p, inertia_of(p.x, all.weights, found.centers, found.labels));
}

}  // namespace sinter::inline v0
