#include "ops/sparse_linalg/iteration.hpp"

#include <atomic>
#include <cmath>

#include "ops/base/errors.hpp"
#include "sinter/creation.hpp"
#include "sinter/dtype_info.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/products.hpp"
#include "sinter/reduce.hpp"

namespace sinter::ops {

using std::int64_t;

namespace {

constexpr int steps_between_looks = 8;
std::atomic<int> looks_of_tests{0};

/// (n,) of (n,) or (n, 1).
ndarray as_vector(const char* function, const char* what, const ndarray& v, int64_t n, const linear_operator& a) {
  if (!v.defined()) fail<value_error>(function, what, " is undefined (default-constructed or moved from)");
  const shape_t shape = v.shape();
  if (shape == shape_t{n}) return v;
  if (shape == shape_t{n, 1}) return v(idx::_, 0);
  fail<shape_error>(function, "A of shape ", a.shape(), " and ", what, " of shape ", shape);
}

}  // namespace

dtype solver_dtype(dtype t) noexcept { return t == dtype::f32 || t == dtype::c64 || t == dtype::c128 ? t : dtype::f64; }

double epsilon_of(dtype t) { return finfo(t).eps; }

linear_system make_system(const char* function, const linear_operator& a, const ndarray& b, const optional_array& x0,
                          const linear_operator& m) {
  const auto& body = body_of(a, function);
  const int64_t n = body.rows();
  if (n != body.columns()) fail<shape_error>(function, "A of shape ", a.shape(), " is not square");
  if (m.defined() && m.shape() != a.shape())
    fail<shape_error>(function, "A of shape ", a.shape(), " and M of shape ", m.shape());
  const ndarray right = as_vector(function, "b", b, n, a);
  const dtype type = promote_types(solver_dtype(body.dtype()), solver_dtype(right.dtype()));
  linear_system s{function, a, m, right.astype(type, false), {}, !x0, n};
  s.x = x0 ? as_vector(function, "x0", *x0, n, a).astype(type, false)
           : zeros({n}, {.dtype = type, .device = right.device()});
  return s;
}

ndarray inner_product(const ndarray& x, const ndarray& y) { return vdot(x, y); }

ndarray sum_of_squares(const ndarray& x) {
  return sum(is_complex(x.dtype()) ? square(real(x)) + square(imag(x)) : square(x));
}
ndarray length_of(const ndarray& x) { return sqrt(sum_of_squares(x)); }

double tolerance(const char* function, double norm_of_b, double rtol, double atol) {
  if (!(atol >= 0)) fail<value_error>(function, "atol is ", atol, "; it must be a number and not negative");
  return std::fmax(atol, rtol * norm_of_b);
}

void look_every_for_tests(int steps) noexcept { looks_of_tests = steps; }

onlooker::onlooker(const device& on, bool always) : on_(on) {
  const int forced = looks_of_tests;
  every_ = always ? 1 : forced > 0 ? forced : on.kind == device_kind::cpu ? 1 : steps_between_looks;
}

ndarray onlooker::unless_ended(const ndarray& status, const ndarray& now, const ndarray& before) const {
  return is_late() ? where(status == 0, now, before) : now;
}

bool onlooker::sees_end(const ndarray& status) {
  if (!is_late()) return status.item<int>() != 0;
  // The copy is on its way while the host enqueues further steps, so that the device always has work.
  if (++steps_ % every_ == 0) seen_ = on_.kind == device_kind::cpu ? status : status.to_host(current_stream(on_));
  return seen_.defined() && steps_ % every_ == every_ / 2 && seen_.item<int>() != 0;
}

ndarray running(const device& on) { return zeros({}, {.dtype = int32, .device = on}); }

ndarray ended_if(const ndarray& status, const ndarray& condition, int code) {
  return where((status == 0) & condition, code, status);
}

}  // namespace sinter::ops
