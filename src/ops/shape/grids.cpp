// Grids, diagonals, series, and views by strides.
#include "ops/base/at_call.hpp"
#include "sinter/grids.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/shape/memory_order.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/indexing.hpp"
#include "sinter/kernel.hpp"
#include "sinter/linalg_norms.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;

// ---- diagonals and triangles

ndarray diagflat(const ndarray& x, std::int64_t k) {
  const ndarray flat = ravel(x);
  const std::int64_t n = flat.shape(0);
  constexpr std::int64_t most = std::int64_t{1} << 40;
  const std::int64_t away = std::clamp(k, -most, most), side = n + std::abs(away);
  core::checked_count(dims{side, side}, "diagflat");
  if (n == 0) return zeros({side, side}, {.dtype = x.dtype(), .device = x.device()});
  // Column j holds element j - k, in row j - k or, below the diagonal, i + k.
  const ndarray column = arange(side, {.device = x.device()}), row = expand_dims(column, 1);
  const ndarray element = away >= 0 ? row : row + away;
  const ndarray on = equal(column, row + away);
  const ndarray values = take(flat, clip(element, 0, n - 1));
  return where(on, values, zeros({}, {.dtype = x.dtype(), .device = x.device()}));
}

ndarray diag(const ndarray& x, std::int64_t k) {
  const dims& shape = view_of(x, "diag").shape;
  if (shape.size() == 1) return diagflat(x, k);
  if (shape.size() != 2) fail<shape_error>("diag", "needs a vector or a matrix, not shape ", shape);
  return diagonal(x, k);
}

ndarray tri(std::int64_t rows, const eye_kw& kw) {
  return tril(ones({rows, kw.columns.value_or(rows)}, {.dtype = kw.dtype, .device = kw.device}), kw.k);
}
ndarray tri(std::int64_t rows, std::int64_t columns, const eye_kw& kw) {
  eye_kw both = kw;
  both.columns = columns;
  return tri(rows, both);
}

std::vector<ndarray> mask_indices(std::int64_t n, const std::function<ndarray(const ndarray&, std::int64_t)>& mask,
                                  std::int64_t k) {
  return nonzero(mask(ones({n, n}, {.dtype = int64}), k));
}

namespace {

std::vector<ndarray> on_device_of(const ndarray& x, std::vector<ndarray> list) {
  for (ndarray& each : list) each = each.to_device(x.device());
  return list;
}

void require_matrix(const ndarray& x, const char* function) {
  if (view_of(x, function).shape.size() != 2) fail<shape_error>(function, "needs a matrix, not shape ", x.shape());
}

}  // namespace

std::vector<ndarray> diag_indices_from(const ndarray& x) {
  const dims& shape = view_of(x, "diag_indices_from").shape;
  if (shape.size() < 2 || std::adjacent_find(shape.begin(), shape.end(), std::not_equal_to<>()) != shape.end())
    fail<shape_error>("diag_indices_from", "needs equal extents, not shape ", shape);
  return on_device_of(x, diag_indices(shape[0], shape.size()));
}
std::vector<ndarray> tril_indices_from(const ndarray& x, std::int64_t k) {
  require_matrix(x, "tril_indices_from");
  return on_device_of(x, tril_indices(x.shape(0), k, x.shape(1)));
}
std::vector<ndarray> triu_indices_from(const ndarray& x, std::int64_t k) {
  require_matrix(x, "triu_indices_from");
  return on_device_of(x, triu_indices(x.shape(0), k, x.shape(1)));
}

// ---- series

