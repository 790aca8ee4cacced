// Conversions and host access: casts, copies, single elements, host views, addresses.
#include "ops/base/elementwise_values.hpp"
#include "ops/base/promotion_args.hpp"
#include "runtime/backend.hpp"

namespace sinter {
inline namespace v0 {

using ops::ndarray_access;
using ops::view_of;
using ops::wrap;

/// Elements on the host: evaluated memory kept alive by its value, or a copy.
struct detail::host_block {
  graph::value keep;
  std::unique_ptr<std::byte[]> copy;
  const void* data = nullptr;
};

namespace {

void refuse_complex(sinter::dtype from, sinter::dtype to, const char* function) {
  if (is_complex(from) && !is_complex(to) && to != dtype::b1)
    ops::fail<dtype_error>(function, from, " does not convert to ", to, "; take real() or imag() first");
}

/// The view itself if it has the dtype, else a new array of that dtype.
graph::view_ref as_type(const ndarray& a, sinter::dtype to, const char* function) {
  const graph::array_view& v = view_of(a, function);
  if (v.type == to) return ndarray_access::ref(a);
  refuse_complex(v.type, to, function);
  return graph::make_array(graph::record_cast(graph::read(v), to));
}

}  // namespace

const void* detail::host_data(const host_block& block) noexcept { return block.data; }

void detail::host_index_failed(const shape_t& shape, std::initializer_list<std::int64_t> where) {
  ops::fail<index_error>("host_view", "index ", core::dims(where), " is out of range for shape ", to_string(shape));
}

ndarray ndarray::astype(sinter::dtype to, const astype_kw& kw) const {
  if (!kw.device) {
    const auto again = [=](const operand* o) { return o[0].array().astype(to); };
    if (auto later = ops::over_selections(0, again, *this)) return *later;
  }
  const graph::array_view& v = view_of(*this, "astype");
  if (kw.device && !(ops::to_id(*kw.device) == v.device())) {
    // Transfers the narrower of the two dtypes.
    const bool first = itemsize(to) < itemsize(v.type);
    const ndarray moved = (first ? astype(to) : *this).to_device(*kw.device);
    return first ? moved : moved.astype(to, {.copy = false});
  }
  if (!kw.copy && v.type == to) return *this;
  return wrap(graph::record_cast(graph::read(v), to));
}

void ndarray::item_to(sinter::dtype type, void* to) const {
  const graph::array_view& v = view_of(*this, "item");
  if (core::element_count(v.shape) != 1)
    ops::fail<shape_error>("item", "only an array of size 1 is a number; this one has shape ", v.shape);
  graph::copy_to_host(*as_type(*this, type, "item"), to);
}

ndarray::operator bool() const {
  const graph::array_view& v = view_of(*this, "bool");
  if (core::element_count(v.shape) != 1)
    ops::fail<shape_error>("bool", "the truth of an array of shape ", v.shape, " is ambiguous; use any() or all()");
  return item<bool>();
}

std::shared_ptr<const detail::host_block> ndarray::host_block(sinter::dtype type) const {
  return ops::elements_on_host(*this, type, false);
}

void* ndarray::address(sinter::dtype type) const {
  const graph::array_view& v = view_of(*this, "data");
  if (v.type != type) ops::fail<dtype_error>("data", "the array has dtype ", v.type, ", not ", type);
  return graph::export_address(v);
}

}  // namespace v0

std::shared_ptr<const detail::host_block> ops::elements_on_host(const ndarray& a, dtype type, bool managed) {
  const graph::view_ref v = as_type(a, type, "host");
  auto block = std::make_shared<detail::host_block>();
  const auto count = static_cast<std::size_t>(core::element_count(v->shape));
  if (v->whole && !v->store->pinned() && count > 0) {
    graph::evaluate(std::span(&v, 1));
    graph::value now = graph::read(*v);
    // Direct access by the host would migrate the pages of managed memory; a copy does not.
    const bool stays = now->kind_of_memory() == memory_kind::managed && !managed;
    if (now->is_leaf() && !stays && graph::host_may_share(*v)) {
      // Waits and reports data faults, as a copy would. A later write sees the reference to the elements and copies.
      std::byte one[16];
      graph::copy_to_host(*graph::make_view(*v, {}, {}, v->offset), one);
      block->data = static_cast<const std::byte*>(now->buffer->address()) +
                    static_cast<std::size_t>(now->buffer_offset) * itemsize(type);
      block->keep = std::move(now);
      return block;
    }
  }
  block->copy = std::make_unique_for_overwrite<std::byte[]>(count * itemsize(type));
  if (count > 0) graph::copy_to_host(*v, block->copy.get());
  block->data = block->copy.get();
  return block;
}

}  // namespace sinter
