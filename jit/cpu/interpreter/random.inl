// Block operations that draw random numbers (jit/prelude/random.h). Lanes with consecutive positions in their draw
// share blocks of Philox, which are computed in parallel; others compute a block each.
#include "jit/cpu/interpreter/loops.inl"

#include "jit/prelude/random.h"  // needs what the loops include

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

constexpr int most_blocks = block_lanes / 2 + lane_multiple;  // of 64-bit elements that begin within a block

/// Blocks of random words as structure of arrays.
struct word_arrays {
  alignas(64) unsigned w0[most_blocks], w1[most_blocks], w2[most_blocks], w3[most_blocks];
};

bool follow_each_other(const std::int64_t* position, int n) noexcept {
  std::int64_t wrong = 0;
  SINTER_LANES(l, n) wrong |= position[l] ^ (position[0] + l);
  return wrong == 0;
}

// Words of blocks in lanes of 64 bits: the factors of a round's products are lower halves, which no shuffle has to bring
// together, and what upper halves hold nothing reads.
#if SINTER_ISA_LEVEL == 2
typedef unsigned long long halves __attribute__((vector_size(64)));
typedef unsigned words_of_two __attribute__((vector_size(64)));
#elif SINTER_ISA_LEVEL == 1
typedef unsigned long long halves __attribute__((vector_size(32)));
typedef unsigned words_of_two __attribute__((vector_size(32)));
#else
typedef unsigned long long halves __attribute__((vector_size(16)));
typedef unsigned words_of_two __attribute__((vector_size(16)));
#endif
constexpr int half_count = int(sizeof(halves) / 8);
static_assert((block_lanes / 2 + 2 * half_count) / (2 * half_count) * (2 * half_count) <=
              most_blocks);  // fill rounds up

/// Products of the lower halves; those of `by` are whole. GCC takes three multiplications where it does not know that.
SN_FN halves product(halves x, halves by) {
#if defined(__clang__) || !defined(__x86_64__)
  return (x & 0xffffffffull) * by;
#elif SINTER_ISA_LEVEL == 2
  typedef int ints __attribute__((vector_size(64)));
  typedef long long longs __attribute__((vector_size(64)));
  return halves(__builtin_ia32_pmuludq512_mask(ints(x), ints(by), longs{}, (unsigned char)(-1)));
#elif SINTER_ISA_LEVEL == 1
  typedef int ints __attribute__((vector_size(32)));
  return halves(__builtin_ia32_pmuludq256(ints(x), ints(by)));
#else
  typedef int ints __attribute__((vector_size(16)));
  return halves(__builtin_ia32_pmuludq128(ints(x), ints(by)));
#endif
}
struct half_words {
  halves w0, w1, w2, w3;
};
SN_FN void next_round(half_words& x, halves by0, halves by1, unsigned k0, unsigned k1) {
  const halves p = product(x.w0, by0), q = product(x.w2, by1);
  x = {q >> 32 ^ x.w1 ^ (unsigned long long)(k0), q, p >> 32 ^ x.w3 ^ (unsigned long long)(k1), p};
}
/// The lower halves of two vectors, one behind the other.
SN_FN void put_words(unsigned* to, halves first, halves second) {
  const words_of_two x = words_of_two(first), y = words_of_two(second);
#if SINTER_ISA_LEVEL == 2
  const words_of_two all = __builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
#elif SINTER_ISA_LEVEL == 1
  const words_of_two all = __builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14);
#else
  const words_of_two all = __builtin_shufflevector(x, y, 0, 2, 4, 6);
#endif
  __builtin_memcpy(to, &all, sizeof all);
}

/// Philox as sn::philox computes it.
void fill(word_arrays& b, std::int64_t first, int count, const sn::random_stream& s) noexcept {
  const halves none{}, by0 = none + 0xD2511F53ull, by1 = none + 0xCD9E8D57ull;
  const halves c2 = none + (s.subsequence & 0xffffffffull), c3 = none + (s.subsequence >> 32);
  halves at[2];
  for (int l = 0; l < 2 * half_count; ++l)
    at[l / half_count][l % half_count] = s.base + static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(l);
  for (int g = 0; g < count; g += 2 * half_count) {
    unsigned k0 = unsigned(s.key), k1 = unsigned(s.key >> 32);
    half_words x{at[0], at[0] >> 32, c2, c3}, y{at[1], at[1] >> 32, c2, c3};
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      next_round(x, by0, by1, k0, k1);
      next_round(y, by0, by1, k0, k1);
    }
    put_words(b.w0 + g, x.w0, y.w0);
    put_words(b.w1 + g, x.w1, y.w1);
    put_words(b.w2 + g, x.w2, y.w2);
    put_words(b.w3 + g, x.w3, y.w3);
    at[0] += (unsigned long long)(2 * half_count);
    at[1] += (unsigned long long)(2 * half_count);
  }
}

