// What functions ask that may run at the call in place of recording: whether they may, and memory as words.
#pragma once
#include <optional>

#include "ops/base/elementwise_values.hpp"

namespace sinter::ops {

/// Whether a value may be looked at now: it is no example of a mapped function, not in parts on a mesh, and no step is being
/// captured.
bool may_look_at(const value& v);

/// x's elements as those of another width, of a shape with as many bytes. Evaluates x; the memory is shared, and copied by
/// whoever writes to either first. Nothing where the memory does not begin or end with a whole element of the other width, or
/// bytes have another order than the words are made for.
std::optional<ndarray> as_words(const ndarray& x, dtype to, const dims& shape);

}  // namespace sinter::ops
