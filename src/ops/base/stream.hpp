// The objects that handles of streams and events refer to.
#pragma once
#include <memory>

#include "runtime/backend.hpp"
#include "sinter/stream.hpp"

namespace sinter::ops {

/// A stream with user handles; the default stream is owned by its backend.
struct stream_state {
  runtime::stream& on;
  int priority = 0;
  bool owned = false;

  stream_state(runtime::stream& s, int p, bool o) noexcept : on(s), priority(p), owned(o) {
    if (owned) ++on.owner().held_streams;
  }
  ~stream_state() {
    if (!owned) return;
    --on.owner().held_streams;
    on.owner().close_stream(on);
  }
  stream_state(const stream_state&) = delete;
  stream_state& operator=(const stream_state&) = delete;
};

struct event_state {
  bool timing = true;
  runtime::backend* device = nullptr;     // of the last record
  std::unique_ptr<runtime::event> point;  // null: never recorded
};

struct stream_access {
  static runtime::stream& of(const stream& s) noexcept { return s.state_->on; }
  /// A new state; if `owned`, the stream is closed with the last handle.
  static stream make(runtime::stream& on, int priority, bool owned) {
    auto state = std::make_shared<stream_state>(on, priority, owned);
    const std::lock_guard lock(runtime::order_mutex());
    if (owned) on.holder = state;
    return stream(std::move(state));
  }
  /// Another handle that shares the stream's existing state.
  static stream again(runtime::stream& on) {
    std::shared_ptr<void> held;
    {
      const std::lock_guard lock(runtime::order_mutex());
      held = on.holder.lock();
    }
    return held ? stream(std::static_pointer_cast<stream_state>(held)) : make(on, 0, false);
  }
  static event_state& of(const event& e) noexcept { return *e.state_; }
};

}  // namespace sinter::ops
