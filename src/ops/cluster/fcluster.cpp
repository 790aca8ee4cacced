// Flat clusters of trees, on the host. Their numbers are in SciPy's order.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/base/access.hpp"
#include "sinter/cluster.hpp"
#include "sinter/creation.hpp"

namespace sinter::ops {
namespace {

using std::int64_t;

class cluster_tree {
 public:
  cluster_tree(const ndarray& z, const char* function) {
    const auto& shape = view_of(z, function).shape;
    if (shape.size() != 2 || shape[1] != 4 || shape[0] < 1)
      fail<shape_error>(function, "shape ", shape, " is not that of a tree, (n - 1, 4)");
    if (is_complex(z.dtype())) fail<dtype_error>(function, "a tree of dtype ", z.dtype());
    const std::vector<double> all = z.to_vector<double>();
    n_ = shape[0] + 1;
    std::vector<char> used(static_cast<std::size_t>(2 * n_ - 1));
    for (int64_t i = 0; i + 1 < n_; ++i) {
      const double* row = all.data() + 4 * i;
      for (int side = 0; side < 2; ++side) {
        const double child = row[side];
        if (!(child >= 0 && child < static_cast<double>(n_ + i)) || child != std::floor(child) ||
            used[static_cast<std::size_t>(child)]++)
          fail<value_error>(function, "row ", i, " joins cluster ", child, ", which is not there (any more)");
        (side ? right_ : left_).push_back(static_cast<int64_t>(child));
      }
      distance_.push_back(row[2]);
    }
  }
  int64_t points() const noexcept { return n_; }
  int64_t merges() const noexcept { return n_ - 1; }
  int64_t left(int64_t merge) const { return left_[static_cast<std::size_t>(merge)]; }
  int64_t right(int64_t merge) const { return right_[static_cast<std::size_t>(merge)]; }
  double distance(int64_t merge) const { return distance_[static_cast<std::size_t>(merge)]; }

  /// Of each merge the largest value of it and of the merges below.
  std::vector<double> largest_below(const std::vector<double>& values) const {
    std::vector<double> out = values;
    for (int64_t i = 0; i < merges(); ++i)
      for (const int64_t child : {left(i), right(i)})
        if (child >= n_)
          out[static_cast<std::size_t>(i)] =
              std::max(out[static_cast<std::size_t>(i)], out[static_cast<std::size_t>(child - n_)]);
    return out;
  }
  const std::vector<double>& distances() const noexcept { return distance_; }

 private:
  int64_t n_ = 0;
  std::vector<int64_t> left_, right_;
  std::vector<double> distance_;
};

/// Numbers the clusters below merges whose value is at most the threshold, from left to right, what a merge has as points of
/// its own after what it has as merges.
class numbering {
 public:
  numbering(const cluster_tree& t, const std::vector<double>& values, double threshold)
      : t_(t), values_(values), threshold_(threshold), labels_(static_cast<std::size_t>(t.points())) {
    walk();
  }
  const std::vector<int64_t>& labels() const noexcept { return labels_; }
  int64_t count() const noexcept { return count_; }

 private:
  void walk() {
    struct visit {
      int64_t merge;
      int stage;
    };
    std::vector<visit> stack{{t_.merges() - 1, 0}};
    int64_t leader = -1;
    while (!stack.empty()) {
      const int64_t merge = stack.back().merge;
      const int stage = stack.back().stage++;
      if (stage == 0 && leader < 0 && values_[static_cast<std::size_t>(merge)] <= threshold_) leader = merge, ++count_;
      if (stage < 2) {
        const int64_t child = stage == 0 ? t_.left(merge) : t_.right(merge);
        if (child >= t_.points()) stack.push_back({child - t_.points(), 0});
        continue;
      }
      for (const int64_t child : {t_.left(merge), t_.right(merge)})
        if (child < t_.points()) labels_[static_cast<std::size_t>(child)] = leader < 0 ? ++count_ : count_;
      if (leader == merge) leader = -1;
      stack.pop_back();
    }
  }

