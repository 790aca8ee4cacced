// The same elements in another shape, and more or fewer rows and columns.
#include "ops/sparse/parts.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/sparse.hpp"

namespace sinter::ops {
namespace {

using sparse::format;

void require_two(const char* function, const shape_t& shape) {
  if (shape.ndim() != 2) fail<shape_error>(function, "a sparse array has two axes, not shape ", shape);
}

/// An extent of -1 replaced by what is left for it.
shape_t without_unknown(const shape_t& shape, std::int64_t places, const shape_t& from) {
  std::int64_t rows = shape[0], columns = shape[1];
  if (rows == -1 && columns > 0) rows = places / columns;
  else if (columns == -1 && rows > 0) columns = places / rows;
  std::int64_t product = 0;
  if (rows < 0 || columns < 0 || __builtin_mul_overflow(rows, columns, &product) || product != places)
    fail<shape_error>("reshape", "shape ", from, " has ", places, " places, which shape ", shape, " does not have");
  return {rows, columns};
}

}  // namespace
}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace sparse {

sparse_array sparse_array::reshape(const shape_t& shape) const {
  const auto s = ops::in_format(ops::state_of(*this, "reshape"), format::coo);
  ops::require_two("reshape", shape);
  std::int64_t places = 0;
  if (__builtin_mul_overflow(s->rows, s->columns, &places))
    ops::fail<shape_error>("reshape", "shape ", this->shape(), " has more than 2^63 places");
  const shape_t to = ops::without_unknown(shape, places, this->shape());
  const ndarray place = s->first.astype(int64) * s->columns + s->second;
  const std::int64_t columns = std::max<std::int64_t>(to[1], 1);
  const sinter::dtype index = ops::index_for(to[0], to[1], ops::entries_of(*s));
  // Places keep their order, so that what was in C order still is.
  const auto moved = ops::make_state(format::coo, to[0], to[1], s->data, floor_divide(place, columns).astype(index),
                                     (place % columns).astype(index), s->order);
  return ops::sparse_access::make(ops::in_format(moved, this->format()));
}

void sparse_array::resize(const shape_t& shape) & {
  const auto& given = ops::state_of(*this, "resize");
  ops::require_two("resize", shape);
  if (shape[0] < 0 || shape[1] < 0) ops::fail<shape_error>("resize", "negative shape ", shape);
  const auto s = ops::in_format(given, format::coo);
  const bool fewer = shape[0] < s->rows || shape[1] < s->columns;
  const auto kept = fewer ? ops::kept_where(*s, logical_and(s->first < shape[0], s->second < shape[1])) : s;
  const sinter::dtype index = ops::index_for(shape[0], shape[1], ops::entries_of(*kept));
  const auto resized = ops::make_state(format::coo, shape[0], shape[1], kept->data, kept->first.astype(index),
                                       kept->second.astype(index), kept->order);
  state_ = ops::in_format(resized, given->format);
}

}  // namespace sparse
}  // namespace sinter::inline v0
