// Columns of sums and products of floating-point numbers, in the order of jit::addition_order: groups of four neighbouring
// elements are joined first, so that an accumulator is read and written once for a group. Included by loops.inl.

/// Whether a reduction is one of these.
template <class Op>
inline constexpr bool is_by_groups = vector_steps<Op>::any && !Op::any_order;

inline constexpr int group_size = jit::addition_group;

template <class T>
SINTER_STEP const T* further(const T* x, std::int64_t bytes) {
  return reinterpret_cast<const T*>(reinterpret_cast<const char*>(x) + bytes);
}
template <class S, class T>
SINTER_STEP T both(T a, T b) {
  S::join(a, b);
  return a;
}

/// Elements of columns as they lie in memory: lane l of the step that comes `step` after this one is at(l, step).
template <class T>
struct plain_columns {
  const T* x;
  std::int64_t stride;

  SINTER_STEP void move(int steps) { x = further(x, steps * stride); }
  /// The lanes of one step.
  struct lanes {
    const T* __restrict x;
    SINTER_STEP T operator[](int l) const { return x[l]; }
  };
  SINTER_STEP lanes at(int step) const { return {further(x, step * stride)}; }
};
/// The same, all lanes of a step multiplied by one number.
template <class T>
struct weighted_columns {
  plain_columns<T> all, weights;

  SINTER_STEP void move(int steps) { all.move(steps), weights.move(steps); }
  struct lanes {
    const T* __restrict x;
    T weight;
    SINTER_STEP T operator[](int l) const { return x[l] * weight; }
  };
  SINTER_STEP lanes at(int step) const { return {all.at(step).x, *weights.at(step).x}; }
};

/// Joins a whole group to n accumulators.
template <class S, int N, class T, class Source>
SINTER_STEP void add_group(T* __restrict a, const Source& from, int n) {
  const auto x = from.at(0), x1 = from.at(1), x2 = from.at(2), x3 = from.at(3);
  const int count = N ? N : n;
  SINTER_LANES(l, count) a[l] = both<S>(a[l], both<S>(both<S>(x[l], x1[l]), both<S>(x2[l], x3[l])));
}
/// Joins element `at` of a group to what there is of it, p and q; the last one joins the group to the accumulators.
template <class S, class T, class Lanes>
SINTER_STEP void add_part(T* __restrict a, T* __restrict p, T* __restrict q, const Lanes& x, int n, int at) {
  if (at == 0) {
    SINTER_LANES(l, n) p[l] = x[l];
  } else if (at == 1) {
    SINTER_LANES(l, n) p[l] = both<S>(p[l], x[l]);
  } else if (at == 2) {
    SINTER_LANES(l, n) q[l] = x[l];
  } else {
    SINTER_LANES(l, n) a[l] = both<S>(a[l], both<S>(p[l], both<S>(q[l], x[l])));
  }
}

template <class S, int N, class T, class Source>
SINTER_STEP void add_groups(T* a, Source x, int groups, int n, int lane, const column_place& place) {
  for (int g = 0; g < groups; ++g, x.move(group_size)) {
    add_group<S, N>(a + lane * place.pitch * S::unit, x, n);
    lane = lane + 1 == place.lanes ? 0 : lane + 1;
  }
}

template <class S, class Source>
SINTER_STEP void add_columns(void* const* acc, Source x, int steps, int n, const column_place& first) {
  using T = typename S::number;
  column_place place = first;
  const int count = n * S::unit, pitch = place.pitch * S::unit;
  T *const a = static_cast<T*>(acc[0]), *const p = static_cast<T*>(acc[1]);
  int left = steps;
  const auto parts = [&](int some) {
    for (; some > 0; --some, --left, ++place.index, x.move(1))
      add_part<S>(a + place.lane() * pitch, p, p + pitch, x.at(0), count, place.index % group_size);
  };
  const int begun = (group_size - place.index % group_size) % group_size;
  parts(begun < left ? begun : left);
  const int groups = left / group_size, lane = place.lane();
  switch (count) {
    case 2: add_groups<S, 2>(a, x, groups, count, lane, place); break;
    case 3: add_groups<S, 3>(a, x, groups, count, lane, place); break;
    case 4: add_groups<S, 4>(a, x, groups, count, lane, place); break;
    case 8: add_groups<S, 8>(a, x, groups, count, lane, place); break;
    case 16: add_groups<S, 16>(a, x, groups, count, lane, place); break;
    default: add_groups<S, 0>(a, x, groups, count, lane, place);
  }
  x.move(groups * group_size);
  place.index += groups * group_size;
  left -= groups * group_size;
  parts(left);
}
template <class Op>
[[gnu::flatten]] void group_columns(void* const* acc, const void* from, std::int64_t stride, int steps, int n,
                                    const column_place& first) {
  using T = typename vector_steps<Op>::number;
  add_columns<vector_steps<Op>>(acc, plain_columns<T>{static_cast<const T*>(from), stride}, steps, n, first);
}
template <class Op>
[[gnu::flatten]] void product_columns(void* const* acc, const row_pair& x, int steps, int n,
                                      const column_place& first) {
  using T = typename vector_steps<Op>::number;
  const weighted_columns<T> from{{static_cast<const T*>(x.a), x.stride_a}, {static_cast<const T*>(x.b), x.stride_b}};
  add_columns<vector_steps<Op>>(acc, from, steps, n, first);
}

template <class Op>
void close_group_columns(void* const* acc, int n, const column_place& place) {
  using S = vector_steps<Op>;
  using T = typename S::number;
  const int count = n * S::unit, pitch = place.pitch * S::unit, seen = place.index % group_size;
  if (seen == 0) return;
  T* __restrict a = static_cast<T*>(acc[0]) + place.lane() * pitch;
  const T* __restrict p = static_cast<const T*>(acc[1]);
  const T* __restrict q = p + pitch;
  if (seen < 3) {
    SINTER_LANES(l, count) a[l] = both<S>(a[l], p[l]);
  } else {
    SINTER_LANES(l, count) a[l] = both<S>(a[l], both<S>(p[l], q[l]));
  }
}
