// Transforms along divided axes: one axis after the other, each whole while it is transformed; and of vectors, as matrices.
#include <cmath>
#include <complex>
#include <numbers>

#include "dist/calls/opaque_parts.hpp"
#include "ops/base/promotion_args.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/fft.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::sharding {

using ops::opaque_call;

namespace {

/// What a call is about. Nothing is scaled.
struct transform {
  enum class kind : std::uint8_t { complex, real_to_complex, complex_to_real };
  kind what;
  bool inverse;
  std::vector<std::int64_t> axes, points;  // the real side's is the last one

  explicit transform(const opaque_call& call)
      : what(static_cast<kind>(call.numbers[0])), inverse(call.numbers[1] != 0) {
    for (std::size_t k = 2; k < call.numbers.size(); k += 2) {
      axes.push_back(call.numbers[k]);
      points.push_back(call.numbers[k + 1]);
    }
  }
};

ndarray complex_along(const ndarray& x, std::int64_t axis, bool inverse) {
  return inverse ? fft::ifft(x, {.axis = axis, .norm = "forward"}) : fft::fft(x, {.axis = axis});
}
/// From real numbers; the inverse one differs in the sign of the exponent.
ndarray from_real(const ndarray& x, std::int64_t axis, bool inverse) {
  const ndarray half = fft::rfft(x, {.axis = axis});
  return inverse ? conj(half) : half;
}
ndarray to_real(const ndarray& x, std::int64_t axis, std::int64_t points, bool inverse) {
  return fft::irfft(inverse ? x : conj(x), {.n = points, .axis = axis, .norm = "forward"});
}

/// One axis after the other.
ndarray along_each(const ndarray& x, const transform& t) {
  ndarray y = x;
  const std::size_t last = t.axes.size() - 1;
  if (t.what == transform::kind::real_to_complex) y = from_real(y, t.axes[last], t.inverse);
  for (std::size_t k = 0; k <= last; ++k)
    if (k < last || t.what == transform::kind::complex) y = complex_along(y, t.axes[k], t.inverse);
  if (t.what == transform::kind::complex_to_real) y = to_real(y, t.axes[last], t.points[last], t.inverse);
  return y;
}

/// The largest divisor that is at most the square root.
std::int64_t divisor_of(std::int64_t n) {
  auto d = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % d != 0) --d;
  return d;
}

/// exp(-2 pi i j k / n) for j below rows and k below columns, n = rows * columns.
ndarray twiddles(std::int64_t rows, std::int64_t columns, dtype type, device where) {
  const create_kw here{.dtype = float64, .device = where};
  const ndarray angle = arange(rows, here).reshape(shape_t{-1, 1}) * arange(columns, here) *
                        (-2 * std::numbers::pi / static_cast<double>(rows * columns));
  return (cos(angle) + sin(angle) * std::complex<double>(0, 1)).astype(type);
}

/// A vector as rows x columns: columns are transformed, turned, rows are transformed; each step is whole on a position, and
/// the matrix is turned between them (three all-to-alls).
ndarray of_vector(const ndarray& x, std::int64_t rows) {
  const std::int64_t n = x.size(), columns = n / rows;
  const ndarray first = fft::fft(x.reshape(shape_t{rows, columns}), {.axis = 0});
  const ndarray second = fft::fft(first * twiddles(rows, columns, x.dtype(), x.device()), {.axis = 1});
  return second.T().reshape(shape_t{n});
}

/// The whole of a transform of n real or complex numbers from those of complex ones.
ndarray of_long_vector(const ndarray& x, const transform& t, std::int64_t rows) {
  const std::int64_t n = t.points[0];
  const auto directed = [&](const ndarray& z) {
    return t.inverse ? conj(of_vector(conj(z), rows)) : of_vector(z, rows);
  };
  const auto half = slice(0, n / 2 + 1);
  switch (t.what) {
    case transform::kind::complex: return directed(x);
    case transform::kind::real_to_complex:
      return directed(x.astype(x.dtype() == float32 ? complex64 : complex128))(half).copy();
    case transform::kind::complex_to_real: {
      ndarray whole = zeros({n}, {.dtype = x.dtype(), .device = x.device()});
      whole(half) = x;
      if (n > 2) whole(slice(n / 2 + 1, n)) = conj(x(slice((n - 1) / 2, 0, -1)));
      return real(directed(whole)).copy();
    }
  }
  return {};
}

}  // namespace

results transform_parts(const opaque_call& call) {
  const transform t(call);
  const ndarray& x = call.operands[0];
  if (t.axes.size() > 1) return {along_each(x, t)};
  const operand_parts given = parts_of(x);
  const int axis = static_cast<int>(t.axes[0]);
  const split s = *given.how().along(axis);
  dims shape = given.shape();
  if (static_cast<std::int64_t>(given.leaf->bytes()) <= small_operand) {
    opaque_call everywhere = call;
    everywhere.operands[0] = ops::wrap(given.as({}).leaf);
    const ndarray whole = run_everywhere(everywhere)[0];
    layout how;
    how.add({axis, s.over, even_bounds(whole.shape(axis), s.parts())});
    return {ops::wrap(parts_of(whole).as(how).leaf)};
  }
  const std::int64_t n = t.points[0], rows = divisor_of(n);
  if (rows < s.parts())
    refuse_call(call, given,
                "its " + std::to_string(n) + " points are no product of two numbers of at least " +
                    std::to_string(s.parts()) + ", one for each device",
                "pad it to a length that is, redistribute it with {replicate()}, or gather it");
  const ndarray whole = of_long_vector(x.reshape(shape_t{-1}), t, rows);
  shape[axis] = whole.size();
  return {whole.reshape(ops::to_shape(shape))};
}

}  // namespace sinter::sharding