  const cluster_tree& t_;
  const std::vector<double>& values_;
  double threshold_;
  std::vector<int64_t> labels_;
  int64_t count_ = 0;
};

/// The lowest of the values that leaves at most `most` clusters.
double threshold_for(const cluster_tree& t, const std::vector<double>& values, double most) {
  int64_t low = -1, high = t.merges() - 1;
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    const numbering tried(t, values, values[static_cast<std::size_t>(middle)]);
    (static_cast<double>(tried.count()) > most ? low : high) = middle;
  }
  return values[static_cast<std::size_t>(high)];
}

struct inconsistency {
  std::vector<double> rows;    // mean, deviation, number, coefficient
  std::vector<double> values;  // the coefficients
};
inconsistency inconsistency_of(const cluster_tree& t, int64_t depth) {
  inconsistency out;
  std::vector<std::pair<int64_t, int64_t>> stack;
  for (int64_t i = 0; i < t.merges(); ++i) {
    double count = 0, sum = 0, squares = 0;
    stack.assign(1, {i, 1});
    while (!stack.empty()) {
      const auto [merge, level] = stack.back();
      stack.pop_back();
      const double d = t.distance(merge);
      ++count, sum += d, squares += d * d;
      if (level == depth) continue;
      for (const int64_t child : {t.left(merge), t.right(merge)})
        if (child >= t.points()) stack.emplace_back(child - t.points(), level + 1);
    }
    const double mean = sum / count;
    const double variance = count < 2 ? (squares - sum * sum) / count : (squares - sum * sum / count) / (count - 1);
    const double deviation = variance > 0 ? std::sqrt(variance) : 0;
    const double value = deviation > 0 ? (t.distance(i) - mean) / deviation : 0;
    out.rows.insert(out.rows.end(), {mean, deviation, count, value});
    out.values.push_back(value);
  }
  return out;
}

}  // namespace
}  // namespace sinter::ops

namespace sinter::inline v0 {

using namespace ops;

namespace {

std::vector<double> given_inconsistencies(const ndarray& r, int64_t merges) {
  if (view_of(r, "fcluster").shape != core::dims{merges, 4})
    fail<shape_error>("fcluster", "R of shape ", r.shape(), " for ", merges, " merges");
  return r(idx::_, 3).to_vector<double>();
}

}  // namespace

ndarray cluster::fcluster(const ndarray& z, double t, const fcluster_kw& kw) {
  const char* const function = "fcluster";
  const cluster_tree tree(z, function);
  if (kw.depth < 1) fail<value_error>(function, "depth ", kw.depth, " is not at least 1");
  if (std::isnan(t)) fail<value_error>(function, "t is NaN");
  // SciPy's order, too: no tree is walked.
  const bool counts = kw.criterion == "maxclust" || kw.criterion == "maxclust_monocrit";
  const bool given = kw.criterion == "monocrit" || kw.criterion == "maxclust_monocrit";
  if (given && !kw.monocrit.defined())
    fail<value_error>(function, "the criterion \"", kw.criterion, "\" needs values: monocrit");
  if (!given && kw.monocrit.defined())
    fail<value_error>(function, "monocrit goes with the criteria \"monocrit\" and \"maxclust_monocrit\", not with \"",
                      kw.criterion, "\"");
  if (given && view_of(kw.monocrit, function).shape != core::dims{tree.merges()})
    fail<shape_error>(function, "monocrit of shape ", kw.monocrit.shape(), " for ", tree.merges(), " merges");
  if (counts && !(t >= 1)) fail<value_error>(function, "t = ", t, " clusters are less than 1");
  if (counts && t >= static_cast<double>(tree.points())) return arange(1, tree.points() + 1, {.device = z.device()});
  std::vector<double> values;
  double threshold = t;
  if (kw.criterion == "inconsistent") {
    values = tree.largest_below(kw.R.defined() ? given_inconsistencies(kw.R, tree.merges())
                                               : inconsistency_of(tree, kw.depth).values);
  } else if (given) {
    values = kw.monocrit.to_vector<double>();
  } else if (kw.criterion == "distance" || kw.criterion == "maxclust") {
    values = tree.largest_below(tree.distances());
  } else {
    fail<value_error>(function, "no criterion \"", kw.criterion, "\"");
  }
  if (counts) threshold = threshold_for(tree, values, t);
  const numbering clusters(tree, values, threshold);
  return array(clusters.labels().data(), {tree.points()}, {.device = z.device()});
}

ndarray cluster::inconsistent(const ndarray& z, std::int64_t depth) {
  const cluster_tree tree(z, "inconsistent");
  if (depth < 1) fail<value_error>("inconsistent", "depth ", depth, " is not at least 1");
  return array(inconsistency_of(tree, depth).rows.data(), {tree.merges(), 4}, {.device = z.device()});
}

}  // namespace sinter::inline v0
