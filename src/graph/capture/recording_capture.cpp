#include "graph/capture/recording_capture.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "graph/capture/memory.hpp"
#include "graph/run/flush.hpp"
#include "graph/values/example.hpp"
#include "sinter/error.hpp"

namespace sinter::graph {
namespace {

std::uint32_t next_number() noexcept {
  static std::atomic<std::uint32_t> next{1};
  return next.fetch_add(1);
}

}  // namespace

// Memory that it takes is nobody else's, also in between launches: it does not come from the capture around it.
recording_capture::recording_capture(runtime::stream& s, recording_capture* within)
    : ongoing_capture(within ? within->outside_ : s,
                      within ? within->source_before_ : runtime::this_thread().source[s.owner().slot()]),
      memory_(std::make_shared<capture_memory>(device_, outside_)),
      within_(within) {
  runtime::thread_state& mine = runtime::this_thread();
  if (current_capture() != within) throw device_error("[capture] a capture is going on in this thread already");
  number_ = next_number();
  stream_before_ = mine.current[device_.slot()];
  thread_source_before_ = mine.source[device_.slot()];
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
  mine.source[device_.slot()] = thread_source_before_;
  mine.capture = within_ ? within_->number_ : 0;
  if (recording_) recording_->set_notes(nullptr);
  --runtime::captures_anywhere;
  set_current_capture(within_);
}

recording_capture::around::around(recording_capture& inner) : inner_(inner) {
  if (!inner.within_) {
    outside_.emplace();
    return;
  }
  runtime::thread_state& mine = runtime::this_thread();
  const int slot = inner.device_.slot();
  recording_ = std::exchange(mine.current[slot], inner.stream_before_);
  source_ = std::exchange(mine.source[slot], inner.thread_source_before_);
  mine.capture = inner.within_->number_;
  set_current_capture(inner.within_);
}

recording_capture::around::~around() {
  if (!inner_.within_) return;
  runtime::thread_state& mine = runtime::this_thread();
  const int slot = inner_.device_.slot();
  mine.current[slot] = recording_;
  mine.source[slot] = source_;
  mine.capture = inner_.number_;
  set_current_capture(&inner_);
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

/// What was recorded before the capture is not evaluated in it: a value has its elements once and for all.
void recording_capture::before_evaluation(std::span<const value> roots) {
  std::vector<value> before;
  {
    const std::lock_guard lock(flush_mutex());  // evaluation releases a node's operands
    std::unordered_set<const node*> seen;
    std::vector<node*> next;
    for (const value& v : roots) next.push_back(v.get());
    while (!next.empty()) {
      node* const n = next.back();
      next.pop_back();
      if (n->is_leaf() || n->operand_count() == 0 || !seen.insert(n).second) continue;
      if (n->capture != number_) {
        if (!is_example(*n) && n->device == device_.id()) before.emplace_back(n);
        continue;
      }
      for (int k = 0; k < n->operand_count(); ++k) next.push_back(n->operand(k));
    }
  }
  if (before.empty()) return;
  {
    const around outer(*this);
    flush(before);
  }
  for (const value& v : before) hold(v);
}

bool recording_capture::computes(const runtime::buffer& b) const noexcept {
  return memory_->owns(b) || (within_ && within_->computes(b));
}

void recording_capture::hold(const value& leaf) {
  if (memory_->owns(*leaf->buffer) || std::find(held_.begin(), held_.end(), leaf) != held_.end()) return;
  held_.push_back(leaf);
}

}  // namespace sinter::graph
