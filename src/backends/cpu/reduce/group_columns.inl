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

/// Joins a whole group to n accumulators.
template <class S, int N, class T>
SINTER_STEP void add_group(T* __restrict a, const T* __restrict x, std::int64_t stride, int n) {
  const T* __restrict x1 = further(x, stride);
  const T* __restrict x2 = further(x, 2 * stride);
  const T* __restrict x3 = further(x, 3 * stride);
  const int count = N ? N : n;
  SINTER_LANES(l, count) a[l] = both<S>(a[l], both<S>(both<S>(x[l], x1[l]), both<S>(x2[l], x3[l])));
}
/// Joins element `at` of a group to what there is of it, p and q; the last one joins the group to the accumulators.
template <class S, class T>
SINTER_STEP void add_part(T* __restrict a, T* __restrict p, T* __restrict q, const T* __restrict x, int n, int at) {
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

template <class S, int N, class T>
SINTER_STEP int add_groups(T* a, const T* x, std::int64_t stride, int groups, int n, int lane, const column_place& place) {
  for (int g = 0; g < groups; ++g, x = further(x, group_size * stride)) {
    add_group<S, N>(a + lane * place.pitch * S::unit, x, stride, n);
    lane = lane + 1 == place.lanes ? 0 : lane + 1;
  }
  return lane;
}

template <class Op>
[[gnu::flatten]] void group_columns(void* const* acc, const void* from, std::int64_t stride, int steps, int n,
                                    const column_place& first) {
  using S = vector_steps<Op>;
  using T = typename S::number;
  column_place place = first;
  const int count = n * S::unit, pitch = place.pitch * S::unit;
  T *const a = static_cast<T*>(acc[0]), *const p = static_cast<T*>(acc[1]);
  const T* x = static_cast<const T*>(from);
  int left = steps;
  const auto parts = [&](int some) {
    for (; some > 0; --some, --left, ++place.index, x = further(x, stride))
      add_part<S>(a + place.lane() * pitch, p, p + pitch, x, count, place.index % group_size);
  };
  const int begun = (group_size - place.index % group_size) % group_size;
  parts(begun < left ? begun : left);
  const int groups = left / group_size, lane = place.lane();
  switch (count) {
    case 2: add_groups<S, 2>(a, x, stride, groups, count, lane, place); break;
    case 3: add_groups<S, 3>(a, x, stride, groups, count, lane, place); break;
    case 4: add_groups<S, 4>(a, x, stride, groups, count, lane, place); break;
    case 8: add_groups<S, 8>(a, x, stride, groups, count, lane, place); break;
    case 16: add_groups<S, 16>(a, x, stride, groups, count, lane, place); break;
    default: add_groups<S, 0>(a, x, stride, groups, count, lane, place);
  }
  x = further(x, std::int64_t{groups} * group_size * stride);
  place.index += groups * group_size;
  left -= groups * group_size;
  parts(left);
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
