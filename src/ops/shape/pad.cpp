// Borders around arrays. Modes that only choose elements are gathers along each axis. Of large arrays the inner part is copied,
// and the borders alone are gathered.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/elementwise_values.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/base/unset_array.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/padding.hpp"
#include "sinter/reduce.hpp"
#include "sinter/statistics.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

struct border {
  int axis = 0;
  std::int64_t before = 0, behind = 0, count = 0;  // of the array
};

/// int64 positions along the axis, counted from the array's first element, with extent 1 along the others.
ndarray positions(const value& v, const border& b) {
  dims shape(v->shape.size(), 1);
  shape[b.axis] = b.before + b.count + b.behind;
  return wrap(graph::record_iota(shape, b.axis, v->device)) - b.before;
}

value gathered(const value& v, const ndarray& from, const border& b) {
  dims shape = v->shape;
  shape[b.axis] = b.before + b.count + b.behind;
  core::checked_count(shape, "pad");
  return graph::record_gather(v, value_of(from), b.axis, shape, graph::payload::gather::in_range);
}

/// The array with constants before and behind.
value surrounded(const value& v, const border& b, const std::pair<scalar, scalar>& ends) {
  const auto number = [&](const scalar& x) {
    return graph::record_scalar(scalar_of(x, v->type, "pad"), v->type, dims(), v->device);
  };
  const ndarray at = positions(v, b);
  const value front = value_of(less(at, 0)), back = value_of(greater_equal(at, b.count));
  if (b.count == 0) {
    dims shape = v->shape;
    shape[b.axis] = b.before + b.behind;
    return broadcast_value(select_of(front, number(ends.first), number(ends.second)), shape);
  }
  const value inside = gathered(v, clip(at, 0, b.count - 1), b);
  return select_of(front, number(ends.first), select_of(back, number(ends.second), inside));
}

/// Positions that the array repeats: each element again after `period`, backwards from the array's end on if `mirrored`.
ndarray repeated(const ndarray& at, std::int64_t count, std::int64_t period) {
  const ndarray in_period = remainder(at, period);
  return period == count ? in_period : minimum(in_period, (period == 2 * count ? period - 1 : period) - in_period);
}

/// Reflections that go on with the slope at the edge, no further at once than the array reaches.
ndarray odd_reflection(ndarray x, border b, bool with_edge) {
  // As NumPy: the part that is reflected has whole periods of the array.
  const std::int64_t original = b.count;
  while (b.before > 0 || b.behind > 0) {
    const std::int64_t n = x.shape(b.axis);
    const std::int64_t length = with_edge ? n / original * original : (n - 1) / (original - 1) * (original - 1);
    const std::int64_t skip = with_edge ? 0 : 1;
    const std::int64_t left = std::min(b.before, length), right = std::min(b.behind, length);
    const ndarray first = slice_of(x, b.axis, 0, 1), last = slice_of(x, b.axis, n - 1, n);
    const ndarray front = 2 * first - flip(slice_of(x, b.axis, skip, skip + left), b.axis);
    const ndarray back = 2 * last - flip(slice_of(x, b.axis, n - skip - right, n - skip), b.axis);
    x = concatenate({front.astype(x.dtype(), false), x, back.astype(x.dtype(), false)}, b.axis);
    b.before -= left;
    b.behind -= right;
  }
  return x;
}

/// `width` numbers from an end value to an edge, which is not one of them.
ndarray ramp(const ndarray& edge, const scalar& end, std::int64_t width, int axis, bool backwards) {
  const dtype type = edge.dtype(), inner = is_complex(type) ? complex128 : float64;
  dims shape(edge.ndim(), 1);
  shape[axis] = width;
  const ndarray i = wrap(graph::record_cast(graph::record_iota(shape, axis, view_of(edge, "pad").device()), inner));
  const ndarray start = full({}, end, {.dtype = inner, .device = edge.device()});
  const ndarray step = (edge.astype(inner) - start) / static_cast<double>(std::max<std::int64_t>(width, 1));
  ndarray out = i * step + start;
  if (is_integer(type)) out = floor(out);
  return (backwards ? flip(out, axis) : out).astype(type, false);
}

