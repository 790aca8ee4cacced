// Random numbers with the names of NumPy's Generator. Draws record and return at once: an element depends on the
// generator's state at the call and on its own place in the draw alone, so draws fuse with the expressions around them
// (`normal(0, 1, n) * 2 + 1` is one kernel that stores only its result, `mean(random(n) < p)` stores nothing), and
// evaluating a draw again gives the same elements.
//
// The generator is Philox4x32-10. The same seed gives the same bits on every device, whatever the number of threads and
// however a draw is fused: integers, and floats too (lognormal alone goes through the device's exp: a few ulp). A draw
// of n elements equals the draw of any shape with n elements, read in C order. It begins at a fresh block of four
// 32-bit words: drawing 3 and then 3 elements is not drawing 6.
//
// Parameters are numbers or arrays that broadcast together; the draw has their shape unless a size is given, to which
// they must broadcast (shape_error). Floats are float64 unless `dtype` says float32, float16 or bfloat16 (dtype_error:
// another one); the two small types are drawn in float32 and rounded. value_error: a number outside of what the
// distribution allows; so is a refused element of an array of parameters, at the next synchronisation, but arrays of
// scales are not looked at. Draws are made on `device`, else on that of the array parameters, else on the default one.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sinter/elementwise.hpp"
#include "sinter/keywords.hpp"

namespace sinter::inline v0 {
namespace random {

/// The shape of a draw: `5`, `{3, 4}`, a vector of integers; none (`{}`): that of the parameters. Parameter-only.
class draw_size {
 public:
  draw_size() = default;
  template <int_like T>
  draw_size(T n) : shape_(n), given_(true) {}
  draw_size(std::initializer_list<extent> list) : shape_(list), given_(true) {}
  draw_size(const shape_t& shape) : shape_(shape), given_(true) {}
  template <int_like T>
  draw_size(const std::vector<T>& shape) : shape_(shape), given_(true) {}
  bool given() const noexcept { return given_; }
  const shape_t& shape() const noexcept { return shape_; }

 private:
  shape_t shape_;
  bool given_ = false;
};

/// Keywords of draws.
struct draw_kw {
  kwonly _kw{};
  std::optional<sinter::dtype> dtype{};
  std::optional<sinter::device> device{};
};
struct integers_kw {
  kwonly _kw{};
  std::optional<sinter::dtype> dtype{};  // int64
  bool endpoint = false;                 // `high` can be drawn
  std::optional<sinter::device> device{};
};
struct choice_kw {
  kwonly _kw{};
  bool replace = true;
  ndarray p{};  // probabilities, 1-D; undefined: all alike
  std::int64_t axis = 0;
  bool shuffle = true;  // changes nothing: what is drawn is in random order
  std::optional<sinter::device> device{};
};
struct multivariate_normal_kw {
  kwonly _kw{};
  bool check_valid = true;
  double tol = 1e-8;
  std::optional<sinter::dtype> dtype{};
  std::optional<sinter::device> device{};
};

/// The state of a generator. Blocks are of four 32-bit words.
struct generator_state {
  std::uint64_t key = 0;          // the seed
  std::uint64_t block = 0;        // the next one
  std::uint64_t subsequence = 0;  // of 2^64 blocks each; below 2^32
  std::uint64_t spawned = 0;      // children so far
  friend bool operator==(const generator_state&, const generator_state&) = default;
};

/// A stream of random numbers. Threads may draw from one generator: each draw gets blocks of its own. A copy is a
/// generator with the same state, so it repeats what the original draws.
class generator {
 public:
  /// Seeded by the operating system.
  generator();
  /// Any 64 bits; equal seeds give equal numbers. value_error: a negative number.
  template <int_like T>
  explicit generator(T seed) : generator(checked_seed(seed)) {}
  explicit generator(const generator_state& s) noexcept { set_state(s); }
  generator(const generator& o) noexcept : generator(o.state()) {}
  generator& operator=(const generator& o) noexcept {
    set_state(o.state());
    return *this;
  }

