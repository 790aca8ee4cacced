// The calling thread's ongoing capture as seen by evaluation. Captures depend on evaluation (capture.hpp); this
// interface is the only dependency in the other direction.
#pragma once
#include <memory>
#include <span>

#include "graph/values/storage.hpp"
#include "runtime/thread_state.hpp"

namespace sinter::graph {

/// What evaluation reports to a capture, and what it needs to work outside of one.
class ongoing_capture {
 public:
  ongoing_capture(runtime::stream& outside, runtime::block_source* source_before) noexcept
      : device_(outside.owner()), outside_(outside), source_before_(source_before) {}
  ongoing_capture(const ongoing_capture&) = delete;
  ongoing_capture& operator=(const ongoing_capture&) = delete;

  /// An array has been made.
  virtual void note_made(const std::shared_ptr<storage>& s) = 0;
  /// Captured work reads memory that may have no array left: the capture keeps the leaf alive.
  virtual void hold(const value& leaf) = 0;
  /// Values are about to be evaluated.
  virtual void before_evaluation(std::span<const value>) {}
  /// Whether a buffer is memory of this capture, or of one around it, whose elements each launch computes.
  virtual bool computes(const runtime::buffer&) const noexcept { return true; }
  /// Whether the capture's work is run again and again with the same elements in this leaf, so that what is computed from such
  /// leaves alone need not be computed again if nothing writes over it.
  virtual bool stays(const node&) const noexcept { return false; }
  runtime::backend& device() const noexcept { return device_; }

 protected:
  ~ongoing_capture() = default;
  runtime::backend& device_;
  runtime::stream& outside_;              // stream of work that is not captured
  runtime::block_source* source_before_;  // the thread's memory source before the capture

 private:
  friend class outside_capture;
};

/// Whether the calling thread's work is being captured.
inline bool is_capturing() noexcept {
  return runtime::captures_anywhere.load(std::memory_order_relaxed) != 0 && runtime::this_thread().capture != 0;
}
/// Also while the thread works outside of it; null if there is none.
ongoing_capture* current_capture() noexcept;
void set_current_capture(ongoing_capture* c) noexcept;

/// Throws device_error unless the capture is of that device (or there is none).
void refuse_other_device(runtime::device_id device);

/// While it lives, the calling thread's work runs on the stream that was current before the capture.
class outside_capture {
 public:
  explicit outside_capture(bool wanted = true);
  ~outside_capture();
  outside_capture(const outside_capture&) = delete;
  outside_capture& operator=(const outside_capture&) = delete;

 private:
  std::uint32_t number_ = 0;
  int slot_ = 0;
  runtime::stream* stream_ = nullptr;
  runtime::block_source* source_ = nullptr;
};

}  // namespace sinter::graph