// one: a lane from its position. many: all elements of `count` blocks.
template <class T>
struct bits_draw {
  SN_MEMBER T one(long long p, const sn::random_stream& s) { return sn::random_bits<T>(p, s); }
  static void many(const word_arrays& b, T* to, int count) noexcept {
    if constexpr (sizeof(T) == 4) {
      SINTER_LANES(g, count) {
        to[4 * g] = b.w0[g];
        to[4 * g + 1] = b.w1[g];
        to[4 * g + 2] = b.w2[g];
        to[4 * g + 3] = b.w3[g];
      }
    } else {
      SINTER_LANES(g, count) {
        to[2 * g] = sn::random_pair(b.w0[g], b.w1[g]);
        to[2 * g + 1] = sn::random_pair(b.w2[g], b.w3[g]);
      }
    }
  }
};
template <class T>
struct uniform_draw {
  SN_MEMBER T one(long long p, const sn::random_stream& s) { return sn::random_uniform<T>(p, s); }
  static void many(const word_arrays& b, T* to, int count) noexcept {
    if constexpr (sizeof(T) == 4) {
      SINTER_LANES(g, count) {
        to[4 * g] = sn::unit_float(b.w0[g]);
        to[4 * g + 1] = sn::unit_float(b.w1[g]);
        to[4 * g + 2] = sn::unit_float(b.w2[g]);
        to[4 * g + 3] = sn::unit_float(b.w3[g]);
      }
    } else {
      SINTER_LANES(g, count) {
        to[2 * g] = sn::unit_double(b.w0[g], b.w1[g]);
        to[2 * g + 1] = sn::unit_double(b.w2[g], b.w3[g]);
      }
    }
  }
};
template <class T>
struct normal_draw {
  SN_MEMBER T one(long long p, const sn::random_stream& s) { return sn::random_normal<T>(p, s); }
  static void many(const word_arrays& b, T* to, int count) noexcept {
    if constexpr (sizeof(T) == 4) {
      SINTER_LANES(g, count) {
        const sn::normal_pair_f x = sn::normal_pair(b.w0[g], b.w1[g]), y = sn::normal_pair(b.w2[g], b.w3[g]);
        to[4 * g] = x.first;
        to[4 * g + 1] = x.second;
        to[4 * g + 2] = y.first;
        to[4 * g + 3] = y.second;
      }
    } else {
      SINTER_LANES(g, count) {
        const sn::normal_pair_d x = sn::normal_pair(sn::random_words{b.w0[g], b.w1[g], b.w2[g], b.w3[g]});
        to[2 * g] = x.first;
        to[2 * g + 1] = x.second;
      }
    }
  }
};
template <class T>
struct exponential_draw {
  SN_MEMBER T one(long long p, const sn::random_stream& s) { return sn::random_exponential<T>(p, s); }
  static void many(const word_arrays& b, T* to, int count) noexcept {
    if constexpr (sizeof(T) == 4) {
      SINTER_LANES(g, count) {
        to[4 * g] = 0.5f * sn::minus_two_log<true>(b.w0[g]);
        to[4 * g + 1] = 0.5f * sn::minus_two_log<true>(b.w1[g]);
        to[4 * g + 2] = 0.5f * sn::minus_two_log<true>(b.w2[g]);
        to[4 * g + 3] = 0.5f * sn::minus_two_log<true>(b.w3[g]);
      }
    } else {
      SINTER_LANES(g, count) {
        to[2 * g] = sn::minus_log(b.w0[g], b.w1[g]);
        to[2 * g + 1] = sn::minus_log(b.w2[g], b.w3[g]);
      }
    }
  }
};

sn::random_stream stream_of(const random_source& s) noexcept { return {s.key, s.base, s.subsequence}; }

