// Sets: sort, mark the first element of each run of equal ones, select those.
#include "sinter/grad.hpp"
#include "sinter/sets.hpp"

#include "ops/base/differentiating.hpp"
#include "ops/base/algorithm_calls.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/one_memory.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/indexing/select.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/kernel.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/search.hpp"
#include "sinter/sort.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

/// Entries of a table for each element of the arrays that it serves, up to which it is worth while.
constexpr std::uint64_t table_entries = 6;

struct wanted {
  bool index = false, inverse = false, counts = false, equal_nan = false;
};

ndarray positions_of(const ndarray& x, std::int64_t n) {
  return arange(n, {.dtype = dtype::i64, .device = x.device()});
}

ndarray elements(const ndarray& data, const ndarray& flags) {
  if (is_in_parts(data, "unique")) return ndarray(data(flags)).copy();
  return wrap(true_elements(value_of(data), value_of(flags)));
}

/// Whether each element, or row, of a sorted array is the first of a run of equal ones.
ndarray run_starts(const ndarray& sorted, bool equal_nan) {
  const ndarray i = positions_of(sorted, sorted.shape(0));
  const ndarray before = take(sorted, maximum(i - 1, 0), 0);
  ndarray differs = sorted != before;
  if (equal_nan && is_inexact(sorted.dtype())) differs = differs & ~(isnan(sorted) & isnan(before));
  if (sorted.ndim() == 2) differs = any(differs, 1);
  return differs | (i == 0);
}

/// index, inverse (1-D) and counts from the run flags and the sorting permutation.
void fill_rest(unique_result& out, const ndarray& starts, const ndarray& order, const wanted& w) {
  const std::int64_t n = starts.size();
  if (w.index || w.counts) {
    const ndarray first = wrap(true_positions(value_of(starts)));
    if (w.index) out.index = take(order, first);
    if (w.counts) {
      const ndarray k = positions_of(first, first.size());
      const std::int64_t last = first.size() - 1;
      out.counts = where(k == last, n, take(first, minimum(k + 1, last))) - first;
    }
  }
  if (w.inverse) {
    static const auto& scatter =
        *new elementwise_kernel("int64 at, int64 run", "raw int64 inverse", "inverse[at] = run - 1;", "unique_inverse");
    out.inverse = zeros({n}, {.dtype = dtype::i64, .device = order.device()});
    const ndarray run = wrap(scanned(runtime::scan_op::sum, value_of(starts.astype(dtype::i64)), 0));
    if (n != 0) scatter(order, run, {.out = {out.inverse}});
  }
}

unique_result unique_flat(const ndarray& x, const wanted& w, const char* function) {
  // Announced by its own name, with what is wanted (index, inverse, counts) and whether NaN are equal; results: those.
  if (is_in_parts(x, function)) {
    const auto again = [=](std::span<const ndarray> a) {
      const unique_result r = unique_flat(a[0], w, function);
      std::vector<ndarray> out{r.values};
      for (const ndarray& one : {r.index, r.inverse, r.counts})
        if (one.defined()) out.push_back(one);
      return out;
    };
    if (auto r = intercept(function, {&x}, {w.index, w.inverse, w.counts, w.equal_nan}, again)) {
      unique_result out{.values = (*r)[0], .index = {}, .inverse = {}, .counts = {}};
      std::size_t next = 1;
      if (w.index) out.index = (*r)[next++];
      if (w.inverse) out.inverse = (*r)[next++];
      if (w.counts) out.counts = (*r)[next++];
      return out;
    }
  }
  if (is_followed(value_of(x, function))) {  // the values are selected by their positions
    wanted with_index = w;
    with_index.index = true;
    unique_result r = unique_flat(stop_gradient(x), with_index, function);
    r.values = take(x, r.index);
    if (!w.index) r.index = ndarray();
    return r;
  }
  const value flat = reshape_value(value_of(x, function), dims{x.size()});
  const runtime::row_layout l{flat->type, 1, flat->size()};
  ndarray sorted, order;
  if (w.index || w.inverse) {
    const value keys = evaluated(flat);
    order = wrap(argsort_rows(keys, l, false));
    sorted = wrap(evaluated(value_of(take(wrap(keys), order))));
  } else {
    sorted = wrap(sorted_rows(flat, l, false));
  }
  const ndarray starts = wrap(evaluated(value_of(run_starts(sorted, w.equal_nan))));
  unique_result out;
  out.values = elements(sorted, starts);
  fill_rest(out, starts, order, w);
  if (w.inverse) out.inverse = reshape(out.inverse, x.shape());
  return out;
}

