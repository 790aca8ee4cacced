#include "fuzz/composed.hpp"

#include <unordered_map>
#include <vector>

#include "sinter/apply.hpp"

namespace sinter::fuzz {
namespace {

template <class F>
F found(const std::unordered_map<std::string, F>& table, const std::string& name) {
  const auto at = table.find(name);
  return at == table.end() ? nullptr : at->second;
}

using unary_table = std::unordered_map<std::string, unary_call>;

/// The counts of elements in "repeat counts".
std::vector<std::int64_t> counts(std::int64_t n) {
  std::vector<std::int64_t> out;
  for (std::int64_t k = 0; k < n; ++k) out.push_back(k % 3);
  return out;
}
ndarray windowed(const ndarray& x, ndarray (*window)(std::int64_t, const create_kw&)) {
  return x * window(x.size(), {.device = x.device()});
}

/// Borders, repetitions, parts, selections.
const unary_table& shaped_table() {
  using array_in = const ndarray&;
  static const unary_table table = {
      {"pad constant",
       [](array_in x) {
         return pad(x, {{1, 2}});
       }},
      {"pad reflect", [](array_in x) { return pad(x, 2, "reflect"); }},
      {"pad symmetric", [](array_in x) { return pad(x, 3, "symmetric"); }},
      {"pad maximum", [](array_in x) { return pad(x, 1, "maximum"); }},
      {"pad minimum", [](array_in x) { return pad(x, 2, "minimum", {.stat_length = 2}); }},
      {"pad linear_ramp", [](array_in x) { return pad(x, 1, "linear_ramp"); }},
      {"pad mean", [](array_in x) { return pad(x, 1, "mean"); }},
      {"roll 1", [](array_in x) { return roll(x, 1); }},
      {"roll axes",
       [](array_in x) {
         return roll(x, {1, -2}, axes{0, -1});
       }},
      {"tile", [](array_in x) { return tile(x, {2}); }},
      {"repeat 2", [](array_in x) { return repeat(x, 2, -1); }},
      {"repeat counts", [](array_in x) { return repeat(x, counts(x.shape(0)), 0); }},
      {"insert", [](array_in x) { return insert(x, 1, x(0), {.axis = 0}); }},
      {"insert all", [](array_in x) { return insert(x, 0, 1); }},
      {"delete", [](array_in x) { return delete_(x, -1, {.axis = -1}); }},
      {"delete slice", [](array_in x) { return delete_(x, idx::slice(idx::_, idx::_, 2), {.axis = 0}); }},
      {"resize",
       [](array_in x) {
         return resize(x, {2, 3});
       }},
      {"rollaxis", [](array_in x) { return rollaxis(x, -1).copy(); }},
      {"hsplit", [](array_in x) { return hsplit(x, std::vector<std::int64_t>{1})[1].copy(); }},
      {"array_split", [](array_in x) { return array_split(x, 2)[1].copy(); }},
      {"block",
       [](array_in x) {
         return block({{x, x}, {x, x}});
       }},
      {"diag", [](array_in x) { return diag(x, 1).copy(); }},
      {"diagflat", [](array_in x) { return diagflat(x); }},
      {"diagonal", [](array_in x) { return diagonal(x, {.offset = 0, .axis1 = -1, .axis2 = 0}).copy(); }},
      {"triu", [](array_in x) { return triu(x, 1); }},
      {"indices", [](array_in x) { return x + indices(x.shape(), {.device = x.device()})(-1); }},
      {"sort 0", [](array_in x) { return sort(x, 0); }},
      {"argsort", [](array_in x) { return argsort(x); }},
      {"unique", [](array_in x) { return unique(x).values; }},
      {"flatnonzero", [](array_in x) { return flatnonzero(x); }},
      {"bincount", [](array_in x) { return bincount(x); }},
      {"packbits", [](array_in x) { return packbits(x); }},
      {"packbits rows", [](array_in x) { return packbits(x, {.axis = -1, .bitorder = "little"}); }},
      {"unpackbits", [](array_in x) { return unpackbits(x); }},
      {"select",
       [](array_in x) {
         return select({x > 2, x < 1}, {x, x * x}, 7);
       }},
      {"piecewise",
       [](array_in x) {
         return piecewise(x, {x < 1, x >= 3}, {5, [](const ndarray& y) { return y + y; }});
       }},
      {"apply_along_axis",
       [](array_in x) { return apply_along_axis([](const ndarray& v) { return flip(v) + v; }, 0, x); }}};
  return table;
}

/// Differences, sums, samples, windows.
const unary_table& numeric_table() {
  using array_in = const ndarray&;
  static const unary_table table = {
      {"diff", [](array_in x) { return diff(x); }},
      {"diff twice", [](array_in x) { return diff(x, {.n = 2, .axis = 0, .prepend = x(idx::slice(idx::_, 1))}); }},
      {"cumsum 0", [](array_in x) { return cumsum(x, 0); }},
      {"nancumsum", [](array_in x) { return nancumsum(x, -1); }},
      {"cummax", [](array_in x) { return cummax(x, 0); }},
      {"cummin", [](array_in x) { return cummin(x, -1); }},
      {"logcumsumexp", [](array_in x) { return logcumsumexp(x, -1); }},
      {"gradient twice", [](array_in x) { return gradient(x, {.axis = -1})[0] * 2; }},
      {"gradient", [](array_in x) { return gradient(x, 0.3, {.axis = 0})[0]; }},
      {"trapezoid twice", [](array_in x) { return trapezoid(x) * 2; }},
      {"interp",
       [](array_in x) {
         const create_kw here{.device = x.device()};
         return interp(x, array({-4.0, -2.0, 0.0, 1.0, 5.0}, here), array({0.0, 2.0, 8.0, 4.0, -4.0}, here));
       }},
      {"unwrap", [](array_in x) { return unwrap(x, {.period = 4}); }},
      {"unwrap radians", [](array_in x) { return unwrap(x); }},
      {"vander", [](array_in x) { return vander(x, 3); }},
      {"window sums", [](array_in x) { return sum(sliding_window_view(x, {2}, axes{-1}), -1); }},
      {"window maxima", [](array_in x) { return max(sliding_window_view(x, {2}, axes{-1}), -1); }},
      {"modf fraction", [](array_in x) { return modf(x).fractional; }},
      {"real_if_close", [](array_in x) { return real_if_close(x).copy(); }},
      {"sinc", [](array_in x) { return sinc(x); }},
      {"i0", [](array_in x) { return i0(x); }},
      {"hanning", [](array_in x) { return windowed(x, hanning); }},
      {"hamming", [](array_in x) { return windowed(x, hamming); }},
      {"blackman", [](array_in x) { return windowed(x, blackman); }},
      {"bartlett", [](array_in x) { return windowed(x, bartlett); }},
      {"kaiser", [](array_in x) { return x * kaiser(x.size(), 5.0, {.device = x.device()}); }},
      {"softmax", [](array_in x) { return special::softmax(x, -1); }},
      {"log_softmax", [](array_in x) { return special::log_softmax(x, 0); }},
      {"logsumexp", [](array_in x) { return special::logsumexp(x, -1); }},
      {"polyfit", [](array_in x) { return polyfit(arange(x.size(), {.device = x.device()}), x, 1); }},
      {"cov", [](array_in x) { return cov(x); }}};
  return table;
}

const std::unordered_map<std::string, binary_call>& binary_table() {
  using array_in = const ndarray&;
  static const std::unordered_map<std::string, binary_call> table = {
      {"convolve", [](array_in x, array_in y) { return convolve(x, y); }},
      {"convolve same", [](array_in x, array_in y) { return convolve(x, y, "same"); }},
      {"correlate valid", [](array_in x, array_in y) { return correlate(x, y, "valid"); }},
      {"polyval", [](array_in x, array_in y) { return polyval(x, y); }},
      {"polyadd", [](array_in x, array_in y) { return polyadd(x, y); }},
      {"polysub", [](array_in x, array_in y) { return polysub(x, y); }},
      {"polymul", [](array_in x, array_in y) { return polymul(x, y); }},
      {"divmod quotient", [](array_in x, array_in y) { return divmod(x, y).quotient; }},
      {"divmod remainder", [](array_in x, array_in y) { return divmod(x, y).remainder; }},
      {"concatenate",
       [](array_in x, array_in y) {
         return concatenate({x, y}, -1);
       }},
      {"stack",
       [](array_in x, array_in y) {
         return stack({x, y}, 1);
       }},
      {"column_stack",
       [](array_in x, array_in y) {
         return column_stack({x, y});
       }},
      {"isin", [](array_in x, array_in y) { return isin(x, y); }},
      {"searchsorted", [](array_in x, array_in y) { return searchsorted(sort(x, idx::_), y); }},
      {"setdiff1d", [](array_in x, array_in y) { return setdiff1d(x, y); }},
      {"inner", [](array_in x, array_in y) { return inner(x, y); }},
      {"outer", [](array_in x, array_in y) { return outer(x, y); }},
      {"cross", [](array_in x, array_in y) { return cross(x, y); }},
      {"average", [](array_in x, array_in y) { return ndarray(average(x, {.weights = y})); }},
      {"interp of", [](array_in x, array_in y) { return interp(x, arange(y.size(), {.device = y.device()}), y); }},
      {"trapezoid of", [](array_in x, array_in y) { return trapezoid(x, y); }}};
  return table;
}

const std::unordered_map<std::string, binary_call>& special_binary_table() {
#define SPECIAL(f) {"special." #f, [](const ndarray& x, const ndarray& y) { return special::f(x, y); }},
  static const std::unordered_map<std::string, binary_call> table = {SINTER_SPECIAL_BINARY(SPECIAL)};
#undef SPECIAL
  return table;
}

}  // namespace

unary_call composed_unary(const std::string& name) {
  static const std::unordered_map<std::string, unary_call> table = {
      {"nan_to_num", [](const ndarray& x) { return nan_to_num(x); }},
      {"ravel F", [](const ndarray& x) { return ravel(x, {.order = 'F'}).copy(); }},
      {"sort all", [](const ndarray& x) { return sort(x, idx::_); }},
      {"cumsum all", [](const ndarray& x) { return cumsum(x); }},
      {"frexp mantissa", [](const ndarray& x) { return frexp(x).mantissa; }},
      {"frexp exponent", [](const ndarray& x) { return frexp(x).exponent; }},
      {"modf whole", [](const ndarray& x) { return modf(x).integral; }},
      {"ediff1d", [](const ndarray& x) { return ediff1d(x); }},
      {"pad edge", [](const ndarray& x) { return pad(x, 1, "edge"); }},
      {"pad wrap", [](const ndarray& x) { return pad(x, 2, "wrap"); }},
      {"tril", [](const ndarray& x) { return tril(x); }},
      {"rot90", [](const ndarray& x) { return rot90(x).copy(); }},
      {"trim_zeros", [](const ndarray& x) { return trim_zeros(x).copy(); }}};
  const unary_call shaped = found(shaped_table(), name), numeric = found(numeric_table(), name);
  return shaped ? shaped : numeric ? numeric : found(table, name);
}

binary_call composed_binary(const std::string& name) {
  static const std::unordered_map<std::string, binary_call> table = {
      {"append", [](const ndarray& x, const ndarray& y) { return append(x, y); }},
      {"ldexp", [](const ndarray& x, const ndarray& y) { return ldexp(x, y); }}};
  const binary_call everyday = found(binary_table(), name), special = found(special_binary_table(), name);
  return everyday ? everyday : special ? special : found(table, name);
}

ternary_call composed_ternary(const std::string& name) {
#define SPECIAL(f) \
  {"special." #f, [](const ndarray& x, const ndarray& y, const ndarray& z) { return special::f(x, y, z); }},
  static const std::unordered_map<std::string, ternary_call> table = {SINTER_SPECIAL_TERNARY(SPECIAL)};
#undef SPECIAL
  return found(table, name);
}

store_call store_function(const std::string& name) {
  using array_in = const ndarray&;
  static const std::unordered_map<std::string, store_call> table = {
      {"copyto", [](ndarray& t, array_in v, array_in m) { copyto(t, v, {.where = m}); }},
      {"putmask", [](ndarray& t, array_in v, array_in m) { putmask(t, m, v); }},
      {"place", [](ndarray& t, array_in v, array_in m) { place(t, m, v); }},
      {"put", [](ndarray& t, array_in v, array_in i) { put(t, i, v); }},
      {"put_along_axis", [](ndarray& t, array_in v, array_in i) { put_along_axis(t, i, v, 0); }},
      {"fill_diagonal", [](ndarray& t, array_in v, array_in) { fill_diagonal(t, v); }}};
  return found(table, name);
}

#define REDUCTION(f)                                                                                   \
  {                                                                                                    \
#f, [](const ndarray& x, const axes& a, bool keep) { return f(x, {.axis = a, .keepdims = keep}); } \
  }
reduction_call composed_reduction(const std::string& name) {
  static const std::unordered_map<std::string, reduction_call> table = {
      REDUCTION(nansum),
      REDUCTION(nanprod),
      REDUCTION(nanmin),
      REDUCTION(nanmax),
      REDUCTION(nanmean),
      REDUCTION(ptp),
      REDUCTION(median),
      REDUCTION(nanmedian),
      REDUCTION(nanvar),
      REDUCTION(nanstd),
      REDUCTION(nanargmin),
      REDUCTION(nanargmax),
      {"percentile 25 lower",
       [](const ndarray& x, const axes& a, bool keep) {
         return percentile(x, 25, {.axis = a, .keepdims = keep, .method = "lower"});
       }},
      {"quantile 0.7 higher",
       [](const ndarray& x, const axes& a, bool keep) {
         return quantile(x, 0.7, {.axis = a, .keepdims = keep, .method = "higher"});
       }},
      {"nanpercentile 60 nearest",
       [](const ndarray& x, const axes& a, bool keep) {
         return nanpercentile(x, 60, {.axis = a, .keepdims = keep, .method = "nearest"});
       }},
      {"quantile 0.5 inverted_cdf", [](const ndarray& x, const axes& a, bool keep) {
         return quantile(x, 0.5, {.axis = a, .keepdims = keep, .method = "inverted_cdf"});
       }}};
  return found(table, name);
}
#undef REDUCTION

#define MASKED(f)                                                                        \
  {                                                                                      \
#f, [](const ndarray& x, const ndarray& y, const out_kw& kw) { return f(x, y, kw); } \
  }
masked_call masked_function(const std::string& name) {
  static const std::unordered_map<std::string, masked_call> table = {
      MASKED(add), MASKED(multiply), MASKED(maximum), MASKED(subtract), MASKED(equal), MASKED(gcd)};
  return found(table, name);
}
#undef MASKED

}  // namespace sinter::fuzz
