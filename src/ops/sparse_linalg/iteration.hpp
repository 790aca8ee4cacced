// What the iterative solvers share: the system with its dtypes checked, norms and products of vectors as arrays of rank 0, and
// the look of the host at an iteration that runs ahead of it.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "ops/sparse_linalg/operator_body.hpp"
#include "sinter/sparse_solvers.hpp"
#include "sinter/stream.hpp"

namespace sinter::ops {

using sparse::linalg::linear_operator;

/// A x = b with vectors of rank 1 and one dtype.
struct linear_system {
  const char* function;
  linear_operator a, m;  // m may be undefined
  ndarray b, x;
  bool starts_at_zero = true;
  std::int64_t n = 0;

  ndarray apply(const ndarray& v) const { return a.matvec(v); }
  ndarray precondition(const ndarray& v) const { return m.defined() ? m.matvec(v) : v; }
  /// b - A x, or b where x is 0.
  ndarray residual() const { return starts_at_zero ? b : b - apply(x); }
};
/// shape_error: A is not square, or extents differ; value_error: undefined arrays.
linear_system make_system(const char* function, const linear_operator& a, const ndarray& b, const optional_array& x0,
                          const linear_operator& m);

/// float32, float64, complex64, complex128; float64 for anything else.
dtype solver_dtype(dtype t) noexcept;
/// Machine epsilon of a dtype's parts.
double epsilon_of(dtype t);

/// sum(conj(x) y), of rank 0.
ndarray inner_product(const ndarray& x, const ndarray& y);
/// The 2-norm of a vector, and its square, as real arrays of rank 0.
ndarray sum_of_squares(const ndarray& x);
ndarray length_of(const ndarray& x);
/// max(atol, rtol * norm(b)); value_error: atol is negative or not a number.
double tolerance(const char* function, double norm_of_b, double rtol, double atol);

/// The host's look at an iteration. `status`, an int32 array of rank 0, is 0 while the iteration goes on; what the device
/// writes there first, stays.
class onlooker {
 public:
  /// Of work on a device; at each step if `always`.
  onlooker(const device& on, bool always);
  /// Whether steps may run after the iteration has ended, so that their results must be held back.
  bool is_late() const noexcept { return every_ > 1; }
  /// Steps from one look to the next.
  int stride() const noexcept { return every_; }
  /// `now` while the iteration goes on, else `before`: on the device.
  ndarray unless_ended(const ndarray& status, const ndarray& now, const ndarray& before) const;
  /// To be called once a step, after its work has been enqueued: whether the host knows now that the iteration has ended.
  bool sees_end(const ndarray& status);

 private:
  device on_;
  int every_;
  int steps_ = 0;
  ndarray seen_;  // a copy of `status` on its way to the host
};
/// While positive, the number of steps between looks on any device: for tests.
void look_every_for_tests(int steps) noexcept;

/// A status of a device that says that an iteration goes on.
ndarray running(const device& on);
/// `status`, and where the iteration goes on and a condition holds, a code.
ndarray ended_if(const ndarray& status, const ndarray& condition, int code);

}  // namespace sinter::ops
