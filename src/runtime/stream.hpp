// Queues of work on a device, and the order between them.
//
// Work of one stream runs in the order in which it was enqueued, work of two streams in any order unless one waits for
// the other. Results must not depend on streams, so every buffer records which streams have used it (buffer.hpp), and
// code that enqueues work declares what it reads and writes. Streams wait for each other only where these uses
// conflict.
//
// What is enqueued together is a submission; its number within the stream is its timeline value. A stream that must
// come after value t of another one waits for an event, which covers everything enqueued before it was recorded. One
// event serves all streams that wait for a value that it covers, and a stream remembers up to which value of each other
// stream it has waited.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace sinter::runtime {

class backend;
class stream;

using timeline_value = std::uint64_t;
/// Of work enqueued outside of submissions: at an unknown time before the query.
inline constexpr timeline_value unknown_value = ~timeline_value{0};

/// When a stream has used some memory, as far as others may have to wait for it; 0: never.
struct stream_use {
  stream* on = nullptr;
  timeline_value written = 0, used = 0;  // used: read or written
};
/// Uses of memory by streams other than the one that it belongs to. Guarded by order_mutex().
struct use_list {
  std::vector<stream_use> uses;
  stream_use& of(stream& s);
  /// Adds what another list has.
  void join(const use_list& other);
};

/// Guards use lists, and up to where streams have waited for each other. Never held while work is enqueued or waited
/// for.
std::mutex& order_mutex() noexcept;

/// What captured work uses: memory, by address, and objects that must outlive it.
struct use_notes {
  struct note {
    const void* address;
    bool written;
  };
  std::vector<note> notes;
  std::vector<std::shared_ptr<const void>> keep;
  bool finds_errors = false;  // some launch may find an error in data
  void add(const void* address, bool written);
  bool writes(const void* address) const noexcept;
};

/// Streams live as long as the process; their backend reuses those that have no handle left.
class stream {
 public:
  /// `number`: within the backend; 0 is the default stream. host: calls return when their work is done.
  stream(backend& owner, int number, bool host) noexcept;
  virtual ~stream() = default;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  backend& owner() const noexcept { return *owner_; }
  int number() const noexcept { return number_; }
  bool is_host() const noexcept { return host_; }
  /// The device's own handle, for work that does not go through the backend.
  virtual void* native() const noexcept { return nullptr; }
  /// The host waits for everything enqueued so far.
  virtual void synchronize() {}
  virtual bool is_idle() { return true; }

  /// Begin a submission, returning its timeline value, and end it. Events recorded after the end cover what was
  /// enqueued in between.
  timeline_value open() noexcept { return (state_.fetch_add(one_value + 1) >> open_bits) + 1; }
  void close() noexcept { state_.fetch_sub(1); }

  /// What is enqueued here from now on comes after value t of `before`, whose submission has ended. Returns the last
  /// value that this covers, 0 where that is not known. Call with order_mutex() held.
  timeline_value wait_for(stream& before, timeline_value t);
  /// The host waits for value t, whose submission has ended. Call without order_mutex().
  void await(timeline_value t);
  /// What other libraries enqueue from now on, on a queue given by its native handle (null: the device's default
  /// stream), comes after value t, whose submission has ended. Call without order_mutex().
  void hold_others(void* theirs, timeline_value t);

  /// While work is captured instead of run: where code that enqueues it adds what it uses. Else null.
  use_notes* notes() const noexcept { return notes_.load(std::memory_order_relaxed); }
  void set_notes(use_notes* n) noexcept { notes_.store(n, std::memory_order_relaxed); }

  /// The handle's state, from which a query for the current stream makes another handle. Guarded by order_mutex().
  std::weak_ptr<void> holder;

  /// The stream has no handle left: memory that is given back to it goes to the default stream.
  bool is_closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
  void set_closed(bool c) noexcept { closed_.store(c, std::memory_order_relaxed); }

 protected:
  /// Records the stream's event after everything enqueued so far; it replaces the previous one.
  virtual void record_event() {}
  /// What is enqueued here from now on comes after another stream's event; that stream may be another device's.
  virtual void wait_event(stream&) {}
  /// The host waits for the event.
  virtual void await_event() {}
  /// What is enqueued on another library's queue, by its native handle, comes after the event.
  virtual void hold_at_event(void*) {}
  /// The stream's queue goes away: a last event covers all of it. Call with order_mutex() held.
  void seal();
  /// The last event has been reached, and the stream represents another queue, which has waited for no other stream.
  void unseal() noexcept;

 private:
  static constexpr int open_bits = 16;
  static constexpr std::uint64_t one_value = std::uint64_t{1} << open_bits;
  timeline_value last() const noexcept { return state_.load() >> open_bits; }
  /// Records an event for value t unless one covers it. Returns the last value covered, 0 where that is not known.
  timeline_value cover(timeline_value t);

  backend* owner_;
  int number_;
  bool host_;
  std::size_t id_;                       // of all streams of the process
  std::atomic<std::uint64_t> state_{0};  // the last timeline value << open_bits | the number of open submissions
  std::atomic<use_notes*> notes_{nullptr};
  std::atomic<bool> closed_{false};
  timeline_value covered_ = 0;          // by the event (unknown_value: sealed); with waited_, guarded by order_mutex()
  std::vector<timeline_value> waited_;  // by stream: up to which value this one has waited
};

struct stream_options {
  int priority = 0;
  bool non_blocking = false;
  bool for_capture = false;  // nothing runs there, so it is never waited for
  friend bool operator==(const stream_options&, const stream_options&) = default;
};

/// A point in the work of a stream.
class event {
 public:
  virtual ~event() = default;
  virtual void record(stream& s) = 0;
  virtual bool is_done() = 0;
  virtual void synchronize() = 0;
  /// What is enqueued on `s` from now on comes after the point; a host stream waits at once.
  virtual void hold(stream& s) = 0;
  /// From another event of the same device to this one, both done.
  virtual double seconds_since(event& begin) = 0;
};

/// Captured work, to be run any number of times.
class recorded_work {
 public:
  virtual ~recorded_work() = default;
  /// Enqueues all of it on the calling thread's current stream.
  virtual void launch() = 0;
  /// Kernels and copies.
  virtual std::size_t size() const = 0;
};

/// Bytes in the memory of a device.
struct unchanged_memory {
  const void* begin;
  std::size_t bytes;
};

/// Work that can make use of what stays as it is while it is launched again and again.
class settling_work : public recorded_work {
 public:
  /// Promises that nothing writes this memory as long as the work is launched.
  virtual void expect_unchanged(std::vector<unchanged_memory> memory) = 0;
};

}  // namespace sinter::runtime
