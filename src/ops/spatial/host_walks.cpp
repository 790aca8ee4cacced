// Walks over trees on the host's threads.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "ops/base/access.hpp"
#include "ops/base/algorithm_calls.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/spatial/walks.hpp"
#include "runtime/parallel.hpp"
#include "sinter/creation.hpp"
#include "sinter/eval.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::ops {
namespace {

using std::fabs;
using std::int64_t;
using std::pow;
#define SN_METHOD inline __attribute__((always_inline))
#include "jit/prelude/spatial/tree.h"
// components.h follows tree.h
#include "jit/prelude/spatial/components.h"

std::size_t index_of(int64_t i) { return static_cast<std::size_t>(i); }

constexpr int64_t piece_length = 256;
int64_t pieces_of(int64_t n) { return (n + piece_length - 1) / piece_length; }
/// fn(p, begin, end) for the pieces p of [0, n), `nanoseconds` for each number.
template <class F>
void for_each_piece(int64_t n, double nanoseconds, const F& fn) {
  runtime::parallel_for(pieces_of(n), nanoseconds * static_cast<double>(n),
                        [&](int64_t p) { fn(p, p * piece_length, std::min(n, (p + 1) * piece_length)); });
}
/// fn(i) for i in [0, n).
template <class F>
void for_each_of(int64_t n, double nanoseconds, const F& fn) {
  for_each_piece(n, nanoseconds, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) fn(i);
  });
}

template <class T>
struct seen_point {
  std::int32_t id;
  T distance;
};
/// What a walk meets, of ids above a number.
template <class T>
struct note_points {
  const int* ids;
  int64_t above;
  std::vector<seen_point<T>>& to;
  bool operator()(int64_t k, T distance) {
    if (ids[k] > above) to.push_back({ids[k], distance});
    return true;
  }
};

/// A tree's arrays, held while it is walked.
template <class T, int D>
struct held_tree {
  host_view<T> points, boxes;
  host_view<std::int32_t> ids, least;
  sn_tree::tree<T, D> tree;

  explicit held_tree(const point_tree& t)
      : points(for_host(t.points, "KDTree").host<T>()),
        boxes(t.boxes.host<T>()),
        ids(t.ids.host<std::int32_t>()),
        least(t.least.host<std::int32_t>()),
        tree{points.data(), ids.data(), boxes.data(), least.data(), t.count, t.leaves, t.bucket} {}
};

template <class F>
auto with_type(const ndarray& x, const F& f) {
  return x.dtype() == dtype::f32 ? f(float()) : f(double());
}
/// f(tree, norm) with the types of both.
template <class F>
auto with_tree(const point_tree& t, walk_norm of, const F& f) {
  return with_type(t.points, [&](auto number) {
    using T = decltype(number);
    return with_dimensions(t.dimensions, [&](auto d) {
      const held_tree<T, d.value> held(t);
      switch (of.kind) {
        case 0: return f(held.tree, sn_tree::norm<T, 0>{of.p});
        case 1: return f(held.tree, sn_tree::norm<T, 1>{of.p});
        case 2: return f(held.tree, sn_tree::norm<T, 2>{of.p});
        default: return f(held.tree, sn_tree::norm<T, 3>{of.p});
      }
    });
  });
}

template <class T>
ndarray array_of(const std::vector<T>& elements, const shape_t& shape) {
  return array(elements.data(), shape, {.device = cpu});
}
std::vector<std::int32_t> trees_of_one(int64_t n) {
  std::vector<std::int32_t> forest(index_of(n));
  std::iota(forest.begin(), forest.end(), 0);
  return forest;
}

constexpr double walk_time = 1000;  // about, in nanoseconds

class walks_on_host final : public tree_walks {
 public:
  ndarray places(const ndarray& points, const ndarray& cells) const override {
    std::vector<std::uint64_t> out(index_of(points.shape(0)));
    with_type(points, [&](auto number) {
      using T = decltype(number);
      const auto x = points.host<T>(), c = cells.host<T>();
      with_dimensions(points.shape(1), [&](auto d) {
        for_each_of(points.shape(0), 100, [&](int64_t i) {
          out[index_of(i)] = sn_tree::place_of<T, d.value>(x.data() + i * d.value, c.data());
        });
      });
    });
    return array_of(out, {points.shape(0)});
  }

