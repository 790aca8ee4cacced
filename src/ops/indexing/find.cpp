// Positions of elements: nonzero and related functions, coordinates and flat positions, choose.
#include "sinter/indexing.hpp"

#include <algorithm>

#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/indexing/index_mode.hpp"
#include "ops/indexing/advanced_index.hpp"
#include "ops/indexing/select.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"

namespace sinter::ops {

index_mode check_mode(std::string_view mode, const char* function) {
  if (mode == "raise") return index_mode::raise;
  if (mode == "wrap") return index_mode::wrap;
  if (mode == "clip") return index_mode::clip;
  fail<value_error>(function, "mode must be \"raise\", \"wrap\" or \"clip\", not \"", mode, "\"");
}

value bring_into_range(const value& index, std::int64_t extent, index_mode mode) {
  const auto number = [&](std::int64_t v) { return integer_of(v, index->device); };
  if (mode == index_mode::raise || extent == 0) return index;
  if (mode == index_mode::wrap) return map_of(opcode::remainder, dtype::i64, index, number(extent));
  return map_of(opcode::minimum, dtype::i64, map_of(opcode::maximum, dtype::i64, index, number(0)), number(extent - 1));
}

value integers_of(const ndarray& x, const char* function) {
  const value v = value_of(x, function);
  if (!is_integer(v->type)) fail<dtype_error>(function, "indices must be integers, not ", v->type);
  return graph::record_cast(v, dtype::i64);
}

}  // namespace sinter::ops

