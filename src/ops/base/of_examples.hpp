// Functions that look at elements of their operands (a condition, a loop of the host, a size that depends on data), and are otherwise
// composed of others: within a vmap, where one example has no elements, they announce themselves.
//
//   if (auto r = intercept_mapped("lstsq", {&a, &b}, [=](auto o) { ... lstsq(o[0], o[1], kw) ... })) ...
//
// Nobody else hears of them: derivatives follow what they are composed of. A derivative within the vmap, whose operands have no
// elements either, is computed for each example together with the function.
#pragma once
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ops/base/opaque_call.hpp"

namespace sinter::ops {

using mapped_function = std::function<std::vector<ndarray>(std::span<const ndarray>)>;

std::optional<std::vector<ndarray>> run_for_examples(const char* name, std::vector<ndarray> operands,
                                                     mapped_function again);

/// The results of a call of which a vmap's example is an operand; nothing otherwise, and the caller goes on. Undefined operands
/// are allowed, and handed on. `again` is the public function.
template <class Again>
std::optional<std::vector<ndarray>> intercept_mapped(const char* name, std::initializer_list<const ndarray*> operands,
                                                     Again&& again) {
  if (!is_within_interceptor()) [[likely]]
    return {};
  std::vector<ndarray> all;
  for (const ndarray* const x : operands) all.push_back(x ? *x : ndarray());
  return run_for_examples(name, std::move(all), std::forward<Again>(again));
}

}  // namespace sinter::ops
