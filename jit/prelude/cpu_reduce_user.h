// sinter prelude: the steps of a user's reduction on the CPU, over lanes, in the order of a sum (jit/program/addition_order.hpp, and
// reducers.hpp of the CPU backend). Behind user.h. Accumulators begin with the identity; those that no element reaches are
// combined too.
namespace sn {

template <class T> SN_FN T& lane_value(T& lane) { return lane; }
template <class T> SN_FN const T& lane_value(const T& lane) { return lane; }
template <class T> SN_FN T& lane_value(opaque<T>& lane) { return lane.value; }
template <class T> SN_FN const T& lane_value(const opaque<T>& lane) { return lane.value; }

// One bit pattern for all results that are no number.
template <class T> SN_FN T tidy(const T& x) { return x; }
SN_FN float tidy(float x) { return x != x ? not_a_number(x) : x; }
SN_FN double tidy(double x) { return x != x ? not_a_number(x) : x; }

// Where elements of columns go, as reducers.hpp has it.
struct column_place {
  int index, lanes, pitch;
};

template <class Monoid, class Lane> struct reduce_steps {
  static const int group = 4, run = 32;

  // A fixed count becomes vector code whatever the compiler thinks of its cost. The pointers are parameters, since only
  // then does GCC believe `restrict`.
  template <int N> static inline void merge_fixed(Lane* __restrict a, const Lane* __restrict x) {
    for (int l = 0; l < N; ++l) lane_value(a[l]) = Monoid::combine(lane_value(a[l]), lane_value(x[l]));
  }
  static inline void merge(Lane* a, const Lane* x, int n) {
    int l = 0;
    for (; l + 64 <= n; l += 64) merge_fixed<64>(a + l, x + l);
    for (; l + 8 <= n; l += 8) merge_fixed<8>(a + l, x + l);
    for (; l < n; ++l) merge_fixed<1>(a + l, x + l);
  }
  // Groups of four elements, of which those of the group l are `step` apart from x + l * `next` on.
  template <int N>
  static inline void groups_fixed(Lane* __restrict a, const Lane* __restrict x, long long next, long long step) {
    for (int l = 0; l < N; ++l) {
      const Lane* y = x + l * next;
      lane_value(a[l]) = Monoid::combine(
          lane_value(a[l]), Monoid::combine(Monoid::combine(lane_value(y[0]), lane_value(y[step])),
                                            Monoid::combine(lane_value(y[2 * step]), lane_value(y[3 * step]))));
    }
  }
  template <int Next> static inline void add_groups(Lane* a, const Lane* x, int n, long long step) {
    int l = 0;
    for (; l + 64 <= n; l += 64) groups_fixed<64>(a + l, x + l * Next, Next, step);
    for (; l + 8 <= n; l += 8) groups_fixed<8>(a + l, x + l * Next, Next, step);
    for (; l < n; ++l) groups_fixed<1>(a + l, x + l * Next, Next, step);
  }

  static inline void reset(void* const* acc, int n) {
    for (int l = 0; l < n; ++l) lane_value(static_cast<Lane*>(acc[0])[l]) = Monoid::identity();
  }
  static inline void row(void* const* acc, const void* from, int n, int first, int lanes) {
    Lane *a = static_cast<Lane*>(acc[0]), *begun = static_cast<Lane*>(acc[1]);
    const Lane* x = static_cast<const Lane*>(from);
    int e = 0;
    for (int at = first % group; at != 0 && e < n; ++e) {
      begun[at] = x[e];
      at = (at + 1) % group;
      if (at == 0) groups_fixed<1>(a + (first / group & (lanes - 1)), begun, 0, 1);
    }
    while (n - e >= group) {
      const int lane = (first + e) / group & (lanes - 1), all = (n - e) / group;
      const int some = all < lanes - lane ? all : lanes - lane;
      add_groups<group>(a + lane, x + e, some, 1);
      e += some * group;
    }
    for (; e < n; ++e) begun[(first + e) % group] = x[e];
  }
  static inline void join_lanes(void* const* acc, int lanes, int length) {
    Lane *a = static_cast<Lane*>(acc[0]), *begun = static_cast<Lane*>(acc[1]);
    for (int k = 1; k < length % group; ++k) merge_fixed<1>(begun, begun + k);
    if (length % group != 0) merge_fixed<1>(a + (length / group & (lanes - 1)), begun);
    for (int d = 1; d < lanes && d < run; d *= 2)
      for (int l = 0; l < lanes; l += 2 * d) merge_fixed<1>(a + l, a + l + d);
    for (int l = run; l < lanes; l += run) merge_fixed<1>(a, a + l);
  }
  static inline void columns(void* const* acc, const void* from, long long stride, int steps, int n,
                             const column_place& place) {
    Lane *p = static_cast<Lane*>(acc[1]), *q = p + place.pitch;
    const Lane* x = static_cast<const Lane*>(from);
    const long long step = stride / static_cast<long long>(sizeof(Lane));
    for (int s = 0; s < steps;) {
      const int index = place.index + s, at = index % group;
      Lane* a = static_cast<Lane*>(acc[0]) + (index / group & (place.lanes - 1)) * place.pitch;
      if (at == 0 && steps - s >= group) {
        add_groups<1>(a, x + s * step, n, step);
        s += group;
        continue;
      }
      const Lane* y = x + s * step;
      Lane* half = at < 2 ? p : q;
      if (at % 2 == 0)
        for (int l = 0; l < n; ++l) half[l] = y[l];
      else merge(half, y, n);
      if (at == 3) merge(p, q, n), merge(a, p, n);
      ++s;
    }
  }
  static inline void close_columns(void* const* acc, int n, const column_place& place) {
    Lane *p = static_cast<Lane*>(acc[1]), *q = p + place.pitch;
    const int seen = place.index % group;
    if (seen == 3) merge(p, q, n);
    if (seen != 0)
      merge(static_cast<Lane*>(acc[0]) + (place.index / group & (place.lanes - 1)) * place.pitch, p, n);
  }
  static inline void join(void* const* to, void* const* from, int n) {
    merge(static_cast<Lane*>(to[0]), static_cast<const Lane*>(from[0]), n);
  }
  static inline void finish(void* const* acc, void* to, int n) {
    const Lane* a = static_cast<const Lane*>(acc[0]);
    for (int l = 0; l < n; ++l) lane_value(static_cast<Lane*>(to)[l]) = tidy(lane_value(a[l]));
  }
};

}  // namespace sn
