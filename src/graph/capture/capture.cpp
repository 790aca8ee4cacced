// Capture: static allocations of arrays, the memory that belongs to the graph, and restoring everything when a capture
// is abandoned.
#include "graph/capture/capture.hpp"

#include <algorithm>
#include <utility>

#include "graph/capture/memory.hpp"
#include "graph/capture/step_work.hpp"
#include "graph/run/flush.hpp"
#include "runtime/repeating_work.hpp"
#include "sinter/error.hpp"

namespace sinter::graph {
namespace {

/// Guards storage::touched_in: threads may capture concurrently.
std::mutex& claims() noexcept {
  static auto* m = new std::mutex;  // outlives static arrays
  return *m;
}

/// Claims an array for a capture, which then uses it exclusively; returns whether this capture had not used it before.
bool claim(storage& s, std::uint32_t number) {
  const std::lock_guard lock(claims());
  if (s.touched_in == number) return false;
  if (s.touched_in != 0)
    throw device_error("[capture] an array is used by another thread's capture, which has not ended");
  s.touched_in = number;
  return true;
}
void give_up(storage& s) noexcept {
  const std::lock_guard lock(claims());
  s.touched_in = 0;
}

void* address_of_memory(const storage& s) noexcept { return s.held()->buffer->address(); }

}  // namespace

void touch(const std::shared_ptr<storage>& s) {
  if (step_session* const step = step_session::current()) return step->touch(s);
  capture_session::current().prepare(s);
}

void note_deferred(const std::shared_ptr<const array_view>& v) {
  if (step_session* const step = step_session::current()) return step->note_deferred(v);
  capture_session::current().deferred_.push_back(v);
}

replay::~replay() {
  try {
    if (last_on_) last_on_->await(last_);
  } catch (...) {  // a device that has failed executes no work
  }
  work_.reset();
  if (memory_) memory_->close();
}

template <class F>
void replay::submit(runtime::stream& on, const F& enqueue) {
  if (is_capturing()) throw device_error("[launch_graph] the launch of another graph cannot be captured");
  const std::lock_guard lock(mutex_);
  const runtime::current_guard here(on);
  runtime::submission work(device_);
  {
    const std::lock_guard order(runtime::order_mutex());
    work.on().wait_for(*last_on_, last_);
  }
  for (const array_use& u : arrays_) {
    const value now = u.array->now();  // pinned, so the array keeps its memory
    u.written ? work.writes(*now->buffer) : work.reads(*now->buffer);
  }
  for (const auto& weak : made_)
    if (const auto array = weak.lock()) work.writes(*array->now()->buffer);
  for (const value& leaf : held_) work.reads(*leaf->buffer);
  enqueue();
  last_on_ = &work.on();
  last_ = work.value();
}

void replay::launch(runtime::stream& on) {
  submit(on, [&] { work_->launch(); });
}

bool replay::launch_while(runtime::stream& on, const std::shared_ptr<storage>& go_on) {
  auto* const work = dynamic_cast<runtime::repeating_work*>(work_.get());
  if (!work) return false;
  bool done = false;
  submit(on, [&] {
    const value flag = go_on->now();  // pinned
    done = work->launch_while(static_cast<const char*>(flag->buffer->address()) + flag->buffer_offset);
  });
  return done;
}

std::size_t replay::memory_bytes() const { return memory_->bytes(); }

bool capture_session::static_allocation::is_here() const {
  const value now = array->now();
  return now->is_leaf() && now->buffer->address() == address && now->buffer_offset == offset;
}

capture_session::capture_session(runtime::stream& s) : recording_capture(s) {}

capture_session::~capture_session() {
  if (current_capture() == this) {
    leave();
    abandon_recording();
    try {
      restore();
    } catch (...) {  // arrays that cannot be restored are uninitialised, as from sn::empty
    }
  }
  for (auto& [s, h] : allocations_) give_up(*h.array);
}

/// The session of the calling thread, which must be capturing.
capture_session& capture_session::current() { return static_cast<capture_session&>(*current_capture()); }

void capture_session::prepare(const std::shared_ptr<storage>& array) {
  storage& s = *array;
  if (s.made_in == number_ || !claim(s, number_)) return;
  try {
    if (s.device == device_.id()) resolve_home(array);
    else give_up(s);
  } catch (...) {
    give_up(s);
    throw;
  }
}

void capture_session::resolve_home(const std::shared_ptr<storage>& array) {
  storage& s = *array;
  const outside_capture now;
  const write_lock mine(s);
  const value& current = s.held();
  flush(std::span(&current, 1));
  const bool was_pinned = s.pinned();
  // Memory with other references, or whose address has been handed out, keeps its address: it is written in place only.
  const bool stays = was_pinned && (!current->buffer->source() || !is_sole_owner(current));
  if (!stays) {
    if (!is_sole_owner(current) || !current->buffer->source()) s.replace(snapshot(current));
    memory_->adopt(*current->buffer);
    s.set_pinned(false);
    // Captured work may overwrite the memory. A launch is ordered after this stream, which here waits for readers on
    // other streams.
    runtime::submission work(device_);
    work.writes(*current->buffer);
  }
  const node& leaf = *current;
  allocations_.emplace(&s, static_allocation{array, &leaf, leaf.buffer->address(), leaf.shape, leaf.type,
                                             leaf.buffer_offset, leaf.buffer->bytes(), was_pinned});
}

std::vector<std::shared_ptr<const array_view>> capture_session::deferred() const {
  std::vector<std::shared_ptr<const array_view>> views;
  for (const auto& weak : deferred_)
    if (auto v = weak.lock()) views.push_back(std::move(v));
  return views;
}

capture_session::arrays capture_session::live_made() const {
  arrays live;
  for (const auto& weak : made_)
    if (auto s = weak.lock(); s && s->device == device_.id()) live.push_back(std::move(s));
  return live;
}

std::vector<capture_session::static_allocation*> capture_session::moved_allocations() {
  std::vector<static_allocation*> moved;
  for (auto& [s, h] : allocations_)
    if (!h.is_here()) moved.push_back(&h);
  return moved;
}

void capture_session::evaluate_everything(const arrays& made) {
  std::vector<value> roots;
  const auto want = [&](const storage& s) {
    if (value now = s.now(); !now->is_leaf()) roots.push_back(std::move(now));
  };
  for (const auto& s : made) want(*s);
  for (const auto& [s, h] : allocations_) want(*s);
  flush(roots);
}

/// Moves whatever occupies the static allocation of an array that is to be copied back, and gives arrays made in the
/// capture exclusively owned memory.
void capture_session::make_room(const arrays& made, const std::vector<static_allocation*>& moving) {
  std::vector<void*> addresses;
  for (const static_allocation* h : moving) addresses.push_back(h->address);
  memory_->reserve(addresses);
  const auto is_wanted = [&](void* p) { return std::find(addresses.begin(), addresses.end(), p) != addresses.end(); };
  for (const auto& s : made) {
    const write_lock mine(*s);
    if (!is_sole_owner(s->held()) || is_wanted(address_of_memory(*s))) s->replace(snapshot(s->held()));
  }
  for (const static_allocation* h : moving) {
    const write_lock mine(*h->array);
    if (is_wanted(address_of_memory(*h->array))) h->array->replace(snapshot(h->array->held()));
  }
}

void capture_session::bring_back(static_allocation& h) {
  runtime::buffer_ref memory = memory_->take(h.address);
  if (!memory)
    throw device_error(
        "[capture] something that is neither an array nor an expression still holds the elements of an " +
        std::string("array of shape ") + core::to_string(h.shape));
  value leaf = make_leaf(std::move(memory), h.offset, h.shape, h.type);
  const write_lock mine(*h.array);
  copy_elements(leaf, h.array->held());
  h.array->replace(std::move(leaf));
}

std::unique_ptr<replay> capture_session::finish() {
  const arrays made = live_made();
  evaluate_everything(made);
  const std::vector<static_allocation*> moved = moved_allocations();
  make_room(made, moved);
  for (static_allocation* h : moved) bring_back(*h);
  std::unique_ptr<replay> r(new replay(device_));
  leave();
  try {
    r->work_ = end_recording();
  } catch (...) {
    restore();
    throw;
  }
  fill(*r, made, moved);
  return r;
}

void capture_session::fill(replay& r, const arrays& made, const std::vector<static_allocation*>& moved) {
  r.memory_ = memory_;
  r.held_ = std::move(held_);
  r.kept_ = std::move(notes_.keep);
  for (auto& [s, h] : allocations_) {
    const bool moves = std::find(moved.begin(), moved.end(), &h) != moved.end();
    const bool written = moves || s->now().get() != h.original || notes_.writes(h.address);
    r.arrays_.push_back({h.array, written});
    h.array->set_pinned(true);
  }
  for (const auto& s : made) {
    r.made_.push_back(s);
    s->set_pinned(true);
  }
  // Work done outside of the capture precedes the first launch.
  r.last_on_ = &outside_;
  r.last_ = runtime::unknown_value;
}

/// No captured work has run, so the static allocations hold their old elements.
void capture_session::restore() {
  const auto forget = [](storage& s) {
    const write_lock mine(s);
    s.replace(record_unset(s.held()->type, s.held()->shape, s.device));
  };
  for (const auto& s : live_made()) {
    forget(*s);
    s->made_in = 0;
  }
  const std::vector<static_allocation*> moved = moved_allocations();
  std::vector<void*> addresses;
  for (static_allocation* h : moved) addresses.push_back(h->address);
  memory_->reserve(addresses);
  for (static_allocation* h : moved) forget(*h->array);
  for (static_allocation* h : moved) restore(*h);
  for (auto& [s, h] : allocations_) h.array->set_pinned(h.pinned);
  memory_->close();
}

void capture_session::restore(static_allocation& h) {
  runtime::buffer_ref memory = memory_->take(h.address);
  const bool at_home = memory != nullptr;
  const runtime::current_guard here(outside_);
  if (!at_home) memory = std::make_shared<runtime::buffer>(device_, h.bytes);
  if (!at_home && h.bytes != 0) {
    runtime::submission work(device_);
    device_.copy(work.writes(*memory), h.address, h.bytes);
  }
  const write_lock mine(*h.array);
  h.array->replace(make_leaf(std::move(memory), h.offset, h.shape, h.type));
}

}  // namespace sinter::graph
