// When work happens and what it looks like: eval, explain, fast_math scopes.
#pragma once
#include <concepts>
#include <initializer_list>
#include <span>
#include <string>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

namespace detail {
void eval_all(std::initializer_list<const ndarray*> arrays);
std::string explain_all(std::initializer_list<const ndarray*> arrays);
}  // namespace detail

/// Evaluates the arrays together, in as few kernels as their expressions allow. It is never needed for correct results;
/// the work may still be running on the device when it returns.
template <std::derived_from<ndarray>... A>
void eval(const A&... arrays) {
  detail::eval_all({static_cast<const ndarray*>(&arrays)...});
}

/// As many arrays as there are, such as a std::vector of them. Structures of arrays: array_tree.hpp.
void eval(std::span<const ndarray> arrays);

struct explain_kw {
  kwonly _kw{};
  bool source = false;
};
/// The plan that would evaluate `x` now: kernels, shapes, bytes moved, why each cut was made; with the generated source
/// if asked. Evaluates nothing.
std::string explain(const ndarray& x, const explain_kw& kw = {});
/// The plan of eval(x, y, more...).
template <std::derived_from<ndarray>... A>
std::string explain(const ndarray& x, const ndarray& y, const A&... more) {
  return detail::explain_all({&x, &y, static_cast<const ndarray*>(&more)...});
}
/// The plan of eval(arrays).
std::string explain(std::span<const ndarray> arrays);

/// Expressions recorded by this thread while the guard lives may be contracted, reassociated and use approximate
/// functions. Guards nest; `fast_math_guard(false)` switches it off within.
class [[nodiscard]] fast_math_guard {
 public:
  [[nodiscard]] explicit fast_math_guard(bool on = true);
  ~fast_math_guard();
  fast_math_guard(const fast_math_guard&) = delete;
  fast_math_guard& operator=(const fast_math_guard&) = delete;

 private:
  bool before_;
};

}  // namespace sinter::inline v0
