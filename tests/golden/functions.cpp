// Tables from NumPy's names to the public functions.
#include "golden/functions.hpp"

#include <unordered_map>

namespace sinter::test {

#define UNARY(f) {#f, [](const ndarray& x) { return sinter::f(x); }},
#define BINARY(f) {#f, [](const operand& x, const operand& y) { return sinter::f(x, y); }},
#define UNARY_SPELLING(f, function) UNARY(f)
#define PART(f) {#f, [](const ndarray& x) { return sinter::f(x).copy(); }},  // a view otherwise
#define SPECIAL(f) {"special." #f, [](const ndarray& x) { return sinter::special::f(x); }},

unary_function find_unary(std::string_view name) {
  static const std::unordered_map<std::string_view, unary_function> table = {SINTER_UNARY_FUNCTIONS(
      UNARY) SINTER_UNARY_SPELLINGS(UNARY_SPELLING) SINTER_SPECIAL_UNARY(SPECIAL) PART(real) PART(imag)};
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

binary_function find_binary(std::string_view name) {
  static const std::unordered_map<std::string_view, binary_function> table = {SINTER_BINARY_FUNCTIONS(BINARY)};
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

#undef UNARY
#undef BINARY
#undef UNARY_SPELLING
#undef PART
#undef SPECIAL

#define ORDINARY(f)                                                                             \
  {                                                                                             \
#f, [](const ndarray& x, const axes& a, bool keep, std::optional <dtype> t,                 \
           double) { return sinter::f(x, reduce_kw{.axis = a, .keepdims = keep, .dtype = t}); } \
  }
#define SPREAD(f)                                                                                               \
  {                                                                                                             \
#f, [](const ndarray& x, const axes& a, bool keep, std::optional <dtype> t,                                 \
           double ddof) { return sinter::f(x, var_kw{.axis = a, .keepdims = keep, .dtype = t, .ddof = ddof}); } \
  }

reduction_function find_reduction(std::string_view name) {
  static const std::unordered_map<std::string_view, reduction_function> table = {
      ORDINARY(sum), ORDINARY(prod),   ORDINARY(mean),   ORDINARY(min), ORDINARY(max),           SPREAD(var),
      SPREAD(std),   ORDINARY(argmin), ORDINARY(argmax), ORDINARY(any), ORDINARY(count_nonzero), ORDINARY(all)};
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

#undef ORDINARY
#undef SPREAD

}  // namespace sinter::test
