// Places of extrema in short rows: a vector's lanes are rows, and gathers read an element of each. Included by row_loops.inl. All with
// masks: GCC 12 takes what the others begin with for numbers that are not set.

/// Whether rows of T are compared side by side, and up to how many elements those of one after the other take longer.
template <class T>
inline constexpr int most_side_by_side = 0;

#if SINTER_ISA_LEVEL == 2
template <>
inline constexpr int most_side_by_side<float> = 48;
template <>
inline constexpr int most_side_by_side<int> = 48;
template <>
inline constexpr int most_side_by_side<double> = 32;
template <>
inline constexpr int most_side_by_side<long long> = 32;

template <class T>
struct side_by_side;
template <>
struct side_by_side<float> {
  static constexpr int rows = 16;
  using vector = __m512;
  static vector load(const void* from, __m512i at) { return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), 0xffff, at, from, 1); }
  template <bool Min>
  static unsigned better(vector x, vector a) {
    return _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(a, a, _CMP_ORD_Q), x, a, Min ? _CMP_NGE_UQ : _CMP_NLE_UQ);
  }
  static vector blend(unsigned mask, vector a, vector x) { return _mm512_mask_mov_ps(a, static_cast<__mmask16>(mask), x); }
  static void store(float* to, vector x) { _mm512_storeu_ps(to, x); }
};
template <>
struct side_by_side<int> {
  static constexpr int rows = 16;
  using vector = __m512i;
  static vector load(const void* from, __m512i at) { return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), 0xffff, at, from, 1); }
  template <bool Min>
  static unsigned better(vector x, vector a) {
    return Min ? _mm512_cmplt_epi32_mask(x, a) : _mm512_cmplt_epi32_mask(a, x);
  }
  static vector blend(unsigned mask, vector a, vector x) {
    return _mm512_mask_mov_epi32(a, static_cast<__mmask16>(mask), x);
  }
  static void store(int* to, vector x) { _mm512_storeu_si512(to, x); }
};
template <>
struct side_by_side<double> {
  static constexpr int rows = 8;
  using vector = __m512d;
  static vector load(const void* from, __m512i at) {
    return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), 0xff, _mm512_castsi512_si256(at), from, 1);
  }
  template <bool Min>
  static unsigned better(vector x, vector a) {
    return _mm512_mask_cmp_pd_mask(_mm512_cmp_pd_mask(a, a, _CMP_ORD_Q), x, a, Min ? _CMP_NGE_UQ : _CMP_NLE_UQ);
  }
  static vector blend(unsigned mask, vector a, vector x) { return _mm512_mask_mov_pd(a, static_cast<__mmask8>(mask), x); }
  static void store(double* to, vector x) { _mm512_storeu_pd(to, x); }
};
template <>
struct side_by_side<long long> {
  static constexpr int rows = 8;
  using vector = __m512i;
  static vector load(const void* from, __m512i at) {
    return _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), 0xff, _mm512_castsi512_si256(at), from, 1);
  }
  template <bool Min>
  static unsigned better(vector x, vector a) {
    return Min ? _mm512_cmplt_epi64_mask(x, a) : _mm512_cmplt_epi64_mask(a, x);
  }
  static vector blend(unsigned mask, vector a, vector x) {
    return _mm512_mask_mov_epi64(a, static_cast<__mmask8>(mask), x);
  }
  static void store(long long* to, vector x) { _mm512_storeu_si512(to, x); }
};

/// As many rows as fill vectors; returns how many these are.
template <class T, bool Min>
SINTER_STEP int place_side_by_side(T* best, index64* places, const void* from, std::int64_t stride, int rows, int columns) {
  using lanes = side_by_side<T>;
  constexpr std::int64_t farthest = std::int64_t{1} << 26;  // bytes, so that those to the last row are a number of 32 bits
  if (stride < 0 || stride > farthest) return 0;
  const __m512i count = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i row = _mm512_mullo_epi32(count, _mm512_set1_epi32(static_cast<int>(stride)));
  int r = 0;
  for (; r + lanes::rows <= rows; r += lanes::rows) {
    const char* const x = static_cast<const char*>(from) + r * stride;
    auto a = lanes::load(x, row);
    __m512i at = _mm512_setzero_si512();
    for (int k = 1; k < columns; ++k) {
      const auto next = lanes::load(x + k * static_cast<int>(sizeof(T)), row);
      const unsigned better = lanes::template better<Min>(next, a);
      a = lanes::blend(better, a, next);
      at = _mm512_mask_mov_epi32(at, static_cast<__mmask16>(better), _mm512_set1_epi32(k));
    }
    lanes::store(best + r, a);
    _mm512_storeu_si512(places + r, _mm512_maskz_cvtepi32_epi64(0xff, _mm512_castsi512_si256(at)));
    if constexpr (lanes::rows == 16)
      _mm512_storeu_si512(places + r + 8, _mm512_maskz_cvtepi32_epi64(0xff, _mm512_maskz_extracti32x8_epi32(0xff, at, 1)));
  }
  return r;
}
#endif