  void make_boxes(point_tree& t) const override {
    with_type(t.points, [&](auto number) {
      using T = decltype(number);
      with_dimensions(t.dimensions, [&](auto d) {
        const auto points = t.points.host<T>();
        const auto ids = t.ids.host<std::int32_t>();
        const int64_t nodes = int64_t{2} * t.leaves;
        std::vector<T> boxes(index_of(nodes * 2 * d.value));
        std::vector<std::int32_t> least(index_of(nodes));
        const sn_tree::tree<T, d.value> tree{points.data(), ids.data(), boxes.data(), least.data(),
                                             t.count,       t.leaves,   t.bucket};
        for_each_of(t.leaves, 30, [&](int64_t leaf) {
          sn_tree::make_leaf(tree, boxes.data(), least.data(), static_cast<int>(leaf));
        });
        for (int first = t.leaves / 2; first > 0; first /= 2)
          for_each_of(first, 10, [&](int64_t k) {
            sn_tree::make_node<T, d.value>(boxes.data(), least.data(), first + static_cast<int>(k));
          });
        t.boxes = array_of(boxes, {nodes, 2, d.value});
        t.least = array_of(least, {nodes});
      });
    });
  }

  nearest_found nearest(const point_tree& t, walk_norm of, const ndarray& queries, const ndarray& order, int64_t k,
                        double bound) const override {
    const int64_t m = queries.shape(0);
    const auto rows = order.host<int64_t>();
    const value ids = unset_leaf(dims{m, k}, dtype::i64, {}), distances = unset_leaf(dims{m, k}, queries.dtype(), {});
    auto* const to = static_cast<int64_t*>(address_to_write(ids));
    return with_tree(t, of, [&]<class T, int D, int P>(const sn_tree::tree<T, D>& tree, sn_tree::norm<T, P> norm) {
      auto* const far = static_cast<T*>(address_to_write(distances));
      const auto q = for_host(queries, "KDTree").host<T>();
      for_each_of(m, walk_time, [&](int64_t i) {
        const int64_t row = rows[index_of(i)];
        const sn_tree::nearest_list<T, int64_t> list{far + row * k, to + row * k, static_cast<int>(k),
                                                     static_cast<T>(bound)};
        sn_tree::nearest<T, D, P>(tree, norm, q.data() + row * D, list);
      });
      return nearest_found{wrap(distances), wrap(ids)};
    });
  }

  ndarray count(const point_tree& t, walk_norm of, const ball_query& ball, int64_t limit) const override {
    const int64_t m = ball.queries.shape(0);
    const auto rows = ball.order.host<int64_t>();
    std::vector<int64_t> counts(index_of(m));
    with_tree(t, of, [&]<class T, int D, int P>(const sn_tree::tree<T, D>& tree, sn_tree::norm<T, P> norm) {
      const auto q = for_host(ball.queries, "KDTree").host<T>(), r = ball.radii.host<T>();
      for_each_of(m, walk_time, [&](int64_t i) {
        const int64_t row = rows[index_of(i)];
        counts[index_of(row)] = sn_tree::count_within<T, D, P>(tree, norm, q.data() + row * D, r[index_of(row)], limit,
                                                               ball.after ? row : -1);
      });
    });
    return array_of(counts, {m});
  }

  /// In one walk: neighbours in the order of visits first, then in their rows.
  all_found within(const point_tree& t, walk_norm of, const ball_query& ball) const override {
    const int64_t m = ball.queries.shape(0);
    const auto rows = ball.order.host<int64_t>();
    const value starts = unset_leaf(dims{m + 1}, dtype::i64, {});
    auto* const start = static_cast<int64_t*>(address_to_write(starts));
    return with_tree(t, of, [&]<class T, int D, int P>(const sn_tree::tree<T, D>& tree, sn_tree::norm<T, P> norm) {
      const auto q = for_host(ball.queries, "KDTree").host<T>(), r = ball.radii.host<T>();
      std::vector<std::vector<seen_point<T>>> seen(index_of(pieces_of(m)));
      start[0] = 0;
      for_each_piece(m, walk_time, [&](int64_t p, int64_t begin, int64_t end) {
        auto& here = seen[index_of(p)];
        for (int64_t i = begin; i < end; ++i) {
          const int64_t row = rows[index_of(i)], before = static_cast<int64_t>(here.size());
          note_points<T> note{tree.ids, ball.after ? row : -1, here};
          sn_tree::within<T, D, P>(tree, norm, q.data() + row * D, r[index_of(row)], note);
          start[row + 1] = static_cast<int64_t>(here.size()) - before;
        }
      });
      std::partial_sum(start, start + m + 1, start);
      const value indices = unset_leaf(dims{start[m]}, dtype::i64, {}),
                  distances = unset_leaf(dims{start[m]}, ball.queries.dtype(), {});
      auto* const to = static_cast<int64_t*>(address_to_write(indices));
      auto* const far = static_cast<T*>(address_to_write(distances));
      for_each_piece(m, 0.2 * walk_time, [&](int64_t p, int64_t begin, int64_t end) {
        auto* from = seen[index_of(p)].data();
        for (int64_t i = begin; i < end; ++i) {
          const int64_t row = rows[index_of(i)], first = start[row], count = start[row + 1] - first;
          std::sort(from, from + count, [](const auto& a, const auto& b) { return a.id < b.id; });
          for (int64_t k = 0; k < count; ++k) to[first + k] = from[k].id, far[first + k] = from[k].distance;
          from += count;
        }
      });
      return all_found{wrap(starts), wrap(indices), wrap(distances)};
    });
  }

