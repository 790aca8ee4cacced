// The loops over lanes of every reduction. Included once for each instruction set, after its target has been opened. Pointers
// are read before a loop: for all that the compiler knows its stores change them.
// An operation states its planes and its step for one lane; the loops around it are written once.
#include "jit/cpu/lane_loops.inl"

namespace sinter::cpu::SINTER_ISA {
namespace {

#define SINTER_STEP [[gnu::always_inline]] inline

using index64 = long long;
using jit::get_lane;
using jit::put_lane;

#include "backends/cpu/reduce/values.inl"

/// Sum or product. The product of complex numbers has no neutral element (of infinities), so it counts what it has seen;
/// their sum is that of their parts (in_parts).
template <class T, bool Product>
struct total {
  static constexpr int planes = Product && is_complex_v<T> ? 2 : 1, partials = planes;
  static constexpr int bytes[max_planes] = {sizeof(T), 1};
  static constexpr bool any_order = !is_float_v<T> && !is_complex_v<T>;
  SINTER_STEP static T joined(T a, T b) { return Product ? times(a, b) : plus(a, b); }
  static void reset(void* const* acc, int n) {
    T* a = static_cast<T*>(acc[0]);
    SINTER_LANES(l, n) {
      if constexpr (!Product) a[l] = sum_identity<T>();
      else if constexpr (is_complex_v<T>) put_lane(a, l, T{1, 0});
      else a[l] = T(1);
    }
    if constexpr (planes == 2) SINTER_LANES(l, n) static_cast<unsigned char*>(acc[1])[l] = 0;
  }
  template <int N, int Step>
  SINTER_STEP static void step(void* const* acc, int lane, const void* v, int from, int n, int, int) {
    T* __restrict a = static_cast<T*>(acc[0]) + lane;
    const T* __restrict x = static_cast<const T*>(v) + from;
    const int count = N ? N : n;
    if constexpr (planes == 2) {
      auto* __restrict seen = static_cast<unsigned char*>(acc[1]) + lane;
      SINTER_LANES(l, count) {
        const T next = get_lane(x, l);
        put_lane(a, l, chosen(seen[l] != 0, times(get_lane(a, l), next), next));
        seen[l] = 1;
      }
    } else {
      SINTER_LANES(l, count) a[l] = joined(a[l], x[l]);
    }
  }
  static void close(void* const*, int, bool, int, std::int64_t) {}
  static void join(void* const* to, void* const* from, int n) {
    T* __restrict a = static_cast<T*>(to[0]);
    const T* __restrict b = static_cast<const T*>(from[0]);
    if constexpr (planes == 2) {
      auto* seen = static_cast<unsigned char*>(to[1]);
      auto* more = static_cast<const unsigned char*>(from[1]);
      for (int l = 0; l < n; ++l) {
        a[l] = seen[l] && more[l] ? times(a[l], b[l]) : seen[l] ? a[l] : b[l];
        seen[l] = seen[l] | more[l];
      }
    } else {
      SINTER_LANES(l, n) a[l] = joined(a[l], b[l]);
    }
  }
  static void finish(void* const* acc, void* to, int n) {
    T* r = static_cast<T*>(to);
    const T* a = static_cast<const T*>(acc[0]);
    SINTER_LANES(l, n) put_lane(r, l, tidy_nan(get_lane(a, l)));
  }
};

/// An operation on complex numbers that is the same operation on each part.
template <class Op>
struct in_parts {
  static constexpr int planes = Op::planes, partials = Op::partials;
  static constexpr int bytes[max_planes] = {2 * Op::bytes[0], 2 * Op::bytes[1], 2 * Op::bytes[2], 2 * Op::bytes[3]};
  static constexpr bool any_order = Op::any_order;
  static void reset(void* const* acc, int n) { Op::reset(acc, 2 * n); }
  template <int N, int Step>
  SINTER_STEP static void step(void* const* acc, int lane, const void* v, int from, int n, int first, int nth) {
    Op::template step<2 * N, Step>(acc, 2 * lane, v, 2 * from, 2 * n, first, nth);
  }
  static void close(void* const*, int, bool, int, std::int64_t) {}
  static void join(void* const* to, void* const* from, int n) { Op::join(to, from, 2 * n); }
  static void finish(void* const* acc, void* to, int n) { Op::finish(acc, to, 2 * n); }
};

template <class T, bool Min>
struct extremum {
  static constexpr int planes = 1, partials = 1;
  static constexpr int bytes[max_planes] = {sizeof(T)};
  static constexpr bool any_order = !is_complex_v<T>;  // complex zeros differ in sign and compare equal
  static void reset(void* const* acc, int n) {
    T* a = static_cast<T*>(acc[0]);
    SINTER_LANES(l, n) put_lane(a, l, Min ? highest<T>() : lowest<T>());
  }
  SINTER_STEP static void merge(T* __restrict a, const T* __restrict x, int n) {
    SINTER_LANES(l, n) put_lane(a, l, extreme<Min>(get_lane(a, l), get_lane(x, l)));
  }
  template <int N, int Step>
  SINTER_STEP static void step(void* const* acc, int lane, const void* v, int from, int n, int, int) {
    merge(static_cast<T*>(acc[0]) + lane, static_cast<const T*>(v) + from, N ? N : n);
  }
  static void close(void* const*, int, bool, int, std::int64_t) {}
  static void join(void* const* to, void* const* from, int n) {
    merge(static_cast<T*>(to[0]), static_cast<const T*>(from[0]), n);
  }
  static void finish(void* const* acc, void* to, int n) {
    T* r = static_cast<T*>(to);
    const T* a = static_cast<const T*>(acc[0]);
    SINTER_LANES(l, n) put_lane(r, l, tidy_nan(get_lane(a, l)));
  }
};

/// Planes: the best value, its index in the reduced space, its index in the chunk. No index: nothing beat the identity,
/// so that all values equal it, and the first of them is the answer.
template <int Bytes>
struct chunk_index {
  using type = int;
};
template <>
struct chunk_index<8> {  // as wide as the values: one vector shape for both
  using type = index64;
};

template <class T, bool Min>
struct position {
  using index = typename chunk_index<sizeof(T)>::type;
  static constexpr int planes = 3, partials = 2;
  static constexpr int bytes[max_planes] = {sizeof(T), sizeof(index64), sizeof(index)};
  static constexpr bool any_order = true;
  static constexpr index64 none = 0x7fffffffffffffff;
  static void reset(void* const* acc, int n) {
    T* a = static_cast<T*>(acc[0]);
    index* at = static_cast<index*>(acc[2]);
    SINTER_LANES(l, n) put_lane(a, l, Min ? highest<T>() : lowest<T>());
    SINTER_LANES(l, n) at[l] = -1;
  }
  template <int N, int Step>
  SINTER_STEP static void step(void* const* acc, int lane, const void* v, int from, int n, int first, int) {
    T* __restrict a = static_cast<T*>(acc[0]) + lane;
    index* __restrict at = static_cast<index*>(acc[2]) + lane;
    const T* __restrict x = static_cast<const T*>(v) + from;
    const int count = N ? N : n;
    SINTER_LANES(l, count) {
      const T mine = get_lane(a, l), next = get_lane(x, l);
      const bool better = is_better<Min>(next, mine);
      at[l] = better ? index(first + l * Step) : at[l];
      put_lane(a, l, chosen(better, next, mine));
    }
  }
  static void close(void* const* acc, int n, bool, int, std::int64_t base) {
    const auto* at = static_cast<const index*>(acc[2]);
    auto* places = static_cast<index64*>(acc[1]);
    SINTER_LANES(l, n) places[l] = at[l] < 0 ? none : base + at[l];
  }
  static void close_wide(void* const* acc, int n, int width, std::int64_t base) {
    const auto* at = static_cast<const index*>(acc[2]);
    auto* places = static_cast<index64*>(acc[1]);
    const int together = n / width;
    for (int e = 0; e < together; ++e)
      for (int l = e * width; l < (e + 1) * width; ++l)
        places[l] = at[l] < 0 ? none : base + index64{at[l]} * together + e;
  }
  static void join(void* const* to, void* const* from, int n) {
    T* __restrict a = static_cast<T*>(to[0]);
    const T* __restrict b = static_cast<const T*>(from[0]);
    auto* __restrict at = static_cast<index64*>(to[1]);
    const auto* __restrict bt = static_cast<const index64*>(from[1]);
    SINTER_LANES(l, n) {
      const T mine = get_lane(a, l), next = get_lane(b, l);
      const bool tie = bool(int(is_same(mine, next)) | (int(is_nan(mine)) & int(is_nan(next))));
      const bool take = bool(int(is_better<Min>(next, mine)) | (int(tie) & int(bt[l] < at[l])));
      at[l] = take ? bt[l] : at[l];
      put_lane(a, l, chosen(take, next, mine));
    }
  }
  static void finish(void* const* acc, void* to, int n) {
    const auto* at = static_cast<const index64*>(acc[1]);
    SINTER_LANES(l, n) static_cast<index64*>(to)[l] = at[l] == none ? 0 : at[l];
  }
};

enum class truth { any, all };
template <truth Kind>
struct predicate {
  static constexpr int planes = 1, partials = 1;
  static constexpr int bytes[max_planes] = {1};
  static constexpr bool any_order = true;
  static void reset(void* const* acc, int n) {
    auto* a = static_cast<unsigned char*>(acc[0]);
    SINTER_LANES(l, n) a[l] = Kind == truth::all;
  }
  SINTER_STEP static void merge(unsigned char* __restrict a, const unsigned char* __restrict x, int n) {
    SINTER_LANES(l, n) a[l] = Kind == truth::any ? a[l] | x[l] : a[l] & x[l];
  }
  template <int N, int Step>
  SINTER_STEP static void step(void* const* acc, int lane, const void* v, int from, int n, int, int) {
    merge(static_cast<unsigned char*>(acc[0]) + lane, static_cast<const unsigned char*>(v) + from, N ? N : n);
  }
  static void close(void* const*, int, bool, int, std::int64_t) {}
  static void join(void* const* to, void* const* from, int n) {
    merge(static_cast<unsigned char*>(to[0]), static_cast<const unsigned char*>(from[0]), n);
  }
  static void finish(void* const* acc, void* to, int n) { __builtin_memcpy(to, acc[0], static_cast<unsigned long>(n)); }
};

/// Planes: the count, and the count within the chunk.
struct counter {
  static constexpr int planes = 2, partials = 1;
  static constexpr int bytes[max_planes] = {sizeof(index64), sizeof(int)};
  static constexpr bool any_order = true;
  static void reset(void* const* acc, int n) {
    int* a = static_cast<int*>(acc[1]);
    SINTER_LANES(l, n) a[l] = 0;
  }
  template <int N, int Step>
  SINTER_STEP static void step(void* const* acc, int lane, const void* v, int from, int n, int, int) {
    int* __restrict a = static_cast<int*>(acc[1]) + lane;
    const auto* __restrict x = static_cast<const unsigned char*>(v) + from;
    const int count = N ? N : n;
    SINTER_LANES(l, count) a[l] += x[l];
  }
  static void close(void* const* acc, int n, bool, int, std::int64_t) {
    auto* all = static_cast<index64*>(acc[0]);
    const int* a = static_cast<const int*>(acc[1]);
    SINTER_LANES(l, n) all[l] = a[l];
  }
  static void join(void* const* to, void* const* from, int n) {
    auto* __restrict a = static_cast<index64*>(to[0]);
    const auto* __restrict b = static_cast<const index64*>(from[0]);
    SINTER_LANES(l, n) a[l] += b[l];
  }
  static void finish(void* const* acc, void* to, int n) { __builtin_memcpy(to, acc[0], 8 * static_cast<unsigned long>(n)); }
};

#include "backends/cpu/reduce/moments.inl"

// ---- the loops around the steps

template <class Op>
void column(void* const* acc, const void* lanes, int n, int index, int nth) {
  if (n == jit::block_lanes) Op::template step<jit::block_lanes, 0>(acc, 0, lanes, 0, n, index, nth);
  else Op::template step<0, 0>(acc, 0, lanes, 0, n, index, nth);
}

template <class Op>
[[gnu::flatten]] void columns(void* const* acc, const void* from, std::int64_t stride, int steps, int n,
                              const column_place& place) {
  for (int s = 0; s < steps; ++s, from = static_cast<const char*>(from) + stride)
    column<Op>(acc, from, n, place.index + s, place.index + s + 1);
}

template <class Op>
void close_wide(void* const* acc, int n, int width, std::int64_t base) {
  if constexpr (requires { Op::close_wide(acc, n, width, base); }) Op::close_wide(acc, n, width, base);
  else Op::close(acc, n, false, 0, base);
}

#include "backends/cpu/reduce/row_loops.inl"

template <class T>
struct sum_of : total<T, false> {};
template <class R>
struct sum_of<complex_value<R>> : in_parts<total<R, false>> {};

#include "backends/cpu/reduce/byte_rows.inl"
#include "backends/cpu/reduce/vector_rows.inl"
#include "backends/cpu/reduce/group_columns.inl"
#include "backends/cpu/reduce/group_vectors.inl"
#include "backends/cpu/reduce/group_rows.inl"

template <class Op>
reducer make() {
  reducer r;
  r.planes = Op::planes;
  r.partials = Op::partials;
  for (int p = 0; p < Op::planes; ++p) r.bytes[p] = Op::bytes[p];
  r.any_order = Op::any_order;
  r.reset = Op::reset;
  r.close = Op::close;
  r.join = Op::join;
  r.finish = Op::finish;
  if constexpr (is_by_groups<Op>) {
    set_group_loops<Op>(r);
    return r;
  }
  r.column = column<Op>;
  r.columns = columns<Op>;
  if constexpr (Op::any_order) r.close_wide = close_wide<Op>;
  r.join_lanes = join_lanes<Op>;
  if constexpr (vector_steps<Op>::any) {
    r.row = vector_row<Op>;
    r.whole_rows = vector_rows<vector_steps<Op>>;
    r.least_columns = shortest_row;
  } else if constexpr (byte_steps<Op>::any) {
    r.row = byte_steps<Op>::row;
    r.whole_rows = byte_rows<Op>;
    r.least_columns = shortest_row;
  } else {
    r.row = rows_of<Op>::step;
    r.whole_rows = rows_of<Op>::steps;
    if constexpr (requires { rows_of<Op>::least_columns; }) r.least_columns = rows_of<Op>::least_columns;
  }
  return r;
}

template <template <class> class Op>
reducer for_total(dtype t) {
  switch (t) {
    case dtype::b1: case dtype::i8: case dtype::u8: return make<Op<unsigned char>>();
    case dtype::i16: case dtype::u16: return make<Op<unsigned short>>();
    case dtype::i32: case dtype::u32: return make<Op<unsigned>>();
    case dtype::i64: case dtype::u64: return make<Op<unsigned long long>>();
    case dtype::f64: return make<Op<double>>();
    case dtype::c64: return make<Op<complex_value<float>>>();
    case dtype::c128: return make<Op<complex_value<double>>>();
    default: return make<Op<float>>();
  }
}
template <template <class> class Op>
reducer for_order(dtype t) {
  switch (t) {
    case dtype::i8: return make<Op<signed char>>();
    case dtype::i16: return make<Op<short>>();
    case dtype::i32: return make<Op<int>>();
    case dtype::i64: return make<Op<long long>>();
    default: return for_total<Op>(t);
  }
}
template <class T> using product_of = total<T, true>;
template <class T> using minimum_of = extremum<T, true>;
template <class T> using maximum_of = extremum<T, false>;
template <class T> using argmin_of = position<T, true>;
template <class T> using argmax_of = position<T, false>;

reducer make_moment(dtype t) {
  switch (t) {
    case dtype::f64: return make<moment<double, double>>();
    case dtype::c64: return make<moment<complex_value<float>, float>>();
    case dtype::c128: return make<moment<complex_value<double>, double>>();
    default: return make<moment<float, float>>();
  }
}

// ---- monotone tails

template <class T, bool Min>
struct tail_loops {
  template <bool ByLane>
  static bool candidates(const void* values, int n, const void* bounds, double limit) {
    const T* x = static_cast<const T*>(values);
    const T* bound = static_cast<const T*>(bounds);
    const T last = T(limit);
    int found = 0;
    SINTER_LANES(l, n) {
      const T b = bound[ByLane ? l : 0];
      const int safe = Min ? int(x[l] > b) & int(x[l] <= last) : int(x[l] < b) & int(x[l] >= last);
      found |= 1 - safe;
    }
    return found != 0;
  }
  /// The bound that an evaluated inner value sets; none where it lies outside of the domain.
  SINTER_STEP static T bound_of(T x, T low, T high, T margin, T floor) {
    const T slack = margin * (x < 0 ? -x : x) + floor;
    const bool inside = bool(int(x >= low) & int(x <= high));
    return inside ? (Min ? x + slack : x - slack) : T(Min ? __builtin_inf() : -__builtin_inf());
  }
  SINTER_STEP static void tighten_lanes(T* __restrict bound, const T* __restrict x, int n, T low, T high, T margin, T floor) {
    SINTER_LANES(l, n) {
      const T mine = bound_of(x[l], low, high, margin, floor);
      bound[l] = (Min ? mine < bound[l] : mine > bound[l]) ? mine : bound[l];
    }
  }
  static void tighten_by_lane(const void* x, int n, void* bounds, double low, double high, double margin, double floor) {
    tighten_lanes(static_cast<T*>(bounds), static_cast<const T*>(x), n, T(low), T(high), T(margin), T(floor));
  }
  static void tighten(const void* values, int n, void* bound, double low, double high, double margin, double floor) {
    constexpr int width = 16;
    const T* x = static_cast<const T*>(values);
    T lanes[width];
    loosen(lanes, width);
    int l = 0;
    for (; l + width <= n; l += width) tighten_lanes(lanes, x + l, width, T(low), T(high), T(margin), T(floor));
    if (l < n) tighten_lanes(lanes, x + l, n - l, T(low), T(high), T(margin), T(floor));
    T& best = *static_cast<T*>(bound);
    for (T mine : lanes)
      if (Min ? mine < best : mine > best) best = mine;
  }
  static void loosen(void* bounds, int n) {
    for (int l = 0; l < n; ++l) static_cast<T*>(bounds)[l] = Min ? T(__builtin_inf()) : T(-__builtin_inf());
  }
  static tail_steps make() {
    return {candidates<false>, candidates<true>, tighten, tighten_by_lane, loosen};
  }
};

}  // namespace

reducer make_reducer(jit::reduce_op op, dtype arg) {
  switch (op) {
    case jit::reduce_op::sum: return for_total<sum_of>(arg);
    case jit::reduce_op::prod: return for_total<product_of>(arg);
    case jit::reduce_op::min: return for_order<minimum_of>(arg);
    case jit::reduce_op::max: return for_order<maximum_of>(arg);
    case jit::reduce_op::argmin: return for_order<argmin_of>(arg);
    case jit::reduce_op::argmax: return for_order<argmax_of>(arg);
    case jit::reduce_op::any: return make<predicate<truth::any>>();
    case jit::reduce_op::all: return make<predicate<truth::all>>();
    case jit::reduce_op::count: return make<counter>();
    default: return make_moment(arg);
  }
}

tail_steps make_tail_steps(dtype type, bool minimum) {
  if (type == dtype::f32) return minimum ? tail_loops<float, true>::make() : tail_loops<float, false>::make();
  return minimum ? tail_loops<double, true>::make() : tail_loops<double, false>::make();
}

#undef SINTER_STEP

}  // namespace sinter::cpu::SINTER_ISA