unique_result unique_along(const ndarray& x, std::int64_t axis, const wanted& w) {
  const dims shape = view_of(x, "unique").shape;
  const int a = normalize_axis(axis, shape, "unique");
  const ndarray front = moveaxis(x, a, 0);
  const std::int64_t n = shape[a], width = n == 0 ? 0 : x.size() / n;
  const ndarray rows = reshape(front, {n, width});
  std::vector<ndarray> keys;
  for (std::int64_t k = width; k-- > 0;) keys.push_back(rows.T()(k));
  const ndarray order = keys.empty() ? positions_of(x, n) : lexsort(keys);
  const ndarray starts = wrap(evaluated(value_of(run_starts(take(rows, order, 0), false))));
  unique_result out;
  const ndarray first = take(order, wrap(true_positions(value_of(starts))));
  out.values = take(x, first, a);
  fill_rest(out, starts, order, w);
  return out;
}

ndarray sorted_join(const ndarray& x, const ndarray& y, bool assume_unique) {
  const wanted one_nan{.equal_nan = true};
  const ndarray a = assume_unique ? ravel(x) : unique_flat(x, one_nan, "setxor1d").values;
  const ndarray b = assume_unique ? ravel(y) : unique_flat(y, one_nan, "setxor1d").values;
  return sort(concatenate({a, b}));
}

/// Integers below `end` from `low` on.
struct integer_range {
  ndarray low;
  std::uint64_t width = 0;
};
integer_range range_of(const ndarray& x) {
  const ndarray low = min(x), high = max(x);
  eval(low, high);  // in one pass
  const auto number = [&](const ndarray& n) {
    return x.dtype() == dtype::u64 ? n.item<std::uint64_t>() : static_cast<std::uint64_t>(n.item<std::int64_t>());
  };
  return {low, number(high) - number(low)};
}

/// Which elements of x are marked in a table of all integers between the extremes of `test`; undefined where that would be
/// large beside the arrays. The last entry is that of all others.
ndarray found_in_table(const ndarray& x, const ndarray& test) {
  const integer_range range = range_of(test);
  const auto sizes = static_cast<std::uint64_t>(x.size() + test.size());
  if (range.width >= table_entries * sizes) return {};
  static const auto& mark =
      *new elementwise_kernel("T x, T low", "raw bool table",
                              "table[(unsigned long long)x - (unsigned long long)low] = true;", "mark_elements");
  static const auto& look_up = *new function("bool is_marked(T x, T low, raw bool table)", R"(
  unsigned long long at = (unsigned long long)x - (unsigned long long)low, last = table.size() - 1;
  return table[at < last ? at : last];)");
  const ndarray table = zeros({static_cast<std::int64_t>(range.width) + 2}, {.dtype = dtype::b1, .device = x.device()});
  mark(test, range.low, {.out = {table}});
  return look_up(x, range.low, table);
}

}  // namespace

ndarray unique_values(const ndarray& x) { return unique_flat(x, {}, "unique_values").values; }
unique_counts_result unique_counts(const ndarray& x) {
  unique_result r = unique_flat(x, {.counts = true}, "unique_counts");
  return {r.values, r.counts};
}
unique_inverse_result unique_inverse(const ndarray& x) {
  unique_result r = unique_flat(x, {.inverse = true}, "unique_inverse");
  return {r.values, r.inverse};
}
unique_all_result unique_all(const ndarray& x) {
  unique_result r = unique_flat(x, {.index = true, .inverse = true, .counts = true}, "unique_all");
  return {r.values, r.index, r.inverse, r.counts};
}

unique_result unique(const ndarray& x, const unique_kw& kw) {
  const wanted w{kw.return_index, kw.return_inverse, kw.return_counts, kw.equal_nan};
  return kw.axis ? unique_along(x, *kw.axis, w) : unique_flat(x, w, "unique");
}

