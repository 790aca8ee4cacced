// Golub and Kahan's bidiagonalisation, with which lsqr and lsmr begin each step:
//   beta u = A v - alpha u,  alpha v = A^H u - beta v.
// The vectors are kept without their last division, `u` times beta and `v` times alpha: that joins the next use of them, and a
// step has two passes over vectors less. Where a device has normal products, these do it all: two kernels a step, of which the second one is
// the first one of the next step, which finds the length of v. `u` is that of the next step then.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <optional>

#include "ops/sparse_linalg/iteration.hpp"

namespace sinter::ops {

struct bidiagonalisation {
  const char* function;
  linear_operator a;
  ndarray u, v;         // beta u, alpha v
  ndarray beta, alpha;  // float64, of rank 0
  ndarray x;            // where the iteration starts
  bool by_normal_products = false;
  double norm_of_b = 0;
  std::int64_t rows = 0, columns = 0;
  /// What earlier steps had, where the rest of a step runs on another stream: memory that went back to the pool would be taken by
  /// the next product, which would wait for that stream.
  std::array<std::array<ndarray, 3>, 16> kept;
  std::size_t steps = 0;

  /// Of b - A x0. Waits. shape_error, value_error.
  static bidiagonalisation begin(const char* function, const linear_operator& a, const ndarray& b,
                                 const optional_array& x0);
  /// Given 1 / alpha and alpha / beta of the step before.
  void step(const ndarray& inverse_alpha, const ndarray& alpha_over_beta);
  /// v with length 1; a vector of zeros stays one.
  ndarray direction(const ndarray& inverse_alpha) const { return v * factor(inverse_alpha); }

  /// What the numbers of both iterations begin with, for the first alpha and beta; the others are 0.
  template <class Numbers, class Keywords>
  Numbers first_numbers(const Keywords& kw, double first_alpha, double first_beta, std::int64_t most) const {
    Numbers k{};
    k.inverse_alpha = first_alpha > 0 ? 1 / first_alpha : 1;
    k.alpha_over_beta = first_beta > 0 ? first_alpha / first_beta : first_alpha;
    k.damp = kw.damp;
    k.atol = kw.atol;
    k.btol = kw.btol;
    k.ctol = kw.conlim > 0 ? 1 / kw.conlim : 0;
    k.norm_of_b = norm_of_b;
    k.most = static_cast<double>(most);
    return k;
  }

  sinter::device device() const { return u.device(); }
  /// A number as one that vectors are multiplied with.
  ndarray factor(const ndarray& number) const;
};

/// Where the rest of a step runs: a stream of its own where products do the bidiagonalisation by themselves, since none of them waits for
/// numbers and vectors then, which take as long as a tenth of a product; else the current one.
class beside_products {
 public:
  explicit beside_products(const bidiagonalisation& g);
  /// Whether there is such a stream.
  explicit operator bool() const { return own_.has_value(); }
  /// While it lives, the calling thread's work goes there.
  std::unique_ptr<stream_guard> enter() const;

 private:
  std::optional<stream> own_;
};

}  // namespace sinter::ops
