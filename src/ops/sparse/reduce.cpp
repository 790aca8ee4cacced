// Reductions. Sums are products with ones; extremes are taken over the entries of each row (column), then with a zero where
// one is not stored.
#include "sinter/reduce.hpp"

#include <algorithm>
#include <cmath>

#include "ops/base/opaque_call.hpp"
#include "ops/sparse/parts.hpp"
#include "sinter/creation.hpp"
#include "sinter/dtype_info.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/histogram.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/search.hpp"
#include "sinter/sparse.hpp"

namespace sinter::ops {

ndarray sums_of(const state_ref& s, bool of_rows, dtype type);

namespace {

using sparse::format;

ndarray squared_moduli(const ndarray& x) { return sinter::square(is_complex(x.dtype()) ? absolute(x) : x); }

/// The axis that goes: 0 or 1.
int removed_axis(const char* function, std::int64_t axis, const sparse_state& s) {
  if (axis < -2 || axis > 1)
    fail<index_error>(function, "axis ", axis, " is out of range for shape (", s.rows, ", ", s.columns, ")");
  return static_cast<int>(axis < 0 ? axis + 2 : axis);
}

/// The array with what a reduction along an axis leaves as its majors; canonical.
state_ref grouped_for(const state_ref& s, int axis) {
  return canonical(in_format(s, axis == 1 ? format::csr : format::csc));
}

ndarray counts_of(const sparse_state& s) { return diff(s.first).astype(int64); }

/// What any element is at least (at most).
ndarray limit_of(dtype t, bool largest, const device& where) {
  if (is_inexact(t)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return full({}, largest ? -infinity : infinity, {.dtype = t, .device = where});
  }
  const iinfo_t info = iinfo(t);
  return full({}, largest ? scalar(info.min) : scalar(info.max), {.dtype = t, .device = where});
}

void require_elements(const char* function, std::int64_t extent) {
  if (extent == 0) fail<value_error>(function, "there is nothing to choose from along an axis of extent 0");
}

/// Extremes of the rows (columns) of a canonical array by the host's kernels, whatever its format is.
ndarray extremes_on_host(const sparse_state& s, bool of_rows, bool largest) {
  const dtype t = s.data.dtype();
  const ready_matrix m = ready(s, t);
  const std::int64_t count = of_rows ? s.rows : s.columns, extent = of_rows ? s.columns : s.rows;
  const value found = unset_leaf(dims{count}, t, m.data->device),
              counts = unset_leaf(dims{count}, dtype::i64, m.data->device);
  kernels_of(s).extremes(m.matrix, of_rows == (s.format == format::csc), largest, address_to_write(found),
                         static_cast<std::int64_t*>(address_to_write(counts)));
  m.pass_faults(found);
  const ndarray stored = wrap(found), with_zero = largest ? maximum(stored, 0) : minimum(stored, 0);
  return sinter::where(wrap(counts) < extent, with_zero, stored);
}

/// Extremes of the majors' entries, with a zero where not all are stored. The data is real and no bool.
ndarray extremes_of_majors(const sparse_state& s, bool largest) {
  if (kernels_of(s).arranges()) return extremes_on_host(s, s.format == format::csr, largest);
  const dtype t = s.data.dtype();
  const device where = s.data.device();
  const std::int64_t majors = majors_of(s);
  ndarray found = full(majors, limit_of(t, largest, where), {.dtype = t, .device = where}).copy();
  if (entries_of(s) > 0) {
    const ndarray major = majors_of_entries(s);
    if (largest) scatter_max(found(major), s.data);
    else scatter_min(found(major), s.data);
  }
  const ndarray with_zero = largest ? maximum(found, 0) : minimum(found, 0);
  return sinter::where(counts_of(s) < minors_of(s), with_zero, found);
}

ndarray extreme(const char* function, const sparse_array& a, optional_axis axis, bool largest) {
  const state_ref given = state_of(a, function);
  const dtype t = given->data.dtype();
  if (is_complex(t)) fail<dtype_error>(function, "complex elements have no order here: ", t);
  const bool bits = is_bool(t);
  const state_ref s = bits ? with_elements(*canonical(given), canonical(given)->data.astype(uint8)) : canonical(given);
  ndarray result;
  if (axis) {
    const int gone = removed_axis(function, *axis, *s);
    require_elements(function, gone == 0 ? s->rows : s->columns);
    if (is_compressed(*s) && kernels_of(*s).arranges()) result = extremes_on_host(*s, gone == 1, largest);
    else result = extremes_of_majors(*grouped_for(s, gone), largest);
  } else {
    require_elements(function, s->rows * s->columns);
    const ndarray& x = s->data;
    const bool full = entries_of(*s) == s->rows * s->columns;
    if (x.size() == 0) result = zeros({}, {.dtype = x.dtype(), .device = x.device()});
    else result = largest ? max(x) : min(x);
    if (!full) result = largest ? maximum(result, 0) : minimum(result, 0);
  }
  return bits ? result.astype(bool_) : result;
}

/// The same, with NaN left out.
ndarray nan_extreme(const char* function, const sparse_array& a, optional_axis axis, bool largest) {
  const state_ref s = canonical(state_of(a, function));
  const dtype t = s->data.dtype();
  if (!is_inexact(t) || is_complex(t)) return extreme(function, a, axis, largest);
  const ndarray nan = isnan(s->data);
  const device where = s->data.device();
  const ndarray others = sinter::where(nan, limit_of(t, largest, where), s->data);
  const ndarray found = extreme(function, sparse_access::make(with_elements(*s, others)), axis, largest);
  const ndarray count = sparse_access::make(with_elements(*s, nan)).sum(axis);
  const std::int64_t extent = !axis                                    ? s->rows * s->columns
                              : removed_axis(function, *axis, *s) == 0 ? s->rows
                                                                       : s->columns;
  return sinter::where(count == extent, full({}, std::nan(""), {.dtype = t, .device = where}), found);
}

/// First minor of each major that has the extreme element.
ndarray arg_of_majors(const sparse_state& s, bool largest) {
  const device where = s.data.device();
  const std::int64_t majors = majors_of(s), minors = minors_of(s);
  const ndarray best = extremes_of_majors(s, largest), counts = counts_of(s);
  ndarray first = full(majors, minors, {.dtype = int64, .device = where}).copy();
  ndarray missing = zeros(majors, {.dtype = int64, .device = where});
  if (entries_of(s) > 0) {
    const ndarray major = majors_of_entries(s), of_major = take(best, major), minor = s.second.astype(int64);
    const ndarray hit = is_inexact(s.data.dtype()) ? (s.data == of_major) | (isnan(s.data)) : s.data == of_major;
    scatter_min(first(major), sinter::where(hit, minor, minors));
    // Entries 0, 1, ... of a major that are at minors 0, 1, ...: the first minor that is not stored comes after them.
    const ndarray rank = arange(entries_of(s), {.device = where}) - take(s.first, major);
    missing = segment_sums((minor == rank).astype(int64), s.first);
  }
  const ndarray zero_counts = (best == 0) & (counts < minors);
  return sinter::where(zero_counts, minimum(first, missing), first);
}

/// The first place in C order that a canonical csr array does not store: entry k lies at place k up to there.
template <class I>
std::int64_t first_missing(const runtime::sparse_matrix& m) {
  const I *const indptr = static_cast<const I*>(m.indptr), *const indices = static_cast<const I*>(m.indices);
  std::int64_t low = 0, high = m.entries;
  while (low < high) {
    const std::int64_t k = low + (high - low) / 2;
    const std::int64_t row = std::upper_bound(indptr, indptr + m.rows + 1, k) - indptr - 1;
    if (row * m.columns + indices[k] == k) low = k + 1;
    else high = k;
  }
  return low;
}
/// Of the flattened matrix, a canonical csr array, by a search of its elements.
ndarray arg_on_host(const sparse_state& s, bool largest) {
  const device where = s.data.device();
  const std::int64_t places = s.rows * s.columns, entries = entries_of(s);
  if (entries == 0) return zeros({}, {.dtype = int64, .device = where});
  const ready_matrix m = ready(s, s.data.dtype());
  const std::int64_t k = (largest ? argmax(s.data) : argmin(s.data)).item<std::int64_t>();
  const bool is_32 = m.matrix.index == dtype::i32;
  const std::int64_t row = searchsorted(s.first, k, "right").item<std::int64_t>() - 1;
  std::int64_t at = row * s.columns + s.second(k).item<std::int64_t>();
  const ndarray best = s.data(k);
  const ndarray beyond = largest ? best > 0 : best < 0;
  if (entries < places && !logical_or(beyond, best != best).item<bool>()) {
    const std::int64_t missing = is_32 ? first_missing<std::int32_t>(m.matrix) : first_missing<std::int64_t>(m.matrix);
    at = (best == 0).item<bool>() ? std::min(at, missing) : missing;
  }
  return full({}, at, {.dtype = int64, .device = where});
}

/// Of the flattened matrix: of rows that have the extreme element the first one, there the first column.
ndarray arg_extreme(const char* function, const sparse_array& a, optional_axis axis, bool largest) {
  state_ref s = canonical(state_of(a, function));
  const dtype t = s->data.dtype();
  if (is_complex(t)) fail<dtype_error>(function, "complex elements have no order here: ", t);
  if (is_bool(t)) s = with_elements(*s, s->data.astype(uint8));
  if (axis) {
    const int gone = removed_axis(function, *axis, *s);
    require_elements(function, gone == 0 ? s->rows : s->columns);
    return arg_of_majors(*grouped_for(s, gone), largest);
  }
  require_elements(function, s->rows * s->columns);
  const state_ref rows = grouped_for(s, 1);
  if (kernels_of(*rows).arranges() && !is_recorded_for_later()) return arg_on_host(*rows, largest);
  const ndarray best = extremes_of_majors(*rows, largest);
  const ndarray row = largest ? argmax(best) : argmin(best);
  return row * s->columns + take(arg_of_majors(*rows, largest), row);
}

}  // namespace

/// A 1 or 1 A, in `type`.
ndarray sums_of(const state_ref& s, bool of_rows, dtype type) {
  const dtype wide = sum_dtype(type);
  const runtime::device_id device = device_of(*s);
  runtime::sparse& kernels = kernels_of(*s);
  runtime::sparse_product p;
  p.transposed = of_rows == (s->format == format::csc);
  state_ref matrix = s;
  if (p.transposed && !kernels.multiplies_transposed()) {
    matrix = kept_regrouped(s);
    p.transposed = false;
  }
  value sums = unset_leaf(dims{of_rows ? s->rows : s->columns}, wide, device);
  if (sums->size() > 0) {
    const ready_matrix m = ready(*matrix, wide);
    const runtime::buffer scratch(runtime::get_backend(device), kernels.multiply_scratch(m.matrix, p));
    kernels.multiply(m.matrix, p, address_to_write(sums), scratch.data());
    m.pass_faults(sums);
  }
  return wrap(sums).astype(type, /*copy=*/false);
}

}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace sparse {

ndarray sparse_array::sum(optional_axis axis, const element_kw& kw) const {
  if (kw.dtype) return astype(*kw.dtype).sum(axis).astype(*kw.dtype, /*copy=*/false);
  auto s = ops::state_of(*this, "sum");
  if (is_bool(s->data.dtype())) s = ops::canonical(s);  // bools of equal place are or-ed
  if (!axis) return sinter::sum(s->data);
  const int gone = ops::removed_axis("sum", *axis, *s);
  if (ops::elements_are_followed(*s) && !is_complex(s->data.dtype())) {
    const ndarray kept = gone == 1 ? ops::rows_of_entries(*s) : ops::columns_of_entries(*s);
    const std::int64_t extent = gone == 1 ? s->rows : s->columns;
    return bincount(kept, {.weights = s->data, .minlength = extent})
        .astype(ops::accumulator_of(s->data.dtype()), false);
  }
  return ops::sums_of(ops::compressed(s), gone == 1, ops::accumulator_of(s->data.dtype()));
}
ndarray sparse_array::mean(optional_axis axis, const element_kw& kw) const {
  if (kw.dtype) return astype(*kw.dtype).mean(axis).astype(*kw.dtype, /*copy=*/false);
  const auto& s = ops::state_of(*this, "mean");
  const sinter::dtype type = is_inexact(s->data.dtype()) ? s->data.dtype() : float64;
  const sparse_array x = astype(type);
  const std::int64_t count = !axis                                       ? s->rows * s->columns
                             : ops::removed_axis("mean", *axis, *s) == 1 ? s->columns
                                                                         : s->rows;
  return x.sum(axis) / static_cast<double>(count);
}
ndarray sparse_array::min(optional_axis axis) const { return ops::extreme("min", *this, axis, false); }
ndarray sparse_array::max(optional_axis axis) const { return ops::extreme("max", *this, axis, true); }
ndarray sparse_array::nanmin(optional_axis axis) const { return ops::nan_extreme("nanmin", *this, axis, false); }
ndarray sparse_array::nanmax(optional_axis axis) const { return ops::nan_extreme("nanmax", *this, axis, true); }
ndarray sparse_array::argmin(optional_axis axis) const { return ops::arg_extreme("argmin", *this, axis, false); }
ndarray sparse_array::argmax(optional_axis axis) const { return ops::arg_extreme("argmax", *this, axis, true); }
ndarray sparse_array::count_nonzero(optional_axis axis) const {
  const auto s = ops::canonical(ops::state_of(*this, "count_nonzero"));
  if (!axis) return sinter::count_nonzero(s->data);
  return ops::sparse_access::make(ops::with_elements(*s, s->data != 0)).sum(axis);
}

ndarray norm(const sparse_array& a, std::string_view ord) {
  const auto s = ops::canonical(ops::state_of(a, "norm"));
  if (ord == "fro") return sinter::sqrt(sinter::sum(ops::squared_moduli(s->data)));
  const ndarray moduli = absolute(s->data);
  const sparse_array m = ops::sparse_access::make(ops::with_elements(*s, moduli));
  if (ord == "1") return sinter::max(m.sum(0));
  if (ord == "-1") return sinter::min(m.sum(0));
  if (ord == "inf") return sinter::max(m.sum(1));
  if (ord == "-inf") return sinter::min(m.sum(1));
  ops::fail<value_error>("norm", "no norm \"", ord, "\" of a sparse array; there are fro, 1, -1, inf, -inf");
}
ndarray norm(const sparse_array& a, std::int64_t axis) {
  const auto s = ops::canonical(ops::state_of(a, "norm"));
  return sinter::sqrt(ops::sparse_access::make(ops::with_elements(*s, ops::squared_moduli(s->data))).sum(axis));
}

}  // namespace sparse
}  // namespace sinter::inline v0