template <class T, class Draw>
void draw(void* dst, const void* source, const void*, const void*, int n, int*) {
  const auto& from = *static_cast<const random_source*>(source);
  const sn::random_stream s = stream_of(from);
  auto* r = static_cast<T*>(dst);
  n &= -lane_multiple;
  if (!follow_each_other(from.position, n)) {
    for (int l = 0; l < n; ++l) r[l] = Draw::one(from.position[l], s);
    return;
  }
  constexpr int each = 16 / int(sizeof(T));
  const std::int64_t first = from.position[0] / each;
  const int skipped = int(from.position[0] - first * each), count = (skipped + n + each - 1) / each;
  word_arrays words;
  alignas(64) T all[most_blocks * each];
  fill(words, first, count, s);
  Draw::many(words, all, count);
  __builtin_memcpy(r, all + skipped, static_cast<std::size_t>(n) * sizeof(T));
}

template <class T>
void draw_below(void* dst, const void* source, const void* last, const void*, int n, int* fault) {
  const auto& from = *static_cast<const random_source*>(source);
  const auto* most = static_cast<const T*>(last);
  auto* r = static_cast<T*>(dst);
  alignas(64) T words[block_lanes];
  draw<T, bits_draw<T>>(words, source, nullptr, nullptr, n, fault);
  if constexpr (sizeof(T) == 4) {
    // All lanes as if none were rejected; then the rejected ones, and those whose range is every word.
    n &= -lane_multiple;
    unsigned special = 0;
    SINTER_LANES(l, n) {
      const unsigned range = most[l] + 1u;
      const unsigned long long m = (unsigned long long)(words[l]) * range;
      special |= unsigned(int(unsigned(m) < range) | int(range == 0));
      r[l] = unsigned(m >> 32);
    }
    if (special == 0) return;
  }
  for (int l = 0; l < n; ++l) r[l] = sn::below(from.position[l], words[l], most[l], stream_of(from));
}

// Of draws that reject, elements whose first attempt is accepted without a logarithm, which most are, are computed in vectors;
// the text of the others decides anew, lane by lane.
constexpr int attempts = 128;  // lanes at a time, of a block each
struct gamma_attempts {
  alignas(64) double shape[attempts], variate[attempts], spare[attempts];
  unsigned char refused[attempts];
};
/// As sn::gamma_variate with these shapes, of elements that follow each other.
void attempt(gamma_attempts& g, std::int64_t first, int n, sn::random_stream s, unsigned again) noexcept {
  word_arrays b, more;
  s.subsequence += (unsigned long long)(again) << 32;
  fill(b, first, n, s);
  s.subsequence += 1ull << 32;
  fill(more, first, n, s);
  SINTER_LANES(l, n) {
    const double d = g.shape[l] - 1.0 / 3.0, c = 1.0 / __builtin_sqrt(9.0 * d);
    const double x = sn::normal_pair(sn::random_words{b.w0[l], b.w1[l], b.w2[l], b.w3[l]}).first;
    const double root = SN_FMA_D(c, x, 1.0), v = root * root * root, square = x * x;
    const double u = sn::inner_double(more.w0[l], more.w1[l]);
    g.spare[l] = sn::inner_double(more.w2[l], more.w3[l]);
    g.variate[l] = d * v;
    g.refused[l] = bool(int(!(root > 0.0)) | int(!(u < 1.0 - 0.0331 * square * square)));
  }
}
/// Whether a shape has a variate of its own, which is that of the shape and one more below 1.
SN_FN bool is_ordinary(double a) { return bool(int(a > 0.0) & int(a < sn::infinity(a))); }
SN_FN double shape_drawn(double a) { return !is_ordinary(a) ? 1.0 : a < 1.0 ? a + 1.0 : a; }

