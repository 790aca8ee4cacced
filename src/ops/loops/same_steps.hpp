// Whether two calls of a step have recorded the same.
#pragma once
#include <span>

#include "graph/values/watch.hpp"
#include "ops/base/elementwise_values.hpp"

namespace sinter::ops {

/// What a watched step has recorded.
struct step_record {
  const graph::trace* list;
  std::span<const value> results;
  const graph::watch* watched = nullptr;  // whose list it is; or null
};

/// Whether the results follow from the inputs by the same operations, with the same numbers and the same other arrays. For
/// arrays on the host: small ones may also have been made anew with equal elements.
bool are_same(const step_record& a, const step_record& b);

/// Whether something besides this record and these handles, all that is left of a step, refers to an array that depends on
/// its inputs: what the step has stored somewhere.
bool leaves_traces(const step_record& step, std::span<ndarray* const> handles);

}  // namespace sinter::ops
