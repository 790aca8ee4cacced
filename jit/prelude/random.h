// sinter prelude: random numbers as a function of where an element stands in its draw. Nothing is carried from one
// element to the next, so what a thread computes depends on nothing but the element, and a draw fuses like arithmetic.
//
// The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011),
// with the counter laid out as cuRAND's: a block of four 32-bit words is philox({index, subsequence}, key), two 64-bit
// numbers, low words first, and block k of subsequence s is what cuRAND's curand4 gives after curand_init(key, s, 4 * k).
// A draw begins at block `base`. Elements of 32 bits take one word each, those of 64 bits two. A distribution that may
// reject gives every element a block of its own, and takes further ones from the subsequences 2^32 apart.
//
// Transforms are written out in +, *, / and sqrt, which IEEE 754 fixes, and in fused multiply-adds that are asked for by
// name, so that every device gives the same bits: two devices never disagree about a rejection. Behind base.h and float.h.
#ifdef __CUDACC__
#define SN_FMA_F ::__fmaf_rn
#define SN_FMA_D ::__fma_rn
#define SN_SELDOM static __device__ __noinline__
#else
#define SN_FMA_F __builtin_fmaf
#define SN_FMA_D __builtin_fma
#define SN_SELDOM static inline __attribute__((noinline))
#endif

