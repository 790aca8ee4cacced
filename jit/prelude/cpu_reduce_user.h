// sinter prelude: the steps of a user's reduction on the CPU, over lanes, in the order of a sum (see reducers.hpp of
// the CPU backend). Behind user.h. Accumulators begin with the identity; those that no element reaches are combined too.
namespace sn {

template <class T> SN_FN T& lane_value(T& lane) { return lane; }
template <class T> SN_FN const T& lane_value(const T& lane) { return lane; }
template <class T> SN_FN T& lane_value(opaque<T>& lane) { return lane.value; }
template <class T> SN_FN const T& lane_value(const opaque<T>& lane) { return lane.value; }

// One bit pattern for all results that are no number.
template <class T> SN_FN T tidy(const T& x) { return x; }
SN_FN float tidy(float x) { return x != x ? not_a_number(x) : x; }
SN_FN double tidy(double x) { return x != x ? not_a_number(x) : x; }

template <class Monoid, class Lane, int row_lanes> struct reduce_steps {
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
  static inline void reset(void* const* acc, int n) {
    for (int l = 0; l < n; ++l) lane_value(static_cast<Lane*>(acc[0])[l]) = Monoid::identity();
  }
  static inline void row(void* const* acc, const void* lanes, int n, int first) {
    Lane* a = static_cast<Lane*>(acc[0]);
    const Lane* x = static_cast<const Lane*>(lanes);
    int done = 0;
    const int lane = first % row_lanes;
    if (lane != 0) {
      done = row_lanes - lane < n ? row_lanes - lane : n;
      merge(a + lane, x, done);
    }
    for (; done + row_lanes <= n; done += row_lanes) merge_fixed<row_lanes>(a, x + done);
    merge(a, x + done, n - done);
  }
  static inline void column(void* const* acc, const void* lanes, int n) {
    merge(static_cast<Lane*>(acc[0]), static_cast<const Lane*>(lanes), n);
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
