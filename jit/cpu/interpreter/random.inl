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

}  // namespace
}  // namespace sinter::jit::tier0::SINTER_ISA
#include "jit/cpu/interpreter/random_rejection.inl"
namespace sinter::jit::tier0::SINTER_ISA {
namespace {

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

/// Whether a shape has a variate of its own, which is that of the shape and one more below 1.
SN_FN bool is_ordinary(double a) { return bool(int(a > 0.0) & int(a < sn::infinity(a))); }
SN_FN double shape_drawn(double a) {
  const double more = a + 1.0, drawn = a < 1.0 ? more : a;
  return is_ordinary(a) ? drawn : 1.0;
}

/// Gamma variates of the shapes drawn for `shapes`; whether all shapes are ordinary ones.
template <class T>
bool draw_shapes(gamma_draws& g, const T* shapes, const std::int64_t* position, int n, const sn::random_stream& s,
                 unsigned again, unsigned step) noexcept {
  trials<2> t;
  unsigned long long odd = 0;
  SINTER_LANES(l, n) {
    const double own = double(shapes[l]);
    t.lane[l] = l;
    t.position[l] = position[l];
    t.of[0][l] = shape_drawn(own);
    odd |= is_ordinary(own) ? 0ull : 1ull;
  }
  t.count = n;
  g.draw(t, s, again, step);
  return odd == 0;
}

template <class T>
void draw_gamma(void* dst, const void* source, const void* b, const void*, int n, int* fault) {
  const auto& from = *static_cast<const random_source*>(source);
  const sn::random_stream s = stream_of(from);
  gamma_draws g;
  for (int start = 0; start < n; start += trial_lanes) {
    const int lanes = n - start < trial_lanes ? n - start : trial_lanes;
    auto* r = static_cast<T*>(dst) + start;
    const std::int64_t* position = from.position + start;
    alignas(64) T a[trial_lanes];  // r may be the operand
    __builtin_memcpy(a, static_cast<const T*>(b) + start, std::size_t(lanes) * sizeof(T));
    const bool ordinary = draw_shapes(g, a, position, lanes, s, 0u, 2u);
    T least = a[0];
    for (int l = 0; l < lanes; ++l) least = a[l] < least ? a[l] : least;
    if (ordinary && least >= T(1)) {
      SINTER_LANES(l, lanes) r[l] = T(g.variate[l]);
      continue;
    }
    SINTER_LANES(l, lanes) {
      const double own = double(a[l]), power = sn::random_exp(sn::fmax(sn::random_log(g.spare[l]) / own, -800.0));
      const double small = g.variate[l] * power;
      r[l] = T(own < 1.0 ? small : g.variate[l]);
    }
    for (int l = 0; !ordinary && l < lanes; ++l)
      if (!is_ordinary(double(a[l]))) r[l] = sn::random_gamma<T>(position[l], a[l], s, fault);
  }
}
template <class T>
void draw_beta(void* dst, const void* source, const void* b, const void* c, int n, int* fault) {
  const auto& from = *static_cast<const random_source*>(source);
  const sn::random_stream s = stream_of(from);
  gamma_draws x, y;
  for (int start = 0; start < n; start += trial_lanes) {
    const int lanes = n - start < trial_lanes ? n - start : trial_lanes;
    auto* r = static_cast<T*>(dst) + start;
    const std::int64_t* position = from.position + start;
    alignas(64) T alpha[trial_lanes], beta[trial_lanes];
    __builtin_memcpy(alpha, static_cast<const T*>(b) + start, std::size_t(lanes) * sizeof(T));
    __builtin_memcpy(beta, static_cast<const T*>(c) + start, std::size_t(lanes) * sizeof(T));
    const bool ordinary = bool(int(draw_shapes(x, alpha, position, lanes, s, 0u, 4u)) &
                               int(draw_shapes(y, beta, position, lanes, s, 2u, 4u)));
    SINTER_LANES(l, lanes) {
      const double p = double(alpha[l]), q = double(beta[l]);
      const double apart = sn::random_log(y.variate[l]) - sn::random_log(x.variate[l]);
      const double more = apart + sn::random_log(y.spare[l]) / q, upper = q < 1.0 ? more : apart;
      const double less = upper - sn::random_log(x.spare[l]) / p, both = p < 1.0 ? less : upper;
      r[l] = T(1.0 / (1.0 + sn::random_exp(sn::fmin(sn::fmax(both, -600.0), 699.0))));
    }
    for (int l = 0; !ordinary && l < lanes; ++l)
      if (!is_ordinary(double(alpha[l])) || !is_ordinary(double(beta[l])))
        r[l] = sn::random_beta<T>(position[l], alpha[l], beta[l], s, fault);
  }
}

void draw_poisson(void* dst, const void* source, const void* b, const void*, int n, int* fault) {
  const auto& from = *static_cast<const random_source*>(source);
  const sn::random_stream s = stream_of(from);
  auto* r = static_cast<long long*>(dst);
  auto* mean = static_cast<const double*>(b);
  for (int start = 0; start < n; start += trial_lanes) {
    const int lanes = n - start < trial_lanes ? n - start : trial_lanes;
    trials<1> small;
    poisson_law::lanes large;
    alignas(64) double count[trial_lanes];
    for (int l = 0; l < lanes; ++l) {
      const double m = mean[start + l];
      count[l] = -1.0;  // by the text
      if (m >= 0.0 && m < 10.0) small.add(l, from.position[start + l], m);
      else if (m >= 10.0 && m <= 9.2233720064847708e18) large.add(l, from.position[start + l], 0.0, 0.0, 0.0, 0.0, m);
    }
    if (small.count > 0) {
      small.fill_up();
      alignas(64) double first[trial_lanes], k[trial_lanes];
      const bool equal = small.are_equal<1>();
      const double* by = small.of[0];
      const int whole = equal ? 1 : small.padded();
      SINTER_LANES(l, whole) first[l] = sn::random_exp(-by[l]);
      search_counts(small, first, equal, 119, s, k,
                    [by](double p, int l, double at) { return p * by[l] / (at + 1.0); });
      for (int l = 0; l < small.count; ++l) count[small.lane[l]] = k[l];
    }
    if (large.count > 0) {
      large.fill_up();
      poisson_law::prepare(large);
      transformed_counts<poisson_law>(large, s, count);
    }
    for (int l = 0; l < lanes; ++l)
      r[start + l] = count[l] >= 0.0 ? (long long)(count[l])
                                     : sn::random_poisson<long long>(from.position[start + l], mean[start + l], s, fault);
  }
}
void draw_binomial(void* dst, const void* source, const void* b, const void* c, int n, int* fault) {
  const auto& from = *static_cast<const random_source*>(source);
  const sn::random_stream s = stream_of(from);
  auto* r = static_cast<long long*>(dst);
  auto* number = static_cast<const long long*>(b);
  auto* chance = static_cast<const double*>(c);
  for (int start = 0; start < n; start += trial_lanes) {
    const int lanes = n - start < trial_lanes ? n - start : trial_lanes;
    trials<3> small;
    binomial_law::lanes large;
    alignas(64) double count[trial_lanes];
    for (int l = 0; l < lanes; ++l) {
      const double p = chance[start + l], m = double(number[start + l]), less = p > 0.5 ? 1.0 - p : p;
      count[l] = -1.0;  // by the text
      if (!(m > 0.0 && p > 0.0 && p < 1.0)) continue;
      if (m * less < 10.0) small.add(l, from.position[start + l], m, less, less / (1.0 - less));
      else large.add(l, from.position[start + l], 0.0, 0.0, 0.0, 0.0, m, 0.0, less);
    }
    if (small.count > 0) {
      small.fill_up();
      alignas(64) double first[trial_lanes], k[trial_lanes];
      const bool equal = small.are_equal<2>();
      const double *of = small.of[0], *by = small.of[2];
      const int whole = equal ? 1 : small.padded();
      for (int l = 0; l < whole; ++l) first[l] = sn::random_exp(of[l] * sn::random_log1p(-small.of[1][l]));
      search_counts(small, first, equal, 120, s, k, [of, by](double q, int l, double at) {
        return q * by[l] * ((of[l] - at) / (at + 1.0));
      });
      for (int l = 0; l < small.count; ++l) count[small.lane[l]] = k[l];
    }
    if (large.count > 0) {
      large.fill_up();
      binomial_law::prepare(large);
      transformed_counts<binomial_law>(large, s, count);
    }
    for (int l = 0; l < lanes; ++l) {
      const long long all = number[start + l];
      const double p = chance[start + l];
      const long long k = (long long)(count[l]);
      if (count[l] >= 0.0) r[start + l] = p > 0.5 ? all - k : k;
      else r[start + l] = sn::random_binomial<long long>(from.position[start + l], all, p, s, fault);
    }
  }
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
