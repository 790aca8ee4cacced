// Queues of work on a device, and the order between them.
//
// Work of one stream runs in the order in which it was enqueued, work of two streams in any order unless one waits for
// the other. Results must not depend on streams, so every buffer remembers which streams have used it (buffer.hpp), and
// whoever enqueues work says what it reads and writes. Streams then wait for each other as far as the buffers demand.
//
// What is enqueued together is a submission and has a number, its timeline value. A stream that must come after timeline value t of another
// one waits for an event: a mark that covers everything enqueued when it was set. One event serves all who need a timeline value
// that it covers, and a stream remembers up to which timeline value of each other stream it has waited.
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
/// Of work that was enqueued outside of submissions: at some time before whoever asks.
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

/// Guards use lists and what streams know of each other. Held for moments, never while work is enqueued or waited for.
std::mutex& order_mutex() noexcept;

/// What work uses while it is written down instead of being run: memory, by address, and what must not go away.
struct use_notes {
  struct note {
    const void* address;
    bool written;
  };
  std::vector<note> notes;
  std::vector<std::shared_ptr<const void>> keep;
  void add(const void* address, bool written);
  bool writes(const void* address) const noexcept;
};

/// Streams live as long as the process; their backend uses those that nobody holds again.
class stream {
 public:
  /// `number`: within the backend; 0 is the default stream. host: work is done when the call returns.
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

  /// Begins a submission, whose timeline value it returns, and ends one. What is enqueued between the two is covered by events set
  /// after the end.
  timeline_value open() noexcept { return (state_.fetch_add(one_value + 1) >> open_bits) + 1; }
  void close() noexcept { state_.fetch_sub(1); }

  /// What is enqueued here from now on comes after timeline value t of `before`, which has ended. Returns the last timeline value that
  /// this has covered, 0 where that is not known. Call with order_mutex() held.
  timeline_value wait_for(stream& before, timeline_value t);
  /// The host waits for timeline value t, which has ended. Call without order_mutex().
  void await(timeline_value t);
  /// What others enqueue from now on, on a queue of theirs that they know by its native handle (null: the device's
  /// default stream), comes after timeline value t, which has ended. Call without order_mutex().
  void hold_others(void* theirs, timeline_value t);

  /// Work is written down, not run; whoever enqueues it adds what it uses here. Null where work runs.
  use_notes* notes() const noexcept { return notes_.load(std::memory_order_relaxed); }
  void set_notes(use_notes* n) noexcept { notes_.store(n, std::memory_order_relaxed); }

  /// What keeps it, for whoever asks for the current stream. Guarded by order_mutex().
  std::weak_ptr<void> holder;

  /// Nobody holds the stream any more: memory that comes back to it goes to the default stream.
  bool is_closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
  void set_closed(bool c) noexcept { closed_.store(c, std::memory_order_relaxed); }

 protected:
  /// Marks everything enqueued so far; the mark before is forgotten.
  virtual void record_event() {}
  /// What is enqueued here from now on comes after the mark of another stream, which may be another device's.
  virtual void wait_event(stream&) {}
  /// The host waits for the mark.
  virtual void await_event() {}
  /// What comes on a queue of others, by its native handle, comes after the mark.
  virtual void hold_at_event(void*) {}
  /// The stream's queue goes away: a last event stands for all of it. Call with order_mutex() held.
  void seal();
  /// The last event has been reached, and the stream stands for another queue, whose work comes after nobody's.
  void unseal() noexcept;

 private:
  static constexpr int open_bits = 16;
  static constexpr std::uint64_t one_value = std::uint64_t{1} << open_bits;
  timeline_value last() const noexcept { return state_.load() >> open_bits; }
  /// Sets an event for timeline value t unless one covers it. Returns the last timeline value covered, 0 where that is not known.
  timeline_value cover(timeline_value t);

  backend* owner_;
  int number_;
  bool host_;
  std::size_t id_;                        // of all streams of the process
  std::atomic<std::uint64_t> state_{0};   // the last timeline value, and below it the number of submissions that have not ended
  std::atomic<use_notes*> notes_{nullptr};
  std::atomic<bool> closed_{false};
  timeline_value covered_ = 0;                    // by the event (unknown_value: sealed); with waited_, guarded by order_mutex()
  std::vector<timeline_value> waited_;            // by stream: up to which timeline value this one has waited
};

struct stream_options {
  int priority = 0;
  bool non_blocking = false;
  bool for_capture = false;  // nothing runs there, so nobody waits for it
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

/// Work that was written down, to be run again and again.
class recorded_work {
 public:
  virtual ~recorded_work() = default;
  /// Enqueues all of it on the calling thread's current stream.
  virtual void launch() = 0;
  /// Kernels and copies.
  virtual std::size_t size() const = 0;
};

}  // namespace sinter::runtime