namespace sn {

enum { fault_random_parameter = 3 };

struct random_words {
  unsigned w0, w1, w2, w3;
};
/// Which numbers a draw takes.
struct random_stream {
  unsigned long long key, base, subsequence;
};

/// Both halves of a product. `named`: in one instruction by name, since nvcc adds a zero to the upper half of what it
/// makes of a * b, and keeps halves in pairs of registers. Lanes behind a branch do not share what is asked for by name,
/// though: draws of 64 bits and whole numbers, which branch, go without.
struct split_product {
  unsigned low, high;
};
template <bool named = true> SN_FN split_product wide_product(unsigned a, unsigned b) {
#ifdef __CUDACC__
  if constexpr (named) {
    split_product p;
    asm("{\n\t.reg .b64 t;\n\tmul.wide.u32 t, %2, %3;\n\tmov.b64 {%0, %1}, t;\n\t}"
        : "=r"(p.low), "=r"(p.high)
        : "r"(b), "r"(a));
    return p;
  } else {
    return {a * b, __umulhi(a, b)};
  }
#else
  const unsigned long long p = (unsigned long long)(a)*b;
  return {unsigned(p), unsigned(p >> 32)};
#endif
}
// Rounds are written out, so that loops around them become vector code.
#define SN_PHILOX_ROUND(n) \
  { \
    const split_product p = wide_product<named>(0xD2511F53u, x.w0), q = wide_product<named>(0xCD9E8D57u, x.w2); \
    x = random_words{q.high ^ x.w1 ^ (k0 + n * 0x9E3779B9u), q.low, p.high ^ x.w3 ^ (k1 + n * 0xBB67AE85u), p.low}; \
  }
template <bool named = true> SN_FN random_words philox(random_words x, unsigned k0, unsigned k1) {
  SN_PHILOX_ROUND(0u)
  SN_PHILOX_ROUND(1u)
  SN_PHILOX_ROUND(2u)
  SN_PHILOX_ROUND(3u)
  SN_PHILOX_ROUND(4u)
  SN_PHILOX_ROUND(5u)
  SN_PHILOX_ROUND(6u)
  SN_PHILOX_ROUND(7u)
  SN_PHILOX_ROUND(8u)
  SN_PHILOX_ROUND(9u)
  return x;
}
#undef SN_PHILOX_ROUND

/// Where an element stands, as a sum: `first` is shared by the elements that a thread computes, `step` is a constant for
/// each. No bit of the last two is set in both, and the numbers of the blocks have one upper half (share_upper_half).
struct random_place {
  long long first;
  int step;
};
SN_FN long long position_of(long long position) { return position; }
SN_FN long long position_of(const random_place& p) { return p.first + p.step; }
SN_FN int last_bits(long long position) { return int(position & 3); }
SN_FN int last_bits(const random_place& p) { return (int(p.first) | p.step) & 3; }

/// Block `index` of a draw; `again` counts the blocks that an element has taken before.
template <bool named = true>
SN_FN random_words random_block(long long index, const random_stream& s, unsigned again = 0) {
  const unsigned long long at = s.base + (unsigned long long)(index);
  const random_words counter{unsigned(at), unsigned(at >> 32), unsigned(s.subsequence),
                             unsigned(s.subsequence >> 32) + again};
  return philox<named>(counter, unsigned(s.key), unsigned(s.key >> 32));
}
/// The block that serves 2^shift elements, this one among them.
template <bool named>
SN_FN random_words block_of(long long position, int shift, const random_stream& s, unsigned again = 0) {
  return random_block<named>(position >> shift, s, again);
}
template <bool named> SN_FN random_words block_of(const random_place& p, int shift, const random_stream& s) {
  const unsigned long long at = s.base + (unsigned long long)(p.first >> shift);
  const random_words counter{unsigned(at) + unsigned(p.step >> shift), unsigned(at >> 32), unsigned(s.subsequence),
                             unsigned(s.subsequence >> 32)};
  return philox<named>(counter, unsigned(s.key), unsigned(s.key >> 32));
}
/// Whether that holds for `count` elements of type T from `start` on, which `count` divides.
template <class T> SN_FN bool share_upper_half(const random_stream& s, long long start, unsigned count) {
  const int shift = sizeof(T) == 4 ? 2 : 1;
  return unsigned(s.base + (unsigned long long)(start >> shift)) <= 0u - (count >> shift) - 1u;
}

SN_FN unsigned choose_word(const random_words& x, int last) {
  const unsigned low = (last & 1) ? x.w1 : x.w0, high = (last & 1) ? x.w3 : x.w2;
  return (last & 2) ? high : low;
}
template <bool named = true>
SN_FN unsigned random_word(long long position, const random_stream& s, unsigned again = 0) {
  return choose_word(block_of<named>(position, 2, s, again), last_bits(position));
}
template <bool named = true> SN_FN unsigned random_word(const random_place& p, const random_stream& s) {
  return choose_word(block_of<named>(p, 2, s), last_bits(p));
}
SN_FN unsigned long long random_pair(unsigned low, unsigned high) { return (unsigned long long)(high) << 32 | low; }
SN_FN unsigned long long choose_word64(const random_words& x, int last) {
  return (last & 1) ? random_pair(x.w2, x.w3) : random_pair(x.w0, x.w1);
}
SN_FN unsigned long long random_word64(long long position, const random_stream& s, unsigned again = 0) {
  return choose_word64(block_of<false>(position, 1, s, again), last_bits(position));
}
SN_FN unsigned long long random_word64(const random_place& p, const random_stream& s) {
  return choose_word64(block_of<false>(p, 1, s), last_bits(p));
}

// Uniform numbers in [0, 1), multiples of 2^-24 and 2^-53; all steps are exact.
SN_FN float unit_float(unsigned w) { return float(int(w >> 8)) * 0x1p-24f; }
SN_FN double unit_double(unsigned low, unsigned high) {
  return double(high) * 0x1p-32 + double(int(low >> 11)) * 0x1p-53;
}
/// In (0, 1): the middles of the steps of unit_double.
SN_FN double inner_double(unsigned low, unsigned high) { return unit_double(low, high) + 0x1p-54; }

// -2 log u of u = w / 2^32 with the last bit of w set, within 4e-7 of its value and positive. Where u is next to 1 that
// is so with `near_one` only; without, u is first rounded to 24 bits, and 3e-8 is the least value. With u = 2^k m, m in
// [1, 2), the bits of u read as a number are k + m - 1, which is log2 u but for a function of m that is 0 at both ends:
// no exponent is split off. The polynomial is that function, times 2 log 2, over 2 m - 4.
template <bool near_one> SN_FN float minus_two_log(unsigned w) {
  const float x = float(w | 1u);
  float line = float(int(to_bits(x) - 0x4f800000u));  // k + m - 1, times 2^23
  float f = SN_FMA_F(x, from_bits(~to_bits(x) & 0x7f800000u), -4.0f);  // 2 m - 4
  if (near_one) {
    const float rest = SN_FMA_F(float(~(w | 1u)), -0x1p-30f, -0x1p-30f);  // 2 m - 4 of k = -1
    f = w >= 0x80000000u ? rest : f;
    line = w >= 0x80000000u ? rest * 0x1p22f : line;
  }
  float q = SN_FMA_F(3.79602425e-05f, f, 0.000143923404f);
  q = SN_FMA_F(q, f, 0.000414233917f);
  q = SN_FMA_F(q, f, -3.52240095e-05f);
  q = SN_FMA_F(q, f, 0.00215217564f);
  q = SN_FMA_F(q, f, -0.010363034f);
  q = SN_FMA_F(q, f, 0.0625054315f);
  q = SN_FMA_F(q, f, 0.193147272f);
  return SN_FMA_F(line, -1.38629436f * 0x1p-23f, q * f);
}

/// The square root, rounded to nearest, of a number in [1e-20, 64]: what the compiler's code gives, without its test for
/// arguments where that is wrong.
SN_FN float normal_root(float x) {
#ifdef __CUDACC__
  float inverse;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  const float root = __fmul_rn(x, inverse);
  return __fmaf_rn(__fmaf_rn(-root, root, x), __fmul_rn(inverse, 0.5f), root);
#else
  return __builtin_sqrtf(x);
#endif
}

/// The last two bits of `b` as bits 30 and 31. By name, since nvcc makes two instructions of a test of the last bit, and
/// one of a test of any other.
SN_FN unsigned arc_bits(unsigned b) {
#ifdef __CUDACC__
  unsigned bits;
  asm("shl.b32 %0, %1, 30;" : "=r"(bits) : "r"(b));
  return bits;
#else
  return b << 30;
#endif
}

// Box and Muller's transform: a radius from `a`, a point of the unit circle from `b`. The point lies on the arc of 45
// degrees to both sides of the x axis; two bits choose among the four arcs.
struct normal_pair_f {
  float first, second;
};
SN_FN normal_pair_f normal_pair(unsigned a, unsigned b) {
  const float radius = normal_root(minus_two_log<false>(a));
  const float t = float(int(b)) * (0.785398163f * 0x1p-31f);
  const float z = t * t;
  const float p = SN_FMA_F(SN_FMA_F(-0.000195152832f, z, 0.00833216076f), z, -0.166666546f);
  const float q = SN_FMA_F(SN_FMA_F(-0.00135918536f, z, 0.041655777f), z, -0.499998847f);
  const unsigned arc = arc_bits(b);
  const float sine = SN_FMA_F(t * z, p, t);
  const float cosine = from_bits(to_bits(SN_FMA_F(q, z, 1.0f)) ^ (arc & 0x80000000u));
  const bool turned = (arc & 0x40000000u) != 0;
  return {radius * (turned ? sine : cosine), radius * (turned ? cosine : sine)};
}

// log(1 + f) for f in [sqrt(1/2) - 1, sqrt(2) - 1].
SN_FN double log_near_one(double f) {
  const double s = f / (2.0 + f), z = s * s;
  double r = SN_FMA_D(0.14795630272803275977, z, 0.15314084190435859379);
  r = SN_FMA_D(r, z, 0.1818356294251276185);
  r = SN_FMA_D(r, z, 0.22222198601152545871);
  r = SN_FMA_D(r, z, 0.28571428742102043201);
  r = SN_FMA_D(r, z, 0.39999999999416018127);
  r = SN_FMA_D(r, z, 0.6666666666666734203);
  return SN_FMA_D(s * z, r, s + s);
}
struct split_double {
  double exponent, mantissa;
};
/// x = mantissa * 2^exponent with a mantissa in [sqrt(1/2), sqrt(2)); x is a positive normal number.
SN_FN split_double split(double x) {
  const unsigned long long j = to_bits(x) - 0x3fe6a09e667f3bcdull;
  return {double(int(int(j >> 32) >> 20)), from_bits((j & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull)};
}
SN_FN double random_log(double x) {
  const split_double s = split(x);
  return SN_FMA_D(s.exponent, 0.69314718055994530942, log_near_one(s.mantissa - 1.0));
}
SN_FN double random_log1p(double x) {
  return bool(int(x > -0.29) & int(x < 0.41)) ? log_near_one(x) : random_log(1.0 + x);
}
/// -log u of u = h / 2^64, h the two words with the last bit set.
SN_FN double minus_log(unsigned low, unsigned high) {
  const split_double s = split(SN_FMA_D(double(high), 0x1p32, double(low | 1u)));
  const double near = -SN_FMA_D(double(~high), 0x1p-32, (double(~(low | 1u)) + 1.0) * 0x1p-64);
  const double f = s.exponent == 64.0 ? near : s.mantissa - 1.0;
  return SN_FMA_D(64.0 - s.exponent, 0.69314718055994530942, -log_near_one(f));
}
struct normal_pair_d {
  double first, second;
};
SN_FN normal_pair_d normal_pair(const random_words& x) {
  const double radius = sqrt(2.0 * minus_log(x.w0, x.w1));
  const double t = SN_FMA_D(double(int(x.w3)), 0x1p32, double(x.w2)) * (0.78539816339744830962 * 0x1p-63);
  const double z = t * t;
  double p = SN_FMA_D(-7.57854041434272766e-13, z, 1.6058363167437078616e-10);
  p = SN_FMA_D(p, z, -2.5052104881871990727e-8);
  p = SN_FMA_D(p, z, 2.7557319214064927745e-6);
  p = SN_FMA_D(p, z, -0.00019841269841254799683);
  p = SN_FMA_D(p, z, 0.0083333333333333225059);
  p = SN_FMA_D(p, z, -0.1666666666666666664);
  double q = SN_FMA_D(-1.1353281230143226655e-11, z, 2.0875582126668478368e-9);
  q = SN_FMA_D(q, z, -2.7557313117288909067e-7);
  q = SN_FMA_D(q, z, 0.000024801587284094615997);
  q = SN_FMA_D(q, z, -0.0013888888888861999905);
  q = SN_FMA_D(q, z, 0.041666666666666469848);
  q = SN_FMA_D(q, z, -0.4999999999999999951);
  const double sine = SN_FMA_D(t * z, p, t), cosine = SN_FMA_D(q, z, 1.0);
  const double either = (x.w2 & 2u) != 0 ? -cosine : cosine;
  const bool turned = (x.w2 & 1u) != 0;
  return {radius * (turned ? sine : either), radius * (turned ? either : sine)};
}

// e^x, 0 from -700 down; x is below 700.
SN_FN double random_exp(double x) {
  const double n = SN_FMA_D(x, 1.44269504088896340736, 6755399441055744.0);  // 1.5 * 2^52: rounds to a whole number
  const double k = n - 6755399441055744.0;
  const double r = SN_FMA_D(k, -1.90821492927058770002e-10, SN_FMA_D(k, -0.693147180369123816490, x));
  double p = SN_FMA_D(2.5000061183251387353e-8, r, 2.7630248473168030493e-7);
  p = SN_FMA_D(p, r, 2.7557586375678645834e-6);
  p = SN_FMA_D(p, r, 0.000024801493098635329606);
  p = SN_FMA_D(p, r, 0.00019841269506575745492);
  p = SN_FMA_D(p, r, 0.0013888888943630379832);
  p = SN_FMA_D(p, r, 0.0083333333334944636818);
  p = SN_FMA_D(p, r, 0.041666666666530157572);
  p = SN_FMA_D(p, r, 0.16666666666666412518);
  p = SN_FMA_D(p, r, 0.50000000000000106272);
  const double y = 1.0 + SN_FMA_D(r * r, p, r);
  return x > -700.0 ? from_bits(to_bits(y) + (to_bits(n) << 52)) : 0.0;
}

// What one element is. Positions are whole numbers or random_place.
template <class T, class P> SN_FN T random_bits(P position, const random_stream& s) {
  if constexpr (sizeof(T) == 4) return random_word(position, s);
  else return random_word64(position, s);
}
template <class T, class P> SN_FN T random_uniform(P position, const random_stream& s) {
  if constexpr (sizeof(T) == 4) return unit_float(random_word(position, s));
  else {
    const unsigned long long h = random_word64(position, s);
    return unit_double(unsigned(h), unsigned(h >> 32));
  }
}
template <class T, class P> SN_FN T random_normal(P position, const random_stream& s) {
  if constexpr (sizeof(T) == 4) {
    const random_words x = block_of<true>(position, 2, s);
    const bool high = (last_bits(position) & 2) != 0;
    const normal_pair_f z = normal_pair(high ? x.w2 : x.w0, high ? x.w3 : x.w1);
    return (last_bits(position) & 1) ? z.second : z.first;
  } else {
    const normal_pair_d z = normal_pair(block_of<false>(position, 1, s));
    return (last_bits(position) & 1) ? z.second : z.first;
  }
}
template <class T, class P> SN_FN T random_exponential(P position, const random_stream& s) {
  if constexpr (sizeof(T) == 4) return 0.5f * minus_two_log<true>(random_word(position, s));
  else {
    const unsigned long long h = random_word64(position, s);
    return minus_log(unsigned(h), unsigned(h >> 32));
  }
}

/// The upper half of a product, and the lower one.
SN_FN unsigned long long multiply_wide(unsigned long long a, unsigned long long b, unsigned long long& low) {
#ifdef __CUDACC__
  low = a * b;
  return __umul64hi(a, b);
#else
  const unsigned __int128 product = (unsigned __int128)(a) * b;
  low = (unsigned long long)(product);
  return (unsigned long long)(product >> 64);
#endif
}
// Whole numbers in [0, last], each as likely (Lemire, "Fast random integer generation in an interval", 2019). A word that
// would make some of them likelier is drawn again, which hardly ever happens.
SN_SELDOM unsigned below_again(long long position, unsigned range, unsigned low, unsigned high, random_stream s) {
  const unsigned least = (0u - range) % range;
  for (unsigned again = 1; low < least; ++again) {
    const split_product m = wide_product(random_word(position, s, again), range);
    low = m.low;
    high = m.high;
  }
  return high;
}
SN_FN unsigned below(long long position, unsigned word, unsigned last, const random_stream& s) {
  const unsigned range = last + 1u;
  if (range == 0) return word;
  const split_product m = wide_product(word, range);
  return m.low >= range ? m.high : below_again(position, range, m.low, m.high, s);
}
SN_SELDOM unsigned long long below_again(long long position, unsigned long long range, unsigned long long low,
                                         unsigned long long high, random_stream s) {
  const unsigned long long least = (0ull - range) % range;
  for (unsigned again = 1; low < least; ++again) high = multiply_wide(random_word64(position, s, again), range, low);
  return high;
}
SN_FN unsigned long long below(long long position, unsigned long long word, unsigned long long last,
                               const random_stream& s) {
  const unsigned long long range = last + 1ull;
  if (range == 0) return word;
  unsigned long long low;
  const unsigned long long high = multiply_wide(word, range, low);
  const unsigned long long rest = 0ull - range;  // not below `least`, and small where the range is large
  return low >= (rest < range ? rest : range) ? high : below_again(position, range, low, high, s);
}
template <class T, class P> SN_FN T random_below(P position, T last, const random_stream& s) {
  if constexpr (sizeof(T) == 4) return below(position_of(position), random_word<false>(position, s), last, s);
  else return below(position_of(position), random_word64(position, s), last, s);
}

SN_FN void refuse_parameter(int* fault) { *fault = fault_random_parameter; }

// Gamma variates of shape a >= 1 (Marsaglia and Tsang, "A simple method for generating gamma variables", 2000); `spare` is
// a number in (0, 1) that is independent of the variate. Blocks `again`, `again` + step, ... and those behind them.
SN_FN double gamma_variate(long long position, double a, const random_stream& s, unsigned again, unsigned step,
                           double& spare) {
  const double d = a - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
  for (;; again += step) {
    const random_words more = random_block(position, s, again + 1u);
    const double x = normal_pair(random_block(position, s, again)).first;
    const double root = SN_FMA_D(c, x, 1.0), v = root * root * root;
    if (!(root > 0.0)) continue;
    const double u = inner_double(more.w0, more.w1);
    spare = inner_double(more.w2, more.w3);
    const double square = x * x;
    if (u < 1.0 - 0.0331 * square * square || random_log(u) < 0.5 * square + d * (1.0 - v + random_log(v))) return d * v;
  }
}
template <class T> SN_FN T random_gamma(long long position, T shape, const random_stream& s, int* fault) {
  const double a = double(shape);
  if (!(a >= 0.0 && a < infinity(a))) {
    refuse_parameter(fault);
    return not_a_number(shape);
  }
  if (a == 0.0) return T(0);
  double spare;
  const double g = gamma_variate(position, a < 1.0 ? a + 1.0 : a, s, 0u, 2u, spare);
  return T(a < 1.0 ? g * random_exp(fmax(random_log(spare) / a, -800.0)) : g);
}
// Of two gamma variates x and y: x / (x + y). In logarithms, since both may be too small for their type.
template <class T> SN_FN T random_beta(long long position, T alpha, T beta, const random_stream& s, int* fault) {
  const double a = double(alpha), b = double(beta);
  if (!(a > 0.0 && b > 0.0 && a < infinity(a) && b < infinity(b))) {
    refuse_parameter(fault);
    return not_a_number(alpha);
  }
  double spare_a, spare_b;
  const double x = gamma_variate(position, a < 1.0 ? a + 1.0 : a, s, 0u, 4u, spare_a);
  const double y = gamma_variate(position, b < 1.0 ? b + 1.0 : b, s, 2u, 4u, spare_b);
  double apart = random_log(y) - random_log(x);
  if (b < 1.0) apart += random_log(spare_b) / b;
  if (a < 1.0) apart -= random_log(spare_a) / a;
  return T(1.0 / (1.0 + random_exp(fmin(fmax(apart, -600.0), 699.0))));
}

// log k! - (k + 1/2) log(k + 1) + (k + 1) - log(2 pi) / 2, which is small.
SN_FN double stirling_rest(double k) {
  switch (k < 10.0 ? int(k) : 10) {
    case 0: return 0.08106146679532726;
    case 1: return 0.04134069595540929;
    case 2: return 0.02767792568499834;
    case 3: return 0.02079067210376509;
    case 4: return 0.01664469118982119;
    case 5: return 0.01387612882307075;
    case 6: return 0.01189670994589177;
    case 7: return 0.01041126526197209;
    case 8: return 0.009255462182712733;
    case 9: return 0.008330563433362871;
    default: break;
  }
  const double n = 1.0 / (k + 1.0), z = n * n;
  return n * (1.0 / 12.0 - z * (1.0 / 360.0 - z * (1.0 / 1260.0 - z * (1.0 / 1680.0))));
}

// Poisson variates: below a mean of 10 by going through the distribution function, else by transformed rejection
// (Hoermann, "The transformed rejection method for generating Poisson random variables", 1993).
SN_FN long long poisson_small(long long position, double mean, const random_stream& s) {
  const double first = random_exp(-mean);
  for (unsigned again = 0;; ++again) {
    const random_words x = random_block(position, s, again);
    double u = unit_double(x.w0, x.w1), p = first;
    for (int k = 0; k < 120; ++k) {
      if (u < p) return k;
      u -= p;
      p = p * mean / double(k + 1);
    }
  }
}
SN_FN long long poisson_large(long long position, double mean, const random_stream& s) {
  const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), always = 0.9277 - 3.6224 / (b - 2.0);
  const double height = 0.5 * random_log(6.283185307179586477 * mean);
  for (unsigned again = 0;; ++again) {
    const random_words x = random_block(position, s, again);
    const double u = inner_double(x.w0, x.w1) - 0.5, v = inner_double(x.w2, x.w3);
    const double us = 0.5 - absolute(u), k = floor((2.0 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= always) return (long long)(k);
    if (k < 0.0 || (us < 0.013 && v > us)) continue;
    const double apart = k + 1.0 - mean;
    const double chance = apart - (k + 0.5) * random_log1p(apart / mean) - height - stirling_rest(k);
    if (random_log(v * inverse_alpha / (a / (us * us) + b)) <= chance) return (long long)(k);
  }
}
template <class T> SN_FN T random_poisson(long long position, double mean, const random_stream& s, int* fault) {
  if (!(mean >= 0.0 && mean <= 9.2233720064847708e18)) {
    refuse_parameter(fault);
    return 0;
  }
  return mean < 10.0 ? poisson_small(position, mean, s) : poisson_large(position, mean, s);
}

// Binomial variates with p <= 1/2: where few successes are expected by going through the distribution function, else by
// transformed rejection (Hoermann, "The generation of binomial random variates", 1993).
SN_FN double binomial_small(long long position, double n, double p, const random_stream& s) {
  const double first = random_exp(n * random_log1p(-p)), odds = p / (1.0 - p);
  const double most = fmin(n, 120.0);
  for (unsigned again = 0;; ++again) {
    const random_words x = random_block(position, s, again);
    double u = unit_double(x.w0, x.w1), q = first;
    for (double k = 0.0; k <= most; k += 1.0) {
      if (u < q) return k;
      u -= q;
      q = q * odds * ((n - k) / (k + 1.0));
    }
  }
}
SN_FN double binomial_large(long long position, double n, double p, const random_stream& s) {
  const double q = 1.0 - p, spread = sqrt(n * p * q), b = 1.15 + 2.53 * spread;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5, always = 0.92 - 4.2 / b;
  const double odds = p / q, alpha = (2.83 + 5.1 / b) * spread, m = floor((n + 1.0) * p);
  for (unsigned again = 0;; ++again) {
    const random_words x = random_block(position, s, again);
    const double u = inner_double(x.w0, x.w1) - 0.5, v = inner_double(x.w2, x.w3);
    const double us = 0.5 - absolute(u), k = floor((2.0 * a / us + b) * u + c);
    if (us >= 0.07 && v <= always) return k;
    if (k < 0.0 || k > n) continue;
    const double chance = (m + 0.5) * random_log((m + 1.0) / (odds * (n - m + 1.0))) +
                          (n + 1.0) * random_log1p((k - m) / (n - k + 1.0)) +
                          (k + 0.5) * random_log(odds * (n - k + 1.0) / (k + 1.0)) + stirling_rest(m) +
                          stirling_rest(n - m) - stirling_rest(k) - stirling_rest(n - k);
    if (random_log(v * alpha / (a / (us * us) + b)) <= chance) return k;
  }
}
template <class T>
SN_FN T random_binomial(long long position, long long count, double p, const random_stream& s, int* fault) {
  if (!(count >= 0 && p >= 0.0 && p <= 1.0)) {
    refuse_parameter(fault);
    return 0;
  }
  const double n = double(count), less = p > 0.5 ? 1.0 - p : p;
  if (n == 0.0 || less == 0.0) return p > 0.5 ? count : 0;
  const double k = n * less < 10.0 ? binomial_small(position, n, less, s) : binomial_large(position, n, less, s);
  return p > 0.5 ? count - (long long)(k) : (long long)(k);
}

}  // namespace sn
