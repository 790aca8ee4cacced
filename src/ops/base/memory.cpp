// The public API of memory: pools, kinds of memory, custom allocators, and transfers between devices.
#include "sinter/memory.hpp"

#include <mutex>
#include <new>
#include <utility>

#include "graph/capture/capture.hpp"
#include "ops/base/access.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/base/stream.hpp"
#include "runtime/pool.hpp"
#include "sinter/error.hpp"

namespace sinter::ops {
namespace {

/// Adapts a user's allocator to the runtime. Lives as long as it is selected or one of its blocks is in use.
class allocator_source final : public runtime::block_source, public std::enable_shared_from_this<allocator_source> {
 public:
  explicit allocator_source(std::shared_ptr<allocator> a) : from_(std::move(a)) {}

  void* allocate(std::size_t bytes, runtime::stream*& owner_stream, runtime::use_list*& uses) override {
    uses = nullptr;
    void* p = nullptr;
    try {
      p = from_->allocate(bytes == 0 ? 1 : bytes, owner_stream->native());
    } catch (const std::bad_alloc&) {
    }
    if (!p) fail<memory_error>("allocate", from_->name(), " is exhausted: ", bytes, " bytes asked for");
    const std::lock_guard lock(mutex_);
    if (live_++ == 0) self_ = shared_from_this();
    return p;
  }

  void deallocate(void* p, std::size_t bytes, runtime::stream& owner_stream,
                  runtime::use_list* handed_over) noexcept override {
    const std::unique_ptr<runtime::use_list> uses(handed_over);
    runtime::stream& last_on = owner_stream.is_closed() ? owner_stream.owner().default_stream() : owner_stream;
    if (uses) wait_for(*uses, last_on);
    if (&last_on != &owner_stream) wait_for({{{&owner_stream, 0, runtime::unknown_value}}}, last_on);
    from_->deallocate(p, bytes == 0 ? 1 : bytes, last_on.native());
    std::shared_ptr<allocator_source> last;  // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    if (--live_ == 0) last = std::move(self_);
  }

 private:
  static void wait_for(const runtime::use_list& uses, runtime::stream& later) noexcept {
    try {
      if (later.is_host()) {
        for (const runtime::stream_use& u : uses.uses) u.on->await(u.used);
        return;
      }
      const std::lock_guard order(runtime::order_mutex());
      for (const runtime::stream_use& u : uses.uses) later.wait_for(*u.on, u.used);
    } catch (...) {  // a failed device executes nothing, so there is nothing to wait for
    }
  }

  const std::shared_ptr<allocator> from_;
  std::mutex mutex_;
  std::size_t live_ = 0;
  std::shared_ptr<allocator_source> self_;
};

std::shared_ptr<runtime::block_source> source_of(std::shared_ptr<allocator> a) {
  return a ? std::make_shared<allocator_source>(std::move(a)) : nullptr;
}

runtime::backend& backend_of(const device& d) { return runtime::get_backend(to_id(d)); }

pool_figures figures_of(const runtime::memory_figures& f) { return {f.used, f.reserved, f.peak, f.available, f.limit}; }

/// Throws unless the array is in managed memory, which the driver's hints require; `held` is its evaluated value.
const graph::node& managed_leaf(const ndarray& x, const char* function, const graph::value& held) {
  if (held->buffer->kind() != memory_kind::managed)
    fail<value_error>(function, "the array of shape ", x.shape(), " lies in ", name(held->buffer->kind()),
                      " memory, not in managed memory");
  return *held;
}

graph::value evaluated_storage(const ndarray& x, const char* function) {
  view_of(x, function);
  const graph::view_ref v = ndarray_access::ref(x);
  graph::evaluate(std::span(&v, 1));
  return v->store->now();
}

const runtime::backend* place_of(const device& d) { return d.kind == device_kind::cpu ? nullptr : &backend_of(d); }

void give_advice(const ndarray& x, memory_advice advice, const device& where, bool on, const char* function) {
  const graph::value held = evaluated_storage(x, function);
  const graph::node& leaf = managed_leaf(x, function, held);
  if (leaf.buffer->bytes() == 0) return;  // drivers reject empty ranges
  runtime::get_backend(leaf.device)
      .advise(leaf.buffer->address(), leaf.buffer->bytes(), static_cast<runtime::memory_hint>(advice), place_of(where),
              on);
}

/// The stream, if it can copy between the two devices.
runtime::stream& fitting(const stream& s, runtime::device_id a, runtime::device_id b, const char* function) {
  runtime::stream& on = stream_access::of(s);
  const runtime::device_id d = on.owner().id();
  const bool fits = (d == a || d == b) && (!on.is_host() || a == b);
  if (!fits) fail<device_error>(function, "a stream of ", d, " cannot copy from ", a, " to ", b);
  return on;
}

ndarray moved(const ndarray& x, const device& to, const stream* on, std::optional<memory_kind> kind,
              const char* function) {
  const graph::array_view& v = view_of(x, function);
  const runtime::device_id id = to_id(to);
  if (v.device() == id) return x;
  // Announced with the device's kind and index.
  if (auto r = intercept("to_device", {&x}, {static_cast<std::int64_t>(id.kind), id.index},
                         [=](auto a) { return results_of(moved(a[0], to, nullptr, kind, function)); }))
    return (*r)[0];
  runtime::get_backend(id);
  runtime::stream* chosen = on ? &fitting(*on, v.device(), id, function) : nullptr;
  return ndarray_access::make(graph::to_device(v, id, kind, chosen));
}

}  // namespace
}  // namespace sinter::ops