  ndarray join(const point_tree& t, walk_norm of, double radius, const ndarray& core) const override {
    std::vector<std::int32_t> forest = trees_of_one(t.count);
    const auto is_core = core.host<std::uint8_t>();
    with_tree(t, of, [&]<class T, int D, int P>(const sn_tree::tree<T, D>& tree, sn_tree::norm<T, P> norm) {
      for_each_of(t.count, walk_time, [&](int64_t i) {
        sn_tree::join_within<T, D, P>(tree, norm, i, static_cast<T>(radius), is_core.data(), forest.data());
      });
    });
    return array_of(forest, {t.count});
  }

  ndarray label(const point_tree& t, walk_norm of, double radius, const ndarray& core, const ndarray& labels,
                int64_t none) const override {
    std::vector<int64_t> out(index_of(t.count));
    const auto is_core = core.host<std::uint8_t>();
    const auto known = labels.host<long long>();
    const auto ids = t.ids.host<std::int32_t>();
    with_tree(t, of, [&]<class T, int D, int P>(const sn_tree::tree<T, D>& tree, sn_tree::norm<T, P> norm) {
      for_each_of(t.count, walk_time, [&](int64_t i) {
        const auto id = index_of(ids[index_of(i)]);
        out[id] = is_core[id] ? known[id]
                              : sn_tree::label_within<T, D, P>(tree, norm, i, static_cast<T>(radius), is_core.data(),
                                                               known.data(), none);
      });
    });
    return array_of(out, {t.count});
  }

  ndarray join_lists(const ndarray& indptr, const ndarray& indices, const ndarray& core) const override {
    const int64_t n = core.shape(0);
    std::vector<std::int32_t> forest = trees_of_one(n);
    const auto is_core = core.host<std::uint8_t>();
    const auto starts = indptr.host<long long>(), list = indices.host<long long>();
    for_each_of(n, 500, [&](int64_t i) {
      sn_tree::join_list(list.data(), starts[index_of(i)], starts[index_of(i + 1)], static_cast<int>(i), is_core.data(),
                         forest.data());
    });
    return array_of(forest, {n});
  }

  ndarray label_lists(const ndarray& indptr, const ndarray& indices, const ndarray& core, const ndarray& labels,
                      int64_t none) const override {
    const int64_t n = core.shape(0);
    std::vector<int64_t> out(index_of(n));
    const auto is_core = core.host<std::uint8_t>();
    const auto starts = indptr.host<long long>(), list = indices.host<long long>(), known = labels.host<long long>();
    for_each_of(n, 200, [&](int64_t i) {
      out[index_of(i)] = is_core[index_of(i)]
                             ? known[index_of(i)]
                             : sn_tree::label_list(list.data(), starts[index_of(i)], starts[index_of(i + 1)],
                                                   is_core.data(), known.data(), none);
    });
    return array_of(out, {n});
  }
};

/// The least sum of a norm's terms between points of two boxes; as in to_box, no point's rounded one is less.
template <class T, int D, int P>
T between_boxes(sn_tree::norm<T, P> of, const T* a, const T* b) {
  return sn_tree::sum_of_terms<T, D, P>(of, [a, b](int i) {
    const T under = b[i] - a[D + i], over = a[i] - b[D + i], most = under > over ? under : over;
    return most > 0 ? most : T(0);
  });
}