  /// Begins again with a seed.
  template <int_like T>
  void seed(T s) {
    set_state(checked_seed(s));
  }
  generator_state state() const noexcept;
  void set_state(const generator_state& s) noexcept;
  /// As if `blocks` blocks of four words had been drawn (negative: had not).
  void advance(std::int64_t blocks) noexcept;
  /// On to the next subsequence, or by `n` of them (modulo 2^32), which a draw never reaches: 2^64 blocks lie in
  /// between.
  void jump(std::uint32_t n = 1) noexcept;
  /// A copy that has jumped.
  generator jumped(std::uint32_t n = 1) const;
  /// Generators with streams of their own: their keys come from this one's key and their number by NumPy's
  /// SeedSequence. Each call gives new ones; children may spawn again.
  std::vector<generator> spawn(std::size_t n);

  // --- floats

  /// Uniform in [0, 1): multiples of 2^-53 (float32: 2^-24).
  ndarray random(const draw_size& size = {}, const draw_kw& kw = {});
  /// Uniform in [low, high); rounding may give high. value_error: high - low is negative or not finite.
  ndarray uniform(const operand& low = 0.0, const operand& high = 1.0, const draw_size& size = {},
                  const draw_kw& kw = {});
  /// By Box and Muller's transform, with tails to 9.4 (float32: 6.7) standard deviations.
  ndarray standard_normal(const draw_size& size = {}, const draw_kw& kw = {});
  ndarray normal(const operand& loc = 0.0, const operand& scale = 1.0, const draw_size& size = {},
                 const draw_kw& kw = {});
  /// exp of a normal draw.
  ndarray lognormal(const operand& mean = 0.0, const operand& sigma = 1.0, const draw_size& size = {},
                    const draw_kw& kw = {});
  ndarray standard_exponential(const draw_size& size = {}, const draw_kw& kw = {});
  ndarray exponential(const operand& scale = 1.0, const draw_size& size = {}, const draw_kw& kw = {});
  ndarray laplace(const operand& loc = 0.0, const operand& scale = 1.0, const draw_size& size = {},
                  const draw_kw& kw = {});
  /// Of shape >= 0 (of 0: zeros), by Marsaglia and Tsang's rejection; computed in float64 for every dtype, as is beta.
  ndarray standard_gamma(const operand& shape, const draw_size& size = {}, const draw_kw& kw = {});
  ndarray gamma(const operand& shape, const operand& scale = 1.0, const draw_size& size = {}, const draw_kw& kw = {});
  /// Of a > 0, b > 0.
  ndarray beta(const operand& a, const operand& b, const draw_size& size = {}, const draw_kw& kw = {});
  /// Rows that are normal with a mean of shape (n,) and a covariance of shape (n, n): size + (n,). The covariance is
  /// copied to the host (which synchronises) and factorised there by Jacobi rotations into A * A', cov = V * L * V',
  /// A = V * sqrt(L). value_error: with check_valid, a covariance that is not symmetric and positive semidefinite
  /// within `tol` of its largest element; shape_error.
  ndarray multivariate_normal(const ndarray& mean, const ndarray& cov, const draw_size& size = {},
                              const multivariate_normal_kw& kw = {});

  // --- integers

  /// Whole numbers in [low, high), or in [0, low) where `high` is `_`; each as likely as the others. Any integer dtype
  /// or bool. Ranges of up to 2^32 numbers take one 32-bit word an element. value_error: no such number, or bounds
  /// outside of the dtype (looking at arrays synchronises).
  ndarray integers(const operand& low, const optional_operand& high = {}, const draw_size& size = {},
                   const integers_kw& kw = {});
  /// Of a mean lam in [0, 9.2e18]; int64, or the integer dtype asked for.
  ndarray poisson(const operand& lam = 1.0, const draw_size& size = {}, const draw_kw& kw = {});
  /// Successes in n >= 0 trials (integers: dtype_error otherwise), each with probability p in [0, 1]; int64.
  ndarray binomial(const operand& n, const operand& p, const draw_size& size = {}, const draw_kw& kw = {});

  // --- composed of the draws above, in their dtypes