namespace {

ndarray linspace_between(const ndarray& start, const ndarray& stop, std::int64_t count, const linspace_arrays_kw& kw) {
  if (count < 0) fail<value_error>("linspace", "the number of samples is negative: ", count);
  const bool complex = is_complex(start.dtype()) || is_complex(stop.dtype());
  const dtype inner = complex ? complex128 : float64, type = kw.dtype.value_or(inner);
  if (complex && !is_complex(type)) fail<dtype_error>("linspace", "complex numbers do not fit dtype ", type);
  const ndarray first = start.astype(inner, false), last = stop.astype(inner, false), delta = last - first;
  const std::int64_t intervals = kw.endpoint ? count - 1 : count;
  dims shape(delta.ndim() + 1, 1);
  shape[0] = count;
  const ndarray i = reshape(arange(count, {.device = delta.device()}), to_shape(shape)), place = i.astype(inner);
  ndarray y = place * delta;
  if (intervals > 0) {  // as of numbers: the division comes first where the step underflows to zero
    const auto parts = static_cast<double>(intervals);
    y = where(equal(delta / parts, 0), place / parts * delta, place * (delta / parts));
  }
  y = y + first;
  if (kw.endpoint && count > 1) y = where(equal(i, count - 1), last, y);
  if (is_integer(type)) y = floor(y);
  return moveaxis(y, axes(0), axes(kw.axis)).astype(type, false);
}

}  // namespace

ndarray linspace(const ndarray& start, const operand& stop, std::int64_t count, const linspace_arrays_kw& kw) {
  return linspace_between(start, stop.is_array() ? stop.array() : full({}, stop, {.device = start.device()}), count,
                          kw);
}
ndarray linspace(const scalar& start, const ndarray& stop, std::int64_t count, const linspace_arrays_kw& kw) {
  return linspace_between(full({}, operand(start), {.device = stop.device()}), stop, count, kw);
}

ndarray logspace(const scalar& start, const scalar& stop, std::int64_t count, const logspace_kw& kw) {
  const ndarray exponents = linspace(start, stop, count, {.endpoint = kw.endpoint, .device = kw.device});
  const ndarray out = power(full({}, kw.base, {.device = exponents.device()}), exponents);
  return out.astype(kw.dtype.value_or(out.dtype()), false);
}

ndarray geomspace(double start, double stop, std::int64_t count, const linspace_kw& kw) {
  if (start == 0 || stop == 0) fail<value_error>("geomspace", "a geometric sequence does not include 0");
  if ((start < 0) != (stop < 0)) fail<value_error>("geomspace", "the signs of ", start, " and ", stop, " differ");
  const double sign = start < 0 ? -1 : 1;
  ndarray out = logspace(std::log10(start * sign), std::log10(stop * sign), count,
                         {.endpoint = kw.endpoint, .device = kw.device});
  const ndarray i = arange(count, {.device = out.device()});
  out = where(equal(i, 0), start * sign, out);
  if (kw.endpoint && count > 1) out = where(equal(i, count - 1), stop * sign, out);
  return (out * sign).astype(kw.dtype.value_or(float64), false);
}