namespace sinter::inline v0 {

using ops::backend_of;

std::string_view name(memory_kind kind) noexcept {
  constexpr std::string_view names[] = {"device", "managed", "pinned"};
  return names[static_cast<int>(kind)];
}

memory_pool::memory_pool(const std::optional<sinter::device>& of, memory_kind kind)
    : device_(ops::to_public(ops::chosen(of))), kind_(kind) {
  backend_of(device_).memory_pool(kind_);
}

pool_figures memory_pool::figures() const { return ops::figures_of(backend_of(device_).memory_pool(kind_).figures()); }

pool_figures memory_pool::figures(const stream& s) const {
  runtime::backend& b = backend_of(device_);
  runtime::stream& on = ops::stream_access::of(s);
  if (&on.owner() != &b)
    ops::fail<device_error>("memory_pool", "a stream of ", on.owner().id(), " has no memory on ", device_);
  return ops::figures_of(b.memory_pool(kind_).figures(on.number()));
}

void memory_pool::set_limit(std::size_t bytes) const {
  backend_of(device_).memory_pool(kind_).set_limit(bytes == 0 ? SIZE_MAX : bytes);
}

void memory_pool::set_limit_fraction(double fraction) const {
  if (!(fraction > 0 && fraction <= 1))
    ops::fail<value_error>("set_limit_fraction", fraction, " is not above 0 and at most 1");
  const sinter::device memory_of = kind_ == memory_kind::pinned ? cpu : device_;
  const auto total = static_cast<double>(backend_of(memory_of).properties().total_memory);
  set_limit(static_cast<std::size_t>(fraction * total));
}

void memory_pool::trim() const { backend_of(device_).memory_pool(kind_).trim(); }
void memory_pool::reset_peak() const { backend_of(device_).memory_pool(kind_).reset_peak(); }

memory_scope::memory_scope(memory_kind kind, const std::optional<device>& on) {
  runtime::backend& b = runtime::get_backend(ops::chosen(on));
  b.memory_pool(kind);  // throws if the kind is not available
  slot_ = b.slot();
  before_ = std::exchange(runtime::this_thread().kind[slot_], kind);
}
memory_scope::~memory_scope() { runtime::this_thread().kind[slot_] = before_; }

ndarray to_memory(const ndarray& x, memory_kind kind) {
  const graph::array_view& v = ops::view_of(x, "to_memory");
  runtime::get_backend(v.device()).memory_pool(kind);
  if (x.memory_kind() == kind) return x;
  if (auto r = ops::intercept("to_memory", {&x}, {static_cast<std::int64_t>(kind)},
                              [=](auto a) { return ops::results_of(to_memory(a[0], kind)); }))
    return (*r)[0];
  return ops::ndarray_access::make(graph::to_device(v, v.device(), kind));
}

void prefetch(const ndarray& x, const device& to, const std::optional<stream>& on) {
  const graph::value held = ops::evaluated_storage(x, "prefetch");
  const graph::node& leaf = ops::managed_leaf(x, "prefetch", held);
  runtime::backend& b = runtime::get_backend(leaf.device);
  const runtime::current_guard here(on ? ops::fitting(*on, leaf.device, leaf.device, "prefetch") : b.current_stream());
  if (leaf.buffer->bytes() == 0) return;  // drivers reject empty ranges
  runtime::submission work(b);
  b.prefetch(work.reads(*leaf.buffer), leaf.buffer->bytes(), ops::place_of(to));
}

void advise(const ndarray& x, memory_advice advice, const device& where) {
  ops::give_advice(x, advice, where, true, "advise");
}
void unadvise(const ndarray& x, memory_advice advice, const device& where) {
  ops::give_advice(x, advice, where, false, "unadvise");
}

void set_allocator(const device& d, std::shared_ptr<allocator> a) {
  backend_of(d).set_block_source(ops::source_of(std::move(a)));
}

allocator_scope::allocator_scope(const device& d, std::shared_ptr<allocator> a) : slot_(backend_of(d).slot()) {
  auto source = ops::source_of(std::move(a));
  if (!source) throw value_error("[allocator_scope] there is no allocator");
  if (graph::is_capturing())
    throw device_error(
        "[capture] an allocator_scope cannot begin in a capture, whose memory belongs to the graph; "
        "begin it around the capture");
  before_ = std::exchange(runtime::this_thread().source[slot_], source.get());
  held_ = std::move(source);
}
allocator_scope::~allocator_scope() {
  runtime::this_thread().source[slot_] = static_cast<runtime::block_source*>(before_);
}

sinter::memory_kind ndarray::memory_kind() const {
  return ops::view_of(*this, "memory_kind").store->now()->kind_of_memory();
}

ndarray ndarray::to_device(const sinter::device& to) const {
  return ops::moved(*this, to, nullptr, std::nullopt, "to_device");
}
ndarray ndarray::to_device(const sinter::device& to, const stream& on) const {
  return ops::moved(*this, to, &on, std::nullopt, "to_device");
}
ndarray ndarray::to_host() const { return ops::moved(*this, cpu, nullptr, std::nullopt, "to_host"); }
ndarray ndarray::to_host(const stream& on) const {
  return ops::moved(*this, cpu, &on, sinter::memory_kind::pinned, "to_host");
}

void* ndarray::host_address(sinter::dtype type) const {
  const graph::array_view& v = ops::view_of(*this, "host_data");
  if (!graph::is_host_reachable(v))
    ops::fail<value_error>(
        "host_data", "the array lies in the memory of ", v.device(),
        ", which the host cannot address; make it in managed or pinned memory, or copy it with to_host");
  if (v.type != type) ops::fail<dtype_error>("host_data", "the array has dtype ", v.type, ", not ", type);
  return graph::export_to_host(v);
}

}  // namespace sinter::inline v0
