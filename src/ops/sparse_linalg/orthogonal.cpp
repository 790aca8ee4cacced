#include "ops/sparse_linalg/orthogonal.hpp"

#include "ops/linalg/product_calls.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::ops {

using namespace idx;

namespace {

/// x m. On the CPU by BLAS, which reads several rows of m at a time: half the time of a recorded sum, which reads one after the
/// other, and there is nothing to fuse it with.
ndarray row_times(const ndarray& x, const ndarray& m) {
  if (x.device().kind != device_kind::cpu || m.size() == 0) return matmul(x, m);
  return multiply_matrices(x(newaxis, _), m, x.dtype(), {})(0, _);
}

}  // namespace

projected project_out(const ndarray& v, const ndarray& dual, const ndarray& w) {
  const bool complex_type = is_complex(w.dtype());
  ndarray h = row_times(complex_type ? conj(w) : w, dual.T());
  if (complex_type) h = conj(h);
  return {w - row_times(h, v), h};
}

projected project_out_twice(const ndarray& v, const ndarray& dual, const ndarray& w) {
  const projected once = project_out(v, dual, w);
  projected twice = project_out(v, dual, once.left);
  twice.h = once.h + twice.h;
  return twice;
}

}  // namespace sinter::ops