namespace {

ndarray number_beside(const scalar& number, const ndarray& x) {
  return full({}, operand(number), {.device = x.device()});
}
ndarray array_beside(const operand& x, const ndarray& other) {
  return x.is_array() ? x.array() : full({}, x, {.device = other.device()});
}
/// With new leading axes up to a rank.
ndarray of_rank(const ndarray& x, int rank) {
  dims shape(rank, 1);
  for (int a = 0; a < x.ndim(); ++a) shape[rank - x.ndim() + a] = x.shape(a);
  return reshape(x, to_shape(shape));
}

ndarray logspace_between(const ndarray& start, const ndarray& stop, std::int64_t count, const logspace_arrays_kw& kw) {
  const ndarray base = array_beside(kw.base, start);
  const int rank = std::max({start.ndim(), stop.ndim(), base.ndim()});
  const ndarray exponents =
      linspace_between(of_rank(start, rank), of_rank(stop, rank), count, {.endpoint = kw.endpoint, .axis = kw.axis});
  const ndarray out = power(expand_dims(of_rank(base, rank), axes(kw.axis)), exponents);
  return out.astype(kw.dtype.value_or(out.dtype()), false);
}

ndarray geomspace_between(const ndarray& start, const ndarray& stop, std::int64_t count, const linspace_arrays_kw& kw) {
  const auto has_zeros = [](const ndarray& x) { return may_look_at(value_of(x)) && bool(any(equal(x, 0))); };
  if (has_zeros(start) || has_zeros(stop)) fail<value_error>("geomspace", "a geometric sequence does not include 0");
  const bool complex = is_complex(start.dtype()) || is_complex(stop.dtype());
  const dtype inner = complex ? complex128 : float64, type = kw.dtype.value_or(inner);
  if (complex && !is_complex(type)) fail<dtype_error>("geomspace", "complex numbers do not fit dtype ", type);
  // Begun in the direction of the positive real numbers, and turned afterwards.
  const ndarray away = start.astype(inner, false), direction = sign(away);
  const ndarray first = away / direction, last = stop.astype(inner, false) / direction;
  ndarray y = logspace_between(log10(first), log10(last), count, {.endpoint = kw.endpoint});
  dims shape(y.ndim(), 1);
  shape[0] = count;
  const ndarray i = reshape(arange(count, {.device = y.device()}), to_shape(shape));
  y = where(equal(i, 0), first, y);
  if (kw.endpoint && count > 1) y = where(equal(i, count - 1), last, y);
  return moveaxis(y * direction, axes(0), axes(kw.axis)).astype(type, false);
}

}  // namespace

ndarray logspace(const ndarray& start, const operand& stop, std::int64_t count, const logspace_arrays_kw& kw) {
  return logspace_between(start, array_beside(stop, start), count, kw);
}
ndarray logspace(const scalar& start, const ndarray& stop, std::int64_t count, const logspace_arrays_kw& kw) {
  return logspace_between(number_beside(start, stop), stop, count, kw);
}
ndarray geomspace(const ndarray& start, const operand& stop, std::int64_t count, const linspace_arrays_kw& kw) {
  return geomspace_between(start, array_beside(stop, start), count, kw);
}
ndarray geomspace(const scalar& start, const ndarray& stop, std::int64_t count, const linspace_arrays_kw& kw) {
  return geomspace_between(number_beside(start, stop), stop, count, kw);
}

linspace_result linspace_with_step(double start, double stop, std::int64_t count, const linspace_kw& kw) {
  const std::int64_t intervals = count < 1 || !kw.endpoint ? count : count - 1;
  const double step = intervals > 0 ? (stop - start) / static_cast<double>(intervals) : std::nan("");
  return {linspace(start, stop, count, kw), step};
}

// ---- grids

ndarray grid_range::numbers(const std::optional<device>& device) const {
  if (step_.kind() != scalar_kind::complex) return arange(start_, stop_, step_, {.device = device});
  const double count = std::hypot(step_.real(), step_.imag());
  if (!(count < 0x1p60)) fail<value_error>("mgrid", "a range of ", count, " points");
  return linspace(start_, stop_, static_cast<std::int64_t>(count), {.device = device});
}

std::vector<ndarray> ogrid(std::initializer_list<grid_range> ranges, const create_kw& kw) {
  std::vector<ndarray> vectors;
  for (const grid_range& r : ranges) vectors.push_back(r.numbers(kw.device));
  if (vectors.empty()) return {};
  const dtype type = kw.dtype.value_or(promoted_dtype(vectors, "ogrid"));
  std::vector<ndarray> out;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    dims shape(static_cast<int>(vectors.size()), 1);
    shape[static_cast<int>(i)] = vectors[i].shape(0);
    out.push_back(reshape(vectors[i].astype(type, false), to_shape(shape)));
  }
  return out;
}

ndarray mgrid(std::initializer_list<grid_range> ranges, const create_kw& kw) {
  if (ranges.size() == 0) fail<value_error>("mgrid", "needs at least one range");
  return laid_out(stack(broadcast_arrays(ogrid(ranges, kw))), kw.order, "mgrid");
}

