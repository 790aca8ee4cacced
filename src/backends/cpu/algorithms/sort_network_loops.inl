// The steps of the network over vector registers. Included once for each instruction set, after its target has been
// opened.
//
// A sequence of 2k keys, whose halves are sorted, is merged by comparing it with its own reverse, which leaves the smaller
// keys in the first half, and then keys k/2, k/4, ... 1 apart. Distances of a vector and more compare whole vectors, shorter
// ones a vector with its own lanes in another order.
namespace sinter::cpu::SINTER_ISA {
namespace {

#include "backends/cpu/algorithms/sort_lanes.inl"
//
#include "backends/cpu/algorithms/plane_network.inl"

/// The first step of a merge of k vectors: `first` with the reverse of `last`. The larger keys stay reversed, which a merge
/// may find them in.
template <class V>
SINTER_STEP void order_reversed(V& first, V& last) {
  V reversed;
  reorder<SINTER_LANES_IN(last) - 1>(reversed, last);
  order_lanes(first, reversed);
  last = reversed;
}
template <class V>
SINTER_STEP void order_halves(V* v, int k) {
  if (k == 2) return order_reversed(v[0], v[1]);
  for (int i = 0; i < k / 4; ++i) {
    const int j = k / 2 - 1 - i;
    V a = v[i], b = v[j], last = v[k - 1 - i], other = v[k - 1 - j];
    order_reversed(a, last);
    order_reversed(b, other);
    v[i] = a;
    v[j] = b;
    v[k / 2 + i] = last;
    v[k / 2 + j] = other;
  }
}

template <class V>
SINTER_STEP void merge_vectors(V* v, int k) {
  order_halves(v, k);
  for (int apart = k / 4; apart > 0; apart /= 2)
    for (int at = 0; at < k; at += 2 * apart)
      for (int i = at; i < at + apart; ++i) {
        V a = v[i], b = v[i + apart];
        order_lanes(a, b);
        v[i] = a;
        v[i + apart] = b;
      }
  for (int i = 0; i < k; ++i) {
    V a = v[i];
    merge_lanes<SINTER_LANES_IN(a)>(a);
    v[i] = a;
  }
}

/// `keys` are aligned to vectors.
template <class Key>
void sort_keys(Key* keys, int n) {
  using vector __attribute__((may_alias)) = vector_of<Key>;
  auto* const v = reinterpret_cast<vector*>(keys);
  const int count = n / lanes_of<Key>::count;
  for (int i = 0; i < count; ++i) {
    vector a = v[i];
    sort_lanes<lanes_of<Key>::count>(a);
    v[i] = a;
  }
  for (int k = 2; k <= count; k *= 2)
    for (int at = 0; at < count; at += k) merge_vectors(v + at, k);
}

/// Batcher's odd-even merges of n planes of 64 bytes: the keys in one lane of all planes are sorted, for each lane.
template <class V>
void sort_odd_planes(V* v, int n, int each) {
  int top = 1;
  while (2 * top < n) top *= 2;
  for (int size = top; size > 0; size /= 2)
    for (int q = top, kept = 0, apart = size;; apart = q - size, q /= 2, kept = size) {
      for (int at = kept; at + apart < n; at += 2 * size) {
        const int end = at + size < n - apart ? at + size : n - apart;
        for (int i = at * each; i < end * each; ++i) {
          V a = v[i], b = v[i + apart * each];
          order_lanes(a, b);
          v[i] = a;
          v[i + apart * each] = b;
        }
      }
      if (q == size) break;
    }
}

/// Sorts the keys in each lane. What follows the n planes is overwritten, up to the next power of two.
template <class Key>
void sort_planes(void* planes, int n, Key greatest) {
  using vector __attribute__((may_alias)) = vector_of<Key>;
  constexpr int each = 64 / lanes_of<Key>::bytes;
  auto* const v = static_cast<vector*>(planes);
  int whole = register_planes;
  while (whole < n) whole *= 2;
  if (5 * n < 3 * whole) return sort_odd_planes(v, n, each);
  const vector last = vector{} + greatest;
  for (int i = n * each; i < whole * each; ++i) v[i] = last;
  sort_whole_planes(v, whole, each);
}

template <class Key, class Real>
bool sort_columns(Key* planes, int n, Key flipped, Key infinity) {
  constexpr int last = 8 * static_cast<int>(sizeof(Key)) - 1;
  constexpr Key most = static_cast<Key>((1ull << last) - 1), negative_zero = -most - 1;
  const int count = n * static_cast<int>(64 / sizeof(Key));
  if (infinity == 0) {
    for (int i = 0; i < count; ++i) planes[i] ^= flipped;
    sort_planes(planes, n, most);
    for (int i = 0; i < count; ++i) planes[i] ^= flipped;
    return true;
  }
  Key unordered = 0;
  for (int i = 0; i < count; ++i) unordered |= Key((planes[i] & most) > infinity) | Key(planes[i] == negative_zero);
  if (unordered) return false;
  // The order of numbers is the other way round where their signs are.
  const Key sign = flipped & negative_zero;
  if (sign)
    for (int i = 0; i < count; ++i) planes[i] ^= sign;
  sort_planes(planes, n, static_cast<Real>(__builtin_inf()));
  if (sign)
    for (int i = 0; i < count; ++i) planes[i] ^= sign;
  return true;
}

}  // namespace

void sort_network_32(int* keys, int n) { sort_keys(keys, n); }
void sort_network_64(long long* keys, int n) { sort_keys(keys, n); }
bool sort_columns_32(int* planes, int n, int flipped, int infinity) {
  return sort_columns<int, float>(planes, n, flipped, infinity);
}
bool sort_columns_64(long long* planes, int n, long long flipped, long long infinity) {
  return sort_columns<long long, double>(planes, n, flipped, infinity);
}
void sort_indices_32(const int* keys, long long* planes, int n) {
  constexpr int lanes = 8;
  for (int j = 0; j < n; ++j)
    for (int l = 0; l < lanes; ++l)
      planes[j * lanes + l] = static_cast<long long>(keys[j * lanes + l]) * (1ll << 32) + j;
  sort_planes(planes, n, static_cast<long long>(~0ull >> 1));
  for (int i = 0; i < n * lanes; ++i) planes[i] &= 0xffffffff;
}

#undef SINTER_STEP
#undef SINTER_LANES_IN

}  // namespace sinter::cpu::SINTER_ISA
