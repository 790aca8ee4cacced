// Sorting the lanes of planes in registers: a bitonic network several of whose steps are taken while the planes they compare are in
// registers. Included inside the namespace of an instruction set, after sort_lanes.inl.

/// Planes that are in registers at a time.
inline constexpr int register_steps = SINTER_ISA_LEVEL == 2 ? 4 : 3, register_planes = 1 << register_steps;

/// Batcher's merge of the `count` values from `at` on, `apart` apart, whose even and odd halves are sorted.
template <int at, int count, int apart, int i, class V>
SINTER_STEP void order_odd_even(V* r) {
  if constexpr (i + apart < at + count) {
    order_lanes(r[i], r[i + apart]);
    order_odd_even<at, count, apart, i + 2 * apart>(r);
  }
}
template <int at, int count, int apart, class V>
SINTER_STEP void merge_odd_even(V* r) {
  if constexpr (2 * apart < count) {
    merge_odd_even<at, count, 2 * apart>(r);
    merge_odd_even<at + apart, count, 2 * apart>(r);
    order_odd_even<at, count, apart, at + apart>(r);
  } else {
    order_lanes(r[at], r[at + apart]);
  }
}
template <int at, int count, class V>
SINTER_STEP void sort_odd_even(V* r) {
  if constexpr (count > 1) {
    sort_odd_even<at, count / 2>(r);
    sort_odd_even<at + count / 2, count / 2>(r);
    merge_odd_even<at, count, 1>(r);
  }
}

/// Compares the values from `from` to `end` with those `apart` behind.
template <int from, int end, int apart, class V>
SINTER_STEP void order_range(V* r) {
  if constexpr (from < end) {
    order_lanes(r[from], r[from + apart]);
    order_range<from + 1, end, apart>(r);
  }
}
/// The steps of a bitonic merge of `count` values from `at` on.
template <int at, int count, class V>
SINTER_STEP void merge_bitonic(V* r) {
  if constexpr (count > 1) {
    order_range<at, at + count / 2, count / 2>(r);
    merge_bitonic<at, count / 2>(r);
    merge_bitonic<at + count / 2, count / 2>(r);
  }
}
/// The first step of one: each value with that which is as far from the end.
template <int i, int count, class V>
SINTER_STEP void order_mirrored(V* r) {
  if constexpr (i < count / 2) {
    order_lanes(r[i], r[count - 1 - i]);
    order_mirrored<i + 1, count>(r);
  }
}

template <int i, int count, class V, class Plane>
SINTER_STEP void load_planes(V* r, const V* v, Plane plane) {
  if constexpr (i < count) {
    r[i] = v[plane(i)];
    load_planes<i + 1, count>(r, v, plane);
  }
}
template <int i, int count, class V, class Plane>
SINTER_STEP void store_planes(const V* r, V* v, Plane plane) {
  if constexpr (i < count) {
    v[plane(i)] = r[i];
    store_planes<i + 1, count>(r, v, plane);
  }
}
/// Where value i of a group lies.
struct even_places {
  long long apart;
  long long operator()(int i) const { return i * apart; }
};
/// The second half mirrors the first one: `last` is the place of the last value.
template <int count>
struct mirrored_places {
  long long apart, last;
  long long operator()(int i) const { return i < count / 2 ? i * apart : last - (count - 1 - i) * apart; }
};

/// The first `steps` steps of a merge of two sorted halves of `half` planes, of `each` vectors.
template <int steps, class V>
void merge_first(V* v, int half, int each) {
  constexpr int count = 1 << steps;
  const int apart = half / (count / 2);
  const mirrored_places<count> places{static_cast<long long>(apart) * each, (2ll * half - 1) * each};
  for (int i = 0; i < apart; ++i)
    for (int c = 0; c < each; ++c) {
      V r[count];
      V* const from = v + i * each + c;
      const mirrored_places<count> here{places.apart, places.last - 2ll * i * each};
      load_planes<0, count>(r, from, here);
      order_mirrored<0, count>(r);
      merge_bitonic<0, count / 2>(r);
      merge_bitonic<count / 2, count / 2>(r);
      store_planes<0, count>(r, from, here);
    }
}
/// `steps` steps of a merge, those of planes `distance` and less apart; of all planes.
template <int steps, class V>
void merge_next(V* v, int n, int distance, int each) {
  constexpr int count = 1 << steps;
  const int apart = 2 * distance / count;
  const even_places places{static_cast<long long>(apart) * each};
  for (int at = 0; at < n; at += 2 * distance)
    for (int i = 0; i < apart * each; ++i) {
      V r[count];
      V* const from = v + at * each + i;
      load_planes<0, count>(r, from, places);
      merge_bitonic<0, count>(r);
      store_planes<0, count>(r, from, places);
    }
}
template <class V>
void sort_register_planes(V* v, int n, int each) {
  const even_places places{each};
  for (int at = 0; at < n; at += register_planes)
    for (int c = 0; c < each; ++c) {
      V r[register_planes];
      V* const from = v + at * each + c;
      load_planes<0, register_planes>(r, from, places);
      sort_odd_even<0, register_planes>(r);
      store_planes<0, register_planes>(r, from, places);
    }
}
template <class V>
void merge_by_steps(V* v, int half, int each, int steps) {
  switch (steps) {
    case 1: return merge_first<1>(v, half, each);
    case 2: return merge_first<2>(v, half, each);
    case 3: return merge_first<3>(v, half, each);
    default: return merge_first<register_steps>(v, half, each);
  }
}
template <class V>
void merge_further(V* v, int n, int distance, int each, int steps) {
  switch (steps) {
    case 1: return merge_next<1>(v, n, distance, each);
    case 2: return merge_next<2>(v, n, distance, each);
    case 3: return merge_next<3>(v, n, distance, each);
    default: return merge_next<register_steps>(v, n, distance, each);
  }
}

/// Sorts n planes of `each` vectors, a power of two of at least register_planes.
template <class V>
void sort_whole_planes(V* v, int n, int each) {
  sort_register_planes(v, n, each);
  int steps = register_steps;  // of a merge of twice as many planes as have been sorted, all but the first one
  for (int half = register_planes; half < n; half *= 2, ++steps) {
    const int first = steps + 1 - register_steps < register_steps ? steps + 1 - register_steps : register_steps;
    for (int at = 0; at < n; at += 2 * half) merge_by_steps(v + at * each, half, each, first);
    for (int left = steps + 1 - first; left > 0;) {
      const int some = left > register_steps && left < 2 * register_steps ? left - register_steps
                       : left < register_steps                            ? left
                                                                          : register_steps;
      merge_further(v, n, 1 << (left - 1), each, some);
      left -= some;
    }
  }
}