ndarray indices(const shape_t& shape, const create_kw& kw) {
  const dims extents = to_dims(shape);
  core::checked_count(extents, "indices");
  const auto device = chosen(kw.device);
  std::vector<ndarray> out;
  for (int a = 0; a < extents.size(); ++a)
    out.push_back(wrap(graph::record_cast(graph::record_iota(extents, a, device), kw.dtype.value_or(int64))));
  if (out.empty()) return zeros({0}, {.dtype = kw.dtype.value_or(int64), .device = kw.device});
  return laid_out(stack(out), kw.order, "indices");
}

ndarray r_(std::initializer_list<grid_part> parts) {
  std::vector<ndarray> all;
  // Numbers are weak beside arrays, as in NumPy.
  promotion types;
  for (const grid_part& p : parts) {
    if (p.is_number())
      types.add(p.value().dtype() == bool_      ? scalar(false)
                : is_complex(p.value().dtype()) ? scalar(std::complex<double>())
                : is_integer(p.value().dtype()) ? scalar(0)
                                                : scalar(0.0));
    else types.add(view_of(p.value(), "r_").type);
  }
  const dtype type = types.result("r_");
  for (const grid_part& p : parts) all.push_back(atleast_1d(p.value().astype(type, false)));
  return concatenate(all, 0);
}

ndarray c_(std::initializer_list<grid_part> parts) {
  std::vector<ndarray> all;
  for (const grid_part& p : parts)
    all.push_back(p.value().ndim() < 2 ? expand_dims(atleast_1d(p.value()), 1) : p.value());
  return concatenate(all, -1);
}

ndarray fromfunction(std::string_view expression, const shape_t& shape, const create_kw& kw) {
  const dims extents = to_dims(shape);
  core::checked_count(extents, "fromfunction");
  const dtype type = kw.dtype.value_or(float64);
  const auto device = chosen(kw.device);
  const std::string of_type(name(type));
  std::string inputs;
  std::vector<ndarray> coordinates;
  for (int a = 0; a < extents.size(); ++a) {
    inputs += (a ? ", " : "") + of_type + " i" + std::to_string(a);
    coordinates.push_back(wrap(graph::record_cast(graph::record_iota(extents, a, device), type)));
  }
  if (extents.size() > 6) fail<shape_error>("fromfunction", "a text of at most 6 coordinates, not shape ", extents);
  const elementwise_kernel kernel(inputs, of_type + " value", "value = (" + std::string(expression) + ");",
                                  "fromfunction");
  const std::vector<ndarray>& i = coordinates;
  const auto values = [&] {
    switch (extents.size()) {
      case 0: fail<shape_error>("fromfunction", "a text has at least one coordinate");
      case 1: return kernel(i[0]);
      case 2: return kernel(i[0], i[1]);
      case 3: return kernel(i[0], i[1], i[2]);
      case 4: return kernel(i[0], i[1], i[2], i[3]);
      case 5: return kernel(i[0], i[1], i[2], i[3], i[4]);
      default: return kernel(i[0], i[1], i[2], i[3], i[4], i[5]);
    }
  };
  return laid_out(values(), kw.order, "fromfunction");
}

ndarray fromfunction(const std::function<ndarray(const std::vector<ndarray>&)>& f, const shape_t& shape,
                     const create_kw& kw) {
  create_kw with = kw;
  with.dtype = kw.dtype.value_or(float64);
  with.order = 'C';
  return laid_out(f(unstack(indices(shape, with))), kw.order, "fromfunction");
}

// ---- memory

ndarray ascontiguousarray(const ndarray& x, const create_kw& kw) {
  if (kw.order != 'C') fail<value_error>("ascontiguousarray", "order is C, not '", std::string(1, kw.order), "'");
  return in_c_order(atleast_1d(asarray(x, kw)));
}

