#include "fuzz/composed.hpp"

#include <unordered_map>

namespace sinter::fuzz {
namespace {

template <class F>
F found(const std::unordered_map<std::string, F>& table, const std::string& name) {
  const auto at = table.find(name);
  return at == table.end() ? nullptr : at->second;
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
  return found(table, name);
}

binary_call composed_binary(const std::string& name) {
  static const std::unordered_map<std::string, binary_call> table = {
      {"append", [](const ndarray& x, const ndarray& y) { return append(x, y); }},
      {"ldexp", [](const ndarray& x, const ndarray& y) { return ldexp(x, y); }}};
  return found(table, name);
}

#define REDUCTION(f)                                                                                   \
  {                                                                                                    \
#f, [](const ndarray& x, const axes& a, bool keep) { return f(x, {.axis = a, .keepdims = keep}); } \
  }
reduction_call composed_reduction(const std::string& name) {
  static const std::unordered_map<std::string, reduction_call> table = {
      REDUCTION(nansum),  REDUCTION(nanprod), REDUCTION(nanmin), REDUCTION(nanmax),
      REDUCTION(nanmean), REDUCTION(ptp),     REDUCTION(median), REDUCTION(nanmedian)};
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