namespace sinter::inline v0 {

using namespace ops;

namespace {

value flat_positions(const ndarray& x, const char* function) { return true_positions(truth_of(value_of(x, function))); }

std::vector<ndarray> unravelled(const value& positions, const dims& shape) {
  std::vector<ndarray> out;
  for (int a = 0; a < shape.size(); ++a) out.push_back(wrap(unravel_one(positions, shape, a)));
  return out;
}

/// Throws an error for the first index outside [0, extent). Synchronises.
template <class Error = index_error>
void require_in_range(const value& index, std::int64_t extent, const char* function, const std::string& what) {
  const ndarray list = wrap(reshape_value(index, dims{core::element_count(index->shape)}));
  const ndarray bad = logical_or(less(list, 0), greater_equal(list, extent));
  if (list.size() == 0 || !bool(any(bad))) return;
  const auto value = take(list, argmax(bad)).item<std::int64_t>();
  fail<Error>(function, "index ", value, " is out of range for ", what);
}

std::vector<ndarray> triangle(std::int64_t n, std::int64_t k, std::optional<std::int64_t> m, bool upper,
                              const char* function) {
  const dims shape{n, m.value_or(n)};
  core::checked_count(shape, function);
  const auto device = runtime::default_device();
  const ndarray row = wrap(graph::record_iota(dims{shape[0], 1}, 0, device));
  const ndarray column = wrap(graph::record_iota(dims{1, shape[1]}, 1, device));
  return nonzero(upper ? greater_equal(column - row, k) : less_equal(column - row, k));
}

}  // namespace

std::vector<ndarray> nonzero(const ndarray& x) {
  const dims shape = view_of(x, "nonzero").shape;
  if (shape.empty()) throw value_error("[nonzero] an array of shape () has no axes; use atleast_1d");
  return unravelled(flat_positions(x, "nonzero"), shape);
}

ndarray argwhere(const ndarray& x) {
  const dims shape = view_of(x, "argwhere").shape;
  const value positions = flat_positions(x, "argwhere");
  if (shape.empty()) return zeros({positions->shape[0], 0}, {.dtype = dtype::i64, .device = x.device()});
  return stack(unravelled(positions, shape), 1);
}

ndarray flatnonzero(const ndarray& x) { return wrap(flat_positions(x, "flatnonzero")); }

ndarray compress(const ndarray& condition, const ndarray& x, optional_axis axis) {
  if (condition.ndim() != 1)
    fail<shape_error>("compress", "a condition of shape ", condition.shape(), " has not rank 1");
  if (!axis && condition.size() == x.size()) return extract(condition, x);
  return take(x, flatnonzero(condition), axis);
}

ndarray extract(const ndarray& condition, const ndarray& x) {
  if (condition.size() != x.size())
    fail<shape_error>("extract", "a condition of shape ", condition.shape(), " for an array of shape ", x.shape());
  common_device(condition, x, "extract");
  return wrap(true_elements(value_of(x), truth_of(value_of(condition))));
}

ndarray choose(const ndarray& which, const std::vector<ndarray>& choices, const mode_kw& kw) {
  if (choices.empty()) throw value_error("[choose] there are no choices");
  const auto count = static_cast<std::int64_t>(choices.size());
  const index_mode mode = check_mode(kw.mode, "choose");
  const value index = integers_of(which, "choose");
  if (mode == index_mode::raise)
    require_in_range<value_error>(index, count, "choose", std::to_string(count) + " choices");
  const ndarray chosen = wrap(bring_into_range(index, count, mode));
  const dtype type = promoted_dtype(choices, "choose");
  ndarray out = choices.back().astype(type, false);
  for (std::int64_t k = count - 2; k >= 0; --k)
    out = where(equal(chosen, k), choices[static_cast<std::size_t>(k)], out);
  if (count == 1) out = where(equal(chosen, 0), out, out);  // broadcasts
  return out;
}
ndarray choose(const ndarray& which, std::initializer_list<operand> choices, const mode_kw& kw) {
  std::vector<ndarray> arrays;
  for (const operand& c : choices)
    arrays.push_back(c.is_array() ? c.array()
                                  : full({}, c, {.dtype = c.number().default_dtype(), .device = which.device()}));
  return choose(which, arrays, kw);
}

std::vector<ndarray> detail::open_mesh(std::initializer_list<index> sequences) {
  std::vector<ndarray> out;
  int axis = 0;
  for (const index& i : sequences) {
    if (i.kind() != index_kind::array && i.kind() != index_kind::list)
      throw value_error("[ix_] only arrays and lists make a mesh");
    ndarray s;
    if (i.kind() == index_kind::array) {
      s = i.array();
    } else {
      s = array(i.items().numbers().data(), i.items().shape());
      if (i.items().is_mask()) s = not_equal(s, 0);
    }
    if (s.ndim() != 1) fail<shape_error>("ix_", "a sequence of shape ", s.shape(), " has not rank 1");
    require_index_dtype(s.dtype(), "ix_");
    if (is_bool(s.dtype())) s = flatnonzero(s);
    dims shape(static_cast<int>(sequences.size()), 1);
    shape[axis++] = s.size();
    out.push_back(wrap(reshape_value(value_of(s), shape)));
  }
  return out;
}

namespace {

bool first_axis_fastest(char order, const char* function) {
  if (order != 'C' && order != 'F') fail<value_error>(function, "order is 'C' or 'F', not '", order, "'");
  return order == 'F';
}

}  // namespace

std::vector<ndarray> unravel_index(const operand& positions, const shape_t& shape, const order_kw& kw) {
  const ndarray list = positions.is_array() ? positions.array() : full({}, positions);
  const value v = integers_of(list, "unravel_index");
  const bool reversed = first_axis_fastest(kw.order, "unravel_index");
  dims extents = to_dims(shape);
  const std::int64_t count = core::checked_count(extents, "unravel_index");
  require_in_range(v, count, "unravel_index",
                   "shape " + to_string(shape) + " with " + std::to_string(count) + " elements");
  if (!reversed) return unravelled(v, extents);
  std::reverse(extents.begin(), extents.end());
  std::vector<ndarray> out = unravelled(v, extents);
  std::reverse(out.begin(), out.end());
  return out;
}

ndarray ravel_multi_index(const std::vector<ndarray>& coordinates, const shape_t& shape, const ravel_index_kw& kw) {
  const dims extents = to_dims(shape);
  core::checked_count(extents, "ravel_multi_index");
  if (coordinates.size() != shape.size() || coordinates.empty())
    fail<shape_error>("ravel_multi_index", coordinates.size(), " coordinates for shape ", to_string(shape));
  if (!kw.modes.empty() && kw.modes.size() != shape.size())
    fail<value_error>("ravel_multi_index", kw.modes.size(), " modes for shape ", to_string(shape));
  dims strides = core::contiguous_strides(extents);
  if (first_axis_fastest(kw.order, "ravel_multi_index")) {
    dims reversed = extents;
    std::reverse(reversed.begin(), reversed.end());
    strides = core::contiguous_strides(reversed);
    std::reverse(strides.begin(), strides.end());
  }
  ndarray sum;
  for (int a = 0; a < extents.size(); ++a) {
    const auto at = static_cast<std::size_t>(a);
    const value v = integers_of(coordinates[at], "ravel_multi_index");
    const index_mode mode = check_mode(kw.modes.empty() ? kw.mode : kw.modes[at], "ravel_multi_index");
    if (mode == index_mode::raise)
      require_in_range(v, extents[a], "ravel_multi_index",
                       "axis " + std::to_string(a) + " with extent " + std::to_string(extents[a]));
    const ndarray term = wrap(bring_into_range(v, extents[a], mode)) * strides[a];
    sum = a == 0 ? term : sum + term;
  }
  return sum;
}

std::vector<ndarray> diag_indices(std::int64_t n, std::int64_t ndim) {
  if (ndim < 0) throw value_error("[diag_indices] ndim is negative");
  return std::vector<ndarray>(list_length(ndim, "diag_indices"), arange(n));
}
std::vector<ndarray> tril_indices(std::int64_t n, std::int64_t k, std::optional<std::int64_t> m) {
  return triangle(n, k, m, false, "tril_indices");
}
std::vector<ndarray> triu_indices(std::int64_t n, std::int64_t k, std::optional<std::int64_t> m) {
  return triangle(n, k, m, true, "triu_indices");
}

}  // namespace sinter::inline v0
