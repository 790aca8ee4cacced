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

void fill(word_arrays& b, std::int64_t first, int count, const sn::random_stream& s) noexcept {
  const std::uint64_t base = s.base + static_cast<std::uint64_t>(first);
  const unsigned low = unsigned(base), high = unsigned(base >> 32);
  const unsigned c2 = unsigned(s.subsequence), c3 = unsigned(s.subsequence >> 32);
  const unsigned k0 = unsigned(s.key), k1 = unsigned(s.key >> 32);
  SINTER_LANES(g, count) {
    const unsigned at = low + unsigned(g);
    const sn::random_words x = sn::philox({at, high + unsigned(at < low), c2, c3}, k0, k1);
    b.w0[g] = x.w0;
    b.w1[g] = x.w1;
    b.w2[g] = x.w2;
    b.w3[g] = x.w3;
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

// Rejection loops of unknown length: lane by lane.
template <class T>
void draw_gamma(void* dst, const void* source, const void* b, const void*, int n, int* fault) {
  const auto& from = *static_cast<const random_source*>(source);
  for (int l = 0; l < n; ++l)
    static_cast<T*>(dst)[l] =
        sn::random_gamma<T>(from.position[l], static_cast<const T*>(b)[l], stream_of(from), fault);
}
template <class T>
void draw_beta(void* dst, const void* source, const void* b, const void* c, int n, int* fault) {
  const auto& from = *static_cast<const random_source*>(source);
  for (int l = 0; l < n; ++l)
    static_cast<T*>(dst)[l] = sn::random_beta<T>(from.position[l], static_cast<const T*>(b)[l],
                                                 static_cast<const T*>(c)[l], stream_of(from), fault);
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
