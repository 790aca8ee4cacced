#include "graph/capture/recording_capture.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "graph/capture/memory.hpp"
#include "sinter/error.hpp"

namespace sinter::graph {
namespace {

std::uint32_t next_number() noexcept {
  static std::atomic<std::uint32_t> next{1};
  return next.fetch_add(1);
}

}  // namespace

recording_capture::recording_capture(runtime::stream& s)
    : ongoing_capture(s, runtime::this_thread().source[s.owner().slot()]),
      memory_(std::make_shared<capture_memory>(device_, s)) {
  runtime::thread_state& mine = runtime::this_thread();
  if (current_capture()) throw device_error("[capture] a capture is going on in this thread already");
  number_ = next_number();
  stream_before_ = mine.current[device_.slot()];
  recording_ = &device_.begin_capture();
  recording_->set_notes(&notes_);
  mine.current[device_.slot()] = recording_;
  mine.source[device_.slot()] = &memory_->source(memory_kind::device);
  mine.capture = number_;
  ++runtime::captures_anywhere;
  set_current_capture(this);
}

void recording_capture::leave() noexcept {
  runtime::thread_state& mine = runtime::this_thread();
  mine.current[device_.slot()] = stream_before_;
  mine.source[device_.slot()] = source_before_;
  mine.capture = 0;
  if (recording_) recording_->set_notes(nullptr);
  --runtime::captures_anywhere;
  set_current_capture(nullptr);
}

std::unique_ptr<runtime::recorded_work> recording_capture::end_recording() {
  return device_.end_capture(*std::exchange(recording_, nullptr));
}

void recording_capture::abandon_recording() {
  if (recording_) device_.abandon_capture(*std::exchange(recording_, nullptr));
}

void recording_capture::note_made(const std::shared_ptr<storage>& s) {
  s->made_in = number_;
  made_.push_back(s);
}

void recording_capture::hold(const value& leaf) {
  if (memory_->owns(*leaf->buffer) || std::find(held_.begin(), held_.end(), leaf) != held_.end()) return;
  held_.push_back(leaf);
}

}  // namespace sinter::graph
