// Arrays that a kernel writes during a search. Copies and comparisons (fused expressions) run on the device, so that
// large samples are not transferred.
#include "ops/tuning/sample_arrays.hpp"

#include <algorithm>

#include "ops/base/access.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/print.hpp"
#include "sinter/reduce.hpp"

namespace sinter::ops {
namespace {

std::size_t bytes_of(const graph::array_view& v) {
  return static_cast<std::size_t>(core::element_count(v.shape)) * itemsize(v.type);
}

/// A copy in separate memory.
graph::view_ref copy_of(const graph::array_view& v) { return graph::to_device(v, v.device()); }

ndarray handle(const graph::view_ref& v) { return ndarray_access::make(v); }

ndarray other_bits(const ndarray& x, const ndarray& y) {
  if (is_complex(x.dtype())) return other_bits(real(x), real(y)) | other_bits(imag(x), imag(y));
  if (!is_inexact(x.dtype())) return x != y;
  return ~(((x == y) & (signbit(x) == signbit(y))) | (isnan(x) & isnan(y)));
}

std::string coordinates(std::int64_t position, const shape_t& shape) {
  std::string text;
  for (int axis = shape.ndim(); axis-- > 0;) {
    const std::int64_t extent = shape.begin()[axis];
    text = std::to_string(position % extent) + (text.empty() ? "" : ", ") + text;
    position /= extent;
  }
  return shape.ndim() == 1 ? text : "(" + text + ")";
}

}  // namespace

ndarray mismatch(const ndarray& x, const ndarray& reference, const result_tolerance& t) {
  if (t.exact() || !is_inexact(x.dtype())) return other_bits(x, reference);
  return ~isclose(x, reference, t.rtol.value_or(0), t.atol.value_or(0), true);
}

sample_arrays::sample_arrays(const std::vector<entry>& arrays, const result_tolerance& tolerance)
    : tolerance_(tolerance) {
  for (const entry& e : arrays) {
    const graph::array_view& v = view_of(e.array, "autotune");
    const bool known =
        std::any_of(samples_.begin(), samples_.end(), [&](const sample& s) { return s.whole->store == v.store; });
    if (known) continue;
    const graph::write_lock mine(*v.store);
    graph::begin_write(v);
    const core::dims& shape = v.store->held()->shape;
    const graph::view_ref numbers = v.parts ? graph::make_whole_numbers(v) : nullptr;
    graph::view_ref whole = graph::make_view(numbers ? *numbers : v, shape, core::contiguous_strides(shape), 0);
    samples_.push_back({e.number, whole, copy_of(*whole), nullptr});
  }
}

void sample_arrays::restore() {
  for (const sample& s : samples_) {
    const graph::write_lock mine(*s.whole->store);
    void* to = graph::begin_write(*s.whole);
    if (const std::size_t bytes = bytes_of(*s.whole); bytes != 0)
      runtime::get_backend(s.whole->device()).copy(to, graph::address_of(graph::begin_read(*s.original, false)), bytes);
  }
}

void sample_arrays::keep() {
  for (sample& s : samples_) s.reference = copy_of(*s.whole);
}

std::string sample_arrays::difference() const {
  for (const sample& s : samples_) {
    const ndarray x = ravel(handle(s.whole)), reference = ravel(handle(s.reference));
    if (x.size() == 0) continue;
    const ndarray wrong = mismatch(x, reference, tolerance_);
    const ndarray count = sum(wrong, {.dtype = int64}), first = argmax(wrong);
    const auto n = count.item<std::int64_t>();
    if (n == 0) continue;
    const auto at = first.item<std::int64_t>();
    const shape_t shape = handle(s.whole).shape();
    return "argument " + std::to_string(s.number) + " (" + std::string(name(x.dtype())) + ", shape " +
           to_string(shape) + ") in " + std::to_string(n) + " of " + std::to_string(x.size()) + " elements, first at " +
           coordinates(at, shape) + ": " + to_string(x(at)) + " instead of " + to_string(reference(at));
  }
  return "";
}

}  // namespace sinter::ops
