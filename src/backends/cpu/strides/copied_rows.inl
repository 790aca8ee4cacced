// Rows of bytes that are copied one after the other, each from a place of its own. Included by strided_loops.inl.

/// A row of up to some vectors, not empty: bytes at its end may be copied twice. As copy_row (lanes.hpp), which is inline: its copy of an
/// instruction set could serve elsewhere.
[[gnu::always_inline]] inline void copy_bytes(char* to, const char* from, std::size_t bytes) {
  if (bytes > 256) {
    __builtin_memcpy(to, from, bytes);
  } else if (bytes >= 16) {
    for (std::size_t k = 0; k + 16 <= bytes; k += 16) __builtin_memcpy(to + k, from + k, 16);
    __builtin_memcpy(to + bytes - 16, from + bytes - 16, 16);
  } else if (bytes >= 8) {
    __builtin_memcpy(to, from, 8);
    __builtin_memcpy(to + bytes - 8, from + bytes - 8, 8);
  } else {
    for (std::size_t k = 0; k < bytes; ++k) to[k] = from[k];
  }
}
/// The same row `count` times: twice as many each time.
[[gnu::always_inline]] inline void repeat_row(char* to, const char* from, int count, std::size_t bytes) {
  const std::size_t all = static_cast<std::size_t>(count) * bytes;
  copy_bytes(to, from, bytes);
  for (std::size_t done = bytes; done < all;) {
    const std::size_t more = done < all - done ? done : all - done;
    copy_bytes(to + done, to, more);
    done += more;
  }
}
/// Rows of a word or less, each copied as a word, of which the next one overwrites what is too much; the last ones are copied one by
/// one. False where a word would be none of the memory between the first row and the last one.
[[gnu::always_inline]] inline bool rows_of_words(char*& to, const char* end, const char* from, std::int64_t stride,
                                                 int count, std::size_t bytes) {
  constexpr std::int64_t word = 8;
  const auto each = static_cast<std::int64_t>(bytes);
  if (bytes > 8 || stride < 0 || stride + each < word) return false;
  int r = 0;
  for (; r + 1 < count && end - to >= word; ++r, to += bytes, from += stride) __builtin_memcpy(to, from, 8);
  for (; r < count; ++r, to += bytes, from += stride) copy_bytes(to, from, bytes);
  return true;
}
#if SINTER_ISA_LEVEL == 2
/// Rows of a vector or less, of which each store writes a whole vector: what is too much is a later row's. False where that
/// would be behind `end`.
[[gnu::always_inline]] inline bool rows_over(char*& to, const char* end, const char* from, std::int64_t stride,
                                             int count, std::size_t bytes) {
  if (bytes > 64 || end - to < static_cast<std::int64_t>(bytes) * count + 64) return false;
  const __mmask64 mask = ~0ull >> (64 - bytes);
  for (int r = 0; r < count; ++r, to += bytes, from += stride)
    _mm512_storeu_si512(to, _mm512_maskz_loadu_epi8(mask, from));
  return true;
}
#endif
#if SINTER_ISA_LEVEL >= 1
/// Rows of a few bytes near each other, as three bytes of each four: those within 16 bytes are put together at once. Returns how
/// many rows are done.
[[gnu::always_inline]] inline int rows_by_shuffles(char*& to, const char* end, const char* from, std::int64_t stride,
                                                   int count, std::size_t bytes) {
  constexpr int vector = 16;
  if (stride <= static_cast<std::int64_t>(bytes) || stride > vector / 2 || count < vector) return 0;
  const int step = static_cast<int>(stride), each = static_cast<int>(bytes), together = (vector - each) / step + 1;
  alignas(16) char place[vector];
  int filled = 0;
  for (int r = 0; r < together; ++r)
    for (int b = 0; b < each; ++b) place[filled++] = static_cast<char>(r * step + b);
  for (int k = filled; k < vector; ++k) place[k] = 0;
  const __m128i places = _mm_load_si128(reinterpret_cast<const __m128i*>(place));
  const char* const last = from + (count - 1) * stride + each - vector;
  int r = 0;
  for (; from <= last && end - to >= vector; r += together, to += filled, from += together * step)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)), places));
  return r;
}
#endif
/// Rows of a number of bytes that the compiler knows.
template <int Bytes>
[[gnu::always_inline]] inline void rows_of_size(char* to, const char* plane, std::int64_t plane_stride, int planes,
                                                std::int64_t stride, int count) {
  for (int p = 0; p < planes; ++p, plane += plane_stride) {
    const char* from = plane;
    for (int r = 0; r < count; ++r, to += Bytes, from += stride) __builtin_memcpy(to, from, Bytes);
  }
}
#if SINTER_ISA_LEVEL == 2
template <int Bytes>
[[gnu::always_inline]] inline __m512i row_as_vector(const char* from) {
  if constexpr (Bytes == 8) {
    long long word;
    __builtin_memcpy(&word, from, sizeof word);
    return _mm512_set1_epi64(word);
  } else if constexpr (Bytes == 16) {
    return _mm512_maskz_broadcast_i32x4(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  } else {
    return _mm512_maskz_broadcast_i64x4(0xff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
}
/// One row `count` times for each plane, several of which are a vector.
template <int Bytes>
[[gnu::always_inline]] inline void repeat_rows_of_size(char* to, const char* plane, std::int64_t plane_stride,
                                                       int planes, int count) {
  const std::int64_t all = std::int64_t{count} * Bytes;
  const __mmask64 rest = ~(~0ull << (all % 64));
  for (int p = 0; p < planes; ++p, plane += plane_stride) {
    const __m512i row = row_as_vector<Bytes>(plane);
    char* const end = to + all / 64 * 64;
    for (; to < end; to += 64) _mm512_storeu_si512(to, row);
    _mm512_mask_storeu_epi8(to, rest, row);
    to += all % 64;
  }
}
#endif
/// Whether the rows are done: those of a number of bytes for which there is a loop.
[[gnu::always_inline]] inline bool rows_of_some_size(char* to, const char* plane, std::int64_t plane_stride, int planes,
                                                     std::int64_t stride, int count, std::size_t bytes) {
#if SINTER_ISA_LEVEL == 2
  if (stride == 0) {
    switch (bytes) {
      case 8: return repeat_rows_of_size<8>(to, plane, plane_stride, planes, count), true;
      case 16: return repeat_rows_of_size<16>(to, plane, plane_stride, planes, count), true;
      case 32: return repeat_rows_of_size<32>(to, plane, plane_stride, planes, count), true;
      default: return false;
    }
  }
#endif
  switch (bytes) {
    case 8: return rows_of_size<8>(to, plane, plane_stride, planes, stride, count), true;
    case 16: return rows_of_size<16>(to, plane, plane_stride, planes, stride, count), true;
    case 32: return rows_of_size<32>(to, plane, plane_stride, planes, stride, count), true;
    case 64: return rows_of_size<64>(to, plane, plane_stride, planes, stride, count), true;
    default: return false;
  }
}
/// Rows for which there is no loop of their own.
[[gnu::always_inline]] inline void rows_one_by_one(char* to, const char* end, const char* from, std::int64_t stride,
                                                   int count, std::size_t bytes) {
  if (rows_of_words(to, end, from, stride, count, bytes)) return;
#if SINTER_ISA_LEVEL == 2
  if (rows_over(to, end, from, stride, count, bytes)) return;
#endif
  for (int r = 0; r < count; ++r, to += bytes, from += stride) copy_bytes(to, from, bytes);
}
/// Calls `plane` for the rows of each plane: where they go and where they lie.
template <class F>
[[gnu::always_inline]] inline void each_plane(char* to, const char* from, std::int64_t stride, int planes,
                                              std::size_t bytes, F&& plane) {
  for (int p = 0; p < planes; ++p, from += stride, to += bytes) plane(to, from);
}
/// So few that what loops of many begin with takes longer than the copies.
[[gnu::noinline]] void few_rows(char* to, const char* memory, std::int64_t plane_stride, int planes, std::int64_t stride,
                                int count, std::size_t bytes) {
  const std::size_t of_plane = static_cast<std::size_t>(count) * bytes;
  const char* const end = to + static_cast<std::size_t>(planes) * of_plane;
  each_plane(to, memory, plane_stride, planes, of_plane, [&](char* at, const char* from) {
    if (stride == 0 && count > 0) repeat_row(at, from, count, bytes);
    else rows_one_by_one(at, end, from, stride, count, bytes);
  });
}
void rows(void* lanes, const void* memory, std::int64_t plane_stride, int planes, std::int64_t stride, int count,
          std::size_t bytes) {
  constexpr std::int64_t few = 64;
  char* const to = static_cast<char*>(lanes);
  const char* const from = static_cast<const char*>(memory);
  if (std::int64_t{planes} * count < few) return few_rows(to, from, plane_stride, planes, stride, count, bytes);
  if (rows_of_some_size(to, from, plane_stride, planes, stride, count, bytes)) return;
  const std::size_t of_plane = static_cast<std::size_t>(count) * bytes;
  const char* const end = to + static_cast<std::size_t>(planes) * of_plane;
  each_plane(to, from, plane_stride, planes, of_plane, [&](char* at, const char* plane) {
    if (stride == 0) return repeat_row(at, plane, count, bytes);
    int done = 0;
#if SINTER_ISA_LEVEL >= 1
    done = rows_by_shuffles(at, end, plane, stride, count, bytes);
#endif
    rows_one_by_one(at, end, plane + done * stride, stride, count - done, bytes);
  });
}
