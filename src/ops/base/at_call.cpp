// Values that are looked at now, and their memory as words.
#include "ops/base/at_call.hpp"

#include <bit>

#include "core/shape.hpp"
#include "graph/run/array.hpp"
#include "graph/run/mesh_hook.hpp"
#include "graph/run/ongoing_capture.hpp"
#include "graph/values/example.hpp"
#include "ops/base/algorithm_calls.hpp"

namespace sinter::ops {

bool may_look_at(const value& v) {
  return !graph::is_example(v) && !graph::is_on_mesh(v->device) && !graph::is_capturing();
}

std::optional<ndarray> as_words(const ndarray& x, dtype to, const dims& shape) {
  if (std::endian::native != std::endian::little) return std::nullopt;
  const value v = evaluated(value_of(x));
  const auto from = static_cast<std::int64_t>(itemsize(v->type)), wide = static_cast<std::int64_t>(itemsize(to));
  const std::int64_t first = v->buffer_offset * from, end = (v->buffer_offset + v->size()) * from;
  if (!v->is_leaf() || first % wide != 0 || end % wide != 0) return std::nullopt;
  return ndarray_access::make(graph::from_buffer(v->buffer, end / wide, to, shape, core::contiguous_strides(shape),
                                                 first / wide, /*live=*/false, /*readonly=*/false));
}

}  // namespace sinter::ops