  /// Of df > 0: the sum of df squares of normal numbers.
  ndarray chisquare(const operand& df, const draw_size& size = {}, const draw_kw& kw = {});
  /// The same with the squared means adding up to nonc >= 0.
  ndarray noncentral_chisquare(const operand& df, const operand& nonc, const draw_size& size = {},
                               const draw_kw& kw = {});
  /// The ratio of two chisquare draws, each over its degrees of freedom; noncentral_f: the first one noncentral.
  ndarray f(const operand& dfnum, const operand& dfden, const draw_size& size = {}, const draw_kw& kw = {});
  ndarray noncentral_f(const operand& dfnum, const operand& dfden, const operand& nonc, const draw_size& size = {},
                       const draw_kw& kw = {});
  ndarray gumbel(const operand& loc = 0.0, const operand& scale = 1.0, const draw_size& size = {},
                 const draw_kw& kw = {});
  ndarray logistic(const operand& loc = 0.0, const operand& scale = 1.0, const draw_size& size = {},
                   const draw_kw& kw = {});
  /// The Pareto distribution of the second kind (Lomax): from 0 on. a > 0.
  ndarray pareto(const operand& a, const draw_size& size = {}, const draw_kw& kw = {});
  /// In [0, 1], with density a * x**(a - 1). a > 0.
  ndarray power(const operand& a, const draw_size& size = {}, const draw_kw& kw = {});
  ndarray rayleigh(const operand& scale = 1.0, const draw_size& size = {}, const draw_kw& kw = {});
  ndarray standard_cauchy(const draw_size& size = {}, const draw_kw& kw = {});
  /// Student's, of df > 0.
  ndarray standard_t(const operand& df, const draw_size& size = {}, const draw_kw& kw = {});
  /// From left to right with a peak at mode. value_error: numbers out of order, or left equal to right.
  ndarray triangular(const operand& left, const operand& mode, const operand& right, const draw_size& size = {},
                     const draw_kw& kw = {});
  /// On the circle, about mu, in [-pi, pi]; kappa >= 0. Draws at the call, until everything has been accepted (Best and
  /// Fisher's rejection).
  ndarray vonmises(const operand& mu, const operand& kappa, const draw_size& size = {}, const draw_kw& kw = {});
  /// The inverse Gaussian distribution: mean > 0, scale > 0.
  ndarray wald(const operand& mean, const operand& scale, const draw_size& size = {}, const draw_kw& kw = {});
  ndarray weibull(const operand& a, const draw_size& size = {}, const draw_kw& kw = {});
  /// Rows that add up to 1, of a vector of alphas > 0: size + (k,).
  ndarray dirichlet(const ndarray& alpha, const draw_size& size = {}, const draw_kw& kw = {});

  // Integers: int64 unless another integer dtype is asked for.

  /// Trials until the first success, of a probability in (0, 1].
  ndarray geometric(const operand& p, const draw_size& size = {}, const draw_kw& kw = {});
  /// The logarithmic series, of 0 <= p < 1.
  ndarray logseries(const operand& p, const draw_size& size = {}, const draw_kw& kw = {});
  /// Failures before n > 0 successes (n need not be whole), of a probability in (0, 1].
  ndarray negative_binomial(const operand& n, const operand& p, const draw_size& size = {}, const draw_kw& kw = {});
  /// Proportional to k**-a, of a > 1, up to 9.2e18. Draws at the call, until everything has been accepted (Devroye's rejection).
  ndarray zipf(const operand& a, const draw_size& size = {}, const draw_kw& kw = {});
  /// How many of `nsample` draws without replacement are good, of ngood + nbad; arrays and numbers of integers (dtype_error for
  /// others). Looks at arrays, and draws at the call, until everything has been accepted. value_error: negative numbers, more
  /// draws than there are, ngood or nbad from 10**9 on.
  ndarray hypergeometric(const operand& ngood, const operand& nbad, const operand& nsample, const draw_size& size = {},
                         const draw_kw& kw = {});
  /// How often each of k outcomes comes in n trials: size + (k,). `pvals` (..., k) are read at the call, and the last of each k
  /// is what is left. An array of trials and the leading axes of `pvals` broadcast, to `size` if it is given. value_error: they
  /// are negative, or probabilities add up to more than 1; shape_error: they do not broadcast.
  ndarray multinomial(std::int64_t n, const ndarray& pvals, const draw_size& size = {}, const draw_kw& kw = {});
  ndarray multinomial(const ndarray& n, const ndarray& pvals, const draw_size& size = {}, const draw_kw& kw = {});

  // --- orders and samples