ndarray statistic(std::string_view mode, const ndarray& part, int axis) {
  if (mode == "maximum") return max(part, axis, {.keepdims = true});
  if (mode == "minimum") return min(part, axis, {.keepdims = true});
  const ndarray out = mode == "mean" ? mean(part, axis, {.keepdims = true}) : median(part, axis, {.keepdims = true});
  return (is_integer(part.dtype()) ? rint(out) : out).astype(part.dtype(), false);
}

ndarray with_statistics(const ndarray& x, const border& b, std::string_view mode,
                        const std::optional<before_and_after<extent>>& lengths,
                        const std::pair<extent, extent>& length) {
  const auto taken = [&](std::int64_t wanted) {
    const std::int64_t n = lengths ? std::min(wanted, b.count) : b.count;
    if (n < 0) fail<value_error>("pad", "stat_length is ", n);
    if (n == 0 && (mode == "maximum" || mode == "minimum")) fail<value_error>("pad", "stat_length 0 has no ", mode);
    return n;
  };
  const auto repeated_along = [&](const ndarray& s, std::int64_t width) {
    dims shape = view_of(s, "pad").shape;
    shape[b.axis] = width;
    return broadcast_to(s, to_shape(shape));
  };
  const ndarray front = statistic(mode, slice_of(x, b.axis, 0, taken(length.first.value)), b.axis);
  const ndarray back = statistic(mode, slice_of(x, b.axis, b.count - taken(length.second.value), b.count), b.axis);
  return concatenate({repeated_along(front, b.before), x, repeated_along(back, b.behind)}, b.axis);
}

/// Arrays large enough that borders cost less by themselves than as a part of every element's address.
constexpr std::int64_t large = std::int64_t{1} << 15;

/// A padded array whose inner part is copied and whose borders alone are chosen from `padded`, which is not stored.
ndarray assembled(const value& inner, const value& padded, const std::vector<border>& borders) {
  const ndarray out = unset_array(padded->shape, padded->type, padded->device, 2 * borders.size() + 1);
  const ndarray all = wrap(padded);
  ndarray region = out, source = all;
  // Axis after axis the borders in the room that the axes before have left.
  for (const border& b : borders) {
    const auto fill = [&](std::int64_t first, std::int64_t last) {
      if (first == last || region.size() == 0) return;
      graph::write(*ndarray_access::ref(slice_of(region, b.axis, first, last)),
                   value_of(slice_of(source, b.axis, first, last)));
    };
    fill(0, b.before);
    fill(b.before + b.count, b.before + b.count + b.behind);
    region = slice_of(region, b.axis, b.before, b.before + b.count);
    source = slice_of(source, b.axis, b.before, b.before + b.count);
  }
  if (inner->size() != 0) graph::write(*ndarray_access::ref(region), inner);
  return out;
}

template <class T>
std::pair<T, T> pair_for(const before_and_after<T>& all, int axis, int rank, const char* what) {
  if (all.size() != 1 && static_cast<int>(all.size()) != rank)
    fail<shape_error>("pad", what, ": ", all.size(), " pairs for ", rank, " axes");
  return all[all.size() == 1 ? 0 : static_cast<std::size_t>(axis)];
}

