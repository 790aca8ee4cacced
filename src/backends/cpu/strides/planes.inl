// Planes of a few elements, each at a place of its own in every plane. Included by strided_loops.inl.

#if SINTER_ISA_LEVEL == 2
/// Those whose elements lie within two vectors: shuffles of these. False where they do not, or are too many.
template <class T>
[[gnu::always_inline]] inline bool planes_of_vectors(T* to, const T* from, std::int64_t plane_stride, int planes,
                                                     const std::int64_t* offsets, int count) {
  constexpr int width = 64 / static_cast<int>(sizeof(T)), most = 4;
  std::int64_t low = offsets[0], high = offsets[0];
  for (int k = 1; k < count; ++k) {
    low = offsets[k] < low ? offsets[k] : low;
    high = offsets[k] > high ? offsets[k] : high;
  }
  const std::int64_t span = high - low + 1;
  if (span > 2 * width || count > most * width) return false;
  alignas(64) T lanes[most * width] = {};
  for (int k = 0; k < count; ++k) lanes[k] = static_cast<T>(offsets[k] - low);
  const unsigned all = ~0u >> (32 - width), rest = ~0u >> (32 - (count - 1) % width - 1);
  const unsigned first = span >= width ? all : ~0u >> (32 - span), second = span > width ? ~0u >> (32 + width - span) : 0;
  const int whole = (count - 1) / width;  // vectors before the last one of a plane
  const T* const end = to + std::int64_t{planes} * count;
  from += low;
  for (int p = 0; p < planes; ++p, to += count, from += plane_stride) {
    const __m512i x = vector_lanes<T>::load(first, from),
                  y = second != 0 ? vector_lanes<T>::load(second, from + width) : _mm512_setzero_si512();
    for (int v = 0; v < whole; ++v) _mm512_storeu_si512(to + v * width, vector_lanes<T>::of_two(x, lanes + v * width, y));
    const __m512i last = vector_lanes<T>::of_two(x, lanes + whole * width, y);
    if (to + (whole + 1) * width <= end) _mm512_storeu_si512(to + whole * width, last);  // the next plane overwrites it
    else vector_lanes<T>::store(to + whole * width, rest, last);
  }
  return true;
}
#endif

template <class T>
void planes(void* lanes, const void* memory, std::int64_t plane_stride, int planes, const std::int64_t* offsets,
            int count) {
  T* __restrict to = static_cast<T*>(lanes);
  const T* __restrict from = static_cast<const T*>(memory);
#if SINTER_ISA_LEVEL == 2
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8)
    if (planes_of_vectors(to, from, plane_stride, planes, offsets, count)) return;
#endif
  for (int p = 0; p < planes; ++p, to += count, from += plane_stride)
    for (int k = 0; k < count; ++k) to[k] = from[offsets[k]];
}
