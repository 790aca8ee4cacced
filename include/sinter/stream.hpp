// Streams, events and the choice of a GPU: which work may overlap.
//
//   const sn::stream a, b;
//   ndarray x, y;
//   { const sn::stream_guard on(a); x = sn::sin(u); sn::eval(x); }
//   { const sn::stream_guard on(b); y = sn::cos(u); sn::eval(y); }   // may overlap with the first
//   const auto z = (x + y).to_vector<float>();                       // waits for both by itself
//
// Results never depend on streams. Every array records which streams use it, and work of one stream waits for work of
// another wherever the two conflict (read after write, write after read, write after write). Memory that is freed while
// a stream still uses it is not reused before that is safe. Correct values need no synchronisation; streams, events and
// waits are for speed, and for code outside of the library that uses the same memory.
//
// An expression is recorded, not run. It runs on the stream that is current for the thread that evaluates it, when it
// is evaluated. Streams and events cover launched work only: eval() what they are meant to time or to wait for.
//
// On the CPU all work is done when the call that needs it returns, so a stream is always idle there and an event has
// always happened; the functions exist, so that code for both devices is the same.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "sinter/device.hpp"
#include "sinter/device_properties.hpp"
#include "sinter/keywords.hpp"

namespace sinter::ops {
struct stream_state;
struct event_state;
struct stream_access;
}  // namespace sinter::ops

namespace sinter::inline v0 {

class event;

struct stream_kw {
  kwonly _kw{};
  /// Default: the default device.
  std::optional<sinter::device> device{};
  /// Lower numbers are served first where the GPU is full; device_properties says which there are, others count as the
  /// nearest. 0 is the lowest priority.
  int priority = 0;
  /// By default the device's default stream (the one that CUDA calls the legacy stream) and this one wait for each
  /// other. A non-blocking stream runs beside it; arrays are in order all the same.
  bool non_blocking = false;
};

/// A queue of work on one device: what is enqueued on one stream runs in that order, what is enqueued on two may run at
/// the same time. A handle: copies are the same stream. When the last handle goes, work that is still enqueued runs on.
class stream {
 public:
  /// A new stream. Throws device_error where the device is missing.
  stream() : stream(stream_kw{}) {}
  explicit stream(const stream_kw& kw);
  /// A stream of another library, a cudaStream_t (null: the device's default stream). It must live as long as
  /// the handle. device_error on the CPU, or where it belongs to another GPU; value_error for cudaStreamPerThread,
  /// which is another stream in each thread.
  static stream external(void* native, const std::optional<sinter::device>& on = {});

  sinter::device device() const;
  int priority() const;
  /// The cudaStream_t; null for the default stream, and on the CPU.
  void* native_handle() const;

  /// Waits until everything that has been launched on the stream is done; reports data errors of those kernels.
  void synchronize() const;
  /// Whether everything that has been launched on the stream is done.
  bool query() const;
  /// Work that is enqueued on the stream from now on waits for the event. Does not hold the host, except that a stream
  /// of the CPU waits at once.
  void wait(const event& e) const;
  /// e.record(*this).
  void record(event& e) const;

  friend bool operator==(const stream& a, const stream& b) noexcept;

 private:
  friend struct ops::stream_access;
  explicit stream(std::shared_ptr<ops::stream_state> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<ops::stream_state> state_;
};

/// The stream on which a device's work runs unless something else is said.
stream default_stream(const std::optional<device>& on = {});
/// The stream that is current for the calling thread.
stream current_stream(const std::optional<device>& on = {});

/// While it lives, the calling thread's work for the stream's device is enqueued there. Guards nest, and belong to their
/// thread: make and destroy one on the same thread.
class [[nodiscard]] stream_guard {
 public:
  [[nodiscard]] explicit stream_guard(const stream& s);
  ~stream_guard();
  stream_guard(const stream_guard&) = delete;
  stream_guard& operator=(const stream_guard&) = delete;

 private:
  stream held_;
  void* before_ = nullptr;
};

struct event_kw {
  kwonly _kw{};
  /// Without it the event takes no time, and elapsed refuses it; waiting for it is a little cheaper.
  bool timing = true;
};

/// A point in the work of a stream. A handle: copies are the same event.
class event {
 public:
  event() : event(event_kw{}) {}
  explicit event(const event_kw& kw);
  /// The point after everything launched on the stream so far (default: the current stream of the default device). An
  /// event may be recorded again; a wait that has begun still ends at the previous point.
  void record();
  void record(const stream& s);
  /// Whether the point has been reached. True of an event that has never been recorded.
  bool query() const;
  /// The host waits until it has been reached.
  void synchronize() const;

 private:
  friend struct ops::stream_access;
  std::shared_ptr<ops::event_state> state_;
};

/// Seconds from one event to the other, both of one device and both reached: waits for them. The GPU's clock resolves
/// about half a microsecond. value_error unless both have been recorded, with timing.
double elapsed(const event& begin, const event& end);

/// While it lives, the default device of the calling thread is another one. Guards nest.
class [[nodiscard]] device_guard {
 public:
  /// Throws device_error where the device is missing.
  [[nodiscard]] explicit device_guard(const device& d);
  ~device_guard();
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;

 private:
  std::optional<device> before_;
};

/// Throws device_error where the device is missing.
device_properties properties(const std::optional<device>& of = {});
/// Whether copies from one GPU to another go straight, without a stay in host memory.
bool can_access_peer(const device& from, const device& to);

}  // namespace sinter::inline v0