struct id_pair {
  std::int32_t low, high;
};
template <class T, int D, int P>
void pairs_of_leaves(const sn_tree::tree<T, D>& t, sn_tree::norm<T, P> of, std::pair<int, int> leaves, T radius,
                     std::vector<id_pair>& found) {
  const auto points_of = [&](int leaf) {
    const int64_t first = int64_t{leaf} * t.bucket;
    return std::pair(first, std::min<int64_t>(first + t.bucket, t.count));
  };
  const auto [first, end] = points_of(leaves.first);
  const auto [other_first, other_end] = points_of(leaves.second);
  for (int64_t i = first; i < end; ++i) {
    if (!(sn_tree::to_box(of, t, t.leaves + leaves.second, t.points + i * D) <= radius)) continue;
    for (int64_t k = leaves.first == leaves.second ? i + 1 : other_first; k < other_end; ++k) {
      if (!(sn_tree::between<T, D, P>(of, t.points + i * D, t.points + k * D) <= radius)) continue;
      const std::int32_t a = t.ids[i], b = t.ids[k];
      found.push_back(a < b ? id_pair{a, b} : id_pair{b, a});
    }
  }
}
/// Pairs of a leaf's points and those of it and later leaves: boxes are compared once for all of its points.
template <class T, int D, int P>
void pairs_from_leaf(const sn_tree::tree<T, D>& t, sn_tree::norm<T, P> of, int leaf, T radius,
                     std::vector<id_pair>& found) {
  const auto box_of = [&](int node) { return t.boxes + int64_t{node} * (2 * D); };
  struct waiting_node {
    int node, last;  // and the last leaf below it
  } waiting[64];
  int depth = 0;
  waiting[depth++] = {1, t.leaves - 1};
  while (depth > 0) {
    const auto [node, last] = waiting[--depth];
    if (last < leaf || !(between_boxes<T, D, P>(of, box_of(t.leaves + leaf), box_of(node)) <= radius)) continue;
    if (node >= t.leaves) {
      pairs_of_leaves(t, of, {leaf, node - t.leaves}, radius, found);
      continue;
    }
    const int below = t.leaves >> std::bit_width(static_cast<unsigned>(node));  // leaves of each of its two nodes
    waiting[depth++] = {2 * node + 1, last};
    waiting[depth++] = {2 * node, last - below};
  }
}

/// The norm's sum for the most that points of two boxes differ by; no two points' rounded one is greater.
template <class T, int D, int P>
T across_boxes(sn_tree::norm<T, P> of, const T* a, const T* b) {
  return sn_tree::sum_of_terms<T, D, P>(of, [a, b](int i) {
    const T up = b[D + i] - a[i], down = a[D + i] - b[i];
    return up > down ? up : down;
  });
}
/// Points of a tree below a node.
template <class T, int D>
int64_t points_below(const sn_tree::tree<T, D>& t, int node) {
  const int level = static_cast<int>(std::bit_width(static_cast<unsigned>(node))) - 1;
  const int64_t each = int64_t{t.leaves >> level} * t.bucket, first = (node - (1 << level)) * each;
  return std::clamp<int64_t>(t.count - first, 0, each);
}
/// Pairs of a point of leaf `leaf` of a and one of b. Nodes of b that are near altogether are not entered.
template <class T, int D, int P>
int64_t count_from_leaf(const sn_tree::tree<T, D>& a, int leaf, const sn_tree::tree<T, D>& b, sn_tree::norm<T, P> of,
                        T radius) {
  const int64_t first = int64_t{leaf} * a.bucket, end = std::min<int64_t>(first + a.bucket, a.count);
  if (first >= end) return 0;
  const T* const box = a.boxes + int64_t{a.leaves + leaf} * (2 * D);
  int waiting[64], depth = 0;
  int64_t total = 0;
  waiting[depth++] = 1;
  while (depth > 0) {
    const int node = waiting[--depth];
    const T* const other = b.boxes + int64_t{node} * (2 * D);
    if (!(between_boxes<T, D, P>(of, box, other) <= radius)) continue;
    if (across_boxes<T, D, P>(of, box, other) <= radius) {
      total += (end - first) * points_below(b, node);
    } else if (node < b.leaves) {
      waiting[depth++] = 2 * node + 1;
      waiting[depth++] = 2 * node;
    } else {
      const int64_t from = int64_t{node - b.leaves} * b.bucket, to = std::min<int64_t>(from + b.bucket, b.count);
      for (int64_t i = first; i < end; ++i) {
        if (!(sn_tree::to_box(of, b, node, a.points + i * D) <= radius)) continue;
        for (int64_t k = from; k < to; ++k)
          total += sn_tree::between<T, D, P>(of, a.points + i * D, b.points + k * D) <= radius;
      }
    }
  }
  return total;
}

