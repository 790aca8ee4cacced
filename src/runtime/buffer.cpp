// Buffers: where their memory comes from, which streams wait before it is used, and how it is given back.
#include "runtime/buffer.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/fault.hpp"
#include "runtime/pool.hpp"
#include "sinter/error.hpp"

namespace sinter::runtime {
namespace {

std::atomic<pressure_hook> hook{nullptr};

/// Guards the lists of faults, which few buffers have.
std::mutex& faults_mutex() noexcept {
  static auto* m = new std::mutex;  // outlives static arrays
  return *m;
}

}  // namespace

void set_pressure_hook(pressure_hook h) noexcept {
  if (hook.load(std::memory_order_relaxed) != h) hook = h;
}

bool relieve_pressure(backend& device) {
  const pressure_hook h = hook.load();
  return h && h(device);
}

buffer::buffer(backend& owner, std::size_t bytes) : buffer(owner, bytes, this_thread().kind[owner.slot()]) {}

buffer::buffer(backend& owner, std::size_t bytes, memory_kind kind)
    : owner_(&owner), owner_stream_(&owner.current_stream()), bytes_(bytes) {
  if (kind == memory_kind::device && !this_thread().source[owner.slot()] && !owner.has_block_source()) [[likely]] {
    obtain(bytes, owner.plain_memory());
    return;
  }
  if (kind == memory_kind::pinned && lost_to_fork.load(std::memory_order_relaxed)) [[unlikely]]
    throw device_error("[memory] no memory can be pinned here: " + why_no_device(device_kind::cuda));
  block_source* source = this_thread().source[owner.slot()];
  if (source) [[unlikely]]
    source = source->of_kind(kind);
  std::shared_ptr<block_source> held;
  if (!source && owner.has_block_source() && kind == memory_kind::device) [[unlikely]] {
    held = owner.get_block_source();
    source = held.get();
  }
  obtain(bytes, source ? *source : owner.memory_pool(kind));
}

buffer::buffer(backend& owner, std::size_t bytes, block_source& source)
    : owner_(&owner), owner_stream_(&owner.current_stream()), bytes_(bytes) {
  obtain(bytes, source);
}

buffer::buffer(backend& owner, void* data, std::size_t bytes, std::shared_ptr<void> keep, bool fixed, memory_kind kind)
    : owner_(&owner),
      owner_stream_(&owner.current_stream()),
      data_(data),
      bytes_(bytes),
      keep_(std::move(keep)),
      fixed_(fixed),
      foreign_kind_(kind) {
  if (owner_stream_->notes()) owner_stream_ = &owner.default_stream();  // the memory does not belong to the capture
  if (owner_stream_->is_host()) return;
  // The producer may have made this stream wait for work that writes to the memory: counts as this stream's write.
  const timeline_value now = owner_stream_->open();
  owner_stream_->close();
  set_written(now);
}

buffer::buffer(backend& owner, void* data, std::size_t bytes, block_source& source, stream& owner_stream) noexcept
    : owner_(&owner), source_(&source), owner_stream_(&owner_stream), data_(data), bytes_(bytes) {}

void buffer::obtain(std::size_t bytes, block_source& source) {
  use_list* uses = nullptr;
  try {
    data_ = source.allocate(bytes, owner_stream_, uses);
  } catch (const memory_error&) {
    if (!relieve_pressure(*owner_)) throw;
    data_ = source.allocate(bytes, owner_stream_, uses);
  }
  source_ = &source;
  others_.store(uses, std::memory_order_relaxed);
}

fault_list buffer::faults() const {
  if (!has_faults()) return {};
  const std::lock_guard lock(faults_mutex());
  const fault_list* const list = faults_.load(std::memory_order_relaxed);
  return list ? *list : fault_list();
}

void buffer::add_faults(const fault_list& more) const {
  constexpr std::size_t many = 32;
  if (more.empty()) return;
  fault_list sound;  // destroyed after the lock is released
  const std::lock_guard lock(faults_mutex());
  fault_list* list = faults_.load(std::memory_order_relaxed);
  if (!list) faults_.store(list = new fault_list, std::memory_order_release);
  runtime::add_faults(*list, more);
  if (list->size() < many) return;
  const auto first = std::stable_partition(list->begin(), list->end(),
                                           [](const fault_ref& f) { return !f->is_resolved() || f->is_raised(); });
  sound.assign(std::make_move_iterator(first), std::make_move_iterator(list->end()));
  list->erase(first, list->end());
}

void buffer::drop_fault(const fault_ref& f) const noexcept {
  const std::lock_guard lock(faults_mutex());
  fault_list* const list = faults_.load(std::memory_order_relaxed);
  if (!list) return;
  std::erase(*list, f);  // the caller holds it
  if (!list->empty()) return;
  faults_.store(nullptr, std::memory_order_release);
  delete list;
}

void buffer::clear_faults() const noexcept {
  std::unique_ptr<fault_list> list;
  const std::lock_guard lock(faults_mutex());
  list.reset(faults_.exchange(nullptr));
}

buffer::~buffer() {
  delete faults_.load(std::memory_order_acquire);
  use_list* const list = others_.load(std::memory_order_acquire);
  if (!source_) {
    const std::unique_ptr<use_list> uses(list);
    // Whatever frees foreign memory does not wait for our streams, so the host does.
    try {
      if (!keep_) return;
      owner_stream_->await(used());
      for (const stream_use& u : uses ? uses->uses : std::vector<stream_use>()) u.on->await(u.used);
    } catch (...) {  // a failed device runs nothing
    }
    return;
  }
  source_->deallocate(data_, bytes_, *owner_stream_, list);
}

std::atomic<bool> lost_to_fork{false};

void buffer::refuse_pinned() const {
  if (kind() != memory_kind::pinned) return;
  throw device_error("[memory] an array in pinned memory cannot be used here: " + why_no_device(device_kind::cuda));
}

void* buffer::use_now(bool write) const {
  require_usable();
  stream& s = owner_->current_stream();
  if (use_notes* const notes = s.notes()) {
    if (s.is_host())
      throw device_error("[capture] only expressions and copies can be captured on " + to_string(owner_->id()));
    notes->add(data_, write);
  } else if (s.is_host()) {
    host_waits(write);
  } else if (is_only_at(s)) {
    if (write) written_.store(unknown_value, std::memory_order_relaxed);
    loose_.store(true, std::memory_order_relaxed);
  } else {
    // Uses outside of submissions may overlap this one: it gets no timeline value, and no recorded use is dropped.
    const std::lock_guard lock(order_mutex());
    use_list* list = write ? wait_to_write(s) : wait_to_read(s);
    if (!list) others_.store(list = new use_list, std::memory_order_release);
    stream_use& mine = list->of(s);
    if (write) mine.written = unknown_value;
    mine.used = unknown_value;
  }
  return data_;
}

void buffer::join_uses(const use_list& uses) {
  const std::lock_guard lock(order_mutex());
  use_list* list = others_.load(std::memory_order_relaxed);
  if (!list) others_.store(list = new use_list, std::memory_order_release);
  list->join(uses);
}

use_list* buffer::wait_to_read(stream& s) const {
  if (owner_stream_ != &s) {
    const timeline_value written = written_.load(std::memory_order_relaxed);
    const timeline_value covered = s.wait_for(*owner_stream_, written);
    if (written == unknown_value && covered != 0) written_.store(covered, std::memory_order_relaxed);
  }
  use_list* const list = others_.load(std::memory_order_relaxed);
  if (list)
    for (const stream_use& u : list->uses)
      if (u.on != &s) s.wait_for(*u.on, u.written);
  return list;
}

use_list* buffer::wait_to_write(stream& s) const {
  if (owner_stream_ != &s) s.wait_for(*owner_stream_, used());
  use_list* const list = others_.load(std::memory_order_relaxed);
  if (list)
    for (const stream_use& u : list->uses)
      if (u.on != &s) s.wait_for(*u.on, u.used);
  return list;
}

void buffer::read_by(stream& s, timeline_value t) const {
  if (use_notes* const notes = s.notes()) return notes->add(data_, false);
  if (s.is_host()) return host_waits(false);
  const std::lock_guard lock(order_mutex());
  use_list* list = wait_to_read(s);
  if (owner_stream_ == &s) return raise_used(t);
  if (!list) others_.store(list = new use_list, std::memory_order_release);
  stream_use& mine = list->of(s);
  mine.used = std::max(mine.used, t);
}

// Earlier uses can be dropped: later ones wait for this write, which comes after all of them.
void buffer::write_by(stream& s, timeline_value t) const {
  if (use_notes* const notes = s.notes()) return notes->add(data_, true);
  if (s.is_host()) return host_waits(true);
  const std::lock_guard lock(order_mutex());
  use_list* list = wait_to_write(s);
  if (owner_stream_ == &s) {
    set_written(t);
    delete list;
    others_.store(nullptr, std::memory_order_release);
    return;
  }
  if (!list) others_.store(list = new use_list, std::memory_order_release);
  list->uses.assign(1, {&s, t, t});
  set_written(0);
}

// Work of the host is done when a call returns, but copies by GPUs to or from the memory may still be running.
void buffer::host_waits(bool write) const {
  if (!others_.load(std::memory_order_acquire)) return;
  std::vector<std::pair<stream*, timeline_value>> waits;
  {
    const std::lock_guard lock(order_mutex());
    const use_list* list = others_.load(std::memory_order_relaxed);
    if (!list) return;
    for (const stream_use& u : list->uses)
      if (const timeline_value t = write ? u.used : u.written; t != 0) waits.emplace_back(u.on, t);
  }
  for (const auto& [on, t] : waits) on->await(t);
  const std::lock_guard lock(order_mutex());
  use_list* list = others_.load(std::memory_order_relaxed);
  if (!list) return;
  for (stream_use& u : list->uses)
    for (const auto& [on, t] : waits) {
      if (on != u.on) continue;
      if (u.written <= t) u.written = 0;
      if (u.used <= t) u.used = 0;
    }
  std::erase_if(list->uses, [](const stream_use& u) { return u.used == 0; });
  if (!write || !list->uses.empty()) return;
  delete list;
  others_.store(nullptr, std::memory_order_release);
}

current_guard::current_guard(stream& s) noexcept
    : slot_(&this_thread().current[s.owner().slot()]), before_(std::exchange(*slot_, &s)) {}

namespace {

/// All streams of the CPU are one, unless work is captured.
stream& stream_of(backend& device) noexcept {
  stream& s = device.current_stream();
  return s.is_host() && !s.notes() ? device.default_stream() : s;
}

}  // namespace

submission::submission(backend& device) noexcept
    : stream_(&stream_of(device)), value_(stream_->is_host() ? 0 : stream_->open()) {}

}  // namespace sinter::runtime
