// What captures have in common: a thread's work goes into a recording, with memory of the capture's own, until leave().
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "graph/run/ongoing_capture.hpp"
#include "runtime/stream.hpp"

namespace sinter::graph {

class capture_memory;

class recording_capture : public ongoing_capture {
 protected:
  /// Begins. device_error within another capture, unless that is `within`: then its work becomes part of that one's.
  explicit recording_capture(runtime::stream& s, recording_capture* within = nullptr);
  ~recording_capture() = default;

  /// While it lives, the calling thread's work is that of the capture around this one, or of none.
  class around {
   public:
    explicit around(recording_capture& inner);
    ~around();
    around(const around&) = delete;
    around& operator=(const around&) = delete;

   private:
    recording_capture& inner_;
    std::optional<outside_capture> outside_;
    runtime::stream* recording_ = nullptr;
    runtime::block_source* source_ = nullptr;
  };

  void note_made(const std::shared_ptr<storage>& s) final;
  void hold(const value& leaf) final;
  void before_evaluation(std::span<const value> roots) final;
  bool computes(const runtime::buffer& b) const noexcept final;
  /// The thread's work is executed again instead of being captured; the captured work is not instantiated yet.
  void leave() noexcept;
  /// After leave().
  std::unique_ptr<runtime::recorded_work> end_recording();
  /// Gives up what has been recorded, if that has not ended. After leave().
  void abandon_recording();

  const recording_capture* within() const noexcept { return within_; }

  std::uint32_t number_;  // each capture of the process has one of its own; 0 is none's
  runtime::use_notes notes_;
  std::shared_ptr<capture_memory> memory_;
  std::vector<std::weak_ptr<storage>> made_;
  std::vector<value> held_;

 private:
  recording_capture* within_;  // the capture around this one
  // Of the thread before the capture.
  runtime::stream* stream_before_;
  runtime::block_source* thread_source_before_;
  runtime::stream* recording_ = nullptr;
};

}  // namespace sinter::graph