/// Sorted, as rows of an array.
ndarray sorted_pairs(const std::vector<std::vector<id_pair>>& found, int64_t n) {
  std::vector<int64_t> starts(index_of(n + 1));
  for (const auto& part : found)
    for (const id_pair& p : part) ++starts[static_cast<std::size_t>(p.low) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<std::int32_t> high(index_of(starts.back()));
  std::vector<int64_t> next(starts.begin(), starts.end() - 1);
  for (const auto& part : found)
    for (const id_pair& p : part) high[index_of(next[static_cast<std::size_t>(p.low)]++)] = p.high;
  const value pairs = unset_leaf(dims{starts.back(), 2}, dtype::i64, {});
  auto* const to = static_cast<int64_t*>(address_to_write(pairs));
  for_each_of(n, 50, [&](int64_t low) {
    const int64_t begin = starts[index_of(low)], end = starts[index_of(low + 1)];
    std::sort(high.begin() + begin, high.begin() + end);
    for (int64_t k = begin; k < end; ++k) to[2 * k] = low, to[2 * k + 1] = high[index_of(k)];
  });
  return wrap(pairs);
}

}  // namespace

ndarray pairs_on_host(const point_tree& t, walk_norm of, double radius) {
  return with_tree(t, of, [&]<class T, int D, int P>(const sn_tree::tree<T, D>& tree, sn_tree::norm<T, P> norm) {
    const int piece = 64, pieces = (tree.leaves + piece - 1) / piece;
    std::vector<std::vector<id_pair>> found(index_of(pieces));
    runtime::parallel_for(pieces, walk_time * static_cast<double>(t.count), [&](int64_t p) {
      const int end = std::min<int>(tree.leaves, (static_cast<int>(p) + 1) * piece);
      for (int leaf = static_cast<int>(p) * piece; leaf < end; ++leaf)
        pairs_from_leaf<T, D, P>(tree, norm, leaf, static_cast<T>(radius), found[index_of(p)]);
    });
    return sorted_pairs(found, t.count);
  });
}

int64_t count_pairs_on_host(const point_tree& a, const point_tree& b, walk_norm of, double radius) {
  return with_tree(a, of, [&]<class T, int D, int P>(const sn_tree::tree<T, D>& first, sn_tree::norm<T, P> norm) {
    const held_tree<T, D> other(b);
    std::vector<int64_t> counts(index_of(first.leaves));
    for_each_of(first.leaves, walk_time * first.bucket, [&](int64_t leaf) {
      counts[index_of(leaf)] =
          count_from_leaf<T, D, P>(first, static_cast<int>(leaf), other.tree, norm, static_cast<T>(radius));
    });
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
  });
}

namespace {

/// Of some evaluated queries, each with a radius: the mean part of a tree's leaves that are so near.
double share_of_near_leaves(const point_tree& t, walk_norm of, const ndarray& queries, const ndarray& radii) {
  const int64_t m = queries.shape(0);
  return with_tree(t, of, [&]<class T, int D, int P>(const sn_tree::tree<T, D>& tree, sn_tree::norm<T, P> norm) {
    const auto q = queries.host<T>(), far = radii.host<T>();
    int64_t near = 0;
    for (int64_t i = 0; i < m; ++i)
      for (int leaf = 0; leaf < tree.leaves; ++leaf)
        near += sn_tree::to_box(norm, tree, tree.leaves + leaf, q.data() + i * D) <= far[index_of(i)];
    return static_cast<double>(near) / (static_cast<double>(m) * static_cast<double>(tree.leaves));
  });
}

}  // namespace

double share_of_leaves(const point_tree& t, walk_norm of, const ndarray& queries, int64_t k) {
  const ndarray order = arange(queries.shape(0), {.device = cpu});
  const nearest_found found = host_walks().nearest(t, of, queries, order, k, HUGE_VAL);
  return share_of_near_leaves(t, of, queries, found.distances(idx::_, -1));
}
double share_of_leaves_within(const point_tree& t, walk_norm of, const ndarray& queries, double radius) {
  return share_of_near_leaves(t, of, queries,
                              full({queries.shape(0)}, radius, {.dtype = queries.dtype(), .device = cpu}));
}
ndarray some_of(const ndarray& rows) {
  constexpr int64_t some = 64;
  const ndarray sample = rows(slice(idx::_, idx::_, std::max<int64_t>(1, rows.shape(0) / some))).copy();
  eval(sample);
  return sample;
}

const tree_walks& host_walks() {
  static const auto& walks = *new walks_on_host;  // outlives static arrays
  return walks;
}

}  // namespace sinter::ops