  /// Elements of the numbers [0, n), or slices of an array along `axis`. Without replacement all n are put in random
  /// order first. Looking at `p` synchronises. value_error: n is 0, more elements than there are without replacement,
  /// probabilities that are negative or do not sum to 1. shape_error: p does not have shape (n,).
  template <int_like T>
  ndarray choice(T n, const draw_size& size = {}, const choice_kw& kw = {}) {
    return choice_of(extent(n).value, size, kw);
  }
  ndarray choice(const ndarray& a, const draw_size& size = {}, const choice_kw& kw = {});
  /// The numbers [0, n), or the slices of an array along an axis, in random order: a stable sort of random 64-bit keys.
  template <int_like T>
  ndarray permutation(T n) {
    return permutation_of(extent(n).value);
  }
  ndarray permutation(const ndarray& x, std::int64_t axis = 0);
  /// Each row along the axis (`_`: all elements) in a random order of its own.
  ndarray permuted(const ndarray& x, const std::optional<std::int64_t>& axis = std::nullopt);
  /// Puts an array's slices along an axis in random order, in place: every view of its elements sees it.
  void shuffle(const ndarray& x, std::int64_t axis = 0);

 private:
  template <class T>
  static generator_state checked_seed(T seed) {
    if constexpr (std::is_signed_v<T>)
      if (seed < 0) refuse_seed();
    return {static_cast<std::uint64_t>(seed), 0, 0, 0};
  }
  [[noreturn]] static void refuse_seed();
  ndarray choice_of(std::int64_t n, const draw_size& size, const choice_kw& kw);
  ndarray permutation_of(std::int64_t n);

  std::atomic<std::uint64_t> key_{0}, block_{0}, subsequence_{0}, spawned_{0};

