// src/graph/capture: work that is captured to be launched repeatedly, and the memory that belongs to it.
//
// Capture of what a thread evaluates: work is recorded instead of being run, so that it can be launched repeatedly.
//
// A launch must do what the captured code would do again, so arrays keep their addresses. Every existing array that the
// code uses (touch) is first evaluated and made the sole owner of its memory, outside of the capture; that memory is
// its static allocation. Within the capture it is an array like any other, whose versions move from buffer to
// buffer; at the end the last version is copied to the static allocation unless it is there already. Arrays that the
// code makes and that outlive the capture keep the memory that they have at its end. Static allocations and all
// temporary memory of the code belong to the capture exclusively; within it, freed memory is reused, static allocations
// included. Afterwards all these arrays are pinned.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "graph/capture/recording_capture.hpp"
#include "graph/run/array.hpp"

namespace sinter::graph {

class capture_memory;

// Called while capturing.
/// Notes that an array is used. The first use of an array that existed before the capture prepares it.
void touch(const std::shared_ptr<storage>& s);
/// Notes a selection whose elements have not been read yet: it must be resolved before the capture ends.
void note_deferred(const std::shared_ptr<const array_view>& v);

/// Captured work with everything that it needs. Thread safe.
class replay {
 public:
  ~replay();
  replay(const replay&) = delete;
  replay& operator=(const replay&) = delete;
  /// Enqueues the work on a stream of its device.
  void launch(runtime::stream& on);
  /// The same again and again, for as long as an array of one bool that the work writes is true, and up to seven times more; not at all if
  /// it is not true now. The host does not wait. false: the device cannot do that by itself, and nothing has been enqueued.
  bool launch_while(runtime::stream& on, const std::shared_ptr<storage>& go_on);
  runtime::backend& device() const noexcept { return device_; }
  std::size_t size() const { return work_->size(); }
  std::size_t memory_bytes() const;

 private:
  friend class capture_session;
  explicit replay(runtime::backend& device) : device_(device) {}
  template <class F>
  void submit(runtime::stream& on, const F& enqueue);

  struct array_use {
    std::shared_ptr<storage> array;
    bool written;
  };
  runtime::backend& device_;
  std::shared_ptr<capture_memory> memory_;
  std::vector<array_use> arrays_;             // those that existed before the capture
  std::vector<std::weak_ptr<storage>> made_;  // those made in the capture
  std::vector<value> held_;
  std::vector<std::shared_ptr<const void>> kept_;  // what the backend needs as well
  std::mutex mutex_;
  runtime::stream* last_on_ = nullptr;
  runtime::timeline_value last_ = 0;
  std::unique_ptr<runtime::recorded_work> work_;  // destroyed first
};

/// The ongoing capture of the calling thread, from its beginning to finish(); if the session ends without finish(),
/// everything is restored.
class capture_session final : recording_capture {
 public:
  /// Captures work of a stream's device. Throws device_error within another capture.
  explicit capture_session(runtime::stream& s);
  ~capture_session();
  capture_session(const capture_session&) = delete;
  capture_session& operator=(const capture_session&) = delete;

  /// Selections that have not been read yet, to be resolved before finish().
  std::vector<std::shared_ptr<const array_view>> deferred() const;
  std::unique_ptr<replay> finish();

 private:
  friend void touch(const std::shared_ptr<storage>&);
  friend void note_deferred(const std::shared_ptr<const array_view>&);

  struct static_allocation {
    std::shared_ptr<storage> array;
    const node* original;  // its leaf, not owned: only for comparison while the array has not been written
    void* address;
    dims shape;
    dtype type;
    std::int64_t offset;
    std::size_t bytes;
    bool pinned;
    /// Whether the array's elements are in the static allocation now.
    bool is_here() const;
  };

  using arrays = std::vector<std::shared_ptr<storage>>;
  static capture_session& current();
  void prepare(const std::shared_ptr<storage>& s);
  void resolve_home(const std::shared_ptr<storage>& s);
  arrays live_made() const;
  std::vector<static_allocation*> moved_allocations();
  void evaluate_everything(const arrays& made);
  void make_room(const arrays& made, const std::vector<static_allocation*>& moving);
  void bring_back(static_allocation& h);
  void fill(replay& r, const arrays& made, const std::vector<static_allocation*>& moved);
  void restore();
  void restore(static_allocation& h);

  std::unordered_map<const storage*, static_allocation> allocations_;
  std::vector<std::weak_ptr<const array_view>> deferred_;
};

}  // namespace sinter::graph