ndarray require(const ndarray& x, const require_kw& kw) {
  ndarray out = x.astype(kw.dtype.value_or(view_of(x, "require").type), false);
  bool by_rows = false, by_columns = false;
  for (const char letter : kw.requirements) {
    const graph::array_view& v = view_of(out, "require");
    switch (letter) {
      case 'A':
      case 'E': break;
      case 'C': by_rows = true; break;
      case 'F': by_columns = true; break;
      case 'O': out = v.whole && !v.readonly ? out : out.copy(); break;
      case 'W': out = v.readonly ? out.copy() : out; break;
      default: fail<value_error>("require", "there is no requirement '", letter, "'");
    }
  }
  if (by_rows && by_columns) fail<value_error>("require", "an array has C order or F order, not both");
  // The order comes last: copies made for other reasons lie in C order.
  return by_rows ? in_c_order(out) : by_columns ? asfortranarray(out) : out;
}

ndarray as_strided(const ndarray& x, const as_strided_kw& kw) {
  const graph::array_view& v = view_of(x, "as_strided");
  const dims shape = kw.shape ? to_dims(*kw.shape) : v.shape;
  const std::int64_t count = core::checked_count(shape, "as_strided");
  dims strides = v.strides;
  const auto width = static_cast<std::int64_t>(itemsize(v.type));
  if (kw.strides) {
    strides = dims();
    for (const std::int64_t s : *kw.strides) {
      if (s % width != 0) fail<value_error>("as_strided", "a stride of ", s, " bytes for elements of ", width);
      strides.push_back(s / width);
    }
  }
  if (strides.size() != shape.size()) fail<shape_error>("as_strided", strides.size(), " strides for shape ", shape);
  if (v.parts && std::any_of(strides.begin(), strides.end(), [](std::int64_t s) { return s % 2 != 0; }))
    fail<value_error>("as_strided", "strides from the parts of some complex numbers of ", v.type, " to other parts");
  __int128 first = v.offset, last = v.offset;
  for (int a = 0; a < shape.size(); ++a)
    if (shape[a] > 0) (strides[a] < 0 ? first : last) += __int128{strides[a]} * (shape[a] - 1);
  if (count != 0 && (first < 0 || last >= graph::whole_storage(v)->shape[0]))
    fail<value_error>("as_strided", "shape ", shape, " with these strides leaves the memory of an array of shape ",
                      v.shape);
  return ndarray_access::make(graph::make_view(v, shape, strides, v.offset, !kw.writeable));
}

ndarray sliding_window_view(const ndarray& x, const shape_t& window, const sliding_window_view_kw& kw) {
  const graph::array_view& v = view_of(x, "sliding_window_view");
  std::vector<int> along;
  if (kw.axis.given()) {
    for (const std::int64_t a : kw.axis) along.push_back(normalize_axis(a, v.shape, "sliding_window_view"));
  } else {
    along.resize(static_cast<std::size_t>(v.shape.size()));
    std::iota(along.begin(), along.end(), 0);
  }
  if (window.size() != along.size())
    fail<shape_error>("sliding_window_view", "a window of shape ", window, " for ", along.size(), " axes of shape ",
                      v.shape);
  dims shape = v.shape, strides = v.strides;
  for (std::size_t i = 0; i < along.size(); ++i) {
    const int a = along[i];
    if (window[i] < 0) fail<value_error>("sliding_window_view", "a window of shape ", window);
    const std::int64_t extent = shape[a];
    shape[a] -= window[i] - 1;
    if (extent < window[i])
      fail<shape_error>("sliding_window_view", "a window of shape ", window, " is longer than axis ", a, " of shape ",
                        v.shape);
    shape.push_back(window[i]);
    strides.push_back(v.strides[a]);
  }
  core::checked_count(shape, "sliding_window_view");
  return ndarray_access::make(graph::make_view(v, shape, strides, v.offset, !kw.writeable));
}

}  // namespace sinter::inline v0