template <class T>
void draw_gamma(void* dst, const void* source, const void* b, const void*, int n, int* fault) {
  const auto& from = *static_cast<const random_source*>(source);
  const sn::random_stream s = stream_of(from);
  auto* r = static_cast<T*>(dst);
  auto* a = static_cast<const T*>(b);
  const bool together = follow_each_other(from.position, n);
  gamma_attempts g;
  for (int from_lane = 0; from_lane < n; from_lane += attempts) {
    const int lanes = n - from_lane < attempts ? n - from_lane : attempts;
    for (int l = 0; l < lanes; ++l) g.shape[l] = shape_drawn(double(a[from_lane + l]));
    if (together) attempt(g, from.position[from_lane], lanes, s, 0u);
    for (int l = 0; l < lanes; ++l) {
      const double own = double(a[from_lane + l]);
      if (!together || g.refused[l] || !is_ordinary(own))
        r[from_lane + l] = sn::random_gamma<T>(from.position[from_lane + l], a[from_lane + l], s, fault);
      else if (own < 1.0)
        r[from_lane + l] = T(g.variate[l] * sn::random_exp(sn::fmax(sn::random_log(g.spare[l]) / own, -800.0)));
      else r[from_lane + l] = T(g.variate[l]);
    }
  }
}
template <class T>
void draw_beta(void* dst, const void* source, const void* b, const void* c, int n, int* fault) {
  const auto& from = *static_cast<const random_source*>(source);
  const sn::random_stream s = stream_of(from);
  auto* r = static_cast<T*>(dst);
  auto *alpha = static_cast<const T*>(b), *beta = static_cast<const T*>(c);
  const bool together = follow_each_other(from.position, n);
  gamma_attempts x, y;
  for (int from_lane = 0; from_lane < n; from_lane += attempts) {
    const int lanes = n - from_lane < attempts ? n - from_lane : attempts;
    for (int l = 0; l < lanes; ++l) {
      x.shape[l] = shape_drawn(double(alpha[from_lane + l]));
      y.shape[l] = shape_drawn(double(beta[from_lane + l]));
    }
    alignas(64) double ratio[attempts];
    if (together) {
      attempt(x, from.position[from_lane], lanes, s, 0u);
      attempt(y, from.position[from_lane], lanes, s, 2u);
      SINTER_LANES(l, lanes) {
        const double apart = sn::random_log(y.variate[l]) - sn::random_log(x.variate[l]);
        ratio[l] = 1.0 / (1.0 + sn::random_exp(sn::fmin(sn::fmax(apart, -600.0), 699.0)));
      }
    }
    for (int l = 0; l < lanes; ++l) {
      const bool ordinary =
          bool(int(alpha[from_lane + l] >= T(1)) & int(beta[from_lane + l] >= T(1)) &
               int(is_ordinary(double(alpha[from_lane + l]))) & int(is_ordinary(double(beta[from_lane + l]))));
      if (together && ordinary && !x.refused[l] && !y.refused[l]) r[from_lane + l] = T(ratio[l]);
      else
        r[from_lane + l] =
            sn::random_beta<T>(from.position[from_lane + l], alpha[from_lane + l], beta[from_lane + l], s, fault);
    }
  }
}
void draw_poisson(void* dst, const void* source, const void* b, const void*, int n, int* fault) {
  const auto& from = *static_cast<const random_source*>(source);
  for (int l = 0; l < n; ++l)
    static_cast<long long*>(dst)[l] =
        sn::random_poisson<long long>(from.position[l], static_cast<const double*>(b)[l], stream_of(from), fault);
}
void draw_binomial(void* dst, const void* source, const void* b, const void* c, int n, int* fault) {
  const auto& from = *static_cast<const random_source*>(source);
  for (int l = 0; l < n; ++l)
    static_cast<long long*>(dst)[l] =
        sn::random_binomial<long long>(from.position[l], static_cast<const long long*>(b)[l],
                                       static_cast<const double*>(c)[l], stream_of(from), fault);
}

template <template <class> class Draw, class A, class B>
block_op of_width(dtype type, dtype narrow, dtype wide) noexcept {
  return type == narrow ? &draw<A, Draw<A>> : type == wide ? &draw<B, Draw<B>> : nullptr;
}

}  // namespace

block_op random_op(opcode op, dtype type) noexcept {
  typedef unsigned long long wide;
  constexpr dtype f32 = dtype::f32, f64 = dtype::f64;
  switch (op) {
    case opcode::random_bits: return of_width<bits_draw, unsigned, wide>(type, dtype::u32, dtype::u64);
    case opcode::random_uniform: return of_width<uniform_draw, float, double>(type, f32, f64);
    case opcode::random_normal: return of_width<normal_draw, float, double>(type, f32, f64);
    case opcode::random_exponential: return of_width<exponential_draw, float, double>(type, f32, f64);
    case opcode::random_below:
      return type == dtype::u32 ? &draw_below<unsigned> : type == dtype::u64 ? &draw_below<wide> : nullptr;
    case opcode::random_gamma: return type == f32 ? &draw_gamma<float> : type == f64 ? &draw_gamma<double> : nullptr;
    case opcode::random_beta: return type == f32 ? &draw_beta<float> : type == f64 ? &draw_beta<double> : nullptr;
    case opcode::random_poisson: return type == dtype::i64 ? &draw_poisson : nullptr;
    case opcode::random_binomial: return type == dtype::i64 ? &draw_binomial : nullptr;
    default: return nullptr;
  }
}

}  // namespace sinter::jit::tier0::SINTER_ISA