 public:
  struct access;  // the library's own
};

/// NumPy's name for a new generator.
inline generator default_rng() { return generator(); }
template <int_like T>
generator default_rng(T seed) {
  return generator(seed);
}

// The same functions on one generator for the process, which the operating system seeds.

/// That generator.
generator& default_generator();
template <int_like T>
void seed(T s) {
  default_generator().seed(s);
}
inline generator_state get_state() { return default_generator().state(); }
inline void set_state(const generator_state& s) { default_generator().set_state(s); }

inline ndarray random(const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().random(size, kw);
}
inline ndarray uniform(const operand& low = 0.0, const operand& high = 1.0, const draw_size& size = {},
                       const draw_kw& kw = {}) {
  return default_generator().uniform(low, high, size, kw);
}
inline ndarray standard_normal(const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().standard_normal(size, kw);
}
inline ndarray normal(const operand& loc = 0.0, const operand& scale = 1.0, const draw_size& size = {},
                      const draw_kw& kw = {}) {
  return default_generator().normal(loc, scale, size, kw);
}
inline ndarray lognormal(const operand& mean = 0.0, const operand& sigma = 1.0, const draw_size& size = {},
                         const draw_kw& kw = {}) {
  return default_generator().lognormal(mean, sigma, size, kw);
}
inline ndarray standard_exponential(const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().standard_exponential(size, kw);
}
inline ndarray exponential(const operand& scale = 1.0, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().exponential(scale, size, kw);
}
inline ndarray laplace(const operand& loc = 0.0, const operand& scale = 1.0, const draw_size& size = {},
                       const draw_kw& kw = {}) {
  return default_generator().laplace(loc, scale, size, kw);
}
inline ndarray standard_gamma(const operand& shape, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().standard_gamma(shape, size, kw);
}
inline ndarray gamma(const operand& shape, const operand& scale = 1.0, const draw_size& size = {},
                     const draw_kw& kw = {}) {
  return default_generator().gamma(shape, scale, size, kw);
}
inline ndarray beta(const operand& a, const operand& b, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().beta(a, b, size, kw);
}
inline ndarray multivariate_normal(const ndarray& mean, const ndarray& cov, const draw_size& size = {},
                                   const multivariate_normal_kw& kw = {}) {
  return default_generator().multivariate_normal(mean, cov, size, kw);
}
inline ndarray integers(const operand& low, const optional_operand& high = {}, const draw_size& size = {},
                        const integers_kw& kw = {}) {
  return default_generator().integers(low, high, size, kw);
}
inline ndarray poisson(const operand& lam = 1.0, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().poisson(lam, size, kw);
}
inline ndarray binomial(const operand& n, const operand& p, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().binomial(n, p, size, kw);
}
inline ndarray chisquare(const operand& df, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().chisquare(df, size, kw);
}
inline ndarray noncentral_chisquare(const operand& df, const operand& nonc, const draw_size& size = {},
                                    const draw_kw& kw = {}) {
  return default_generator().noncentral_chisquare(df, nonc, size, kw);
}
inline ndarray f(const operand& dfnum, const operand& dfden, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().f(dfnum, dfden, size, kw);
}
inline ndarray noncentral_f(const operand& dfnum, const operand& dfden, const operand& nonc, const draw_size& size = {},
                            const draw_kw& kw = {}) {
  return default_generator().noncentral_f(dfnum, dfden, nonc, size, kw);
}
inline ndarray gumbel(const operand& loc = 0.0, const operand& scale = 1.0, const draw_size& size = {},
                      const draw_kw& kw = {}) {
  return default_generator().gumbel(loc, scale, size, kw);
}
inline ndarray logistic(const operand& loc = 0.0, const operand& scale = 1.0, const draw_size& size = {},
                        const draw_kw& kw = {}) {
  return default_generator().logistic(loc, scale, size, kw);
}
inline ndarray pareto(const operand& a, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().pareto(a, size, kw);
}
inline ndarray power(const operand& a, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().power(a, size, kw);
}
inline ndarray rayleigh(const operand& scale = 1.0, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().rayleigh(scale, size, kw);
}
inline ndarray standard_cauchy(const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().standard_cauchy(size, kw);
}
inline ndarray standard_t(const operand& df, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().standard_t(df, size, kw);
}
inline ndarray triangular(const operand& left, const operand& mode, const operand& right, const draw_size& size = {},
                          const draw_kw& kw = {}) {
  return default_generator().triangular(left, mode, right, size, kw);
}
inline ndarray vonmises(const operand& mu, const operand& kappa, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().vonmises(mu, kappa, size, kw);
}
inline ndarray wald(const operand& mean, const operand& scale, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().wald(mean, scale, size, kw);
}
inline ndarray weibull(const operand& a, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().weibull(a, size, kw);
}
inline ndarray dirichlet(const ndarray& alpha, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().dirichlet(alpha, size, kw);
}
inline ndarray geometric(const operand& p, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().geometric(p, size, kw);
}
inline ndarray logseries(const operand& p, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().logseries(p, size, kw);
}
inline ndarray negative_binomial(const operand& n, const operand& p, const draw_size& size = {},
                                 const draw_kw& kw = {}) {
  return default_generator().negative_binomial(n, p, size, kw);
}
inline ndarray zipf(const operand& a, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().zipf(a, size, kw);
}
inline ndarray hypergeometric(const operand& ngood, const operand& nbad, const operand& nsample,
                              const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().hypergeometric(ngood, nbad, nsample, size, kw);
}
inline ndarray multinomial(std::int64_t n, const ndarray& pvals, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().multinomial(n, pvals, size, kw);
}
inline ndarray multinomial(const ndarray& n, const ndarray& pvals, const draw_size& size = {}, const draw_kw& kw = {}) {
  return default_generator().multinomial(n, pvals, size, kw);
}
/// `n` random bytes on the host.
std::vector<std::uint8_t> bytes(std::int64_t n);
template <int_like T>
ndarray choice(T n, const draw_size& size = {}, const choice_kw& kw = {}) {
  return default_generator().choice(n, size, kw);
}
inline ndarray choice(const ndarray& a, const draw_size& size = {}, const choice_kw& kw = {}) {
  return default_generator().choice(a, size, kw);
}
template <int_like T>
ndarray permutation(T n) {
  return default_generator().permutation(n);
}
inline ndarray permutation(const ndarray& x, std::int64_t axis = 0) { return default_generator().permutation(x, axis); }
inline ndarray permuted(const ndarray& x, const std::optional<std::int64_t>& axis = std::nullopt) {
  return default_generator().permuted(x, axis);
}
inline void shuffle(const ndarray& x, std::int64_t axis = 0) { default_generator().shuffle(x, axis); }

}  // namespace random
}  // namespace sinter::inline v0
