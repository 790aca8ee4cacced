// sinter prelude: points in a tree of boxes, walked by one thread for each query. D is 1 to 3, 4, 8 or 16. The one text
// serves kernels (as users' text, in front of which stands user.h) and the host's loops (src/ops/spatial/host_walks.cpp), so
// that all devices agree. SN_METHOD, as in user.h, INFINITY, fabs and pow are the includer's.
//
// The points lie in an order that keeps neighbours together (along a Hilbert curve on a GPU, in halves about medians on the host),
// `bucket` of them in each leaf; leaves are numbered along it, as many as a power of two.
// Node 1 is the root, 2 k and 2 k + 1 are below node k, leaf j is node leaves + j. Empty leaves have boxes from +inf to -inf.
namespace sn_tree {

template <class T, int D> struct tree {
  const T* points;         // (count, D), in the order of leaves
  const int* ids;          // their places in the data
  const T* boxes;          // (2 leaves, 2, D): lowest and highest coordinates below each node
  const int* least;        // (2 leaves): the lowest id below each node
  long long count;
  int leaves, bucket;
};

template <class T> SN_METHOD T infinite() { return T(INFINITY); }

// Norm P of differences: 1, 2 (squared), 0 (the largest), 3 (sums of powers p). Box distances are sums in the same order of
// terms that are not larger, so that rounding never puts a point nearer than its box.
template <class T, int P> struct norm {
  double p;
  SN_METHOD T term(T difference) const {
    const T x = fabs(difference);
    if constexpr (P == 2) return x * x;
    else if constexpr (P == 3) return T(pow(double(x), p));
    else return x;
  }
  SN_METHOD T join(T a, T b) const {
    if constexpr (P == 0) return a < b ? b : a;
    else return a + b;
  }
};

// The norm's sum over difference(i), in the order in which a sum over a first axis adds up (jit::addition_order): few terms one
// after the other, groups of four by halves. So what is found are the distances of the CPU's cdist.
template <class T, int D, int P, class F> SN_METHOD T sum_of_terms(norm<T, P> of, F difference) {
  if constexpr (D < 4) {
    T sum = of.term(difference(0));
    for (int i = 1; i < D; ++i) sum = of.join(sum, of.term(difference(i)));
    return sum;
  } else {
    T group[D / 4];
    for (int g = 0; g < D / 4; ++g)
      group[g] = of.join(of.join(of.term(difference(4 * g)), of.term(difference(4 * g + 1))),
                         of.join(of.term(difference(4 * g + 2)), of.term(difference(4 * g + 3))));
    for (int half = D / 8; half > 0; half /= 2)
      for (int g = 0; g < half; ++g) group[g] = of.join(group[g], group[g + half]);
    return group[0];
  }
}
template <class T> struct point_difference {
  const T *a, *b;
  SN_METHOD T operator()(int i) const { return a[i] - b[i]; }
};
template <class T, int D> struct box_difference {
  const T *q, *low;
  SN_METHOD T operator()(int i) const {
    const T under = low[i] - q[i], over = q[i] - low[D + i], most = under > over ? under : over;
    return most > 0 ? most : T(0);
  }
};
template <class T, int D, int P> SN_METHOD T between(norm<T, P> of, const T* a, const T* b) {
  return sum_of_terms<T, D, P>(of, point_difference<T>{a, b});
}
template <class T, int D, int P> SN_METHOD T to_box(norm<T, P> of, const tree<T, D>& t, int node, const T* q) {
  return sum_of_terms<T, D, P>(of, box_difference<T, D>{q, t.boxes + (long long)node * (2 * D)});
}

// --- building

// The place on a Hilbert curve of a cell with coordinates of `bits` bits (J. Skilling, "Programming the Hilbert curve", 2004).
template <int D> SN_METHOD unsigned long long curve_place(unsigned* x, int bits) {
  for (unsigned q = 1u << (bits - 1); q > 1; q >>= 1)
    for (int i = 0; i < D; ++i) {
      const unsigned low = q - 1, swapped = (x[0] ^ x[i]) & low;
      if (x[i] & q) x[0] ^= low;
      else x[0] ^= swapped, x[i] ^= swapped;
    }
  for (int i = 1; i < D; ++i) x[i] ^= x[i - 1];
  unsigned flip = 0;
  for (unsigned q = 1u << (bits - 1); q > 1; q >>= 1)
    if (x[D - 1] & q) flip ^= q - 1;
  unsigned long long place = 0;
  for (int b = bits - 1; b >= 0; --b)
    for (int i = 0; i < D; ++i) place = place << 1 | ((x[i] ^ flip) >> b & 1);
  return place;
}
// Points outside of the cells count to the nearest one. `cells`: lowest coordinates, then cells for each unit.
template <class T, int D> SN_METHOD unsigned long long place_of(const T* point, const T* cells) {
  constexpr int bits = D == 1 ? 31 : D < 4 ? 20 : 60 / D;
  const T last = T((1u << bits) - 1);
  unsigned x[D];
  for (int i = 0; i < D; ++i) {
    const T c = (point[i] - cells[i]) * cells[D + i];
    // float32 rounds 2^31 - 1 up, hence the second limit.
    const unsigned k = c > 0 ? (c < last ? unsigned(c) : (1u << bits) - 1) : 0;
    x[i] = k < (1u << bits) ? k : (1u << bits) - 1;
  }
  return curve_place<D>(x, bits);
}
template <class T, int D> SN_METHOD void make_leaf(const tree<T, D>& t, T* boxes, int* least, int leaf) {
  T low[D], high[D];
  for (int i = 0; i < D; ++i) low[i] = infinite<T>(), high[i] = -infinite<T>();
  int id = 0x7fffffff;
  const long long first = (long long)leaf * t.bucket, end = first + t.bucket < t.count ? first + t.bucket : t.count;
  for (long long k = first; k < end; ++k) {
    for (int i = 0; i < D; ++i) {
      const T x = t.points[k * D + i];
      if (x < low[i]) low[i] = x;
      if (x > high[i]) high[i] = x;
    }
    if (t.ids[k] < id) id = t.ids[k];
  }
  const long long node = t.leaves + leaf;
  for (int i = 0; i < D; ++i) boxes[node * 2 * D + i] = low[i], boxes[node * 2 * D + D + i] = high[i];
  least[node] = id;
}
template <class T, int D> SN_METHOD void make_node(T* boxes, int* least, int node) {
  const T *a = boxes + (long long)node * (4 * D), *b = a + 2 * D;
  T* to = boxes + (long long)node * (2 * D);
  for (int i = 0; i < D; ++i) {
    to[i] = a[i] < b[i] ? a[i] : b[i];
    to[D + i] = a[D + i] > b[D + i] ? a[D + i] : b[D + i];
  }
  least[node] = least[2 * node] < least[2 * node + 1] ? least[2 * node] : least[2 * node + 1];
}

// --- the k nearest

// Lists in order of (distance, id); what is not found stays (inf, count). Only distances below `bound` count.
template <class T, class I> struct nearest_list {
  T* distances;
  I* ids;
  int k;
  T bound;
  SN_METHOD bool may_hold(T d, int id) const {
    const T last = distances[k - 1];
    return d < bound && (d < last || (d == last && id < ids[k - 1]));
  }
  SN_METHOD void insert(T d, int id) {
    int at = k - 1;
    for (; at > 0 && (d < distances[at - 1] || (d == distances[at - 1] && id < ids[at - 1])); --at) {
      distances[at] = distances[at - 1];
      ids[at] = ids[at - 1];
    }
    distances[at] = d;
    ids[at] = id;
  }
};

template <class T, int D, int P, class I>
SN_METHOD void nearest(const tree<T, D>& t, norm<T, P> of, const T* query, nearest_list<T, I> list) {
  T q[D];
  for (int i = 0; i < D; ++i) q[i] = query[i];
  for (int j = 0; j < list.k; ++j) list.distances[j] = infinite<T>(), list.ids[j] = I(t.count);
  int waiting[32];
  T at[32];
  int depth = 0, node = 1;
  T d = to_box(of, t, node, q);
  for (;;) {
    if (!list.may_hold(d, t.least[node])) {
    } else if (node >= t.leaves) {
      const long long first = (long long)(node - t.leaves) * t.bucket;
      const long long end = first + t.bucket < t.count ? first + t.bucket : t.count;
      for (long long k = first; k < end; ++k) {
        const T e = between<T, D, P>(of, q, t.points + k * D);
        if (list.may_hold(e, t.ids[k])) list.insert(e, t.ids[k]);
      }
    } else {
      const int a = 2 * node, b = a + 1;
      const T da = to_box(of, t, a, q), db = to_box(of, t, b, q);
      const bool a_first = da < db || (da == db && t.least[a] <= t.least[b]);
      waiting[depth] = a_first ? b : a;
      at[depth++] = a_first ? db : da;
      node = a_first ? a : b;
      d = a_first ? da : db;
      continue;
    }
    if (depth == 0) return;
    node = waiting[--depth];
    d = at[depth];
  }
}

// --- all within a distance

// visit(k, d) for each point k of the tree with distance d <= r, until it returns false.
template <class T, int D, int P, class F>
SN_METHOD void within(const tree<T, D>& t, norm<T, P> of, const T* query, T r, F& visit) {
  T q[D];
  for (int i = 0; i < D; ++i) q[i] = query[i];
  int waiting[32];
  int depth = 0, node = 1;
  if (!(to_box(of, t, node, q) <= r)) return;
  for (;;) {
    if (node >= t.leaves) {
      const long long first = (long long)(node - t.leaves) * t.bucket;
      const long long end = first + t.bucket < t.count ? first + t.bucket : t.count;
      for (long long k = first; k < end; ++k) {
        const T d = between<T, D, P>(of, q, t.points + k * D);
        if (d <= r && !visit(k, d)) return;
      }
    } else {
      const int a = 2 * node;
      const bool in_a = to_box(of, t, a, q) <= r, in_b = to_box(of, t, a + 1, q) <= r;
      if (in_a && in_b) waiting[depth++] = a + 1;
      if (in_a || in_b) {
        node = in_a ? a : a + 1;
        continue;
      }
    }
    if (depth == 0) return;
    node = waiting[--depth];
  }
}

// Those with ids above `above` are counted, up to `limit`.
struct counter {
  const int* ids;
  long long found, limit, above;
  template <class T> SN_METHOD bool operator()(long long k, T) {
    if (ids[k] > above) ++found;
    return found < limit;
  }
};
template <class T, int D, int P>
SN_METHOD long long count_within(const tree<T, D>& t, norm<T, P> of, const T* q, T r, long long limit, long long above) {
  counter c{t.ids, 0, limit, above};
  if (limit > 0) within(t, of, q, r, c);
  return c.found;
}

template <class T, class I> struct filler {
  const int* ids;
  I* indices;
  T* distances;
  long long found, room, above;
  SN_METHOD bool operator()(long long k, T d) {
    if (ids[k] > above && found < room) indices[found] = ids[k], distances[found] = d, ++found;
    return true;
  }
};
// Sorts by index: a heap, since one thread does it and rows may be long.
template <class T, class I> SN_METHOD void sift(I* indices, T* distances, long long from, long long n) {
  const I index = indices[from];
  const T distance = distances[from];
  for (long long below = 2 * from + 1; below < n; below = 2 * from + 1) {
    if (below + 1 < n && indices[below + 1] > indices[below]) ++below;
    if (!(indices[below] > index)) break;
    indices[from] = indices[below];
    distances[from] = distances[below];
    from = below;
  }
  indices[from] = index;
  distances[from] = distance;
}
template <class T, class I> SN_METHOD void sort_row(I* indices, T* distances, long long n) {
  for (long long k = n / 2; k-- > 0;) sift(indices, distances, k, n);
  for (long long k = n; k-- > 1;) {
    const I index = indices[0];
    const T distance = distances[0];
    indices[0] = indices[k];
    distances[0] = distances[k];
    indices[k] = index;
    distances[k] = distance;
    sift(indices, distances, 0, k);
  }
}
template <class T, int D, int P, class I>
SN_METHOD void fill_within(const tree<T, D>& t, norm<T, P> of, const T* q, T r, long long above, long long room,
                           I* indices, T* distances) {
  filler<T, I> f{t.ids, indices, distances, 0, room, above};
  within(t, of, q, r, f);
  sort_row(indices, distances, f.found);
}

}  // namespace sn_tree
