// The calling thread's ongoing capture, and work outside of it.
#include "graph/run/ongoing_capture.hpp"

#include <utility>

#include "sinter/error.hpp"

namespace sinter::graph {
namespace {

thread_local ongoing_capture* current = nullptr;

}  // namespace

ongoing_capture* current_capture() noexcept { return current; }
void set_current_capture(ongoing_capture* c) noexcept { current = c; }

void refuse_other_device(runtime::device_id device) {
  if (!is_capturing() || current->device().id() == device) return;
  throw device_error("[capture] work on " + runtime::to_string(device) + " cannot be captured together with work on " +
                     runtime::to_string(current->device().id()));
}

outside_capture::outside_capture(bool wanted) {
  runtime::thread_state& mine = runtime::this_thread();
  if (!wanted || mine.capture == 0) return;
  slot_ = current->device_.slot();
  number_ = std::exchange(mine.capture, 0);
  stream_ = std::exchange(mine.current[slot_], &current->outside_);
  source_ = std::exchange(mine.source[slot_], current->source_before_);
}

outside_capture::~outside_capture() {
  if (number_ == 0) return;
  runtime::thread_state& mine = runtime::this_thread();
  mine.capture = number_;
  mine.current[slot_] = stream_;
  mine.source[slot_] = source_;
}

}  // namespace sinter::graph