intersect_result intersect1d(const ndarray& x, const ndarray& y, const intersect_kw& kw) {
  unique_result a{.values = ravel(x), .index = {}, .inverse = {}, .counts = {}}, b = a;
  b.values = ravel(y);
  if (!kw.assume_unique) {
    a = unique_flat(x, {.index = kw.return_indices, .equal_nan = true}, "intersect1d");
    b = unique_flat(y, {.index = kw.return_indices, .equal_nan = true}, "intersect1d");
  }
  const ndarray both = concatenate({a.values, b.values});
  const std::int64_t n = both.size();
  intersect_result out;
  if (!kw.return_indices) {
    const ndarray sorted = sort(both);
    const ndarray head = sorted(slice(0, n == 0 ? 0 : n - 1));
    out.values = elements(head, head == sorted(slice(n == 0 ? 0 : 1, n)));
    return out;
  }
  const ndarray order = argsort(both), sorted = take(both, order);
  const std::int64_t last = n == 0 ? 0 : n - 1, next = n == 0 ? 0 : 1;
  const ndarray head = sorted(slice(0, last));
  const ndarray same = wrap(evaluated(value_of(head == sorted(slice(next, n)))));
  out.values = elements(head, same);
  out.indices1 = elements(order(slice(0, last)), same);
  out.indices2 = elements(order(slice(next, n)), same) - a.values.size();
  if (a.index.defined()) {
    out.indices1 = take(a.index, out.indices1);
    out.indices2 = take(b.index, out.indices2);
  }
  return out;
}

ndarray union1d(const ndarray& x, const ndarray& y) {
  return unique_flat(concatenate({x, y}, std::nullopt), {.equal_nan = true}, "union1d").values;
}

ndarray setdiff1d(const ndarray& x, const ndarray& y, const set_kw& kw) {
  const ndarray a = kw.assume_unique ? ravel(x) : unique_flat(x, {.equal_nan = true}, "setdiff1d").values;
  return elements(a, isin(a, y, {.invert = true}));
}

ndarray setxor1d(const ndarray& x, const ndarray& y, const set_kw& kw) {
  const ndarray all = sorted_join(x, y, kw.assume_unique);
  const ndarray starts = run_starts(all, false);
  const std::int64_t n = all.size();
  const ndarray i = positions_of(all, n);
  // An element is unique to its set if it starts a run and the next element starts another, or there is none.
  const ndarray next = where(i == n - 1, true, take(starts, minimum(i + 1, n - 1)));
  return elements(all, starts & next);
}

namespace {

/// Whether each element is one of a few, by comparing it with all of them.
ndarray found_among(const ndarray& e, const ndarray& few) {
  const ndarray flat = ravel(few);
  ndarray found = e == flat(0);
  for (std::int64_t k = 1; k < flat.size(); ++k) found = found | (e == flat(k));
  return found;
}

}  // namespace

ndarray isin(const operand& x, const operand& test, const isin_kw& kw) {
  const auto [type, out_of_range] = strong_type_of(x, test, "isin");
  const auto device = common_device({&x, &test}, "isin");
  if (out_of_range != 0)
    return wrap(bool_of(kw.invert, x.is_array() ? view_of(x.array(), "isin").shape : dims(), device));
  const value element = to_value(x, type, dims(), device, "isin");
  const ndarray e = wrap(element), tested = wrap(to_value(test, type, dims(), device, "isin"));
  if (tested.size() == 0) return wrap(bool_of(kw.invert, element->shape, device));
  if (is_integer(type) && runtime::get_backend(device).host_addressable())
    if (const ndarray marked = found_in_table(e, tested); marked.defined()) return kw.invert ? ~marked : marked;
  // On a GPU each number of elements would be a kernel to compile.
  constexpr std::int64_t most_compared = 16;
  if (tested.size() <= most_compared && runtime::get_backend(device).host_addressable()) {
    const ndarray among = found_among(e, tested);
    return kw.invert ? ~among : among;
  }
  const ndarray sorted = sort(tested, std::nullopt), at = searchsorted(sorted, e);
  const ndarray found = take(sorted, minimum(at, sorted.size() - 1)) == e;
  return kw.invert ? ~found : found;
}

}  // namespace sinter::inline v0