/// Announced as "pad", where constants surround the array, with how many there are before and behind each axis. It is also
/// recorded.
std::optional<std::vector<ndarray>> announced(const ndarray& x, const before_and_after<extent>& width, pad_kw kw) {
  kw.mode = kw.mode == "constant" ? "constant" : "empty";  // not the caller's text
  kw.reflect_type = "even";
  opaque_call call{
      "pad", {x}, {}, {}, [width, kw](std::span<const ndarray> a) { return results_of(pad(a[0], width, kw)); }, true};
  for (int a = 0; a < x.ndim(); ++a) {
    const auto [before, behind] = pair_for(width, a, static_cast<int>(x.ndim()), "the width");
    call.numbers.insert(call.numbers.end(), {before.value, behind.value});
  }
  return run_intercepted(call);
}

}  // namespace

ndarray pad(const ndarray& x, const before_and_after<extent>& width, const pad_kw& kw) {
  const std::string_view mode = kw.mode;
  static constexpr std::string_view modes[] = {"constant", "empty",   "edge",    "linear_ramp", "maximum", "mean",
                                               "median",   "minimum", "reflect", "symmetric",   "wrap"};
  if (std::find(std::begin(modes), std::end(modes), mode) == std::end(modes))
    fail<value_error>("pad", "there is no mode '", mode, "'");
  if (kw.reflect_type != "even" && kw.reflect_type != "odd")
    fail<value_error>("pad", "reflect_type is 'even' or 'odd', not '", kw.reflect_type, "'");
  value v = value_of(x, "pad");
  if (is_intercepting() && (mode == "constant" || mode == "empty"))
    if (auto r = announced(x, width, kw)) return (*r)[0];
  const value inner = v;
  const int rank = v->shape.size();
  const dims given = v->shape;
  std::vector<border> borders;
  bool chooses = true;  // only elements and constants
  for (int a = 0; a < rank; ++a) {
    const auto [before, behind] = pair_for(width, a, rank, "the width");
    border b{a, before.value, behind.value, v->shape[a]};
    if (b.before < 0 || b.behind < 0) fail<value_error>("pad", "a width of ", std::min(b.before, b.behind));
    if (b.before > core::most_elements || b.behind > core::most_elements)
      core::checked_count(dims{core::most_elements + 1}, "pad");
    if (b.before == 0 && b.behind == 0) continue;
    borders.push_back(b);
    if (mode == "constant" || mode == "empty") {
      const std::pair<scalar, scalar> zero(0, 0);
      v = surrounded(v, b, mode == "empty" ? zero : pair_for(kw.constant_values, a, rank, "constant_values"));
      continue;
    }
    if (given[a] == 0) fail<value_error>("pad", "mode '", mode, "' cannot extend axis ", a, " of shape ", given);
    const bool reflects = mode == "reflect" || mode == "symmetric";
    if (mode == "edge" || (reflects && b.count == 1)) {
      v = gathered(v, clip(positions(v, b), 0, b.count - 1), b);
    } else if (mode == "wrap") {
      v = gathered(v, repeated(positions(v, b), b.count, b.count), b);
    } else if (reflects && kw.reflect_type == "even") {
      v = gathered(v, repeated(positions(v, b), b.count, mode == "reflect" ? 2 * (b.count - 1) : 2 * b.count), b);
    } else if (reflects) {
      chooses = false;
      v = value_of(odd_reflection(wrap(v), b, mode == "symmetric"));
    } else if (mode == "linear_ramp") {
      chooses = false;
      const auto ends = pair_for(kw.end_values, a, rank, "end_values");
      const ndarray all = wrap(v);
      v = value_of(concatenate({ramp(slice_of(all, a, 0, 1), ends.first, b.before, a, false), all,
                                ramp(slice_of(all, a, b.count - 1, b.count), ends.second, b.behind, a, true)},
                               a));
    } else {
      chooses = false;
      const std::pair<extent, extent> none(0, 0);
      v = value_of(with_statistics(wrap(v), b, mode, kw.stat_length,
                                   kw.stat_length ? pair_for(*kw.stat_length, a, rank, "stat_length") : none));
    }
  }
  return chooses && v->size() >= large ? assembled(inner, v, borders) : wrap(v);
}

}  // namespace sinter::inline v0
