// sinter prelude: clusters of points that are near one another, by a forest in which many threads join trees. It follows
// tree.h.
//
// forest[i] <= i is a point of the same tree; a root is its tree's lowest point.

// SN_LEAST(int* at, int value) puts the smaller number there in one step and returns the one before; SN_READ(const int* at)
// reads what other threads write.
#ifdef __CUDACC__
#define SN_LEAST(at, value) atomicMin(at, value)
#define SN_READ(at) (*(const volatile int*)(at))
#else
#define SN_LEAST(at, value) sn_tree::put_least(at, value)
#define SN_READ(at) __atomic_load_n(at, __ATOMIC_RELAXED)
#endif

namespace sn_tree {

#ifndef __CUDACC__
SN_METHOD int put_least(int* at, int value) {
  int before = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (value < before && !__atomic_compare_exchange_n(at, &before, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return before;
}
#endif

// Finds the root, and hangs the point below it.
SN_METHOD int root_of(int* forest, int i) {
  const int up = SN_READ(forest + i);
  if (up == i) return i;
  int root = up;
  for (int above = SN_READ(forest + root); above != root; above = SN_READ(forest + root)) root = above;
  if (root != up) SN_LEAST(forest + i, root);
  return root;
}
// Of two roots the higher one is hung below the lower one; where another thread was first, what it put there is joined too.
// Returns a point of the tree that was its root.
SN_METHOD int join(int* forest, int a, int b) {
  for (;;) {
    a = root_of(forest, a);
    b = root_of(forest, b);
    if (a == b) return a;
    const int high = a > b ? a : b, low = a > b ? b : a;
    const int before = SN_LEAST(forest + high, low);
    if (before == high) return low;
    a = before;
    b = low;
  }
}

// Core points near core point `own`; a pair is joined from one side.
struct joiner {
  const int* ids;
  const unsigned char* core;  // by id
  int* forest;
  int own, root;
  template <class T> SN_METHOD bool operator()(long long k, T) {
    const int id = ids[k];
    if (id < own && core[id] && SN_READ(forest + id) != root) root = join(forest, root, id);
    return true;
  }
};
template <class T, int D, int P>
SN_METHOD void join_within(const tree<T, D>& t, norm<T, P> of, long long place, T r, const unsigned char* core, int* forest) {
  const int own = t.ids[place];
  joiner j{t.ids, core, forest, own, own};
  if (core[j.own]) within(t, of, t.points + place * D, r, j);
}

// The lowest label of the core points near a point; `none` where there is none.
struct least_label {
  const int* ids;
  const unsigned char* core;
  const long long* labels;  // by id
  long long found;
  template <class T> SN_METHOD bool operator()(long long k, T) {
    const int id = ids[k];
    if (core[id] && labels[id] < found) found = labels[id];
    return true;
  }
};
template <class T, int D, int P>
SN_METHOD long long label_within(const tree<T, D>& t, norm<T, P> of, long long place, T r, const unsigned char* core,
                                 const long long* labels, long long none) {
  least_label l{t.ids, core, labels, none};
  within(t, of, t.points + place * D, r, l);
  return l.found;
}

// The same where the neighbours of each point are lists: those of point i from begin to end.
SN_METHOD void join_list(const long long* list, long long begin, long long end, int own, const unsigned char* core,
                         int* forest) {
  if (!core[own]) return;
  int root = own;
  for (long long k = begin; k < end; ++k) {
    const int id = int(list[k]);
    if (id < own && core[id] && SN_READ(forest + id) != root) root = join(forest, root, id);
  }
}
SN_METHOD long long label_list(const long long* list, long long begin, long long end, const unsigned char* core,
                               const long long* labels, long long none) {
  for (long long k = begin; k < end; ++k)
    if (core[list[k]] && labels[list[k]] < none) none = labels[list[k]];
  return none;
}

}  // namespace sn_tree
