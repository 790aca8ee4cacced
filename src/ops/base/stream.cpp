// The public API of streams, events, guards and device properties, on top of the runtime's.
#include "ops/base/stream.hpp"

#include <utility>

#include "graph/capture/capture.hpp"
#include "graph/run/array.hpp"
#include "graph/values/faults.hpp"
#include "ops/base/access.hpp"
#include "ops/base/errors.hpp"
#include "sinter/error.hpp"

namespace sinter::inline v0 {

using ops::stream_access;

namespace {

runtime::backend& backend_of(const std::optional<device>& d) { return runtime::get_backend(ops::chosen(d)); }

/// The stream, for calls that cannot be captured.
runtime::stream& live(const stream& s, const char* function) {
  runtime::stream& on = stream_access::of(s);
  runtime::get_backend(on.owner().id());  // throws if the GPU is unusable after a fork
  if (on.notes() || graph::is_capturing())
    ops::fail<device_error>(function, "streams and events cannot be used in a capture");
  return on;
}

runtime::event& recorded(const event& e) {
  ops::event_state& s = stream_access::of(e);
  if (!s.point) throw value_error("[elapsed] an event has not been recorded");
  if (!s.timing) throw value_error("[elapsed] an event takes no time: it was made with {.timing = false}");
  return *s.point;
}

}  // namespace

stream::stream(const stream_kw& kw) {
  runtime::backend& b = backend_of(kw.device);
  *this = stream_access::make(b.open_stream({kw.priority, kw.non_blocking}), kw.priority, true);
}

stream stream::external(void* native, const std::optional<sinter::device>& on) {
  runtime::backend& b = backend_of(on);
  runtime::stream& s = b.wrap_stream(native);
  return stream_access::make(s, 0, &s != &b.default_stream());
}

sinter::device stream::device() const { return ops::to_public(state_->on.owner().id()); }
int stream::priority() const { return state_->priority; }
void* stream::native_handle() const { return state_->on.native(); }

void stream::synchronize() const {
  runtime::stream& on = live(*this, "synchronize");
  on.synchronize();
  const runtime::current_guard here(on);
  graph::report_faults(on.owner());
}

bool stream::query() const { return live(*this, "query").is_idle(); }

void stream::wait(const event& e) const {
  runtime::stream& on = live(*this, "wait");
  if (const auto& point = stream_access::of(e).point) point->hold(on);
}

void stream::record(event& e) const { e.record(*this); }

bool operator==(const stream& a, const stream& b) noexcept {
  return a.state_ == b.state_ || (a.state_ && b.state_ && &a.state_->on == &b.state_->on);
}

stream default_stream(const std::optional<device>& on) {
  return stream_access::make(backend_of(on).default_stream(), 0, false);
}

stream current_stream(const std::optional<device>& on) { return stream_access::again(backend_of(on).current_stream()); }

stream_guard::stream_guard(const stream& s) : held_(s) {
  runtime::stream& on = live(s, "stream_guard");
  before_ = std::exchange(runtime::this_thread().current[on.owner().slot()], &on);
}
stream_guard::~stream_guard() {
  const int slot = stream_access::of(held_).owner().slot();
  runtime::this_thread().current[slot] = static_cast<runtime::stream*>(before_);
}

event::event(const event_kw& kw) : state_(std::make_shared<ops::event_state>()) { state_->timing = kw.timing; }

void event::record() { record(current_stream()); }

void event::record(const stream& s) {
  runtime::stream& on = live(s, "record");
  if (!state_->point || state_->device != &on.owner()) {
    state_->point = on.owner().make_event(state_->timing);
    state_->device = &on.owner();
  }
  state_->point->record(on);
}

bool event::query() const { return !state_->point || state_->point->is_done(); }
void event::synchronize() const {
  if (state_->point) state_->point->synchronize();
}

double elapsed(const event& begin, const event& end) {
  runtime::event &first = recorded(begin), &last = recorded(end);
  if (stream_access::of(begin).device != stream_access::of(end).device)
    ops::fail<device_error>("elapsed", "the events were recorded on ", stream_access::of(begin).device->id(), " and ",
                            stream_access::of(end).device->id());
  first.synchronize();
  last.synchronize();
  return last.seconds_since(first);
}

device_guard::device_guard(const device& d) {
  if (d.kind == device_kind::mesh)
    ops::fail<device_error>("device_guard", d,
                            " is several devices, and none of them is the default one; give it to the "
                            "functions that make arrays");
  const runtime::backend& b = runtime::get_backend(ops::to_id(d));
  const int before = std::exchange(runtime::this_thread().default_slot, b.slot());
  if (before >= 0) before_ = before == 0 ? cpu : cuda(before - 1);
}
device_guard::~device_guard() {
  runtime::this_thread().default_slot = before_ ? runtime::slot_of(ops::to_id(*before_)) : -1;
}

device_properties properties(const std::optional<device>& of) { return backend_of(of).properties(); }

bool can_access_peer(const device& from, const device& to) {
  runtime::backend &a = runtime::get_backend(ops::to_id(from)), &b = runtime::get_backend(ops::to_id(to));
  return a.can_access_peer(b);
}

}  // namespace sinter::inline v0
